/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-mpich-ends.so, preloaded into every rank of an MPICH job, probe and programs of others alike.
 *
 * MPICH before 4.2 over UCX can wait for ever in MPI_Finalize: a rank that has closed its connections waits for the
 * others at the launcher, in a plain read() of its pipe (PMI_FD), and no longer answers those that are still closing
 * theirs. Here it goes on answering until the launcher has something to say.
 *
 * And MPICH has no setting that lets a rank that waits give up its processor. Where VAIVEN_YIELD_WHEN_IDLE is set it
 * does so where both of MPICH's devices, UCX and OFI, ask for news and hear of none: in epoll_wait() without a time.
 *
 * In a process that is no rank, or whose MPI does neither, each of these functions is the one that it stands before.
 * What is remembered is each thread's own: the thread that closes its connections is the one that waits afterwards,
 * and a worker of UCX that belongs to another thread is never touched.
 */
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define TURN_MS 1 /* between two answers to the others, unless the launcher speaks */
#define OWN     static _Thread_local __attribute__((tls_model("initial-exec")))
#define PUBLIC  __attribute__((visibility("default")))
#define CALLER  __builtin_return_address(0)

typedef void *close_connection(void *connection);
typedef unsigned move_messages(void *worker);
typedef void end_worker(void *worker);
typedef ssize_t read_bytes(int fd, void *to, size_t size_bytes);
typedef int wait_for_news(int epoll, struct epoll_event *events, int count_max, int timeout_ms);

/* Of UCX. */
PUBLIC close_connection ucp_disconnect_nb;
PUBLIC move_messages ucp_worker_progress;
PUBLIC end_worker ucp_worker_destroy;

OWN void *worker; /* the last that this thread has moved, NULL: none that lives */
OWN bool closing; /* it has begun to close its connections */

/*
 * The function of that name that `caller` would have reached without us. A library of MPI that Python has loaded for
 * itself alone is not among those that come next, and so is asked for its own.
 */
static void *behind(const char *name, const void *caller) {
  void *found = dlsym(RTLD_NEXT, name);
  Dl_info library;
  if (!found && dladdr(caller, &library) != 0) {
    void *handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) found = dlsym(handle, name);
  }
  assert(found); /* the caller was linked with it */
  return found;
}

void *ucp_disconnect_nb(void *connection) {
  static close_connection *next;
  if (!next) next = (close_connection *)behind("ucp_disconnect_nb", CALLER);
  closing = true;
  return next(connection);
}

static move_messages *move;

unsigned ucp_worker_progress(void *of) {
  if (!move) move = (move_messages *)behind("ucp_worker_progress", CALLER);
  worker = of;
  return move(of);
}

void ucp_worker_destroy(void *of) {
  static end_worker *next;
  if (!next) next = (end_worker *)behind("ucp_worker_destroy", CALLER);
  worker = NULL;
  closing = false;
  next(of);
}

/* Whether the launcher listens and speaks there. */
static bool is_launcher(int fd) {
  const char *text = getenv("PMI_FD");
  return text && atoi(text) == fd;
}

PUBLIC ssize_t read(int fd, void *to, size_t size_bytes) {
  static read_bytes *next;
  if (!next) next = (read_bytes *)behind("read", CALLER);
  if (closing && worker && is_launcher(fd)) {
    struct pollfd heard = {.fd = fd, .events = POLLIN};
    for (int count = 0; count == 0 || (count < 0 && errno == EINTR); count = poll(&heard, 1, TURN_MS)) move(worker);
  }
  return next(fd, to, size_bytes);
}

PUBLIC int epoll_wait(int epoll, struct epoll_event *events, int count_max, int timeout_ms) {
  static wait_for_news *next;
  static bool yields;
  if (!next) {
    yields = getenv("VAIVEN_YIELD_WHEN_IDLE") != NULL;
    next = (wait_for_news *)behind("epoll_wait", CALLER);
  }
  int count = next(epoll, events, count_max, timeout_ms);
  if (count == 0 && timeout_ms == 0 && yields) sched_yield();
  return count;
}
