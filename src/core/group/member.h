/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the group is whole, and how everybody learns that it is not.
 *
 * The first failure that a rank hears of is the group's, for this rank. Who found
 * it tells all, by multicast, a few times; whoever knows of it tells everybody
 * who asks it anything, for as long as it lives. So no rank that is in an
 * operation stays without it: a rank that waits asks one rank after the other.
 */
#ifndef VV_CORE_GROUP_MEMBER_H
#define VV_CORE_GROUP_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/wire/gpdu.h"

#define VV_MEMBER_CRIES 5

struct vv_member_failure {
  enum vv_gpdu_why why;
  uint32_t rank;      /* who it is about */
  uint32_t operation; /* modulo 2^32 */
  uint32_t source;    /* who found it */
};

struct vv_member {
  bool failed;
  struct vv_member_failure failure;
  vv_ns rtt_ns;
  vv_ns cry_ns;   /* when to tell all, again; VV_NEVER */
  uint32_t cries; /* so far */
};

void vv_member_init(struct vv_member *member, vv_ns rtt_ns);

/*
 * The group has failed. False when it had before: the first failure counts.
 * cry_ns: when to tell all; VV_NEVER for a rank that was told itself.
 */
bool vv_member_fail(struct vv_member *member, const struct vv_member_failure *failure, vv_ns cry_ns);

/* True when it is time to tell all, which is then taken as done. */
bool vv_member_cry(struct vv_member *member, vv_ns now_ns);

#endif
