/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages cut in I PDUs: every size, any order of asking, numbers that wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/llc/backlog.h"

enum { FIRST = 12, UNIT = 20, MESSAGES = 100 };

static void test_every_size(void **state) {
  (void)state;
  static uint8_t bytes[MESSAGES];
  struct vv_llc_message messages[MESSAGES];
  struct vv_llc_backlog backlog;
  vv_llc_backlog_init(&backlog, UINT32_MAX - 50, FIRST, UNIT);
  for (uint32_t i = 0; i < MESSAGES; i++) {
    messages[i] = (struct vv_llc_message){.bytes = bytes, .count = i, .handle = i};
    vv_llc_backlog_add(&backlog, messages, i);
  }
  for (int turn = 0; turn < 2; turn++) { /* the second time from the beginning: V(S) goes back */
    uint32_t number = UINT32_MAX - 50;
    for (uint32_t i = 0; i < MESSAGES; i++) {
      uint32_t got = 0;
      for (uint32_t pdu = 0; pdu < messages[i].pdus; pdu++) {
        assert_true(vv_llc_backlog_has(&backlog, number));
        struct vv_llc_backlog_pdu part = vv_llc_backlog_at(&backlog, messages, number++);
        assert_int_equal(part.first, pdu == 0);
        assert_ptr_equal(part.bytes, bytes + got);
        assert_in_range(part.count, i > 0, pdu == 0 ? FIRST : UNIT);
        got += part.count;
      }
      assert_int_equal(got, i);
    }
    assert_false(vv_llc_backlog_has(&backlog, number));
  }
}

static void test_done_and_given_up(void **state) {
  (void)state;
  static uint8_t bytes[100];
  struct vv_llc_message messages[3] = {{.bytes = bytes, .count = 50}, {.bytes = bytes, .count = 50}, {.bytes = bytes}};
  struct vv_llc_backlog backlog;
  vv_llc_backlog_init(&backlog, 7, FIRST, UNIT);
  for (uint32_t i = 0; i < 3; i++) vv_llc_backlog_add(&backlog, messages, i);
  assert_int_equal(vv_llc_backlog_take(&backlog, messages), VV_LLC_NO_MESSAGE);
  vv_llc_backlog_done(&backlog, 7 + messages[0].pdus + 1);
  assert_int_equal(vv_llc_backlog_take(&backlog, messages), 0);
  assert_int_equal(vv_llc_backlog_take(&backlog, messages), VV_LLC_NO_MESSAGE);
  vv_llc_backlog_give_up(&backlog, messages);
  assert_int_equal(vv_llc_backlog_take(&backlog, messages), 1);
  assert_int_equal(vv_llc_backlog_take(&backlog, messages), 2);
  assert_false(messages[0].given_up);
  assert_true(messages[1].given_up && messages[2].given_up);
  assert_int_equal(vv_llc_backlog_take(&backlog, messages), VV_LLC_NO_MESSAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_size),
      cmocka_unit_test(test_done_and_given_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
