/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/coll/schedule.h"

#include <assert.h>

/* One list under construction, and whose it is. */
struct build {
  struct vv_schedule *schedule;
  const struct vv_schedule_ranks *who;
};

static struct build begin(struct vv_schedule *schedule, const struct vv_schedule_ranks *who) {
  assert(who->ranks >= 1 && who->rank < who->ranks);
  schedule->count = 0;
  schedule->scratch_bytes = 0;
  return (struct build){schedule, who};
}

static struct vv_schedule_place given(size_t offset_bytes) {
  return (struct vv_schedule_place){VV_SCHEDULE_GIVEN, offset_bytes};
}

static struct vv_schedule_place result(size_t offset_bytes) {
  return (struct vv_schedule_place){VV_SCHEDULE_RESULT, offset_bytes};
}

static struct vv_schedule_place scratch(size_t offset_bytes) {
  return (struct vv_schedule_place){VV_SCHEDULE_SCRATCH, offset_bytes};
}

/* Adds a step that may begin when the first `after` ones are done. */
static void add(const struct build *build, const struct vv_schedule_step *step) {
  struct vv_schedule *schedule = build->schedule;
  assert(schedule->count < VV_SCHEDULE_STEPS_MAX(build->who->ranks) && step->after <= schedule->count);
  schedule->steps[schedule->count++] = *step;
}

static void cast(const struct build *build, uint32_t root, struct vv_schedule_place from, struct vv_schedule_place to,
                 size_t bytes, uint32_t after) {
  add(build, &(struct vv_schedule_step){VV_SCHEDULE_CAST, root, from, to, bytes, after});
}

static void send(const struct build *build, uint32_t peer, struct vv_schedule_place from, size_t bytes,
                 uint32_t after) {
  if (bytes > 0) add(build, &(struct vv_schedule_step){VV_SCHEDULE_SEND, peer, from, from, bytes, after});
}

static void take(const struct build *build, uint32_t peer, struct vv_schedule_place to, size_t bytes, uint32_t after) {
  if (bytes > 0) add(build, &(struct vv_schedule_step){VV_SCHEDULE_TAKE, peer, to, to, bytes, after});
}

static void copy(const struct build *build, struct vv_schedule_place from, struct vv_schedule_place to, size_t bytes,
                 uint32_t after) {
  uint32_t rank = build->who->rank;
  if (bytes > 0) add(build, &(struct vv_schedule_step){VV_SCHEDULE_COPY, rank, from, to, bytes, after});
}

static void fold(const struct build *build, struct vv_schedule_place from, struct vv_schedule_place to, size_t bytes,
                 uint32_t after) {
  uint32_t rank = build->who->rank;
  add(build, &(struct vv_schedule_step){VV_SCHEDULE_FOLD, rank, from, to, bytes, after});
}

/* All steps so far. */
static uint32_t all(const struct build *build) {
  return build->schedule->count;
}

static uint32_t at_distance(const struct build *build, uint32_t distance) {
  return (uint32_t)(((uint64_t)build->who->rank + distance) % build->who->ranks);
}

/* Who has which part of something: as listed, or, without a list, the numbers in slices. */
struct division {
  const struct vv_schedule_part *parts;
  size_t count, number_bytes;
};

/* Slices are of equal lengths, the first ones longer by a number where they do not divide. */
static struct vv_schedule_part part_of(const struct build *build, const struct division *division, uint32_t i) {
  if (division->parts != NULL) return division->parts[i];
  size_t least = division->count / build->who->ranks, longer = division->count % build->who->ranks;
  size_t first = least * i + (i < longer ? i : longer);
  return (struct vv_schedule_part){first * division->number_bytes, (least + (i < longer)) * division->number_bytes};
}

/* Whether all parts can go at once. */
static bool is_round(const struct build *build, const struct division *division) {
  bool fits = build->who->casts && build->who->rounds && build->who->ranks > 1;
  for (uint32_t i = 0; i < build->who->ranks && fits; i++) {
    fits = part_of(build, division, i).bytes <= build->who->datagram_bytes;
  }
  return fits;
}

