/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/mpi.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/os/watch.h"
#include "stack/flows.h"

#define WAY_MAX   640
#define VALUE_MAX 4096 /* of a control variable, as long as libraries make them */

#define LAST_BYTES 8            /* of the tag of a message, which no two in a row share */
#define RELEASE_NS (5 * VV_SEC) /* for a control line to come that was sent before */

enum { TAG_NOBODY, TAG_ADDRESS, TAG_FIRST };

struct vv_end {
  struct vv_watch_stop stop;
  int own_tag;              /* of what comes to this end */
  int peer;                 /* rank */
  int peer_tag;             /* of what goes to the other */
  uint8_t last[LAST_BYTES]; /* how the last message of a broadcast began; all bytes alike before the first */
  size_t last_bytes;        /* its length */
  MPI_Request sending;      /* begun, or broken off by a stop, which is gone on with */
  MPI_Request receiving;    /* begun */
  bool came;                /* what was begun to be received, when a stop broke off what was sent before it */
  bool given_up;            /* `sending` is of an earlier message, which nobody goes on with any more */
};

static char way[WAY_MAX];
static int tags; /* that were given out */

/* a job -------------------------------------------------------------- */

static int ranks(void) {
  int count;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

static int own_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int vv_mpi_begin(bool far, struct vv_error *error) {
  int provided;
  MPI_Init(NULL, NULL);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (ranks() == 1) {
    vv_error_set(error, "mpi-alone", "this rank is alone: what started it is not the launcher of its MPI library");
    return vv_error_remedy(error, "start it by the mpirun or mpiexec of the library that the probe was built with");
  }
  if (far == (own_rank() == 0) || ranks() > VV_MPI_RANKS_MAX) {
    return vv_error_set(error, "mpi-ranks",
                        "rank %d of %d cannot be a %s end: rank 0 is the near one, and there are %d at most",
                        own_rank(), ranks(), far ? "far" : "near", VV_MPI_RANKS_MAX);
  }
  return 0;
}

void vv_mpi_end(int status) {
  /* After a failure the others may never come to MPI_Finalize. */
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_T_finalize();
  MPI_Finalize();
}

void vv_mpi_share_key(uint8_t key[16]) {
  MPI_Bcast(key, 16, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void vv_mpi_tell(const char *text) {
  char copy[VV_STACK_CONTACT_MAX];
  snprintf(copy, sizeof copy, "%s", text);
  MPI_Send(copy, VV_STACK_CONTACT_MAX, MPI_CHAR, 0, TAG_ADDRESS, MPI_COMM_WORLD);
}

size_t vv_mpi_hear(char texts[VV_MPI_RANKS_MAX][VV_STACK_CONTACT_MAX]) {
  int count = ranks();
  for (int rank = 1; rank < count; rank++) {
    MPI_Recv(texts[rank - 1], VV_STACK_CONTACT_MAX, MPI_CHAR, rank, TAG_ADDRESS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    texts[rank - 1][VV_STACK_CONTACT_MAX - 1] = '\0';
  }
  return (size_t)count - 1;
}

/* how the library works ----------------------------------------------- */

union value {
  bool flag;
  int number;
  unsigned natural;
  unsigned long size;
  char text[VALUE_MAX];
};

/* Reads a control variable that is no longer than a value. 0, or -1: there is none. */
static int read_variable(const char *name, union value *value, MPI_Datatype *type) {
  int index, count, length = 0, ignored;
  MPI_T_enum words;
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return -1;
  MPI_T_cvar_get_info(index, NULL, &length, &ignored, type, &words, NULL, &length, &ignored, &ignored);
  if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS) return -1;
  bool fits = *type != MPI_CHAR ? count == 1 : count <= VALUE_MAX;
  int result = fits && MPI_T_cvar_read(handle, value) == MPI_SUCCESS ? 0 : -1;
  MPI_T_cvar_handle_free(&handle);
  return result;
}

/* The value of a control variable as a text. 0, or -1: there is none, or it is of a kind that none of ours has. */
static int format_variable(const char *name, char *text, size_t room) {
  static union value value;
  MPI_Datatype type;
  memset(&value, 0, sizeof value);
  if (read_variable(name, &value, &type) != 0) return -1;
  if (type == MPI_CHAR)
    snprintf(text, room, "%.80s", value.text);
  else if (type == MPI_C_BOOL)
    snprintf(text, room, "%d", value.flag);
  else if (type == MPI_INT)
    snprintf(text, room, "%d", value.number);
  else if (type == MPI_UNSIGNED)
    snprintf(text, room, "%u", value.natural);
  else if (type == MPI_UNSIGNED_LONG)
    snprintf(text, room, "%lu", value.size);
  else
    return -1;
  return 0;
}

int64_t vv_mpi_variable(const char *name) {
  char text[24];
  return format_variable(name, text, sizeof text) == 0 ? strtoll(text, NULL, 10) : -1;
}

/* `way` grows by " name=value". */
static void add_setting(const char *name, const char *value) {
  size_t used = strlen(way);
  snprintf(way + used, sizeof way - used, " %s=%s", name, value);
}

static void describe(const struct vv_mpi_library *library) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING], value[128];
  int length;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = '\0';
  for (char *at = version; *at; at++) {
    if (*at == '\t') *at = ' ';
  }
  snprintf(way, sizeof way, "%.60s:", version);
  for (const char *const *name = library->variables; *name; name++) {
    if (format_variable(*name, value, sizeof value) == 0) add_setting(*name, value);
  }
  for (const char *const *name = library->environment; *name; name++) {
    if (getenv(*name)) add_setting(*name, getenv(*name));
  }
}

const char *vv_mpi_way(const struct vv_end *end) {
  (void)end;
  return way;
}

/* an end -------------------------------------------------------------- */

static int check_library(const struct vv_mpi_library *library, struct vv_error *error) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  if (strncmp(version, library->name, strlen(library->name)) == 0) return 0;
  vv_error_set(error, "mpi-library", "the probe was built for %s and runs with %.60s", library->name, version);
  return vv_error_remedy(error, "see LD_LIBRARY_PATH on every host; only one MPI may be found there");
}

