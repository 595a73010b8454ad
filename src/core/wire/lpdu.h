/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PDUs of logical link control (ISO/IEC 8802-2:1998, clauses 3 and 5.4).
 *
 *   0 DSAP | 1 SSAP | 2 control (1 or 2) | information
 *
 * Bit 0 of the DSAP says group, bit 0 of the SSAP says response. The control
 * field tells three formats apart by its lowest bits:
 *
 *   I  N(S)<<1 | 0,  N(R)<<1 | P/F     numbered information
 *   S  0x01, 05, 09, N(R)<<1 | P/F     RR, RNR, REJ
 *   U  one byte, P/F is 0x10           all others
 *
 * A UI PDU, the datagram of type 1, is always a command, and its P bit is 0.
 */
#ifndef VV_CORE_WIRE_LPDU_H
#define VV_CORE_WIRE_LPDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_LPDU_HEADER_BYTES     3
#define VV_LPDU_HEADER_BYTES_MAX 4 /* the longest header */
#define VV_LPDU_MODULUS          128
#define VV_LPDU_FRMR_BYTES       5 /* of information in an FRMR */
#define VV_LPDU_XID_BYTES        3 /* of information in an XID of the basic format */
#define VV_LPDU_CONTROL_UI       0x03
#define VV_LPDU_SAP              0x64 /* vaiven's: bit 1 is reserved (clause 3.3.1.2), and nobody was given this one */

/* Bytes that hold at least the header. Made by vv_lpdu_view alone. */
struct vv_lpdu_view {
  const uint8_t *bytes;
  size_t count;
};

struct vv_lpdu_ui {
  uint8_t dsap;
  uint8_t ssap; /* even */
  const uint8_t *data;
  size_t data_bytes;
};

enum vv_lpdu_kind {
  VV_LPDU_I,
  VV_LPDU_RR,
  VV_LPDU_RNR,
  VV_LPDU_REJ,
  VV_LPDU_UI,
  VV_LPDU_XID,
  VV_LPDU_TEST,
  VV_LPDU_SABME,
  VV_LPDU_DISC,
  VV_LPDU_UA,
  VV_LPDU_DM,
  VV_LPDU_FRMR,
  VV_LPDU_UNKNOWN, /* a control field that is none of these, or none for a command, or for a response */
};

/* Any PDU. */
struct vv_lpdu {
  uint8_t dsap;
  uint8_t ssap; /* even */
  enum vv_lpdu_kind kind;
  bool response;
  bool pf;            /* P of a command, F of a response */
  uint8_t ns;         /* I: < 128, else 0 */
  uint8_t nr;         /* I, RR, RNR, REJ: < 128, else 0 */
  uint8_t control[2]; /* as it came; the second is 0 in the U format. Not read by vv_lpdu_emit */
  const uint8_t *data;
  size_t data_bytes;
};

/* Why a PDU was rejected (clause 5.4.2.3.5): the bits of the last byte of an FRMR. */
enum {
  VV_LPDU_FRMR_W = 0x01, /* control field invalid or not implemented */
  VV_LPDU_FRMR_X = 0x02, /* information where none may be; with W */
  VV_LPDU_FRMR_Y = 0x04, /* more information than N1 */
  VV_LPDU_FRMR_Z = 0x08, /* invalid N(R) */
  VV_LPDU_FRMR_V = 0x10, /* invalid N(S) */
};

struct vv_lpdu_frmr {
  uint8_t control[2]; /* of the rejected PDU */
  bool response;      /* it was one */
  uint8_t vs, vr;     /* V(S), V(R) of who rejects */
  uint8_t why;        /* VV_LPDU_FRMR_* */
};

/* The basic format of XID (clause 5.4.1.1.2). */
struct vv_lpdu_xid {
  bool type2;     /* connections are served too */
  uint8_t window; /* receive window in frames, 0 to 127 */
};

/* True when the bytes hold a header: the only check of bounds. */
bool vv_lpdu_view(const uint8_t *bytes, size_t count, struct vv_lpdu_view *view);

/* The value of any PDU. False, and nothing set, when its second control byte is missing. */
bool vv_lpdu_parse(struct vv_lpdu_view view, struct vv_lpdu *pdu);

/* Writes the header of that PDU (any kind but VV_LPDU_UNKNOWN), 3 or 4 bytes, and tells how many. */
size_t vv_lpdu_emit(const struct vv_lpdu *pdu, uint8_t header[VV_LPDU_HEADER_BYTES_MAX]);

/* True when a PDU of that kind may carry information (clause 5.4). */
bool vv_lpdu_carries_data(enum vv_lpdu_kind kind);

/* The information of an FRMR. False, and nothing set, when it has another length. */
bool vv_lpdu_frmr_parse(const uint8_t *data, size_t data_bytes, struct vv_lpdu_frmr *frmr);
void vv_lpdu_frmr_emit(const struct vv_lpdu_frmr *frmr, uint8_t data[VV_LPDU_FRMR_BYTES]);

/* The information of an XID. False, and nothing set, when it is not the basic format. */
bool vv_lpdu_xid_parse(const uint8_t *data, size_t data_bytes, struct vv_lpdu_xid *xid);
void vv_lpdu_xid_emit(const struct vv_lpdu_xid *xid, uint8_t data[VV_LPDU_XID_BYTES]);

/* The value of the PDU. False, and nothing set, when it is no UI command. */
bool vv_lpdu_ui_parse(struct vv_lpdu_view view, struct vv_lpdu_ui *ui);

/* Writes the header of that UI command; data_bytes of data follow it. */
void vv_lpdu_ui_emit(const struct vv_lpdu_ui *ui, uint8_t header[VV_LPDU_HEADER_BYTES]);

#endif