/* All give their parts, this rank what lies at `from`; those of the others come to their places in that area. */
static void exchange(const struct build *build, const struct division *division, struct vv_schedule_place from,
                     enum vv_schedule_area to) {
  uint32_t rank = build->who->rank;
  for (uint32_t i = 0; i < build->who->ranks; i++) build->schedule->parts[i] = part_of(build, division, i);
  add(build, &(struct vv_schedule_step){VV_SCHEDULE_ROUND, rank, from, {to, 0}, build->schedule->parts[rank].bytes, 0});
}

/* Messages without bytes carry news alone: each rank hears, by way of others, of all. */
static void disseminate(const struct build *build) {
  for (uint32_t distance = 1; distance < build->who->ranks; distance *= 2) {
    uint32_t heard = all(build);
    add(build,
        &(struct vv_schedule_step){VV_SCHEDULE_SEND, at_distance(build, distance), given(0), given(0), 0, heard});
    add(build, &(struct vv_schedule_step){VV_SCHEDULE_TAKE, at_distance(build, build->who->ranks - distance), result(0),
                                          result(0), 0, heard});
  }
}

void vv_schedule_barrier(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks) {
  struct build build = begin(schedule, ranks);
  const struct division nothing = {NULL, 0, 1};
  if (!ranks->casts) return disseminate(&build);
  if (is_round(&build, &nothing)) return exchange(&build, &nothing, given(0), VV_SCHEDULE_RESULT);
  for (uint32_t i = 0; ranks->ranks > 1 && i < ranks->ranks; i++) cast(&build, i, given(0), result(0), 0, 0);
}

/* What lies at `from` of the root, in everybody's result, by messages: each rank passes it on to ever nearer ones. */
static void spread(const struct build *build, uint32_t root, struct vv_schedule_place from, size_t bytes) {
  uint32_t ranks = build->who->ranks, place = at_distance(build, ranks - root), reach = 1;
  while (reach < ranks && !(place & reach)) reach *= 2;
  if (place != 0) take(build, at_distance(build, ranks - reach), result(0), bytes, all(build));
  uint32_t there = all(build);
  for (uint32_t distance = reach / 2; distance > 0; distance /= 2) {
    if (place + distance < ranks)
      send(build, at_distance(build, distance), place == 0 ? from : result(0), bytes, there);
  }
}

void vv_schedule_broadcast(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, uint32_t root,
                           size_t bytes) {
  struct build build = begin(schedule, ranks);
  if (ranks->rank == root) copy(&build, given(0), result(0), bytes, 0);
  if (bytes == 0 || ranks->ranks == 1) return;
  if (ranks->casts) {
    cast(&build, root, given(0), result(0), bytes, 0);
  } else {
    spread(&build, root, given(0), bytes);
  }
}

/* Parts of the result, each known to one rank, become known to all. */
static void share(const struct build *build, const struct division *division) {
  uint32_t ranks = build->who->ranks;
  size_t bytes = 0;
  for (uint32_t i = 0; i < ranks; i++) bytes += part_of(build, division, i).bytes;
  if (bytes > 0 && is_round(build, division)) {
    struct vv_schedule_part own = part_of(build, division, build->who->rank);
    return exchange(build, division, result(own.offset_bytes), VV_SCHEDULE_RESULT);
  }
  if (build->who->casts) {
    for (uint32_t i = 0; ranks > 1 && i < ranks; i++) {
      struct vv_schedule_part part = part_of(build, division, i);
      struct vv_schedule_place place = result(part.offset_bytes);
      if (part.bytes > 0) cast(build, i, place, place, part.bytes, 0);
    }
    return;
  }
  for (uint32_t i = 1; i < ranks; i++) {
    struct vv_schedule_part mine = part_of(build, division, at_distance(build, ranks + 1 - i));
    struct vv_schedule_part next = part_of(build, division, at_distance(build, ranks - i));
    send(build, at_distance(build, 1), result(mine.offset_bytes), mine.bytes, all(build));
    take(build, at_distance(build, ranks - 1), result(next.offset_bytes), next.bytes, 0);
  }
}

