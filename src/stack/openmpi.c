/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI over TCP (point-to-point layer ob1, transport btl tcp), or over LLC by
 * a component of ours (src/mpi/btl); its broadcasts, or those of another component of
 * ours. What is set by its launcher, such as Nagle's
 * algorithm, is checked here, where it takes effect.
 */
#include "stack/mpi.h"
#include "stack/registry.h"

/* Before each message that is sent at once (up to the eager limit with it): btl tcp or llc 8, ob1's match header 14. */
#define HEADER_BYTES 22

static const char *const variables[] = {
    "pml",
    "btl",
    "coll",
    "btl_tcp_if_include",
    "btl_tcp_eager_limit",
    "btl_tcp_rndv_eager_limit",
    "btl_tcp_max_send_size",
    "btl_tcp_use_nagle",
    "btl_tcp_sndbuf",
    "btl_tcp_rcvbuf",
    "btl_llc_if",
    "btl_llc_eager_limit",
    "btl_llc_rndv_eager_limit",
    "btl_llc_max_send_size",
    "btl_llc_window",
    "mpi_yield_when_idle",
    "coll_tuned_bcast_algorithm",
    "coll_tuned_bcast_algorithm_segmentsize",
    "coll_group_priority",
    NULL,
};
static const char *const environment[] = {NULL};
static const struct vv_mpi_library library = {"Open MPI", variables, environment};

static struct vv_end *open_end(const struct vv_stack_config *config, bool nagle, char contact[VV_STACK_CONTACT_MAX],
                               struct vv_error *error) {
  int64_t is = vv_mpi_variable("btl_tcp_use_nagle");
  if (is >= 0 && is != nagle) {
    vv_error_set(error, "mpi-setting", "Nagle's algorithm is %s in this job", is ? "on" : "off");
    vv_error_remedy(error, "mpirun --mca btl_tcp_use_nagle %d", nagle);
    return NULL;
  }
  return vv_mpi_open(&library, config, contact, error);
}

static struct vv_end *openmpi_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                   struct vv_error *error) {
  return open_end(config, false, contact, error);
}

static struct vv_end *openmpi_nagle_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                         struct vv_error *error) {
  return open_end(config, true, contact, error);
}

/* What cannot be sent by LLC then has no other way: Open MPI refuses to start. */
static struct vv_end *openmpi_llc_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                       struct vv_error *error) {
  if (vv_mpi_variable("btl_llc_window") < 0) {
    vv_error_set(error, "mpi-setting", "Open MPI has no transport llc in this job");
    vv_error_remedy(error, "mpirun --mca mca_base_component_path DIR:SYS_DEFAULT --mca btl llc,vader,self, where DIR "
                           "has mca_btl_llc.so");
    return NULL;
  }
  return vv_mpi_open(&library, config, contact, error);
}

static const struct vv_stack vv_stack_openmpi = {.id = "openmpi",
                                                 .summary = "Open MPI over TCP",
                                                 .needs = "mpirun",
                                                 .header_bytes = HEADER_BYTES,
                                                 .path = VV_PATH_TCP,
                                                 .open = openmpi_open,
                                                 VV_MPI_POINT_TO_POINT};

static const struct vv_stack vv_stack_openmpi_nagle = {.id = "openmpi-nagle",
                                                       .summary = "Open MPI over TCP, Nagle's algorithm on",
                                                       .needs = "mpirun",
                                                       .header_bytes = HEADER_BYTES,
                                                       .path = VV_PATH_TCP,
                                                       .open = openmpi_nagle_open,
                                                       VV_MPI_POINT_TO_POINT};

static const struct vv_stack vv_stack_openmpi_llc = {.id = "openmpi-llc",
                                                     .summary = "Open MPI over LLC, without TCP/IP",
                                                     .needs = "mpirun, CAP_NET_RAW",
                                                     .header_bytes = HEADER_BYTES,
                                                     .path = VV_PATH_LLC_I,
                                                     .open = openmpi_llc_open,
                                                     VV_MPI_POINT_TO_POINT};

/* broadcasts: a table for each algorithm of the component coll tuned, by its number there; 0: what it chooses itself */

static struct vv_end *open_bcast(const struct vv_stack_config *config, int algorithm,
                                 char contact[VV_STACK_CONTACT_MAX], struct vv_error *error) {
  if (config->to == VV_TO_EACH) {
    vv_error_set(error, "usage", "MPI_Bcast is one message for all far ends");
    vv_error_remedy(error, "openmpi alone sends to each");
    return NULL;
  }
  int64_t forced = vv_mpi_variable("coll_tuned_use_dynamic_rules") == 1;
  int64_t is = forced ? vv_mpi_variable("coll_tuned_bcast_algorithm") : 0;
  if (is != algorithm) {
    vv_error_set(error, "mpi-setting", "the broadcast algorithm of this job is %d", (int)is);
    vv_error_remedy(error, "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_bcast_algorithm %d",
                    algorithm);
    return NULL;
  }
  return open_end(config, false, contact, error);
}

/* What all get by a component of ours (src/mpi/coll). */
static struct vv_end *open_group(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                 struct vv_error *error) {
  if (vv_mpi_variable("coll_group_priority") < 0) {
    vv_error_set(error, "mpi-setting", "Open MPI has no component group for collective operations in this job");
    vv_error_remedy(error, "mpirun --mca mca_base_component_path DIR:SYS_DEFAULT, where DIR has mca_coll_group.so");
    return NULL;
  }
  return open_bcast(config, 0, contact, error);
}

static const struct vv_stack vv_stack_openmpi_group = {.id = "openmpi:group",
                                                       .summary = "MPI_Bcast of Open MPI by group",
                                                       .needs = "mpirun",
                                                       .path = VV_PATH_GROUP,
                                                       .open = open_group,
                                                       VV_MPI_BROADCAST};

#define BCAST(name, word, number)                                                                                      \
  static struct vv_end *open_##name(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],          \
                                    struct vv_error *error) {                                                          \
    return open_bcast(config, number, contact, error);                                                                 \
  }                                                                                                                    \
  static const struct vv_stack name = {.id = "openmpi:" word,                                                          \
                                       .summary = "MPI_Bcast of Open MPI: " word,                                      \
                                       .needs = "mpirun",                                                              \
                                       .header_bytes = HEADER_BYTES,                                                   \
                                       .path = VV_PATH_TCP,                                                            \
                                       .open = open_##name,                                                            \
                                       VV_MPI_BROADCAST}

BCAST(chosen, "default", 0);
BCAST(linear, "linear", 1);
BCAST(chain, "chain", 2);
BCAST(pipeline, "pipeline", 3);
BCAST(split_binary, "split-binary", 4);
BCAST(binary, "binary", 5);
BCAST(binomial, "binomial", 6);
BCAST(knomial, "knomial", 7);
BCAST(scatter_allgather, "scatter-allgather", 8);
BCAST(scatter_ring, "scatter-ring", 9);

const struct vv_stack *const vv_stack_registry[] = {
    &vv_stack_openmpi,
    &vv_stack_openmpi_nagle,
    &vv_stack_openmpi_llc,
    &vv_stack_openmpi_group,
    &chosen,
    &linear,
    &chain,
    &pipeline,
    &split_binary,
    &binary,
    &binomial,
    &knomial,
    &scatter_allgather,
    &scatter_ring,
    NULL,
};
