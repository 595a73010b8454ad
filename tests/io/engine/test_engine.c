/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine between a port and a core that are both made here: what goes in, what comes out, in which order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "io/engine/engine.h"
#include "io/os/clock.h"

enum { UNITS = 200 };

/* A port that brings numbers 0, 1, 2... and takes whatever is sent; a core that answers each number with itself. */
struct world {
  uint8_t numbers[UNITS];
  size_t coming, came; /* how many there are, how many were taken */
  size_t released;
  uint8_t sent[2 * UNITS];
  size_t sent_count;
  size_t room;    /* units that the port takes before it says ENOBUFS once */
  int send_fails; /* errno of every send; 0: it works */
  int waits;
  bool oversleeps; /* a wait ends late, and a number has come that stops the timer */
  bool broken;     /* check fails */

  uint8_t queue[2 * UNITS]; /* of the core */
  size_t queued, taken;
  vv_ns due_ns;
  int ticks;
  size_t wanted; /* done when so many were received */
  size_t received;
  bool stop;
};

static bool peek(void *self, struct vv_port_unit *unit) {
  struct world *world = self;
  if (world->came == world->coming) return false;
  *unit = (struct vv_port_unit){.bytes = &world->numbers[world->came], .count = 1};
  return true;
}

static void release(void *self) {
  struct world *world = self;
  world->came++;
  world->released++;
}

static int send_units(void *self, struct iovec units[][VV_PORT_PIECES], size_t count) {
  struct world *world = self;
  if (world->send_fails) {
    errno = world->send_fails;
    return -1;
  }
  size_t i = 0;
  for (; i < count && world->room > 0; i++, world->room--) {
    assert_int_equal(units[i][0].iov_len, 1);
    world->sent[world->sent_count++] = *(uint8_t *)units[i][0].iov_base;
  }
  if (i > 0) return (int)i;
  world->room = UNITS; /* it has sent some meanwhile */
  errno = ENOBUFS;
  return -1;
}

static int wait_unit(void *self, vv_ns deadline_ns) {
  struct world *world = self;
  world->waits++;
  while (vv_clock_ns() < deadline_ns) continue;
  if (world->oversleeps) world->coming = 1;
  errno = ETIME;
  return -1;
}

static int check(void *self, struct vv_error *error) {
  struct world *world = self;
  return world->broken ? vv_error_set(error, "iface-down", "it is down") : 0;
}

static int descriptor(void *self) {
  (void)self;
  return 42;
}

static void receive(void *self, vv_ns now_ns, const uint8_t *bytes, size_t count) {
  struct world *world = self;
  assert_true(now_ns > 0 && count == 1);
  world->received++;
  if (world->oversleeps) world->due_ns = VV_NEVER;
  world->queue[world->queued++] = *bytes;
}

static bool next(void *self, vv_ns now_ns, uint8_t head[VV_ENGINE_HEAD_BYTES], size_t *head_bytes, struct iovec *rest) {
  struct world *world = self;
  assert_true(now_ns > 0 && rest->iov_len == 0);
  if (world->taken == world->queued) return false;
  head[0] = world->queue[world->taken++];
  *head_bytes = 1;
  return true;
}

static vv_ns next_ns(const void *self) {
  return ((const struct world *)self)->due_ns;
}

static void tick(void *self, vv_ns now_ns) {
  struct world *world = self;
  assert_true(now_ns >= world->due_ns);
  world->ticks++;
  world->due_ns = VV_NEVER;
  world->queue[world->queued++] = 255;
}

static bool is_done(void *context) {
  const struct world *world = context;
  return world->received >= world->wanted;
}

static bool ask_stop(void *context) {
  return ((struct world *)context)->stop;
}

static void make(struct world *world, struct vv_engine *engine, size_t coming) {
  static const struct vv_port_ops ops = {.peek = peek,
                                         .release = release,
                                         .send = send_units,
                                         .wait = wait_unit,
                                         .descriptor = descriptor,
                                         .check = check};
  static const struct vv_engine_core core = {.receive = receive, .next = next, .next_ns = next_ns, .tick = tick};
  *world = (struct world){.coming = coming, .wanted = coming, .room = UNITS, .due_ns = VV_NEVER};
  for (size_t i = 0; i < UNITS; i++) world->numbers[i] = (uint8_t)i;
  vv_engine_init(engine, (struct vv_port){.ops = &ops, .self = world}, &core, world);
  engine->stop = (struct vv_watch_stop){.ask = ask_stop, .context = world};
}

