/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/coll_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/wire/turn.h"
#include "sim/memory.h"

/* Bytes under way: of a cast, whose number it is, or of a message. */
struct parcel {
  bool cast;
  uint32_t from, to, number;
  size_t bytes;
  uint8_t *data;
};

enum coll_stage { NOT_BEGUN, UNDER_WAY, DONE };

struct rank {
  struct vv_schedule schedule;
  uint8_t *state;           /* enum coll_stage of each step */
  uint32_t *number;         /* of each step: which cast of all, or which message of that pair and direction */
  uint32_t begun, finished; /* steps begun; the leading ones that are done */
  uint64_t exchanged;       /* of its round, a bit for each part: this rank's is on its way, the others' have come */
  uint8_t *areas[3];
  size_t room[3];
  bool aliased;
};

struct coll_world {
  const struct vv_sim_coll_config *config;
  struct vv_rng rng;
  struct rank *ranks;
  struct parcel *parcels;
  uint32_t parcels_count, parcels_room;
  size_t number_bytes;
  struct vv_sim_coll_world_result *result;
  char *wrong;
};

static bool fail(struct coll_world *world, const char *what, uint32_t rank) {
  snprintf(world->wrong, VV_SIM_SEEDS_WRONG_BYTES, "%s at rank %" PRIu32, what, rank);
  return false;
}

static bool is_foreign(const struct coll_world *world, uint32_t rank) {
  return world->config->foreign && rank % 2 == 1;
}

/* Turns numbers to the other byte order, in place. */
static void turn(const struct coll_world *world, uint8_t *data, size_t bytes) {
  bool pair = world->config->type == VV_DATA_COMPLEX_FLOAT || world->config->type == VV_DATA_COMPLEX_DOUBLE;
  size_t part_bytes = pair ? world->number_bytes / 2 : world->number_bytes;
  if (part_bytes > 1) vv_turn(data, data, part_bytes, bytes / part_bytes);
}

static uint8_t *at(const struct rank *rank, struct vv_schedule_place place) {
  return rank->areas[place.area] + place.offset_bytes;
}

static bool fits(const struct rank *rank, struct vv_schedule_place place, size_t bytes) {
  return place.offset_bytes <= rank->room[place.area] && bytes <= rank->room[place.area] - place.offset_bytes;
}

static void post(struct coll_world *world, const struct vv_schedule_step *step, uint32_t from, uint32_t number) {
  if (world->parcels_count == world->parcels_room) {
    world->parcels_room = 2 * world->parcels_room + 16;
    world->parcels = vv_sim_memory_must(realloc(world->parcels, world->parcels_room * sizeof *world->parcels));
  }
  struct parcel *parcel = &world->parcels[world->parcels_count++];
  *parcel = (struct parcel){.cast = step->kind == VV_SCHEDULE_CAST || step->kind == VV_SCHEDULE_ROUND,
                            .from = from,
                            .to = step->peer,
                            .number = number};
  parcel->bytes = step->bytes;
  parcel->data = vv_sim_memory_must(malloc(step->bytes + 1));
  memcpy(parcel->data, at(&world->ranks[from], step->from), step->bytes);
}

/* What a step of that rank waits for from that peer; NULL: not sent yet. */
static const struct parcel *awaited(const struct coll_world *world, uint32_t rank, uint32_t i, uint32_t peer) {
  const struct vv_schedule_step *step = &world->ranks[rank].schedule.steps[i];
  bool cast = step->kind == VV_SCHEDULE_CAST || step->kind == VV_SCHEDULE_ROUND;
  for (uint32_t p = 0; p < world->parcels_count; p++) {
    const struct parcel *parcel = &world->parcels[p];
    if (parcel->cast != cast || parcel->number != world->ranks[rank].number[i] || parcel->from != peer) continue;
    if (cast || parcel->to == rank) return parcel;
  }
  return NULL;
}

static bool is_sent_by(const struct vv_schedule_step *step, uint32_t rank) {
  bool casts = step->kind == VV_SCHEDULE_CAST || step->kind == VV_SCHEDULE_ROUND;
  return step->kind == VV_SCHEDULE_SEND || (casts && step->peer == rank);
}

