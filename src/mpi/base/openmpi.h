/* SPDX-License-Identifier: BSD-3-Clause */
/* What Open MPI 4.1 and 5.0 call by other names, or hand over in another way: that of the headers it is compiled with.
 */
#ifndef VV_MPI_BASE_OPENMPI_H
#define VV_MPI_BASE_OPENMPI_H

#include <opal_config.h>

#include <opal/mca/btl/btl.h>
#include <opal/util/proc.h>
#include <stdbool.h>
#include <stdlib.h>

#if OPAL_MAJOR_VERSION < 5

#include <opal/mca/pmix/pmix.h>

#define VV_OPENMPI_TO_ALL       OPAL_PMIX_GLOBAL
#define VV_OPENMPI_RANKS        OPAL_PMIX_JOB_SIZE
#define VV_OPENMPI_HOSTS        OPAL_PMIX_NODE_LIST
#define VV_OPENMPI_NUMBER       OPAL_UINT32
#define VV_OPENMPI_TEXT         OPAL_STRING
#define VV_OPENMPI_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0

/* Whether this process is of a job: ompi_info is not. */
static inline bool vv_openmpi_is_job(void) {
  return opal_pmix.put != NULL;
}

/* A text of the launcher's that is the job's: mpirun draws one, the same for all ranks. NULL: it has none. */
static inline const char *vv_openmpi_job(void) {
  return getenv("OMPI_MCA_orte_precondition_transports");
}

/* A message to who reads those of that tag. */
static inline void vv_openmpi_hand_over(mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
                                        mca_btl_base_segment_t *segment) {
  const mca_btl_active_message_callback_t *reader = &mca_btl_base_active_message_trigger[tag];
  mca_btl_base_descriptor_t descriptor = {.des_segments = segment, .des_segment_count = 1};
  if (reader->cbfunc) reader->cbfunc(btl, tag, &descriptor, reader->cbdata);
}

#else

#include <opal/mca/pmix/pmix-internal.h>

#define VV_OPENMPI_TO_ALL       PMIX_GLOBAL
#define VV_OPENMPI_RANKS        PMIX_JOB_SIZE
#define VV_OPENMPI_HOSTS        PMIX_NODE_LIST
#define VV_OPENMPI_NUMBER       PMIX_UINT32
#define VV_OPENMPI_TEXT         PMIX_STRING
#define VV_OPENMPI_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0

static inline bool vv_openmpi_is_job(void) {
  return PMIx_Initialized();
}

/* Its name: the host and process of prterun, and a number. */
static inline const char *vv_openmpi_job(void) {
  return opal_process_info.myprocid.nspace;
}

static inline void vv_openmpi_hand_over(mca_btl_base_module_t *btl, mca_btl_base_tag_t tag,
                                        mca_btl_base_segment_t *segment) {
  const mca_btl_active_message_callback_t *reader = &mca_btl_base_active_message_trigger[tag];
  const mca_btl_base_receive_descriptor_t descriptor = {
      .des_segments = segment, .des_segment_count = 1, .tag = tag, .cbdata = reader->cbdata};
  if (reader->cbfunc) reader->cbfunc(btl, &descriptor);
}

#endif

#endif
