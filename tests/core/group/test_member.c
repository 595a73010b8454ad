/* SPDX-License-Identifier: BSD-3-Clause */
/* The first failure counts, and who found it tells all a few times. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/heap.h"
#include "core/group/member.h"

static void test_the_first_failure_counts(void **state) {
  (void)state;
  struct vv_member member;
  const struct vv_member_failure first = {VV_GPDU_DIED, 3, 7, 1}, second = {VV_GPDU_LEFT, 4, 7, 1};
  vv_member_init(&member, 1000);
  assert_false(vv_member_cry(&member, 50));
  assert_true(vv_member_fail(&member, &first, 100));
  assert_false(vv_member_fail(&member, &second, 100));
  assert_true(member.failed && member.failure.rank == 3);
}

static void test_cries_are_few_and_ever_rarer(void **state) {
  (void)state;
  struct vv_member member;
  const struct vv_member_failure failure = {VV_GPDU_DIED, 3, 7, 1};
  vv_member_init(&member, 1000);
  vv_member_fail(&member, &failure, 100);
  vv_ns last_ns = 0, wait_ns = 0;
  uint32_t count = 0;
  for (; member.cry_ns != VV_NEVER; count++) {
    vv_ns now_ns = member.cry_ns;
    assert_false(vv_member_cry(&member, now_ns - 1));
    assert_true(vv_member_cry(&member, now_ns));
    assert_true(count < 2 || now_ns - last_ns > wait_ns);
    wait_ns = now_ns - last_ns;
    last_ns = now_ns;
  }
  assert_int_equal(count, VV_MEMBER_CRIES);
}

static void test_who_was_told_does_not_cry(void **state) {
  (void)state;
  struct vv_member member;
  const struct vv_member_failure failure = {VV_GPDU_DIED, 3, 7, 1};
  vv_member_init(&member, 1000);
  vv_member_fail(&member, &failure, VV_NEVER);
  assert_false(vv_member_cry(&member, VV_NEVER - 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_first_failure_counts),
      cmocka_unit_test(test_cries_are_few_and_ever_rarer),
      cmocka_unit_test(test_who_was_told_does_not_cry),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
