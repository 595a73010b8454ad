/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/sight.h"

static uint32_t shifted(uint32_t bits, uint64_t by) {
  return by < VV_SIGHT_BEYOND ? bits >> by : 0;
}

/* Bits count from the edge, and go with it. */
void vv_sight_sent(struct vv_sight *sight, uint64_t position) {
  if (position <= sight->edge) return;
  sight->sent_beyond = shifted(sight->sent_beyond, position - sight->edge);
  sight->passed_beyond = shifted(sight->passed_beyond, position - sight->edge);
  sight->edge = position;
}

void vv_sight_sent_one(struct vv_sight *sight, uint64_t position) {
  if (position < sight->edge || position - sight->edge >= VV_SIGHT_BEYOND) return;
  sight->sent_beyond |= 1u << (position - sight->edge);
}

void vv_sight_pass(struct vv_sight *sight, uint64_t position) {
  vv_sight_sent(sight, position);
  if (position > sight->passed) sight->passed = position;
}

void vv_sight_dry(struct vv_sight *sight) {
  sight->passed = sight->edge;
  sight->passed_beyond = sight->sent_beyond;
}

static bool is_in(uint32_t bits, uint64_t edge, uint64_t position) {
  return position >= edge && position - edge < VV_SIGHT_BEYOND && (bits >> (position - edge) & 1) != 0;
}

bool vv_sight_is_sent(const struct vv_sight *sight, uint64_t position) {
  return position < sight->edge || is_in(sight->sent_beyond, sight->edge, position);
}

bool vv_sight_is_passed(const struct vv_sight *sight, uint64_t position) {
  return position < sight->passed || is_in(sight->passed_beyond, sight->edge, position);
}
