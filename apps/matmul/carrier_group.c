/* SPDX-License-Identifier: BSD-3-Clause */
/* By libvaiven: started by `vaiven run --stack group`, or by whatever sets the same variables. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carrier.h"
#include "vaiven/coll.h"

#define MEETING_MS 30000

const char carrier_name[] = "group";

static struct carrier at;
static struct vv_group *group;
static struct vv_group_operation *begun;
static struct vv_group_problem problem;

static void need(bool done) {
  if (done) return;
  fprintf(stderr, "vaiven-matmul: %s\n", problem.text);
  exit(1);
}

struct carrier carrier_open(int tasks, char **argv) {
  struct vv_group_config config = {VV_GROUP_CONFIG, .timeout_ms = MEETING_MS};
  (void)tasks;
  (void)argv;
  need(vv_group_from_environment(&config, &problem) == 0);
  group = vv_group_open(&config, &problem);
  need(group != NULL);
  at = (struct carrier){.ranks = (int)config.ranks, .rank = (int)config.rank};
  return at;
}

void carrier_broadcast(int root, void *data, size_t size_bytes) {
  need(vv_group_broadcast(group, (uint32_t)root, data, size_bytes, &problem) == 0);
}

void carrier_begin_broadcast(int root, void *data, size_t size_bytes) {
  begun = vv_group_begin_broadcast(group, (uint32_t)root, data, size_bytes, &problem);
  need(begun != NULL);
}

static void wait_for(struct vv_group_operation *operation) {
  need(vv_group_wait(operation, UINT32_MAX, NULL, &problem) == 0);
}

void carrier_wait(void) {
  wait_for(begun);
}

void carrier_allgather(const void *own, void *all, size_t part_bytes) {
  const struct vv_coll_call call = {VV_COLL_CALL,  .kind = VV_COLL_ALLGATHER, .given = own,
                                    .result = all, .count = part_bytes,       .type = VV_DATA_CHAR};
  need(vv_coll(group, &call, &problem) == 0);
}

/* All are begun before one is waited for: nobody's large message then waits for another's. */
void carrier_mesh(const void *own, void *all, size_t part_bytes) {
  static struct vv_group_operation *operations[2 * CARRIER_RANKS_MAX];
  int count = 0;
  uint8_t *parts = all;
  for (int other = 0; other < at.ranks; other++) {
    if (other == at.rank) continue;
    uint8_t *part = parts + (size_t)other * part_bytes;
    operations[count] = vv_group_begin_take(group, (uint32_t)other, part, part_bytes, &problem);
    need(operations[count++] != NULL);
    operations[count] = vv_group_begin_send(group, (uint32_t)other, own, part_bytes, &problem);
    need(operations[count++] != NULL);
  }
  memcpy(parts + (size_t)at.rank * part_bytes, own, part_bytes);
  for (int i = 0; i < count; i++) wait_for(operations[i]);
}

void carrier_barrier(void) {
  need(vv_coll(group, &(struct vv_coll_call){VV_COLL_CALL, .kind = VV_COLL_BARRIER}, &problem) == 0);
}

void carrier_close(void) {
  vv_group_leave(group);
}
