/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/siphash.h"
#include "core/wire/bytes.h"
#include "io/os/code.h"

/* A label is an epoch, which of its calls, a number, and a bit that says whether it is a program's own. */
#define CALLS   UINT32_C(0x7fffff)
#define CALL_AT 9

/*
 * A stream that is made again is another one: nothing of the old one is believed in it. The group of all has the
 * session's own key.
 */
static void derive_key(uint32_t epoch, uint8_t key[VV_KEY_BYTES]) {
  uint8_t label[] = {'e', 'p', 'o', 'c', 'h', 0, 0, 0, 0, 0}, derived[VV_KEY_BYTES];
  if (epoch == 0) return;
  vv_put32(label + 5, epoch);
  for (uint8_t half = 0; half < 2; half++) {
    label[sizeof label - 1] = half;
    vv_put64(derived + half * VV_KEY_BYTES / 2, vv_siphash(key, label, sizeof label));
  }
  memcpy(key, derived, VV_KEY_BYTES);
}

struct vv_job_stream *vv_job_stream_new(const struct vv_job_stream_config *config) {
  const size_t bytes = config->core.ranks * sizeof *config->members;
  struct vv_job_stream *stream = calloc(1, sizeof *stream);
  if (!stream) return NULL;
  stream->memory = malloc(vv_rank_bytes(&config->core));
  if (config->members) stream->members = malloc(bytes);
  if (!stream->memory || (config->members && !stream->members)) {
    vv_job_stream_free(stream);
    return NULL;
  }
  if (config->members) memcpy(stream->members, config->members, bytes);
  stream->peers = config->peers;
  stream->orders = config->orders;
  stream->settled = true;
  stream->core.config = config->core;
  return stream;
}

void vv_job_stream_open(struct vv_job_stream *stream, uint32_t number, uint32_t epoch) {
  struct vv_rank_config core = stream->core.config;
  stream->number = number;
  stream->epoch = epoch;
  core.stream += number;
  derive_key(epoch, core.key);
  vv_rank_init(&stream->core, stream->memory, &core);
  explicit_bzero(core.key, sizeof core.key);
}

void vv_job_stream_free(struct vv_job_stream *stream) {
  free(stream->memory);
  free(stream->members);
  explicit_bzero(stream, sizeof *stream); /* the core's keys */
  free(stream);
}

static void start(struct vv_job_stream *stream, vv_ns now_ns) {
  stream->started = stream->first;
  vv_rank_start(&stream->core, now_ns, &stream->first->what);
}

void vv_job_stream_begin(struct vv_job_stream *stream, vv_ns now_ns, struct vv_job_stream_operation *operation) {
  operation->next = NULL;
  operation->ended = operation->failed = stream->failed;
  if (stream->failed) return;
  if (stream->first)
    stream->last->next = operation;
  else
    stream->first = operation;
  stream->last = operation;
  if (stream->first == operation) start(stream, now_ns);
}

bool vv_job_stream_done(struct vv_job_stream *stream, vv_ns now_ns, uint64_t size_bytes) {
  struct vv_job_stream_operation *done = stream->first;
  stream->first = done->next;
  done->size_bytes = size_bytes;
  done->ended = true;
  stream->news |= done->background;
  if (!stream->first) return false;
  start(stream, now_ns);
  return true;
}

void vv_job_stream_end(struct vv_job_stream *stream, const struct vv_group_problem *problem) {
  stream->failed = stream->over = true;
  stream->problem = *problem;
  for (struct vv_job_stream_operation *one = stream->first; one; one = one->next) {
    one->ended = one->failed = true;
    stream->news |= one->background;
  }
  stream->first = NULL;
}

void vv_job_stream_failed(struct vv_job_stream *stream, const struct vv_member_failure *failure) {
  static const struct {
    const char *code, *text;
  } reasons[] = {
      [VV_GPDU_DIED] = {"rank-died", "has ended without leaving the group, or cannot be reached"},
      [VV_GPDU_LEFT] = {"rank-left", "has left the group before the others were done"},
      [VV_GPDU_UNEQUAL_SIZE] = {"sizes-differ", "gave another size than the root; all ranks must give the same"},
      [VV_GPDU_UNEQUAL_ROOT] = {"roots-differ", "named another root; all ranks must name the same"},
      [VV_GPDU_UNEQUAL_CALL] = {"calls-differ", "is in another operation; all ranks must call the same"},
  };
  char where[VV_ADDRESS_TEXT_MAX];
  vv_job_stream_where(stream, failure->rank, where);
  struct vv_group_problem problem = {.kind = (enum vv_group_kind)vv_code_find(reasons[failure->why].code)->kind,
                                     .code = reasons[failure->why].code,
                                     .rank = failure->rank};
  snprintf(problem.text, sizeof problem.text, "rank %u (%s) %s, found at broadcast %u", failure->rank, where,
           reasons[failure->why].text, failure->operation);
  vv_job_stream_end(stream, &problem);
}

void vv_job_stream_redirect(struct vv_job_stream *stream, vv_ns now_ns, struct vv_job_stream_operation *operation,
                            uint8_t *buffer, uint64_t room_bytes) {
  struct vv_rank_operation *what = &operation->what;
  if (operation == stream->started) { /* under way, or done and nothing after it */
    if (!stream->failed) vv_rank_redirect(&stream->core, now_ns, buffer, room_bytes);
  } else if (operation->ended) {
    const uint64_t bytes = operation->size_bytes < room_bytes ? operation->size_bytes : room_bytes;
    if (bytes > 0) memcpy(buffer, what->buffer, bytes);
  }
  what->buffer = buffer;
  if (!what->size_known) what->size_bytes = room_bytes;
}

uint64_t vv_job_stream_label(const struct vv_job_stream *stream, uint32_t call) {
  return (uint64_t)stream->epoch << 32 | (call & CALLS) << CALL_AT | stream->number << 1;
}

bool vv_job_stream_is_labelled(const struct vv_job_stream *stream, uint64_t label) {
  return (label & ~((uint64_t)CALLS << CALL_AT)) == vv_job_stream_label(stream, 0);
}

bool vv_job_stream_has_called(const struct vv_job_stream *stream, uint64_t label) {
  const uint32_t before = (stream->calls - (uint32_t)(label >> CALL_AT)) & CALLS; /* so many calls ago, or ahead */
  return before != 0 && before <= CALLS / 2;
}

uint32_t vv_job_stream_member(const struct vv_job_stream *stream, uint32_t rank) {
  return stream->members ? stream->members[rank] : rank;
}

uint32_t vv_job_stream_rank_of(const struct vv_job_stream *stream, uint32_t member) {
  if (!stream->members) return member;
  for (uint32_t rank = 0; rank < stream->core.config.ranks; rank++) {
    if (stream->members[rank] == member) return rank;
  }
  return UINT32_MAX;
}

void vv_job_stream_where(const struct vv_job_stream *stream, uint32_t rank, char text[VV_ADDRESS_TEXT_MAX]) {
  const struct sockaddr_in *peer = &stream->peers[vv_job_stream_member(stream, rank)];
  const struct vv_address address = {.v4 = *peer, .length = sizeof *peer};
  vv_address_format_host(&address, text);
}
