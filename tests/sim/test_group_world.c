/* SPDX-License-Identifier: BSD-3-Clause */
/* What a group must cost, in a time that no machine's load changes; and that the world sees what goes wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sim/group_world.h"

static struct vv_sim_group_config config_of(uint32_t ranks, uint64_t rate_bps, uint64_t size_bytes) {
  struct vv_sim_group_config config;
  vv_sim_group_config_init(&config, 1);
  config.ranks = ranks;
  config.rate_bps = rate_bps;
  config.size_bytes = size_bytes;
  return config;
}

static struct vv_sim_group_world_result run(const struct vv_sim_group_config *config) {
  struct vv_sim_group_world_result result;
  char wrong[160];
  if (!vv_sim_group_world_run(config, &result, wrong)) fail_msg("%s", wrong);
  return result;
}

/* The time of one broadcast in thousandths of an unreliable sender's. */
static uint64_t permille(const struct vv_sim_group_config *config) {
  return run(config).elapsed_ns * 1000 / vv_sim_group_world_raw_ns(config);
}

static void test_a_broadcast_takes_hardly_longer_than_unreliable_sending(void **state) {
  (void)state;
  struct vv_sim_group_config seven = config_of(8, 100000000, 1000000), fifteen = config_of(16, 50000000, 1000000);
  struct vv_sim_group_config hub = config_of(8, 10000000, 1000000);
  hub.fabric = VV_LAN_HUB;
  assert_true(permille(&seven) <= 1030);
  assert_true(permille(&fifteen) <= 1050);
  assert_true(permille(&hub) <= 1020);
}

static void test_the_number_of_receivers_does_not_matter(void **state) {
  (void)state;
  struct vv_sim_group_config one = config_of(2, 100000000, 1000000), fifteen = config_of(16, 100000000, 1000000);
  assert_true(run(&fifteen).elapsed_ns * 100 <= run(&one).elapsed_ns * 102);
}

static void test_small_messages_are_not_answered(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(16, 100000000, 1);
  config.operations = 1000;
  struct vv_sim_group_world_result result = run(&config);
  assert_true(result.counts.sent == 1000 && result.counts.repair_bytes == 0);
  assert_true(result.counts.control < 1000); /* reports, by halves of a window, of 15 receivers */
}

/* All send at once, and each gets what its link brings in that time; nobody answers. */
static void test_an_exchange_takes_hardly_longer_than_unreliable_sending(void **state) {
  (void)state;
  for (uint32_t ranks = 4; ranks <= 32; ranks *= 2) {
    struct vv_sim_group_config config = config_of(ranks, 100000000, 512);
    config.rounds = true;
    config.operations = 200;
    struct vv_sim_group_world_result result = run(&config);
    assert_true(result.elapsed_ns * 1000 <= 200 * vv_sim_group_world_raw_ns(&config) * 1100);
    assert_true(result.counts.sent == (uint64_t)200 * ranks && result.counts.repair_bytes == 0);
    assert_true(result.counts.control <= 200); /* of the end */
  }
}

/* Ranks that are stopped or compute are waited for, and what they have not sent is not sent twice. */
static void test_exchanges_with_late_ranks_repeat_nothing(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(8, 100000000, 512);
  config.rounds = true;
  config.operations = 100;
  config.compute_ns = 20000000;
  config.pauses = 5;
  assert_int_equal(run(&config).counts.repair_bytes, 0);
}

static void test_one_percent_of_loss_costs_less_than_five(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(16, 100000000, 8 << 20);
  vv_ns good_ns = run(&config).elapsed_ns;
  config.loss = 0.01;
  assert_true(good_ns * 100 >= run(&config).elapsed_ns * 95);
}

/* Answers and questions get lost, too: what is asked again must not wait for long. */
static void test_much_loss_costs_little_more_than_what_is_lost(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(16, 100000000, 1 << 20);
  config.loss = 0.1;
  assert_true(permille(&config) <= 2000);
  config.loss = 0.3;
  assert_true(permille(&config) <= 6000);
}

