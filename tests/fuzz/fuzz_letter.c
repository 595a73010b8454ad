/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Letters of a meeting, from outside. The first byte says which is expected; with
 * its top bit the last bytes become the right tag, so that what follows is what a
 * peer that holds the key and has gone mad can do. What is believed says the same
 * when it is written again. Exact heap blocks catch a step beyond.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/letter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  CHALLENGE,
  JOIN,
  WELCOME,
  REFUSAL,
  NOTE,
  PLACE,
  CALL,
  ANSWER,
  RING,
  KINDS,
  RANKS = 5,
  BYTES_MAX = VV_LETTER_WELCOME_BYTES(RANKS)
};

static const uint8_t key[VV_KEY_BYTES] = {1}, nonce[VV_LETTER_NONCE_BYTES] = {2};
static const struct vv_letter_way way = {1, 0, 7};
static const size_t lengths[KINDS] = {VV_LETTER_CHALLENGE_BYTES, VV_LETTER_JOIN_BYTES,   BYTES_MAX,
                                      VV_LETTER_REFUSAL_BYTES,   VV_LETTER_NOTE_BYTES,   VV_LETTER_PLACE_BYTES,
                                      VV_LETTER_CALL_BYTES,      VV_LETTER_ANSWER_BYTES, VV_LETTER_RING_BYTES};

/* Parses the letter and writes it again: false when it is not believed. */
static bool again(int kind, const uint8_t *bytes, uint8_t *copy) {
  uint8_t own[VV_LETTER_NONCE_BYTES], told[VV_KEY_BYTES];
  struct vv_letter_join join;
  struct vv_letter_seat seats[RANKS];
  struct vv_letter_refusal refusal;
  struct vv_letter_note note;
  struct vv_letter_call call;
  if (kind == CHALLENGE && vv_letter_challenge_parse(bytes, own)) return vv_letter_challenge_emit(own, copy), true;
  if (kind == JOIN && vv_letter_join_parse(key, nonce, bytes, &join)) {
    return vv_letter_join_emit(key, nonce, &join, copy), true;
  }
  if (kind == WELCOME && vv_letter_welcome_parse(key, nonce, bytes, RANKS, own, seats)) {
    return vv_letter_welcome_emit(key, nonce, own, seats, RANKS, copy), true;
  }
  if (kind == REFUSAL && vv_letter_refusal_parse(key, nonce, bytes, &refusal)) {
    assert(refusal.why >= VV_LETTER_DIED && refusal.why <= VV_LETTER_GAVE_UP);
    return vv_letter_refusal_emit(key, nonce, &refusal, copy), true;
  }
  if (kind == PLACE && vv_letter_place_parse(bytes, seats, told)) {
    assert(seats->port > 0 && seats->port < UINT16_MAX);
    return vv_letter_place_emit(seats, told, copy), true;
  }
  if (kind == NOTE && vv_letter_note_parse(key, &way, bytes, &note)) {
    if (vv_letter_is_lost(&note, &refusal)) assert(vv_letter_lost(&refusal).numbers[1] == note.numbers[1]);
    return vv_letter_note_emit(key, &way, &note, copy), true;
  }
  if (kind == CALL && vv_letter_call_parse(key, nonce, bytes, &call)) {
    return vv_letter_call_emit(key, nonce, &call, copy), true;
  }
  if (kind == ANSWER && vv_letter_answer_parse(key, nonce, bytes)) return vv_letter_answer_emit(key, nonce, copy), true;
  if (kind == RING && vv_letter_ring_parse(key, bytes)) return vv_letter_ring_emit(key, copy), true;
  return false;
}

/* The tag that a holder of the key would write there. */
static void forge(int kind, uint8_t *bytes) {
  static const uint8_t uses[KINDS] = {
      [JOIN] = 'j', [WELCOME] = 'a', [REFUSAL] = 'a', [CALL] = 'c', [ANSWER] = 'd', [RING] = 'b'};
  uint8_t what[18] = {uses[kind]}, own[VV_KEY_BYTES], noted[12 + VV_LETTER_NOTE_BYTES] = {0};
  const size_t before = lengths[kind] - VV_LETTER_TAG_BYTES;
  if (kind != RING) memcpy(what + 2, nonce, sizeof nonce);
  vv_put64(own, vv_siphash(key, what, sizeof what));
  what[1] = 1;
  vv_put64(own + 8, vv_siphash(key, what, sizeof what));
  vv_put32(noted, way.from);
  vv_put32(noted + 4, way.to);
  vv_put32(noted + 8, way.number);
  memcpy(noted + 12, bytes, kind == NOTE ? before : 0);
  vv_put64(bytes + before, kind == NOTE ? vv_siphash(key, noted, 12 + before) : vv_siphash(own, bytes, before));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  const int kind = (data[0] & 0x7f) % KINDS;
  uint8_t *bytes = calloc(1, lengths[kind]), once[BYTES_MAX], twice[BYTES_MAX];
  assert(bytes);
  memcpy(bytes, data + 1, size - 1 < lengths[kind] ? size - 1 : lengths[kind]);
  if (data[0] & 0x80 && kind != CHALLENGE && kind != PLACE) forge(kind, bytes);
  if (again(kind, bytes, once)) {
    assert(again(kind, once, twice) && memcmp(once, twice, lengths[kind]) == 0);
  }
  free(bytes);
  return 0;
}
