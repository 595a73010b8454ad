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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_late_answers_of_a_plain_peer_are_no_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
