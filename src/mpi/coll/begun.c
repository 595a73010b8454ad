/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/begun.h"

#include <poll.h>
#include <stdlib.h>

#include "mpi/coll/gate.h"
#include "mpi/coll/report.h"

enum { WAY_MS = 1 }; /* for a thread that was let in, before this one wants in again */

/* Those under way, the first first, and how many they are: who has not come through the gate reads the number alone. */
static struct vv_begun *first;
static unsigned count;

struct vv_begun_group *vv_begun_group_new(struct vv_group *group, bool is_own) {
  struct vv_begun_group *by = malloc(sizeof *by);
  if (by) *by = (struct vv_begun_group){.group = group, .is_own = is_own};
  if (!by && is_own) vv_group_leave(group);
  return by;
}

static void end_group(struct vv_begun_group *by) {
  if (by->is_own) vv_group_leave(by->group);
  free(by);
}

void vv_begun_group_free(struct vv_begun_group *by) {
  if (!by) return;
  vv_gate_enter();
  by->is_freed = true;
  if (by->under_way == 0) end_group(by);
  vv_gate_leave();
}

bool vv_begun_any(void) {
  return __atomic_load_n(&count, __ATOMIC_RELAXED) > 0;
}

static void add(struct vv_begun *begun) {
  struct vv_begun **place = &first;
  while (*place) place = &(*place)->next;
  *place = begun;
  begun->next = NULL;
  begun->by->under_way++;
  __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

bool vv_begun_start(struct vv_begun *begun, struct vv_begun_group *by) {
  struct vv_group_problem problem = {.text = "there is no memory for its copy"};
  struct vv_area *area = &begun->area;
  begun->by = by;
  begun->operation = NULL;
  const bool has_area = vv_area_begin(area, begun->convert, begun->rank == begun->root);
  vv_gate_enter();
  if (has_area)
    begun->operation = vv_group_begin_broadcast(by->group, begun->root, area->bytes, area->size_bytes, &problem);
  if (begun->operation) add(begun);
  vv_gate_leave();
  if (begun->operation) return true;
  vv_report_broadcast_failed(begun->root, begun->rank, problem.text);
  vv_area_end(area, begun->convert, false);
  return false;
}

/* It is under way no more. */
static void end(struct vv_begun **place, int result, const struct vv_group_problem *problem) {
  struct vv_begun *begun = *place;
  struct vv_begun_group *by = begun->by;
  const bool takes = begun->rank != begun->root;
  *place = begun->next;
  __atomic_sub_fetch(&count, 1, __ATOMIC_RELAXED);
  if (--by->under_way == 0 && by->is_freed) end_group(by);
  if (result != 0) vv_report_broadcast_failed(begun->root, begun->rank, problem->text);
  const bool done = vv_area_end(&begun->area, begun->convert, result == 0 && takes) && result == 0;
  begun->ended(begun, done);
}

unsigned vv_begun_turn(void) {
  struct vv_group_problem problem;
  const struct vv_begun_group *waits = NULL; /* what was begun in it later has not ended either */
  unsigned ended = 0;
  if (!vv_begun_any() || !vv_gate_try()) return 0;
  for (struct vv_begun **place = &first; *place;) {
    const struct vv_begun_group *by = (*place)->by;
    const int result = by == waits ? VV_GROUP_PENDING : vv_group_test((*place)->operation, NULL, &problem);
    if (result == VV_GROUP_PENDING) {
      waits = by;
      place = &(*place)->next;
    } else {
      end(place, result, &problem);
      ended++;
    }
  }
  vv_gate_leave();
  return ended;
}

static struct vv_begun **place_of(intptr_t name) {
  struct vv_begun **place = &first;
  while (*place && (*place)->name != name) place = &(*place)->next;
  return place;
}

void vv_begun_await(intptr_t name, void (*progress)(void)) {
  struct vv_group_problem problem;
  for (;;) {
    vv_gate_enter();
    struct vv_begun **place = place_of(name);
    const int result = *place ? vv_group_wait((*place)->operation, UINT32_MAX, NULL, &problem) : 0;
    const bool gives_way = result == VV_GROUP_STOPPED;
    if (*place && !gives_way) end(place, result, &problem);
    vv_gate_leave();
    if (!gives_way) return;
    progress();
    poll(NULL, 0, WAY_MS);
  }
}

void vv_begun_forget_all(void) {
  first = NULL;
  __atomic_store_n(&count, 0, __ATOMIC_RELAXED);
}
