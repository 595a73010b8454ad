/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/family.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct vv_family *families; /* by their numbers */

uint32_t vv_family_rank(const struct vv_family *family, uint64_t who) {
  for (uint32_t rank = 0; rank < family->ranks; rank++) {
    if (family->who[rank] == who) return rank;
  }
  return UINT32_MAX;
}

static bool has_all(const struct vv_family *family, const uint64_t *who, uint32_t ranks) {
  for (uint32_t i = 0; i < ranks; i++) {
    if (vv_family_rank(family, who[i]) == UINT32_MAX) return false;
  }
  return true;
}

static bool is_all(const struct vv_family *family, const uint32_t *members, uint32_t ranks) {
  uint32_t in_place = 0;
  while (in_place < ranks && members[in_place] == in_place) in_place++;
  return in_place == family->ranks;
}

struct vv_group *vv_family_group_of(const struct vv_family *family, const uint32_t *members, uint32_t ranks) {
  if (is_all(family, members, ranks)) return family->group;
  for (uint32_t i = 0; i < family->part_count; i++) {
    const struct vv_family_part *part = &family->parts[i];
    if (part->ranks == ranks && memcmp(part->members, members, ranks * sizeof *members) == 0) return part->group;
  }
  return NULL;
}

void vv_family_keep(struct vv_family *family, uint32_t *members, uint32_t ranks, struct vv_group *group) {
  assert(family->part_count < VV_GROUP_AMONG_MAX);
  family->parts[family->part_count++] = (struct vv_family_part){ranks, members, group};
}

struct vv_family *vv_family_of(const uint64_t *who, uint32_t ranks) {
  struct vv_family *one = families;
  while (one && !has_all(one, who, ranks)) one = one->next;
  return one;
}

uint32_t vv_family_count(void) {
  uint32_t count = 0;
  for (const struct vv_family *one = families; one; one = one->next) count++;
  return count;
}

static void free_one(struct vv_family *family) {
  free(family->who);
  free(family->addresses);
  free(family);
}

struct vv_family *vv_family_add(const struct vv_family *family) {
  struct vv_family *added = malloc(sizeof *added), **place = &families;
  const size_t who_bytes = family->ranks * sizeof *family->who;
  const size_t addresses_bytes = family->ranks * sizeof *family->addresses;
  if (!added) return NULL;
  *added = *family;
  added->who = malloc(who_bytes);
  added->addresses = malloc(addresses_bytes);
  if (!added->who || !added->addresses) return free_one(added), NULL;
  memcpy(added->who, family->who, who_bytes);
  memcpy(added->addresses, family->addresses, addresses_bytes);
  while (*place && (*place)->number < added->number) place = &(*place)->next;
  added->next = *place;
  *place = added;
  return added;
}

void vv_family_leave(struct vv_family *family) {
  struct vv_family **place = &families;
  while (*place != family) place = &(*place)->next;
  *place = family->next;
  for (uint32_t i = 0; i < family->part_count; i++) {
    vv_group_leave(family->parts[i].group);
    free(family->parts[i].members);
  }
  vv_group_leave(family->group);
  free_one(family);
}

void vv_family_leave_all(void) {
  while (families) vv_family_leave(families);
}
