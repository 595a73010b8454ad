/* SPDX-License-Identifier: BSD-3-Clause */
/* Letters of a meeting: known bytes, values that come back, and nothing believed that was not written for here and now.
 */
#include "core/wire/letter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 3

static const uint8_t key[VV_KEY_BYTES] = {1, 2, 3}, other_key[VV_KEY_BYTES] = {1, 2, 4};
static const uint8_t nonce[VV_LETTER_NONCE_BYTES] = {7, 7}, other_nonce[VV_LETTER_NONCE_BYTES] = {7, 8};
static const struct vv_letter_join join = {RANKS, 2, {0x0a010003, 40001, 2}, {5, 6}};
static const struct vv_letter_seat seats[RANKS] = {{0x0a010001, 1, 1}, {0x0a010002, 2, 2}, {0x0a010003, 40001, 1}};
static const struct vv_letter_refusal refusal = {VV_LETTER_ABSENT, 2, 1};
static const struct vv_letter_note note = {VV_LETTER_VALUES, {1, 2, 3, UINT32_MAX}};
static const struct vv_letter_call call = {2, 1, {5, 7}};
static const struct vv_letter_way way = {2, 0, 9};

/* Each letter, as it is written here, and whether it is believed with that key and that nonce, as these bytes. */
struct letter {
  size_t bytes;
  void (*emit)(uint8_t *bytes);
  bool (*parse)(const uint8_t *of_key, const uint8_t *of_nonce, const uint8_t *bytes);
};

static void emit_join(uint8_t *bytes) {
  vv_letter_join_emit(key, nonce, &join, bytes);
}

static bool parse_join(const uint8_t *of_key, const uint8_t *of_nonce, const uint8_t *bytes) {
  struct vv_letter_join got;
  if (!vv_letter_join_parse(of_key, of_nonce, bytes, &got)) return false;
  return got.ranks == join.ranks && got.rank == join.rank && got.seat.address == join.seat.address &&
         got.seat.port == join.seat.port && got.seat.order == join.seat.order &&
         memcmp(got.nonce, join.nonce, sizeof got.nonce) == 0;
}

static void emit_welcome(uint8_t *bytes) {
  vv_letter_welcome_emit(key, nonce, other_nonce, seats, RANKS, bytes);
}

static bool parse_welcome(const uint8_t *of_key, const uint8_t *of_nonce, const uint8_t *bytes) {
  uint8_t session[VV_LETTER_NONCE_BYTES];
  struct vv_letter_seat got[RANKS];
  if (!vv_letter_welcome_parse(of_key, of_nonce, bytes, RANKS, session, got)) return false;
  bool same = memcmp(session, other_nonce, sizeof session) == 0;
  for (int i = 0; i < RANKS; i++)
    same = same && got[i].address == seats[i].address && got[i].port == seats[i].port && got[i].order == seats[i].order;
  return same;
}

static void emit_refusal(uint8_t *bytes) {
  vv_letter_refusal_emit(key, nonce, &refusal, bytes);
}

static bool parse_refusal(const uint8_t *of_key, const uint8_t *of_nonce, const uint8_t *bytes) {
  struct vv_letter_refusal got;
  if (!vv_letter_refusal_parse(of_key, of_nonce, bytes, &got)) return false;
  return got.why == refusal.why && got.rank == refusal.rank && got.count == refusal.count;
}

static void emit_note(uint8_t *bytes) {
  uint8_t session_key[VV_KEY_BYTES];
  vv_letter_session_key(key, nonce, session_key);
  vv_letter_note_emit(session_key, &way, &note, bytes);
}

static bool parse_note(const uint8_t *of_key, const uint8_t *of_nonce, const uint8_t *bytes) {
  uint8_t session_key[VV_KEY_BYTES];
  struct vv_letter_note got;
  vv_letter_session_key(of_key, of_nonce, session_key);
  if (!vv_letter_note_parse(session_key, &way, bytes, &got)) return false;
  return got.kind == note.kind && memcmp(got.numbers, note.numbers, sizeof got.numbers) == 0;
}

static void emit_call(uint8_t *bytes) {
  vv_letter_call_emit(key, nonce, &call, bytes);
}

