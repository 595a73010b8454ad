/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The eth stack on the loopback interface of a network namespace of its own,
 * which even an ordinary user may make on most systems.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/wire/fragment.h"
#include "io/os/watch.h"
#include "stack/stack.h"

#include "../namespace.h"

static bool stop_now;

static bool ask_stop(void *context) {
  (void)context;
  return stop_now;
}

static int make_namespace(void **state) {
  (void)state;
  struct vv_error error;
  enter_namespace();
  return vv_watch_start(5000000, &error);
}

struct pair {
  struct vv_end *near, *far;
  char near_contact[VV_STACK_CONTACT_MAX], far_contact[VV_STACK_CONTACT_MAX];
  int accepted;
};

static struct vv_stack_config config_of(enum vv_wait wait, uint8_t key) {
  return (struct vv_stack_config){.address = "127.0.0.1",
                                  .wait = wait,
                                  .size_bytes_max = VV_FRAGMENTED_BYTES_MAX,
                                  .key = {key},
                                  .stop = {.ask = ask_stop}};
}

static void *accept_far(void *context) {
  struct pair *pair = context;
  struct vv_error error;
  pair->accepted = vv_stack_eth.accept(pair->far, pair->near_contact, vv_clock_ns() + 60000000000, &error);
  return NULL;
}

static struct pair connected(enum vv_wait wait, uint8_t key) {
  struct pair pair = {0};
  struct vv_error error = {0};
  struct vv_stack_config config = config_of(wait, key);
  pair.near = vv_stack_eth.open(&config, pair.near_contact, &error);
  pair.far = vv_stack_eth.open(&config, pair.far_contact, &error);
  if (!pair.near || !pair.far) fail_msg("%s", error.text);
  pthread_t thread;
  pthread_create(&thread, NULL, accept_far, &pair);
  int result = vv_stack_eth.connect(pair.near, pair.far_contact, vv_clock_ns() + 60000000000, &error);
  pthread_join(thread, NULL);
  if (result != 0) fail_msg("%s", error.text);
  assert_int_equal(pair.accepted, 0);
  return pair;
}

static void disconnect(struct pair *pair) {
  vv_stack_eth.close(pair->near);
  vv_stack_eth.close(pair->far);
}

static uint8_t out[VV_FRAGMENTED_BYTES_MAX], in[VV_FRAGMENTED_BYTES_MAX];

static void exchange(struct pair *pair, size_t size_bytes, struct vv_rng *rng) {
  struct vv_error error = {0};
  for (size_t i = 0; i < size_bytes; i++) out[i] = (uint8_t)vv_rng_next(rng);
  memset(in, 0, sizeof in);
  assert_int_equal(vv_stack_eth.send(pair->near, out, size_bytes, &error), VV_GOT_MESSAGE);
  assert_int_equal(vv_stack_eth.recv(pair->far, in, size_bytes, &error), VV_GOT_MESSAGE);
  assert_memory_equal(in, out, size_bytes);
  assert_int_equal(vv_stack_eth.send(pair->far, out, size_bytes, &error), VV_GOT_MESSAGE);
  assert_int_equal(vv_stack_eth.recv(pair->near, in, size_bytes, &error), VV_GOT_MESSAGE);
  assert_memory_equal(in, out, size_bytes);
}

static void exchange_sizes(enum vv_wait wait, size_t step_bytes) {
  struct vv_rng rng = {7};
  struct pair pair = connected(wait, 1);
  for (size_t size = 0; size < 3; size++) exchange(&pair, size, &rng);
  for (size_t size = step_bytes - 2; size <= step_bytes + 2; size++) exchange(&pair, size, &rng);
  exchange(&pair, 65535, &rng);
  exchange(&pair, VV_FRAGMENTED_BYTES_MAX, &rng);
  disconnect(&pair);
}

static void test_messages_of_every_kind_of_size(void **state) {
  (void)state;
  need_namespace();
  exchange_sizes(VV_WAIT_BLOCK, 1481);
  exchange_sizes(VV_WAIT_SPIN, 1481);
}

static void test_small_mtu(void **state) {
  (void)state;
  need_namespace();
  assert_int_equal(change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = 576}), 0);
  exchange_sizes(VV_WAIT_BLOCK, 557);
  assert_int_equal(change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = 65536}), 0);
}

