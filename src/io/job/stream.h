/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group at one of its ranks, as a stream of its job (io/job/job.h): its core
 * (core/group/rank.h), who its members are, and the operations that were begun,
 * which the core carries out one behind the other.
 */
#ifndef VV_IO_JOB_STREAM_H
#define VV_IO_JOB_STREAM_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/group/rank.h"
#include "io/os/address.h"
#include "vaiven/group.h"

/* Whoever begins one keeps it where it is until it has ended. */
struct vv_job_stream_operation {
  struct vv_rank_operation what;
  struct vv_job_stream_operation *next; /* begun after it */
  uint64_t size_bytes;                  /* of the message, when it is done */
  bool background;                      /* it goes on while the application is elsewhere */
  bool ended;                           /* done, or failed with the group */
  bool failed;
};

struct vv_collective; /* io/job/collective.h */

struct vv_job_stream {
  struct vv_rank core;
  void *memory; /* of the core */
  struct vv_job_stream *next;
  uint32_t number, epoch;                       /* in the job */
  uint32_t *members;                            /* ranks of the job, by rank of the group; NULL: they are the same */
  const struct sockaddr_in *peers;              /* by rank of the job */
  const uint8_t *orders;                        /* likewise: enum vv_data_order */
  struct vv_collective *collectives;            /* begun and not ended, the first first */
  uint32_t calls;                               /* operations that programs have begun: the same at all ranks */
  bool settled;                                 /* all steps of these have begun: what is begun now comes behind them */
  struct vv_job_stream_operation *first, *last; /* begun and not ended: the first is under way */
  struct vv_job_stream_operation *started;      /* the last that the core was given; NULL: none */
  bool failed;
  struct vv_group_problem problem; /* why */
  bool over;                       /* it has failed, or nobody needs this rank in it any more */
  bool news;                       /* an operation in the background has ended */
  bool leaving;                    /* it was left here */
  bool parting, ended;             /* rank 0 was told; and says that nobody needs it */
};

/* What all ranks of the job agreed on, and what one group is. */
struct vv_job_stream_config {
  struct vv_rank_config core;
  const uint32_t *members; /* or NULL */
  const struct sockaddr_in *peers;
  const uint8_t *orders;
};

/* A stream with memory for such a core, members and config copied; NULL: there is no memory. */
struct vv_job_stream *vv_job_stream_new(const struct vv_job_stream_config *config);

/* It begins, now that its number and epoch, and so its keys, are known. */
void vv_job_stream_open(struct vv_job_stream *stream, uint32_t number, uint32_t epoch);

void vv_job_stream_free(struct vv_job_stream *stream);

/* Behind what was begun before; fails at once where the group has. */
void vv_job_stream_begin(struct vv_job_stream *stream, vv_ns now_ns, struct vv_job_stream_operation *operation);

/* The core says that the first operation is done. True: the next one was started. */
bool vv_job_stream_done(struct vv_job_stream *stream, vv_ns now_ns, uint64_t size_bytes);

/* The core says that the group has failed: so have all operations. */
void vv_job_stream_failed(struct vv_job_stream *stream, const struct vv_member_failure *failure);

/* The group is no more, whatever its core says, for that reason. */
void vv_job_stream_end(struct vv_job_stream *stream, const struct vv_group_problem *problem);

/* The message of that operation goes to another buffer, and what has come of it, too: see vv_group_move. */
void vv_job_stream_redirect(struct vv_job_stream *stream, vv_ns now_ns, struct vv_job_stream_operation *operation,
                            uint8_t *buffer, uint64_t room_bytes);

/*
 * Of its messages on the roads of the job: another one for each group there was, and even. `call`: which of its
 * operations they are of, from 0; 0 for a program's own.
 */
uint64_t vv_job_stream_label(const struct vv_job_stream *stream, uint32_t call);

/* Whether that is a label of one of its operations. */
bool vv_job_stream_is_labelled(const struct vv_job_stream *stream, uint64_t label);

/* Whether the call of that label was made here, too. */
bool vv_job_stream_has_called(const struct vv_job_stream *stream, uint64_t label);

/* The rank of the job that is that rank of the group; and back: UINT32_MAX for one that is in it not. */
uint32_t vv_job_stream_member(const struct vv_job_stream *stream, uint32_t rank);
uint32_t vv_job_stream_rank_of(const struct vv_job_stream *stream, uint32_t member);

/* "10.1.0.3" of that rank of the group. */
void vv_job_stream_where(const struct vv_job_stream *stream, uint32_t rank, char text[VV_ADDRESS_TEXT_MAX]);

#endif
