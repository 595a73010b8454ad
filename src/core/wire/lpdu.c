/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/lpdu.h"

#include <assert.h>

enum { AT_DSAP = 0, AT_SSAP = 1, AT_CONTROL = 2, AT_NR = 3, SSAP_RESPONSE = 0x01, U_PF = 0x10, NR_PF = 0x01 };
enum { AT_FRMR_VS = 2, AT_FRMR_VR = 3, AT_FRMR_WHY = 4, XID_BASIC = 0x81, XID_TYPE1 = 0x01, XID_TYPE2 = 0x02 };

/* What each control field is, and which of command and response may carry it. */
enum { COMMAND = 1, RESPONSE = 2, DATA = 4 };
static const struct {
  uint8_t control; /* P/F and numbers 0 */
  uint8_t may;
} kinds[] = {
    [VV_LPDU_I] = {0x00, COMMAND | RESPONSE | DATA},
    [VV_LPDU_RR] = {0x01, COMMAND | RESPONSE},
    [VV_LPDU_RNR] = {0x05, COMMAND | RESPONSE},
    [VV_LPDU_REJ] = {0x09, COMMAND | RESPONSE},
    [VV_LPDU_UI] = {VV_LPDU_CONTROL_UI, COMMAND | DATA},
    [VV_LPDU_XID] = {0xaf, COMMAND | RESPONSE | DATA},
    [VV_LPDU_TEST] = {0xe3, COMMAND | RESPONSE | DATA},
    [VV_LPDU_SABME] = {0x6f, COMMAND},
    [VV_LPDU_DISC] = {0x43, COMMAND},
    [VV_LPDU_UA] = {0x63, RESPONSE},
    [VV_LPDU_DM] = {0x0f, RESPONSE},
    [VV_LPDU_FRMR] = {0x87, RESPONSE | DATA},
};

static bool is_short(uint8_t control) {
  return (control & 3) == 3;
}

bool vv_lpdu_view(const uint8_t *bytes, size_t count, struct vv_lpdu_view *view) {
  if (count < VV_LPDU_HEADER_BYTES) return false;
  *view = (struct vv_lpdu_view){bytes, count};
  return true;
}

static enum vv_lpdu_kind kind_of(uint8_t control, bool response) {
  if ((control & 1) == 0) return VV_LPDU_I;
  uint8_t plain = is_short(control) ? (uint8_t)(control & ~U_PF) : control;
  for (int kind = VV_LPDU_RR; kind < VV_LPDU_UNKNOWN; kind++) {
    if (kinds[kind].control != plain) continue;
    return (kinds[kind].may & (response ? RESPONSE : COMMAND)) != 0 ? (enum vv_lpdu_kind)kind : VV_LPDU_UNKNOWN;
  }
  return VV_LPDU_UNKNOWN;
}

bool vv_lpdu_parse(struct vv_lpdu_view view, struct vv_lpdu *pdu) {
  const uint8_t *bytes = view.bytes;
  uint8_t control = bytes[AT_CONTROL];
  size_t header = is_short(control) ? VV_LPDU_HEADER_BYTES : VV_LPDU_HEADER_BYTES_MAX;
  if (view.count < header) return false;
  uint8_t second = is_short(control) ? 0 : bytes[AT_NR];
  bool response = (bytes[AT_SSAP] & SSAP_RESPONSE) != 0;
  *pdu = (struct vv_lpdu){
      .dsap = bytes[AT_DSAP],
      .ssap = bytes[AT_SSAP] & (uint8_t)~SSAP_RESPONSE,
      .kind = kind_of(control, response),
      .response = response,
      .pf = is_short(control) ? (control & U_PF) != 0 : (second & NR_PF) != 0,
      .ns = (control & 1) == 0 ? control >> 1 : 0,
      .nr = second >> 1,
      .control = {control, second},
      .data = bytes + header,
      .data_bytes = view.count - header,
  };
  return true;
}

