/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mca_coll_group.so: the component by which collective operations of Open MPI, 4.1 or 5.0,
 * go by multicast, of unmodified programs in any language. Open MPI finds it in its component
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
#include <ompi/request/request.h>
#include <opal/datatype/opal_convertor.h>
#include <opal/runtime/opal_progress.h>
#include <opal/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/os/clock.h"
#include "mpi/base/modex.h"
#include "mpi/base/openmpi.h"
#include "mpi/base/release.h"
#include "mpi/coll/area.h"
#include "mpi/coll/gathering.h"
#include "mpi/coll/numbers.h"
#include "mpi/coll/served.h"

enum {
  PRIORITY = 90,   /* above all that Open MPI brings for ranks of several hosts */
  KEPT_WORDS = 24, /* twice what the largest of its releases wants */
  LOOKS = 8,       /* at broadcasts that were begun, before a rest */
};
#define REST_NS (20 * VV_US)
#define SOON_NS (20 * VV_US) /* between two looks of who does nothing else */

extern OMPI_DECLSPEC mca_coll_base_component_t mca_coll_group_component;

/* The operations that may be served, or may wait for all, by their name in Open MPI. */
#define OPERATIONS(X) X(allgather) X(allgatherv) X(allreduce) X(barrier) X(bcast) X(ibcast)

/* A communicator that may be served, and who would have its operations without us. */
#define MEMBERS(name)                                                                                                  \
  mca_coll_base_module_##name##_fn_t name;                                                                             \
  mca_coll_base_module_t *name##_of;
struct vv_face {
  mca_coll_base_module_t super;
  struct ompi_communicator_t *communicator;
  struct vv_served served;
  OPERATIONS(MEMBERS)
};
typedef struct vv_face vv_face_t;

static void construct(vv_face_t *module) {
#define CLEAR(name) module->name##_of = NULL;
  OPERATIONS(CLEAR)
  module->communicator = NULL;
  vv_served_init(&module->served, module, 0, 0);
}

static void destruct(vv_face_t *module) {
#define RELEASE(name)                                                                                                  \
  if (module->name##_of) OBJ_RELEASE(module->name##_of);
  vv_served_end(&module->served);
  OPERATIONS(RELEASE)
}

static OBJ_CLASS_INSTANCE(vv_face_t, mca_coll_base_module_t, construct, destruct);

static int priority = PRIORITY;

/* What Open MPI does for us */

static int gather_all(void *communicator, const void *own, void *all, size_t bytes) {
  const vv_face_t *module = communicator;
  return module->allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, module->communicator,
                           module->allgather_of);
}

/* A process told all others, before MPI_Init returned, that it has the component. */
static bool told(const opal_process_name_t *name) {
  size_t count = 0;
  uint8_t *bytes = vv_modex_told(&mca_coll_group_component.collm_version, name, &count);
  const bool has = bytes && count == 1;
  free(bytes);
  return has;
}

/* Likewise, and asks only once who has it: PMIx answers by a thread of its own, and programs make communicators by
 * thousands. Of this job alone. */
static bool has_component(const opal_process_name_t *name) {
  static bool known[VV_GROUP_RANKS_MAX];
  bool *one = name->vpid < VV_GROUP_RANKS_MAX ? &known[name->vpid] : NULL;
  if (one && __atomic_load_n(one, __ATOMIC_RELAXED)) return true;
  const bool has = told(name);
  if (one && has) __atomic_store_n(one, true, __ATOMIC_RELAXED);
  return has;
}

static bool who(void *communicator, uint64_t *who) {
  const vv_face_t *module = communicator;
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

static size_t bytes_of(size_t count, const struct ompi_datatype_t *type) {
  size_t bytes;
  ompi_datatype_type_size(type, &bytes);
  return count * bytes;
}

static size_t bytes_of_one(struct ompi_datatype_t *type) {
  return bytes_of(1, type);
}

static bool convert(const struct vv_area *area, bool packs) {
  const struct ompi_datatype_t *type = area->type;
  opal_convertor_t convertor;
  struct iovec all = {.iov_base = area->bytes, .iov_len = area->size_bytes};
  uint32_t pieces = 1;
  size_t done = area->size_bytes;
  OBJ_CONSTRUCT(&convertor, opal_convertor_t);
  int result = packs ? opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super, area->count,
                                                                area->buffer, 0, &convertor)
                     : opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &type->super, area->count,
                                                                area->buffer, 0, &convertor);
  if (result == OPAL_SUCCESS)
    result = packs ? opal_convertor_pack(&convertor, &all, &pieces, &done)
                   : opal_convertor_unpack(&convertor, &all, &pieces, &done);
  OBJ_DESTRUCT(&convertor);
  return result >= 0 && done == area->size_bytes;
}

