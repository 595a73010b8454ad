/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH over TCP (device ch4 with UCX or OFI; both are told by the environment what to use). */
#include <stdlib.h>
#include <string.h>

#include "stack/mpi.h"
#include "stack/registry.h"

/* Before each message that is sent at once: the frame of UCX over TCP 5, its tag 8. */
#define HEADER_BYTES 13

static const char *const variables[] = {"MPIR_CVAR_NOLOCAL", "MPIR_CVAR_CH4_NETMOD", "MPIR_CVAR_ENABLE_HCOLL", NULL};
static const char *const environment[] = {
    "UCX_TLS",      "UCX_NET_DEVICES", "UCX_RNDV_THRESH",        "FI_PROVIDER",
    "FI_TCP_IFACE", "LD_PRELOAD",      "VAIVEN_YIELD_WHEN_IDLE", NULL,
};
static const struct vv_mpi_library library = {"MPICH", variables, environment};

static struct vv_end *mpich_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                 struct vv_error *error) {
  return vv_mpi_open(&library, config, contact, error);
}

static const struct vv_stack vv_stack_mpich = {.id = "mpich",
                                               .summary = "MPICH over TCP",
                                               .needs = "mpiexec.hydra",
                                               .header_bytes = HEADER_BYTES,
                                               .path = VV_PATH_TCP,
                                               .open = mpich_open,
                                               VV_MPI_POINT_TO_POINT};

static const struct vv_stack vv_stack_mpich_bcast = {.id = "mpich:default",
                                                     .summary = "MPI_Bcast of MPICH",
                                                     .needs = "mpiexec.hydra",
                                                     .header_bytes = HEADER_BYTES,
                                                     .path = VV_PATH_TCP,
                                                     .open = mpich_open,
                                                     VV_MPI_BROADCAST};

/* What all get by a library of ours that stands before MPICH (src/mpi/coll). */
static struct vv_end *open_group(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                 struct vv_error *error) {
  const char *preloaded = getenv("LD_PRELOAD");
  if (preloaded && strstr(preloaded, "vaiven-mpich-group")) return mpich_open(config, contact, error);
  vv_error_set(error, "mpi-setting", "the ranks of this job have not preloaded vaiven-mpich-group.so");
  vv_error_remedy(error, "mpiexec -genv LD_PRELOAD DIR/vaiven-mpich-group.so");
  return NULL;
}

static const struct vv_stack vv_stack_mpich_group = {.id = "mpich:group",
                                                     .summary = "MPI_Bcast of MPICH by group",
                                                     .needs = "mpiexec.hydra",
                                                     .path = VV_PATH_GROUP,
                                                     .open = open_group,
                                                     VV_MPI_BROADCAST};

const struct vv_stack *const vv_stack_registry[] = {&vv_stack_mpich, &vv_stack_mpich_bcast, &vv_stack_mpich_group,
                                                    NULL};
