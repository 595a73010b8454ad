/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends a group what it must not believe: hostile ADDRESS VICTIM OWN-PORT PORT SECONDS [RATE]
 *
 * It learns from the group's next datagram what any host of the LAN can see, its
 * address and stream, and does not know the key: headers with wrong tags of every kind of PDU, cut
 * ones, empty ones, those of another group; to everybody, and to the victim's
 * own port, as fast as it goes; with a RATE so many a second, to the victim's own
 * port alone. It says "begun" when it listens, and in the end how many it sent.
 */
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/time.h"
#include "core/wire/bytes.h"
#include "core/wire/gpdu.h"
#include "io/port/cast.h"

static vv_ns now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t mixed(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  return x ^ x >> 27;
}

/* One datagram of `bytes`: the right beginning, most of the time; the rest by chance. */
static size_t forge(uint64_t *state, uint32_t stream, uint8_t *bytes) {
  const uint64_t choice = mixed(state);
  const size_t lengths[] = {0, 3, 16, 31, 40, 56, 200, 1472};
  const uint32_t whose = choice % 16 == 0 ? (uint32_t)(choice >> 40) & VV_GPDU_STREAM_MAX : stream;
  for (size_t i = 0; i + 8 <= 64; i += 8) vv_put64(bytes + i, mixed(state));
  vv_put32(bytes, (uint32_t)(VV_GPDU_HEAD - 2 + choice / 16 % 10) << 24 | whose);
  vv_put32(bytes + 4, (uint32_t)(choice >> 32) % 2000); /* a position that may be the present one */
  return lengths[choice / 160 % 8];
}

/* What the next datagram that a group sends to everybody tells: its address, and its stream. */
static uint32_t learn(uint16_t port, struct in_addr *address) {
  uint8_t packet[2048];
  const int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_IP));
  puts("begun");
  fflush(stdout);
  for (;;) {
    const ssize_t got = recv(fd, packet, sizeof packet, 0);
    const uint8_t *udp = packet + 4 * (size_t)(packet[0] & 15), *body = udp + 8;
    if (got < 36 || packet[9] != IPPROTO_UDP || vv_get16(udp + 2) != port || packet[16] != 239) continue;
    if (body[0] < VV_GPDU_HEAD || body[0] > VV_GPDU_FAIL) continue;
    memcpy(address, packet + 16, sizeof *address);
    close(fd);
    return vv_get32(body) & VV_GPDU_STREAM_MAX;
  }
}

int main(int argc, char **argv) {
  static uint8_t bytes[VV_CAST_BATCH][2048];
  struct vv_cast_datagram batch[VV_CAST_BATCH];
  struct vv_cast cast;
  struct vv_error error;
  if (argc != 6 && argc != 7) return 2;
  const uint16_t port = (uint16_t)atoi(argv[4]);
  if (vv_cast_open(&cast, argv[1], &error) != 0) return 1; /* no trains: each costs its victim what a frame costs */
  struct sockaddr_in to[3] = {{.sin_family = AF_INET, .sin_port = htons(port)}};
  const uint32_t stream = learn(port, &to[0].sin_addr);
  to[1] = to[2] = to[0];
  to[1].sin_port = htons((uint16_t)(port + 1));
  inet_pton(AF_INET, argv[2], &to[2].sin_addr);
  to[2].sin_port = htons((uint16_t)atoi(argv[3]));
  const vv_ns begin_ns = now_ns(), span_ns = (int64_t)atoi(argv[5]) * 1000000000;
  const int64_t rate = argc == 7 ? atoi(argv[6]) : 0;
  uint64_t state = 1, sent = 0;
  for (vv_ns spent_ns = 0; spent_ns < span_ns; spent_ns = now_ns() - begin_ns) {
    const uint64_t due = rate > 0 ? (uint64_t)(spent_ns / 1000 * rate / 1000000) : sent + 64;
    if (due < sent + 64 && rate > 0) usleep(300);
    while (sent < due) {
      unsigned count = 0;
      for (; count < VV_CAST_BATCH && sent < due; count++, sent++) {
        uint8_t *own = bytes[count];
        batch[count] =
            (struct vv_cast_datagram){to[rate > 0 ? 2 : sent % 3], {{own, forge(&state, stream, own)}, {own, 0}}};
      }
      vv_cast_send(&cast, batch, count);
    }
  }
  printf("sent %llu\n", (unsigned long long)sent);
  vv_cast_close(&cast);
  return 0;
}
