/* SPDX-License-Identifier: BSD-3-Clause */
/* The stacks of this program: each program has a table of its own. */
#ifndef VV_STACK_REGISTRY_H
#define VV_STACK_REGISTRY_H

#include "stack/stack.h"

/* NULL at the end. builtin.c, or the file of a library's stacks. */
extern const struct vv_stack *const vv_stack_registry[];

/* The stack of that id, or NULL. */
const struct vv_stack *vv_stack_registry_find(const char *id);

#endif
