/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces of a message are the message. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/group/cut.h"
#include "core/wire/gpdu.h"

static void test_pieces_follow_each_other(void **state) {
  (void)state;
  for (uint64_t size = 0; size < 1000; size++) {
    uint64_t at = 0, count = vv_cut_count(size, 112);
    for (uint64_t i = 0; i < count; i++) {
      struct vv_cut cut = vv_cut_piece(size, 112, i);
      assert_true(cut.offset == at && cut.bytes <= (i == 0 ? 112u - VV_GPDU_HEAD_BYTES : 112u));
      assert_true(cut.bytes > 0 || size == 0);
      at += cut.bytes;
    }
    assert_true(at == size);
  }
}

static void test_more_than_4_gib(void **state) {
  (void)state;
  uint64_t size = (UINT64_C(5) << 30) + 1, count = vv_cut_count(size, 1456);
  struct vv_cut last = vv_cut_piece(size, 1456, count - 1);
  assert_true(last.offset + last.bytes == size && last.bytes > 0 && last.bytes <= 1456);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pieces_follow_each_other),
      cmocka_unit_test(test_more_than_4_gib),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
