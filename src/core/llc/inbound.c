/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/inbound.h"

#include "core/llc/greeting.h"
#include "core/llc/machine.h"

enum { HALF = VV_LPDU_MODULUS / 2, STALE = VV_LLC_EVENTS };
enum { ROUNDS = 256 }; /* before the count of rounds begins anew */

static const uint8_t events[] = {
    [VV_LPDU_I] = VV_LLC_GOT_I,
    [VV_LPDU_RR] = VV_LLC_GOT_RR,
    [VV_LPDU_RNR] = VV_LLC_GOT_RNR,
    [VV_LPDU_REJ] = VV_LLC_GOT_REJ,
    [VV_LPDU_UI] = STALE,
    [VV_LPDU_XID] = STALE,
    [VV_LPDU_TEST] = STALE,
    [VV_LPDU_SABME] = VV_LLC_GOT_SABME,
    [VV_LPDU_DISC] = VV_LLC_GOT_DISC,
    [VV_LPDU_UA] = VV_LLC_GOT_UA,
    [VV_LPDU_DM] = VV_LLC_GOT_DM,
    [VV_LPDU_FRMR] = VV_LLC_GOT_FRMR,
    [VV_LPDU_UNKNOWN] = VV_LLC_GOT_BAD,
};

/* N(S) alone says it on a plain link. */
static unsigned place_plain(const struct vv_llc_link *link, uint8_t ns) {
  uint8_t ahead = vv_llc_link_ahead(ns, link->vr);
  if (ahead == 0) return VV_LLC_GOT_I;
  if (ahead >= HALF) return VV_LLC_GOT_I_SEEN;
  return ahead < link->receive_window ? VV_LLC_GOT_I_GAP : VV_LLC_GOT_BAD_NS;
}

/*
 * The first I PDU of an epoch says where the peer goes on: no further than what
 * we have, no further back than a window. Else something was lost for good.
 */
static bool meet(struct vv_llc_link *link, uint32_t number) {
  uint32_t behind = link->expected - number;
  if (behind >= VV_LPDU_MODULUS) return false;
  link->knows_number = true;
  link->number = number;
  return true;
}

static unsigned stray(struct vv_llc_link *link) {
  link->astray = true;
  return STALE;
}

/* On a link of ours the number of the I PDU says it, and N(S) must agree. */
static unsigned place_marked(struct vv_llc_station *station, struct vv_llc_link *link, const struct vv_lpdu *pdu,
                             const struct vv_segment *segment) {
  if (segment->epoch != link->epoch) return stray(link);
  uint8_t ahead = vv_llc_link_ahead(pdu->ns, link->vr);
  if (!link->knows_number) {
    if (pdu->ns != 0) return VV_LLC_GOT_I_GAP;
    if (!meet(link, segment->number)) {
      vv_llc_greeting_break(station, link, VV_LLC_CLOSE_LOST);
      return STALE;
    }
  }
  int32_t beyond = (int32_t)(segment->number - link->number);
  if (beyond >= VV_LPDU_MODULUS || beyond <= -VV_LPDU_MODULUS) return STALE;
  if (((unsigned)beyond & (VV_LPDU_MODULUS - 1)) != ahead) return STALE;
  return beyond == 0 ? VV_LLC_GOT_I : beyond > 0 ? VV_LLC_GOT_I_GAP : VV_LLC_GOT_I_SEEN;
}

/* The next I PDU of the stream must fit the message that is coming in, and begin it where one begins. */
static bool fits(const struct vv_llc_station *station, struct vv_llc_link *link, struct vv_segment *segment,
                 const struct vv_lpdu *pdu, struct vv_llc_link_cause *cause) {
  bool first = link->got_bytes == 0 && link->message_bytes == 0;
  size_t marks = first ? VV_SEGMENT_BYTES_MAX : VV_SEGMENT_BYTES;
  if (first && !vv_segment_parse_first(pdu->data, pdu->data_bytes, segment)) return false;
  cause->data = pdu->data + marks;
  cause->data_bytes = pdu->data_bytes - marks;
  uint32_t message_bytes = first ? segment->message_bytes : link->message_bytes;
  if (first && segment->nonce != station->config.nonce) return false;
  if (cause->data_bytes > message_bytes - link->got_bytes || (cause->data_bytes == 0 && message_bytes > 0))
    return false;
  link->message_bytes = message_bytes;
  return true;
}

