/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/announcement.h"

#include <string.h>

#include "core/wire/bytes.h"

enum { AT_VERSION = 6, AT_NONCE = 8, AT_INCARNATION = 12 };
enum { AT_PEER = 16, AT_EPOCH = 20, AT_WINDOW = 21, AT_TALKED = 22 };
static const uint8_t magic[AT_VERSION] = {'v', 'a', 'i', 'v', 'e', 'n'};

bool vv_announcement_parse(const uint8_t *bytes, size_t count, struct vv_announcement *announcement) {
  if (count != VV_ANNOUNCEMENT_BYTES || memcmp(bytes, magic, sizeof magic) != 0) return false;
  if (vv_get16(bytes + AT_VERSION) != VV_ANNOUNCEMENT_VERSION || vv_get32(bytes + AT_INCARNATION) == 0) return false;
  *announcement = (struct vv_announcement){
      .nonce = vv_get32(bytes + AT_NONCE),
      .incarnation = vv_get32(bytes + AT_INCARNATION),
      .peer = vv_get32(bytes + AT_PEER),
      .epoch = bytes[AT_EPOCH],
      .window = bytes[AT_WINDOW],
      .talked = bytes[AT_TALKED] != 0,
  };
  return true;
}

void vv_announcement_emit(const struct vv_announcement *announcement, uint8_t bytes[VV_ANNOUNCEMENT_BYTES]) {
  memcpy(bytes, magic, sizeof magic);
  vv_put16(bytes + AT_VERSION, VV_ANNOUNCEMENT_VERSION);
  vv_put32(bytes + AT_NONCE, announcement->nonce);
  vv_put32(bytes + AT_INCARNATION, announcement->incarnation);
  vv_put32(bytes + AT_PEER, announcement->peer);
  bytes[AT_EPOCH] = announcement->epoch;
  bytes[AT_WINDOW] = announcement->window;
  bytes[AT_TALKED] = announcement->talked;
}
