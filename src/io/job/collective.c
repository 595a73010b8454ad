/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/collective.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/turn.h"

struct vv_collective *vv_collective_new(uint32_t ranks) {
  struct vv_collective *collective = calloc(1, sizeof *collective);
  if (collective == NULL) return NULL;
  collective->schedule.steps = calloc(VV_SCHEDULE_STEPS_MAX(ranks), sizeof *collective->schedule.steps);
  collective->schedule.parts = calloc(ranks, sizeof *collective->schedule.parts);
  collective->parts = calloc(ranks, sizeof *collective->parts);
  if (collective->schedule.steps != NULL && collective->schedule.parts != NULL && collective->parts != NULL) {
    return collective;
  }
  vv_collective_free(collective);
  return NULL;
}

bool vv_collective_furnish(struct vv_collective *collective) {
  const struct vv_schedule *schedule = &collective->schedule;
  collective->steps = calloc(schedule->count + 1, sizeof *collective->steps);
  collective->areas[VV_SCHEDULE_SCRATCH] = malloc(schedule->scratch_bytes + 1);
  return collective->steps != NULL && collective->areas[VV_SCHEDULE_SCRATCH] != NULL;
}

void vv_collective_free(struct vv_collective *collective) {
  if (collective == NULL) return;
  free(collective->areas[VV_SCHEDULE_SCRATCH]);
  free(collective->steps);
  free(collective->schedule.steps);
  free(collective->schedule.parts);
  free(collective->parts);
  free(collective);
}

void vv_collective_begin(struct vv_job_stream *stream, struct vv_collective *collective) {
  collective->next = NULL;
  collective->label = vv_job_stream_label(stream, stream->calls++);
  collective->ended = collective->failed = stream->failed;
  if (stream->failed) return;
  struct vv_collective **place = &stream->collectives;
  while (*place != NULL) place = &(*place)->next;
  *place = collective;
  stream->settled = false;
}

static uint8_t *at(const struct vv_collective *collective, struct vv_schedule_place place) {
  uint8_t *area = collective->areas[place.area];
  return area == NULL ? NULL : area + place.offset_bytes;
}

/* True when a step sends what it names and no more; else it takes. */
static bool gives(const struct vv_job_stream *stream, const struct vv_schedule_step *step) {
  return step->kind == VV_SCHEDULE_SEND || (step->kind == VV_SCHEDULE_CAST && step->peer == stream->core.config.rank);
}

static void begin_cast(struct vv_job_stream *stream, vv_ns now_ns, struct vv_collective *collective, uint32_t i) {
  const struct vv_schedule_step *step = &collective->schedule.steps[i];
  const bool root = gives(stream, step);
  collective->steps[i].as.cast =
      (struct vv_job_stream_operation){.what = {.root = step->peer,
                                                .buffer = at(collective, root ? step->from : step->to),
                                                .size_bytes = step->bytes,
                                                .size_known = root || !collective->receives},
                                       .background = true};
  vv_job_stream_begin(stream, now_ns, &collective->steps[i].as.cast);
}

/* Where part i of the round of that step comes to; this rank's own is where the step has it. */
static uint8_t *part_at(const struct vv_collective *collective, const struct vv_schedule_step *step, uint32_t i) {
  const size_t offset_bytes = step->to.offset_bytes + collective->schedule.parts[i].offset_bytes;
  if (i == step->peer) return at(collective, step->from);
  return at(collective, (struct vv_schedule_place){step->to.area, offset_bytes});
}

static void begin_round(struct vv_job_stream *stream, vv_ns now_ns, struct vv_collective *collective, uint32_t i) {
  const struct vv_schedule_step *step = &collective->schedule.steps[i];
  for (uint32_t part = 0; part < stream->core.config.ranks; part++) {
    collective->parts[part] =
        (struct vv_rank_part){part_at(collective, step, part), collective->schedule.parts[part].bytes};
  }
  collective->steps[i].as.cast =
      (struct vv_job_stream_operation){.what = {.parts = collective->parts}, .background = true};
  vv_job_stream_begin(stream, now_ns, &collective->steps[i].as.cast);
}

