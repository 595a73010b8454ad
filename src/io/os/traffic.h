/* SPDX-License-Identifier: BSD-3-Clause */
/* What has crossed an interface, or a TCP connection, by the kernel's own counters. Nothing here needs a permission. */
#ifndef VV_IO_OS_TRAFFIC_H
#define VV_IO_OS_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

struct vv_traffic {
  uint64_t tx_bytes;
  uint64_t tx_frames;
  uint64_t rx_bytes;
  uint64_t rx_frames;
};

/*
 * Of the interface of that name, since it exists: frames as they are handed to
 * it and by it, each with its Ethernet header, without preamble and check
 * sequence. What it cuts into frames or glues together itself counts as one.
 * False, and nothing set, when there is no such interface.
 */
bool vv_traffic_of_interface(const char *name, struct vv_traffic *traffic);

/*
 * Of a TCP connection, since it exists: its own bytes, those sent again among
 * them, and its segments, empty ones too. False, and nothing set, when the
 * descriptor is none, or the system does not tell.
 */
bool vv_traffic_of_connection(int fd, struct vv_traffic *traffic);

/* Segments that TCP of this host has sent again, over all connections; 0 when it cannot be told. */
uint64_t vv_traffic_resent(void);

/* What was added after `before`. */
struct vv_traffic vv_traffic_since(const struct vv_traffic *before, const struct vv_traffic *now);
void vv_traffic_add(struct vv_traffic *sum, const struct vv_traffic *more);

#endif
