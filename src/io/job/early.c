/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/early.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/accord.h"

void vv_early_begin(struct vv_early *early, uint32_t list, size_t room) {
  for (uint32_t nth = 0; nth < VV_EARLY_NUMBERS; nth++) early->numbers[nth] = vv_accord_number(list, nth);
  early->count = 0;
  early->open = true;
  if (early->bytes) return;
  early->bytes = malloc(VV_EARLY_MAX * room);
  early->room = room;
}

static bool is_awaited(const struct vv_early *early, uint32_t number) {
  unsigned nth = 0;
  if (!early->open) return false;
  while (nth < VV_EARLY_NUMBERS && early->numbers[nth] != number) nth++;
  return nth < VV_EARLY_NUMBERS;
}

bool vv_early_keep(struct vv_early *early, uint32_t number, enum vv_rank_socket socket, const uint8_t *bytes,
                   size_t count) {
  if (!is_awaited(early, number)) return false;
  if (!early->bytes || early->count == VV_EARLY_MAX || count > early->room) return true;
  memcpy(early->bytes + early->count * early->room, bytes, count);
  early->kept[early->count++] = (struct vv_early_datagram){number, socket, count};
  return true;
}

void vv_early_give(const struct vv_early *early, uint32_t number, struct vv_rank *core, vv_ns now_ns) {
  for (unsigned i = 0; i < early->count; i++) {
    const struct vv_early_datagram *one = &early->kept[i];
    if (one->number == number) vv_rank_take(core, now_ns, one->socket, early->bytes + i * early->room, one->bytes);
  }
}

void vv_early_end(struct vv_early *early) {
  early->open = false;
  early->count = 0;
}

void vv_early_free(struct vv_early *early) {
  free(early->bytes);
  *early = (struct vv_early){0};
}
