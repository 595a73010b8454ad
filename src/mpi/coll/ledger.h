/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls of one kind of operation took at this rank, by how many bytes everybody got
 * (classes of powers of two), and what they could be expected to take. Pure.
 *
 * What is foretold of a class is foretold before its first call, of what was measured
 * until then: by the line alpha + beta x bytes through the medians of other classes, or,
 * where they carry none, by what the wire takes, if that is known. A line is carried by
 * two classes or more, of VV_LEDGER_CALLS_MIN calls each, whose bytes differ by
 * VV_LEDGER_SPAN_MIN times or more; it has no negative part, and is believed
 * VV_LEDGER_REACH times beyond the classes that carry it. What is not carried is not said.
 */
#ifndef VV_MPI_COLL_LEDGER_H
#define VV_MPI_COLL_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"

enum {
  VV_LEDGER_CLASSES = 64,   /* of a size_t */
  VV_LEDGER_KEPT_MAX = 256, /* times that a median is of, evenly from all calls */
  VV_LEDGER_CALLS_MIN = 3,  /* of a class that carries a line */
  VV_LEDGER_SPAN_MIN = 4,   /* of what a line is through */
  VV_LEDGER_REACH = 16,
};

enum vv_ledger_basis {
  VV_LEDGER_NOTHING, /* nothing is foretold */
  VV_LEDGER_LINE,    /* by calls of other sizes before */
  VV_LEDGER_WIRE,    /* no other sizes had been measured: what the wire takes, which is the least */
};

/* Times in ns: alpha_ns + ns_per_byte x bytes. Of the wire: of the first call's bytes. */
struct vv_ledger_forecast {
  enum vv_ledger_basis basis;
  double alpha_ns, ns_per_byte;
  uint32_t classes; /* that a line is through */
};

struct vv_ledger_class {
  uint64_t calls, bytes; /* bytes: of all calls together */
  struct vv_ledger_forecast forecast;
  uint32_t kept, stride; /* every stride-th call is kept */
  vv_ns ns[VV_LEDGER_KEPT_MAX];
};

struct vv_ledger {
  struct vv_ledger_class *classes[VV_LEDGER_CLASSES]; /* class i: 2^i to 2^(i + 1) - 1 bytes; NULL: no call */
};

/* Adds a call by which everybody got so many bytes, 1 at least. `wire_ns`: of the wire alone, 0: unknown. False: there
 * is no memory, and the call is not counted. */
bool vv_ledger_add(struct vv_ledger *ledger, size_t bytes, vv_ns spent_ns, vv_ns wire_ns);

/* The line that the classes carry now, or VV_LEDGER_NOTHING, for such a size. */
struct vv_ledger_forecast vv_ledger_line(const struct vv_ledger *ledger, size_t bytes);

/* Of a class: the mean of its calls' bytes, their median time, and the one foretold for so many bytes. */
double vv_ledger_bytes(const struct vv_ledger_class *of);
double vv_ledger_median_ns(const struct vv_ledger_class *of);
double vv_ledger_foretold_ns(const struct vv_ledger_class *of);

/* Frees its classes. */
void vv_ledger_end(struct vv_ledger *ledger);

#endif
