/* SPDX-License-Identifier: BSD-3-Clause */
/* The PDUs of LLC: every control field there is, known bytes, and parse(emit(x)) == x. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/wire/lpdu.h"

/* From the tables of clause 5.4, written down a second time: control without P/F, kind, as command, as response. */
static const struct {
  uint8_t control;
  enum vv_lpdu_kind kind;
  bool command, response;
} short_fields[] = {
    {0x03, VV_LPDU_UI, true, false},    {0xaf, VV_LPDU_XID, true, true},   {0xe3, VV_LPDU_TEST, true, true},
    {0x6f, VV_LPDU_SABME, true, false}, {0x43, VV_LPDU_DISC, true, false}, {0x63, VV_LPDU_UA, false, true},
    {0x0f, VV_LPDU_DM, false, true},    {0x87, VV_LPDU_FRMR, false, true},
};

static enum vv_lpdu_kind expected(unsigned control, bool response) {
  if (control % 2 == 0) return VV_LPDU_I;
  if (control % 4 == 1) {
    return control == 1 ? VV_LPDU_RR : control == 5 ? VV_LPDU_RNR : control == 9 ? VV_LPDU_REJ : VV_LPDU_UNKNOWN;
  }
  for (size_t i = 0; i < sizeof short_fields / sizeof *short_fields; i++) {
    if (short_fields[i].control == (control & 0xef)) {
      return (response ? short_fields[i].response : short_fields[i].command) ? short_fields[i].kind : VV_LPDU_UNKNOWN;
    }
  }
  return VV_LPDU_UNKNOWN;
}

static void test_every_control_field(void **state) {
  (void)state;
  for (unsigned control = 0; control < 256; control++) {
    for (unsigned second = 0; second < 256; second++) {
      for (unsigned response = 0; response < 2; response++) {
        uint8_t bytes[] = {0x64, (uint8_t)(0x20 | response), (uint8_t)control, (uint8_t)second, 7, 8};
        bool one = control % 4 == 3;
        struct vv_lpdu_view view;
        struct vv_lpdu pdu;
        assert_true(vv_lpdu_view(bytes, sizeof bytes, &view));
        assert_true(vv_lpdu_parse(view, &pdu));
        assert_int_equal(pdu.kind, expected(control, response == 1));
        assert_true(pdu.dsap == 0x64 && pdu.ssap == 0x20 && pdu.response == (response == 1));
        assert_int_equal(pdu.pf, one ? control >> 4 & 1 : second & 1);
        assert_int_equal(pdu.nr, one ? 0 : second >> 1);
        assert_int_equal(pdu.ns, control % 2 == 0 ? control >> 1 : 0);
        assert_ptr_equal(pdu.data, bytes + (one ? 3 : 4));
        assert_int_equal(pdu.data_bytes, one ? 3 : 2);
        assert_true(pdu.control[0] == control && pdu.control[1] == (one ? 0 : second));
        if (pdu.kind == VV_LPDU_UNKNOWN) continue;
        uint8_t header[VV_LPDU_HEADER_BYTES_MAX];
        assert_int_equal(vv_lpdu_emit(&pdu, header), one ? 3 : 4);
        assert_memory_equal(header, bytes, one ? 3 : 4);
      }
    }
  }
}

static void test_a_missing_byte_is_found(void **state) {
  (void)state;
  const uint8_t rr[] = {0x64, 0x64, 0x01}, ua[] = {0x64, 0x65, 0x73};
  struct vv_lpdu_view view;
  struct vv_lpdu pdu = {.dsap = 9};
  assert_true(vv_lpdu_view(rr, 3, &view));
  assert_false(vv_lpdu_parse(view, &pdu));
  assert_int_equal(pdu.dsap, 9);
  assert_true(vv_lpdu_view(ua, 3, &view));
  assert_true(vv_lpdu_parse(view, &pdu));
  assert_true(pdu.kind == VV_LPDU_UA && pdu.pf && pdu.data_bytes == 0);
}

static void test_who_may_carry_information(void **state) {
  (void)state;
  for (int kind = 0; kind <= VV_LPDU_UNKNOWN; kind++) {
    bool may =
        kind == VV_LPDU_I || kind == VV_LPDU_UI || kind == VV_LPDU_XID || kind == VV_LPDU_TEST || kind == VV_LPDU_FRMR;
    assert_int_equal(vv_lpdu_carries_data((enum vv_lpdu_kind)kind), may);
  }
}

static void test_frmr_and_xid(void **state) {
  (void)state;
  const uint8_t frmr_bytes[] = {0x0e, 0x15, 0x22, 0x07, 0x18}, xid_bytes[] = {0x81, 0x03, 0xfe};
  struct vv_lpdu_frmr frmr, frmr_back;
  assert_true(vv_lpdu_frmr_parse(frmr_bytes, 5, &frmr));
  assert_true(frmr.control[0] == 0x0e && frmr.control[1] == 0x15 && frmr.vs == 17 && frmr.vr == 3 && frmr.response);
  assert_int_equal(frmr.why, VV_LPDU_FRMR_V | VV_LPDU_FRMR_Z);
  assert_false(vv_lpdu_frmr_parse(frmr_bytes, 4, &frmr_back));
  uint8_t bytes[5];
  vv_lpdu_frmr_emit(&frmr, bytes);
  assert_memory_equal(bytes, frmr_bytes, 5);
  struct vv_lpdu_xid xid;
  assert_true(vv_lpdu_xid_parse(xid_bytes, 3, &xid)); /* as Linux sends it */
  assert_true(xid.type2 && xid.window == 127);
  vv_lpdu_xid_emit(&xid, bytes);
  assert_memory_equal(bytes, xid_bytes, 3);
  assert_false(vv_lpdu_xid_parse(xid_bytes, 2, &xid));
  assert_false(vv_lpdu_xid_parse(frmr_bytes, 5, &xid));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_control_field),
      cmocka_unit_test(test_a_missing_byte_is_found),
      cmocka_unit_test(test_who_may_carry_information),
      cmocka_unit_test(test_frmr_and_xid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
