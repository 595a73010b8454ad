/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/ping.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S "60" /* whoever waits gives up long before */

bool vv_ping_exists(void) {
  const char *path = getenv("PATH");
  const char *at = path ? path : "/usr/bin:/bin";
  char file[512];
  do {
    int length = (int)strcspn(at, ":");
    snprintf(file, sizeof file, "%.*s/ping", length, at);
    if (access(file, X_OK) == 0) return true;
    at += length;
  } while (*at++ == ':');
  return false;
}

void vv_ping_init(struct vv_ping *ping) {
  *ping = (struct vv_ping){.fd = -1};
}

/* Its language must be ours, its signals the usual ones, its standard input nobody's. */
static int spawn(pid_t *pid, int output, char *const argv[]) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  char *const environment[] = {"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", NULL};
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int failed = posix_spawnp(pid, argv[0], &files, &attributes, argv, environment);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

int vv_ping_start(struct vv_ping *ping, const char *address, size_t size_bytes, struct vv_error *error) {
  char size[24], to[64];
  int ends[2];
  snprintf(size, sizeof size, "%zu", size_bytes);
  snprintf(to, sizeof to, "%s", address);
  char *const argv[] = {"ping", "-n", "-c", "1", "-W", PATIENCE_S, "-s", size, to, NULL};
  vv_ping_stop(ping);
  if (pipe2(ends, O_CLOEXEC) != 0) return vv_error_errno(error, "no-ping", "icmp: cannot make a pipe for ping");
  int failed = spawn(&ping->pid, ends[1], argv);
  close(ends[1]);
  if (failed) {
    close(ends[0]);
    ping->pid = 0;
    errno = failed;
    return vv_error_errno(error, "no-ping", "icmp: cannot run the program ping");
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  ping->fd = ends[0];
  ping->used = 0;
  return 0;
}

void vv_ping_stop(struct vv_ping *ping) {
  if (ping->pid > 0) {
    kill(ping->pid, SIGKILL);
    while (waitpid(ping->pid, NULL, 0) < 0 && errno == EINTR) continue;
  }
  if (ping->fd >= 0) close(ping->fd);
  ping->pid = 0;
  ping->fd = -1;
}

enum vv_ping_got vv_ping_take(struct vv_ping *ping, int64_t *rtt_ns) {
  char waste[256];
  for (;;) {
    size_t room = sizeof ping->text - 1 - ping->used;
    ssize_t got = room > 0 ? read(ping->fd, ping->text + ping->used, room) : read(ping->fd, waste, sizeof waste);
    if (got < 0) return VV_PING_NOTHING;
    if (got == 0) break;
    if (room > 0) ping->used += (size_t)got;
  }
  ping->text[ping->used] = '\0';
  vv_ping_stop(ping);
  return vv_ping_parse(ping->text, rtt_ns);
}

/* " time=0.033 ms": digits, perhaps a point and more digits. A time under its clock's step is printed as 0 or "<1". */
static bool parse_time(const char *text, int64_t *rtt_ns) {
  int64_t ns = 0, digit_ns = 1000000;
  if (*text < '0' || *text > '9') return false;
  for (; *text >= '0' && *text <= '9' && ns < INT64_MAX / 100; text++) ns = ns * 10 + (*text - '0') * digit_ns;
  if (*text == '.') {
    for (text++; *text >= '0' && *text <= '9'; text++) ns += (*text - '0') * (digit_ns /= 10);
  }
  if (strncmp(text, " ms", 3) != 0) return false;
  *rtt_ns = ns;
  return true;
}

enum vv_ping_got vv_ping_parse(const char *text, int64_t *rtt_ns) {
  const char *answer = strstr(text, " bytes from ");
  const char *time = answer ? strstr(answer, " time=") : NULL;
  if (!time || memchr(answer, '\n', (size_t)(time - answer))) return VV_PING_SILENCE;
  if (!parse_time(time + strlen(" time="), rtt_ns)) return VV_PING_SILENCE;
  bool wrong = strstr(text, "wrong data byte") || strstr(text, "(BAD CHECKSUM") || strstr(text, "(truncated)");
  return wrong ? VV_PING_WRONG : VV_PING_ANSWER;
}
