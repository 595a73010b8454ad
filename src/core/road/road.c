/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/road/road.h"

#include <assert.h>
#include <string.h>

void vv_road_init(struct vv_road *road) {
  memset(road, 0, offsetof(struct vv_road, kept));
  road->store_at = 0;
  road->credit_bytes = VV_ROAD_STORE_BYTES;
}

static void append_send(struct vv_road_sends *list, struct vv_road_send *send) {
  send->next = NULL;
  if (list->first == NULL) {
    list->first = send;
  } else {
    list->last->next = send;
  }
  list->last = send;
}

static void append_take(struct vv_road_takes *list, struct vv_road_take *take) {
  take->next = NULL;
  if (list->first == NULL) {
    list->first = take;
  } else {
    list->last->next = take;
  }
  list->last = take;
}

/* Takes the first offer of that number out of the list; NULL: there is none. */
static struct vv_road_send *remove_send(struct vv_road_sends *list, uint64_t number) {
  struct vv_road_send *before = NULL, *send = list->first;
  while (send != NULL && send->number != number) before = send, send = send->next;
  if (send == NULL) return NULL;
  if (before == NULL) {
    list->first = send->next;
  } else {
    before->next = send->next;
  }
  if (list->last == send) list->last = before;
  return send;
}

/* Likewise, by label or, of offers that were answered, by number. */
static struct vv_road_take *remove_take(struct vv_road_takes *list, bool by_label, uint64_t what) {
  struct vv_road_take *before = NULL, *take = list->first;
  while (take != NULL && (by_label ? take->label : take->number) != what) before = take, take = take->next;
  if (take == NULL) return NULL;
  if (before == NULL) {
    list->first = take->next;
  } else {
    before->next = take->next;
  }
  if (list->last == take) list->last = before;
  return take;
}

void vv_road_send(struct vv_road *road, struct vv_road_send *send) {
  send->done = false;
  append_send(&road->waiting, send);
}

static struct vv_road_kept *kept_at(struct vv_road *road, uint32_t i) {
  return &road->kept[(road->kept_first + i) % VV_ROAD_KEPT_MAX];
}

static size_t charge(bool offer, size_t size_bytes) {
  return VV_ROAD_KEPT_BYTES + (offer ? 0 : size_bytes);
}

/* The store goes round: what is released is free again when all that came before it is. */
static void release(struct vv_road *road, struct vv_road_kept *kept) {
  kept->released = true;
  while (road->kept_count > 0 && kept_at(road, 0)->released) {
    road->free_bytes += charge(kept_at(road, 0)->offer, kept_at(road, 0)->size_bytes);
    road->kept_first = (road->kept_first + 1) % VV_ROAD_KEPT_MAX;
    road->kept_count--;
  }
}

static void finish(struct vv_road_take *take, size_t size_bytes) {
  take->size_bytes = size_bytes;
  take->done = true;
}

/* From the store to who waits for it. */
static void deliver(struct vv_road *road, struct vv_road_kept *kept, struct vv_road_take *take) {
  size_t first = VV_ROAD_STORE_BYTES - kept->at;
  if (first > kept->size_bytes) first = kept->size_bytes;
  if (kept->size_bytes <= take->room_bytes && kept->size_bytes > 0) {
    memcpy(take->buffer, road->store + kept->at, first);
    memcpy(take->buffer + first, road->store, kept->size_bytes - first);
  }
  finish(take, kept->size_bytes);
  release(road, kept);
}

/* An offer has found who takes it. */
static void take_up(struct vv_road *road, struct vv_road_take *take, uint64_t number, size_t size_bytes) {
  take->number = number;
  take->size_bytes = size_bytes;
  append_take(&road->going, take);
}

void vv_road_take(struct vv_road *road, struct vv_road_take *take) {
  take->done = false;
  for (uint32_t i = 0; i < road->kept_count; i++) {
    struct vv_road_kept *kept = kept_at(road, i);
    if (kept->label != take->label || kept->released || kept->claimed != NULL) continue;
    if (kept->offer) {
      take_up(road, take, kept->number, kept->size_bytes);
      return release(road, kept);
    }
    if (kept->whole) return deliver(road, kept, take);
    kept->claimed = take;
    return;
  }
  append_take(&road->open, take);
}

