/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/engine/engine.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "io/os/clock.h"

/* Who spins looks at the clock only every so often: a look at the ring costs a few ns, one at the clock many. */
enum { LOOKS_PER_READING = 16, ROOM_TRIES = 2000 };
static const vv_ns room_pause_ns = 50 * VV_US;
static const vv_ns check_ns = VV_SEC;
static const vv_ns hold_ns = VV_MS; /* until an interface without room is asked again, when nothing else happens */

void vv_engine_init(struct vv_engine *engine, struct vv_port port, const struct vv_engine_core *core, void *self) {
  *engine = (struct vv_engine){.port = port, .core = core, .self = self, .checked_ns = vv_clock_ns()};
}

/* What a failed call of the port means: 0, go on; -1, the port has an error of its own, or errno says one. */
static int judge(struct vv_engine *engine, const char *what, struct vv_error *error) {
  int reason = errno;
  if (reason == EINTR || reason == ETIME || reason == EAGAIN || reason == ENOBUFS) return 0;
  if (engine->port.ops->check(engine->port.self, error) != 0) return -1;
  if (reason == ENETDOWN) return 0; /* it was down, and is up again */
  errno = reason;
  return vv_error_errno(error, "port", "cannot %s", what);
}

static size_t gather(struct vv_engine *engine, vv_ns now_ns, struct iovec units[][VV_PORT_PIECES]) {
  size_t count = 0;
  for (; count < VV_PORT_BATCH_MAX; count++) {
    uint8_t *head = engine->heads[count];
    size_t head_bytes;
    struct iovec rest = {0};
    if (!engine->core->next(engine->self, now_ns, head, &head_bytes, &rest)) break;
    units[count][0] = (struct iovec){.iov_base = head, .iov_len = head_bytes};
    units[count][1] = rest;
  }
  return count;
}

/* What did not go is kept for the next turn, in its order. */
static void keep(struct vv_engine_hold *hold, struct iovec units[][VV_PORT_PIECES], size_t count) {
  hold->first = 0;
  hold->count = count;
  for (size_t i = 0; i < count; i++) {
    const struct iovec *head = &units[i][0], *rest = &units[i][1];
    uint8_t *at = hold->bytes + i * hold->unit_bytes;
    hold->lengths_bytes[i] = head->iov_len + rest->iov_len;
    assert(hold->lengths_bytes[i] <= hold->unit_bytes);
    memcpy(at, head->iov_base, head->iov_len);
    if (rest->iov_len > 0) memcpy(at + head->iov_len, rest->iov_base, rest->iov_len);
  }
}

/* 0, or -1 and *error; hold->count says what still waits. */
static int send_held(struct vv_engine *engine, struct vv_error *error) {
  struct vv_engine_hold *hold = engine->hold;
  struct iovec units[VV_PORT_BATCH_MAX][VV_PORT_PIECES];
  for (size_t i = 0; i < hold->count; i++) {
    size_t place = hold->first + i;
    units[i][0] = (struct iovec){hold->bytes + place * hold->unit_bytes, hold->lengths_bytes[place]};
    units[i][1] = (struct iovec){0};
  }
  int went = engine->port.ops->send(engine->port.self, units, hold->count);
  if (went <= 0) return judge(engine, "send", error);
  hold->first += (size_t)went;
  hold->count -= (size_t)went;
  return 0;
}

/* An interface without room gets time to send some; one that stays full loses frames, as wires do. */
static int send_all(struct vv_engine *engine, struct iovec units[][VV_PORT_PIECES], size_t count,
                    struct vv_error *error) {
  size_t sent = 0;
  for (int tries = 0; sent < count && tries < ROOM_TRIES; tries++) {
    int went = engine->port.ops->send(engine->port.self, units + sent, count - sent);
    if (went > 0) {
      sent += (size_t)went;
      tries = 0;
      continue;
    }
    if (judge(engine, "send", error) != 0) return -1;
    if (errno == EINTR) continue;
    if (engine->hold) {
      keep(engine->hold, units + sent, count - sent);
      return 0;
    }
    struct timespec pause = {.tv_nsec = room_pause_ns};
    nanosleep(&pause, NULL);
  }
  engine->unsent += count - sent;
  return 0;
}

int vv_engine_flush(struct vv_engine *engine, vv_ns now_ns, struct vv_error *error) {
  struct iovec units[VV_PORT_BATCH_MAX][VV_PORT_PIECES];
  const struct vv_engine_hold *hold = engine->hold;
  if (hold && hold->count > 0 && send_held(engine, error) != 0) return -1;
  while (!hold || hold->count == 0) {
    size_t count = gather(engine, now_ns, units);
    if (count == 0) return 0;
    vv_mark(engine->marks, VV_MARK_MADE);
    if (send_all(engine, units, count, error) != 0) return -1;
    if (count < VV_PORT_BATCH_MAX) return 0;
  }
  return 0;
}

