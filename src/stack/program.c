/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/siphash.h"
#include "io/os/socket.h"

static char all[VV_PROGRAM_ALL_MAX];

int vv_program_place(const struct vv_stack_config *config, const char *program, const char *package, uint16_t ports,
                     struct vv_program_place *place, struct vv_error *error) {
  struct vv_address own;
  if (!vv_child_exists(program)) {
    return vv_error_set(error, "no-program", "%s has no program %s: apt-get install %s", config->address, program,
                        package);
  }
  if (vv_address_parse(config->address, 0, &own, error) != 0) return -1;
  if (own.any.sa_family != AF_INET) return vv_error_set(error, "no-ipv4", "%s speaks IPv4 alone", program);
  if (vv_stack_iface(config, place->iface, error) != 0) return -1;
  uint64_t hash = vv_siphash(config->key, (const uint8_t *)package, strlen(package));
  uint16_t port = vv_stack_port(config, hash, ports);
  if (port == 0) return vv_error_set(error, "no-port", "%s needs %" PRIu16 " ports in a row", program, ports);
  snprintf(place->port, sizeof place->port, "%" PRIu16, port);
  return 0;
}

static bool is_blank(const char *line) {
  return line[strspn(line, " \a\r\t")] == '\0';
}

/* Until it says these words, *status -1, or until it has ended, with its *status and the *last that it said. */
static enum vv_got hear(struct vv_program *program, const char *words, const struct vv_watch_stop *stop, int *status,
                        char last[VV_CHILD_LINE_MAX], struct vv_error *error) {
  char line[VV_CHILD_LINE_MAX];
  for (*status = -1; *status < 0;) {
    int more = vv_child_line(&program->child, line);
    if (more == 0) more = *status = vv_child_wait(&program->child);
    if (more < 0) {
      enum vv_got got = vv_stack_judge(stop, program->id, "hear its program", error);
      if (got != VV_GOT_MESSAGE) return got;
    } else if (*status < 0 && !is_blank(line)) {
      memcpy(last, line, sizeof line);
      if (words && strstr(line, words)) break;
    }
  }
  return VV_GOT_MESSAGE;
}

static enum vv_got failed(const struct vv_program *program, int status, const char *last, struct vv_error *error) {
  vv_error_set(error, "program-failed", "%s: its program ended with status %d and said last: %.120s", program->id,
               status, last);
  return VV_GOT_ERROR;
}

enum vv_got vv_program_until(struct vv_program *program, const char *words, const struct vv_watch_stop *stop,
                             char line[VV_CHILD_LINE_MAX], struct vv_error *error) {
  int status;
  line[0] = '\0';
  enum vv_got got = hear(program, words, stop, &status, line, error);
  return got != VV_GOT_MESSAGE || status < 0 ? got : failed(program, status, line, error);
}

enum vv_got vv_program_end(struct vv_program *program, const struct vv_watch_stop *stop, struct vv_error *error) {
  char last[VV_CHILD_LINE_MAX] = "";
  int status;
  if (program->child.pid == 0) return VV_GOT_MESSAGE;
  enum vv_got got = hear(program, NULL, stop, &status, last, error);
  return got != VV_GOT_MESSAGE || status == 0 ? got : failed(program, status, last, error);
}

enum vv_got vv_program_broke(struct vv_program *program, const struct vv_watch_stop *stop, struct vv_error *error) {
  char last[VV_CHILD_LINE_MAX] = "";
  int status;
  enum vv_got got = hear(program, NULL, stop, &status, last, error);
  return got != VV_GOT_MESSAGE ? got : failed(program, status, last, error);
}

int vv_program_accept(struct vv_end *end, const char *near_contact, vv_ns deadline_ns, struct vv_error *error) {
  (void)end, (void)near_contact, (void)deadline_ns, (void)error;
  return 0;
}

int vv_program_connect(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error) {
  (void)end, (void)deadline_ns;
  size_t used = strlen(all), bytes = strlen(far_contact);
  for (const char *at = all; (at = strstr(at, far_contact)); at += bytes) {
    bool whole = (at == all || at[-1] == ',') && (at[bytes] == ',' || at[bytes] == '\0');
    if (!whole) continue;
    vv_error_set(error, "one-host", "two far ends are on %s, where one program receives", far_contact);
    return vv_error_remedy(error, "one far end on each host");
  }
  int added = snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? "," : "", far_contact);
  if (added >= 0 && (size_t)added < sizeof all - used) return 0;
  all[used] = '\0';
  return vv_error_set(error, "no-memory", "too many far ends for one program");
}

const char *vv_program_all(void) {
  return all;
}

void vv_program_part(void) {
  all[0] = '\0';
}
