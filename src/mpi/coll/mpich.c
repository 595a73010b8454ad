/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-mpich-group.so, preloaded into every rank of a job of MPICH, or of an MPI of the
 * same ABI, as Intel's: collective operations of unmodified programs go by multicast. It is
 * linked to no MPI: it finds the one of the process, which Python may have loaded for
 * itself alone. All ranks preload it, or none.
 *
 * What is not served goes where it would go without it: to the next tool that stands
 * before the MPI, or to the MPI. A tool that stands before us calls PMPI_, so these names
 * are ours, too. The MPI may be Open MPI, where somebody has preloaded the wrong library.
 * So the functions that programs call here take words, and pass them on as they came: of a
 * handle of MPICH the lower half counts, of Open MPI's all of it.
 */
#include <assert.h>
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/area.h"
#include "mpi/coll/gathering.h"
#include "mpi/coll/numbers.h"
#include "mpi/coll/served.h"

#define PUBLIC __attribute__((visibility("default")))

/* The MPI */

/* A function of the MPI of this process, behind us. */
static void *behind(const char *name) {
  static const char *const libraries[] = {"libmpi.so.12", "libmpich.so.12"};
  void *found = dlsym(RTLD_NEXT, name);
  for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
    void *library = dlopen(libraries[i], RTLD_NOLOAD | RTLD_LAZY);
    if (library) found = dlsym(library, name);
  }
  return found;
}

/* Every function of MPI that is called here, by its name behind us. */
#define FUNCTIONS(X)                                                                                                   \
  X(Allgather)                                                                                                         \
  X(Cancel)                                                                                                            \
  X(Comm_call_errhandler)                                                                                              \
  X(Comm_create_keyval)                                                                                                \
  X(Comm_dup)                                                                                                          \
  X(Comm_free)                                                                                                         \
  X(Comm_get_attr)                                                                                                     \
  X(Comm_group)                                                                                                        \
  X(Comm_rank)                                                                                                         \
  X(Comm_set_attr)                                                                                                     \
  X(Comm_size)                                                                                                         \
  X(Comm_test_inter)                                                                                                   \
  X(Grequest_complete)                                                                                                 \
  X(Group_free)                                                                                                        \
  X(Group_translate_ranks)                                                                                             \
  X(Irecv)                                                                                                             \
  X(Pack)                                                                                                              \
  X(Query_thread)                                                                                                      \
  X(Test)                                                                                                              \
  X(Type_commit)                                                                                                       \
  X(Type_create_hindexed)                                                                                              \
  X(Type_dup)                                                                                                          \
  X(Type_free)                                                                                                         \
  X(Type_get_envelope)                                                                                                 \
  X(Type_get_extent)                                                                                                   \
  X(Type_size)                                                                                                         \
  X(Unpack)

#define MEMBER(name) __typeof__ (&PMPI_##name)(name);
static struct { FUNCTIONS(MEMBER) } pmpi;
static __typeof__(&PMPIX_Grequest_start) start; /* NULL: the MPI has no requests that others carry out */

static int keyval = MPI_KEYVAL_INVALID; /* under which a communicator has its `struct vv_served` */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

/* What it does for us */

static MPI_Comm name_of(const void *communicator) {
  return (MPI_Comm)(intptr_t)communicator;
}

static int gather_all(void *communicator, const void *own, void *all, size_t bytes) {
  return pmpi.Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, name_of(communicator)) != MPI_SUCCESS;
}