static void begin_message(struct vv_job_stream *stream, struct vv_lanes *lanes, struct vv_collective *collective,
                          uint32_t i) {
  const struct vv_schedule_step *step = &collective->schedule.steps[i];
  struct vv_lanes_message *message = &collective->steps[i].as.message;
  *message = (struct vv_lanes_message){
      .sends = step->kind == VV_SCHEDULE_SEND,
      .send = {.label = collective->label, .data = at(collective, step->from), .size_bytes = step->bytes},
      .take = {.label = collective->label, .buffer = at(collective, step->to), .room_bytes = step->bytes}};
  vv_lanes_begin(lanes, vv_job_stream_member(stream, step->peer), message);
}

static void compute(const struct vv_collective *collective, const struct vv_schedule_step *step) {
  uint8_t *to = at(collective, step->to);
  const uint8_t *from = at(collective, step->from);
  assert(to != NULL && from != NULL); /* no step is made for no bytes */
  if (step->kind == VV_SCHEDULE_COPY) {
    memmove(to, from, step->bytes);
  } else {
    vv_fold(collective->op, collective->type, to, from, step->bytes / vv_data_type_bytes(collective->type));
  }
}

static void begin_step(struct vv_job_stream *stream, struct vv_lanes *lanes, vv_ns now_ns,
                       struct vv_collective *collective) {
  const uint32_t i = collective->begun++;
  const struct vv_schedule_step *step = &collective->schedule.steps[i];
  switch (step->kind) {
  case VV_SCHEDULE_ROUND:
    return begin_round(stream, now_ns, collective, i);
  case VV_SCHEDULE_CAST:
    return begin_cast(stream, now_ns, collective, i);
  case VV_SCHEDULE_SEND:
  case VV_SCHEDULE_TAKE:
    return begin_message(stream, lanes, collective, i);
  case VV_SCHEDULE_COPY:
  case VV_SCHEDULE_FOLD:
    compute(collective, step);
    collective->steps[i].done = true;
  }
}

void vv_collective_alone(struct vv_collective *collective) {
  for (uint32_t i = 0; i < collective->schedule.count; i++) compute(collective, &collective->schedule.steps[i]);
  collective->ended = true;
}

/* Of a pair each half has its own. */
static size_t part_bytes_of(enum vv_data_type type) {
  const bool pair = type == VV_DATA_COMPLEX_FLOAT || type == VV_DATA_COMPLEX_DOUBLE;
  return pair ? vv_data_type_bytes(type) / 2 : vv_data_type_bytes(type);
}

/* What came is in the byte order of who sent it. */
static void convert(const struct vv_job_stream *stream, const struct vv_collective *collective, uint32_t sender,
                    uint8_t *to, size_t bytes) {
  const size_t part_bytes = part_bytes_of(collective->type);
  const uint32_t member = vv_job_stream_member(stream, sender);
  if (part_bytes <= 1 || stream->orders[member] == vv_data_own_order()) return;
  vv_turn(to, to, part_bytes, bytes / part_bytes);
}

/* The bytes of a step that took some are there. */
static void convert_step(const struct vv_job_stream *stream, const struct vv_collective *collective,
                         const struct vv_schedule_step *step) {
  if (step->kind != VV_SCHEDULE_ROUND) {
    return convert(stream, collective, step->peer, at(collective, step->to), step->bytes);
  }
  for (uint32_t i = 0; i < stream->core.config.ranks; i++) {
    const struct vv_rank_part *part = &collective->parts[i];
    if (i != step->peer) convert(stream, collective, i, part->buffer, part->bytes);
  }
}

static void fail(struct vv_job_stream *stream, vv_ns now_ns, uint32_t rank, enum vv_gpdu_why why) {
  if (!stream->failed) vv_rank_lost(&stream->core, now_ns, rank, why);
}