/* At most a batch, so that acknowledgements leave in time. True: done. */
static bool take(struct vv_engine *engine, bool (*done)(void *context), void *context, size_t *count, vv_ns *now_ns) {
  struct vv_port_unit unit;
  for (*count = 0; *count < VV_PORT_BATCH_MAX && engine->port.ops->peek(engine->port.self, &unit); ++*count) {
    if (*count == 0) *now_ns = vv_clock_ns();
    vv_mark(engine->marks, VV_MARK_TAKEN);
    engine->core->receive(engine->self, *now_ns, unit.bytes, unit.count);
    if (engine->marks) engine->marks->at_ns[VV_MARK_DEVICE] = unit.stamp_ns;
    vv_mark(engine->marks, VV_MARK_READY);
    engine->port.ops->release(engine->port.self);
    if (done(context)) return true;
  }
  return false;
}

/* What is due by the clock: timers, and a look at the port now and then. 0, or -1 and *error. */
static int tick(struct vv_engine *engine, vv_ns now_ns, struct vv_error *error) {
  if (engine->core->next_ns(engine->self) <= now_ns) engine->core->tick(engine->self, now_ns);
  if (now_ns - engine->checked_ns < check_ns) return 0;
  engine->checked_ns = now_ns;
  return engine->port.ops->check(engine->port.self, error);
}

/* And then whoever may stop us, and the deadline. */
static enum vv_engine_ran keep_time(struct vv_engine *engine, vv_ns deadline_ns, struct vv_error *error) {
  vv_ns now_ns = vv_clock_ns();
  if (tick(engine, now_ns, error) != 0) return VV_ENGINE_RAN_ERROR;
  if (engine->stop.ask && vv_watch_rang() && engine->stop.ask(engine->stop.context)) return VV_ENGINE_RAN_STOPPED;
  return now_ns >= deadline_ns ? VV_ENGINE_RAN_LATE : VV_ENGINE_RAN_DONE;
}

vv_ns vv_engine_due_ns(const struct vv_engine *engine) {
  vv_ns due_ns = engine->core->next_ns(engine->self);
  vv_ns check_at_ns = engine->checked_ns + check_ns;
  vv_ns room_at_ns = engine->hold && engine->hold->count > 0 ? vv_clock_ns() + hold_ns : VV_NEVER;
  if (due_ns > check_at_ns) due_ns = check_at_ns;
  return due_ns < room_at_ns ? due_ns : room_at_ns;
}

int vv_engine_descriptor(const struct vv_engine *engine) {
  return engine->port.ops->descriptor(engine->port.self);
}

static int sleep_some(struct vv_engine *engine, vv_ns deadline_ns, struct vv_error *error) {
  vv_ns until_ns = vv_engine_due_ns(engine);
  if (until_ns > deadline_ns) until_ns = deadline_ns;
  return engine->port.ops->wait(engine->port.self, until_ns) == 0 ? 0 : judge(engine, "wait", error);
}

/* What came is taken before timers are asked: it may be what they wait for, when this process slept for long. */
enum vv_engine_ran vv_engine_run(struct vv_engine *engine, bool (*done)(void *context), void *context,
                                 vv_ns deadline_ns, struct vv_error *error) {
  bool over = done(context);
  for (uint32_t looks = 1;; looks++) {
    size_t count = 0;
    vv_ns now_ns = 0; /* of what came; else the clock is asked */
    enum vv_engine_ran ran = VV_ENGINE_RAN_DONE;
    if (!over) over = take(engine, done, context, &count, &now_ns);
    bool stirred = looks == 1 || over || count > 0; /* something happened after which there may be units to send */
    bool idle = !over && !engine->spin && count == 0;
    if (idle || (!over && looks % LOOKS_PER_READING == 0)) {
      ran = keep_time(engine, deadline_ns, error);
      if (ran == VV_ENGINE_RAN_ERROR) return ran;
      over = done(context);
      stirred = true;
    }
    if (stirred && vv_engine_flush(engine, now_ns ? now_ns : vv_clock_ns(), error) != 0) return VV_ENGINE_RAN_ERROR;
    if (over || (stirred && done(context))) return VV_ENGINE_RAN_DONE;
    if (ran != VV_ENGINE_RAN_DONE) return ran;
    if (idle && sleep_some(engine, deadline_ns, error) != 0) return VV_ENGINE_RAN_ERROR;
  }
}

static bool never(void *context) {
  (void)context;
  return false;
}

/* The clock costs more than a look at the ring, but nobody knows how long ago the last turn was. */
int vv_engine_turn(struct vv_engine *engine, struct vv_error *error) {
  size_t count;
  vv_ns now_ns = 0;
  take(engine, never, NULL, &count, &now_ns);
  if (now_ns == 0) now_ns = vv_clock_ns();
  engine->turned_ns = now_ns;
  if (tick(engine, now_ns, error) != 0 || vv_engine_flush(engine, now_ns, error) != 0) return -1;
  return (int)count;
}
