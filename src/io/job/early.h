/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams of a group that is being made here, from members that have heard sooner
 * that it is there. They are kept until it is: what is lost of a group's first
 * message is asked for again much later.
 */
#ifndef VV_IO_JOB_EARLY_H
#define VV_IO_JOB_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/group/rank.h"

enum {
  VV_EARLY_MAX = 32,    /* so many are kept, */
  VV_EARLY_NUMBERS = 8, /* of groups of so many numbers, one of which it gets unless others have all these */
};

struct vv_early {
  bool open;                          /* a group is being made */
  uint32_t numbers[VV_EARLY_NUMBERS]; /* it may get */
  uint8_t *bytes;                     /* VV_EARLY_MAX times `room`; NULL: none is kept */
  size_t room;                        /* for one datagram */
  unsigned count;
  struct vv_early_datagram {
    uint32_t number; /* of its group */
    enum vv_rank_socket socket;
    size_t bytes;
  } kept[VV_EARLY_MAX];
};

/* A group of that list (core/wire/accord.h) is being made. Without memory nothing will be kept. */
void vv_early_begin(struct vv_early *early, uint32_t list, size_t room);

/* True: it may be of the group that is being made, and is kept if there is room. */
bool vv_early_keep(struct vv_early *early, uint32_t number, enum vv_rank_socket socket, const uint8_t *bytes,
                   size_t count);

/* The group is there, with that number: its core takes what was kept, and believes what is its own. */
void vv_early_give(const struct vv_early *early, uint32_t number, struct vv_rank *core, vv_ns now_ns);

/* Nothing is being made: what was kept is forgotten. */
void vv_early_end(struct vv_early *early);

void vv_early_free(struct vv_early *early);

#endif
