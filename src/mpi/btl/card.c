/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/btl/card.h"

#include <string.h>

#include "core/wire/bytes.h"

enum { VERSION = 1 };

void vv_card_emit(const struct vv_card *card, uint8_t bytes[VV_CARD_BYTES]) {
  memset(bytes, 0, VV_CARD_BYTES);
  bytes[0] = VERSION;
  bytes[1] = card->address.sap;
  memcpy(bytes + 2, card->address.mac, VV_MAC_BYTES);
  vv_put16(bytes + 8, card->mtu_bytes);
  bytes[10] = card->prefix;
  vv_put32(bytes + 12, card->nonce);
  vv_put32(bytes + 16, card->network);
}

bool vv_card_parse(const uint8_t *bytes, size_t count, struct vv_card *card) {
  if (count != VV_CARD_BYTES || bytes[0] != VERSION) return false;
  *card = (struct vv_card){.address.sap = bytes[1],
                           .mtu_bytes = vv_get16(bytes + 8),
                           .prefix = bytes[10],
                           .nonce = vv_get32(bytes + 12),
                           .network = vv_get32(bytes + 16)};
  memcpy(card->address.mac, bytes + 2, VV_MAC_BYTES);
  return true;
}

bool vv_card_reaches(const struct vv_card *own, const struct vv_card *other) {
  return own->nonce == other->nonce && own->network == other->network && own->prefix == other->prefix &&
         own->mtu_bytes == other->mtu_bytes && memcmp(own->address.mac, other->address.mac, VV_MAC_BYTES) != 0;
}
