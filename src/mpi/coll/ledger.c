/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/ledger.h"

#include <stdlib.h>
#include <string.h>

static int class_of(size_t bytes) {
  return 63 - __builtin_clzll((unsigned long long)bytes);
}

/* Half of what is kept goes, so that what stays is from all calls evenly. */
static void thin(struct vv_ledger_class *of) {
  of->kept /= 2;
  of->stride *= 2;
  for (uint32_t i = 0; i < of->kept; i++) of->ns[i] = of->ns[2 * i];
}

bool vv_ledger_add(struct vv_ledger *ledger, size_t bytes, vv_ns spent_ns, vv_ns wire_ns) {
  struct vv_ledger_class **place = &ledger->classes[class_of(bytes)], *of = *place;
  if (!of) {
    of = calloc(1, sizeof *of);
    if (!of) return false;
    of->stride = 1;
    of->forecast = vv_ledger_line(ledger, bytes);
    if (of->forecast.basis == VV_LEDGER_NOTHING && wire_ns > 0)
      of->forecast =
          (struct vv_ledger_forecast){.basis = VV_LEDGER_WIRE, .ns_per_byte = (double)wire_ns / (double)bytes};
    *place = of;
  }
  if (of->calls % of->stride == 0) {
    if (of->kept == VV_LEDGER_KEPT_MAX) thin(of);
    if (of->calls % of->stride == 0) of->ns[of->kept++] = spent_ns;
  }
  of->calls++;
  of->bytes += bytes;
  return true;
}

/* Medians differ by as much as they are long: squares of relative distances, of which the sum is least. */
struct vv_ledger_forecast vv_ledger_line(const struct vv_ledger *ledger, size_t bytes) {
  double ones = 0, x = 0, xx = 0, y = 0, xy = 0, least = 0, most = 0;
  uint32_t classes = 0;
  for (int i = 0; i < VV_LEDGER_CLASSES; i++) {
    const struct vv_ledger_class *of = ledger->classes[i];
    if (!of || of->calls < VV_LEDGER_CALLS_MIN) continue;
    const double at = vv_ledger_bytes(of), ns = vv_ledger_median_ns(of);
    if (ns <= 0) continue;
    const double weight = 1 / (ns * ns);
    ones += weight, x += weight * at, xx += weight * at * at, y += weight * ns, xy += weight * at * ns;
    if (classes++ == 0) least = at;
    most = at;
  }
  const double spread = ones * xx - x * x;
  struct vv_ledger_forecast line = {.classes = classes};
  if (classes < 2 || most < VV_LEDGER_SPAN_MIN * least || spread <= 0) return (struct vv_ledger_forecast){0};
  if ((double)bytes > VV_LEDGER_REACH * most || (double)bytes * VV_LEDGER_REACH < least)
    return (struct vv_ledger_forecast){0};
  line.ns_per_byte = (ones * xy - x * y) / spread;
  line.alpha_ns = (y - line.ns_per_byte * x) / ones;
  if (line.ns_per_byte < 0 || line.alpha_ns < 0) return (struct vv_ledger_forecast){0};
  line.basis = VV_LEDGER_LINE;
  return line;
}

double vv_ledger_bytes(const struct vv_ledger_class *of) {
  return (double)of->bytes / (double)of->calls;
}

static int by_time(const void *a, const void *b) {
  const vv_ns one = *(const vv_ns *)a, other = *(const vv_ns *)b;
  return (one > other) - (one < other);
}

double vv_ledger_median_ns(const struct vv_ledger_class *of) {
  vv_ns sorted[VV_LEDGER_KEPT_MAX];
  memcpy(sorted, of->ns, of->kept * sizeof *sorted);
  qsort(sorted, of->kept, sizeof *sorted, by_time);
  const uint32_t low = (of->kept - 1) / 2, high = of->kept / 2;
  return ((double)sorted[low] + (double)sorted[high]) / 2;
}

double vv_ledger_foretold_ns(const struct vv_ledger_class *of) {
  return of->forecast.alpha_ns + of->forecast.ns_per_byte * vv_ledger_bytes(of);
}

void vv_ledger_end(struct vv_ledger *ledger) {
  for (int i = 0; i < VV_LEDGER_CLASSES; i++) free(ledger->classes[i]);
  *ledger = (struct vv_ledger){0};
}
