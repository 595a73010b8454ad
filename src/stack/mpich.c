/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH over TCP (device ch4 with UCX or OFI; both are told by the environment what to use). */
#include "stack/mpi.h"

/* Before each message that is sent at once: the frame of UCX over TCP 5, its tag 8. */
#define HEADER_BYTES 13

static const char *const variables[] = {"MPIR_CVAR_NOLOCAL", "MPIR_CVAR_CH4_NETMOD", "MPIR_CVAR_ENABLE_HCOLL", NULL};
static const char *const environment[] = {
    "UCX_TLS", "UCX_NET_DEVICES", "UCX_RNDV_THRESH", "FI_PROVIDER", "FI_TCP_IFACE", "LD_PRELOAD", NULL,
};
static const struct vv_mpi_library library = {"MPICH", variables, environment};

static struct vv_end *mpich_open(const struct vv_stack_config *config, char contact[VV_CONTACT_MAX],
                                 struct vv_error *error) {
  return vv_mpi_open(&library, config, contact, error);
}

static const struct vv_stack vv_stack_mpich = {
    .id = "mpich",
    .summary = "MPICH over TCP",
    .needs = "mpiexec.hydra",
    .size_bytes_max = (size_t)64 << 20,
    .header_bytes = HEADER_BYTES,
    .joined = true,
    .ranked = true,
    .spins = true,
    .path = VV_PATH_TCP,
    .open = mpich_open,
    .accept = vv_mpi_link,
    .connect = vv_mpi_link,
    .send = vv_mpi_send,
    .recv = vv_mpi_recv,
    .way = vv_mpi_way,
    .close = vv_mpi_close,
};

static const struct vv_stack vv_stack_mpich_bcast = {
    .id = "mpich:default",
    .summary = "MPI_Bcast of MPICH",
    .needs = "mpiexec.hydra",
    .size_bytes_min = 1,
    .size_bytes_max = (size_t)64 << 20,
    .header_bytes = HEADER_BYTES,
    .to_all = true,
    .joined = true,
    .ranked = true,
    .spins = true,
    .path = VV_PATH_TCP,
    .open = mpich_open,
    .accept = vv_mpi_link,
    .connect = vv_mpi_link,
    .send = vv_mpi_bcast,
    .recv = vv_mpi_join_bcast,
    .way = vv_mpi_way,
    .release = vv_mpi_release,
    .close = vv_mpi_close,
};

const struct vv_stack *const vv_stacks[] = {&vv_stack_mpich, &vv_stack_mpich_bcast, NULL};
