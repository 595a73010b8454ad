/* SPDX-License-Identifier: BSD-3-Clause */
/* What the records of all cells have in common. */
#ifndef VV_PROBE_SHOW_CELL_H
#define VV_PROBE_SHOW_CELL_H

#include "probe/base/config.h"
#include "probe/base/record.h"

/* What the wire alone takes one way for `in_a_row` such messages without a pause; 0 if the config does not tell. */
vv_ns vv_cell_wire_ns(const struct vv_probe_config *config, size_t size_bytes, uint32_t in_a_row);

/*
 * Writes the member "wire" of a cell, as far as the config tells: what `sends`
 * such messages become on the wire, and what the wire alone takes for `in_a_row`
 * of them without a pause.
 */
void vv_cell_wire(struct vv_record *record, const struct vv_probe_config *config, size_t size_bytes, uint32_t sends,
                  uint32_t in_a_row);

#endif
