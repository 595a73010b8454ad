/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/gate.h"

#include <pthread.h>

static bool has_threads;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static unsigned wanting; /* threads that wait for it */
static bool tried;       /* somebody did not wait */
static _Thread_local bool inside;

void vv_gate_begin(bool threads) {
  has_threads = threads;
}

void vv_gate_enter(void) {
  if (has_threads) {
    __atomic_add_fetch(&wanting, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&one_at_a_time);
    __atomic_sub_fetch(&wanting, 1, __ATOMIC_SEQ_CST);
  }
  inside = true;
}

bool vv_gate_try(void) {
  if (inside) return false;
  if (has_threads && pthread_mutex_trylock(&one_at_a_time) != 0) {
    __atomic_store_n(&tried, true, __ATOMIC_SEQ_CST);
    return false;
  }
  inside = true;
  return true;
}

void vv_gate_leave(void) {
  inside = false;
  if (!has_threads) return;
  __atomic_store_n(&tried, false, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&one_at_a_time);
}

bool vv_gate_is_wanted(void) {
  return __atomic_load_n(&wanting, __ATOMIC_SEQ_CST) > 0 || __atomic_load_n(&tried, __ATOMIC_SEQ_CST);
}