/* Copies and folds take no time: they are over as they begin. */
static void compute(const struct coll_world *world, struct rank *rank, const struct vv_schedule_step *step,
                    bool foreign) {
  uint8_t *to = at(rank, step->to), *from = at(rank, step->from);
  if (step->kind == VV_SCHEDULE_COPY) {
    memmove(to, from, step->bytes);
    return;
  }
  uint8_t *right = vv_sim_memory_must(malloc(step->bytes + 1));
  memcpy(right, from, step->bytes);
  if (foreign) turn(world, right, step->bytes), turn(world, to, step->bytes);
  vv_fold(world->config->op, world->config->type, to, right, step->bytes / world->number_bytes);
  if (foreign) turn(world, to, step->bytes);
  free(right);
}

static bool may_begin(const struct rank *rank) {
  return rank->begun < rank->schedule.count && rank->schedule.steps[rank->begun].after <= rank->finished;
}

static void settle(struct rank *rank) {
  while (rank->finished < rank->begun && rank->state[rank->finished] == DONE) rank->finished++;
}

/* Where part i of a round goes. */
static struct vv_schedule_place place_of_part(const struct rank *rank, const struct vv_schedule_step *step,
                                              uint32_t i) {
  return (struct vv_schedule_place){step->to.area, step->to.offset_bytes + rank->schedule.parts[i].offset_bytes};
}

/* True when what others give to a round has its place. */
static bool parts_fit(const struct coll_world *world, uint32_t r, const struct vv_schedule_step *step) {
  const struct rank *rank = &world->ranks[r];
  for (uint32_t i = 0; i < world->config->ranks; i++) {
    size_t bytes = rank->schedule.parts[i].bytes;
    if (bytes > world->config->datagram_bytes) return false;
    if (i != r && !fits(rank, place_of_part(rank, step, i), bytes)) return false;
  }
  return step->peer == r && rank->schedule.parts[r].bytes == step->bytes;
}

static bool begin_step(struct coll_world *world, uint32_t r) {
  struct rank *rank = &world->ranks[r];
  uint32_t i = rank->begun++;
  const struct vv_schedule_step *step = &rank->schedule.steps[i];
  if (step->peer >= world->config->ranks) return fail(world, "a step with nobody", r);
  if (is_sent_by(step, r) ? !fits(rank, step->from, step->bytes) : !fits(rank, step->to, step->bytes)) {
    return fail(world, "a step out of bounds", r);
  }
  if (step->kind == VV_SCHEDULE_ROUND && !parts_fit(world, r, step)) return fail(world, "a round out of bounds", r);
  rank->state[i] = UNDER_WAY;
  if (step->kind == VV_SCHEDULE_COPY || step->kind == VV_SCHEDULE_FOLD) {
    if (!fits(rank, step->from, step->bytes)) return fail(world, "a step out of bounds", r);
    compute(world, rank, step, is_foreign(world, r));
    rank->state[i] = DONE;
  }
  settle(rank);
  return true;
}

/* One of the things that a round is made of, if it can be: this rank's part leaves, or another's comes. */
static bool exchange(struct coll_world *world, uint32_t r, uint32_t i, bool *moved) {
  struct rank *rank = &world->ranks[r];
  const struct vv_schedule_step *step = &rank->schedule.steps[i];
  uint32_t ranks = world->config->ranks, first = (uint32_t)(vv_rng_next(&world->rng) % ranks);
  *moved = false;
  for (uint32_t k = 0; k < ranks && !*moved; k++) {
    uint32_t part = (first + k) % ranks;
    const struct parcel *parcel = part == r ? NULL : awaited(world, r, i, part);
    if ((rank->exchanged >> part & 1) != 0 || (part != r && parcel == NULL)) continue;
    if (parcel == NULL) {
      post(world, step, r, rank->number[i]);
    } else {
      uint8_t *to = at(rank, place_of_part(rank, step, part));
      if (parcel->bytes != rank->schedule.parts[part].bytes) return fail(world, "a part of another size", r);
      memcpy(to, parcel->data, parcel->bytes);
      if (is_foreign(world, r) != is_foreign(world, part)) turn(world, to, parcel->bytes);
    }
    rank->exchanged |= UINT64_C(1) << part;
    *moved = true;
  }
  if (rank->exchanged != UINT64_MAX >> (VV_SIM_COLL_ROUND_MAX - ranks)) return true;
  rank->state[i] = DONE;
  settle(rank);
  return true;
}

