/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses of IPv4 and IPv6, with a port. They are numeric, nothing is resolved;
 * a link-local IPv6 address carries its interface: fe80::1%eth0.
 */
#ifndef VV_IO_OS_ADDRESS_H
#define VV_IO_OS_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "io/os/error.h"

struct vv_address {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  };
  socklen_t length;
};

#define VV_ADDRESS_TEXT_MAX 96

/* "10.0.0.1" or "fe80::1%eth0", and a port. 0, or -1 and *error "bad-address". */
int vv_address_parse(const char *host, uint16_t port, struct vv_address *address, struct vv_error *error);
/* "10.0.0.1:4000" or "[::1]:4000"; without a port (and then without brackets) the port is 0. The same errors. */
int vv_address_parse_pair(const char *text, struct vv_address *address, struct vv_error *error);
/* Writes "10.0.0.1:4000" or "[::1]:4000"; host alone without port and brackets. */
void vv_address_format(const struct vv_address *address, char text[VV_ADDRESS_TEXT_MAX]);
void vv_address_format_host(const struct vv_address *address, char text[VV_ADDRESS_TEXT_MAX]);
uint16_t vv_address_port(const struct vv_address *address);
void vv_address_set_port(struct vv_address *address, uint16_t port);
/*
 * The same port at the broadcast address of the network that this own IPv4
 * address lies in. 0, or -1 and *error "no-iface": no interface has it, or IPv6,
 * which has no broadcast.
 */
int vv_address_broadcast(struct vv_address *address, struct vv_error *error);
/* Host and port are the same. */
bool vv_address_equal(const struct vv_address *a, const struct vv_address *b);

#endif
