/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/boot/bell.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/wire/letter.h"
#include "io/os/clock.h"
#include "io/os/error.h"

static const int on = 1;

/* A socket for what goes to the whole network of that address, and where that is; -1: there is none. */
static int open_for_all(struct vv_address *address) {
  struct vv_error ignored;
  if (vv_address_broadcast(address, &ignored) != 0) return -1;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  return fd;
}

void vv_bell_ring(const struct vv_address *place, const uint8_t key[VV_KEY_BYTES]) {
  uint8_t letter[VV_LETTER_RING_BYTES];
  struct vv_address everybody = *place;
  const int fd = open_for_all(&everybody);
  if (fd < 0) return;
  vv_letter_ring_emit(key, letter);
  sendto(fd, letter, sizeof letter, MSG_DONTWAIT, &everybody.any, everybody.length);
  close(fd);
}

int vv_bell_open(const struct sockaddr_in *own, uint16_t port) {
  struct vv_address everybody = {.v4 = *own, .length = sizeof *own};
  vv_address_set_port(&everybody, port);
  const int fd = open_for_all(&everybody);
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); /* others on this host wait, too */
  if (bind(fd, &everybody.any, everybody.length) == 0) return fd;
  close(fd);
  return -1;
}

bool vv_bell_await(int fd, const uint8_t key[VV_KEY_BYTES], vv_ns until_ns) {
  struct pollfd one = {.fd = fd, .events = POLLIN};
  do {
    uint8_t letter[VV_LETTER_RING_BYTES + 1];
    if (poll(&one, 1, vv_clock_left_ms(until_ns)) <= 0) continue;
    const ssize_t got = recv(fd, letter, sizeof letter, MSG_DONTWAIT);
    if (got == VV_LETTER_RING_BYTES && vv_letter_ring_parse(key, letter)) return true;
  } while (vv_clock_ns() < until_ns);
  return false;
}
