/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/hello.h"

#include <string.h>

#include "core/wire/hex.h"
#include "core/wire/line.h"

enum { DIGITS_PER_BYTE = 2, BYTES_MAX = 16 };

static bool read_bytes(const char *line, const char *name, uint8_t *bytes, size_t count) {
  char digits[DIGITS_PER_BYTE * BYTES_MAX + 1];
  if (!vv_line_word(line, name, digits, sizeof digits) || strlen(digits) != DIGITS_PER_BYTE * count) return false;
  return vv_hex_read(digits, bytes, count) == 0;
}

struct vv_hello vv_hello_parse(const char *line) {
  struct vv_hello hello = {0};
  if (!vv_line_word(line, "probe", hello.version, sizeof hello.version)) hello.version[0] = '\0';
  hello.has_nonce = read_bytes(line, "nonce", hello.nonce, sizeof hello.nonce);
  hello.has_proof = read_bytes(line, "proof", hello.proof, sizeof hello.proof);
  return hello;
}

void vv_hello_prove(const uint8_t key[VV_KEY_BYTES], enum vv_hello_role role, const struct vv_hello_nonces *nonces,
                    uint8_t proof[VV_HELLO_PROOF_BYTES]) {
  uint8_t text[1 + 2 * VV_HELLO_NONCE_BYTES] = {(uint8_t)role};
  memcpy(text + 1, nonces->far, VV_HELLO_NONCE_BYTES);
  memcpy(text + 1 + VV_HELLO_NONCE_BYTES, nonces->near, VV_HELLO_NONCE_BYTES);
  uint64_t hash = vv_siphash(key, text, sizeof text);
  for (int i = 0; i < VV_HELLO_PROOF_BYTES; i++) proof[i] = (uint8_t)(hash >> (8 * i));
}

bool vv_hello_holds(const struct vv_hello *hello, const uint8_t key[VV_KEY_BYTES], enum vv_hello_role role,
                    const struct vv_hello_nonces *nonces) {
  uint8_t right[VV_HELLO_PROOF_BYTES];
  vv_hello_prove(key, role, nonces, right);
  return hello->has_proof && vv_siphash_equal(hello->proof, right, sizeof right);
}
