/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/hex.h"

#include <string.h>

static const char alphabet[] = "0123456789abcdefABCDEF";

void vv_hex_write(const uint8_t *bytes, size_t count, char *digits) {
  for (size_t i = 0; i < count; i++) {
    digits[2 * i] = alphabet[bytes[i] >> 4];
    digits[2 * i + 1] = alphabet[bytes[i] & 15];
  }
  digits[2 * count] = '\0';
}

static int digit_value(char digit) {
  const char *found = digit ? strchr(alphabet, digit) : NULL;
  int index = found ? (int)(found - alphabet) : -1;
  return index < 16 ? index : index - 6;
}

int vv_hex_read(const char *digits, uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int high = digit_value(digits[2 * i]);
    int low = high < 0 ? -1 : digit_value(digits[2 * i + 1]);
    if (low < 0) return -1;
    bytes[i] = (uint8_t)(high << 4 | low);
  }
  return 0;
}
