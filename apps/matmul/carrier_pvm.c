/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By PVM 3: `vaiven run --stack pvm -n 1` starts one task, which spawns the others by the name of its program and tells
 * all of them by pvm_mcast who they are. Messages are copied (PvmDataRaw) and go over direct connections. A broadcast
 * is on its way when pvm_mcast returns; a receiver takes it in carrier_wait.
 */
#include <pvm3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "carrier.h"

/* What goes to all and what goes to one have tags of their own: on different ways one overtakes the other. */
#define TAG_ALL 1
#define TAG_ONE 2

const char carrier_name[] = "pvm";

static struct carrier at;
static int tasks_of[CARRIER_RANKS_MAX]; /* by rank */
static struct {
  int root;
  void *data;
  size_t size_bytes;
} begun;

static void fail(const char *what, int code) {
  fprintf(stderr, "vaiven-matmul: PVM cannot %s: error %d\n", what, code);
  pvm_exit();
  exit(1);
}

static int need(int code, const char *what) {
  if (code < 0) fail(what, code);
  return code;
}

static void pack(const void *data, size_t size_bytes) {
  need(pvm_initsend(PvmDataRaw), "make a message");
  need(pvm_pkbyte((char *)(uintptr_t)data, (int)size_bytes, 1), "pack a message");
}

static void give(int to, const void *data, size_t size_bytes) {
  pack(data, size_bytes);
  need(pvm_send(tasks_of[to], TAG_ONE), "send");
}

static void give_all(const void *data, size_t size_bytes) {
  int others[CARRIER_RANKS_MAX], count = 0;
  for (int rank = 0; rank < at.ranks; rank++) {
    if (rank != at.rank) others[count++] = tasks_of[rank];
  }
  if (count == 0) return;
  pack(data, size_bytes);
  need(pvm_mcast(others, count, TAG_ALL), "send to all");
}

/* A task that has ended is noticed. What it has sent before may be on its way then, so that is waited for once more. */
static void take(int task, int tag, void *data, size_t size_bytes) {
  int code = 0;
  for (int gone = 0; code == 0; gone += code == 0 && pvm_pstat(task) != PvmOk) {
    struct timeval tick = {.tv_sec = 1};
    if (gone > 1) fail("hear from a task that has ended", PvmNoTask);
    code = need(pvm_trecv(task, tag, &tick), "receive");
  }
  need(pvm_upkbyte(data, (int)size_bytes, 1), "unpack a message");
}

/* The others are dealt out to the hosts in turn, from the one behind ours on. */
static void spawn(char **argv) {
  int hosts = 0, formats, own = 0;
  struct pvmhostinfo *host;
  const char *slash = strrchr(argv[0], '/');
  char *name = slash ? argv[0] + (slash + 1 - argv[0]) : argv[0];
  need(pvm_config(&hosts, &formats, &host), "name its hosts");
  for (int i = 0; i < hosts; i++) {
    if (host[i].hi_tid == pvm_tidtohost(tasks_of[0])) own = i;
  }
  if (at.ranks == 0) at.ranks = hosts;
  for (int rank = 1; rank < at.ranks; rank++) {
    char *where = host[(own + rank) % hosts].hi_name;
    if (pvm_spawn(name, argv + 1, PvmTaskHost, where, 1, &tasks_of[rank]) != 1) fail("start a task", tasks_of[rank]);
  }
  give_all(&at.ranks, sizeof at.ranks);
  give_all(tasks_of, (size_t)at.ranks * sizeof *tasks_of);
}

/*
 * Makes the direct connections, each from the lower rank to the higher one, which answers. Where both begin at once,
 * messages that go through the daemons meanwhile are overtaken by later ones.
 */
static void connect_all(void) {
  for (int other = 0; other < at.ranks; other++) {
    if (other > at.rank) give(other, "", 1);
    if (other != at.rank) take(tasks_of[other], TAG_ONE, &(char){0}, 1);
    if (other < at.rank) give(other, "", 1);
  }
}

struct carrier carrier_open(int tasks, char **argv) {
  pvm_setopt(PvmAutoErr, 0);
  int own = need(pvm_mytid(), "find its daemon"), parent = pvm_parent();
  pvm_setopt(PvmRoute, PvmRouteDirect);
  if (parent == PvmNoParent) {
    tasks_of[0] = own;
    at.ranks = tasks;
    spawn(argv);
  } else {
    take(parent, TAG_ALL, &at.ranks, sizeof at.ranks);
    take(parent, TAG_ALL, tasks_of, (size_t)at.ranks * sizeof *tasks_of);
    while (tasks_of[at.rank] != own) at.rank++;
  }
  connect_all();
  return at;
}

void carrier_broadcast(int root, void *data, size_t size_bytes) {
  if (root == at.rank)
    give_all(data, size_bytes);
  else
    take(tasks_of[root], TAG_ALL, data, size_bytes);
}

void carrier_begin_broadcast(int root, void *data, size_t size_bytes) {
  begun.root = root;
  begun.data = data;
  begun.size_bytes = size_bytes;
  if (root == at.rank) give_all(data, size_bytes);
}

void carrier_wait(void) {
  if (begun.root != at.rank) take(tasks_of[begun.root], TAG_ALL, begun.data, begun.size_bytes);
}

/* PVM has no such operation for all: one task collects the parts, and sends them to all. */
void carrier_allgather(const void *own, void *all, size_t part_bytes) {
  uint8_t *parts = all;
  if (at.rank > 0) give(0, own, part_bytes);
  for (int other = 1; at.rank == 0 && other < at.ranks; other++) {
    take(tasks_of[other], TAG_ONE, parts + (size_t)other * part_bytes, part_bytes);
  }
  if (at.rank == 0) memcpy(parts, own, part_bytes);
  carrier_broadcast(0, all, (size_t)at.ranks * part_bytes);
}

void carrier_mesh(const void *own, void *all, size_t part_bytes) {
  uint8_t *parts = all;
  for (int other = 0; other < at.ranks; other++) {
    if (other != at.rank) give(other, own, part_bytes);
  }
  for (int other = 0; other < at.ranks; other++) {
    if (other != at.rank) take(tasks_of[other], TAG_ONE, parts + (size_t)other * part_bytes, part_bytes);
  }
  memcpy(parts + (size_t)at.rank * part_bytes, own, part_bytes);
}

void carrier_barrier(void) {
  static char all[CARRIER_RANKS_MAX];
  carrier_allgather("", all, 1);
}

void carrier_close(void) {
  pvm_exit();
}
