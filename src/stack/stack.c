/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/stack.h"

#include <string.h>

const struct vv_stack *vv_stack_find(const char *id) {
  for (const struct vv_stack *const *stack = vv_stacks; *stack; stack++) {
    if (strcmp((*stack)->id, id) == 0) return *stack;
  }
  return NULL;
}

size_t vv_stack_pieces(const uint8_t *message, size_t size_bytes, struct iovec pieces[2]) {
  size_t head = size_bytes > VV_HEADER_BYTES ? VV_HEADER_BYTES : size_bytes / 2;
  pieces[0] = (struct iovec){.iov_base = (void *)(uintptr_t)message, .iov_len = head};
  pieces[1] = (struct iovec){.iov_base = (void *)(uintptr_t)(message + head), .iov_len = size_bytes - head};
  return head;
}

int vv_stack_check_macs(const uint8_t own[6], const uint8_t peer[6], struct vv_error *error) {
  static const uint8_t loopback[6];
  if (memcmp(own, peer, sizeof loopback) != 0 || memcmp(own, loopback, sizeof loopback) == 0) return 0;
  vv_error_set(error, "one-host", "both ends are on one interface, and Ethernet brings no frame back to its sender");
  return vv_error_remedy(error, "put the ends on two hosts; on one host use tcp, or MPI's shared memory");
}