size_t vv_lpdu_emit(const struct vv_lpdu *pdu, uint8_t header[VV_LPDU_HEADER_BYTES_MAX]) {
  assert(pdu->kind < VV_LPDU_UNKNOWN && (pdu->ssap & SSAP_RESPONSE) == 0);
  uint8_t control = kinds[pdu->kind].control;
  header[AT_DSAP] = pdu->dsap;
  header[AT_SSAP] = pdu->ssap | (pdu->response ? SSAP_RESPONSE : 0);
  if (is_short(control)) {
    header[AT_CONTROL] = control | (pdu->pf ? U_PF : 0);
    return VV_LPDU_HEADER_BYTES;
  }
  header[AT_CONTROL] = pdu->kind == VV_LPDU_I ? (uint8_t)(pdu->ns << 1) : control;
  header[AT_NR] = (uint8_t)(pdu->nr << 1 | (pdu->pf ? NR_PF : 0));
  return VV_LPDU_HEADER_BYTES_MAX;
}

bool vv_lpdu_carries_data(enum vv_lpdu_kind kind) {
  return kind < VV_LPDU_UNKNOWN && (kinds[kind].may & DATA) != 0;
}

bool vv_lpdu_frmr_parse(const uint8_t *data, size_t data_bytes, struct vv_lpdu_frmr *frmr) {
  if (data_bytes != VV_LPDU_FRMR_BYTES) return false;
  *frmr = (struct vv_lpdu_frmr){
      .control = {data[0], data[1]},
      .response = (data[AT_FRMR_VR] & 1) != 0,
      .vs = data[AT_FRMR_VS] >> 1,
      .vr = data[AT_FRMR_VR] >> 1,
      .why = data[AT_FRMR_WHY],
  };
  return true;
}

void vv_lpdu_frmr_emit(const struct vv_lpdu_frmr *frmr, uint8_t data[VV_LPDU_FRMR_BYTES]) {
  data[0] = frmr->control[0];
  data[1] = frmr->control[1];
  data[AT_FRMR_VS] = (uint8_t)(frmr->vs << 1);
  data[AT_FRMR_VR] = (uint8_t)(frmr->vr << 1 | frmr->response);
  data[AT_FRMR_WHY] = frmr->why;
}

bool vv_lpdu_xid_parse(const uint8_t *data, size_t data_bytes, struct vv_lpdu_xid *xid) {
  if (data_bytes < VV_LPDU_XID_BYTES || data[0] != XID_BASIC) return false;
  *xid = (struct vv_lpdu_xid){.type2 = (data[1] & XID_TYPE2) != 0, .window = data[2] >> 1};
  return true;
}

void vv_lpdu_xid_emit(const struct vv_lpdu_xid *xid, uint8_t data[VV_LPDU_XID_BYTES]) {
  data[0] = XID_BASIC;
  data[1] = XID_TYPE1 | (xid->type2 ? XID_TYPE2 : 0);
  data[2] = (uint8_t)(xid->window << 1);
}

bool vv_lpdu_ui_parse(struct vv_lpdu_view view, struct vv_lpdu_ui *ui) {
  if (view.bytes[AT_CONTROL] != VV_LPDU_CONTROL_UI || (view.bytes[AT_SSAP] & SSAP_RESPONSE) != 0) return false;
  ui->dsap = view.bytes[AT_DSAP];
  ui->ssap = view.bytes[AT_SSAP];
  ui->data = view.bytes + VV_LPDU_HEADER_BYTES;
  ui->data_bytes = view.count - VV_LPDU_HEADER_BYTES;
  return true;
}

void vv_lpdu_ui_emit(const struct vv_lpdu_ui *ui, uint8_t header[VV_LPDU_HEADER_BYTES]) {
  assert((ui->ssap & SSAP_RESPONSE) == 0);
  header[AT_DSAP] = ui->dsap;
  header[AT_SSAP] = ui->ssap;
  header[AT_CONTROL] = VV_LPDU_CONTROL_UI;
}
