/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/window.h"

#include <assert.h>

void vv_llc_window_init(struct vv_llc_window *window, uint8_t limit, uint8_t start) {
  assert(limit >= 1 && limit <= 127 && start >= 1);
  *window = (struct vv_llc_window){.limit = limit, .working = start < limit ? start : limit};
}

void vv_llc_window_acknowledged(struct vv_llc_window *window, uint8_t count, bool grow) {
  window->ahead = window->ahead > count ? (uint8_t)(window->ahead - count) : 0;
  for (; grow && count > 0 && window->working < window->limit; count--) {
    if (window->lost && ++window->credit < window->working) continue;
    window->credit = 0;
    window->working++;
  }
}

void vv_llc_window_lost(struct vv_llc_window *window, uint8_t outstanding) {
  if (window->ahead > 0) return; /* the same loss */
  window->ahead = outstanding;
  window->working = window->working > 1 ? window->working / 2 : 1;
  window->credit = 0;
  window->lost = 1;
}
