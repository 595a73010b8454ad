/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/referee.h"

#include <stdlib.h>
#include <string.h>

#define REFUSED_MAX 64 /* refusals that are remembered for who has not come yet */

enum referee_state { MAKING, THERE, REFUSED };

struct vv_referee_record {
  struct vv_referee_record *next;
  enum referee_state state;
  uint32_t list, epoch, stream;
  uint32_t count; /* of members */
  uint32_t here;  /* of them: have come; THERE: need it no longer; REFUSED: have been told */
  struct vv_accord refusal;
  bool seen, spread, in_circle; /* while a circle is looked for */
  uint64_t *come;               /* who is `here`; behind it `members` */
  uint64_t members[];
};

static uint32_t parts_of(const struct vv_referee *referee) {
  return VV_ACCORD_PARTS(referee->ranks);
}

static bool has(const uint64_t *set, uint32_t rank) {
  return set[rank / VV_ACCORD_PART] >> rank % VV_ACCORD_PART & 1;
}

static void put(uint64_t *set, uint32_t rank) {
  set[rank / VV_ACCORD_PART] |= UINT64_C(1) << rank % VV_ACCORD_PART;
}

static bool is_expected(const struct vv_referee_record *record, uint32_t rank) {
  return has(record->members, rank) && !has(record->come, rank);
}

static void come(struct vv_referee_record *record, uint32_t rank) {
  put(record->come, rank);
  record->here++;
}

/* Records */

static struct vv_referee_record *new_record(struct vv_referee *referee, const uint64_t *members) {
  const uint32_t parts = parts_of(referee);
  struct vv_referee_record *record = calloc(1, sizeof *record + (size_t)2 * parts * sizeof *members);
  if (!record) return NULL;
  record->come = record->members + parts;
  memcpy(record->members, members, parts * sizeof *members);
  for (uint32_t rank = 0; rank < referee->ranks; rank++) record->count += has(members, rank);
  struct vv_referee_record **last = &referee->records;
  while (*last) last = &(*last)->next;
  *last = record;
  referee->kept++;
  return record;
}

static void drop(struct vv_referee *referee, struct vv_referee_record *record) {
  struct vv_referee_record **place = &referee->records;
  while (*place != record) place = &(*place)->next;
  *place = record->next;
  referee->kept--;
  if (record->state == REFUSED) referee->refused--;
  free(record);
}

static struct vv_referee_record *find(const struct vv_referee *referee, uint32_t list, const uint64_t *members) {
  const size_t bytes = parts_of(referee) * sizeof *members;
  struct vv_referee_record *record = referee->records;
  while (record && (record->state == THERE || record->list != list || memcmp(record->members, members, bytes) != 0)) {
    record = record->next;
  }
  return record;
}

static void tell_members(struct vv_referee *referee, const struct vv_referee_record *record, const uint64_t *whom,
                         const struct vv_accord *accord) {
  for (uint32_t rank = 0; rank < referee->ranks; rank++) {
    if (has(whom, rank) && has(record->members, rank) && referee->gone[rank] != VV_ACCORD_DIED) {
      referee->tell(referee->context, rank, accord);
    }
  }
}

/* Refusals */

static void forget_oldest(struct vv_referee *referee) {
  struct vv_referee_record *record = referee->records;
  while (record->state != REFUSED) record = record->next;
  drop(referee, record);
}

/* Who is gone, and who was told, or hears it of another group of the same circle, does not ask for it any more. */
static void drop_when_all_know(struct vv_referee *referee, struct vv_referee_record *record) {
  for (uint32_t rank = 0; rank < referee->ranks; rank++) {
    if ((referee->gone[rank] || referee->circled[rank]) && is_expected(record, rank)) come(record, rank);
  }
  if (record->here == record->count) {
    drop(referee, record);
  } else if (referee->refused > REFUSED_MAX) {
    forget_oldest(referee);
  }
}

static void refuse(struct vv_referee *referee, struct vv_referee_record *record, enum vv_accord_why why,
                   uint32_t rank) {
  record->state = REFUSED;
  referee->refused++;
  record->refusal = (struct vv_accord){.what = VV_ACCORD_REFUSED, .list = record->list, .why = why, .rank = rank};
  for (uint32_t i = 0; i < referee->ranks; i++) {
    if (referee->waits[i] == record) referee->waits[i] = NULL;
  }
  tell_members(referee, record, record->come, &record->refusal);
  drop_when_all_know(referee, record);
}

/* Circles: a record leads to those that its members wait for who have not come to it. */

static void spread(const struct vv_referee *referee, struct vv_referee_record *record) {
  record->spread = true;
  for (uint32_t rank = 0; rank < referee->ranks; rank++) {
    if (referee->waits[rank] && is_expected(record, rank)) referee->waits[rank]->seen = true;
  }
}

static bool leads_to(const struct vv_referee *referee, struct vv_referee_record *from,
                     const struct vv_referee_record *to) {
  for (struct vv_referee_record *one = referee->records; one; one = one->next) one->seen = one->spread = false;
  spread(referee, from);
  for (bool more = true; more && !to->seen;) {
    more = false;
    for (struct vv_referee_record *one = referee->records; one; one = one->next) {
      if (!one->seen || one->spread) continue;
      spread(referee, one);
      more = true;
    }
  }
  return to->seen;
}

