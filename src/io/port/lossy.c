/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/port/lossy.h"

#include "core/base/time.h"

enum { MILLION = 1000000 };

void vv_lossy_init(struct vv_lossy *lossy, struct vv_port inner, uint32_t loss_ppm, uint64_t seed) {
  *lossy = (struct vv_lossy){.inner = inner, .rng = {.state = seed}, .loss_ppm = loss_ppm};
}

static bool is_lost(struct vv_lossy *lossy, uint32_t *next) {
  bool lost = *next > 0 || (lossy->loss_ppm > 0 && vv_rng_next(&lossy->rng) % MILLION < lossy->loss_ppm);
  if (*next > 0) --*next;
  lossy->lost += lost;
  return lost;
}

/* A unit is judged when it is first seen, however often it is peeked at. */
static bool peek(void *self, struct vv_port_unit *unit) {
  struct vv_lossy *lossy = self;
  while (lossy->inner.ops->peek(lossy->inner.self, unit)) {
    if (lossy->kept || !is_lost(lossy, &lossy->drop_received)) {
      lossy->kept = true;
      return true;
    }
    lossy->inner.ops->release(lossy->inner.self);
  }
  return false;
}

static void release(void *self) {
  struct vv_lossy *lossy = self;
  lossy->kept = false;
  lossy->inner.ops->release(lossy->inner.self);
}

/* One by one: a batch with holes would be another batch. */
static int send_units(void *self, struct iovec units[][VV_PORT_PIECES], size_t count) {
  struct vv_lossy *lossy = self;
  for (size_t i = 0; i < count; i++) {
    if (is_lost(lossy, &lossy->drop_sent)) continue;
    if (lossy->inner.ops->send(lossy->inner.self, units + i, 1) != 1) return i > 0 ? (int)i : -1;
  }
  return (int)count;
}

static int wait_unit(void *self, vv_ns deadline_ns) {
  struct vv_lossy *lossy = self;
  return lossy->inner.ops->wait(lossy->inner.self, deadline_ns);
}

static int descriptor(void *self) {
  struct vv_lossy *lossy = self;
  return lossy->inner.ops->descriptor(lossy->inner.self);
}

static int check(void *self, struct vv_error *error) {
  struct vv_lossy *lossy = self;
  return lossy->inner.ops->check(lossy->inner.self, error);
}

struct vv_port vv_lossy_port(struct vv_lossy *lossy) {
  static const struct vv_port_ops ops = {.peek = peek,
                                         .release = release,
                                         .send = send_units,
                                         .wait = wait_unit,
                                         .descriptor = descriptor,
                                         .check = check};
  return (struct vv_port){.ops = &ops, .self = lossy};
}
