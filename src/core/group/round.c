/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/round.h"

#include <assert.h>

#include "core/group/receiver.h"
#include "core/group/sender.h"

static_assert(VV_TREE_FLAT_MAX <= VV_SIGHT_BEYOND, "a rank can say of each part whether it was sent");

bool vv_group_round_possible(uint32_t ranks, uint32_t window_datagrams) {
  return ranks >= 2 && vv_tree_flat(ranks) && window_datagrams >= 2 * ranks;
}

uint32_t vv_group_round_part_bytes(uint32_t datagram_bytes) {
  return datagram_bytes - VV_GPDU_HEADER_BYTES - VV_GPDU_HEAD_BYTES;
}

void vv_group_round_start(struct vv_rank *self, vv_ns now_ns) {
  struct vv_rank_current *current = &self->current;
  assert(vv_group_round_possible(self->config.ranks, self->config.window_datagrams) && current->operation.root == 0);
  current->laid_out = true;
  current->end = self->own_end = current->first + self->config.ranks;
  self->own_number = current->number;
  current->size_bytes = 0;
  for (uint32_t i = 0; i < self->config.ranks; i++) {
    assert(current->operation.parts[i].bytes <= vv_group_round_part_bytes(self->config.datagram_bytes));
    current->size_bytes += current->operation.parts[i].bytes;
  }
  vv_receiver_start(self, now_ns);
}

bool vv_group_round_next(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram) {
  if (!vv_sender_part(self, now_ns, datagram)) return false;
  vv_receiver_advance(self, now_ns);
  return true;
}
