/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one direction of a link does to the frames that pass: loses them (each
 * by itself, or in bursts), spoils, repeats, delays and overtakes them.
 *
 * Every link draws from numbers of its own, and the same count of them for
 * every frame: what happens on one link, or whether one fault is asked for,
 * does not change the luck of the others.
 */
#ifndef VV_CORE_ETHERNET_FAULTS_H
#define VV_CORE_ETHERNET_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/rng.h"
#include "core/base/time.h"

/* Why a frame is lost. */
enum vv_drop {
  VV_DROP_LOSS,       /* by the link, a fault */
  VV_DROP_CORRUPT,    /* a bit flipped, found by the check sequence: a fault */
  VV_DROP_CUT,        /* the cable is cut: a fault */
  VV_DROP_COLLISIONS, /* 16 attempts, 16 collisions (hub) */
  VV_DROP_GARBLED,    /* a collision after the sender had finished: the hub is longer than the standard allows */
  VV_DROP_QUEUE,      /* no room in the queue of a switch's port */
  VV_DROP_ROOM,       /* the model has no room for frames delayed on links: give it more */
  VV_DROPS
};

/* The faults asked for: probabilities 0 .. 1 of each frame; all 0 is a good link. */
struct vv_faults_config {
  double loss;        /* outside bursts */
  double burst_enter; /* a burst begins at this frame (E. N. Gilbert 1960, E. O. Elliott 1963) */
  double burst_leave; /* and ends */
  double burst_loss;  /* of a frame in a burst */
  double corrupt;
  double duplicate; /* the frame arrives twice */
  double reorder;   /* the frame is late, and those behind it overtake it */
  vv_ns reorder_ns; /* late by 1 .. this; > 0 when reorder is */
  vv_ns delay_ns;   /* of every frame */
};

struct vv_faults {
  struct vv_faults_config config;
  struct vv_rng rng;
  bool bursting;
  bool cut;
  vv_ns last_ns; /* when the last frame in order arrives */
};

/* What becomes of one frame. */
struct vv_faults_fate {
  uint32_t copies;  /* 0, 1, 2 */
  enum vv_drop why; /* of 0 copies */
  vv_ns arrives_ns; /* the copies, one behind the other */
};

/* A good link: number `link` of those that one seed serves. */
void vv_faults_init(struct vv_faults *faults, uint64_t seed, uint32_t link);

/* Decides about a frame whose last bit would come through at now_ns. */
struct vv_faults_fate vv_faults_decide(struct vv_faults *faults, vv_ns now_ns);

#endif
