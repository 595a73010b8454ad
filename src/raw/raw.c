/* SPDX-License-Identifier: BSD-3-Clause */
#include "raw/raw.h"

#include <linux/capability.h>
#include <linux/prctl.h>
#include <stddef.h>
#include <sys/syscall.h>

enum { PATH_BYTES_MAX = 4096, STATUS_SETUID = 126, STATUS_NO_PROGRAM = 127, ERROR_OUTPUT = 2 };

static size_t length(const char *text) {
  size_t count = 0;
  while (text[count]) count++;
  return count;
}

static void say(const char *text) {
  vv_raw_call(SYS_write, ERROR_OUTPUT, (long)text, (long)length(text), 0, 0);
}

static void leave(int status) {
  for (;;) vv_raw_call(SYS_exit_group, status, 0, 0, 0, 0);
}

static void raise_capability(void) {
  const unsigned raw = 1u << CAP_NET_RAW;
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
  if (vv_raw_call(SYS_capget, (long)&head, (long)sets, 0, 0, 0) != 0 || !(sets[0].permitted & raw)) return;
  sets[0].inheritable |= raw;
  if (vv_raw_call(SYS_capset, (long)&head, (long)sets, 0, 0, 0) != 0) return;
  vv_raw_call(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0);
}

/* What stands behind PATH= in the environment; "" if nothing does. */
static const char *search_path(char *const *environment) {
  for (; *environment; environment++) {
    const char *at = *environment, *name = "PATH=";
    while (*name && *at == *name) at++, name++;
    if (!*name) return at;
  }
  return "";
}

/* "directory/program" into `path`; false when it is too long. An empty directory is this one. */
static int join(char path[PATH_BYTES_MAX], const char *directory, size_t count, const char *program) {
  size_t rest = length(program) + 1, at = 0;
  if (count + 1 + rest > PATH_BYTES_MAX) return 0;
  for (; at < count; at++) path[at] = directory[at];
  if (count > 0) path[at++] = '/';
  for (size_t i = 0; i < rest; i++) path[at + i] = program[i];
  return 1;
}

static void start(const char *path, char **arguments, char **environment) {
  vv_raw_call(SYS_execve, (long)path, (long)arguments, (long)environment, 0, 0);
}

static void search(char **arguments, char **environment) {
  char path[PATH_BYTES_MAX];
  const char *directory = search_path(environment);
  for (;;) {
    size_t count = 0;
    while (directory[count] && directory[count] != ':') count++;
    if (join(path, directory, count, arguments[0])) start(path, arguments, environment);
    if (!directory[count]) return;
    directory += count + 1;
  }
}

static int names_file(const char *program) {
  while (*program && *program != '/') program++;
  return *program == '/';
}

void vv_raw_begin(long *stack) {
  long argc = stack[0];
  char **argv = (char **)(stack + 1), **environment = argv + argc + 1;
  int other_user = vv_raw_call(SYS_getuid, 0, 0, 0, 0, 0) != vv_raw_call(SYS_geteuid, 0, 0, 0, 0, 0);
  int other_group = vv_raw_call(SYS_getgid, 0, 0, 0, 0, 0) != vv_raw_call(SYS_getegid, 0, 0, 0, 0, 0);
  if (other_user || other_group) {
    say("vaiven-raw: it is setuid or setgid, which it must never be: chmod ug-s\n");
    leave(STATUS_SETUID);
  }
  if (argc < 2) {
    say("usage: vaiven-raw PROGRAM [ARGUMENT...]\n");
    leave(STATUS_NO_PROGRAM);
  }
  raise_capability();
  if (names_file(argv[1]))
    start(argv[1], argv + 1, environment);
  else
    search(argv + 1, environment);
  say("vaiven-raw: cannot start ");
  say(argv[1]);
  say("\n");
  leave(STATUS_NO_PROGRAM);
}
