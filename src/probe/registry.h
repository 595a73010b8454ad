/* SPDX-License-Identifier: BSD-3-Clause */
/* All questions of this program, as src/probe/meson.build lists them. */
#ifndef VV_PROBE_REGISTRY_H
#define VV_PROBE_REGISTRY_H

#include "probe/ask/question.h"

/* NULL at the end. The first is asked where none is named. */
extern const struct vv_question *const vv_probe_registry[];

/* The question of that id, or NULL. */
const struct vv_question *vv_probe_registry_find(const char *id);

#endif
