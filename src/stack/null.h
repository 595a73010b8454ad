/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The null stack's program: what its round trips take, exactly.
 *
 * It has a clock of its own, which only its messages move, so that a probe on
 * null gives the same records on any machine at any load, and whatever is
 * computed from them can be compared with what was programmed. One way:
 *
 *   t(n) = alpha_ns + beta_ns * n + jumps of the knees below n
 *   rtt(n) = 2 (t(n) + alpha_ns * start) * (1 + launch) + noise
 *
 * Of t(n), sending keeps the processor for o_s and receiving for o_r, and after a
 * message begins the path is taken for g + G n: messages that are sent faster
 * wait for it. So k messages d apart (from the end of one send to the begin of
 * the next) and one answer to the last take
 *
 *   (k - 1) * max(o_s + d, g + G n) + rtt(n)
 *
 * and L of LogGP is alpha_ns + beta_ns * n - o_s - o_r, n the smallest message.
 *
 * The text is a list "name=value,name=value"; `knee` may be repeated:
 *   alpha_ns=N       one-way cost of an empty message (50000)
 *   beta_ns=F        one-way cost per byte (0.08)
 *   knee=SIZE:NS[:F] messages above SIZE bytes take NS more, and F more per byte above SIZE; up to 8
 *   o_s=N, o_r=N     what sending and receiving cost the processor (0, 0)
 *   g=N, G=F         gap between messages: ns, and ns per byte (0, 0)
 *   noise=F          exponential, mean F of the round trip; never negative: the floor stays (0)
 *   launch=F         uniform in +-F of the round trip, drawn once per launch (0)
 *   start=F          uniform in +-F of alpha_ns, drawn once per launch (0)
 *   warm=N:NS        the first N round trips take up to NS more, falling to nothing (0:0)
 *   loss=P           an answer never comes (0)
 *   late=P           an answer comes after its time-out, before the next one (0)
 *   corrupt=P        an answer has a wrong byte (0)
 *   resolution_ns=N  quantum of the clock (1)
 *   back=N           the clock goes back by 1 ms in round trip number N (never)
 *   seed=N           of all chances; without it the launch key is the seed
 */
#ifndef VV_STACK_NULL_H
#define VV_STACK_NULL_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/siphash.h"
#include "core/base/time.h"
#include "io/os/error.h"

#define VV_NULL_KNEES_MAX 8

struct vv_null_program {
  vv_ns alpha_ns;
  double beta_ns;
  struct {
    int64_t above_bytes;
    vv_ns jump_ns;
    double beta_ns;
  } knees[VV_NULL_KNEES_MAX];
  size_t knee_count;
  vv_ns o_s_ns;
  vv_ns o_r_ns;
  vv_ns gap_ns;
  double gap_byte_ns;
  double noise;
  double launch;
  double start;
  int64_t warm_count;
  vv_ns warm_ns;
  double loss;
  double late;
  double corrupt;
  vv_ns resolution_ns;
  int64_t back;
  int64_t seed; /* -1: from the key */
};

/* Reads the text; NULL gives what stands in parentheses. 0, or -1 and *error "usage". */
int vv_null_program_parse(struct vv_null_program *program, const char *text, struct vv_error *error);

/* 2 t(n): without noise, launch and warm-up. */
vv_ns vv_null_program_rtt_ns(const struct vv_null_program *program, size_t size_bytes);

#endif