void vv_schedule_allgather(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks,
                           const struct vv_schedule_part *parts) {
  struct build build = begin(schedule, ranks);
  const struct vv_schedule_part *own = &parts[ranks->rank];
  copy(&build, given(0), result(own->offset_bytes), own->bytes, 0);
  share(&build, &(struct division){.parts = parts});
}

void vv_schedule_gather(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, uint32_t root,
                        const struct vv_schedule_part *parts) {
  struct build build = begin(schedule, ranks);
  const struct vv_schedule_part *own = &parts[ranks->rank];
  if (ranks->rank != root) return send(&build, root, given(0), own->bytes, 0);
  for (uint32_t i = 0; i < ranks->ranks; i++) {
    if (i != root) take(&build, i, result(parts[i].offset_bytes), parts[i].bytes, 0);
  }
  copy(&build, given(0), result(own->offset_bytes), own->bytes, 0);
}

/* From the first byte of all parts to the last. */
static struct vv_schedule_part span_of(const struct vv_schedule_part *parts, uint32_t count) {
  size_t first = SIZE_MAX, end = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (parts[i].bytes == 0) continue;
    if (parts[i].offset_bytes < first) first = parts[i].offset_bytes;
    if (parts[i].offset_bytes + parts[i].bytes > end) end = parts[i].offset_bytes + parts[i].bytes;
  }
  return end == 0 ? (struct vv_schedule_part){0, 0} : (struct vv_schedule_part){first, end - first};
}

void vv_schedule_scatter(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, uint32_t root,
                         const struct vv_schedule_part *parts) {
  struct build build = begin(schedule, ranks);
  const struct vv_schedule_part *own = &parts[ranks->rank];
  struct vv_schedule_part span = span_of(parts, ranks->ranks);
  bool is_root = ranks->rank == root;
  if (ranks->casts && span.bytes > 0 && span.bytes <= ranks->datagram_bytes && ranks->ranks > 1) {
    cast(&build, root, given(span.offset_bytes), scratch(0), span.bytes, 0);
    schedule->scratch_bytes = is_root ? 0 : span.bytes;
    if (!is_root) copy(&build, scratch(own->offset_bytes - span.offset_bytes), result(0), own->bytes, 1);
  } else if (!is_root) {
    take(&build, root, result(0), own->bytes, 0);
  } else {
    for (uint32_t i = 1; i < ranks->ranks; i++) {
      uint32_t peer = at_distance(&build, i);
      send(&build, peer, given(parts[peer].offset_bytes), parts[peer].bytes, 0);
    }
  }
  if (is_root) copy(&build, given(own->offset_bytes), result(0), own->bytes, 0);
}

/* What brought the slots of a fold: the first steps of the list, for each other rank one, for each rank, or one. */
enum bringing { BY_OTHERS, BY_ALL, AT_ONCE };

/*
 * Folds what rank i gave into slot i of scratch, in the order of the ranks, into
 * slot 0; what this rank gives is at `own`.
 */
static void fold_slots(const struct build *build, struct vv_schedule_place own, size_t bytes, enum bringing how) {
  uint32_t rank = build->who->rank, came = how == AT_ONCE;
  for (uint32_t i = 0; i < build->who->ranks; i++) {
    came += how == BY_ALL || (how == BY_OTHERS && i != rank);
    struct vv_schedule_place from = i == rank ? own : scratch(i * bytes);
    if (i > 0) {
      fold(build, from, scratch(0), bytes, came);
    } else if (rank == 0) {
      copy(build, own, scratch(0), bytes, 0);
    }
  }
}

static bool is_small(const struct vv_schedule_ranks *ranks, size_t bytes) {
  return bytes <= ranks->small_bytes / ranks->ranks;
}

