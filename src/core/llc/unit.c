/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/unit.h"

#include <string.h>

#include "core/llc/state.h"

static uint8_t *bytes_of(const struct vv_llc_station *station, uint32_t place) {
  return station->unit_bytes + (size_t)place * station->config.pdu_bytes_max;
}

bool vv_llc_unit_add(struct vv_llc_station *station, const struct vv_llc_unit *unit, const void *data,
                     size_t data_bytes) {
  if (data_bytes > station->config.pdu_bytes_max - VV_LPDU_HEADER_BYTES) return false;
  if (station->unit_free.count == 0) {
    station->counts.overflows++;
    return false;
  }
  uint32_t place = vv_ring_pop(&station->unit_free);
  station->units[place] = *unit;
  station->units[place].data_bytes = (uint32_t)data_bytes;
  if (data_bytes > 0) memcpy(bytes_of(station, place), data, data_bytes);
  return vv_ring_push(&station->unit_queue, place);
}

bool vv_llc_unit_add_xid(struct vv_llc_station *station, const struct vv_llc_unit *unit) {
  uint8_t info[VV_LPDU_XID_BYTES];
  vv_lpdu_xid_emit(&(struct vv_lpdu_xid){.type2 = true, .window = station->config.receive_window}, info);
  return vv_llc_unit_add(station, unit, info, sizeof info);
}

static void emit(const struct vv_llc_station *station, uint32_t place, struct vv_llc_station_frame *frame) {
  const struct vv_llc_unit *unit = &station->units[place];
  struct vv_lpdu pdu = {
      .dsap = unit->to.sap,
      .ssap = unit->from_null ? VV_LLC_SAP_NULL : station->config.self.sap,
      .kind = unit->kind,
      .response = unit->response,
      .pf = unit->pf,
  };
  size_t header = vv_lpdu_emit(&pdu, frame->head + VV_ENVELOPE_BYTES);
  struct vv_envelope envelope = {.pdu_bytes = header + unit->data_bytes};
  memcpy(envelope.destination, unit->to.mac, VV_MAC_BYTES);
  memcpy(envelope.source, station->config.self.mac, VV_MAC_BYTES);
  vv_envelope_emit(&envelope, frame->head);
  frame->head_bytes = VV_ENVELOPE_BYTES + header;
  frame->data = bytes_of(station, place);
  frame->data_bytes = unit->data_bytes;
}

bool vv_llc_unit_next(struct vv_llc_station *station, struct vv_llc_station_frame *frame) {
  if (station->lent_unit != VV_LLC_NO_UNIT) vv_ring_push(&station->unit_free, station->lent_unit);
  station->lent_unit = VV_LLC_NO_UNIT;
  if (station->unit_queue.count == 0) return false;
  station->lent_unit = vv_ring_pop(&station->unit_queue);
  emit(station, station->lent_unit, frame);
  return true;
}
