/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/letter.h"

#include <string.h>

#include "core/wire/bytes.h"

#define WELCOME_HEAD_BYTES (VV_LETTER_MARK_BYTES + VV_LETTER_NONCE_BYTES)
#define SEAT_BYTES         8

/* What a key that is made of the job's is for. */
enum use { USE_JOIN = 'j', USE_ANSWER = 'a', USE_SESSION = 's', USE_CALL = 'c', USE_CALLED = 'd', USE_RING = 'b' };

static const uint8_t challenge_mark[] = {'v', 'v', 'c', '1'}, join_mark[] = {'v', 'v', 'j', '1'},
                     welcome_mark[] = {'v', 'v', 'w', '1'}, refusal_mark[] = {'v', 'v', 'r', '1'},
                     call_mark[] = {'v', 'v', 'o', '1'}, called_mark[] = {'v', 'v', 'a', '1'},
                     place_mark[] = {'v', 'v', 'p', '1'}, ring_mark[] = {'v', 'v', 'b', '1'};
static const uint8_t no_nonce[VV_LETTER_NONCE_BYTES];

/* The key of that use and nonce: hashes of both, one for each half. */
static void derive(const uint8_t key[VV_KEY_BYTES], enum use use, const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                   uint8_t derived[VV_KEY_BYTES]) {
  uint8_t what[2 + VV_LETTER_NONCE_BYTES] = {(uint8_t)use};
  memcpy(what + 2, nonce, VV_LETTER_NONCE_BYTES);
  for (uint8_t half = 0; half < 2; half++) {
    what[1] = half;
    vv_put64(derived + half * VV_KEY_BYTES / 2, vv_siphash(key, what, sizeof what));
  }
}

/* Writes the tag of a letter that is whole but for it; and compares. */
static void seal(const uint8_t key[VV_KEY_BYTES], enum use use, const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                 uint8_t *letter, size_t bytes) {
  uint8_t own[VV_KEY_BYTES];
  derive(key, use, nonce, own);
  vv_put64(letter + bytes - VV_LETTER_TAG_BYTES, vv_siphash(own, letter, bytes - VV_LETTER_TAG_BYTES));
}

static bool is_sealed(const uint8_t key[VV_KEY_BYTES], enum use use, const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                      const uint8_t *letter, size_t bytes) {
  uint8_t own[VV_KEY_BYTES], tag[VV_LETTER_TAG_BYTES];
  derive(key, use, nonce, own);
  vv_put64(tag, vv_siphash(own, letter, bytes - VV_LETTER_TAG_BYTES));
  return vv_siphash_equal(tag, letter + bytes - VV_LETTER_TAG_BYTES, VV_LETTER_TAG_BYTES);
}

static bool begins_with(const uint8_t *letter, const uint8_t mark[VV_LETTER_MARK_BYTES]) {
  return memcmp(letter, mark, VV_LETTER_MARK_BYTES) == 0;
}

static void put_seat(uint8_t bytes[SEAT_BYTES], const struct vv_letter_seat *seat) {
  vv_put32(bytes, seat->address);
  vv_put16(bytes + 4, seat->port);
  bytes[6] = seat->order;
  bytes[7] = 0;
}

static struct vv_letter_seat get_seat(const uint8_t bytes[SEAT_BYTES]) {
  return (struct vv_letter_seat){vv_get32(bytes), vv_get16(bytes + 4), bytes[6]};
}

void vv_letter_place_emit(const struct vv_letter_seat *seat, const uint8_t key[VV_KEY_BYTES],
                          uint8_t bytes[VV_LETTER_PLACE_BYTES]) {
  memcpy(bytes, place_mark, sizeof place_mark);
  put_seat(bytes + VV_LETTER_MARK_BYTES, seat);
  memcpy(bytes + VV_LETTER_MARK_BYTES + SEAT_BYTES, key, VV_KEY_BYTES);
}

bool vv_letter_place_parse(const uint8_t bytes[VV_LETTER_PLACE_BYTES], struct vv_letter_seat *seat,
                           uint8_t key[VV_KEY_BYTES]) {
  const struct vv_letter_seat found = get_seat(bytes + VV_LETTER_MARK_BYTES);
  if (!begins_with(bytes, place_mark) || found.port == 0 || found.port == UINT16_MAX) return false;
  *seat = found;
  memcpy(key, bytes + VV_LETTER_MARK_BYTES + SEAT_BYTES, VV_KEY_BYTES);
  return true;
}

void vv_letter_ring_emit(const uint8_t key[VV_KEY_BYTES], uint8_t bytes[VV_LETTER_RING_BYTES]) {
  memcpy(bytes, ring_mark, sizeof ring_mark);
  seal(key, USE_RING, no_nonce, bytes, VV_LETTER_RING_BYTES);
}

bool vv_letter_ring_parse(const uint8_t key[VV_KEY_BYTES], const uint8_t bytes[VV_LETTER_RING_BYTES]) {
  return begins_with(bytes, ring_mark) && is_sealed(key, USE_RING, no_nonce, bytes, VV_LETTER_RING_BYTES);
}

