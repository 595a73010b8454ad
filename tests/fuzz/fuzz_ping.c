/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever a program called ping prints. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stack/ping.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  vv_ns rtt_ns = -1;
  enum vv_ping_got got = vv_ping_parse(text, &rtt_ns);
  assert((got == VV_PING_SILENCE) == (rtt_ns == -1));
  assert(got == VV_PING_SILENCE || rtt_ns >= 0);
  free(text);
  return 0;
}
