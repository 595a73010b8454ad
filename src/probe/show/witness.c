/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Was the processor there? This process wants it for a moment every tick, before
 * all that is not real-time: it comes late only where nobody of us could have it, for a
 * hypervisor, the kernel itself or something real-time had taken it. What it is late by
 * is lost time, at the least: a processor that is taken between two ticks is missed
 * from the next one on.
 *
 * It says how it stands when it begins, and once more for each line that it reads.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "io/os/clock.h"
#include "io/os/host.h"
#include "probe/base/record.h"
#include "probe/show/show.h"

static const vv_ns tick_ns = 4 * VV_MS; /* as the kernel's own: a processor in use is interrupted as often anyway */
static const vv_ns late_ns = VV_MS;     /* less may be a long interrupt */

struct witness {
  int cpu;
  vv_ns began_ns;
  vv_ns lost_ns; /* in all */
  vv_ns longest_ns;
  int64_t gaps;
};

static void note(struct witness *witness, vv_ns gap_ns) {
  if (gap_ns <= late_ns) return;
  witness->gaps++;
  witness->lost_ns += gap_ns;
  if (gap_ns > witness->longest_ns) witness->longest_ns = gap_ns;
}

static int tell(const struct witness *witness, struct vv_error *error) {
  struct vv_record record;
  vv_record_begin_stream(&record, "witness");
  vv_record_int(&record, "cpu", witness->cpu);
  vv_record_int(&record, "for_ns", vv_clock_ns() - witness->began_ns);
  vv_record_int(&record, "lost_ns", witness->lost_ns);
  vv_record_int(&record, "longest_ns", witness->longest_ns);
  vv_record_int(&record, "gaps", witness->gaps);
  return vv_record_end(&record, error);
}

/* Waits for input until due_ns: 1 when there is some, 0 when it is time, or a signal came; -1 and *error. */
static int wait_until(vv_ns due_ns, struct vv_error *error) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  vv_ns left_ns = due_ns - vv_clock_ns();
  if (left_ns < 0) left_ns = 0;
  const struct timespec left = {.tv_sec = left_ns / VV_SEC, .tv_nsec = left_ns % VV_SEC};
  int ready = ppoll(&input, 1, &left, NULL);
  if (ready < 0 && errno != EINTR) return vv_error_errno(error, "poll", "cannot wait");
  return ready > 0;
}

/* Answers each line. 1: standard input has ended. */
static int answer(const struct witness *witness, struct vv_error *error) {
  char input[64];
  ssize_t got = read(STDIN_FILENO, input, sizeof input);
  int result = got <= 0;
  for (ssize_t i = 0; i < got && result == 0; i++) {
    if (input[i] == '\n') result = tell(witness, error);
  }
  return result;
}

int vv_show_witness(const struct vv_probe_config *config, struct vv_error *error) {
  struct witness witness = {.cpu = config->cpu, .began_ns = vv_clock_ns()};
  if (config->cpu < 0) {
    vv_error_set(error, "usage", "--cpu is missing");
    return vv_error_remedy(error, "see vaiven-probe --help");
  }
  if (vv_host_pin(config->cpu, error) != 0 || vv_host_come_first(error) != 0) return -1;
  int result = tell(&witness, error);
  vv_ns due_ns = vv_clock_ns() + tick_ns;
  while (result == 0) {
    int ready = wait_until(due_ns, error);
    vv_ns now_ns = vv_clock_ns();
    note(&witness, now_ns - due_ns);
    if (now_ns >= due_ns) due_ns = now_ns + tick_ns;
    result = ready > 0 ? answer(&witness, error) : ready;
  }
  return result > 0 ? 0 : -1;
}