struct vv_end *vv_mpi_open(const struct vv_mpi_library *library, const struct vv_stack_config *config,
                           char contact[VV_STACK_CONTACT_MAX], struct vv_error *error) {
  if (check_library(library, error) != 0) return NULL;
  struct vv_end *end = malloc(sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for an end of %s", library->name);
    return NULL;
  }
  /* A tag of its own keeps the messages of two ends of one process apart. */
  *end = (struct vv_end){.stop = config->stop,
                         .own_tag = TAG_FIRST + tags++,
                         .peer = MPI_PROC_NULL,
                         .sending = MPI_REQUEST_NULL,
                         .receiving = MPI_REQUEST_NULL};
  snprintf(contact, VV_STACK_CONTACT_MAX, "%d/%d", own_rank(), end->own_tag);
  describe(library);
  return end;
}

int vv_mpi_link(struct vv_end *end, const char *contact, vv_ns deadline_ns, struct vv_error *error) {
  int peer, tag, used = 0;
  (void)deadline_ns;
  if (sscanf(contact, "%d/%d%n", &peer, &tag, &used) != 2 || contact[used] || peer < 0 || peer >= ranks() ||
      tag < TAG_FIRST) {
    return vv_error_set(error, "bad-contact", "\"%.60s\" is no rank of this job", contact);
  }
  end->peer = peer;
  end->peer_tag = tag;
  return 0;
}

static enum vv_got failed(int code, const char *what, struct vv_error *error) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  vv_error_set(error, "mpi", "cannot %s: %.120s", what, text);
  return VV_GOT_ERROR;
}

/* Begins to send, unless that is under way. An MPI error code. What was given up has been matched, and ends soon. */
static int start_send(struct vv_end *end, const uint8_t *message, size_t size_bytes) {
  int code = end->given_up ? MPI_Wait(&end->sending, MPI_STATUS_IGNORE) : MPI_SUCCESS;
  end->given_up = false;
  if (code != MPI_SUCCESS) return code;
  if (end->sending != MPI_REQUEST_NULL) return MPI_SUCCESS;
  return MPI_Isend(message, (int)size_bytes, MPI_BYTE, end->peer, end->peer_tag, MPI_COMM_WORLD, &end->sending);
}

/* Begins to receive, unless that is under way. An MPI error code. */
static int start_recv(struct vv_end *end, uint8_t *message, size_t size_bytes) {
  if (end->receiving != MPI_REQUEST_NULL) return MPI_SUCCESS;
  return MPI_Irecv(message, (int)size_bytes, MPI_BYTE, end->peer, end->own_tag, MPI_COMM_WORLD, &end->receiving);
}

/* Until the request is done, or the stop says so. Each test moves whatever else is under way, too. */
static enum vv_got finish(const struct vv_watch_stop *stop, MPI_Request *request, const char *what,
                          struct vv_error *error) {
  for (;;) {
    int done;
    int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return failed(code, what, error);
    if (done) return VV_GOT_MESSAGE;
    if (vv_watch_rang() && stop->ask(stop->context)) return VV_GOT_STOPPED;
  }
}

/* Its buffer may be gone when the wait is given up, so no receive outlives one; one that has matched will end soon. */
static enum vv_got take_back(MPI_Request *request) {
  MPI_Status status;
  int cancelled;
  MPI_Cancel(request);
  MPI_Wait(request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  return cancelled ? VV_GOT_STOPPED : VV_GOT_MESSAGE;
}

enum vv_got vv_mpi_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  int code = start_send(end, message, size_bytes);
  if (code != MPI_SUCCESS) return failed(code, "send", error);
  enum vv_got got = finish(&end->stop, &end->sending, "send", error);
  bool begun = end->receiving != MPI_REQUEST_NULL;
  if (got == VV_GOT_STOPPED && begun) end->came = take_back(&end->receiving) == VV_GOT_MESSAGE;
  return got;
}

