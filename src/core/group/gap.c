/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/gap.h"

/* In round trips. */
enum { WAIT_FOR_ANY = 4, WAIT_FOR_ANSWER = 2, WAIT_FOR_END = 64, ANSWER_MAX = 64 };
/* Parts of a round trip: what a network may take to bring a datagram behind a later one; what one repair takes. */
enum { REORDER_PART = 4, REPAIR_PART = 8 };
enum { WINDOW_PART = 8 }; /* of a window, asked for at once */
enum { COMING_PART = 2 }; /* of a window, on their way at once */
enum { SMOOTH = 4 };      /* an answer counts one part in so many */

enum { MORE_ASKS = 2 }; /* questions in a row that ask for more */

#define NOBODY      UINT64_MAX  /* has answered yet */
#define WAIT_NS_MIN (4 * VV_MS) /* for any: operations that follow each other sooner need no questions */

void vv_gap_init(struct vv_gap *gap, vv_ns rtt_ns, vv_ns slot_ns, uint32_t ranks, uint32_t window_datagrams) {
  uint32_t ask_max = (window_datagrams + WINDOW_PART - 1) / WINDOW_PART, share = window_datagrams / 2 / ranks;
  if (ask_max > VV_GAP_ASK_MAX) ask_max = VV_GAP_ASK_MAX;
  uint32_t least = ask_max + VV_GAP_MORE_MAX, half = window_datagrams / COMING_PART;
  *gap = (struct vv_gap){.rtt_ns = rtt_ns,
                         .answer_ns = rtt_ns,
                         .slot_ns = slot_ns,
                         .asked_ns = VV_NEVER,
                         .ask_ns = VV_NEVER,
                         .answered = NOBODY,
                         .ask_max = ask_max,
                         .coming_max = half > least ? half : least,
                         .root_asks_max = share > 0 ? share : 1};
  if (ranks == 2) gap->root_asks_max = UINT32_MAX;
}

/* Nothing is lacking: ask when nothing has come for long. Who hears no multicast will get nothing without asking. */
static void wait_for_any(struct vv_gap *gap, vv_ns now_ns) {
  vv_ns long_ns = WAIT_FOR_ANY * gap->rtt_ns;
  gap->lacking = false;
  gap->attempt = gap->later = gap->outstanding = 0;
  if (long_ns < WAIT_NS_MIN) long_ns = WAIT_NS_MIN;
  gap->wait_ns = gap->deaf ? gap->answer_ns : long_ns;
  gap->ask_ns = now_ns + gap->wait_ns + gap->slot_ns;
}

/* Something is lacking that nobody was asked for. */
static void ask_soon(struct vv_gap *gap, vv_ns now_ns, vv_ns delay_ns) {
  gap->lacking = true;
  gap->attempt = gap->later = gap->outstanding = 0;
  gap->wait_ns = WAIT_FOR_ANSWER * gap->answer_ns;
  gap->ask_ns = now_ns + delay_ns + gap->slot_ns;
}

static void ask_by(struct vv_gap *gap, vv_ns ns) {
  if (ns < gap->ask_ns) gap->ask_ns = ns;
}

void vv_gap_begin(struct vv_gap *gap, vv_ns now_ns, bool lacking) {
  wait_for_any(gap, now_ns);
  if (lacking) ask_soon(gap, now_ns, gap->rtt_ns / REORDER_PART);
}

void vv_gap_close(struct vv_gap *gap, vv_ns now_ns) {
  wait_for_any(gap, now_ns);
  gap->wait_ns = WAIT_FOR_END * gap->rtt_ns;
  gap->ask_ns = now_ns + gap->wait_ns;
}

void vv_gap_end(struct vv_gap *gap) {
  gap->ask_ns = VV_NEVER;
  gap->lacking = false;
}

/*
 * Nobody knows which question an answer is to. Counted from the last one, a question that was lost does not make
 * answers look slow; bounded, nor does a helper that slept.
 */
static void note_answer(struct vv_gap *gap, vv_ns now_ns) {
  if (gap->asked_ns == VV_NEVER) return;
  gap->answer_ns = ((SMOOTH - 1) * gap->answer_ns + now_ns - gap->asked_ns) / SMOOTH;
  if (gap->answer_ns < gap->rtt_ns) gap->answer_ns = gap->rtt_ns;
  if (gap->answer_ns > ANSWER_MAX * gap->rtt_ns) gap->answer_ns = ANSWER_MAX * gap->rtt_ns;
  gap->asked_ns = VV_NEVER;
}

