/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What processes of Open MPI tell each other before MPI_Init returns, and what is known
 * of their job, by PMIx.
 */
#ifndef VV_MPI_BASE_MODEX_H
#define VV_MPI_BASE_MODEX_H

#include <opal_config.h>

#include <opal/mca/mca.h>
#include <opal/util/proc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VV_MODEX_JOB_BYTES = 320 };

/* Tells all others this, as that component's. Where there is no job (ompi_info) it does nothing. False: it failed. */
bool vv_modex_tell(const mca_base_component_t *component, const void *bytes, size_t count);

/* What a process has told, to be freed. NULL: nothing as that component's. */
uint8_t *vv_modex_told(const mca_base_component_t *component, const opal_process_name_t *name, size_t *count);

/* How many processes the job has; 0: nobody knows. */
uint32_t vv_modex_ranks(void);

/* The names of its hosts, with commas between them, to be freed. NULL: nobody knows. */
char *vv_modex_hosts(void);

/* A text that is the same at all its processes, and at those of no other job. */
void vv_modex_job(char text[VV_MODEX_JOB_BYTES]);

#endif