/* Ends a step that is under way, if it can be. False: what it got is not what it waited for. */
static bool end_step(struct coll_world *world, uint32_t r, uint32_t i, bool *moved) {
  struct rank *rank = &world->ranks[r];
  const struct vv_schedule_step *step = &rank->schedule.steps[i];
  if (step->kind == VV_SCHEDULE_ROUND) return exchange(world, r, i, moved);
  *moved = true;
  if (is_sent_by(step, r)) {
    post(world, step, r, rank->number[i]);
  } else {
    const struct parcel *parcel = awaited(world, r, i, step->peer);
    *moved = parcel != NULL;
    if (parcel == NULL) return true;
    if (parcel->bytes != step->bytes) return fail(world, "a message of another size", r);
    memcpy(at(rank, step->to), parcel->data, step->bytes);
    if (is_foreign(world, r) != is_foreign(world, step->peer)) turn(world, at(rank, step->to), step->bytes);
  }
  rank->state[i] = DONE;
  settle(rank);
  return true;
}

/* One thing that can happen, looked for from a place that is drawn. *moved is false when nothing can. */
static bool happen(struct coll_world *world, bool *moved) {
  uint32_t ranks = world->config->ranks, first = (uint32_t)(vv_rng_next(&world->rng) % ranks);
  *moved = false;
  for (uint32_t k = 0; k < ranks && !*moved; k++) {
    uint32_t r = (first + k) % ranks;
    struct rank *rank = &world->ranks[r];
    bool ready = may_begin(rank);
    uint32_t open = rank->begun - rank->finished;
    if (ready && (open == 0 || vv_rng_next(&world->rng) % 2 == 0)) return *moved = true, begin_step(world, r);
    uint32_t from = open > 0 ? (uint32_t)(vv_rng_next(&world->rng) % open) : 0;
    for (uint32_t j = 0; j < open && !*moved; j++) {
      uint32_t i = rank->finished + (from + j) % open;
      if (rank->state[i] == UNDER_WAY && !end_step(world, r, i, moved)) return false;
    }
    if (ready && !*moved) return *moved = true, begin_step(world, r);
  }
  return true;
}

/* Casts have the same numbers at all ranks; messages are numbered by pair and direction. */
static void number_steps(struct rank *rank, uint32_t ranks) {
  uint32_t casts = 0, *sent = vv_sim_memory_must(calloc(2 * (size_t)ranks, sizeof *sent)), *taken = sent + ranks;
  for (uint32_t i = 0; i < rank->schedule.count; i++) {
    const struct vv_schedule_step *step = &rank->schedule.steps[i];
    if (step->kind == VV_SCHEDULE_CAST || step->kind == VV_SCHEDULE_ROUND) rank->number[i] = casts++;
    if (step->kind == VV_SCHEDULE_SEND) rank->number[i] = sent[step->peer % ranks]++;
    if (step->kind == VV_SCHEDULE_TAKE) rank->number[i] = taken[step->peer % ranks]++;
  }
  free(sent);
}

static void make_schedule(const struct coll_world *world, uint32_t r, struct vv_schedule *schedule) {
  const struct vv_sim_coll_config *config = world->config;
  struct vv_schedule_ranks who = {.ranks = config->ranks,
                                  .rank = r,
                                  .casts = !config->lacking,
                                  .rounds = config->rounds,
                                  .datagram_bytes = config->datagram_bytes,
                                  .small_bytes = config->small_bytes};
  struct vv_schedule_part *parts = vv_sim_memory_must(calloc(config->ranks, sizeof *parts));
  for (uint32_t i = 0; i < config->ranks; i++) {
    struct vv_sim_coll_share share = vv_sim_coll_config_share(config, i);
    parts[i] = (struct vv_schedule_part){share.first * world->number_bytes, share.count * world->number_bytes};
  }
  size_t bytes = config->count * world->number_bytes;
  switch (config->operation) {
  case VV_SIM_COLL_BARRIER:
    vv_schedule_barrier(schedule, &who);
    break;
  case VV_SIM_COLL_BROADCAST:
    vv_schedule_broadcast(schedule, &who, config->root, bytes);
    break;
  case VV_SIM_COLL_ALLGATHER:
    vv_schedule_allgather(schedule, &who, parts);
    break;
  case VV_SIM_COLL_GATHER:
    vv_schedule_gather(schedule, &who, config->root, parts);
    break;
  case VV_SIM_COLL_SCATTER:
    vv_schedule_scatter(schedule, &who, config->root, parts);
    break;
  case VV_SIM_COLL_REDUCE:
    vv_schedule_reduce(schedule, &who, config->root, config->count, world->number_bytes);
    break;
  default:
    vv_schedule_allreduce(schedule, &who, config->count, world->number_bytes);
  }
  free(parts);
}

