/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a switch: each sends at its rate, alone and whatever the others do; ports are learned and forgotten. */
#include "core/ethernet/switch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SHORT, LONG, KINDS };

static const uint32_t wire_bytes[KINDS] = {84, 1538};

static void set_up(struct vv_switch *sw, uint32_t stations) {
  struct vv_switch_config config = {stations, 4, 2, 100000000, 1000, wire_bytes};
  vv_switch_init(sw, malloc(vv_switch_bytes(&config)), &config);
}

static void test_every_line_has_the_whole_rate(void **state) {
  (void)state;
  enum { STATIONS = 5 };
  struct vv_switch sw;
  struct vv_switch_event event;
  set_up(&sw, STATIONS);
  for (uint32_t line = 0; line < 2 * STATIONS; line++) {
    assert_true(vv_switch_send(&sw, 0, line, LONG));
    assert_true(vv_switch_send(&sw, 0, line, SHORT));
  }
  /* Each frame is there with its last bit; the next begins after the gap. */
  vv_ns there_ns[KINDS] = {0};
  there_ns[LONG] = 1526 * 80;
  there_ns[SHORT] = 1538 * 80 + 72 * 80;
  uint32_t seen[2 * STATIONS] = {0};
  for (uint32_t i = 0; i < 4 * STATIONS; i++) {
    assert_true(vv_switch_take(&sw, 1000000, &event));
    assert_int_equal(event.frame, seen[event.line]++ == 0 ? LONG : SHORT);
    assert_int_equal(event.ns, there_ns[event.frame]);
  }
  assert_false(vv_switch_take(&sw, 1000000, &event));
  assert_int_equal(vv_switch_next_ns(&sw), VV_NEVER);
  free(sw.lines);
}

static void test_queues_are_finite(void **state) {
  (void)state;
  struct vv_switch sw;
  struct vv_switch_event event;
  set_up(&sw, 2);
  for (uint32_t line = 0; line < 4; line++) {
    uint32_t room = line < 2 ? 4 : 2;
    for (uint32_t i = 0; i < room; i++) assert_true(vv_switch_send(&sw, 0, line, SHORT));
    assert_false(vv_switch_send(&sw, 0, line, SHORT));
  }
  for (uint32_t i = 0; i < 4; i++) assert_true(vv_switch_take(&sw, 72 * 80, &event));
  for (uint32_t line = 0; line < 4; line++) {
    assert_true(vv_switch_send(&sw, 72 * 80, line, SHORT));
    assert_false(vv_switch_send(&sw, 72 * 80, line, SHORT));
  }
  free(sw.lines);
}

/* A line that was idle for longer than the gap sends at once; one that was not ends the gap first. */
static void test_the_gap_is_kept(void **state) {
  (void)state;
  struct vv_switch sw;
  struct vv_switch_event event;
  set_up(&sw, 2);
  assert_true(vv_switch_send(&sw, 0, 0, SHORT));
  assert_true(vv_switch_take(&sw, 72 * 80, &event));
  assert_true(vv_switch_send(&sw, 72 * 80 + 1, 0, SHORT));
  assert_true(vv_switch_take(&sw, 1000000, &event));
  assert_int_equal(event.ns, (84 + 72) * 80);
  assert_false(vv_switch_take(&sw, 1000000, &event));
  assert_true(vv_switch_send(&sw, 1000000, 0, SHORT));
  assert_true(vv_switch_take(&sw, 2000000, &event));
  assert_int_equal(event.ns, 1000000 + 72 * 80);
  free(sw.lines);
}

static void test_ports_are_learned_and_forgotten(void **state) {
  (void)state;
  struct vv_switch sw;
  set_up(&sw, 3);
  for (uint32_t i = 0; i < 3; i++) assert_false(vv_switch_knows(&sw, 0, i));
  vv_switch_learn(&sw, 50, 1);
  assert_true(vv_switch_knows(&sw, 50, 1) && vv_switch_knows(&sw, 1049, 1));
  assert_false(vv_switch_knows(&sw, 1050, 1) || vv_switch_knows(&sw, 50, 0) || vv_switch_knows(&sw, 50, 2));
  vv_switch_learn(&sw, 1000, 1);
  assert_true(vv_switch_knows(&sw, 1999, 1));
  free(sw.lines);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_line_has_the_whole_rate),
      cmocka_unit_test(test_queues_are_finite),
      cmocka_unit_test(test_the_gap_is_kept),
      cmocka_unit_test(test_ports_are_learned_and_forgotten),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
