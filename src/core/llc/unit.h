/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PDUs that belong to no connection (type 1: UI, XID, TEST; and the DM that
 * answers who thinks there is one): a queue of copies, for they wait to be sent.
 */
#ifndef VV_CORE_LLC_UNIT_H
#define VV_CORE_LLC_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/llc/address.h"

struct vv_llc_station;
struct vv_llc_station_frame;

struct vv_llc_unit {
  struct vv_llc_address to;
  uint8_t kind; /* enum vv_lpdu_kind */
  bool response;
  bool pf;
  bool from_null;      /* its SSAP is the null SAP: an answer of the station itself */
  uint32_t data_bytes; /* set by vv_llc_unit_add */
};

/* Lets a PDU wait to be sent. False, and counted, when there is no room; false when the data do not fit a PDU. */
bool vv_llc_unit_add(struct vv_llc_station *station, const struct vv_llc_unit *unit, const void *data,
                     size_t data_bytes);

/* The same for an XID, which tells our receive window. */
bool vv_llc_unit_add_xid(struct vv_llc_station *station, const struct vv_llc_unit *unit);

/* The oldest, as a frame: false when none waits. Its data are valid until the next call. */
bool vv_llc_unit_next(struct vv_llc_station *station, struct vv_llc_station_frame *frame);

#endif
