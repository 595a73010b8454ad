/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/host.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH "x86_64"
#elif defined(__aarch64__)
#define ARCH "aarch64"
#elif defined(__s390x__)
#define ARCH "s390x"
#else
#define ARCH ""
#endif

void vv_host_read(struct vv_host *host, const struct vv_address *peer) {
  struct utsname names;
  uname(&names);
  /* A program of another architecture, under an emulator, is what its ends talk as: not what the kernel is. */
  snprintf(host->arch, sizeof host->arch, "%.64s", ARCH[0] ? ARCH : names.machine);
  snprintf(host->hostname, sizeof host->hostname, "%.64s", names.nodename);
  host->byte_order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little";
  vv_tcp_read(peer, &host->tcp);
}

int vv_host_pin(int cpu, struct vv_error *error) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return 0;
  vv_error_errno(error, "no-cpu", "cannot run on CPU %d", cpu);
  return vv_error_remedy(error, "give --cpu a number that `nproc --all` and the control group allow");
}

int vv_host_come_first(struct vv_error *error) {
  const struct sched_param least = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
  if (sched_setscheduler(0, SCHED_FIFO, &least) == 0) return 0;
  vv_error_errno(error, "no-permission", "cannot run in a real-time class");
  return vv_error_remedy(error, "run it as root, in a control group that has real-time");
}

/* The highest cache index that the kernel describes is the last level. */
size_t vv_host_cache_bytes(void) {
  size_t bytes = 0;
  for (int index = 0; index < 8; index++) {
    char path[96];
    unsigned long kib;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *file = fopen(path, "re");
    if (!file) break;
    if (fscanf(file, "%luK", &kib) == 1 && kib * 1024 > bytes) bytes = kib * 1024;
    fclose(file);
  }
  return bytes ? bytes : (size_t)32 << 20;
}

int vv_host_random(uint8_t *bytes, size_t count, struct vv_error *error) {
  if (getrandom(bytes, count, 0) == (ssize_t)count) return 0;
  return vv_error_errno(error, "random", "the system gives no random numbers");
}