void vv_letter_session_key(const uint8_t key[VV_KEY_BYTES], const uint8_t session[VV_LETTER_NONCE_BYTES],
                           uint8_t session_key[VV_KEY_BYTES]) {
  derive(key, USE_SESSION, session, session_key);
}

void vv_letter_challenge_emit(const uint8_t nonce[VV_LETTER_NONCE_BYTES], uint8_t bytes[VV_LETTER_CHALLENGE_BYTES]) {
  memcpy(bytes, challenge_mark, sizeof challenge_mark);
  memcpy(bytes + VV_LETTER_MARK_BYTES, nonce, VV_LETTER_NONCE_BYTES);
}

bool vv_letter_challenge_parse(const uint8_t bytes[VV_LETTER_CHALLENGE_BYTES], uint8_t nonce[VV_LETTER_NONCE_BYTES]) {
  if (!begins_with(bytes, challenge_mark)) return false;
  memcpy(nonce, bytes + VV_LETTER_MARK_BYTES, VV_LETTER_NONCE_BYTES);
  return true;
}

void vv_letter_join_emit(const uint8_t key[VV_KEY_BYTES], const uint8_t challenge[VV_LETTER_NONCE_BYTES],
                         const struct vv_letter_join *join, uint8_t bytes[VV_LETTER_JOIN_BYTES]) {
  memcpy(bytes, join_mark, sizeof join_mark);
  vv_put32(bytes + 4, join->ranks);
  vv_put32(bytes + 8, join->rank);
  put_seat(bytes + 12, &join->seat);
  memcpy(bytes + 20, join->nonce, VV_LETTER_NONCE_BYTES);
  seal(key, USE_JOIN, challenge, bytes, VV_LETTER_JOIN_BYTES);
}

bool vv_letter_join_parse(const uint8_t key[VV_KEY_BYTES], const uint8_t challenge[VV_LETTER_NONCE_BYTES],
                          const uint8_t bytes[VV_LETTER_JOIN_BYTES], struct vv_letter_join *join) {
  if (!begins_with(bytes, join_mark) || !is_sealed(key, USE_JOIN, challenge, bytes, VV_LETTER_JOIN_BYTES)) return false;
  join->ranks = vv_get32(bytes + 4);
  join->rank = vv_get32(bytes + 8);
  join->seat = get_seat(bytes + 12);
  memcpy(join->nonce, bytes + 20, VV_LETTER_NONCE_BYTES);
  return true;
}

size_t vv_letter_answer_bytes(const uint8_t mark[VV_LETTER_MARK_BYTES], uint32_t ranks) {
  if (begins_with(mark, welcome_mark)) return VV_LETTER_WELCOME_BYTES(ranks);
  return begins_with(mark, refusal_mark) ? VV_LETTER_REFUSAL_BYTES : 0;
}

void vv_letter_welcome_emit(const uint8_t key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                            const uint8_t session[VV_LETTER_NONCE_BYTES], const struct vv_letter_seat *seats,
                            uint32_t ranks, uint8_t *bytes) {
  memcpy(bytes, welcome_mark, sizeof welcome_mark);
  memcpy(bytes + VV_LETTER_MARK_BYTES, session, VV_LETTER_NONCE_BYTES);
  for (uint32_t i = 0; i < ranks; i++) put_seat(bytes + WELCOME_HEAD_BYTES + (size_t)i * SEAT_BYTES, &seats[i]);
  seal(key, USE_ANSWER, nonce, bytes, VV_LETTER_WELCOME_BYTES(ranks));
}

bool vv_letter_welcome_parse(const uint8_t key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                             const uint8_t *bytes, uint32_t ranks, uint8_t session[VV_LETTER_NONCE_BYTES],
                             struct vv_letter_seat *seats) {
  if (!begins_with(bytes, welcome_mark) || !is_sealed(key, USE_ANSWER, nonce, bytes, VV_LETTER_WELCOME_BYTES(ranks))) {
    return false;
  }
  memcpy(session, bytes + VV_LETTER_MARK_BYTES, VV_LETTER_NONCE_BYTES);
  for (uint32_t i = 0; i < ranks; i++) seats[i] = get_seat(bytes + WELCOME_HEAD_BYTES + (size_t)i * SEAT_BYTES);
  return true;
}

void vv_letter_refusal_emit(const uint8_t key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                            const struct vv_letter_refusal *refusal, uint8_t bytes[VV_LETTER_REFUSAL_BYTES]) {
  memcpy(bytes, refusal_mark, sizeof refusal_mark);
  vv_put32(bytes + 4, (uint32_t)refusal->why << 24);
  vv_put32(bytes + 8, refusal->rank);
  vv_put32(bytes + 12, refusal->count);
  seal(key, USE_ANSWER, nonce, bytes, VV_LETTER_REFUSAL_BYTES);
}

static bool is_why(uint32_t why) {
  return why >= VV_LETTER_DIED && why <= VV_LETTER_GAVE_UP;
}

