/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/descriptors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Tried, because nothing else is right where others open files meanwhile, and where numbers have holes. */
static bool can_have(int fd, uint32_t count) {
  uint32_t had = 0;
  int *copies = calloc(count, sizeof *copies);
  while (copies && had < count && (copies[had] = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0) had++;
  for (uint32_t i = 0; i < had; i++) close(copies[i]);
  free(copies);
  return had == count;
}

bool vv_descriptors_reserve(int fd, uint32_t count) {
  struct rlimit limit;
  if (can_have(fd, count)) return true;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const rlim_t wanted = limit.rlim_cur + count;
  limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 && can_have(fd, count);
}
