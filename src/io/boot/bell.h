/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How rank 0 says that its meeting place is open, to ranks that came before it did: a
 * datagram to the broadcast address of its network, at the port of the place. It
 * proves who rings, not when: anybody may ring again what was rung once, so a ring is
 * a reason to go and see, and no more. Where it does not come (another network, a
 * firewall) ranks go and see now and then.
 */
#ifndef VV_IO_BOOT_BELL_H
#define VV_IO_BOOT_BELL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/siphash.h"
#include "core/base/time.h"
#include "io/os/address.h"

/* Rings at that place, an address of this host. What cannot be done is not done. */
void vv_bell_ring(const struct vv_address *place, const uint8_t key[VV_KEY_BYTES]);

/* Hears rings at that port of the network that this own address lies in: a descriptor, or -1. Close it. */
int vv_bell_open(const struct sockaddr_in *own, uint16_t port);

/* Waits for a ring with that key until then. False: none has come. fd -1: just waits. */
bool vv_bell_await(int fd, const uint8_t key[VV_KEY_BYTES], vv_ns until_ns);

#endif
