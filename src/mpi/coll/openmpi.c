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

#include "mpi/coll/numbers.h"
#include "mpi/coll/served.h"

enum { PRIORITY = 90 }; /* above all that Open MPI brings for ranks of several hosts */

extern OMPI_MODULE_DECLSPEC mca_coll_base_component_2_0_0_t mca_coll_group_component;

/* The operations that may be served, by their name in Open MPI. */
#define OPERATIONS(X) X(allgather) X(allgatherv) X(allreduce) X(barrier) X(bcast)

/* A communicator that may be served, and who would have its operations without us. */
#define MEMBERS(name)                                                                                                  \
  mca_coll_base_module_##name##_fn_t name;                                                                             \
  mca_coll_base_module_t *name##_of;
struct vv_module {
  mca_coll_base_module_t super;
  struct ompi_communicator_t *communicator;
  struct vv_served served;
  OPERATIONS(MEMBERS)
};
typedef struct vv_module vv_module_t;

static void construct(vv_module_t *module) {
#define CLEAR(name) module->name##_of = NULL;
  OPERATIONS(CLEAR)
  module->communicator = NULL;
  vv_served_init(&module->served, module, 0, 0);
}

static void destruct(vv_module_t *module) {
#define RELEASE(name)                                                                                                  \
  if (module->name##_of) OBJ_RELEASE(module->name##_of);
  vv_served_end(&module->served);
  OPERATIONS(RELEASE)
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

/* Where bytes lie */

/* Numbers of a program as they are sent: where they lie, or in memory of ours where they do not lie in one piece. */
struct area {
  uint8_t *bytes;
  size_t size_bytes;
  void *buffer;
  size_t count;
  struct ompi_datatype_t *type;
  bool is_copy;
};

static size_t bytes_of(size_t count, struct ompi_datatype_t *type) {
  size_t bytes;
  ompi_datatype_type_size(type, &bytes);
  return count * bytes;
}

/* Copies what lies apart. */
static bool convert(const struct area *area, bool packs) {
  opal_convertor_t convertor;
  struct iovec all = {.iov_base = area->bytes, .iov_len = area->size_bytes};
  uint32_t pieces = 1;
  size_t done = area->size_bytes;
  OBJ_CONSTRUCT(&convertor, opal_convertor_t);
  int result = packs ? opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &area->type->super,
                                                                area->count, area->buffer, 0, &convertor)
                     : opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &area->type->super,
                                                                area->count, area->buffer, 0, &convertor);
  if (result == OPAL_SUCCESS)
    result = packs ? opal_convertor_pack(&convertor, &all, &pieces, &done)
                   : opal_convertor_unpack(&convertor, &all, &pieces, &done);
  OBJ_DESTRUCT(&convertor);
  return result >= 0 && done == area->size_bytes;
}

/* `filled`: what is there already is wanted. False: there is no memory. */
static bool area_begin(struct area *area, const void *buffer, size_t count, struct ompi_datatype_t *type, bool filled) {
  ptrdiff_t first, extent;
  *area = (struct area){.size_bytes = bytes_of(count, type),
                        .buffer = (void *)(uintptr_t)buffer,
                        .count = count,
                        .type = type,
                        .is_copy = !ompi_datatype_is_contiguous_memory_layout(type, (int32_t)count)};
  ompi_datatype_get_true_extent(type, &first, &extent);
  area->bytes = area->is_copy ? malloc(area->size_bytes + 1) : (uint8_t *)area->buffer + first;
  return !area->is_copy || (area->bytes && (!filled || convert(area, true)));
}

/* `changed`: the program is to have it. */
static bool area_end(struct area *area, bool changed) {
  const bool done = !area->is_copy || !changed || convert(area, false);
  if (area->is_copy) free(area->bytes);
  return done;
}

/* Operations */

