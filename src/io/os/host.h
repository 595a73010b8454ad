/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts of this host that a measurement needs, and the CPU to run on. */
#ifndef VV_IO_OS_HOST_H
#define VV_IO_OS_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "io/os/error.h"
#include "io/os/tcp.h"

struct vv_host {
  char hostname[65];
  char arch[65];          /* of this program: x86_64, s390x, aarch64 */
  const char *byte_order; /* "little" or "big" */
  struct vv_tcp tcp;      /* towards the peer that was asked for */
};

/* peer: to which it sends; NULL: to nobody, and its TCP is unsaid. */
void vv_host_read(struct vv_host *host, const struct vv_address *peer);

/* Runs this process on that CPU only. 0, or -1 and *error "no-cpu". */
int vv_host_pin(int cpu, struct vv_error *error);

/* Runs this process before all that is not of the real-time classes. 0, or -1 and *error "no-permission". */
int vv_host_come_first(struct vv_error *error);

/* The size of the last-level cache; 32 MiB where the system does not tell. */
size_t vv_host_cache_bytes(void);

/* Fills the bytes from the system's random generator. 0, or -1 and *error. */
int vv_host_random(uint8_t *bytes, size_t count, struct vv_error *error);

#endif
