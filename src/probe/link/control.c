/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/link/control.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/os/watch.h"

/* A host that was cut off says nothing: without these a probe would wait for it for ever. */
#define KEEPALIVE_IDLE_S     10
#define KEEPALIVE_INTERVAL_S 2
#define KEEPALIVE_COUNT      5

void vv_control_init(struct vv_control *control, int fd) {
  control->fd = fd;
  control->used = 0;
  if (fd < 0) return;
  int on = 1, idle_s = KEEPALIVE_IDLE_S, interval_s = KEEPALIVE_INTERVAL_S, count = KEEPALIVE_COUNT;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

void vv_control_close(struct vv_control *control) {
  if (control->fd >= 0) close(control->fd);
  control->fd = -1;
}

static int peer_gone(struct vv_error *error) {
  vv_error_set(error, "peer-gone", "the other end closed the control connection");
  return vv_error_remedy(error, "see what the other end printed last, and whether its host still runs");
}

static int write_all(int fd, const char *text, size_t count, struct vv_error *error) {
  while (count > 0) {
    ssize_t wrote = send(fd, text, count, MSG_NOSIGNAL);
    if (wrote < 0 && (errno != EINTR || vv_watch_launcher_gone())) return peer_gone(error);
    if (wrote < 0) continue;
    text += wrote;
    count -= (size_t)wrote;
  }
  return 0;
}

int vv_control_send(struct vv_control *control, struct vv_error *error, const char *format, ...) {
  char line[VV_LINE_BYTES_MAX];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(line, sizeof line - 1, format, args);
  va_end(args);
  if (length < 0 || (size_t)length >= sizeof line - 1) {
    return vv_error_set(error, "bad-control", "a control line of %d bytes is too long", length);
  }
  line[length] = '\n';
  return write_all(control->fd, line, (size_t)length + 1, error);
}

/* Whatever it was there: here the other end is gone. */
static int as_error(const char *line, struct vv_error *error) {
  char code[32];
  bool known = vv_line_word(line, "code", code, sizeof code) && vv_code_find(code);
  const char *text = vv_line_text(line);
  vv_error_set(error, known ? code : "peer-error", "the other end: %.200s", text ? text : "an error without a text");
  error->kind = VV_CODE_GONE;
  return -1;
}

int vv_control_take(struct vv_control *control, char line[VV_LINE_BYTES_MAX], struct vv_error *error) {
  while (!vv_line_take(control->buffer, &control->used, line)) {
    if (control->used == sizeof control->buffer) {
      return vv_error_set(error, "bad-control", "the other end sent a control line that is too long");
    }
    ssize_t got =
        recv(control->fd, control->buffer + control->used, sizeof control->buffer - control->used, MSG_DONTWAIT);
    if (got == 0) return peer_gone(error);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : peer_gone(error);
    control->used += (size_t)got;
  }
  return vv_line_is(line, "error") ? as_error(line, error) : 1;
}

int vv_control_receive(struct vv_control *control, char line[VV_LINE_BYTES_MAX], vv_ns deadline_ns,
                       struct vv_error *error) {
  for (;;) {
    int got = vv_control_take(control, line, error);
    if (got != 0) return got < 0 ? -1 : 0;
    if (vv_watch_wait(&control->fd, 1, deadline_ns, error) < 0) return -1;
  }
}

int vv_control_expect(struct vv_control *control, const char *verb, char line[VV_LINE_BYTES_MAX], vv_ns deadline_ns,
                      struct vv_error *error) {
  if (vv_control_receive(control, line, deadline_ns, error) != 0) return -1;
  if (vv_line_is(line, verb)) return 0;
  return vv_error_set(error, "bad-control", "the other end said \"%.80s\" where \"%s\" was due", line, verb);
}

int vv_control_number(const char *line, const char *name, int64_t *value, struct vv_error *error) {
  if (vv_line_number(line, name, value)) return 0;
  return vv_error_set(error, "bad-control", "the other end said \"%.80s\" without a number \"%s\"", line, name);
}

void vv_control_send_error(struct vv_control *control, const struct vv_error *error) {
  struct vv_error ignored;
  if (control->fd >= 0) vv_control_send(control, &ignored, "error code=%s text=%s", error->code, error->text);
}
