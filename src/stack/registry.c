/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/registry.h"

#include <string.h>

const struct vv_stack *vv_stack_registry_find(const char *id) {
  for (const struct vv_stack *const *stack = vv_stack_registry; *stack; stack++) {
    if (strcmp((*stack)->id, id) == 0) return *stack;
  }
  return NULL;
}
