/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The payload of message number `seq` of a launch, so that each end can tell
 * a right answer from a wrong, stale or foreign one.
 *
 * The first min(size, 8) bytes are the tag: the low bytes of seq, least
 * significant first, masked by the key. The rest are 64-bit little-endian words,
 * an arithmetic progression whose start depends on key and seq and whose step
 * depends on the key: cheap enough to write and check for every message, and no
 * shifted, swapped, stale or zeroed part of a message passes.
 *
 * Where messages travel as 64-bit numbers (`numbers`), of which each machine
 * has a representation of its own, whole words lie in memory as this machine's.
 *
 * An empty message carries nothing, and a tag of n bytes repeats after 256^n
 * messages; who relies on the tag of a short message must see to that.
 */
#ifndef VV_CORE_BASE_PAYLOAD_H
#define VV_CORE_BASE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/siphash.h"

#define VV_PAYLOAD_TAG_BYTES 8

struct vv_payload {
  uint8_t key[VV_KEY_BYTES];
  uint64_t mask; /* of the tags */
  uint64_t step; /* from word to word; odd */
  bool numbers;
};

void vv_payload_init(struct vv_payload *payload, const uint8_t key[VV_KEY_BYTES], bool numbers);

/* Writes message number seq. */
void vv_payload_fill(const struct vv_payload *payload, uint64_t seq, uint8_t *message, size_t size_bytes);

/* True when these bytes are message number seq and nothing else. */
bool vv_payload_check(const struct vv_payload *payload, uint64_t seq, const uint8_t *message, size_t size_bytes);

/* The same of a part of it: the `count` bytes from `offset` on of message number seq, which has size_bytes. */
bool vv_payload_check_part(const struct vv_payload *payload, uint64_t seq, uint64_t size_bytes, uint64_t offset,
                           const uint8_t *part, size_t count);

/*
 * How many messages before `seq` the tag says this one is: 0 for seq itself,
 * 1 for the one before. Modulo 256^size for fewer than 8 bytes; 0 for none.
 */
uint64_t vv_payload_age(const struct vv_payload *payload, uint64_t seq, const uint8_t *message, size_t size_bytes);

#endif
