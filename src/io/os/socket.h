/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and sockets of IPv4 and IPv6. Addresses are numeric, nothing is
 * resolved; a link-local IPv6 address carries its interface: fe80::1%eth0.
 */
#ifndef VV_IO_OS_SOCKET_H
#define VV_IO_OS_SOCKET_H

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

/*
 * A socket of that type (SOCK_STREAM, SOCK_DGRAM) bound to the address and the
 * first free port from port_min to port_max (0, 0: any); the address then has
 * the port. The descriptor, or -1 and *error ("no-port", "bad-address",
 * "socket"). Close it with close().
 */
int vv_socket_bound(int type, struct vv_address *address, uint16_t port_min, uint16_t port_max, struct vv_error *error);
/*
 * The same, a stream socket that listens. It takes a port on which connections of
 * an earlier listener still linger (TIME_WAIT), never one where another listens.
 */
int vv_socket_listening(struct vv_address *address, uint16_t port_min, uint16_t port_max, int backlog,
                        struct vv_error *error);
/* The own, and the other side's, address of a socket. 0, or -1 and *error. */
int vv_socket_own(int fd, struct vv_address *address, struct vv_error *error);
int vv_socket_peer(int fd, struct vv_address *address, struct vv_error *error);
/*
 * Connects a stream socket, and gives up at the deadline though nobody says no;
 * the socket blocks before and after. 0, or -1 and *error ("timeout", "refused",
 * "unreachable").
 */
int vv_socket_connect(int fd, const struct vv_address *peer, int64_t deadline_ns, struct vv_error *error);

/* Writes all of it to a stream socket that blocks. False: the other side is gone. */
bool vv_socket_write_all(int fd, const uint8_t *bytes, size_t count);

#endif