/* Numbers that a rank has before the operation, in this machine's order: floating-point ones finite, of many
 * magnitudes. */
static void draw_numbers(struct coll_world *world, uint8_t *to, uint32_t count) {
  enum vv_data_type type = world->config->type;
  bool is_float = type == VV_DATA_FLOAT || type == VV_DATA_COMPLEX_FLOAT;
  bool is_double = type == VV_DATA_DOUBLE || type == VV_DATA_COMPLEX_DOUBLE;
  size_t part_bytes = is_float ? sizeof(float) : is_double ? sizeof(double) : world->number_bytes;
  for (size_t i = 0; i < count * world->number_bytes; i += part_bytes) {
    uint64_t drawn = vv_rng_next(&world->rng);
    double real = (double)(int32_t)drawn / (double)(1U << (drawn >> 32) % 31);
    float narrow = (float)real;
    const void *part = is_float ? (const void *)&narrow : is_double ? (const void *)&real : (const void *)&drawn;
    memcpy(to + i, part, part_bytes);
  }
}

/* How many numbers that rank gives, and gets. */
static struct vv_sim_coll_share given_of(const struct coll_world *world, uint32_t r) {
  const struct vv_sim_coll_config *config = world->config;
  struct vv_sim_coll_share last = vv_sim_coll_config_share(config, config->ranks - 1);
  struct vv_sim_coll_share whole = {0, last.first + last.count}, none = {0, 0}, equal = {0, config->count};
  switch (config->operation) {
  case VV_SIM_COLL_BARRIER:
    return none;
  case VV_SIM_COLL_BROADCAST:
    return r == config->root ? equal : none;
  case VV_SIM_COLL_ALLGATHER:
  case VV_SIM_COLL_GATHER:
    return vv_sim_coll_config_share(config, r);
  case VV_SIM_COLL_SCATTER:
    return r == config->root ? whole : none;
  default:
    return equal;
  }
}

static uint32_t got_of(const struct coll_world *world, uint32_t r) {
  const struct vv_sim_coll_config *config = world->config;
  struct vv_sim_coll_share last = vv_sim_coll_config_share(config, config->ranks - 1);
  switch (config->operation) {
  case VV_SIM_COLL_BARRIER:
    return 0;
  case VV_SIM_COLL_GATHER:
    return r == config->root ? last.first + last.count : 0;
  case VV_SIM_COLL_ALLGATHER:
    return last.first + last.count;
  case VV_SIM_COLL_SCATTER:
    return vv_sim_coll_config_share(config, r).count;
  case VV_SIM_COLL_REDUCE:
    return r == config->root ? config->count : 0;
  default:
    return config->count;
  }
}

/* Where in the result, in numbers, lies what a rank gives that shares its bytes with the result; reversed for a
 * scatter. */
static uint32_t overlap_of(const struct coll_world *world, uint32_t r) {
  enum vv_sim_coll_operation operation = world->config->operation;
  bool parted =
      operation == VV_SIM_COLL_ALLGATHER || operation == VV_SIM_COLL_GATHER || operation == VV_SIM_COLL_SCATTER;
  return parted ? vv_sim_coll_config_share(world->config, r).first : 0;
}

enum { UNTOUCHED = 0xa5 };

static uint8_t *memory(size_t bytes) {
  uint8_t *bytes_of = vv_sim_memory_must(malloc(bytes + 1));
  memset(bytes_of, UNTOUCHED, bytes + 1);
  return bytes_of;
}