static bool parse_call(const uint8_t *of_key, const uint8_t *of_nonce, const uint8_t *bytes) {
  struct vv_letter_call got;
  if (!vv_letter_call_parse(of_key, of_nonce, bytes, &got)) return false;
  return got.from == call.from && got.to == call.to && memcmp(got.nonce, call.nonce, sizeof got.nonce) == 0;
}

static void emit_answer(uint8_t *bytes) {
  vv_letter_answer_emit(key, nonce, bytes);
}

static const struct letter letters[] = {
    {VV_LETTER_JOIN_BYTES, emit_join, parse_join},
    {VV_LETTER_WELCOME_BYTES(RANKS), emit_welcome, parse_welcome},
    {VV_LETTER_REFUSAL_BYTES, emit_refusal, parse_refusal},
    {VV_LETTER_NOTE_BYTES, emit_note, parse_note},
    {VV_LETTER_CALL_BYTES, emit_call, parse_call},
    {VV_LETTER_ANSWER_BYTES, emit_answer, vv_letter_answer_parse},
};
enum { LETTERS = sizeof letters / sizeof letters[0] };

static void values_come_back(void **state) {
  (void)state;
  for (int i = 0; i < LETTERS; i++) {
    uint8_t bytes[256];
    letters[i].emit(bytes);
    assert_true(letters[i].parse(key, nonce, bytes));
  }
}

static void another_key_or_nonce_is_not_believed(void **state) {
  (void)state;
  for (int i = 0; i < LETTERS; i++) {
    uint8_t bytes[256];
    letters[i].emit(bytes);
    assert_false(letters[i].parse(other_key, nonce, bytes));
    assert_false(letters[i].parse(key, other_nonce, bytes));
  }
}

static void no_bit_can_be_changed(void **state) {
  (void)state;
  for (int i = 0; i < LETTERS; i++) {
    for (size_t bit = 0; bit < 8 * letters[i].bytes; bit++) {
      uint8_t bytes[256];
      letters[i].emit(bytes);
      bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
      assert_false(letters[i].parse(key, nonce, bytes));
    }
  }
}

/* Each letter where another one is expected, of the same key and nonce: a mark is not all that tells them apart. */
static void no_letter_is_another(void **state) {
  (void)state;
  for (int i = 0; i < LETTERS; i++) {
    for (int k = 0; k < LETTERS; k++) {
      uint8_t bytes[256] = {0};
      letters[i].emit(bytes);
      assert_int_equal(letters[k].parse(key, nonce, bytes), i == k);
    }
  }
}

/* The same bytes once more, from another rank, to another rank, back to the writer. */
static void a_note_is_good_once_and_one_way(void **state) {
  (void)state;
  static const struct vv_letter_way others[] = {{2, 0, 8}, {2, 0, 10}, {1, 0, 9}, {2, 1, 9}, {0, 2, 9}};
  uint8_t bytes[VV_LETTER_NOTE_BYTES];
  struct vv_letter_note got = {.kind = VV_LETTER_NOTHING};
  vv_letter_note_emit(key, &way, &note, bytes);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    assert_false(vv_letter_note_parse(key, &others[i], bytes, &got));
    assert_int_equal(got.kind, VV_LETTER_NOTHING);
  }
  assert_true(vv_letter_note_parse(key, &way, bytes, &got));
}

/* Who holds the key may be of another version, or mad. */
static void kinds_that_are_none_are_refused(void **state) {
  (void)state;
  uint8_t bytes[64];
  struct vv_letter_note got;
  struct vv_letter_refusal why;
  const struct vv_letter_note kindless = {(enum vv_letter_kind)'x', {0}}, whyless = {VV_LETTER_LOST, {99, 0, 0, 0}};
  vv_letter_note_emit(key, &way, &kindless, bytes);
  assert_false(vv_letter_note_parse(key, &way, bytes, &got));
  assert_false(vv_letter_is_lost(&whyless, &why));
  assert_false(vv_letter_is_lost(&note, &why));
  const struct vv_letter_refusal none = {(enum vv_letter_why)0, 1, 1};
  vv_letter_refusal_emit(key, nonce, &none, bytes);
  assert_false(vv_letter_refusal_parse(key, nonce, bytes, &why));
}

