/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/link/strip.h"

#include <math.h>

/* Three years: what is further apart is no clock. A sum of a few such numbers, or ten times one, is a number yet. */
#define FAR_NS 1e17

/* An instant, and by how much the other clock is ahead there: both counted from the first reading. */
struct point {
  double at_ns;
  double ahead_ns;
};

/* The bounds of all readings: lines run below the one kind and above the other. */
struct bounds {
  size_t count;
  struct point above[VV_STRIP_READINGS_MAX];
  struct point below[VV_STRIP_READINGS_MAX];
};

/* Where the line through p and q is at that instant. */
static double through(const struct point *p, const struct point *q, double at_ns) {
  return p->ahead_ns + (q->ahead_ns - p->ahead_ns) / (q->at_ns - p->at_ns) * (at_ns - p->at_ns);
}

static bool in_order(double first, double second, double third) {
  return (first - second) * (second - third) >= 0;
}

/*
 * The highest that a line can be at that instant. It is stopped by two points above it, one on either side, or by one
 * above and, on that one's far side, one below it. (These are the solutions of the dual linear programme.)
 */
static double highest(const struct bounds *bounds, double at_ns) {
  double highest_ns = INFINITY;
  for (size_t i = 0; i < bounds->count; i++) {
    const struct point *stop = &bounds->above[i];
    for (size_t k = 0; k < bounds->count; k++) {
      const struct point *other = &bounds->above[k], *below = &bounds->below[k];
      if (other->at_ns != stop->at_ns && in_order(stop->at_ns, at_ns, other->at_ns)) {
        highest_ns = fmin(highest_ns, through(stop, other, at_ns));
      }
      if (below->at_ns != stop->at_ns && in_order(below->at_ns, stop->at_ns, at_ns)) {
        highest_ns = fmin(highest_ns, through(below, stop, at_ns));
      }
    }
  }
  return highest_ns;
}

/* The same upside down: what was below is above. */
static struct bounds mirrored(const struct bounds *bounds) {
  struct bounds mirror = {.count = bounds->count};
  for (size_t i = 0; i < bounds->count; i++) {
    mirror.above[i] = (struct point){bounds->below[i].at_ns, -bounds->below[i].ahead_ns};
    mirror.below[i] = (struct point){bounds->above[i].at_ns, -bounds->above[i].ahead_ns};
  }
  return mirror;
}

static int64_t whole(double ns) {
  return (int64_t)fmax(-FAR_NS, fmin(FAR_NS, ns));
}

bool vv_strip_fit(struct vv_strip *strip, const struct vv_strip_reading *readings, size_t count) {
  vv_ns begin_ns = readings[0].earliest_ns, ahead_ns = readings[0].theirs_ns - begin_ns;
  struct bounds bounds = {.count = count};
  for (size_t i = 0; i < count; i++) {
    const struct vv_strip_reading *one = &readings[i];
    bounds.above[i] =
        (struct point){(double)(one->earliest_ns - begin_ns), (double)(one->theirs_ns - one->earliest_ns - ahead_ns)};
    bounds.below[i] =
        (struct point){(double)(one->latest_ns - begin_ns), (double)(one->theirs_ns - one->latest_ns - ahead_ns)};
  }
  struct bounds mirror = mirrored(&bounds);
  bool fits = true;
  for (int i = 0; i < 2; i++) {
    double at_ns = (double)(strip->at_ns[i] - begin_ns);
    double low_ns = -highest(&mirror, at_ns), high_ns = highest(&bounds, at_ns);
    fits = fits && low_ns <= high_ns;
    strip->low_ns[i] = ahead_ns + whole(floor(low_ns));
    strip->high_ns[i] = ahead_ns + whole(ceil(high_ns));
  }
  int64_t drift_ppb[2];
  vv_strip_drift_ppb(strip, drift_ppb);
  return fits && drift_ppb[0] <= VV_STRIP_DRIFT_PPB_MAX && drift_ppb[1] >= -VV_STRIP_DRIFT_PPB_MAX;
}

static vv_ns middle_ns(const struct vv_strip *strip, int i) {
  return strip->low_ns[i] + (strip->high_ns[i] - strip->low_ns[i]) / 2;
}

vv_ns vv_strip_ahead_ns(const struct vv_strip *strip, vv_ns at_ns) {
  vv_ns ahead_ns = middle_ns(strip, 0), took_ns = strip->at_ns[1] - strip->at_ns[0];
  if (took_ns <= 0) return ahead_ns;
  double part = (double)(at_ns - strip->at_ns[0]) / (double)took_ns;
  return ahead_ns + whole(part * (double)(middle_ns(strip, 1) - ahead_ns));
}

vv_ns vv_strip_half_width_ns(const struct vv_strip *strip) {
  vv_ns begin_ns = strip->high_ns[0] - strip->low_ns[0], end_ns = strip->high_ns[1] - strip->low_ns[1];
  return ((begin_ns > end_ns ? begin_ns : end_ns) + 1) / 2;
}

void vv_strip_drift_ppb(const struct vv_strip *strip, int64_t drift_ppb[2]) {
  double took_ns = fmax(1, (double)(strip->at_ns[1] - strip->at_ns[0]));
  drift_ppb[0] = whole(1e9 * ((double)(strip->low_ns[1] - strip->high_ns[0]) / took_ns));
  drift_ppb[1] = whole(1e9 * ((double)(strip->high_ns[1] - strip->low_ns[0]) / took_ns));
}
