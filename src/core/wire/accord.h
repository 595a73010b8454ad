/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of accord: what the ranks of a job and its rank 0 write each other about
 * the groups of the job (io/job/referee.h). A word is the four numbers of a note
 * (core/wire/letter.h), of which the first says
 *
 *   what (4 bits) | state (4) | stream (24)
 *
 *   MAKE     to rank 0: a part of the members of a group that is to be; state: which | list, ranks 64 * state ..
 *            64 * state + 31, the next 32: the lowest bit is the first of them
 *   DECLINE  to rank 0, before a MAKE: this rank has no room for that group | list
 *   GIVE_UP  to rank 0: this rank has waited long enough for the others of that list | list
 *   MADE     from rank 0: all members have come; the group is that stream | list, epoch
 *   REFUSED  from rank 0: it comes to nothing; state: why | list, rank
 *   BYE      to rank 0: this rank needs nobody in that stream any more | epoch
 *   ENDED    from rank 0: nor does anybody else, and the number is free | epoch
 *
 * `list` is a hash of the members in their order, by which unequal lists differ. No
 * two groups of a job have the same epoch: a stream that is made again is another
 * one, whose keys are made of it, so that what comes late of the old one is not
 * believed. What a word does not name is 0.
 */
#ifndef VV_CORE_WIRE_ACCORD_H
#define VV_CORE_WIRE_ACCORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire/letter.h"

#define VV_ACCORD_RANKS_MAX 1024 /* of a job */
#define VV_ACCORD_PART      64   /* ranks that a MAKE tells of */
#define VV_ACCORD_STREAMS   256  /* of a job: their numbers are smaller; 0 is the group of all ranks */

/* How many MAKEs tell of a job of so many. */
#define VV_ACCORD_PARTS(ranks) (((ranks) + VV_ACCORD_PART - 1) / VV_ACCORD_PART)

enum vv_accord_what {
  VV_ACCORD_MAKE = 1,
  VV_ACCORD_DECLINE,
  VV_ACCORD_GIVE_UP,
  VV_ACCORD_MADE,
  VV_ACCORD_REFUSED,
  VV_ACCORD_BYE,
  VV_ACCORD_ENDED,
};

/* Why a group is not made. */
enum vv_accord_why {
  VV_ACCORD_DIED = 1, /* the rank has ended */
  VV_ACCORD_LEFT,     /* the rank has left the group of all */
  VV_ACCORD_ABSENT,   /* the rank has not come in time */
  VV_ACCORD_CROSSED,  /* the rank makes another group, whose members wait for those of this one */
  VV_ACCORD_FULL,     /* the rank has no room for another group */
};

/* The numbers that a group of that list may get, the first that is free. nth: < VV_ACCORD_STREAMS - 1. */
static inline uint32_t vv_accord_number(uint32_t list, uint32_t nth) {
  return 1 + (list % (VV_ACCORD_STREAMS - 1) + nth) % (VV_ACCORD_STREAMS - 1);
}

/* Any word. Fields that it does not have are 0. */
struct vv_accord {
  enum vv_accord_what what;
  uint32_t stream;        /* MADE, BYE, ENDED: its number */
  uint32_t list;          /* MAKE, DECLINE, GIVE_UP, MADE, REFUSED */
  uint32_t epoch;         /* MADE, BYE, ENDED */
  enum vv_accord_why why; /* REFUSED */
  uint32_t rank;          /* REFUSED: whom it is about */
  uint32_t part;          /* MAKE */
  uint64_t members;       /* MAKE: bit i is rank VV_ACCORD_PART * part + i */
};

/* Writes that word. */
void vv_accord_emit(const struct vv_accord *accord, uint32_t numbers[VV_LETTER_NUMBERS]);

/*
 * Reads a word in a job of so many ranks, of rank 0 (`by_first`) or of another one. False, and nothing set, when it
 * says what its writer does not say, or names a rank or a stream that there cannot be.
 */
bool vv_accord_parse(const uint32_t numbers[VV_LETTER_NUMBERS], uint32_t ranks, bool by_first,
                     struct vv_accord *accord);

#endif
