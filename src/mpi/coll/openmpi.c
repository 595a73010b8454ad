/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mca_coll_group.so: the component by which collective operations of Open MPI 4.1 go by
 * multicast, of unmodified programs in any language. Open MPI finds it in its component
 * path and takes it by itself; `--mca coll ^group` leaves it out.
 *
 * A communicator is served where all its processes have this component. What is not
 * served goes to the component that Open MPI would have taken without it.
 */
#include <ompi_config.h>

#include <ompi/communicator/communicator.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/mca/coll/base/base.h>
#include <ompi/mca/coll/coll.h>
#include <ompi/proc/proc.h>
#include <opal/datatype/opal_convertor.h>
#include <opal/mca/pmix/pmix.h>
#include <opal/runtime/opal_progress.h>
#include <opal/version.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/coll/served.h"

enum { PRIORITY = 90 }; /* above all that Open MPI brings for ranks of several hosts */

extern OMPI_MODULE_DECLSPEC mca_coll_base_component_2_0_0_t mca_coll_group_component;

/* A communicator that may be served. */
struct vv_module {
  mca_coll_base_module_t super;
  struct ompi_communicator_t *communicator;
  struct vv_served served;
  mca_coll_base_module_bcast_fn_t broadcast; /* of whoever would have it without us, as what follows */
  mca_coll_base_module_t *broadcast_of;
  mca_coll_base_module_allgather_fn_t allgather;
  mca_coll_base_module_t *allgather_of;
};
typedef struct vv_module vv_module_t;

static void construct(vv_module_t *module) {
  module->communicator = NULL;
  module->broadcast_of = module->allgather_of = NULL;
  vv_served_init(&module->served, module, 0, 0);
}

static void destruct(vv_module_t *module) {
  vv_served_end(&module->served);
  if (module->broadcast_of) OBJ_RELEASE(module->broadcast_of);
  if (module->allgather_of) OBJ_RELEASE(module->allgather_of);
}

static OBJ_CLASS_INSTANCE(vv_module_t, mca_coll_base_module_t, construct, destruct);

static int priority = PRIORITY;

/* What Open MPI does for us */

static int gather_all(void *communicator, const void *own, void *all, size_t bytes) {
  const vv_module_t *module = communicator;
  return module->allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, module->communicator,
                           module->allgather_of);
}

/* A process told all others, before MPI_Init returned, that it has the component. */
static bool has_component(const opal_process_name_t *name) {
  void *bytes = NULL;
  size_t count = 0;
  int result;
  OPAL_MODEX_RECV(result, &mca_coll_group_component.collm_version, name, (uint8_t **)&bytes, &count);
  free(bytes);
  return result == OPAL_SUCCESS && count == 1;
}

static bool who(void *communicator, uint64_t *who) {
  const vv_module_t *module = communicator;
  for (uint32_t i = 0; i < module->served.ranks; i++) {
    const opal_process_name_t name = ompi_group_get_proc_name(module->communicator->c_local_group, (int)i);
    if (name.jobid != OPAL_PROC_MY_NAME.jobid || !has_component(&name)) return false;
    who[i] = (uint64_t)name.jobid << 32 | name.vpid;
  }
  return true;
}

static void progress(void) {
  opal_progress();
}

static struct vv_served_mpi mpi = {.gather_all = gather_all, .who = who, .progress = progress};

/* Broadcasts */

/* All that a convertor has goes into so many bytes, or comes out of them. */
static bool convert(opal_convertor_t *convertor, bool packs, void *bytes, size_t size_bytes) {
  struct iovec all = {.iov_base = bytes, .iov_len = size_bytes};
  uint32_t pieces = 1;
  size_t done = size_bytes;
  if (packs) return opal_convertor_pack(convertor, &all, &pieces, &done) >= 0 && done == size_bytes;
  return opal_convertor_unpack(convertor, &all, &pieces, &done) >= 0 && done == size_bytes;
}

static bool pack(const void *buffer, int count, struct ompi_datatype_t *type, void *bytes, size_t size_bytes) {
  opal_convertor_t convertor;
  OBJ_CONSTRUCT(&convertor, opal_convertor_t);
  bool done = opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super, (size_t)count, buffer, 0,
                                                       &convertor) == OPAL_SUCCESS &&
              convert(&convertor, true, bytes, size_bytes);
  OBJ_DESTRUCT(&convertor);
  return done;
}

static bool unpack(void *buffer, int count, struct ompi_datatype_t *type, void *bytes, size_t size_bytes) {
  opal_convertor_t convertor;
  OBJ_CONSTRUCT(&convertor, opal_convertor_t);
  bool done = opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &type->super, (size_t)count, buffer, 0,
                                                       &convertor) == OPAL_SUCCESS &&
              convert(&convertor, false, bytes, size_bytes);
  OBJ_DESTRUCT(&convertor);
  return done;
}