void vv_gap_came(struct vv_gap *gap, vv_ns now_ns, enum vv_gap_lack lack, bool by_multicast) {
  bool asked = gap->outstanding > 0;
  bool flows = lack == VV_GAP_REST && by_multicast && !asked;
  if (!by_multicast) note_answer(gap, now_ns);
  if (asked && !by_multicast) gap->outstanding--;
  if (lack == VV_GAP_NOTHING) {
    wait_for_any(gap, now_ns);
  } else if (!gap->lacking || flows || (asked && gap->outstanding == 0)) {
    ask_soon(gap, now_ns, gap->rtt_ns / REORDER_PART);
  } else if (asked && !by_multicast) {
    gap->wait_ns = WAIT_FOR_ANSWER * gap->answer_ns;
    gap->ask_ns = now_ns + gap->wait_ns;
  } else if (!asked && ++gap->later >= VV_GAP_REORDER && gap->attempt == 0) {
    ask_by(gap, now_ns + gap->slot_ns);
  }
}

void vv_gap_brought(struct vv_gap *gap) {
  if (gap->coming > 0) gap->coming--;
}

void vv_gap_told(struct vv_gap *gap, vv_ns now_ns) {
  if (!gap->lacking) ask_soon(gap, now_ns, gap->rtt_ns / REORDER_PART);
}

void vv_gap_dry(struct vv_gap *gap, vv_ns then_ns) {
  if (then_ns > gap->dry_ns) gap->dry_ns = then_ns;
}

bool vv_gap_is_silent(const struct vv_gap *gap) {
  return gap->dry_ns >= gap->ask_ns;
}

bool vv_gap_spares_root(const struct vv_gap *gap) {
  return gap->root_asks >= gap->root_asks_max;
}

void vv_gap_refused(struct vv_gap *gap, vv_ns now_ns) {
  if (gap->lacking && gap->attempt == 1 && !vv_gap_spares_root(gap)) ask_by(gap, now_ns + gap->slot_ns);
}

static uint32_t coming(const struct vv_gap *gap, vv_ns now_ns) {
  return now_ns < gap->forget_ns ? gap->coming : 0;
}

uint32_t vv_gap_room(const struct vv_gap *gap, vv_ns now_ns) {
  const uint32_t there = coming(gap, now_ns), room = there < gap->coming_max ? gap->coming_max - there : 1;
  return room < gap->ask_max ? room : gap->ask_max;
}

bool vv_gap_wants_more(const struct vv_gap *gap, vv_ns now_ns) {
  const bool fits = coming(gap, now_ns) + gap->ask_max + VV_GAP_MORE_MAX <= gap->coming_max;
  return gap->deaf && gap->attempt < MORE_ASKS && fits;
}

void vv_gap_asked(struct vv_gap *gap, vv_ns now_ns, uint32_t count, bool root) {
  gap->outstanding = count;
  gap->coming = coming(gap, now_ns) + count;
  gap->forget_ns = now_ns + WAIT_FOR_ANSWER * gap->answer_ns;
  gap->later = 0;
  gap->attempt++;
  gap->asked_ns = now_ns;
  if (root) gap->root_asks++;
  if (count > 0) gap->missed_asks++;
  gap->ask_ns = now_ns + gap->wait_ns + count * gap->rtt_ns / REPAIR_PART;
  gap->wait_ns = 2 * gap->wait_ns < VV_GAP_WAIT_NS_MAX ? 2 * gap->wait_ns : VV_GAP_WAIT_NS_MAX;
}

void vv_gap_heard_root(struct vv_gap *gap) {
  gap->root_asks = 0;
}

bool vv_gap_heard(struct vv_gap *gap) {
  gap->missed_asks = 0;
  gap->answered = NOBODY;
  if (!gap->deaf || ++gap->heard < VV_GAP_HEARS) return false;
  gap->deaf = false;
  return true;
}

bool vv_gap_repaired(struct vv_gap *gap, uint64_t edge, uint64_t passed) {
  gap->heard = 0;
  if (gap->answered == NOBODY && gap->missed_asks > 0) gap->answered = edge;
  bool enough = gap->missed_asks >= VV_GAP_DEAF_ASKS && passed >= gap->answered + VV_GAP_DEAF;
  if (gap->deaf || !enough) return false;
  gap->deaf = true;
  return true;
}
