/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/ping.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_S "60" /* whoever waits gives up long before */

bool vv_ping_exists(void) {
  return vv_child_exists("ping");
}

void vv_ping_init(struct vv_ping *ping) {
  vv_child_init(&ping->child);
}

int vv_ping_start(struct vv_ping *ping, const char *address, size_t size_bytes, struct vv_error *error) {
  char size[24], to[64];
  snprintf(size, sizeof size, "%zu", size_bytes);
  snprintf(to, sizeof to, "%s", address);
  char *const argv[] = {"ping", "-n", "-c", "1", "-W", PATIENCE_S, "-s", size, to, NULL};
  if (vv_child_start(&ping->child, argv, VV_CHILD_OUT, error) != 0) return -1;
  fcntl(ping->child.out, F_SETFL, O_NONBLOCK);
  ping->used = 0;
  return 0;
}

void vv_ping_stop(struct vv_ping *ping) {
  vv_child_stop(&ping->child);
}

enum vv_ping_got vv_ping_take(struct vv_ping *ping, vv_ns *rtt_ns) {
  char waste[256];
  for (;;) {
    size_t room = sizeof ping->text - 1 - ping->used;
    int fd = ping->child.out;
    ssize_t got = room > 0 ? read(fd, ping->text + ping->used, room) : read(fd, waste, sizeof waste);
    if (got < 0) return VV_PING_NOTHING;
    if (got == 0) break;
    if (room > 0) ping->used += (size_t)got;
  }
  ping->text[ping->used] = '\0';
  vv_ping_stop(ping);
  return vv_ping_parse(ping->text, rtt_ns);
}

/* " time=0.033 ms": digits, perhaps a point and more digits. A time under its clock's step is printed as 0 or "<1". */
static bool parse_time(const char *text, vv_ns *rtt_ns) {
  vv_ns ns = 0, digit_ns = VV_MS;
  if (*text < '0' || *text > '9') return false;
  for (; *text >= '0' && *text <= '9' && ns < INT64_MAX / 100; text++) ns = ns * 10 + (*text - '0') * digit_ns;
  if (*text == '.') {
    for (text++; *text >= '0' && *text <= '9'; text++) ns += (*text - '0') * (digit_ns /= 10);
  }
  if (strncmp(text, " ms", 3) != 0) return false;
  *rtt_ns = ns;
  return true;
}

enum vv_ping_got vv_ping_parse(const char *text, vv_ns *rtt_ns) {
  const char *answer = strstr(text, " bytes from ");
  const char *time = answer ? strstr(answer, " time=") : NULL;
  if (!time || memchr(answer, '\n', (size_t)(time - answer))) return VV_PING_SILENCE;
  if (!parse_time(time + strlen(" time="), rtt_ns)) return VV_PING_SILENCE;
  bool wrong = strstr(text, "wrong data byte") || strstr(text, "(BAD CHECKSUM") || strstr(text, "(truncated)");
  return wrong ? VV_PING_WRONG : VV_PING_ANSWER;
}
