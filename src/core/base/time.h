/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time, in every room: nanoseconds, of a clock that never goes back or from one
 * of its instants to another. Signed, because a difference may be; whoever has no
 * deadline has VV_NEVER, to which nothing is added.
 */
#ifndef VV_CORE_BASE_TIME_H
#define VV_CORE_BASE_TIME_H

#include <stdint.h>

typedef int64_t vv_ns;

#define VV_NEVER INT64_MAX /* no deadline; of a wait: for ever */

#define VV_US  ((vv_ns)1000)
#define VV_MS  ((vv_ns)1000000)
#define VV_SEC ((vv_ns)1000000000)

#endif