/* Whether a receiver has memory for the message is nobody else's affair. */
static void test_a_stream_is_as_quick_as_a_buffer(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(8, 100000000, 1 << 20);
  config.loss = 0.01;
  config.pauses = 3;
  struct vv_sim_group_world_result whole = run(&config);
  config.memory_bytes = 0;
  struct vv_sim_group_world_result stream = run(&config);
  assert_memory_equal(&whole, &stream, sizeof whole);
}

static void test_a_thousand_ranks_burden_no_link(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(1000, 100000000, 1000000);
  config.loss = 0.0001;
  struct vv_sim_group_world_result result = run(&config);
  assert_true(result.counts.repairs_one + result.counts.repairs_all > 0);
  assert_true(result.busiest_bytes * 1000 <= result.payload_bytes * 15);
}

static void test_stopped_ranks_lose_nothing_from_default_buffers(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(8, 100000000, 1000000);
  config.buffer_bytes = 212992;
  config.pauses = 10;
  struct vv_sim_group_world_result result = run(&config); /* the world fails when a socket overflows */
  assert_true(result.counts.repair_bytes == 0 && result.counts.stall_ns > 0);
}

/* In a round all others ask for a stopped rank. */
static void test_a_rank_that_is_stopped_in_a_round_loses_nothing_from_default_buffers(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(16, 100000000, 70000);
  config.seed = 32; /* in which 154 small datagrams were too many */
  config.rounds = config.mixed = true;
  config.operations = 12;
  config.compute_ns = 12 * VV_MS;
  config.buffer_bytes = 212992;
  config.pauses = 5;
  config.pause_ns = 10 * VV_SEC;
  run(&config);
}

/* It hears no multicast for a while, asks one rank after the other, and is stopped while they all answer. */
static void test_a_deaf_rank_that_is_stopped_loses_no_answers(void **state) {
  (void)state;
  struct vv_sim_group_config config;
  vv_sim_group_config_draw(&config, 783155); /* in which 60 answers and 24 questions were too many */
  run(&config);
}

static void test_what_never_ends_is_seen(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(3, 100000000, 1000000);
  struct vv_sim_group_world_result result;
  char wrong[160];
  config.deadline_ns = 1000000;
  assert_false(vv_sim_group_world_run(&config, &result, wrong));
  assert_non_null(strstr(wrong, "never ends"));
}

static void test_credit_that_is_too_large_is_seen(void **state) {
  (void)state;
  struct vv_sim_group_config config = config_of(4, 100000000, 1000000);
  struct vv_sim_group_world_result result;
  char wrong[160];
  config.duplicate = 0.9; /* far more than a credit's reserve */
  config.pauses = 10;
  config.buffer_bytes = 212992;
  assert_false(vv_sim_group_world_run(&config, &result, wrong));
  assert_non_null(strstr(wrong, "found the socket full"));
}

static void test_the_same_seed_is_the_same_run(void **state) {
  (void)state;
  struct vv_sim_group_config config;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    vv_sim_group_config_draw(&config, seed);
    struct vv_sim_group_world_result a = run(&config), b = run(&config);
    assert_memory_equal(&a, &b, sizeof a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_broadcast_takes_hardly_longer_than_unreliable_sending),
      cmocka_unit_test(test_the_number_of_receivers_does_not_matter),
      cmocka_unit_test(test_small_messages_are_not_answered),
      cmocka_unit_test(test_an_exchange_takes_hardly_longer_than_unreliable_sending),
      cmocka_unit_test(test_exchanges_with_late_ranks_repeat_nothing),
      cmocka_unit_test(test_one_percent_of_loss_costs_less_than_five),
      cmocka_unit_test(test_much_loss_costs_little_more_than_what_is_lost),
      cmocka_unit_test(test_a_stream_is_as_quick_as_a_buffer),
      cmocka_unit_test(test_a_thousand_ranks_burden_no_link),
      cmocka_unit_test(test_stopped_ranks_lose_nothing_from_default_buffers),
      cmocka_unit_test(test_a_rank_that_is_stopped_in_a_round_loses_nothing_from_default_buffers),
      cmocka_unit_test(test_a_deaf_rank_that_is_stopped_loses_no_answers),
      cmocka_unit_test(test_what_never_ends_is_seen),
      cmocka_unit_test(test_credit_that_is_too_large_is_seen),
      cmocka_unit_test(test_the_same_seed_is_the_same_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
