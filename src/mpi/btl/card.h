/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank tells all others of itself before anybody sends: where its frames
 * must go to, and what tells whether two ranks can reach each other over LLC at
 * all (network byte order):
 *
 *   0 version (1) | 1 SAP (1) | 2 MAC (6) | 8 MTU (2) | 10 prefix (1) | 11 0 (1) | 12 nonce (4) | 16 network (4)
 */
#ifndef VV_MPI_BTL_CARD_H
#define VV_MPI_BTL_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/llc/address.h"

#define VV_CARD_BYTES 20

struct vv_card {
  struct vv_llc_address address;
  uint16_t mtu_bytes; /* of a PDU, at most */
  uint8_t prefix;     /* bits of the network */
  uint32_t nonce;     /* of the job */
  uint32_t network;   /* IPv4, of the interface; 0: it has none */
};

void vv_card_emit(const struct vv_card *card, uint8_t bytes[VV_CARD_BYTES]);
/* False, and nothing set, when that is no card of this version. */
bool vv_card_parse(const uint8_t *bytes, size_t count, struct vv_card *card);

/*
 * True when the owners of the two can send frames to each other: of one job, on
 * one network, both with an MTU that the other's frames fit in, and not at one
 * MAC, which no Ethernet brings a frame back to.
 */
bool vv_card_reaches(const struct vv_card *own, const struct vv_card *other);

#endif
