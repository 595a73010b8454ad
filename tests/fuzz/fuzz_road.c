/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A road whose other end says anything. Each step is a byte: what is done, and with which
 * label; a send or take has its size in the byte behind, what comes has its bytes behind.
 * What is believed leaves the store within its bounds, and every message that is done is one
 * that was begun. Exact heap blocks catch a step beyond.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/road/road.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEND, TAKE, LEAVE, COME, MOVES, BEGUN_MAX = 64, SCALE_BYTES = 300 };

struct begun {
  struct vv_road_send send;
  struct vv_road_take take;
  uint8_t *bytes;
};

static void begin(struct vv_road *road, struct begun *begun, bool sends, uint64_t label, size_t bytes) {
  begun->bytes = calloc(1, bytes);
  assert(begun->bytes != NULL || bytes == 0);
  begun->send = (struct vv_road_send){.label = label, .data = begun->bytes, .size_bytes = bytes};
  begun->take = (struct vv_road_take){.label = label, .buffer = begun->bytes, .room_bytes = bytes};
  if (sends) {
    vv_road_send(road, &begun->send);
  } else {
    vv_road_take(road, &begun->take);
  }
}

static void leave(struct vv_road *road, size_t most) {
  struct vv_road_piece pieces[2];
  size_t bytes = 0;
  for (unsigned i = 0, count = vv_road_out(road, pieces); i < count; i++) {
    for (size_t at = 0; at < pieces[i].bytes; at += 64) assert(pieces[i].data[at] <= UINT8_MAX);
    bytes += pieces[i].bytes;
  }
  vv_road_left(road, bytes < most ? bytes : most);
}

/* As many bytes as the road takes at once. How many; SIZE_MAX: they are not believed. */
static size_t come(struct vv_road *road, const uint8_t *data, size_t size) {
  size_t bytes;
  uint8_t *at = vv_road_in(road, &bytes);
  assert(bytes > 0);
  if (bytes > size) bytes = size;
  memcpy(at, data, bytes);
  if (!vv_road_came(road, bytes)) return SIZE_MAX;
  assert(road->used_bytes <= VV_ROAD_STORE_BYTES && road->free_bytes <= road->used_bytes);
  assert(road->credit_bytes <= VV_ROAD_STORE_BYTES && road->kept_count <= VV_ROAD_KEPT_MAX);
  return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct vv_road *road = malloc(sizeof *road);
  struct begun begun[BEGUN_MAX] = {0};
  size_t count = 0;
  assert(road != NULL);
  vv_road_init(road);
  for (size_t i = 0, took; i + 1 < size; i += took) {
    const unsigned move = data[i] % MOVES;
    const uint64_t label = data[i] / MOVES % 4;
    const size_t what = data[i + 1];
    took = 2;
    if ((move == SEND || move == TAKE) && count < BEGUN_MAX) {
      begin(road, &begun[count++], move == SEND, label, what * SCALE_BYTES);
    } else if (move == LEAVE) {
      leave(road, what * SCALE_BYTES);
    } else if (move == COME) {
      const size_t came = come(road, data + i + 1, size - i - 1);
      if (came == SIZE_MAX) break;
      took = 1 + came;
    }
  }
  for (size_t i = 0; i < count; i++) free(begun[i].bytes);
  free(road);
  return 0;
}
