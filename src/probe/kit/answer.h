/* SPDX-License-Identifier: BSD-3-Clause */
/* The far end of a series: sends back every message, or the last one of each train. series.h has the lines. */
#ifndef VV_PROBE_KIT_ANSWER_H
#define VV_PROBE_KIT_ANSWER_H

#include "probe/link/session.h"

#define VV_ANSWER_MARKED_MAX 4096 /* messages of a marked series; no marks of more are told */

/* Serves one series that the near end's `line` began. 0, or -1 and *error. */
int vv_answer_series(struct vv_session *session, const char *line, struct vv_error *error);

#endif