bool vv_letter_refusal_parse(const uint8_t key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                             const uint8_t bytes[VV_LETTER_REFUSAL_BYTES], struct vv_letter_refusal *refusal) {
  if (!begins_with(bytes, refusal_mark) || !is_sealed(key, USE_ANSWER, nonce, bytes, VV_LETTER_REFUSAL_BYTES) ||
      !is_why(bytes[4])) {
    return false;
  }
  *refusal = (struct vv_letter_refusal){(enum vv_letter_why)bytes[4], vv_get32(bytes + 8), vv_get32(bytes + 12)};
  return true;
}

static uint64_t note_tag(const uint8_t session_key[VV_KEY_BYTES], const struct vv_letter_way *way,
                         const uint8_t *note) {
  uint8_t what[12 + VV_LETTER_NOTE_BYTES - VV_LETTER_TAG_BYTES];
  vv_put32(what, way->from);
  vv_put32(what + 4, way->to);
  vv_put32(what + 8, way->number);
  memcpy(what + 12, note, VV_LETTER_NOTE_BYTES - VV_LETTER_TAG_BYTES);
  return vv_siphash(session_key, what, sizeof what);
}

void vv_letter_call_emit(const uint8_t session_key[VV_KEY_BYTES], const uint8_t challenge[VV_LETTER_NONCE_BYTES],
                         const struct vv_letter_call *call, uint8_t bytes[VV_LETTER_CALL_BYTES]) {
  memcpy(bytes, call_mark, sizeof call_mark);
  vv_put32(bytes + 4, call->from);
  vv_put32(bytes + 8, call->to);
  memcpy(bytes + 12, call->nonce, VV_LETTER_NONCE_BYTES);
  seal(session_key, USE_CALL, challenge, bytes, VV_LETTER_CALL_BYTES);
}

bool vv_letter_call_parse(const uint8_t session_key[VV_KEY_BYTES], const uint8_t challenge[VV_LETTER_NONCE_BYTES],
                          const uint8_t bytes[VV_LETTER_CALL_BYTES], struct vv_letter_call *call) {
  if (!begins_with(bytes, call_mark)) return false;
  if (!is_sealed(session_key, USE_CALL, challenge, bytes, VV_LETTER_CALL_BYTES)) return false;
  call->from = vv_get32(bytes + 4);
  call->to = vv_get32(bytes + 8);
  memcpy(call->nonce, bytes + 12, VV_LETTER_NONCE_BYTES);
  return true;
}

void vv_letter_answer_emit(const uint8_t session_key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                           uint8_t bytes[VV_LETTER_ANSWER_BYTES]) {
  memcpy(bytes, called_mark, sizeof called_mark);
  seal(session_key, USE_CALLED, nonce, bytes, VV_LETTER_ANSWER_BYTES);
}

bool vv_letter_answer_parse(const uint8_t session_key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                            const uint8_t bytes[VV_LETTER_ANSWER_BYTES]) {
  return begins_with(bytes, called_mark) && is_sealed(session_key, USE_CALLED, nonce, bytes, VV_LETTER_ANSWER_BYTES);
}

void vv_letter_note_emit(const uint8_t session_key[VV_KEY_BYTES], const struct vv_letter_way *way,
                         const struct vv_letter_note *note, uint8_t bytes[VV_LETTER_NOTE_BYTES]) {
  vv_put32(bytes, (uint32_t)note->kind << 24);
  for (int i = 0; i < VV_LETTER_NUMBERS; i++) vv_put32(bytes + 4 + 4 * i, note->numbers[i]);
  vv_put64(bytes + VV_LETTER_NOTE_BYTES - VV_LETTER_TAG_BYTES, note_tag(session_key, way, bytes));
}

bool vv_letter_note_parse(const uint8_t session_key[VV_KEY_BYTES], const struct vv_letter_way *way,
                          const uint8_t bytes[VV_LETTER_NOTE_BYTES], struct vv_letter_note *note) {
  uint8_t tag[VV_LETTER_TAG_BYTES];
  vv_put64(tag, note_tag(session_key, way, bytes));
  const uint8_t *tag_of_writer = bytes + VV_LETTER_NOTE_BYTES - VV_LETTER_TAG_BYTES;
  if (!vv_siphash_equal(tag, tag_of_writer, VV_LETTER_TAG_BYTES)) return false;
  if (bytes[0] != VV_LETTER_VALUES && bytes[0] != VV_LETTER_LOST && bytes[0] != VV_LETTER_WORD) return false;
  note->kind = (enum vv_letter_kind)bytes[0];
  for (int i = 0; i < VV_LETTER_NUMBERS; i++) note->numbers[i] = vv_get32(bytes + 4 + 4 * i);
  return true;
}

struct vv_letter_note vv_letter_lost(const struct vv_letter_refusal *refusal) {
  return (struct vv_letter_note){VV_LETTER_LOST, {(uint32_t)refusal->why, refusal->rank, refusal->count}};
}

bool vv_letter_is_lost(const struct vv_letter_note *note, struct vv_letter_refusal *refusal) {
  if (note->kind != VV_LETTER_LOST || !is_why(note->numbers[0])) return false;
  *refusal = (struct vv_letter_refusal){(enum vv_letter_why)note->numbers[0], note->numbers[1], note->numbers[2]};
  return true;
}