static void test_two_launches_and_successors_do_not_mix(void **state) {
  (void)state;
  need_namespace();
  struct vv_rng rng = {8};
  struct vv_error error = {0};
  struct pair one = connected(VV_WAIT_BLOCK, 1), two = connected(VV_WAIT_BLOCK, 2), again = connected(VV_WAIT_BLOCK, 1);
  memset(out, 'x', 100);
  assert_int_equal(vv_stack_eth.send(one.near, out, 100, &error), VV_GOT_MESSAGE);
  exchange(&two, 100, &rng);
  exchange(&again, 100, &rng);
  assert_int_equal(vv_stack_eth.recv(one.far, in, 100, &error), VV_GOT_MESSAGE);
  assert_int_equal(in[0], 'x');
  stop_now = true;
  assert_int_equal(vv_stack_eth.recv(one.far, in, 100, &error), VV_GOT_STOPPED);
  assert_int_equal(vv_stack_eth.recv(two.far, in, 100, &error), VV_GOT_STOPPED);
  stop_now = false;
  disconnect(&one);
  disconnect(&two);
  disconnect(&again);
}

static void test_messages_of_another_size_are_dropped(void **state) {
  (void)state;
  need_namespace();
  struct vv_error error = {0};
  struct pair pair = connected(VV_WAIT_SPIN, 1);
  memset(out, 'a', 99);
  assert_int_equal(vv_stack_eth.send(pair.near, out, 99, &error), VV_GOT_MESSAGE);
  memset(out, 'b', 100);
  assert_int_equal(vv_stack_eth.send(pair.near, out, 100, &error), VV_GOT_MESSAGE);
  assert_int_equal(vv_stack_eth.recv(pair.far, in, 100, &error), VV_GOT_MESSAGE);
  assert_memory_equal(in, out, 100);
  disconnect(&pair);
}

/* A frame by hand to that contact: message 1, "hi", with a pad, or with one thing wrong. */
static void inject(const char *contact, uint8_t key_launch[4], int wrong, size_t pad_bytes) {
  uint8_t bytes[100] = {[12] = 0, [13] = 21, [14] = VV_LPDU_SAP, [15] = VV_LPDU_SAP, [16] = 3};
  unsigned end;
  assert_int_equal(sscanf(contact, "%*17s"), 0);
  assert_int_equal(sscanf(contact + 18, "%8x", &end), 1);
  memcpy(bytes + 17, key_launch, 4);
  for (int i = 0; i < 4; i++) bytes[21 + i] = (uint8_t)(end >> (24 - 8 * i));
  bytes[28] = 1;
  bytes[32] = 1;
  memcpy(bytes + 33, "hi", 2);
  memset(bytes + 35, 0xee, sizeof bytes - 35);
  if (wrong >= 0) bytes[wrong] ^= 0x04;
  int fd = socket(AF_PACKET, SOCK_RAW, 0);
  struct sockaddr_ll to = {
      .sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex("lo"), .sll_protocol = htons(ETH_P_802_2)};
  assert_int_equal(sendto(fd, bytes, 35 + pad_bytes, 0, (struct sockaddr *)&to, sizeof to), 35 + pad_bytes);
  close(fd);
}

/* The launch id, read from a frame of that launch. */
static void learn_launch(struct pair *pair, uint8_t launch[4]) {
  struct vv_error error;
  uint8_t bytes[100];
  int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_802_2));
  assert_int_equal(vv_stack_eth.send(pair->far, out, 1, &error), VV_GOT_MESSAGE);
  do {
    assert_true(recv(fd, bytes, sizeof bytes, 0) >= 34);
  } while (bytes[14] != VV_LPDU_SAP);
  memcpy(launch, bytes + 17, 4);
  close(fd);
}

static void test_only_whole_frames_for_us_come_in(void **state) {
  (void)state;
  need_namespace();
  struct vv_error error = {0};
  uint8_t launch[4];
  enum {
    TO_OTHER_HOST = 0,
    FROM_OTHER_HOST = 6,
    LONGER_THAN_FRAME = 13,
    DSAP = 14,
    CONTROL = 16,
    LAUNCH = 17,
    END = 21
  };
  static const int wrongs[] = {TO_OTHER_HOST, FROM_OTHER_HOST, LONGER_THAN_FRAME, DSAP, CONTROL, LAUNCH, END};
  struct pair pair = connected(VV_WAIT_SPIN, 1);
  learn_launch(&pair, launch);
  for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
    inject(pair.far_contact, launch, wrongs[i], 0);
    stop_now = true;
    if (vv_stack_eth.recv(pair.far, in, 2, &error) != VV_GOT_STOPPED) fail_msg("byte %d was not looked at", wrongs[i]);
    stop_now = false;
  }
  inject(pair.far_contact, launch, -1, 25); /* as a card delivers it, padded to 60 */
  assert_int_equal(vv_stack_eth.recv(pair.far, in, 2, &error), VV_GOT_MESSAGE);
  assert_memory_equal(in, "hi", 2);
  disconnect(&pair);
}

