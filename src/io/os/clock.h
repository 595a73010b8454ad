/* SPDX-License-Identifier: BSD-3-Clause */
/* The monotonic clock, and what it costs to read it. Time never comes from anywhere else. */
#ifndef VV_IO_OS_CLOCK_H
#define VV_IO_OS_CLOCK_H

#include <stdint.h>

#include "core/base/time.h"

/* CLOCK_MONOTONIC in nanoseconds. */
vv_ns vv_clock_ns(void);

/* Until that time of vv_clock_ns(), as poll() takes it: rounded up, 0 when it has passed, a second at most. */
int vv_clock_left_ms(vv_ns deadline_ns);

/* CPU time of this process (user and system) in nanoseconds. */
vv_ns vv_clock_cpu_ns(void);

/* CLOCK_REALTIME in nanoseconds: only to compare with the kernel's packet timestamps. */
vv_ns vv_clock_real_ns(void);

struct vv_clock_quality {
  vv_ns resolution_ns; /* its quantum: the smallest step it takes */
  vv_ns cost_ns;       /* median cost of one reading: what a pair of them adds to an interval */
};

/* Measures CLOCK_MONOTONIC; takes about a millisecond. */
struct vv_clock_quality vv_clock_measure(void);

/* Median cost of reading vv_clock_cpu_ns(), itself CPU time: measured once, which takes a millisecond. */
vv_ns vv_clock_cpu_cost_ns(void);

#endif
