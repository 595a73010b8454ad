/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes at another time than it should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pair.h"

/*
 * A peer that stood still answers every enquiry when it goes on: the first answer is what was waited for, the others
 * are late (tests/uml/test_judge.py has a kernel that does).
 */
static void test_late_answers_of_a_plain_peer_are_no_fault(void **state) {
  (void)state;
  int to_1 = 1;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  a.plain = b.plain = true;
  struct pair *pair = pair_new(&a, &b);
  const struct vv_lpdu answer = {.kind = VV_LPDU_RR, .response = true, .pf = true, .nr = 1};
  pair_connect(pair);
  const struct vv_llc_link *link = pair_link(pair, 0);
  pair->filter = pair_deaf;
  pair->context = &to_1;
  vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], (const uint8_t *)"1", 1, 1);
  while (pair->stations[0].counts.enquiries < 3) pair_sleep(pair, VV_MS);
  for (int answers = 0; answers < 4; answers++) { /* the I PDU had P = 1, too */
    pair_forge(pair, 0, answer, NULL, 0);
    assert_true(link->state == VV_LLC_NORMAL && !link->p_flag && pair->stations[0].counts.frmr_out == 0);
  }
  pair_forge(pair, 0, answer, NULL, 0);
  assert_true(link->state == VV_LLC_ERROR && pair->stations[0].counts.frmr_out == 1);
  pair_free(pair);
}

/* Linux sends FRMR for each answer beyond the first: of what came while we stood still one is answered. */
static void test_who_asked_often_meanwhile_is_answered_once(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  a.plain = b.plain = true;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  for (int i = 0; i < 5; i++) pair_forge(pair, 0, (struct vv_lpdu){.kind = VV_LPDU_RR, .pf = true}, NULL, 0);
  pair_send(pair, 0);
  assert_int_equal(pair->count[1], 1);
  pair_free(pair);
}

/* Calls that are later than frames can be may leave the ends in two epochs: they do not wait for each other for ever.
 */
static void test_ends_of_two_epochs_find_each_other(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  a.idle_ns = b.idle_ns = VV_SEC;
  struct pair *pair = pair_new(&a, &b);
  assert_int_equal(a.n2, 0);
  pair_connect(pair);
  pair_link(pair, 1)->epoch += 3;
  assert_true(vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], "word", 4, 1));
  pair_sleep(pair, 10 * VV_SEC);
  assert_int_equal(pair->got_bytes[1], 4);
  pair_free(pair);
}

enum { BURST_BYTES = 4 * 1400 }; /* in four I PDUs */

/* Loses the I PDUs with N(S) from 2 on, while *context is 0, and what goes back meanwhile. */
static bool tail_is_lost(struct pair *pair, int to, uint8_t *bytes, size_t *count, void *context) {
  (void)pair, (void)count;
  const uint8_t *control = bytes + VV_ENVELOPE_BYTES + 2;
  bool is_i = (control[0] & 1) == 0;
  return *(int *)context != 0 || (to == 1 && !(is_i && control[0] >> 1 >= 2));
}

/* Four I PDUs are sent, two arrive, and nothing comes back of it until the first enquiry goes. */
static struct pair *asking(int *heals) {
  static const uint8_t bytes[BURST_BYTES];
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  *heals = 0;
  pair->filter = tail_is_lost;
  pair->context = heals;
  assert_true(vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], bytes, sizeof bytes, 1));
  pair_run(pair);
  while (pair->stations[0].counts.enquiries == 0) {
    pair->now_ns = vv_llc_station_next_ns(&pair->stations[0]);
    vv_llc_station_tick(&pair->stations[0], pair->now_ns);
  }
  assert_int_equal(pair_link(pair, 0)->state, VV_LLC_AWAIT);
  return pair;
}

/* The answer to an enquiry acknowledges some: what went before it and is not among them is lost, and goes at once. */
static void test_the_end_of_a_burst_waits_for_one_enquiry(void **state) {
  (void)state;
  int heals;
  struct pair *pair = asking(&heals);
  heals = 1;
  pair_run(pair);
  assert_int_equal(pair->got_bytes[1], BURST_BYTES);
  assert_int_equal(pair->stations[0].counts.enquiries, 1);
  assert_int_equal(pair->stations[0].counts.resent, 2);
  pair_free(pair);
}

/* What comes late, to the I PDU that asked before the enquiry, does not say that what went behind that is lost. */
static void test_an_answer_to_an_earlier_question_is_none(void **state) {
  (void)state;
  int heals;
  struct pair *pair = asking(&heals);
  const struct vv_llc_link *link = pair_link(pair, 0);
  struct vv_segment to_i = {.epoch = link->epoch}, to_enquiry = {.epoch = link->epoch, .enquiry = link->enquiry};
  const struct vv_lpdu answer = {.kind = VV_LPDU_RR, .response = true, .pf = true, .nr = 1};
  uint8_t marks[VV_SEGMENT_BYTES_MIN];
  heals = 1;
  vv_segment_emit_least(&to_i, marks);
  pair_forge(pair, 0, answer, marks, sizeof marks);
  assert_true(link->state == VV_LLC_AWAIT && link->va == 1 && link->vs == link->high);
  vv_segment_emit_least(&to_enquiry, marks);
  pair_forge(pair, 0, answer, marks, sizeof marks);
  assert_true(link->state == VV_LLC_NORMAL && link->vs == 1);
  pair_free(pair);
}

/* One that is repeated, because its answer is late, is the same question: whichever answer comes first is good. */
static void test_an_enquiry_that_is_repeated_has_its_number(void **state) {
  (void)state;
  int heals;
  struct pair *pair = asking(&heals);
  const struct vv_llc_link *link = pair_link(pair, 0);
  uint8_t first = link->enquiry;
  pair_sleep(pair, 100 * VV_MS);
  assert_true(pair->stations[0].counts.enquiries > 2);
  assert_int_equal(link->enquiry, first);
  heals = 1;
  pair_sleep(pair, 500 * VV_MS);
  assert_int_equal(pair->told[0][VV_LLC_STATION_SENT], 1);
  uint64_t asked = pair->stations[0].counts.enquiries;
  heals = 0;
  assert_true(vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], (const uint8_t *)"1", 1, 2));
  while (pair->stations[0].counts.enquiries == asked) pair_sleep(pair, VV_MS);
  assert_int_equal(link->enquiry, first + 1);
  pair_free(pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_late_answers_of_a_plain_peer_are_no_fault),
      cmocka_unit_test(test_who_asked_often_meanwhile_is_answered_once),
      cmocka_unit_test(test_ends_of_two_epochs_find_each_other),
      cmocka_unit_test(test_the_end_of_a_burst_waits_for_one_enquiry),
      cmocka_unit_test(test_an_answer_to_an_earlier_question_is_none),
      cmocka_unit_test(test_an_enquiry_that_is_repeated_has_its_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
