/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "io/port/lossy.h"

/* A port that holds numbers: those that came, and those that were sent. */
struct numbers {
  uint8_t came[100], sent[100];
  size_t came_count, next, sent_count;
  size_t room; /* units that can still be sent */
};

static bool peek(void *self, struct vv_port_unit *unit) {
  struct numbers *numbers = self;
  if (numbers->next == numbers->came_count) return false;
  *unit = (struct vv_port_unit){.bytes = &numbers->came[numbers->next], .count = 1};
  return true;
}

static void release(void *self) {
  struct numbers *numbers = self;
  numbers->next++;
}

static int send_units(void *self, struct iovec units[][VV_PORT_PIECES], size_t count) {
  struct numbers *numbers = self;
  assert_int_equal(count, 1);
  if (numbers->room == 0) {
    errno = ENOBUFS;
    return -1;
  }
  numbers->room--;
  numbers->sent[numbers->sent_count++] = *(uint8_t *)units[0][0].iov_base;
  return 1;
}

static int wait_unit(void *self, vv_ns deadline_ns) {
  (void)self;
  (void)deadline_ns;
  errno = ETIME;
  return -1;
}

static int check(void *self, struct vv_error *error) {
  (void)self;
  return vv_error_set(error, "port", "checked");
}

static const struct vv_port_ops ops = {
    .peek = peek, .release = release, .send = send_units, .wait = wait_unit, .check = check};

static struct vv_port port_of(struct numbers *numbers) {
  return (struct vv_port){.ops = &ops, .self = numbers};
}

static size_t take_all(struct vv_port port, uint8_t *into) {
  struct vv_port_unit unit;
  size_t count = 0;
  while (port.ops->peek(port.self, &unit)) {
    const uint8_t *first = unit.bytes;
    assert_true(port.ops->peek(port.self, &unit)); /* peeking twice is seeing the same */
    assert_ptr_equal(unit.bytes, first);
    into[count++] = *unit.bytes;
    port.ops->release(port.self);
  }
  return count;
}

static int send_number(struct vv_port port, uint8_t number) {
  struct iovec unit[1][VV_PORT_PIECES] = {{{.iov_base = &number, .iov_len = 1}}};
  return port.ops->send(port.self, unit, 1);
}

static void the_next_ones_are_lost_and_no_others(void **state) {
  (void)state;
  struct numbers numbers = {.came = {1, 2, 3, 4}, .came_count = 4, .room = 100};
  struct vv_lossy lossy;
  uint8_t got[4];
  vv_lossy_init(&lossy, port_of(&numbers), 0, 1);
  struct vv_port port = vv_lossy_port(&lossy);
  lossy.drop_received = 2;
  assert_int_equal(take_all(port, got), 2);
  assert_memory_equal(got, ((uint8_t[]){3, 4}), 2);
  lossy.drop_sent = 1;
  for (uint8_t number = 1; number <= 3; number++) assert_int_equal(send_number(port, number), 1);
  assert_int_equal(numbers.sent_count, 2);
  assert_memory_equal(numbers.sent, ((uint8_t[]){2, 3}), 2);
  assert_int_equal(lossy.lost, 3);
}

static void a_share_is_lost_and_a_seed_tells_which(void **state) {
  (void)state;
  uint8_t got[2][100];
  size_t count[2];
  for (int i = 0; i < 2; i++) {
    struct numbers numbers = {.came_count = 100};
    struct vv_lossy lossy;
    for (uint8_t n = 0; n < 100; n++) numbers.came[n] = n;
    vv_lossy_init(&lossy, port_of(&numbers), 500000, 7);
    count[i] = take_all(vv_lossy_port(&lossy), got[i]);
    assert_int_equal(lossy.lost, 100 - count[i]);
  }
  assert_in_range(count[0], 20, 80);
  assert_int_equal(count[0], count[1]);
  assert_memory_equal(got[0], got[1], count[0]);
}

static void a_batch_that_does_not_fit_is_told_as_far_as_it_went(void **state) {
  (void)state;
  struct numbers numbers = {.room = 1};
  struct vv_lossy lossy;
  uint8_t bytes[4] = {1, 2, 3, 4};
  struct iovec units[4][VV_PORT_PIECES] = {{{0}}};
  for (int i = 0; i < 4; i++) units[i][0] = (struct iovec){.iov_base = &bytes[i], .iov_len = 1};
  vv_lossy_init(&lossy, port_of(&numbers), 0, 1);
  struct vv_port port = vv_lossy_port(&lossy);
  lossy.drop_sent = 1;
  assert_int_equal(port.ops->send(port.self, units, 4), 2); /* one lost, one sent */
  assert_int_equal(port.ops->send(port.self, units + 2, 2), -1);
  assert_int_equal(errno, ENOBUFS);
  assert_int_equal(numbers.sent[0], 2);
}

static void the_rest_is_the_inner_ports(void **state) {
  (void)state;
  struct numbers numbers = {.room = 1};
  struct vv_lossy lossy;
  struct vv_error error;
  vv_lossy_init(&lossy, port_of(&numbers), 0, 1);
  struct vv_port port = vv_lossy_port(&lossy);
  assert_int_equal(port.ops->wait(port.self, 1), -1);
  assert_int_equal(errno, ETIME);
  assert_int_equal(port.ops->check(port.self, &error), -1);
  assert_string_equal(error.code, "port");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_next_ones_are_lost_and_no_others),
      cmocka_unit_test(a_share_is_lost_and_a_seed_tells_which),
      cmocka_unit_test(a_batch_that_does_not_fit_is_told_as_far_as_it_went),
      cmocka_unit_test(the_rest_is_the_inner_ports),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