/* The areas of a rank; `numbers` are what it gives, in this machine's order. */
static void furnish(struct coll_world *world, uint32_t r, const uint8_t *numbers) {
  struct rank *rank = &world->ranks[r];
  size_t given = given_of(world, r).count * world->number_bytes, got = got_of(world, r) * world->number_bytes;
  size_t overlap = overlap_of(world, r) * world->number_bytes;
  rank->aliased = world->config->aliased && given > 0 && got > 0;
  if (!rank->aliased) {
    rank->areas[VV_SCHEDULE_GIVEN] = memory(given);
    rank->areas[VV_SCHEDULE_RESULT] = memory(got);
  } else if (world->config->operation == VV_SIM_COLL_SCATTER) {
    rank->areas[VV_SCHEDULE_GIVEN] = memory(given);
    rank->areas[VV_SCHEDULE_RESULT] = rank->areas[VV_SCHEDULE_GIVEN] + overlap;
  } else {
    rank->areas[VV_SCHEDULE_RESULT] = memory(got);
    rank->areas[VV_SCHEDULE_GIVEN] = rank->areas[VV_SCHEDULE_RESULT] + overlap;
  }
  rank->room[VV_SCHEDULE_GIVEN] = given;
  rank->room[VV_SCHEDULE_RESULT] = got;
  rank->room[VV_SCHEDULE_SCRATCH] = rank->schedule.scratch_bytes;
  rank->areas[VV_SCHEDULE_SCRATCH] = memory(rank->schedule.scratch_bytes);
  memcpy(rank->areas[VV_SCHEDULE_GIVEN], numbers, given);
  if (is_foreign(world, r)) turn(world, rank->areas[VV_SCHEDULE_GIVEN], given);
}

static void enter(struct coll_world *world, uint32_t r, const uint8_t *numbers) {
  struct rank *rank = &world->ranks[r];
  size_t room = VV_SCHEDULE_STEPS_MAX(world->config->ranks);
  rank->schedule.steps = vv_sim_memory_must(calloc(room, sizeof *rank->schedule.steps));
  rank->schedule.parts = vv_sim_memory_must(calloc(world->config->ranks, sizeof *rank->schedule.parts));
  make_schedule(world, r, &rank->schedule);
  rank->state = vv_sim_memory_must(calloc(room, sizeof *rank->state));
  rank->number = vv_sim_memory_must(calloc(room, sizeof *rank->number));
  number_steps(rank, world->config->ranks);
  furnish(world, r, numbers);
}

static void leave(struct rank *rank) {
  uint8_t *given = rank->areas[VV_SCHEDULE_GIVEN], *got = rank->areas[VV_SCHEDULE_RESULT];
  /* Of two areas in one piece of memory the lower one begins it. */
  free(rank->aliased && got < given ? got : given);
  if (!rank->aliased) free(got);
  free(rank->areas[VV_SCHEDULE_SCRATCH]);
  free(rank->schedule.steps);
  free(rank->schedule.parts);
  free(rank->state);
  free(rank->number);
}

/* The result that one processor comes to that has what all give: numbers[i] of rank i. NULL where a rank gets nothing.
 */
static void answer(const struct coll_world *world, uint32_t r, uint8_t *const *numbers, uint8_t *result) {
  const struct vv_sim_coll_config *config = world->config;
  size_t width = world->number_bytes, bytes = config->count * width;
  switch (config->operation) {
  case VV_SIM_COLL_BARRIER:
    return;
  case VV_SIM_COLL_BROADCAST:
    memcpy(result, numbers[config->root], bytes);
    return;
  case VV_SIM_COLL_ALLGATHER:
  case VV_SIM_COLL_GATHER:
    for (uint32_t i = 0; i < config->ranks; i++) {
      struct vv_sim_coll_share share = vv_sim_coll_config_share(config, i);
      memcpy(result + share.first * width, numbers[i], share.count * width);
    }
    return;
  case VV_SIM_COLL_SCATTER: {
    struct vv_sim_coll_share share = vv_sim_coll_config_share(config, r);
    memcpy(result, numbers[config->root] + share.first * width, share.count * width);
    return;
  }
  default:
    memcpy(result, numbers[0], bytes);
    for (uint32_t i = 1; i < config->ranks; i++) vv_fold(config->op, config->type, result, numbers[i], config->count);
  }
}

