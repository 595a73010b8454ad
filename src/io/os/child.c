/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STREAMS    3
#define WAS_KILLED 128

bool vv_child_exists(const char *program) {
  const char *path = getenv("PATH");
  const char *at = path ? path : "/usr/bin:/bin";
  char file[512];
  do {
    int length = (int)strcspn(at, ":");
    snprintf(file, sizeof file, "%.*s/%s", length, at, program);
    if (access(file, X_OK) == 0) return true;
    at += length;
  } while (*at++ == ':');
  return false;
}

void vv_child_init(struct vv_child *child) {
  *child = (struct vv_child){.in = -1, .out = -1, .err = -1};
}

static void close_one(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void close_pipes(struct vv_child *child) {
  close_one(&child->in);
  close_one(&child->out);
  close_one(&child->err);
}

/* Its streams, -1: nobody's. 0, or what errno would say. */
static int spawn(pid_t *pid, const int streams[STREAMS], char *const argv[]) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  char *const environment[] = {"LC_ALL=C", "TZ=UTC0", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", NULL};
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&attributes, &all);
  for (int i = 0; i < STREAMS; i++) {
    if (streams[i] >= 0)
      posix_spawn_file_actions_adddup2(&files, streams[i], i);
    else
      posix_spawn_file_actions_addopen(&files, i, "/dev/null", i == 0 ? O_RDONLY : O_WRONLY, 0);
  }
  int failed = posix_spawnp(pid, argv[0], &files, &attributes, argv, environment);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

/* The pipes wanted: our ends in *child, the others in streams. 0, or what errno would say. */
static int make_pipes(struct vv_child *child, unsigned pipes, int streams[STREAMS]) {
  int *const ours[STREAMS] = {&child->in, &child->out, &child->err};
  for (int i = 0; i < STREAMS; i++) {
    int ends[2];
    if (!(pipes & 1u << i)) continue;
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    *ours[i] = ends[i == 0];
    streams[i] = ends[i != 0];
  }
  return 0;
}

int vv_child_start(struct vv_child *child, char *const argv[], unsigned pipes, struct vv_error *error) {
  int streams[STREAMS] = {-1, -1, -1};
  vv_child_stop(child);
  int failed = make_pipes(child, pipes, streams);
  if (!failed) failed = spawn(&child->pid, streams, argv);
  for (int i = 0; i < STREAMS; i++) close_one(&streams[i]);
  if (!failed) return 0;
  child->pid = 0;
  close_pipes(child);
  errno = failed;
  return vv_error_errno(error, "no-program", "cannot run the program %s", argv[0]);
}

/* Gives away the first `bytes` of what was said, as a line without its end. */
static void take(struct vv_child *child, size_t bytes, bool ended, char line[VV_CHILD_LINE_MAX]) {
  memcpy(line, child->said, bytes);
  line[bytes] = '\0';
  child->said_bytes -= bytes + ended;
  memmove(child->said, child->said + bytes + ended, child->said_bytes);
}

int vv_child_line(struct vv_child *child, char line[VV_CHILD_LINE_MAX]) {
  for (;;) {
    const char *end = memchr(child->said, '\n', child->said_bytes);
    if (end) return take(child, (size_t)(end - child->said), true, line), 1;
    size_t room = sizeof child->said - 1 - child->said_bytes;
    if (room == 0) return take(child, child->said_bytes, false, line), 1;
    ssize_t got = read(child->err, child->said + child->said_bytes, room);
    if (got < 0) return -1;
    if (got == 0 && child->said_bytes == 0) return 0;
    if (got == 0) return take(child, child->said_bytes, false, line), 1;
    child->said_bytes += (size_t)got;
  }
}

void vv_child_finish(struct vv_child *child) {
  close_one(&child->in);
}

int vv_child_wait(struct vv_child *child) {
  int status;
  if (waitpid(child->pid, &status, 0) < 0) return -1;
  close_pipes(child);
  child->pid = 0;
  child->said_bytes = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : WAS_KILLED;
}

void vv_child_stop(struct vv_child *child) {
  if (child->pid > 0) kill(child->pid, SIGKILL);
  while (child->pid > 0 && vv_child_wait(child) < 0 && errno == EINTR) continue;
  close_pipes(child);
  child->pid = 0;
}
