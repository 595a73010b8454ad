/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/slots.h"

#include <sys/mman.h>

#include "io/os/host.h"

#define LINE_BYTES 64 /* of a cache; on machines with longer ones two slots share none either, they are two apart */

int vv_slots_open(struct vv_slots *ring, enum vv_probe_buffers kind, size_t size_bytes, struct vv_error *error) {
  size_t stride = ((size_bytes + LINE_BYTES - 1) / LINE_BYTES + 1) * LINE_BYTES, slots = 1;
  if (kind == VV_PROBE_BUFFERS_COLD) {
    slots = 2 * vv_host_cache_bytes() / stride + 1;
    if (slots < 2) slots = 2;
  }
  size_t bytes = stride * slots;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    vv_error_errno(error, "no-memory", "no %zu MB for messages of %zu bytes", bytes / 1000000 + 1, size_bytes);
    return vv_error_remedy(error, "measure smaller messages, or with --buffers hot");
  }
  *ring = (struct vv_slots){.memory = memory, .bytes = bytes, .stride = stride, .slots = slots};
  return 0;
}

void vv_slots_close(struct vv_slots *ring) {
  if (ring->memory) munmap(ring->memory, ring->bytes);
  *ring = (struct vv_slots){0};
}