/* All numbers at the root: into its scratch, and folded. */
static void reduce_whole(const struct build *build, uint32_t root, size_t bytes) {
  const struct vv_schedule_ranks *who = build->who;
  if (who->rank != root) return send(build, root, given(0), bytes, 0);
  for (uint32_t i = 0; i < who->ranks; i++) {
    if (i != root) take(build, i, scratch(i * bytes), bytes, 0);
  }
  fold_slots(build, given(0), bytes, BY_OTHERS);
  copy(build, scratch(0), result(0), bytes, 0);
  build->schedule->scratch_bytes = who->ranks * bytes;
}

/* Every rank gets its slice of what each other gives, and folds it into slot 0 of its scratch. */
static void reduce_slices(const struct build *build, const struct division *slices) {
  const struct vv_schedule_ranks *who = build->who;
  struct vv_schedule_part own = part_of(build, slices, who->rank);
  for (uint32_t i = 0; i < who->ranks; i++) {
    if (i != who->rank) take(build, i, scratch(i * own.bytes), own.bytes, 0);
  }
  for (uint32_t i = 1; i < who->ranks; i++) {
    uint32_t peer = at_distance(build, i);
    struct vv_schedule_part its = part_of(build, slices, peer);
    send(build, peer, given(its.offset_bytes), its.bytes, 0);
  }
  if (own.bytes > 0) fold_slots(build, given(own.offset_bytes), own.bytes, BY_OTHERS);
  build->schedule->scratch_bytes = who->ranks * own.bytes;
}

void vv_schedule_reduce(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, uint32_t root,
                        size_t count, size_t number_bytes) {
  struct build build = begin(schedule, ranks);
  if (count == 0) return;
  if (is_small(ranks, count * number_bytes)) return reduce_whole(&build, root, count * number_bytes);
  struct division slices = {NULL, count, number_bytes};
  struct vv_schedule_part own = part_of(&build, &slices, ranks->rank);
  reduce_slices(&build, &slices);
  if (ranks->rank != root) return send(&build, root, scratch(0), own.bytes, 0);
  for (uint32_t i = 0; i < ranks->ranks; i++) {
    struct vv_schedule_part its = part_of(&build, &slices, i);
    if (i != root) take(&build, i, result(its.offset_bytes), its.bytes, 0);
  }
  copy(&build, scratch(0), result(own.offset_bytes), own.bytes, 0);
}

/* Everybody casts its numbers, and folds those of all. */
static void allreduce_by_casts(const struct build *build, size_t bytes) {
  uint32_t ranks = build->who->ranks;
  const struct division slots = {NULL, ranks, bytes};
  bool round = is_round(build, &slots);
  if (round) exchange(build, &slots, given(0), VV_SCHEDULE_SCRATCH);
  for (uint32_t i = 0; i < ranks && !round; i++) cast(build, i, given(0), scratch(i * bytes), bytes, 0);
  fold_slots(build, given(0), bytes, round ? AT_ONCE : BY_ALL);
  copy(build, scratch(0), result(0), bytes, 0); /* all casts are over: the result may lie over what was given */
  build->schedule->scratch_bytes = ranks * bytes;
}

void vv_schedule_allreduce(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, size_t count,
                           size_t number_bytes) {
  struct build build = begin(schedule, ranks);
  size_t bytes = count * number_bytes;
  if (ranks->ranks == 1) return copy(&build, given(0), result(0), bytes, 0);
  if (count == 0) return;
  if (is_small(ranks, bytes)) {
    if (ranks->casts) return allreduce_by_casts(&build, bytes);
    reduce_whole(&build, 0, bytes);
    return spread(&build, 0, result(0), bytes);
  }
  struct division slices = {NULL, count, number_bytes};
  struct vv_schedule_part own = part_of(&build, &slices, ranks->rank);
  reduce_slices(&build, &slices);
  copy(&build, scratch(0), result(own.offset_bytes), own.bytes, 0);
  share(&build, &slices);
}
