/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/accord.h"

enum { WHAT_SHIFT = 28, STATE_SHIFT = 24, STATE_MASK = 0xf, STREAM_MASK = 0xffffff, HALF_BITS = 32 };

static uint32_t state_of(const struct vv_accord *accord) {
  if (accord->what == VV_ACCORD_MAKE) return accord->part;
  return accord->what == VV_ACCORD_REFUSED ? (uint32_t)accord->why : 0;
}

static bool has_list(enum vv_accord_what what) {
  return what <= VV_ACCORD_REFUSED;
}

void vv_accord_emit(const struct vv_accord *accord, uint32_t numbers[VV_LETTER_NUMBERS]) {
  numbers[0] = (uint32_t)accord->what << WHAT_SHIFT | state_of(accord) << STATE_SHIFT | accord->stream;
  numbers[1] = has_list(accord->what) ? accord->list : accord->epoch;
  numbers[2] = numbers[3] = 0;
  if (accord->what == VV_ACCORD_MADE) numbers[2] = accord->epoch;
  if (accord->what == VV_ACCORD_REFUSED) numbers[2] = accord->rank;
  if (accord->what != VV_ACCORD_MAKE) return;
  numbers[2] = (uint32_t)accord->members;
  numbers[3] = (uint32_t)(accord->members >> HALF_BITS);
}

static struct vv_accord read_fields(const uint32_t numbers[VV_LETTER_NUMBERS]) {
  const uint32_t state = numbers[0] >> STATE_SHIFT & STATE_MASK;
  struct vv_accord accord = {.what = (enum vv_accord_what)(numbers[0] >> WHAT_SHIFT),
                             .stream = numbers[0] & STREAM_MASK};
  if (has_list(accord.what))
    accord.list = numbers[1];
  else
    accord.epoch = numbers[1];
  if (accord.what == VV_ACCORD_MADE) accord.epoch = numbers[2];
  if (accord.what == VV_ACCORD_REFUSED) {
    accord.why = (enum vv_accord_why)state;
    accord.rank = numbers[2];
  }
  if (accord.what == VV_ACCORD_MAKE) {
    accord.part = state;
    accord.members = (uint64_t)numbers[3] << HALF_BITS | numbers[2];
  }
  return accord;
}

static bool is_said_by(enum vv_accord_what what, bool first) {
  switch (what) {
  case VV_ACCORD_MAKE:
  case VV_ACCORD_DECLINE:
  case VV_ACCORD_GIVE_UP:
  case VV_ACCORD_BYE:
    return !first;
  case VV_ACCORD_MADE:
  case VV_ACCORD_REFUSED:
  case VV_ACCORD_ENDED:
    return first;
  }
  return false;
}

/* No member is a rank that the job has not got. */
static bool are_members(const struct vv_accord *accord, uint32_t ranks) {
  if (accord->part >= VV_ACCORD_PARTS(ranks)) return false;
  const uint32_t left = ranks - accord->part * VV_ACCORD_PART;
  return left >= VV_ACCORD_PART || accord->members >> left == 0;
}

static bool is_bounded(const struct vv_accord *accord, uint32_t ranks) {
  switch (accord->what) {
  case VV_ACCORD_MAKE:
    return accord->stream == 0 && are_members(accord, ranks);
  case VV_ACCORD_DECLINE:
  case VV_ACCORD_GIVE_UP:
    return accord->stream == 0;
  case VV_ACCORD_REFUSED:
    return accord->stream == 0 && accord->rank < ranks && accord->why >= VV_ACCORD_DIED &&
           accord->why <= VV_ACCORD_FULL;
  case VV_ACCORD_MADE: /* the group of all is made by the meeting */
    return accord->stream > 0 && accord->stream < VV_ACCORD_STREAMS;
  case VV_ACCORD_BYE:
  case VV_ACCORD_ENDED:
    return accord->stream < VV_ACCORD_STREAMS;
  }
  return false;
}

bool vv_accord_parse(const uint32_t numbers[VV_LETTER_NUMBERS], uint32_t ranks, bool by_first,
                     struct vv_accord *accord) {
  uint32_t again[VV_LETTER_NUMBERS];
  const struct vv_accord found = read_fields(numbers);
  if (!is_said_by(found.what, by_first) || !is_bounded(&found, ranks)) return false;
  vv_accord_emit(&found, again);
  for (int i = 0; i < VV_LETTER_NUMBERS; i++) {
    if (again[i] != numbers[i]) return false; /* what has no meaning is 0 */
  }
  *accord = found;
  return true;
}