static void test_a_full_ring_loses_messages_not_sense(void **state) {
  (void)state;
  need_namespace();
  struct vv_error error = {0};
  struct pair pair = connected(VV_WAIT_BLOCK, 1);
  memset(out, 1, 1481 * 10);
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(vv_stack_eth.send(pair.near, out, 1481 * 10, &error), VV_GOT_MESSAGE);
  }
  int got = 0;
  stop_now = true;
  while (vv_stack_eth.recv(pair.far, in, 1481 * 10, &error) == VV_GOT_MESSAGE) got++;
  stop_now = false;
  assert_true(got > 100 && got < 1000);
  struct vv_rng rng = {9};
  exchange(&pair, 5000, &rng);
  disconnect(&pair);
}

static void test_silence_and_nonsense_are_errors(void **state) {
  (void)state;
  need_namespace();
  struct vv_error error = {0};
  char contact[VV_STACK_CONTACT_MAX];
  struct vv_stack_config config = config_of(VV_WAIT_BLOCK, 1);
  struct vv_end *end = vv_stack_eth.open(&config, contact, &error);
  assert_non_null(end);
  vv_ns deadline_ns = vv_clock_ns() + 50000000;
  assert_int_equal(vv_stack_eth.connect(end, "00:00:00:00:00:00/12345678/1500", deadline_ns, &error), -1);
  assert_string_equal(error.code, "timeout");
  assert_non_null(strstr(error.remedy, "--iface"));
  static const char *const bad[] = {"",
                                    "x",
                                    "00:00:00:00:00:00/12345678/",
                                    "00:00:00:00:00:00/12345678/67",
                                    "00:00:00:00:00:00/12345678/1500x",
                                    "00:00:00:00:00/12345678/1500"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(vv_stack_eth.connect(end, bad[i], deadline_ns, &error), -1);
    assert_string_equal(error.code, "bad-contact");
  }
  vv_stack_eth.close(end);
  config.iface = "nosuchiface";
  assert_null(vv_stack_eth.open(&config, contact, &error));
  assert_string_equal(error.code, "no-iface");
  config.iface = NULL;
  config.address = "192.0.2.1";
  assert_null(vv_stack_eth.open(&config, contact, &error));
  assert_string_equal(error.code, "no-iface");
}

static void test_without_the_right_the_remedy_is_named(void **state) {
  (void)state;
  need_namespace();
  pid_t child = fork();
  if (child == 0) {
    struct vv_error error = {0};
    char contact[VV_STACK_CONTACT_MAX];
    struct vv_stack_config config = config_of(VV_WAIT_BLOCK, 1);
    struct __user_cap_header_struct self = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    bool ready = syscall(SYS_capset, &self, none) == 0;
    bool refused = vv_stack_eth.open(&config, contact, &error) == NULL && strcmp(error.code, "no-permission") == 0;
    _exit(ready && refused && strstr(error.remedy, "setcap cap_net_raw+ep /") ? 0 : 1);
  }
  int status;
  while (waitpid(child, &status, 0) < 0) assert_int_equal(errno, EINTR); /* the tick breaks every call */
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages_of_every_kind_of_size),
      cmocka_unit_test(test_small_mtu),
      cmocka_unit_test(test_two_launches_and_successors_do_not_mix),
      cmocka_unit_test(test_messages_of_another_size_are_dropped),
      cmocka_unit_test(test_only_whole_frames_for_us_come_in),
      cmocka_unit_test(test_a_full_ring_loses_messages_not_sense),
      cmocka_unit_test(test_silence_and_nonsense_are_errors),
      cmocka_unit_test(test_without_the_right_the_remedy_is_named),
  };
  return cmocka_run_group_tests(tests, make_namespace, NULL);
}
