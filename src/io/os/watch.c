/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "io/os/clock.h"

#define WAIT_MAX 32

static atomic_bool rang; /* lock-free: a handler may set it, in whichever thread the tick finds */
static bool launcher_watched;

static void ring(int signal) {
  (void)signal;
  atomic_store_explicit(&rang, true, memory_order_relaxed);
}

static int catch_signal(int signal, void (*handler)(int), struct vv_error *error) {
  /* Without SA_RESTART: breaking the call is the purpose. */
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, NULL) != 0) return vv_error_errno(error, "signal", "cannot catch signal %d", signal);
  return 0;
}

int vv_watch_start(vv_ns tick_ns, struct vv_error *error) {
  if (catch_signal(SIGALRM, ring, error) || catch_signal(SIGIO, ring, error) || catch_signal(SIGPIPE, SIG_IGN, error)) {
    return -1;
  }
  struct timeval tick = {.tv_sec = tick_ns / VV_SEC, .tv_usec = tick_ns % VV_SEC / VV_US};
  struct itimerval timer = {.it_interval = tick, .it_value = tick};
  if (setitimer(ITIMER_REAL, &timer, NULL) != 0) return vv_error_errno(error, "signal", "cannot start the tick");
  return 0;
}

/* Where the system cannot signal input the next tick finds it: failures do not matter. */
void vv_watch_input(int fd) {
  fcntl(fd, F_SETOWN, getpid());
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
}

void vv_watch_launcher(void) {
  launcher_watched = true;
}

bool vv_watch_rang(void) {
  if (!atomic_load_explicit(&rang, memory_order_relaxed)) return false;
  atomic_store_explicit(&rang, false, memory_order_relaxed);
  return true;
}

bool vv_watch_has_input(int fd) {
  struct pollfd entry = {.fd = fd, .events = POLLIN};
  return fd >= 0 && poll(&entry, 1, 0) > 0;
}

/* Whatever else arrives on standard input after the key is read and thrown away. */
bool vv_watch_launcher_gone(void) {
  char waste[256];
  while (launcher_watched && vv_watch_has_input(STDIN_FILENO)) {
    ssize_t got = read(STDIN_FILENO, waste, sizeof waste);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return true;
    if (got < 0) break;
  }
  return false;
}

static int launcher_error(struct vv_error *error) {
  return vv_error_set(error, "launcher-gone", "standard input was closed: the launcher has gone");
}

int vv_watch_wait(const int *fds, int count, vv_ns deadline_ns, struct vv_error *error) {
  struct pollfd entries[WAIT_MAX + 1];
  for (int i = 0; i < count; i++) entries[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
  entries[count] = (struct pollfd){.fd = launcher_watched ? STDIN_FILENO : -1, .events = POLLIN};
  for (;;) {
    int timeout_ms = deadline_ns == VV_NEVER ? -1 : vv_clock_left_ms(deadline_ns);
    int ready = poll(entries, (nfds_t)count + 1, timeout_ms);
    if (ready < 0 && errno != EINTR) return vv_error_errno(error, "poll", "cannot wait");
    if (vv_watch_launcher_gone()) return launcher_error(error);
    for (int i = 0; ready > 0 && i < count; i++) {
      if (entries[i].fd >= 0 && entries[i].revents) return i;
    }
    if (ready <= 0 && timeout_ms == 0) return vv_error_set(error, "timeout", "the time is up");
  }
}

int vv_watch_sleep(vv_ns deadline_ns, struct vv_error *error) {
  struct timespec until = {.tv_sec = deadline_ns / VV_SEC, .tv_nsec = deadline_ns % VV_SEC};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    if (vv_watch_launcher_gone()) return launcher_error(error);
  }
  return 0;
}