/* By their ranks in MPI_COMM_WORLD: who was spawned has none. */
static bool who(void *communicator, uint64_t *who) {
  MPI_Group group, world;
  int ranks;
  pmpi.Comm_size(name_of(communicator), &ranks);
  int *numbers = malloc(2 * (size_t)ranks * sizeof *numbers);
  if (!numbers) return false;
  for (int i = 0; i < ranks; i++) numbers[i] = i;
  pmpi.Comm_group(name_of(communicator), &group);
  pmpi.Comm_group(MPI_COMM_WORLD, &world);
  pmpi.Group_translate_ranks(group, ranks, numbers, world, numbers + ranks);
  pmpi.Group_free(&group);
  pmpi.Group_free(&world);
  bool known = true;
  for (int i = 0; i < ranks; i++) {
    known = known && numbers[ranks + i] != MPI_UNDEFINED;
    who[i] = (uint64_t)numbers[ranks + i];
  }
  free(numbers);
  return known;
}

/*
 * No function of MPI only moves messages: a test of a receive that nobody sends to does, on a copy of MPI_COMM_SELF,
 * for MPICH says at its end what is left of that itself.
 */
static struct {
  MPI_Comm self;
  MPI_Request nothing;
  char byte;
  pthread_mutex_t lock;
} idle = {.self = MPI_COMM_NULL, .lock = PTHREAD_MUTEX_INITIALIZER};

static void progress(void) {
  int done;
  if (pthread_mutex_trylock(&idle.lock) != 0) return; /* another thread does */
  if (idle.self == MPI_COMM_NULL && pmpi.Comm_dup(MPI_COMM_SELF, &idle.self) == MPI_SUCCESS)
    pmpi.Irecv(&idle.byte, 1, MPI_BYTE, 0, 0, idle.self, &idle.nothing);
  if (idle.self != MPI_COMM_NULL) pmpi.Test(&idle.nothing, &done, MPI_STATUS_IGNORE);
  pthread_mutex_unlock(&idle.lock);
}

static void end_progress(void) {
  int done = 0;
  if (idle.self == MPI_COMM_NULL) return;
  pmpi.Cancel(&idle.nothing);
  while (!done) pmpi.Test(&idle.nothing, &done, MPI_STATUS_IGNORE);
  pmpi.Comm_free(&idle.self);
}

static struct vv_served_mpi mpi = {.gather_all = gather_all, .who = who, .progress = progress};

/* Communicators */

static int forget(MPI_Comm communicator, int key, void *value, void *extra) {
  (void)communicator, (void)key, (void)extra;
  vv_served_end(value);
  free(value);
  return MPI_SUCCESS;
}

static bool can; /* the MPI lacks nothing that is wanted of it */

/* Open MPI calls its functions alike, and its handles are addresses. */
static bool is_open_mpi(void) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world")) return false;
  if (!rank || strcmp(rank, "0") == 0)
    fprintf(stderr,
            "vaiven: this is Open MPI, which goes on without vaiven-mpich-group.so; mca_coll_group.so is for it\n");
  return true;
}

static void find_all(void) {
  int level;
  if (is_open_mpi()) return;
#define FIND(name) pmpi.name = (__typeof__(pmpi.name))behind("PMPI_" #name);
  FUNCTIONS(FIND)
#define HAS(name) &&pmpi.name
  if (!(true FUNCTIONS(HAS))) return;
  start = (__typeof__(start))behind("PMPIX_Grequest_start");
  pmpi.Query_thread(&level);
  mpi.threads = level == MPI_THREAD_MULTIPLE;
  vv_served_begin(&mpi);
  can = pmpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL) == MPI_SUCCESS;
}

/* Before anything of MPI is called here. False: nothing is served. */
static bool begin(void) {
  static pthread_once_t found = PTHREAD_ONCE_INIT;
  pthread_once(&found, find_all);
  return can;
}

/* What is known of a communicator that has been seen for the first time. */
static struct vv_served *meet(MPI_Comm communicator) {
  int ranks, rank, inter;
  if (pmpi.Comm_test_inter(communicator, &inter) != MPI_SUCCESS) return NULL;
  struct vv_served *served = malloc(sizeof *served);
  if (!served) return NULL;
  pmpi.Comm_size(communicator, &ranks);
  pmpi.Comm_rank(communicator, &rank);
  vv_served_init(served, (void *)(intptr_t)communicator, (uint32_t)ranks, (uint32_t)rank);
  if (inter) served->way = VV_SERVED_BY_MPI;
  if (pmpi.Comm_set_attr(communicator, keyval, served) == MPI_SUCCESS) return served;
  vv_served_end(served);
  free(served);
  return NULL;
}