/* What does not lie in one piece goes by way of one. */
static int broadcast_pieces(vv_module_t *module, void *buffer, int count, struct ompi_datatype_t *type,
                            size_t size_bytes, int root) {
  void *bytes = malloc(size_bytes);
  if (!bytes) return MPI_ERR_NO_MEM;
  const bool sends = module->served.rank == (uint32_t)root;
  bool done = !sends || pack(buffer, count, type, bytes, size_bytes);
  done = done && vv_served_broadcast(&module->served, bytes, size_bytes, (uint32_t)root) == 0;
  done = done && (sends || unpack(buffer, count, type, bytes, size_bytes));
  free(bytes);
  return done ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int broadcast(void *buffer, int count, struct ompi_datatype_t *type, int root, struct ompi_communicator_t *comm,
                     mca_coll_base_module_t *super) {
  vv_module_t *module = (vv_module_t *)super;
  size_t type_bytes;
  ptrdiff_t first, extent;
  ompi_datatype_type_size(type, &type_bytes);
  const size_t size_bytes = type_bytes * (size_t)count;
  if (!vv_served_can(&module->served, size_bytes))
    return module->broadcast(buffer, count, type, root, comm, module->broadcast_of);
  if (!ompi_datatype_is_contiguous_memory_layout(type, count))
    return broadcast_pieces(module, buffer, count, type, size_bytes, root);
  ompi_datatype_get_true_extent(type, &first, &extent);
  const int result = vv_served_broadcast(&module->served, (char *)buffer + first, size_bytes, (uint32_t)root);
  return result == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* The component */

static int enable(mca_coll_base_module_t *super, struct ompi_communicator_t *comm) {
  vv_module_t *module = (vv_module_t *)super;
  const mca_coll_base_comm_coll_t *now = comm->c_coll;
  if (!now->coll_bcast || !now->coll_allgather) return OMPI_ERROR;
  module->broadcast = now->coll_bcast;
  module->broadcast_of = now->coll_bcast_module;
  module->allgather = now->coll_allgather;
  module->allgather_of = now->coll_allgather_module;
  OBJ_RETAIN(module->broadcast_of);
  OBJ_RETAIN(module->allgather_of);
  return OMPI_SUCCESS;
}

static int disable(mca_coll_base_module_t *super, struct ompi_communicator_t *comm) {
  (void)comm;
  vv_served_end(&((vv_module_t *)super)->served);
  return OMPI_SUCCESS;
}

static mca_coll_base_module_t *query(struct ompi_communicator_t *comm, int *rank_of_component) {
  *rank_of_component = priority;
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < VV_SERVED_HOSTS_MIN) return NULL;
  vv_module_t *module = OBJ_NEW(vv_module_t);
  if (!module) return NULL;
  module->communicator = comm;
  vv_served_init(&module->served, module, (uint32_t)ompi_comm_size(comm), (uint32_t)ompi_comm_rank(comm));
  module->super.coll_module_enable = enable;
  module->super.coll_module_disable = disable;
  module->super.coll_bcast = broadcast;
  return &module->super;
}

/* The structures of Open MPI are those of its minor release. */
static bool fits_version(void) {
  int major, minor;
  return sscanf(opal_version_string, "%d.%d", &major, &minor) == 2 && major == OPAL_MAJOR_VERSION &&
         minor == OPAL_MINOR_VERSION;
}

/* What says that this process has the component; ompi_info opens it, too, and has nobody to tell. */
static int open_component(void) {
  const uint8_t word = 1;
  int result = OPAL_SUCCESS;
  if (!fits_version()) {
    fprintf(stderr, "vaiven: mca_coll_group.so was built for Open MPI %d.%d, and this is %.20s\n", OPAL_MAJOR_VERSION,
            OPAL_MINOR_VERSION, opal_version_string);
    return OMPI_ERROR;
  }
  if (opal_pmix.put) OPAL_MODEX_SEND(result, OPAL_PMIX_GLOBAL, &mca_coll_group_component.collm_version, &word, 1);
  return result;
}

static int close_component(void) {
  vv_served_end_all();
  return OMPI_SUCCESS;
}

static int begin(bool progress_threads, bool threads) {
  (void)progress_threads;
  mpi.threads = threads;
  vv_served_begin(&mpi);
  return OMPI_SUCCESS;
}

static int register_parameters(void) {
  const mca_base_component_t *component = &mca_coll_group_component.collm_version;
  mca_base_var_group_component_register(component, "broadcasts over UDP multicast, of vaiven");
  mca_base_component_var_register(component, "priority", "Above that of others it is taken", MCA_BASE_VAR_TYPE_INT,
                                  NULL, 0, 0, OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY, &priority);
  return OMPI_SUCCESS;
}

mca_coll_base_component_2_0_0_t mca_coll_group_component = {
    .collm_version = {MCA_COLL_BASE_VERSION_2_0_0, .mca_component_name = "group",
                      MCA_BASE_MAKE_VERSION(component, 1, 0, 0), .mca_open_component = open_component,
                      .mca_close_component = close_component, .mca_register_component_params = register_parameters},
    .collm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = begin,
    .collm_comm_query = query,
};