static void a_refusal_is_the_same_as_a_note(void **state) {
  (void)state;
  struct vv_letter_refusal got;
  const struct vv_letter_note lost = vv_letter_lost(&refusal);
  assert_true(vv_letter_is_lost(&lost, &got));
  assert_true(got.why == refusal.why && got.rank == refusal.rank && got.count == refusal.count);
}

static void a_ring_proves_the_key_alone(void **state) {
  (void)state;
  uint8_t bytes[VV_LETTER_RING_BYTES];
  vv_letter_ring_emit(key, bytes);
  assert_memory_equal(bytes, "vvb1", 4);
  assert_true(vv_letter_ring_parse(key, bytes));
  assert_false(vv_letter_ring_parse(other_key, bytes));
  for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    assert_false(vv_letter_ring_parse(key, bytes));
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
}

static void the_first_bytes_say_how_long_an_answer_is(void **state) {
  (void)state;
  assert_int_equal(vv_letter_answer_bytes((const uint8_t *)"vvw1", 1024), 28 + 8 * 1024);
  assert_int_equal(vv_letter_answer_bytes((const uint8_t *)"vvr1", 1024), VV_LETTER_REFUSAL_BYTES);
  assert_int_equal(vv_letter_answer_bytes((const uint8_t *)"vvj1", 1024), 0);
  assert_int_equal(vv_letter_answer_bytes((const uint8_t *)"SSH-", 1024), 0);
}

static void known_bytes(void **state) {
  (void)state;
  static const uint8_t fixed[] = {'v', 'v', 'j', '1', 0, 0, 0, 3, 0, 0, 0, 2, 10, 1, 0, 3, 0x9c, 0x41, 2, 0, 5, 6};
  uint8_t bytes[VV_LETTER_JOIN_BYTES], challenge[VV_LETTER_CHALLENGE_BYTES], got[VV_LETTER_NONCE_BYTES];
  emit_join(bytes);
  assert_memory_equal(bytes, fixed, sizeof fixed);
  vv_letter_challenge_emit(nonce, challenge);
  assert_memory_equal(challenge, "vvc1\7\7\0\0", 8);
  assert_true(vv_letter_challenge_parse(challenge, got));
  assert_memory_equal(got, nonce, sizeof got);
  challenge[3] = '2';
  assert_false(vv_letter_challenge_parse(challenge, got));
}

static void a_place_comes_back_and_none_without_a_port(void **state) {
  (void)state;
  uint8_t bytes[VV_LETTER_PLACE_BYTES], told[VV_KEY_BYTES] = {0};
  struct vv_letter_seat got = {0};
  static const uint8_t right[] = {'v', 'v', 'p', '1', 10, 1, 0, 3, 0x9c, 0x41, 1, 0, 1, 2, 3, 0};
  vv_letter_place_emit(&seats[2], key, bytes);
  assert_memory_equal(bytes, right, sizeof right);
  assert_true(vv_letter_place_parse(bytes, &got, told));
  assert_true(got.address == seats[2].address && got.port == seats[2].port);
  assert_memory_equal(told, key, sizeof told);
  for (int i = 0; i < 2; i++) {
    memset(bytes + 8, i ? 0xff : 0, 2); /* a port that has none after it */
    assert_false(vv_letter_place_parse(bytes, &got, told));
  }
  vv_letter_place_emit(&seats[2], key, bytes);
  bytes[0]++;
  assert_false(vv_letter_place_parse(bytes, &got, told));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_place_comes_back_and_none_without_a_port),
      cmocka_unit_test(known_bytes),
      cmocka_unit_test(values_come_back),
      cmocka_unit_test(another_key_or_nonce_is_not_believed),
      cmocka_unit_test(no_bit_can_be_changed),
      cmocka_unit_test(no_letter_is_another),
      cmocka_unit_test(a_note_is_good_once_and_one_way),
      cmocka_unit_test(kinds_that_are_none_are_refused),
      cmocka_unit_test(a_refusal_is_the_same_as_a_note),
      cmocka_unit_test(a_ring_proves_the_key_alone),
      cmocka_unit_test(the_first_bytes_say_how_long_an_answer_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