/* Looks how far a step is that is under way. True: it is done. */
static bool look(struct vv_job_stream *stream, vv_ns now_ns, struct vv_collective *collective, uint32_t i) {
  const struct vv_schedule_step *step = &collective->schedule.steps[i];
  struct vv_collective_step *own = &collective->steps[i];
  if (step->kind == VV_SCHEDULE_CAST || step->kind == VV_SCHEDULE_ROUND) {
    if (!own->as.cast.ended || own->as.cast.failed) return false; /* its group fails, and all that was begun */
    collective->size_bytes = own->as.cast.size_bytes;
  } else {
    const struct vv_lanes_message *message = &own->as.message;
    if (!message->ended) return false;
    if (message->failed) return fail(stream, now_ns, step->peer, VV_GPDU_DIED), false;
    if (!message->sends && message->take.size_bytes != step->bytes) {
      return fail(stream, now_ns, step->peer, VV_GPDU_UNEQUAL_SIZE), false;
    }
  }
  if (!gives(stream, step)) convert_step(stream, collective, step);
  return own->done = true;
}

static void settle(struct vv_job_stream *stream, vv_ns now_ns, struct vv_collective *collective) {
  for (uint32_t i = collective->finished; i < collective->begun; i++) {
    if (!collective->steps[i].done) look(stream, now_ns, collective, i);
  }
  while (collective->finished < collective->begun && collective->steps[collective->finished].done) {
    collective->finished++;
  }
}

/* True: a step was begun. */
static bool advance(struct vv_job_stream *stream, struct vv_lanes *lanes, vv_ns now_ns,
                    struct vv_collective *collective) {
  bool begun = false;
  settle(stream, now_ns, collective);
  while (!stream->failed && collective->begun < collective->schedule.count &&
         collective->schedule.steps[collective->begun].after <= collective->finished) {
    begin_step(stream, lanes, now_ns, collective);
    settle(stream, now_ns, collective);
    begun = true;
  }
  return begun;
}

/*
 * The caller gets its memory back: what still goes from there or comes there is given
 * up, and with it the roads to those ranks.
 */
static void abandon(const struct vv_job_stream *stream, struct vv_lanes *lanes,
                    const struct vv_collective *collective) {
  for (uint32_t i = collective->finished; i < collective->begun; i++) {
    const struct vv_schedule_step *step = &collective->schedule.steps[i];
    if (step->kind != VV_SCHEDULE_SEND && step->kind != VV_SCHEDULE_TAKE) continue;
    if (!collective->steps[i].as.message.ended) vv_lanes_lost(lanes, vv_job_stream_member(stream, step->peer));
  }
}

bool vv_collective_waits_for_messages(const struct vv_collective *collective) {
  for (uint32_t i = collective->finished; i < collective->begun; i++) {
    const enum vv_schedule_kind kind = collective->schedule.steps[i].kind;
    if ((kind == VV_SCHEDULE_SEND || kind == VV_SCHEDULE_TAKE) && !collective->steps[i].done) return true;
  }
  return false;
}

static bool has_to_take(const struct vv_collective *collective, uint32_t rank) {
  for (uint32_t i = collective->begun; i < collective->schedule.count; i++) {
    const struct vv_schedule_step *step = &collective->schedule.steps[i];
    if (step->kind == VV_SCHEDULE_TAKE && step->peer == rank) return true;
  }
  return false;
}

bool vv_collective_awaits(const struct vv_job_stream *stream, uint32_t rank, uint64_t label) {
  const struct vv_collective *one = stream->collectives;
  if (!vv_job_stream_has_called(stream, label)) return true;
  while (one != NULL && one->label != label) one = one->next;
  return one != NULL && has_to_take(one, rank);
}

/* Whether the operation has ended, one way or the other. */
static bool has_ended(const struct vv_job_stream *stream, const struct vv_collective *collective) {
  return stream->failed || collective->finished == collective->schedule.count;
}

bool vv_collective_turn(struct vv_job_stream *stream, struct vv_lanes *lanes, vv_ns now_ns) {
  bool begun = false, settled = true;
  for (struct vv_collective **place = &stream->collectives; *place != NULL && settled;) {
    struct vv_collective *collective = *place;
    begun |= advance(stream, lanes, now_ns, collective);
    settled = stream->failed || collective->begun == collective->schedule.count;
    if (!has_ended(stream, collective)) {
      place = &collective->next;
      continue;
    }
    *place = collective->next;
    lanes->has_untaken = lanes->in_use; /* what came for it and was not taken is for another one */
    if (stream->failed) abandon(stream, lanes, collective);
    collective->failed = stream->failed;
    collective->ended = stream->news = true;
  }
  stream->settled = settled;
  return begun;
}