static int broadcast(void *buffer, int count, struct ompi_datatype_t *type, int root, struct ompi_communicator_t *comm,
                     mca_coll_base_module_t *super) {
  vv_module_t *module = (vv_module_t *)super;
  const bool sends = module->served.rank == (uint32_t)root;
  struct area area;
  if (!vv_served_can(&module->served, VV_COLL_BROADCAST, bytes_of((size_t)count, type)))
    return module->bcast(buffer, count, type, root, comm, module->bcast_of);
  bool done = area_begin(&area, buffer, (size_t)count, type, sends) &&
              vv_served_broadcast(&module->served, area.bytes, area.size_bytes, (uint32_t)root) == 0;
  done = area_end(&area, done && !sends) && done;
  return done ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
  vv_module_t *module = (vv_module_t *)super;
  if (!vv_served_can(&module->served, VV_COLL_BARRIER, 0)) return module->barrier(comm, module->barrier_of);
  const struct vv_coll_call call = {VV_COLL_CALL, .kind = VV_COLL_BARRIER};
  return vv_served_call(&module->served, &call) == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int allgather(const void *given, int given_count, struct ompi_datatype_t *given_type, void *result, int count,
                     struct ompi_datatype_t *type, struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
  vv_module_t *module = (vv_module_t *)super;
  const size_t ranks = module->served.ranks, part_bytes = bytes_of((size_t)count, type);
  const bool in_place = given == MPI_IN_PLACE;
  struct area from = {0}, to;
  if (!vv_served_can(&module->served, VV_COLL_ALLGATHER, part_bytes * ranks))
    return module->allgather(given, given_count, given_type, result, count, type, comm, module->allgather_of);
  bool done = area_begin(&to, result, (size_t)count * ranks, type, in_place) &&
              (in_place || area_begin(&from, given, (size_t)given_count, given_type, true));
  const uint8_t *own = in_place ? to.bytes + module->served.rank * part_bytes : from.bytes;
  const struct vv_coll_call call = {VV_COLL_CALL,       .kind = VV_COLL_ALLGATHER, .given = own,
                                    .result = to.bytes, .count = part_bytes,       .type = VV_DATA_CHAR};
  done = done && vv_served_call(&module->served, &call) == 0;
  area_end(&from, false);
  done = area_end(&to, done) && done;
  return done ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* Each rank's part of the result, which lie where the program says. */
static bool parts_end(struct area *parts, uint32_t ranks, bool changed) {
  bool done = changed;
  for (uint32_t i = 0; i < ranks; i++) {
    if (done && parts[i].size_bytes > 0) done = convert(&parts[i], false);
  }
  return done;
}

/*
 * All parts, one behind the other in memory of ours, which `parts` are then of. What is there of this rank's own is
 * wanted where it is given in place.
 */
static bool parts_begin(struct area *parts, struct vv_coll_part *places, uint32_t ranks, uint8_t **bytes) {
  size_t first = 0;
  for (uint32_t i = 0; i < ranks; i++) {
    places[i] = (struct vv_coll_part){first, parts[i].size_bytes};
    first += parts[i].size_bytes;
  }
  *bytes = malloc(first + 1);
  for (uint32_t i = 0; *bytes && i < ranks; i++) parts[i].bytes = *bytes + places[i].first;
  return *bytes != NULL;
}

static int carry_allgatherv(vv_module_t *module, const void *given, int given_count, struct ompi_datatype_t *given_type,
                            struct area *parts, struct vv_coll_part *places) {
  const uint32_t ranks = module->served.ranks, rank = module->served.rank;
  struct area from = {0};
  uint8_t *bytes = NULL;
  bool done = parts_begin(parts, places, ranks, &bytes);
  if (given == MPI_IN_PLACE)
    done = done && (parts[rank].size_bytes == 0 || convert(&parts[rank], true));
  else
    done = done && area_begin(&from, given, (size_t)given_count, given_type, true);
  const struct vv_coll_call call = {
      VV_COLL_CALL,    .kind = VV_COLL_ALLGATHER, .given = given == MPI_IN_PLACE ? parts[rank].bytes : from.bytes,
      .result = bytes, .type = VV_DATA_CHAR,      .parts = places};
  done = parts_end(parts, ranks, done && vv_served_call(&module->served, &call) == 0);
  area_end(&from, false);
  free(bytes);
  return done ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int allgatherv(const void *given, int given_count, struct ompi_datatype_t *given_type, void *result,
                      const int *counts, const int *firsts, struct ompi_datatype_t *type,
                      struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
  vv_module_t *module = (vv_module_t *)super;
  const uint32_t ranks = module->served.ranks;
  size_t count = 0;
  ptrdiff_t lower, extent;
  for (uint32_t i = 0; i < ranks; i++) count += (size_t)counts[i];
  if (!vv_served_can(&module->served, VV_COLL_ALLGATHER, bytes_of(count, type)))
    return module->allgatherv(given, given_count, given_type, result, counts, firsts, type, comm,
                              module->allgatherv_of);
  struct area *parts = calloc(ranks, sizeof *parts);
  struct vv_coll_part *places = calloc(ranks, sizeof *places);
  ompi_datatype_get_extent(type, &lower, &extent);
  for (uint32_t i = 0; parts && i < ranks; i++) {
    parts[i] = (struct area){.size_bytes = bytes_of((size_t)counts[i], type),
                             .buffer = (char *)result + extent * firsts[i],
                             .count = (size_t)counts[i],
                             .type = type};
  }
  const int done =
      parts && places ? carry_allgatherv(module, given, given_count, given_type, parts, places) : MPI_ERR_NO_MEM;
  free(parts);
  free(places);
  return done;
}

static int allreduce(const void *given, void *result, int count, struct ompi_datatype_t *type, struct ompi_op_t *op,
                     struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
  vv_module_t *module = (vv_module_t *)super;
  if (!vv_numbers_fold(type, op) || !vv_served_can(&module->served, VV_COLL_ALLREDUCE, bytes_of((size_t)count, type)))
    return module->allreduce(given, result, count, type, op, comm, module->allreduce_of);
  const struct vv_coll_call call = {
      VV_COLL_CALL,           .kind = VV_COLL_ALLREDUCE, .given = given == MPI_IN_PLACE ? result : given,
      .result = result,       .count = (size_t)count,    .type = vv_numbers_type(type),
      .op = vv_numbers_op(op)};
  return vv_served_call(&module->served, &call) == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* The component */

static int enable(mca_coll_base_module_t *super, struct ompi_communicator_t *comm) {
  vv_module_t *module = (vv_module_t *)super;
  const mca_coll_base_comm_coll_t *now = comm->c_coll;
#define LACKS(name) || !now->coll_##name
#define TAKE(name)                                                                                                     \
  module->name = now->coll_##name;                                                                                     \
  module->name##_of = now->coll_##name##_module;                                                                       \
  OBJ_RETAIN(module->name##_of);
  if (false OPERATIONS(LACKS)) return OMPI_ERROR;
  OPERATIONS(TAKE)
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
  module->super.coll_allgather = allgather;
  module->super.coll_allgatherv = allgatherv;
  module->super.coll_allreduce = allreduce;
  module->super.coll_barrier = barrier;
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
