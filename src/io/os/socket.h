/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets of IPv4 and IPv6. */
#ifndef VV_IO_OS_SOCKET_H
#define VV_IO_OS_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "io/os/address.h"
#include "io/os/error.h"

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
int vv_socket_connect(int fd, const struct vv_address *peer, vv_ns deadline_ns, struct vv_error *error);

/* Writes all of it to a stream socket that blocks. False: the other side is gone. */
bool vv_socket_write_all(int fd, const uint8_t *bytes, size_t count);

/* The kernel of the other side is asked whether it lives: the connection breaks within about that time if not. */
void vv_socket_keepalive(int fd, int seconds);

#endif