static struct vv_area area_of(const void *buffer, size_t count, struct ompi_datatype_t *type) {
  ptrdiff_t first, extent;
  ompi_datatype_get_true_extent(type, &first, &extent);
  return (struct vv_area){.bytes = (uint8_t *)(uintptr_t)buffer + first,
                          .size_bytes = bytes_of(count, type),
                          .is_copy = !ompi_datatype_is_contiguous_memory_layout(type, (int32_t)count),
                          .buffer = (void *)(uintptr_t)buffer,
                          .count = count,
                          .type = type};
}

/* Operations */

static int broadcast(void *buffer, int count, struct ompi_datatype_t *type, int root, struct ompi_communicator_t *comm,
                     mca_coll_base_module_t *super) {
  vv_face_t *module = (vv_face_t *)super;
  const bool sends = module->served.rank == (uint32_t)root;
  if (!vv_served_can(&module->served, VV_COLL_BROADCAST, bytes_of((size_t)count, type)))
    return module->bcast(buffer, count, type, root, comm, module->bcast_of);
  struct vv_area area = area_of(buffer, (size_t)count, type);
  bool done = vv_area_begin(&area, convert, sends) &&
              vv_served_broadcast(&module->served, area.bytes, area.size_bytes, (uint32_t)root) == 0;
  done = vv_area_end(&area, convert, done && !sends) && done;
  return done ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/*
 * What the program holds of a broadcast that it has begun. MPI_Ibcast itself keeps the type until the end, and takes
 * every request of a collective operation for an ompi_coll_base_nbc_request_t, whose header Debian lacks a part of: its
 * members come behind the request.
 */
struct vv_hold {
  ompi_request_t super;
  void *kept[KEPT_WORDS];
  struct vv_begun begun;
};
typedef struct vv_hold vv_hold_t;

static int free_hold(ompi_request_t **request) {
  OMPI_REQUEST_FINI(*request);
  OBJ_RELEASE(*request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

static int refuse_to_cancel(ompi_request_t *request, int flag) {
  (void)request, (void)flag;
  return MPI_ERR_REQUEST;
}

static void construct_hold(vv_hold_t *hold) {
  ompi_request_t *request = &hold->super;
  memset(hold->kept, 0, sizeof hold->kept);
  OMPI_REQUEST_INIT(request, false);
  request->req_type = OMPI_REQUEST_COLL;
  request->req_status._cancelled = 0;
  request->req_free = free_hold;
  request->req_cancel = refuse_to_cancel;
}

static OBJ_CLASS_INSTANCE(vv_hold_t, ompi_request_t, construct_hold, NULL);

static void ended(struct vv_begun *begun, bool done) {
  vv_hold_t *hold = (vv_hold_t *)((char *)begun - offsetof(vv_hold_t, begun));
  hold->super.req_status.MPI_ERROR = done ? MPI_SUCCESS : MPI_ERR_OTHER;
  ompi_request_complete(&hold->super, true);
}

/*
 * Where ranks share processors Open MPI is to yield while it waits. A thread that comes again and again, and does
 * nothing in between, leaves the processor to ranks that have something to send: else all of them would only look.
 */
static void rest(bool idle) {
  static _Thread_local vv_ns left_ns;
  static _Thread_local unsigned again;
  again = idle && vv_clock_ns() - left_ns < SOON_NS ? again + 1 : 0;
  if (again > LOOKS && vv_begun_any()) nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
  left_ns = vv_clock_ns();
}

static int turn(void) {
  if (!vv_begun_any()) return 0;
  const unsigned ended = vv_begun_turn();
  if (opal_progress_yield_when_idle) rest(ended == 0);
  return (int)ended;
}

static int begin_broadcast(void *buffer, int count, struct ompi_datatype_t *type, int root,
                           struct ompi_communicator_t *comm, ompi_request_t **request, mca_coll_base_module_t *super) {
  static bool turns;
  vv_face_t *module = (vv_face_t *)super;
  if (!vv_served_can_begin(&module->served, bytes_of((size_t)count, type)))
    return module->ibcast(buffer, count, type, root, comm, request, module->ibcast_of);
  vv_hold_t *hold = OBJ_NEW(vv_hold_t);
  if (!hold) return MPI_ERR_NO_MEM;
  hold->super.req_state = OMPI_REQUEST_ACTIVE;
  hold->super.req_mpi_object.comm = comm;
  hold->begun = (struct vv_begun){.area = area_of(buffer, (size_t)count, type), .convert = convert, .ended = ended};
  if (!__atomic_exchange_n(&turns, true, __ATOMIC_RELAXED)) opal_progress_register(turn);
  if (vv_served_begin_broadcast(&module->served, &hold->begun, (uint32_t)root)) {
    *request = &hold->super;
    return MPI_SUCCESS;
  }
  OBJ_RELEASE(hold);
  return MPI_ERR_OTHER;
}

static int barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
  vv_face_t *module = (vv_face_t *)super;
  vv_served_may_wait(&module->served);
  return module->barrier(comm, module->barrier_of);
}

/* Parts of the result: `counts` of them, or `count` each. */
static int gather(vv_face_t *module, const void *given, int given_count, struct ompi_datatype_t *given_type,
                  void *result, const int *counts, const int *firsts, int count, struct ompi_datatype_t *type) {
  const uint32_t ranks = module->served.ranks;
  struct vv_area *parts = calloc(ranks, sizeof *parts), from = {0};
  ptrdiff_t lower, extent;
  if (!parts) return MPI_ERR_NO_MEM;
  ompi_datatype_get_extent(type, &lower, &extent);
  for (uint32_t i = 0; i < ranks; i++) {
    const ptrdiff_t first = firsts ? firsts[i] : (ptrdiff_t)i * count;
    parts[i] = area_of((char *)result + extent * first, (size_t)(counts ? counts[i] : count), type);
  }
  const bool in_place = given == MPI_IN_PLACE;
  if (!in_place) from = area_of(given, (size_t)given_count, given_type);
  const int done = vv_gathering(&module->served, convert, in_place ? NULL : &from, parts);
  free(parts);
  return done == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int allgather(const void *given, int given_count, struct ompi_datatype_t *given_type, void *result, int count,
                     struct ompi_datatype_t *type, struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
  vv_face_t *module = (vv_face_t *)super;
  if (!vv_served_can(&module->served, VV_COLL_ALLGATHER, bytes_of((size_t)count * module->served.ranks, type)))
    return module->allgather(given, given_count, given_type, result, count, type, comm, module->allgather_of);
  return gather(module, given, given_count, given_type, result, NULL, NULL, count, type);
}

static int allgatherv(const void *given, int given_count, struct ompi_datatype_t *given_type, void *result,
                      const int *counts, const int *firsts, struct ompi_datatype_t *type,
                      struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
  vv_face_t *module = (vv_face_t *)super;
  size_t count = 0;
  for (uint32_t i = 0; i < module->served.ranks; i++) count += (size_t)counts[i];
  if (!vv_served_can(&module->served, VV_COLL_ALLGATHER, bytes_of(count, type)))
    return module->allgatherv(given, given_count, given_type, result, counts, firsts, type, comm,
                              module->allgatherv_of);
  return gather(module, given, given_count, given_type, result, counts, firsts, 0, type);
}

static int allreduce(const void *given, void *result, int count, struct ompi_datatype_t *type, struct ompi_op_t *op,
                     struct ompi_communicator_t *comm, mca_coll_base_module_t *super) {
  vv_face_t *module = (vv_face_t *)super;
  if (!vv_numbers_fold(type, op, bytes_of_one) ||
      !vv_served_can(&module->served, VV_COLL_ALLREDUCE, bytes_of((size_t)count, type)))
    return module->allreduce(given, result, count, type, op, comm, module->allreduce_of);
  const struct vv_coll_call call = {
      VV_COLL_CALL,           .kind = VV_COLL_ALLREDUCE, .given = given == MPI_IN_PLACE ? result : given,
      .result = result,       .count = (size_t)count,    .type = vv_numbers_type(type, bytes_of_one),
      .op = vv_numbers_op(op)};
  return vv_served_call(&module->served, &call, bytes_of((size_t)count, type)) == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* The component */

static int enable(mca_coll_base_module_t *super, struct ompi_communicator_t *comm) {
  vv_face_t *module = (vv_face_t *)super;
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
  vv_served_end(&((vv_face_t *)super)->served);
  return OMPI_SUCCESS;
}

static mca_coll_base_module_t *query(struct ompi_communicator_t *comm, int *rank_of_component) {
  *rank_of_component = priority;
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < VV_SERVED_HOSTS_MIN) return NULL;
  vv_face_t *module = OBJ_NEW(vv_face_t);
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
  module->super.coll_ibcast = begin_broadcast;
  return &module->super;
}

/* What says that this process has the component. */
static int open_component(void) {
  static const struct vv_release built = {"mca_coll_group.so", OPAL_MAJOR_VERSION, OPAL_MINOR_VERSION};
  const uint8_t word = 1;
  char text[VV_RELEASE_TEXT_BYTES];
  if (!vv_release_fits(&built, opal_version_string, text)) {
    fprintf(stderr, "vaiven: %s\n", text);
    return OMPI_ERROR;
  }
  return vv_modex_tell(&mca_coll_group_component.collm_version, &word, 1) ? OMPI_SUCCESS : OMPI_ERROR;
}

static int close_component(void) {
  opal_progress_unregister(turn);
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

mca_coll_base_component_t mca_coll_group_component = {
    .collm_version = {VV_OPENMPI_COLL_VERSION, .mca_component_name = "group", MCA_BASE_MAKE_VERSION(component, 1, 0, 0),
                      .mca_open_component = open_component, .mca_close_component = close_component,
                      .mca_register_component_params = register_parameters},
    .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = begin,
    .collm_comm_query = query,
};