/* Whether that rank has what it should: gaps between parts, and what it gave, are as they were. */
static bool right(struct coll_world *world, uint32_t r, uint8_t *const *numbers) {
  const struct rank *rank = &world->ranks[r];
  size_t got = rank->room[VV_SCHEDULE_RESULT], given = rank->room[VV_SCHEDULE_GIVEN];
  uint8_t *expected = memory(got > given ? got : given);
  if (got > 0) answer(world, r, numbers, expected);
  bool same = true;
  /* Gaps have no byte order; they are turned with the rest, and back. */
  if (is_foreign(world, r)) turn(world, expected, got);
  same = memcmp(rank->areas[VV_SCHEDULE_RESULT], expected, got) == 0;
  if (!rank->aliased && same) {
    memcpy(expected, numbers[r], given);
    if (is_foreign(world, r)) turn(world, expected, given);
    same = memcmp(rank->areas[VV_SCHEDULE_GIVEN], expected, given) == 0;
  }
  free(expected);
  return same || fail(world, "a wrong result", r);
}

static bool judge(struct coll_world *world, uint8_t *const *numbers) {
  for (uint32_t r = 0; r < world->config->ranks; r++) {
    if (world->ranks[r].finished < world->ranks[r].schedule.count) return fail(world, "waiting for ever", r);
    if (!right(world, r, numbers)) return false;
  }
  for (uint32_t p = 0; p < world->parcels_count; p++) {
    const struct parcel *parcel = &world->parcels[p];
    const struct rank *to = &world->ranks[parcel->to];
    bool asked = parcel->cast;
    for (uint32_t i = 0; i < to->schedule.count && !asked; i++) {
      asked = to->schedule.steps[i].kind == VV_SCHEDULE_TAKE && to->schedule.steps[i].peer == parcel->from &&
              to->number[i] == parcel->number;
    }
    if (!asked) return fail(world, "a message that nobody takes", parcel->to);
  }
  return true;
}

static uint64_t most(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

static void count(const struct coll_world *world) {
  struct vv_sim_coll_world_result *result = world->result;
  for (uint32_t r = 0; r < world->config->ranks; r++) {
    const struct vv_schedule *schedule = &world->ranks[r].schedule;
    uint64_t sent = 0, taken = 0;
    for (uint32_t i = 0; i < schedule->count; i++) {
      const struct vv_schedule_step *step = &schedule->steps[i];
      bool sends = is_sent_by(step, r), local = step->kind == VV_SCHEDULE_COPY || step->kind == VV_SCHEDULE_FOLD;
      bool round = step->kind == VV_SCHEDULE_ROUND;
      result->casts += sends && (round || step->kind == VV_SCHEDULE_CAST);
      for (uint32_t k = 0; round && k < world->config->ranks; k++) taken += k == r ? 0 : schedule->parts[k].bytes;
      result->messages += step->kind == VV_SCHEDULE_SEND;
      if (sends) sent += step->bytes;
      if (!sends && !local) taken += step->bytes;
    }
    result->steps_max = (uint32_t)most(result->steps_max, schedule->count);
    result->sent_bytes_max = most(result->sent_bytes_max, sent);
    result->taken_bytes_max = most(result->taken_bytes_max, taken);
    result->scratch_bytes_max = most(result->scratch_bytes_max, schedule->scratch_bytes);
  }
}

bool vv_sim_coll_world_run(const struct vv_sim_coll_config *config, struct vv_sim_coll_world_result *result,
                           char wrong[VV_SIM_SEEDS_WRONG_BYTES]) {
  *result = (struct vv_sim_coll_world_result){0};
  struct coll_world world = {.config = config, .rng = {config->seed}, .result = result, .wrong = wrong};
  world.number_bytes = vv_data_type_bytes(config->type);
  world.ranks = vv_sim_memory_must(calloc(config->ranks, sizeof *world.ranks));
  uint8_t **numbers = vv_sim_memory_must(calloc(config->ranks, sizeof *numbers));
  for (uint32_t r = 0; r < config->ranks; r++) {
    uint32_t given = given_of(&world, r).count;
    numbers[r] = memory(given * world.number_bytes);
    draw_numbers(&world, numbers[r], given);
    enter(&world, r, numbers[r]);
  }
  bool well = true, moved = true;
  while (well && moved) well = happen(&world, &moved);
  well = well && judge(&world, numbers);
  count(&world);
  for (uint32_t r = 0; r < config->ranks; r++) leave(&world.ranks[r]), free(numbers[r]);
  for (uint32_t p = 0; p < world.parcels_count; p++) free(world.parcels[p].data);
  free(world.parcels);
  free(numbers);
  free(world.ranks);
  return well;
}
