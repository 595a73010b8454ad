/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/link/slots.h"

#include <sys/mman.h>

#include "io/os/host.h"

#define LINE_BYTES 64 /* of a cache; on machines with longer ones two slots share none either, they are two apart */

static int map(struct vv_slots *ring, size_t bytes, size_t size_bytes, struct vv_error *error) {
  vv_slots_close(ring);
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    vv_error_errno(error, "no-memory", "no %zu MB for messages of %zu bytes", bytes / 1000000 + 1, size_bytes);
    return vv_error_remedy(error, "measure smaller messages, or with --buffers hot");
  }
  *ring = (struct vv_slots){.memory = memory, .bytes = bytes};
  return 0;
}

int vv_slots_cut(struct vv_slots *ring, enum vv_probe_buffers kind, size_t size_bytes, uint64_t seq,
                 struct vv_error *error) {
  if (ring->memory && ring->size_bytes == size_bytes) return 0;
  size_t stride = ((size_bytes + LINE_BYTES - 1) / LINE_BYTES + 1) * LINE_BYTES, bytes = stride;
  if (kind == VV_PROBE_BUFFERS_COLD) {
    bytes = 2 * vv_host_cache_bytes();
    if (bytes < 2 * stride) bytes = 2 * stride;
  }
  if (bytes != ring->bytes && map(ring, bytes, size_bytes, error) != 0) return -1;
  size_t past_bytes = ring->slots > 0 ? (size_t)(vv_slots_at(ring, seq) - ring->memory) : 0;
  ring->stride = stride;
  ring->slots = bytes / stride;
  ring->size_bytes = size_bytes;
  ring->seq = seq;
  ring->slot = (past_bytes + stride - 1) / stride;
  return 1;
}

void vv_slots_close(struct vv_slots *ring) {
  if (ring->memory) munmap(ring->memory, ring->bytes);
  *ring = (struct vv_slots){0};
}