static struct vv_served *served_of(MPI_Comm communicator) {
  struct vv_served *served = NULL;
  int found = 0;
  if (communicator == MPI_COMM_NULL || communicator == MPI_COMM_SELF) return NULL;
  pthread_mutex_lock(&guard);
  if (pmpi.Comm_get_attr(communicator, keyval, &served, &found) == MPI_SUCCESS && !found) served = meet(communicator);
  pthread_mutex_unlock(&guard);
  return served;
}

/* Where numbers lie */

/* 0: one that is none, which the MPI says. */
static size_t bytes_of(MPI_Count count, MPI_Datatype type) {
  int bytes;
  if (count <= 0 || type == MPI_DATATYPE_NULL || pmpi.Type_size(type, &bytes) != MPI_SUCCESS || bytes <= 0) return 0;
  if ((size_t)count > VV_GAINS_BYTES_MAX / (size_t)bytes) return VV_GAINS_BYTES_MAX + 1;
  return (size_t)count * (size_t)bytes;
}

static size_t bytes_of_one(MPI_Datatype type) {
  return bytes_of(1, type);
}

static MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower, extent;
  pmpi.Type_get_extent(type, &lower, &extent);
  return extent;
}

/*
 * Whether numbers of that type lie one behind the other, in the order in which they are sent. Of one that a program has
 * made nobody tells: its numbers may lie side by side in another order.
 */
