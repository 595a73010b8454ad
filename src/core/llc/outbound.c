/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/outbound.h"

#include <string.h>

enum { POLL_PART = 2 }; /* the I PDU that fills this part of the window asks for an answer */

/* The next I PDU does, if no answer is due: part of the window is full, or all links together have no more to give. */
static bool asks(const struct vv_llc_station *station, const struct vv_llc_link *link, uint8_t outstanding) {
  bool fills =
      (outstanding + 1) * POLL_PART >= link->window.working || station->flight + 1 >= VV_LLC_STATION_FLIGHT_MAX;
  return !link->p_flag && (fills || link->pace.mean_ns == 0);
}

/* Puts the headers of Ethernet and LLC before the marks (which come behind them) and the data. */
static void head(const struct vv_llc_station *station, const struct vv_llc_link *link, const struct vv_lpdu *pdu,
                 size_t marks_bytes, struct vv_llc_station_frame *frame) {
  size_t header = vv_lpdu_emit(pdu, frame->head + VV_ENVELOPE_BYTES);
  struct vv_envelope envelope = {.pdu_bytes = header + marks_bytes + frame->data_bytes};
  memcpy(envelope.destination, link->peer.mac, VV_MAC_BYTES);
  memcpy(envelope.source, station->config.self.mac, VV_MAC_BYTES);
  vv_envelope_emit(&envelope, frame->head);
  frame->head_bytes = VV_ENVELOPE_BYTES + header + marks_bytes;
}

static struct vv_lpdu pdu_of(const struct vv_llc_station *station, struct vv_llc_link *link, enum vv_lpdu_kind kind) {
  link->ack_due = false;
  link->acks_owed = 0;
  link->timers[VV_LLC_TIMER_DELAY] = VV_NEVER;
  return (struct vv_lpdu){.dsap = link->peer.sap, .ssap = station->config.self.sap, .kind = kind, .nr = link->vr};
}

void vv_llc_outbound_control(struct vv_llc_station *station, struct vv_llc_link *link, struct vv_llc_owed owed,
                             struct vv_llc_station_frame *frame) {
  struct vv_lpdu pdu = pdu_of(station, link, owed.kind);
  pdu.response = owed.response;
  pdu.pf = owed.pf;
  size_t info_bytes = 0;
  bool is_s = owed.kind == VV_LPDU_RR || owed.kind == VV_LPDU_RNR || owed.kind == VV_LPDU_REJ;
  if (is_s && !link->plain) {
    const struct vv_segment segment = {.epoch = link->epoch, .round = link->vr_round, .enquiry = owed.enquiry};
    vv_segment_emit_least(&segment, frame->head + VV_ENVELOPE_BYTES + VV_LPDU_HEADER_BYTES_MAX);
    info_bytes = VV_SEGMENT_BYTES_MIN;
  }
  if (owed.kind == VV_LPDU_FRMR) {
    vv_lpdu_frmr_emit(&link->frmr, frame->head + VV_ENVELOPE_BYTES + VV_LPDU_HEADER_BYTES);
    info_bytes = VV_LPDU_FRMR_BYTES;
  }
  if (owed.kind == VV_LPDU_REJ) station->counts.rejects++;
  frame->data = NULL;
  frame->data_bytes = 0;
  head(station, link, &pdu, info_bytes, frame);
}

void vv_llc_outbound_i(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                       struct vv_llc_station_frame *frame) {
  uint8_t outstanding = vv_llc_link_ahead(link->vs, link->va);
  uint32_t number = link->base + outstanding;
  struct vv_llc_backlog_pdu part = vv_llc_backlog_at(&link->backlog, station->messages, number);
  struct vv_lpdu pdu = pdu_of(station, link, VV_LPDU_I);
  pdu.ns = link->vs;
  pdu.pf = asks(station, link, outstanding);
  if (pdu.pf) {
    link->p_flag = true;
    link->polled_ns = now_ns;
    link->polled = 0;
    vv_llc_link_start(link, VV_LLC_TIMER_P, now_ns + vv_llc_pace_t1_ns(&link->pace, 0));
  }
  link->went = true;
  if (outstanding < vv_llc_link_ahead(link->high, link->va)) {
    station->counts.resent++;
  } else {
    link->high = (uint8_t)(link->high + 1) & (VV_LPDU_MODULUS - 1);
    station->flight++;
    if (!link->timing) {
      link->timing = true;
      link->timed = link->vs;
      link->timed_ns = now_ns;
    }
  }
  link->vs = (uint8_t)(link->vs + 1) & (VV_LPDU_MODULUS - 1);
  if (vv_llc_repeat_sent(&link->repeat)) link->vs = link->high;
  struct vv_segment segment = {link->epoch, link->vr_round, 0, number, station->config.nonce, part.message_bytes};
  size_t marks_bytes = 0;
  if (!link->plain) {
    marks_bytes = vv_segment_emit(&segment, part.first, frame->head + VV_ENVELOPE_BYTES + VV_LPDU_HEADER_BYTES_MAX);
  }
  frame->data = part.bytes;
  frame->data_bytes = part.count;
  head(station, link, &pdu, marks_bytes, frame);
}