bool vv_road_untaken(const struct vv_road *road, uint32_t *at, uint64_t *label) {
  while (*at < road->kept_count) {
    const struct vv_road_kept *kept = &road->kept[(road->kept_first + (*at)++) % VV_ROAD_KEPT_MAX];
    if (kept->released || kept->claimed != NULL) continue;
    *label = kept->label;
    return true;
  }
  return false;
}

static void leave(struct vv_road *road, enum vv_milestone_kind kind, uint64_t what, uint64_t size_bytes) {
  vv_milestone_emit(&(struct vv_milestone){kind, what, size_bytes}, road->out.header);
  road->out.header_left = VV_MILESTONE_BYTES;
}

static void leave_with(struct vv_road *road, struct vv_road_send *send) {
  road->out.send = send;
  road->out.data = send->data;
  road->out.data_left = send->size_bytes;
}

/* Credit is given back in quarters of the store, or when what is left of it could stop a small message. */
static bool owes_credit(const struct vv_road *road) {
  size_t left_bytes = VV_ROAD_STORE_BYTES - road->used_bytes;
  return road->free_bytes >= VV_ROAD_STORE_BYTES / 4 || (road->free_bytes > 0 && left_bytes < VV_ROAD_RESERVE_BYTES);
}

static void say_go(struct vv_road *road) {
  struct vv_road_take *take = road->going.first;
  road->going.first = take->next;
  bool fits = take->size_bytes <= take->room_bytes;
  leave(road, VV_MILESTONE_GO, take->number, fits ? take->size_bytes : 0);
  if (fits && take->size_bytes > 0) {
    append_take(&road->gone, take);
  } else {
    take->done = true;
  }
}

static void begin_send(struct vv_road *road) {
  struct vv_road_send *send = road->waiting.first;
  bool eager = send->size_bytes <= VV_ROAD_EAGER_BYTES &&
               road->credit_bytes >= charge(false, send->size_bytes) + VV_ROAD_RESERVE_BYTES;
  if (!eager && road->credit_bytes < charge(true, 0)) return;
  road->waiting.first = send->next;
  road->credit_bytes -= charge(!eager, send->size_bytes);
  leave(road, eager ? VV_MILESTONE_EAGER : VV_MILESTONE_OFFER, send->label, send->size_bytes);
  if (eager) return leave_with(road, send);
  send->number = road->offers_sent++;
  append_send(&road->offered, send);
}

/* What leaves next, when nothing is leaving. */
static void choose(struct vv_road *road) {
  if (owes_credit(road)) {
    leave(road, VV_MILESTONE_CREDIT, road->free_bytes, 0);
    road->used_bytes -= road->free_bytes;
    road->free_bytes = 0;
  } else if (road->going.first != NULL) {
    say_go(road);
  } else if (road->called.first != NULL) {
    struct vv_road_send *send = road->called.first;
    road->called.first = send->next;
    leave(road, VV_MILESTONE_DATA, send->number, send->size_bytes);
    leave_with(road, send);
  } else if (road->waiting.first != NULL) {
    begin_send(road);
  }
}

unsigned vv_road_out(struct vv_road *road, struct vv_road_piece pieces[2]) {
  if (road->out.header_left == 0 && road->out.data_left == 0) choose(road);
  unsigned count = 0;
  const uint8_t *header = road->out.header + VV_MILESTONE_BYTES - road->out.header_left;
  if (road->out.header_left > 0) pieces[count++] = (struct vv_road_piece){header, road->out.header_left};
  if (road->out.data_left > 0) pieces[count++] = (struct vv_road_piece){road->out.data, road->out.data_left};
  return count;
}

void vv_road_left(struct vv_road *road, size_t bytes) {
  size_t of_header = bytes < road->out.header_left ? bytes : road->out.header_left;
  road->out.header_left -= of_header;
  assert(bytes - of_header <= road->out.data_left);
  road->out.data_left -= bytes - of_header;
  if (road->out.data_left > 0) road->out.data += bytes - of_header;
  if (road->out.header_left > 0 || road->out.data_left > 0 || road->out.send == NULL) return;
  road->out.send->done = true;
  road->out.send = NULL;
}