enum vv_got vv_mpi_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  end->given_up = end->sending != MPI_REQUEST_NULL;
  if (end->came) {
    end->came = false;
    return VV_GOT_MESSAGE;
  }
  int code = start_recv(end, message, size_bytes);
  if (code != MPI_SUCCESS) return failed(code, "receive", error);
  enum vv_got got = finish(&end->stop, &end->receiving, "receive", error);
  return got == VV_GOT_STOPPED ? take_back(&end->receiving) : got;
}

int vv_mpi_start(struct vv_end *end, const uint8_t *message, uint8_t *answer, size_t size_bytes,
                 struct vv_error *error) {
  int code = start_recv(end, answer, size_bytes);
  if (code == MPI_SUCCESS) code = start_send(end, message, size_bytes);
  return code == MPI_SUCCESS ? 0 : (failed(code, "begin a message", error), -1);
}

enum vv_got vv_mpi_drain(struct vv_end *end, struct vv_error *error) {
  for (;;) {
    int found;
    int code = MPI_Iprobe(MPI_ANY_SOURCE, TAG_NOBODY, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return failed(code, "make progress", error);
    if (end->stop.ask(end->stop.context)) return VV_GOT_STOPPED;
  }
}

/* several at once ------------------------------------------------------ */

/* Receives first, as programs do: what comes then has a place to go to. */
static int start_all(struct vv_flow *flows, size_t count, struct vv_error *error) {
  int code = MPI_SUCCESS;
  for (size_t i = 0; i < count && code == MPI_SUCCESS; i++) {
    if (flows[i].in_bytes > 0) code = start_recv(flows[i].end, flows[i].in, flows[i].size_bytes);
  }
  for (size_t i = 0; i < count && code == MPI_SUCCESS; i++) {
    if (flows[i].out_bytes > 0) code = start_send(flows[i].end, flows[i].out, flows[i].out_bytes);
  }
  return code == MPI_SUCCESS ? 0 : (failed(code, "begin several messages", error), -1);
}

/* A request that is none counts as done. */
static enum vv_got finish_one(struct vv_flow *flow, const struct vv_watch_stop *stop, struct vv_error *error) {
  enum vv_got got = finish(stop, &flow->end->sending, "send", error);
  if (got != VV_GOT_MESSAGE) return got;
  flow->out_bytes = 0;
  got = finish(stop, &flow->end->receiving, "receive", error);
  if (got == VV_GOT_MESSAGE) flow->in_bytes = 0;
  return got;
}

enum vv_got vv_mpi_flow(struct vv_flow *flows, size_t count, const struct vv_watch_stop *stop, struct vv_error *error) {
  enum vv_got got = VV_GOT_MESSAGE;
  if (start_all(flows, count, error) != 0) return VV_GOT_ERROR;
  for (size_t i = 0; i < count && got == VV_GOT_MESSAGE; i++) got = finish_one(&flows[i], stop, error);
  for (size_t i = 0; i < count && got == VV_GOT_STOPPED; i++) {
    if (flows[i].in_bytes > 0 && take_back(&flows[i].end->receiving) == VV_GOT_MESSAGE) flows[i].in_bytes = 0;
  }
  return got;
}

/* broadcasts ---------------------------------------------------------- */

/* Whether this message begins as the one before; it takes its place. */
static bool repeats(struct vv_end *end, const uint8_t *message, size_t size_bytes) {
  size_t compared = size_bytes < LAST_BYTES ? size_bytes : LAST_BYTES;
  bool same = end->last_bytes == size_bytes && memcmp(end->last, message, compared) == 0;
  memcpy(end->last, message, compared);
  end->last_bytes = size_bytes;
  return same;
}

/* MPI only reads what its root sends. */
static int broadcast(const uint8_t *message, size_t size_bytes) {
  return MPI_Bcast((void *)(uintptr_t)message, (int)size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

enum vv_got vv_mpi_bcast(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  int code = broadcast(message, size_bytes);
  if (code != MPI_SUCCESS) return failed(code, "broadcast", error);
  repeats(end, message, size_bytes);
  return VV_GOT_MESSAGE;
}

enum vv_got vv_mpi_join_bcast(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  int code = broadcast(message, size_bytes);
  if (code != MPI_SUCCESS) return failed(code, "take part in a broadcast", error);
  if (!repeats(end, message, size_bytes)) return VV_GOT_MESSAGE;
  vv_ns deadline_ns = vv_clock_ns() + RELEASE_NS;
  while (!end->stop.ask(end->stop.context) && vv_clock_ns() < deadline_ns) continue;
  return VV_GOT_STOPPED;
}

int vv_mpi_release(struct vv_end *end, struct vv_error *error) {
  size_t size_bytes = end->last_bytes, kept = size_bytes < LAST_BYTES ? size_bytes : LAST_BYTES;
  uint8_t *message = calloc(size_bytes + 1, 1);
  if (!message) return vv_error_set(error, "no-memory", "no memory for %zu bytes", size_bytes);
  memcpy(message, end->last, kept);
  int code = broadcast(message, size_bytes);
  free(message);
  return code == MPI_SUCCESS ? 0 : (failed(code, "end the broadcasts", error), -1);
}

void vv_mpi_close(struct vv_end *end) {
  free(end);
}