/* Of a record in a circle: a member that waits for another record of the circle. */
static uint32_t who_is_elsewhere(const struct vv_referee *referee, const struct vv_referee_record *record) {
  uint32_t rank = 0;
  while (!(is_expected(record, rank) && referee->waits[rank] && referee->waits[rank]->in_circle)) rank++;
  return rank;
}

/* Refuses all records of a circle that this one is in. */
static void refuse_circle(struct vv_referee *referee, struct vv_referee_record *record) {
  if (!leads_to(referee, record, record)) return;
  for (struct vv_referee_record *one = referee->records; one; one = one->next) {
    one->in_circle = one->state == MAKING && leads_to(referee, record, one) && leads_to(referee, one, record);
  }
  for (struct vv_referee_record *one = referee->records; one; one = one->next) {
    if (one->in_circle) one->refusal.rank = who_is_elsewhere(referee, one);
  }
  for (uint32_t rank = 0; rank < referee->ranks; rank++) {
    referee->circled[rank] = referee->waits[rank] && referee->waits[rank]->in_circle;
  }
  struct vv_referee_record *one = referee->records;
  while (one) {
    const bool refuses = one->in_circle && one->state == MAKING;
    if (refuses) refuse(referee, one, VV_ACCORD_CROSSED, one->refusal.rank);
    one = refuses ? referee->records : one->next; /* others may have been dropped */
  }
  memset(referee->circled, 0, referee->ranks * sizeof *referee->circled);
}

/* Making */

/* Whether no group that is there has the number; `members`: or none that one of these is in. */
static bool is_free(const struct vv_referee *referee, uint32_t stream, const uint64_t *members) {
  for (const struct vv_referee_record *one = referee->records; one; one = one->next) {
    if (one->state != THERE || one->stream != stream) continue;
    if (!members) return false;
    for (uint32_t i = 0; i < parts_of(referee); i++) {
      if (one->members[i] & members[i]) return false;
    }
  }
  return true;
}

/* 0: there is none. */
static uint32_t choose_number(const struct vv_referee *referee, const struct vv_referee_record *record) {
  for (int shared = 0; shared < 2; shared++) {
    for (uint32_t nth = 0; nth < VV_ACCORD_STREAMS - 1; nth++) {
      const uint32_t number = vv_accord_number(record->list, nth);
      if (is_free(referee, number, shared ? record->members : NULL)) return number;
    }
  }
  return 0;
}

static void found(struct vv_referee *referee, struct vv_referee_record *record) {
  const uint32_t number = choose_number(referee, record);
  if (number == 0) {
    refuse(referee, record, VV_ACCORD_FULL, 0);
    return;
  }
  record->state = THERE;
  record->stream = number;
  record->epoch = ++referee->epoch;
  record->here = 0;
  memset(record->come, 0, parts_of(referee) * sizeof *record->come);
  for (uint32_t i = 0; i < referee->ranks; i++) {
    if (referee->waits[i] == record) referee->waits[i] = NULL;
  }
  const struct vv_accord made = {
      .what = VV_ACCORD_MADE, .stream = number, .list = record->list, .epoch = record->epoch};
  tell_members(referee, record, record->members, &made);
}

/* The first member that is gone; UINT32_MAX: none is. */
static uint32_t who_is_gone(const struct vv_referee *referee, const struct vv_referee_record *record) {
  for (uint32_t rank = 0; rank < referee->ranks; rank++) {
    if (referee->gone[rank] && has(record->members, rank)) return rank;
  }
  return UINT32_MAX;
}

/* The record that a rank with that list belongs to, if it is not a new one. One that it was refused before is over. */
static struct vv_referee_record *find_for(struct vv_referee *referee, uint32_t rank, uint32_t list,
                                          const uint64_t *members) {
  struct vv_referee_record *record = find(referee, list, members);
  if (!record || record->state == MAKING || !has(record->come, rank)) return record;
  drop(referee, record);
  return NULL;
}

static void join(struct vv_referee *referee, uint32_t rank, uint32_t list) {
  const uint64_t *members = referee->parts + (size_t)rank * parts_of(referee);
  const bool declines = referee->declines[rank];
  referee->declines[rank] = false;
  struct vv_referee_record *record = find_for(referee, rank, list, members);
  if (!record) record = has(members, rank) ? new_record(referee, members) : NULL;
  if (!record) {
    const struct vv_accord full = {.what = VV_ACCORD_REFUSED, .list = list, .why = VV_ACCORD_FULL};
    referee->tell(referee->context, rank, &full);
    return;
  }
  record->list = list;
  come(record, rank);
  if (record->state == REFUSED) {
    referee->tell(referee->context, rank, &record->refusal);
    drop_when_all_know(referee, record);
    return;
  }
  referee->waits[rank] = record;
  const uint32_t gone = who_is_gone(referee, record);
  if (declines)
    refuse(referee, record, VV_ACCORD_FULL, rank);
  else if (gone != UINT32_MAX)
    refuse(referee, record, referee->gone[gone], gone);
  else if (record->here == record->count)
    found(referee, record);
  else
    refuse_circle(referee, record);
}

