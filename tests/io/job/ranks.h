/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of a job as threads of one process, over loopback: each has sockets and a
 * thread of the library of its own, as if it were alone. What a rank finds wrong is
 * said by CHECK, because only the test's own thread may use the assertions of cmocka.
 */
#ifndef VV_TESTS_IO_JOB_RANKS_H
#define VV_TESTS_IO_JOB_RANKS_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/os/socket.h"
#include "vaiven/group.h"

enum { RANKS = 4, TIMEOUT_MS = 60000 };

static atomic_uint wrong;         /* what was found */
static enum vv_group_route route; /* that all ask for */
static pthread_barrier_t all_here;

#define CHECK(what) check((what), #what, __LINE__)

static inline bool check(bool right, const char *what, int line) {
  if (!right) {
    wrong++;
    fprintf(stderr, "line %d: not %s\n", line, what);
  }
  return right;
}

struct rank {
  uint32_t rank;
  struct vv_group_config config;
  void (*live)(struct rank *rank);
  pthread_t thread;
};

/* A port and the one after it that are free now. */
static inline void find_meeting(char meeting[VV_ADDRESS_TEXT_MAX]) {
  struct vv_address first, second;
  struct vv_error error;
  int fd = -1, next = -1;
  while (next < 0) {
    assert_int_equal(vv_address_parse("127.0.0.1", 0, &first, &error), 0);
    fd = vv_socket_listening(&first, 0, 0, 1, &error);
    assert_int_equal(vv_address_parse("127.0.0.1", 0, &second, &error), 0);
    const uint16_t port = (uint16_t)(vv_address_port(&first) + 1);
    if (port > 0) next = vv_socket_listening(&second, port, port, 1, &error);
    close(fd);
  }
  close(next);
  vv_address_format(&first, meeting);
}

static inline void *live_on(void *argument) {
  struct rank *rank = argument;
  rank->live(rank);
  return NULL;
}

/* All ranks live that life, each in a thread of its own, and find nothing wrong. */
static inline void let_live(void (*live)(struct rank *rank), uint32_t timeout_ms) {
  char meeting[VV_ADDRESS_TEXT_MAX];
  struct rank ranks[RANKS];
  find_meeting(meeting);
  wrong = 0;
  pthread_barrier_init(&all_here, NULL, RANKS);
  for (uint32_t i = 0; i < RANKS; i++) {
    ranks[i] = (struct rank){.rank = i, .live = live};
    ranks[i].config =
        (struct vv_group_config){VV_GROUP_CONFIG,    .ranks = RANKS,           .rank = i,     .address = "127.0.0.1",
                                 .meeting = meeting, .timeout_ms = timeout_ms, .route = route};
    memset(ranks[i].config.key, 7, sizeof ranks[i].config.key);
    assert_int_equal(pthread_create(&ranks[i].thread, NULL, live_on, &ranks[i]), 0);
  }
  for (uint32_t i = 0; i < RANKS; i++) pthread_join(ranks[i].thread, NULL);
  pthread_barrier_destroy(&all_here);
  assert_int_equal(wrong, 0);
}

static inline void meet_here(void) {
  pthread_barrier_wait(&all_here);
}

#endif