uint8_t *vv_road_in(struct vv_road *road, size_t *bytes) {
  if (road->in.left == 0) {
    *bytes = VV_MILESTONE_BYTES - road->in.header_got;
    return road->in.header + road->in.header_got;
  }
  *bytes = road->in.left;
  if (road->in.kept != NULL) {
    if (*bytes > VV_ROAD_STORE_BYTES - road->store_at) *bytes = VV_ROAD_STORE_BYTES - road->store_at;
    return road->store + road->store_at;
  }
  struct vv_road_take *take = road->in.take;
  if (take->size_bytes <= take->room_bytes) return take->buffer + take->size_bytes - road->in.left;
  if (*bytes > sizeof road->nowhere) *bytes = sizeof road->nowhere;
  return road->nowhere;
}

/* All bytes behind the header have come. */
static void arrive(struct vv_road *road) {
  struct vv_road_kept *kept = road->in.kept;
  if (kept != NULL) {
    kept->whole = true;
    if (kept->claimed != NULL) deliver(road, kept, kept->claimed);
  } else if (road->in.take != NULL) {
    road->in.take->done = true;
  }
  road->in.kept = NULL;
  road->in.take = NULL;
}

static struct vv_road_kept *keep(struct vv_road *road, const struct vv_milestone *milestone, bool offer) {
  assert(road->kept_count < VV_ROAD_KEPT_MAX);
  struct vv_road_kept *kept = kept_at(road, road->kept_count++);
  *kept = (struct vv_road_kept){.label = milestone->what,
                                .number = road->offers_came,
                                .size_bytes = (size_t)milestone->size_bytes,
                                .at = road->store_at,
                                .offer = offer};
  return kept;
}

/* A message comes, or an offer of one: to who waits for it, else it is kept. */
static bool announced(struct vv_road *road, const struct vv_milestone *milestone) {
  bool offer = milestone->kind == VV_MILESTONE_OFFER;
  if (milestone->size_bytes > (offer ? SIZE_MAX : VV_ROAD_EAGER_BYTES)) return false;
  size_t size_bytes = (size_t)milestone->size_bytes;
  if (charge(offer, size_bytes) > VV_ROAD_STORE_BYTES - road->used_bytes) return false;
  road->used_bytes += charge(offer, size_bytes);
  struct vv_road_take *take = remove_take(&road->open, true, milestone->what);
  if (take != NULL) road->free_bytes += charge(offer, size_bytes);
  if (offer) {
    if (take != NULL) {
      take_up(road, take, road->offers_came, size_bytes);
    } else {
      keep(road, milestone, true);
    }
    road->offers_came++;
    return true;
  }
  road->in.left = size_bytes;
  road->in.take = take;
  if (take != NULL) {
    take->size_bytes = size_bytes;
  } else {
    road->in.kept = keep(road, milestone, false);
  }
  return true;
}

static bool called(struct vv_road *road, const struct vv_milestone *milestone) {
  struct vv_road_send *send = remove_send(&road->offered, milestone->what);
  if (send == NULL) return false;
  if (milestone->size_bytes == 0) {
    send->done = true;
    return true;
  }
  append_send(&road->called, send);
  return milestone->size_bytes == send->size_bytes;
}

static bool handed(struct vv_road *road, const struct vv_milestone *milestone) {
  struct vv_road_take *take = remove_take(&road->gone, false, milestone->what);
  if (take == NULL) return false;
  road->in.take = take;
  road->in.left = take->size_bytes;
  return milestone->size_bytes == take->size_bytes;
}

static bool understood(struct vv_road *road) {
  struct vv_milestone milestone;
  if (!vv_milestone_parse(road->in.header, &milestone)) return false;
  switch (milestone.kind) {
  case VV_MILESTONE_EAGER:
  case VV_MILESTONE_OFFER:
    return announced(road, &milestone);
  case VV_MILESTONE_GO:
    return called(road, &milestone);
  case VV_MILESTONE_DATA:
    return handed(road, &milestone);
  case VV_MILESTONE_CREDIT:
    if (milestone.what > VV_ROAD_STORE_BYTES - road->credit_bytes) return false;
    road->credit_bytes += (size_t)milestone.what;
    return true;
  }
  return false;
}

bool vv_road_came(struct vv_road *road, size_t bytes) {
  if (road->in.left > 0) {
    road->in.left -= bytes;
    if (road->in.kept != NULL) road->store_at = (road->store_at + bytes) % VV_ROAD_STORE_BYTES;
  } else {
    road->in.header_got += bytes;
    if (road->in.header_got < VV_MILESTONE_BYTES) return true;
    road->in.header_got = 0;
    if (!understood(road)) return false;
  }
  if (road->in.left == 0) arrive(road);
  return true;
}