/* The first who has not come is to blame. */
static void give_up(struct vv_referee *referee, uint32_t rank, uint32_t list) {
  struct vv_referee_record *record = referee->waits[rank];
  uint32_t absent = 0;
  if (!record || record->list != list) return; /* the answer is under way */
  while (!is_expected(record, absent)) absent++;
  refuse(referee, record, VV_ACCORD_ABSENT, absent);
}

/* Ending */

static void end_when_all_agree(struct vv_referee *referee, struct vv_referee_record *record) {
  const struct vv_accord ended = {.what = VV_ACCORD_ENDED, .stream = record->stream, .epoch = record->epoch};
  if (record->here < record->count) return;
  tell_members(referee, record, record->members, &ended);
  drop(referee, record);
}

/* Nothing more is made with that rank, and nothing waits for it. */
static void go(struct vv_referee *referee, uint32_t rank, enum vv_accord_why why) {
  if (referee->gone[rank]) return;
  referee->gone[rank] = why;
  struct vv_referee_record *one = referee->records;
  while (one) {
    const bool refuses = one->state == MAKING && has(one->members, rank);
    if (refuses) refuse(referee, one, why, rank);
    one = refuses ? referee->records : one->next; /* others may have been dropped */
  }
}

/* A rank that is gone, in order or not, needs no group any more. */
static void need_nobody(struct vv_referee *referee, uint32_t rank) {
  struct vv_referee_record *next;
  for (struct vv_referee_record *one = referee->records; one; one = next) {
    next = one->next;
    if (one->state != THERE || !is_expected(one, rank)) continue;
    come(one, rank);
    end_when_all_agree(referee, one);
  }
}

static void part(struct vv_referee *referee, uint32_t rank, const struct vv_accord *bye) {
  struct vv_referee_record *one = referee->records;
  if (bye->stream == 0 && bye->epoch == 0) {
    go(referee, rank, VV_ACCORD_LEFT);
    need_nobody(referee, rank);
    return;
  }
  while (one && (one->state != THERE || one->stream != bye->stream || one->epoch != bye->epoch)) one = one->next;
  if (!one || !is_expected(one, rank)) return;
  come(one, rank);
  end_when_all_agree(referee, one);
}

void vv_referee_lost(struct vv_referee *referee, uint32_t rank) {
  go(referee, rank, VV_ACCORD_DIED);
  referee->gone[rank] = VV_ACCORD_DIED; /* after LEFT, too: nobody hears */
  need_nobody(referee, rank);
}

void vv_referee_hear(struct vv_referee *referee, uint32_t rank, const struct vv_accord *accord) {
  uint64_t *parts = referee->parts + (size_t)rank * parts_of(referee);
  if (referee->gone[rank]) return;
  switch (accord->what) {
  case VV_ACCORD_MAKE:
    if (referee->waits[rank]) return; /* one at a time */
    parts[accord->part] = accord->members;
    if (accord->part + 1 == parts_of(referee)) join(referee, rank, accord->list);
    break;
  case VV_ACCORD_DECLINE:
    referee->declines[rank] = true;
    break;
  case VV_ACCORD_GIVE_UP:
    give_up(referee, rank, accord->list);
    break;
  case VV_ACCORD_BYE:
    part(referee, rank, accord);
    break;
  case VV_ACCORD_MADE:
  case VV_ACCORD_REFUSED:
  case VV_ACCORD_ENDED: /* of rank 0 alone: core/wire/accord.h lets no other rank say it */
    break;
  }
}

bool vv_referee_open(struct vv_referee *referee, uint32_t ranks,
                     void (*tell)(void *context, uint32_t rank, const struct vv_accord *accord), void *context) {
  *referee = (struct vv_referee){.ranks = ranks, .tell = tell, .context = context};
  const uint32_t parts = parts_of(referee);
  referee->waits = calloc(ranks, sizeof(struct vv_referee_record *));
  referee->gone = calloc(ranks, sizeof *referee->gone);
  referee->declines = calloc(ranks, sizeof *referee->declines);
  referee->circled = calloc(ranks, sizeof *referee->circled);
  referee->parts = calloc((size_t)ranks * parts, sizeof *referee->parts);
  if (!referee->waits || !referee->gone || !referee->declines || !referee->circled || !referee->parts) return false;
  for (uint32_t rank = 0; rank < ranks; rank++) put(referee->parts, rank); /* of rank 0: all */
  struct vv_referee_record *all = new_record(referee, referee->parts);
  memset(referee->parts, 0, parts * sizeof *referee->parts);
  if (all) all->state = THERE;
  return all != NULL;
}

void vv_referee_close(struct vv_referee *referee) {
  while (referee->records) {
    struct vv_referee_record *first = referee->records;
    referee->records = first->next;
    free(first);
  }
  free(referee->waits);
  free(referee->gone);
  free(referee->declines);
  free(referee->circled);
  free(referee->parts);
  *referee = (struct vv_referee){0};
}
