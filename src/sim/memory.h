/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a simulation, which ends when there is none: it would have nothing to tell. */
#ifndef VV_SIM_MEMORY_H
#define VV_SIM_MEMORY_H

#include <stdlib.h>

static inline void *vv_sim_memory_must(void *memory) {
  if (memory == NULL) abort();
  return memory;
}

#endif
