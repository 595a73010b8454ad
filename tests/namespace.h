/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network namespace of a test's own, with its loopback interface up: where packet sockets hear nobody else, and
 * interfaces may go down. Root has one, or whoever may have a user namespace.
 */
#ifndef VV_TESTS_NAMESPACE_H
#define VV_TESTS_NAMESPACE_H

#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool have_namespace;

/* SIOCSIF...: of lo. 0, or -1 and errno. */
static inline int change_lo(unsigned long request, struct ifreq ask) {
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  memcpy(ask.ifr_name, "lo", 3);
  int result = ioctl(fd, request, &ask);
  close(fd);
  return result;
}

/* IFF_UP, or 0: down. */
static inline int set_lo(short flags) {
  return change_lo(SIOCSIFFLAGS, (struct ifreq){.ifr_flags = flags});
}

static inline void enter_namespace(void) {
  have_namespace = unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
  have_namespace = have_namespace && set_lo(IFF_UP) == 0;
}

/* Skips the test that has none; where CI is set that is a failure. */
static inline void need_namespace(void) {
  if (have_namespace) return;
  if (getenv("CI")) fail_msg("no network namespace can be made where CI is set");
  print_message("no network namespace: needs root or user namespaces\n");
  skip();
}

#endif
