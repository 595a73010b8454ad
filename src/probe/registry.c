/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/registry.h"

#include <string.h>

#include "question_list.h" /* VV_QUESTION_LIST, which the build makes */

#define DECLARED(name) extern const struct vv_question vv_question_##name;
#define LISTED(name)   &vv_question_##name,

VV_QUESTION_LIST(DECLARED)

const struct vv_question *const vv_probe_registry[] = {VV_QUESTION_LIST(LISTED) NULL};

const struct vv_question *vv_probe_registry_find(const char *id) {
  for (const struct vv_question *const *question = vv_probe_registry; *question; question++) {
    if (strcmp((*question)->id, id) == 0) return *question;
  }
  return NULL;
}
