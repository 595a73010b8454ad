/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI as a way for messages to travel: what the stacks of every MPI library have
 * in common. openmpi.c and mpich.c are the tables; each is a program of its own,
 * because a process can hold only one MPI.
 *
 * MPI starts its processes itself and ends all of them when one fails. So a
 * launch is one job: rank 0 is the near end, the other ranks are far ends, and
 * who they are and where they listen travels by MPI (main_mpi.c of the probe).
 * A message is MPI_Isend and MPI_Irecv of MPI_BYTE, tested until they are done:
 * what MPI_Send and MPI_Recv do, except that a wait can be given up.
 */
#ifndef VV_STACK_MPI_H
#define VV_STACK_MPI_H

#include "core/base/time.h"
#include "stack/stack.h"

#define VV_MPI_RANKS_MAX 64

/* What a library is called in words, and what of its settings is worth recording: names, NULL at the end. */
struct vv_mpi_library {
  const char *name;             /* the first words of MPI_Get_library_version() */
  const char *const *variables; /* control variables (MPI_T) */
  const char *const *environment;
};

/*
 * Starts MPI. 0, or -1 and *error: "mpi-alone" (the launcher that started this
 * process belongs to another library), "mpi-ranks" (near is not rank 0, or too
 * many ranks). A library that cannot start ends the process with words of its own.
 */
int vv_mpi_begin(bool far, struct vv_error *error);
/* Ends MPI. After a failure the other ranks are ended too, and this process with that status. */
void vv_mpi_end(int status);

/* Rank 0 gives its key to all. */
void vv_mpi_share_key(uint8_t key[16]);
/*
 * Far: tells rank 0 a text, at most VV_STACK_CONTACT_MAX with its end. Near: hears that
 * of every other rank, in their order, and returns how many there are.
 */
void vv_mpi_tell(const char *text);
size_t vv_mpi_hear(char texts[VV_MPI_RANKS_MAX][VV_STACK_CONTACT_MAX]);

/* An integer control variable of the library, or -1 if it has none of that name. */
int64_t vv_mpi_variable(const char *name);

/*
 * The members of a table. `library` says what vv_mpi_way() tells of its settings. A send that a stop broke off is gone
 * on with by one of the same message; another message is sent behind it, for what MPI has begun it cannot take back.
 */
struct vv_end *vv_mpi_open(const struct vv_mpi_library *library, const struct vv_stack_config *config,
                           char contact[VV_STACK_CONTACT_MAX], struct vv_error *error);
int vv_mpi_link(struct vv_end *end, const char *contact, vv_ns deadline_ns, struct vv_error *error);
enum vv_got vv_mpi_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error);
enum vv_got vv_mpi_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error);
/* MPI_Irecv of the answer, then MPI_Isend of the message; send and recv test them until they are done. */
int vv_mpi_start(struct vv_end *end, const uint8_t *message, uint8_t *answer, size_t size_bytes,
                 struct vv_error *error);
/* MPI_Irecv and MPI_Isend of all, then a test until each is done: every test moves all of them. */
enum vv_got vv_mpi_flow(struct vv_flow *flows, size_t count, const struct vv_watch_stop *stop, struct vv_error *error);
/*
 * A send that is done may still have its last bytes in the library, which moves
 * them only while it is called: this calls it until stop says so.
 */
enum vv_got vv_mpi_drain(struct vv_end *end, struct vv_error *error);
const char *vv_mpi_way(const struct vv_end *end);
void vv_mpi_close(struct vv_end *end);

/*
 * Of stacks whose message for many is one MPI_Bcast. The near end of any far end
 * stands for all. A message that begins as the one before it does is none: it
 * releases the far ends.
 */
enum vv_got vv_mpi_bcast(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error);
enum vv_got vv_mpi_join_bcast(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error);
int vv_mpi_release(struct vv_end *end, struct vv_error *error);

/* What the tables of both libraries have in common: of point-to-point messages, and of broadcasts. */
#define VV_MPI_ANY                                                                                                     \
  .size_bytes_max = (size_t)64 << 20, .joined = true, .ranked = true, .spins = true, .accept = vv_mpi_link,            \
  .connect = vv_mpi_link, .way = vv_mpi_way, .close = vv_mpi_close
#define VV_MPI_POINT_TO_POINT                                                                                          \
  VV_MPI_ANY, .send = vv_mpi_send, .recv = vv_mpi_recv, .start = vv_mpi_start, .flow = vv_mpi_flow,                    \
              .drain = vv_mpi_drain
#define VV_MPI_BROADCAST                                                                                               \
  VV_MPI_ANY, .size_bytes_min = 1, .to_all = true, .send = vv_mpi_bcast, .recv = vv_mpi_join_bcast,                    \
              .release = vv_mpi_release

#endif