static bool is_one_piece(MPI_Datatype type) {
  int numbers, addresses, types, combiner;
  pmpi.Type_get_envelope(type, &numbers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED && (size_t)extent_of(type) == bytes_of(1, type);
}

static MPI_Datatype type_of(const struct vv_area *area) {
  return (MPI_Datatype)(intptr_t)area->type;
}

/* Packing is the same for all communicators of processes of one kind. */
static bool convert_at(const struct vv_area *area, void *buffer, int count, MPI_Datatype type, bool packs) {
  const int size_bytes = (int)area->size_bytes;
  int at = 0;
  if (packs) return pmpi.Pack(buffer, count, type, area->bytes, size_bytes, &at, MPI_COMM_SELF) == MPI_SUCCESS;
  return pmpi.Unpack(area->bytes, size_bytes, &at, buffer, count, type, MPI_COMM_SELF) == MPI_SUCCESS;
}

/*
 * MPICH takes no MPI_BOTTOM for its buffer when it packs, though a type of addresses has no other (MPI 4.1, 5.1.12): a
 * type that begins at some address goes back by as much.
 */
static bool convert_addresses(const struct vv_area *area, bool packs) {
  const int count = (int)area->count;
  const MPI_Aint back = -(MPI_Aint)area->bytes;
  MPI_Datatype moved;
  if (pmpi.Type_create_hindexed(1, &count, &back, type_of(area), &moved) != MPI_SUCCESS) return false;
  const bool done = pmpi.Type_commit(&moved) == MPI_SUCCESS && convert_at(area, area->bytes, 1, moved, packs);
  pmpi.Type_free(&moved);
  return done;
}

static bool convert(const struct vv_area *area, bool packs) {
  if (area->buffer == MPI_BOTTOM) return convert_addresses(area, packs);
  return convert_at(area, area->buffer, (int)area->count, type_of(area), packs);
}

static struct vv_area area_of(const void *buffer, MPI_Count count, MPI_Datatype type) {
  return (struct vv_area){.bytes = (uint8_t *)(uintptr_t)buffer,
                          .size_bytes = bytes_of(count, type),
                          .is_copy = !is_one_piece(type),
                          .buffer = (void *)(uintptr_t)buffer,
                          .count = (size_t)count,
                          .type = (void *)(intptr_t)type};
}

/* Operations: whatever is wrong with their arguments they leave to the MPI, which says it */

/* NULL: it is not served. */
static struct vv_served *serves(enum vv_coll_kind kind, size_t size_bytes, MPI_Comm communicator) {
  if (size_bytes == 0) return NULL;
  struct vv_served *served = served_of(communicator);
  return served && vv_served_can(served, kind, size_bytes) ? served : NULL;
}

static int end_with(bool done, MPI_Comm communicator) {
  if (!done) pmpi.Comm_call_errhandler(communicator, MPI_ERR_OTHER);
  return done ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* An argument, however wide it is. */
typedef intptr_t word;

/* The function that programs, or tools, call by that name, and the one behind it. */
#define ENTRY(name, ...)                                                                                               \
  PUBLIC int vv_mpich_##name(__VA_ARGS__) __asm__(#name);                                                              \
  int vv_mpich_##name(__VA_ARGS__)
#define NEXT(name)                                                                                                     \
  static __typeof__(vv_mpich_##name) *next;                                                                            \
  if (!next) next = (__typeof__(next))behind(#name);                                                                   \
  assert(next) /* the caller was linked with it */
#define BY_BOTH_NAMES(FUNCTION, name, ...)                                                                             \
  FUNCTION(MPI_##name, __VA_ARGS__)                                                                                    \
  FUNCTION(PMPI_##name, __VA_ARGS__)

static bool broadcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator, int *result) {
  if (!begin() || root < 0) return false;
  struct vv_served *served = serves(VV_COLL_BROADCAST, bytes_of(count, type), communicator);
  if (!served || (uint32_t)root >= served->ranks) return false;
  const bool sends = served->rank == (uint32_t)root;
  struct vv_area area = area_of(buffer, count, type);
  bool done = vv_area_begin(&area, convert, sends) &&
              vv_served_broadcast(served, area.bytes, area.size_bytes, (uint32_t)root) == 0;
  done = vv_area_end(&area, convert, done && !sends) && done;
  *result = end_with(done, communicator);
  return true;
}

#define BROADCASTS(name, Count)                                                                                        \
  ENTRY(name, void *buffer, word count, word type, word root, word communicator) {                                     \
    int done;                                                                                                          \
    NEXT(name);                                                                                                        \
    if (broadcast(buffer, (Count)count, (MPI_Datatype)type, (int)root, (MPI_Comm)communicator, &done)) return done;    \
    return next(buffer, count, type, root, communicator);                                                              \
  }
BY_BOTH_NAMES(BROADCASTS, Bcast, int)
BY_BOTH_NAMES(BROADCASTS, Bcast_c, MPI_Count)

/* What the program holds of a broadcast that it has begun: a request of the MPI that we carry out. */
struct hold {
  MPI_Request request;
  int error;
  struct vv_begun begun;
};

static int tell_status(void *context, MPI_Status *status) {
  const struct hold *hold = context;
  *status = (MPI_Status){.MPI_SOURCE = MPI_UNDEFINED, .MPI_TAG = MPI_UNDEFINED, .MPI_ERROR = hold->error};
  return hold->error;
}

static int free_hold(void *context) {
  free(context);
  return MPI_SUCCESS;
}

static int cancel_nothing(void *context, int complete) {
  (void)context, (void)complete;
  return MPI_SUCCESS;
}

static int turn(void *context, MPI_Status *status) {
  (void)context, (void)status;
  vv_begun_turn();
  return MPI_SUCCESS;
}

/* It is asked again until all have ended, by a call that has seen to them before: see await. */
static int turn_all(int count, void **contexts, double timeout, MPI_Status *status) {
  (void)count, (void)contexts, (void)timeout;
  progress();
  return turn(NULL, status);
}

static void ended(struct vv_begun *begun, bool done) {
  struct hold *hold = (struct hold *)((char *)begun - offsetof(struct hold, begun));
  MPI_Datatype type = type_of(&begun->area);
  if (begun->area.is_copy) pmpi.Type_free(&type);
  hold->error = done ? MPI_SUCCESS : MPI_ERR_OTHER;
  pmpi.Grequest_complete(hold->request);
}

/* NULL: there is no memory, or no request. */
static struct hold *hold_of(const void *buffer, MPI_Count count, MPI_Datatype type) {
  struct hold *hold = calloc(1, sizeof *hold);
  MPI_Datatype kept = type;
  const struct vv_area area = area_of(buffer, count, type);
  /* The program may free the type before the end. */
  if (hold && area.is_copy && pmpi.Type_dup(type, &kept) != MPI_SUCCESS) free(hold), hold = NULL;
  if (!hold) return NULL;
  hold->begun = (struct vv_begun){.area = area, .convert = convert, .ended = ended};
  hold->begun.area.type = (void *)(intptr_t)kept;
  if (start(tell_status, free_hold, cancel_nothing, turn, turn_all, hold, &hold->request) == MPI_SUCCESS) {
    hold->begun.name = (intptr_t)hold->request;
    return hold;
  }
  if (area.is_copy) pmpi.Type_free(&kept);
  free(hold);
  return NULL;
}

/* False: it is not served. */
static bool begin_broadcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator,
                            MPI_Request *request, int *result) {
  if (!begin() || !start || !request || root < 0) return false;
  const size_t size_bytes = bytes_of(count, type);
  struct vv_served *served = size_bytes > 0 ? served_of(communicator) : NULL;
  if (!served || (uint32_t)root >= served->ranks || !vv_served_can_begin(served, size_bytes)) return false;
  struct hold *hold = hold_of(buffer, count, type);
  if (hold) *request = hold->request;
  const bool begun = hold && vv_served_begin_broadcast(served, &hold->begun, (uint32_t)root);
  if (hold && !begun) ended(&hold->begun, false);
  *result = hold ? MPI_SUCCESS : end_with(false, communicator);
  return true;
}

#define BEGINS(name, Count)                                                                                            \
  ENTRY(name, void *buffer, word count, word type, word root, word communicator, void *request) {                      \
    int done;                                                                                                          \
    NEXT(name);                                                                                                        \
    if (begin_broadcast(buffer, (Count)count, (MPI_Datatype)type, (int)root, (MPI_Comm)communicator, request, &done))  \
      return done;                                                                                                     \
    return next(buffer, count, type, root, communicator, request);                                                     \
  }
BY_BOTH_NAMES(BEGINS, Ibcast, int)
BY_BOTH_NAMES(BEGINS, Ibcast_c, MPI_Count)

/*
 * The MPI tests our requests whenever a program does; where it waits for them it would keep the processor, and its own
 * messages would wait, too.
 */
static void await(const MPI_Request *request) {
  if (request && vv_begun_any()) vv_begun_await((intptr_t)*request, progress);
}

#define WAITS(name)                                                                                                    \
  ENTRY(name, void *request, void *status) {                                                                           \
    NEXT(name);                                                                                                        \
    await(request);                                                                                                    \
    return next(request, status);                                                                                      \
  }
WAITS(MPI_Wait)
WAITS(PMPI_Wait)

#define WAITS_FOR_ALL(name)                                                                                            \
  ENTRY(name, word count, void *requests, void *statuses) {                                                            \
    NEXT(name);                                                                                                        \
    for (int i = 0; requests && i < (int)count && vv_begun_any(); i++) await((const MPI_Request *)requests + i);       \
    return next(count, requests, statuses);                                                                            \
  }
WAITS_FOR_ALL(MPI_Waitall)
WAITS_FOR_ALL(PMPI_Waitall)

/* A look at a request tests nothing. */
#define LOOKS(name)                                                                                                    \
  ENTRY(name, word request, void *flag, void *status) {                                                                \
    NEXT(name);                                                                                                        \
    vv_begun_turn();                                                                                                   \
    return next(request, flag, status);                                                                                \
  }
LOOKS(MPI_Request_get_status)
LOOKS(PMPI_Request_get_status)

/* A barrier is the MPI's, and may wait. */
static void may_wait(MPI_Comm communicator) {
  struct vv_served *served = begin() ? served_of(communicator) : NULL;
  if (served) vv_served_may_wait(served);
}

#define BARRIERS(name)                                                                                                 \
  ENTRY(name, word communicator) {                                                                                     \
    NEXT(name);                                                                                                        \
    may_wait((MPI_Comm)communicator);                                                                                  \
    return next(communicator);                                                                                         \
  }
BARRIERS(MPI_Barrier)
BARRIERS(PMPI_Barrier)

/* What each rank gives is a part of everybody's result: `counts` of them, which begin at `firsts`, or all of `count`.
 */
struct gathering {
  const void *given;
  MPI_Count given_count;
  MPI_Datatype given_type;
  char *result;
  MPI_Count (*count)(const struct gathering *gathering, uint32_t rank);
  MPI_Count (*first)(const struct gathering *gathering, uint32_t rank);
  const void *counts, *firsts;
  MPI_Count each;
  MPI_Datatype type;
  MPI_Comm communicator;
};

static MPI_Count each_count(const struct gathering *gathering, uint32_t rank) {
  (void)rank;
  return gathering->each;
}

static MPI_Count each_first(const struct gathering *gathering, uint32_t rank) {
  return gathering->each * rank;
}

static MPI_Count int_count(const struct gathering *gathering, uint32_t rank) {
  return ((const int *)gathering->counts)[rank];
}

static MPI_Count int_first(const struct gathering *gathering, uint32_t rank) {
  return ((const int *)gathering->firsts)[rank];
}

static MPI_Count wide_count(const struct gathering *gathering, uint32_t rank) {
  return ((const MPI_Count *)gathering->counts)[rank];
}

static MPI_Count wide_first(const struct gathering *gathering, uint32_t rank) {
  return ((const MPI_Aint *)gathering->firsts)[rank];
}

static size_t gathering_bytes(const struct gathering *gathering, uint32_t ranks) {
  MPI_Count all = 0;
  for (uint32_t i = 0; i < ranks; i++) {
    const MPI_Count count = gathering->count(gathering, i);
    if (count < 0 || __builtin_add_overflow(all, count, &all)) return 0;
  }
  return bytes_of(all, gathering->type);
}

static bool gather_parts(struct vv_served *served, const struct gathering *gathering) {
  struct vv_area *parts = calloc(served->ranks, sizeof *parts), from = {0};
  const MPI_Aint extent = extent_of(gathering->type);
  const bool in_place = gathering->given == MPI_IN_PLACE;
  if (!parts) return false;
  for (uint32_t i = 0; i < served->ranks; i++) {
    const char *buffer = gathering->result + extent * gathering->first(gathering, i);
    parts[i] = area_of(buffer, gathering->count(gathering, i), gathering->type);
  }
  if (!in_place && gathering->given_count > 0)
    from = area_of(gathering->given, gathering->given_count, gathering->given_type);
  const int result = vv_gathering(served, convert, in_place ? NULL : &from, parts);
  free(parts);
  return result == 0;
}

/* False: it is not served. */
static bool gather(const struct gathering *gathering, int *result) {
  int ranks, inter;
  if (!begin() || gathering->communicator == MPI_COMM_NULL || gathering->type == MPI_DATATYPE_NULL ||
      pmpi.Comm_test_inter(gathering->communicator, &inter) != MPI_SUCCESS || inter)
    return false;
  pmpi.Comm_size(gathering->communicator, &ranks);
  const size_t size_bytes = gathering_bytes(gathering, (uint32_t)ranks);
  struct vv_served *served = serves(VV_COLL_ALLGATHER, size_bytes, gathering->communicator);
  if (!served || gathering->given == gathering->result) return false;
  *result = end_with(gather_parts(served, gathering), gathering->communicator);
  return true;
}

#define GATHERS(name, Count)                                                                                           \
  ENTRY(name, const void *given, word given_count, word given_type, void *result, word count, word type,               \
        word communicator) {                                                                                           \
    const struct gathering gathering = {                                                                               \
        given,        (Count)given_count, (MPI_Datatype)given_type, result, each_count, each_first, NULL, NULL,        \
        (Count)count, (MPI_Datatype)type, (MPI_Comm)communicator};                                                     \
    int done;                                                                                                          \
    NEXT(name);                                                                                                        \
    if (gather(&gathering, &done)) return done;                                                                        \
    return next(given, given_count, given_type, result, count, type, communicator);                                    \
  }
BY_BOTH_NAMES(GATHERS, Allgather, int)
BY_BOTH_NAMES(GATHERS, Allgather_c, MPI_Count)

#define GATHERS_PARTS(name, Count, kind)                                                                               \
  ENTRY(name, const void *given, word given_count, word given_type, void *result, const void *counts,                  \
        const void *firsts, word type, word communicator) {                                                            \
    const struct gathering gathering = {                                                                               \
        given, (Count)given_count, (MPI_Datatype)given_type, result, kind##_count, kind##_first, counts, firsts,       \
        0,     (MPI_Datatype)type, (MPI_Comm)communicator};                                                            \
    int done;                                                                                                          \
    NEXT(name);                                                                                                        \
    if (gather(&gathering, &done)) return done;                                                                        \
    return next(given, given_count, given_type, result, counts, firsts, type, communicator);                           \
  }
BY_BOTH_NAMES(GATHERS_PARTS, Allgatherv, int, int)
BY_BOTH_NAMES(GATHERS_PARTS, Allgatherv_c, MPI_Count, wide)

static bool reduce_all(const void *given, void *result, MPI_Count count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm communicator, int *done) {
  if (!begin() || given == result || !vv_numbers_fold(type, op, bytes_of_one)) return false;
  struct vv_served *served = serves(VV_COLL_ALLREDUCE, bytes_of(count, type), communicator);
  if (!served) return false;
  const struct vv_coll_call call = {
      VV_COLL_CALL,           .kind = VV_COLL_ALLREDUCE, .given = given == MPI_IN_PLACE ? result : given,
      .result = result,       .count = (size_t)count,    .type = vv_numbers_type(type, bytes_of_one),
      .op = vv_numbers_op(op)};
  *done = end_with(vv_served_call(served, &call, bytes_of(count, type)) == 0, communicator);
  return true;
}

#define REDUCES(name, Count)                                                                                           \
  ENTRY(name, const void *given, void *result, word count, word type, word op, word communicator) {                    \
    int done;                                                                                                          \
    NEXT(name);                                                                                                        \
    if (reduce_all(given, result, (Count)count, (MPI_Datatype)type, (MPI_Op)op, (MPI_Comm)communicator, &done))        \
      return done;                                                                                                     \
    return next(given, result, count, type, op, communicator);                                                         \
  }
BY_BOTH_NAMES(REDUCES, Allreduce, int)
BY_BOTH_NAMES(REDUCES, Allreduce_c, MPI_Count)

/* All ranks are done with each other when all have come here. */
#define FINALIZES(name)                                                                                                \
  ENTRY(name, void) {                                                                                                  \
    NEXT(name);                                                                                                        \
    vv_served_end_all();                                                                                               \
    end_progress();                                                                                                    \
    return next();                                                                                                     \
  }
FINALIZES(MPI_Finalize)
FINALIZES(PMPI_Finalize)
