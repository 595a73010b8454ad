/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out what the table says (core/llc/table.h): finds the row of an event
 * and does its actions. What a row asks of the user stays in link->question;
 * core/llc/turn.h answers it.
 */
#ifndef VV_CORE_LLC_MACHINE_H
#define VV_CORE_LLC_MACHINE_H

#include <stdint.h>

#include "core/base/time.h"
#include "core/llc/state.h"

/* Carries out the row for that event, if there is one. */
void vv_llc_machine_do(struct vv_llc_link *link, const struct vv_llc_link_cause *cause);

/* The same for an event of the user or of a timer. */
void vv_llc_machine_ask(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                        enum vv_llc_event event);

#endif
