/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/base/modex.h"

#include <opal/constants.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/base/openmpi.h"

void vv_modex_job(char text[VV_MODEX_JOB_BYTES]) {
  const char *name = vv_openmpi_job();
  snprintf(text, VV_MODEX_JOB_BYTES, "%x %s", (unsigned)OPAL_PROC_MY_NAME.jobid, name ? name : "");
}

/* Of two threads that ask for the same process at once, PMIx 5 may leave one without an answer for good. */
static pthread_mutex_t one_asks = PTHREAD_MUTEX_INITIALIZER;

bool vv_modex_tell(const mca_base_component_t *component, const void *bytes, size_t count) {
  int result = OPAL_SUCCESS;
  if (vv_openmpi_is_job()) OPAL_MODEX_SEND(result, VV_OPENMPI_TO_ALL, component, (void *)(uintptr_t)bytes, count);
  return result == OPAL_SUCCESS;
}

uint8_t *vv_modex_told(const mca_base_component_t *component, const opal_process_name_t *name, size_t *count) {
  uint8_t *bytes = NULL;
  int result;
  pthread_mutex_lock(&one_asks);
  OPAL_MODEX_RECV(result, component, name, &bytes, count);
  pthread_mutex_unlock(&one_asks);
  if (result == OPAL_SUCCESS) return bytes;
  free(bytes);
  return NULL;
}

static opal_process_name_t everybody(void) {
  return (opal_process_name_t){.jobid = OPAL_PROC_MY_NAME.jobid, .vpid = OPAL_VPID_WILDCARD};
}

uint32_t vv_modex_ranks(void) {
  const opal_process_name_t all = everybody();
  uint32_t ranks = 0, *into = &ranks;
  int result;
  OPAL_MODEX_RECV_VALUE_OPTIONAL(result, VV_OPENMPI_RANKS, &all, &into, VV_OPENMPI_NUMBER);
  return result == OPAL_SUCCESS ? ranks : 0;
}

char *vv_modex_hosts(void) {
  const opal_process_name_t all = everybody();
  char *hosts = NULL, **into = &hosts;
  int result;
  OPAL_MODEX_RECV_VALUE_OPTIONAL(result, VV_OPENMPI_HOSTS, &all, into, VV_OPENMPI_TEXT);
  if (result == OPAL_SUCCESS) return hosts;
  free(hosts);
  return NULL;
}
