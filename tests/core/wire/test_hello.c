/* SPDX-License-Identifier: BSD-3-Clause */
/* Who holds the key of a launch can prove it, once, in its own role; what else is said is read and not believed. */
#include "core/wire/hello.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/wire/hex.h"

static const uint8_t key[VV_KEY_BYTES] = {1, 2, 3}, other_key[VV_KEY_BYTES] = {1, 2, 4};
static const struct vv_hello_nonces nonces = {{1, 2, 3, 4, 5, 6, 7, 8}, {8, 7, 6, 5, 4, 3, 2, 1}};

static struct vv_hello proved(enum vv_hello_role role) {
  uint8_t proof[VV_HELLO_PROOF_BYTES];
  char digits[2 * VV_HELLO_PROOF_BYTES + 1], line[200];
  vv_hello_prove(key, role, &nonces, proof);
  vv_hex_write(proof, sizeof proof, digits);
  snprintf(line, sizeof line, "near schema=1 probe=0.1.0 nonce=0807060504030201 proof=%s stack=tcp", digits);
  return vv_hello_parse(line);
}

static void a_line_says_who_speaks(void **state) {
  (void)state;
  const struct vv_hello hello = proved(VV_HELLO_NEAR);
  assert_string_equal(hello.version, "0.1.0");
  assert_true(hello.has_nonce && hello.has_proof);
  assert_memory_equal(hello.nonce, nonces.near, sizeof hello.nonce);
}

static void what_is_no_nonce_is_none(void **state) {
  (void)state;
  static const char *const lines[] = {"vaiven schema=1",
                                      "vaiven nonce=",
                                      "vaiven nonce=01020304050607",
                                      "vaiven nonce=010203040506070809",
                                      "vaiven nonce=010203040506070g",
                                      "vaiven text=x nonce=0102030405060708",
                                      "vaiven nonce=0102030405060708010203040506070801020304050607080102030405060708"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    const struct vv_hello hello = vv_hello_parse(lines[i]);
    assert_false(hello.has_nonce || hello.has_proof);
    assert_string_equal(hello.version, "");
  }
  assert_string_equal(vv_hello_parse("vaiven probe=123456789012345678901234567890123").version, "");
}

static void a_proof_holds_for_its_key_role_and_nonces(void **state) {
  (void)state;
  struct vv_hello hello = proved(VV_HELLO_NEAR);
  struct vv_hello_nonces others = nonces;
  assert_true(vv_hello_holds(&hello, key, VV_HELLO_NEAR, &nonces));
  assert_false(vv_hello_holds(&hello, key, VV_HELLO_FAR, &nonces)); /* none can be sent back */
  assert_false(vv_hello_holds(&hello, other_key, VV_HELLO_NEAR, &nonces));
  others.far[7] ^= 1;
  assert_false(vv_hello_holds(&hello, key, VV_HELLO_NEAR, &others));
  others = nonces;
  others.near[0] ^= 1;
  assert_false(vv_hello_holds(&hello, key, VV_HELLO_NEAR, &others));
  hello.has_proof = false;
  assert_false(vv_hello_holds(&hello, key, VV_HELLO_NEAR, &nonces));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_says_who_speaks),
      cmocka_unit_test(what_is_no_nonce_is_none),
      cmocka_unit_test(a_proof_holds_for_its_key_role_and_nonces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
