/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/repeat.h"

#include <assert.h>

void vv_llc_repeat_init(struct vv_llc_repeat *repeat, uint32_t number) {
  *repeat = (struct vv_llc_repeat){.asked = number - 1, .until = number};
}

void vv_llc_repeat_ask(struct vv_llc_repeat *repeat, uint32_t number, bool alone) {
  repeat->asked = alone ? number : number - 1; /* which nobody needs again */
}

bool vv_llc_repeat_begin(struct vv_llc_repeat *repeat, uint32_t number, uint8_t unacknowledged, bool same_flight,
                         bool enquired) {
  assert(unacknowledged >= 1 && unacknowledged < 128);
  bool alone = repeat->asked == number, on_its_way = (int32_t)(number - repeat->until) < 0;
  if (alone && on_its_way && !enquired) return false;
  uint8_t burst = same_flight && repeat->burst > 0 ? 2 * repeat->burst : 1;
  repeat->burst = burst < unacknowledged ? burst : unacknowledged;
  repeat->left = alone ? repeat->burst : 0;
  repeat->until = number + repeat->left;
  return true;
}

bool vv_llc_repeat_sent(struct vv_llc_repeat *repeat) {
  return repeat->left > 0 && --repeat->left == 0;
}

bool vv_llc_repeat_end(struct vv_llc_repeat *repeat) {
  bool any = repeat->left > 0;
  repeat->left = 0;
  return any;
}