static void all_that_comes_is_handed_over_and_answered(void **state) {
  (void)state;
  for (int spin = 0; spin < 2; spin++) {
    struct world world;
    struct vv_engine engine;
    struct vv_error error;
    make(&world, &engine, UNITS);
    engine.spin = spin;
    assert_int_equal(vv_engine_run(&engine, is_done, &world, VV_NEVER, &error), VV_ENGINE_RAN_DONE);
    assert_int_equal(world.released, UNITS);
    assert_int_equal(world.sent_count, UNITS); /* before it returned */
    assert_memory_equal(world.sent, world.numbers, UNITS);
  }
}

static void what_comes_after_the_awaited_stays_in_the_port(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  make(&world, &engine, 10);
  world.wanted = 3;
  assert_int_equal(vv_engine_run(&engine, is_done, &world, VV_NEVER, &error), VV_ENGINE_RAN_DONE);
  assert_int_equal(world.came, 3);
  assert_int_equal(world.sent_count, 3);
}

static void what_was_queued_before_is_sent_even_when_nothing_is_waited_for(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  make(&world, &engine, 0);
  world.queue[world.queued++] = 7;
  assert_int_equal(vv_engine_run(&engine, is_done, &world, VV_NEVER, &error), VV_ENGINE_RAN_DONE);
  assert_int_equal(world.sent_count, 1);
  assert_int_equal(world.sent[0], 7);
}

static void timers_run_when_they_are_due_and_what_they_send_goes_out(void **state) {
  (void)state;
  for (int spin = 0; spin < 2; spin++) {
    struct world world;
    struct vv_engine engine;
    struct vv_error error;
    make(&world, &engine, 0);
    engine.spin = spin;
    world.wanted = 1; /* never comes */
    world.due_ns = vv_clock_ns() + 1000000;
    assert_int_equal(vv_engine_run(&engine, is_done, &world, vv_clock_ns() + 5000000, &error), VV_ENGINE_RAN_LATE);
    assert_int_equal(world.ticks, 1);
    assert_int_equal(vv_engine_flush(&engine, vv_clock_ns(), &error), 0);
    assert_int_equal(world.sent_count, 1);
    assert_int_equal(world.sent[0], 255);
    assert_true(spin == (world.waits == 0));
  }
}

static void what_came_is_taken_before_timers_are_asked(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  make(&world, &engine, 0);
  world.wanted = 2; /* one comes */
  world.oversleeps = true;
  world.due_ns = vv_clock_ns() + 50000000; /* later than it begins to wait */
  assert_int_equal(vv_engine_run(&engine, is_done, &world, vv_clock_ns() + 60000000, &error), VV_ENGINE_RAN_LATE);
  assert_int_equal(world.received, 1);
  assert_int_equal(world.ticks, 0);
}

static void an_interface_without_room_is_waited_for(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  make(&world, &engine, 50);
  world.room = 10;
  assert_int_equal(vv_engine_run(&engine, is_done, &world, VV_NEVER, &error), VV_ENGINE_RAN_DONE);
  assert_int_equal(world.sent_count, 50);
  assert_memory_equal(world.sent, world.numbers, 50);
  assert_int_equal(engine.unsent, 0);
}

static void one_that_stays_full_loses_frames_and_counts_them(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  make(&world, &engine, 3);
  world.send_fails = ENOBUFS;
  assert_int_equal(vv_engine_run(&engine, is_done, &world, VV_NEVER, &error), VV_ENGINE_RAN_DONE);
  assert_int_equal(engine.unsent, 3);
}

static void a_port_that_is_down_is_an_error_that_names_it(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error = {0};
  make(&world, &engine, 3);
  world.send_fails = ENETDOWN;
  world.broken = true;
  assert_int_equal(vv_engine_run(&engine, is_done, &world, VV_NEVER, &error), VV_ENGINE_RAN_ERROR);
  assert_string_equal(error.code, "iface-down");
}

static void whoever_may_stop_it_is_asked(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  make(&world, &engine, 0);
  engine.spin = true;
  world.wanted = 1; /* never comes */
  world.stop = true;
  assert_int_equal(vv_watch_start(1000000, &error), 0);
  assert_int_equal(vv_engine_run(&engine, is_done, &world, VV_NEVER, &error), VV_ENGINE_RAN_STOPPED);
}

/* turns ------------------------------------------------------------------ */

static void a_turn_with_nothing_to_do_returns_at_once(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  make(&world, &engine, 0);
  assert_int_equal(vv_engine_turn(&engine, &error), 0);
  assert_int_equal(world.waits + world.ticks + (int)world.sent_count, 0);
}