/* The N(R) of a marked PDU says nothing new when it is of another round: the PDU is old. */
static void check_round(const struct vv_llc_link *link, uint8_t round, struct vv_lpdu *pdu) {
  unsigned then = (unsigned)round * VV_LPDU_MODULUS + pdu->nr;
  unsigned now = (unsigned)link->va_round * VV_LPDU_MODULUS + link->va;
  if (((then - now) & (ROUNDS * VV_LPDU_MODULUS - 1)) > vv_llc_link_ahead(link->high, link->va)) pdu->nr = link->va;
}

static unsigned place(struct vv_llc_station *station, struct vv_llc_link *link, struct vv_lpdu *pdu,
                      struct vv_llc_link_cause *cause) {
  cause->data = pdu->data;
  cause->data_bytes = pdu->data_bytes;
  if (pdu->data_bytes + VV_LPDU_HEADER_BYTES_MAX > station->config.pdu_bytes_max) return VV_LLC_GOT_BAD;
  if (link->plain) return place_plain(link, pdu->ns);
  struct vv_segment segment;
  if (!vv_segment_parse(pdu->data, pdu->data_bytes, &segment)) return VV_LLC_GOT_BAD;
  unsigned event = place_marked(station, link, pdu, &segment);
  check_round(link, segment.round, pdu);
  if (vv_llc_link_is_busy(link)) return event;
  if (event == VV_LLC_GOT_I_GAP && link->knows_number)
    vv_llc_early_keep(&station->early, &link->early, segment.number, pdu->data, (uint32_t)pdu->data_bytes);
  if (event != VV_LLC_GOT_I || link->number != link->expected) return event;
  if (fits(station, link, &segment, pdu, cause)) return event;
  vv_llc_greeting_break(station, link, VV_LLC_CLOSE_LOST);
  return STALE;
}

/*
 * An S PDU of ours says by its marks when its N(R) counted, and what it answers. The answer to a P = 1 before the last
 * is none: what went after that one is still under way.
 */
static unsigned place_supervisory(struct vv_llc_link *link, struct vv_lpdu *pdu, struct vv_llc_link_cause *cause) {
  struct vv_segment segment;
  if (link->plain) return pdu->data_bytes == 0 ? events[pdu->kind] : VV_LLC_GOT_BAD;
  if (!vv_segment_parse_least(pdu->data, pdu->data_bytes, &segment)) return VV_LLC_GOT_BAD;
  if (segment.epoch != link->epoch) return stray(link);
  check_round(link, segment.round, pdu);
  if (pdu->response && segment.enquiry != link->polled) pdu->pf = false;
  cause->enquiry = segment.enquiry;
  return events[pdu->kind];
}

/* False when N(R) acknowledges what was never sent. A late one says nothing new. */
static bool check_nr(const struct vv_llc_link *link, struct vv_lpdu *pdu) {
  if (vv_llc_link_ahead(pdu->nr, link->va) <= vv_llc_link_ahead(link->high, link->va)) return true;
  if (vv_llc_link_ahead(link->va, pdu->nr) > VV_LLC_LINK_LATE_MAX) return false;
  pdu->nr = link->va;
  return true;
}

/* I and S PDUs while the link is up. */
static unsigned sequenced(struct vv_llc_station *station, struct vv_llc_link *link, struct vv_lpdu *pdu,
                          struct vv_llc_link_cause *cause) {
  if (link->frozen) return STALE;
  const bool unasked = pdu->response && pdu->pf && !link->p_flag;
  if (unasked && !link->plain) return STALE; /* an answer that came twice, or late */
  if (unasked && link->late_answers > 0) pdu->pf = false, link->late_answers--;
  unsigned event = pdu->kind == VV_LPDU_I ? place(station, link, pdu, cause) : place_supervisory(link, pdu, cause);
  if (event == STALE) return STALE;
  link->heard = true;
  link->heard_ns = cause->now_ns;
  link->astray = false;
  if (event == VV_LLC_GOT_BAD || event == VV_LLC_GOT_BAD_NS) return event;
  if (!check_nr(link, pdu)) return VV_LLC_GOT_BAD_NR;
  if (event == VV_LLC_GOT_REJ && !link->plain)
    vv_llc_repeat_ask(&link->repeat, link->base + vv_llc_link_ahead(pdu->nr, link->va), pdu->response);
  return event;
}

