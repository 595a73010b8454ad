/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI over TCP (point-to-point layer ob1, transport btl tcp). What is set by
 * its launcher, such as Nagle's algorithm, is checked here, where it takes effect.
 */
#include "stack/mpi.h"

/* Before each message that is sent at once (up to btl_tcp_eager_limit with it): btl tcp 8, ob1's match header 14. */
#define HEADER_BYTES 22

static const char *const variables[] = {
    "pml",
    "btl",
    "btl_tcp_if_include",
    "btl_tcp_eager_limit",
    "btl_tcp_rndv_eager_limit",
    "btl_tcp_max_send_size",
    "btl_tcp_use_nagle",
    "btl_tcp_sndbuf",
    "btl_tcp_rcvbuf",
    "mpi_yield_when_idle",
    NULL,
};
static const char *const environment[] = {NULL};
static const struct vv_mpi_library library = {"Open MPI", variables, environment};

static struct vv_end *open_end(const struct vv_stack_config *config, bool nagle, char contact[VV_CONTACT_MAX],
                               struct vv_error *error) {
  int64_t is = vv_mpi_variable("btl_tcp_use_nagle");
  if (is >= 0 && is != nagle) {
    vv_error_set(error, "mpi-setting", "Nagle's algorithm is %s in this job", is ? "on" : "off");
    vv_error_remedy(error, "mpirun --mca btl_tcp_use_nagle %d", nagle);
    return NULL;
  }
  return vv_mpi_open(&library, config, contact, error);
}

static struct vv_end *openmpi_open(const struct vv_stack_config *config, char contact[VV_CONTACT_MAX],
                                   struct vv_error *error) {
  return open_end(config, false, contact, error);
}

static struct vv_end *openmpi_nagle_open(const struct vv_stack_config *config, char contact[VV_CONTACT_MAX],
                                         struct vv_error *error) {
  return open_end(config, true, contact, error);
}

static const struct vv_stack vv_stack_openmpi = {
    .id = "openmpi",
    .summary = "Open MPI over TCP",
    .needs = "mpirun",
    .size_bytes_max = (size_t)64 << 20,
    .header_bytes = HEADER_BYTES,
    .joined = true,
    .ranked = true,
    .spins = true,
    .path = VV_PATH_TCP,
    .open = openmpi_open,
    .accept = vv_mpi_link,
    .connect = vv_mpi_link,
    .send = vv_mpi_send,
    .recv = vv_mpi_recv,
    .way = vv_mpi_way,
    .close = vv_mpi_close,
};

static const struct vv_stack vv_stack_openmpi_nagle = {
    .id = "openmpi-nagle",
    .summary = "Open MPI over TCP, Nagle's algorithm on",
    .needs = "mpirun",
    .size_bytes_max = (size_t)64 << 20,
    .header_bytes = HEADER_BYTES,
    .joined = true,
    .ranked = true,
    .spins = true,
    .path = VV_PATH_TCP,
    .open = openmpi_nagle_open,
    .accept = vv_mpi_link,
    .connect = vv_mpi_link,
    .send = vv_mpi_send,
    .recv = vv_mpi_recv,
    .way = vv_mpi_way,
    .close = vv_mpi_close,
};

const struct vv_stack *const vv_stacks[] = {&vv_stack_openmpi, &vv_stack_openmpi_nagle, NULL};