static void a_turn_takes_a_batch_at_most_and_sends_the_answers(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  make(&world, &engine, VV_PORT_BATCH_MAX + 10);
  assert_int_equal(vv_engine_turn(&engine, &error), VV_PORT_BATCH_MAX);
  assert_int_equal(world.sent_count, VV_PORT_BATCH_MAX);
  assert_int_equal(vv_engine_turn(&engine, &error), 10);
  assert_int_equal(world.sent_count, VV_PORT_BATCH_MAX + 10);
  assert_memory_equal(world.sent, world.numbers, VV_PORT_BATCH_MAX + 10);
  assert_int_equal(world.waits, 0);
}

static void a_turn_does_what_is_due_and_says_when_the_next_one_is(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  make(&world, &engine, 0);
  world.due_ns = vv_clock_ns() + 3600 * VV_SEC;
  assert_int_equal(vv_engine_turn(&engine, &error), 0);
  assert_int_equal(world.ticks, 0);
  assert_true(vv_engine_due_ns(&engine) < world.due_ns); /* to look whether the port is what it was */
  world.due_ns = vv_clock_ns() - 1;
  assert_true(vv_engine_due_ns(&engine) == world.due_ns);
  assert_int_equal(vv_engine_turn(&engine, &error), 0);
  assert_int_equal(world.ticks, 1);
  assert_int_equal(world.sent_count, 1);
  assert_int_equal(vv_engine_descriptor(&engine), 42);
}

/* What it could not send waits, as it was then, and goes first. */
static void a_turn_without_room_keeps_what_it_could_not_send(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error;
  uint8_t memory[VV_PORT_BATCH_MAX * 4];
  struct vv_engine_hold hold = {.bytes = memory, .unit_bytes = 4};
  make(&world, &engine, 50);
  engine.hold = &hold;
  world.room = 10;
  assert_int_equal(vv_engine_turn(&engine, &error), 50);
  assert_int_equal(world.sent_count, 10);
  memset(engine.heads, 77, sizeof engine.heads); /* the core has gone on */
  world.queue[world.queued++] = 50;
  assert_true(vv_engine_due_ns(&engine) < vv_clock_ns() + VV_SEC / 2);
  world.room = 5; /* less than what waits: nothing overtakes it */
  assert_int_equal(vv_engine_turn(&engine, &error), 0);
  assert_int_equal(world.sent_count, 15);
  assert_int_equal(vv_engine_turn(&engine, &error), 0); /* no room at all */
  assert_int_equal(vv_engine_flush(&engine, vv_clock_ns(), &error), 0);
  world.numbers[50] = 50;
  assert_int_equal(world.sent_count, 51);
  assert_memory_equal(world.sent, world.numbers, 51);
  assert_int_equal(engine.unsent, 0);
}

static void a_turn_finds_out_that_the_port_is_down(void **state) {
  (void)state;
  struct world world;
  struct vv_engine engine;
  struct vv_error error = {0};
  make(&world, &engine, 0);
  world.broken = true;
  assert_int_equal(vv_engine_turn(&engine, &error), 0); /* it looks only now and then */
  engine.checked_ns -= 2 * VV_SEC;
  assert_int_equal(vv_engine_turn(&engine, &error), -1);
  assert_string_equal(error.code, "iface-down");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_that_comes_is_handed_over_and_answered),
      cmocka_unit_test(what_comes_after_the_awaited_stays_in_the_port),
      cmocka_unit_test(what_was_queued_before_is_sent_even_when_nothing_is_waited_for),
      cmocka_unit_test(timers_run_when_they_are_due_and_what_they_send_goes_out),
      cmocka_unit_test(what_came_is_taken_before_timers_are_asked),
      cmocka_unit_test(an_interface_without_room_is_waited_for),
      cmocka_unit_test(one_that_stays_full_loses_frames_and_counts_them),
      cmocka_unit_test(a_port_that_is_down_is_an_error_that_names_it),
      cmocka_unit_test(whoever_may_stop_it_is_asked),
      cmocka_unit_test(a_turn_with_nothing_to_do_returns_at_once),
      cmocka_unit_test(a_turn_takes_a_batch_at_most_and_sends_the_answers),
      cmocka_unit_test(a_turn_does_what_is_due_and_says_when_the_next_one_is),
      cmocka_unit_test(a_turn_without_room_keeps_what_it_could_not_send),
      cmocka_unit_test(a_turn_finds_out_that_the_port_is_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