/* U PDUs. */
static unsigned unnumbered(struct vv_llc_station *station, struct vv_llc_link *link, const struct vv_lpdu *pdu) {
  if ((link->tell & VV_LLC_NEWS_CLOSED) != 0 && pdu->kind == VV_LPDU_SABME) return STALE;
  if (pdu->kind == VV_LPDU_SABME && vv_llc_greeting_sabme_again(station, link, pdu->pf)) return STALE;
  if (pdu->kind == VV_LPDU_SABME && !vv_llc_greeting_expects_sabme(link)) return STALE;
  if (pdu->kind == VV_LPDU_UA && !link->plain && vv_llc_is_up(link->state)) return STALE;
  return events[pdu->kind];
}

static unsigned event_of(struct vv_llc_station *station, struct vv_llc_link *link, struct vv_lpdu *pdu,
                         struct vv_llc_link_cause *cause) {
  bool may_carry = vv_lpdu_carries_data(pdu->kind) || pdu->kind == VV_LPDU_UNKNOWN;
  if (pdu->kind > VV_LPDU_REJ && pdu->data_bytes > 0 && !may_carry) return VV_LLC_GOT_BAD;
  if (pdu->kind > VV_LPDU_REJ) return unnumbered(station, link, pdu);
  if (vv_llc_is_up(link->state)) return sequenced(station, link, pdu, cause);
  if (link->state == VV_LLC_ADM && link->greeting != VV_LLC_GREETING_NONE) return STALE; /* DM would end what begins */
  return events[pdu->kind];
}

void vv_llc_inbound_take(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                         const struct vv_lpdu *pdu) {
  struct vv_lpdu checked = *pdu;
  struct vv_llc_link_cause cause = {.station = station, .now_ns = now_ns, .pdu = &checked};
  unsigned event = event_of(station, link, &checked, &cause);
  if (event == STALE) {
    station->counts.stale++;
    return;
  }
  if (event == VV_LLC_GOT_FRMR) station->counts.frmr_in++;
  cause.event = event;
  vv_llc_machine_do(link, &cause);
}

uint32_t vv_llc_inbound_early(struct vv_llc_station *station, struct vv_llc_link *link) {
  if (link->early == VV_LLC_NO_EARLY) return VV_LLC_NO_EARLY;
  if (!vv_llc_is_up(link->state) || vv_llc_link_is_busy(link) || link->frozen) return VV_LLC_NO_EARLY;
  bool rejects = link->state == VV_LLC_REJECT || link->state == VV_LLC_AWAIT_REJECT;
  uint32_t first = vv_llc_early_first(&station->early, &link->early, link->number);
  if (first == VV_LLC_NO_EARLY || station->early.pdus[first].number == link->number) return first;
  return rejects ? VV_LLC_NO_EARLY : first;
}

/* Its P or F bit and its N(R) counted when it came; N(S) is so far beyond V(R) as its number is. */
bool vv_llc_inbound_resume(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  uint32_t first = vv_llc_inbound_early(station, link);
  if (first == VV_LLC_NO_EARLY) return false;
  const struct vv_llc_early_pdu *early = &station->early.pdus[first];
  uint32_t beyond = early->number - link->number;
  struct vv_lpdu pdu = {.dsap = station->config.self.sap,
                        .ssap = link->peer.sap,
                        .kind = VV_LPDU_I,
                        .ns = (uint8_t)((link->vr + beyond) & (VV_LPDU_MODULUS - 1)),
                        .nr = link->va,
                        .data = vv_llc_early_bytes(&station->early, first),
                        .data_bytes = early->count};
  if (beyond == 0) vv_llc_early_pop(&station->early, &link->early);
  link->ack_due = true; /* the peer may have sent all that its window allows */
  vv_llc_inbound_take(station, link, now_ns, &pdu);
  return true;
}
