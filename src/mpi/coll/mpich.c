/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-mpich-group.so, preloaded into every rank of a job of MPICH, or of an MPI of the
 * same ABI, as Intel's: collective operations of unmodified programs go by multicast. It is
 * linked to no MPI: it finds the one of the process, which Python may have loaded for
 * itself alone. All ranks preload it, or none.
 *
 * What is not served goes where it would go without it: to the next tool that stands
 * before the MPI, or to the MPI.
 */
#include <assert.h>
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/coll/served.h"

#define PUBLIC __attribute__((visibility("default")))

/* The MPI */

/* A function of the MPI of this process, behind us. */
static void *behind(const char *name) {
  static const char *const libraries[] = {"libmpi.so.12", "libmpich.so.12", "libmpi.so.40"};
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
  X(Group_free)                                                                                                        \
  X(Group_translate_ranks)                                                                                             \
  X(Irecv)                                                                                                             \
  X(Pack)                                                                                                              \
  X(Query_thread)                                                                                                      \
  X(Request_free)                                                                                                      \
  X(Test)                                                                                                              \
  X(Type_get_envelope)                                                                                                 \
  X(Type_get_extent)                                                                                                   \
  X(Type_size)                                                                                                         \
  X(Unpack)

#define MEMBER(name) __typeof__(PMPI_##name) *name;
static struct { FUNCTIONS(MEMBER) } pmpi;

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

/* False: there is an MPI that lacks something, and nothing is served. */
static bool begin(void) {
  static bool begun, can;
  int level;
  if (begun) return can;
#define FIND(name) pmpi.name = (__typeof__(pmpi.name))behind("PMPI_" #name);
  FUNCTIONS(FIND)
#define HAS(name) &&pmpi.name
  can = true FUNCTIONS(HAS);
  begun = true;
  if (!can) return false;
  pmpi.Query_thread(&level);
  mpi.threads = level == MPI_THREAD_MULTIPLE;
  vv_served_begin(&mpi);
  can = pmpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL) == MPI_SUCCESS;
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
  free(served);
  return NULL;
}

static struct vv_served *served_of(MPI_Comm communicator) {
  struct vv_served *served = NULL;
  int found = 0;
  if (communicator == MPI_COMM_NULL || communicator == MPI_COMM_SELF) return NULL;
  pthread_mutex_lock(&guard);
  if (begin() && pmpi.Comm_get_attr(communicator, keyval, &served, &found) == MPI_SUCCESS && !found)
    served = meet(communicator);
  pthread_mutex_unlock(&guard);
  return served;
}

/* Broadcasts */

/*
 * Whether numbers of that type lie one behind the other, in the order in which they are sent. Of one that a program has
 * made nobody tells: its numbers may lie side by side in another order.
 */
static bool is_one_piece(MPI_Datatype type, size_t type_bytes) {
  MPI_Aint lower, extent;
  int numbers, addresses, types, combiner;
  pmpi.Type_get_envelope(type, &numbers, &addresses, &types, &combiner);
  pmpi.Type_get_extent(type, &lower, &extent);
  return combiner == MPI_COMBINER_NAMED && (size_t)extent == type_bytes;
}

static int broadcast_pieces(struct vv_served *served, void *buffer, int count, MPI_Datatype type, size_t size_bytes,
                            int root) {
  const MPI_Comm communicator = name_of(served->communicator);
  const bool sends = served->rank == (uint32_t)root;
  void *bytes = malloc(size_bytes);
  int at = 0;
  if (!bytes) return MPI_ERR_NO_MEM;
  int result = sends ? pmpi.Pack(buffer, count, type, bytes, (int)size_bytes, &at, communicator) : MPI_SUCCESS;
  if (result == MPI_SUCCESS && vv_served_broadcast(served, bytes, size_bytes, (uint32_t)root) != 0)
    result = MPI_ERR_OTHER;
  if (result == MPI_SUCCESS && !sends)
    result = pmpi.Unpack(bytes, (int)size_bytes, &at, buffer, count, type, communicator);
  free(bytes);
  return result;
}

static int broadcast(struct vv_served *served, void *buffer, int count, MPI_Datatype type, size_t size_bytes,
                     int root) {
  int result = MPI_SUCCESS;
  if (!is_one_piece(type, size_bytes / (size_t)count))
    result = broadcast_pieces(served, buffer, count, type, size_bytes, root);
  else if (vv_served_broadcast(served, buffer, size_bytes, (uint32_t)root) != 0)
    result = MPI_ERR_OTHER;
  if (result != MPI_SUCCESS) pmpi.Comm_call_errhandler(name_of(served->communicator), result);
  return result;
}

/* Whom a call goes to: NULL, it is not served. What is wrong with its arguments its MPI says. */
static struct vv_served *serves(MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator,
                                size_t *size_bytes) {
  int type_bytes;
  if (count <= 0 || type == MPI_DATATYPE_NULL) return NULL;
  struct vv_served *served = served_of(communicator);
  if (!served || served->way == VV_SERVED_BY_MPI || root < 0 || (uint32_t)root >= served->ranks) return NULL;
  if (pmpi.Type_size(type, &type_bytes) != MPI_SUCCESS || type_bytes <= 0) return NULL;
  if (count > (MPI_Count)(VV_SERVED_BYTES_MAX / (size_t)type_bytes)) return NULL;
  *size_bytes = (size_t)type_bytes * (size_t)count;
  return vv_served_can(served, *size_bytes) ? served : NULL;
}

PUBLIC int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
  static __typeof__(MPI_Bcast) *next;
  size_t size_bytes;
  struct vv_served *served = serves(count, type, root, communicator, &size_bytes);
  if (served) return broadcast(served, buffer, count, type, size_bytes, root);
  if (!next) next = (__typeof__(next))behind("MPI_Bcast");
  assert(next); /* the caller was linked with it */
  return next(buffer, count, type, root, communicator);
}

/* More numbers than an int can count are left to the MPI. */
PUBLIC int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm communicator) {
  static __typeof__(MPI_Bcast_c) *next;
  size_t size_bytes;
  struct vv_served *served = serves(count, type, root, communicator, &size_bytes);
  if (served) return broadcast(served, buffer, (int)count, type, size_bytes, root);
  if (!next) next = (__typeof__(next))behind("MPI_Bcast_c");
  assert(next);
  return next(buffer, count, type, root, communicator);
}

/* All ranks are done with each other when all have come here. */
PUBLIC int MPI_Finalize(void) {
  static __typeof__(MPI_Finalize) *next;
  if (!next) next = (__typeof__(next))behind("MPI_Finalize");
  assert(next);
  vv_served_end_all();
  end_progress();
  return next();
}
