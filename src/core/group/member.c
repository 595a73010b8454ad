/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/member.h"

void vv_member_init(struct vv_member *member, vv_ns rtt_ns) {
  *member = (struct vv_member){.rtt_ns = rtt_ns, .cry_ns = VV_NEVER};
}

bool vv_member_fail(struct vv_member *member, const struct vv_member_failure *failure, vv_ns cry_ns) {
  if (member->failed) return false;
  member->failed = true;
  member->failure = *failure;
  member->cry_ns = cry_ns;
  return true;
}

bool vv_member_cry(struct vv_member *member, vv_ns now_ns) {
  if (member->cry_ns > now_ns) return false;
  member->cries++;
  member->cry_ns = member->cries < VV_MEMBER_CRIES ? now_ns + (member->rtt_ns << member->cries) : VV_NEVER;
  return true;
}
