/* SPDX-License-Identifier: BSD-3-Clause */
/* The raw sender on the loopback interface: one message for several ends, and what a receiver makes of loss and lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/siphash.h"
#include "core/wire/fragment.h"
#include "io/os/socket.h"
#include "io/os/watch.h"
#include "stack/stack.h"

#define ENDS       3
#define SIZE_BYTES 200000 /* several datagrams even there */
#define FOREVER_NS (20 * VV_SEC)

static vv_ns stop_at_ns;

static bool ask_stop(void *context) {
  (void)context;
  return vv_clock_ns() >= stop_at_ns;
}

static int start_watch(void **state) {
  (void)state;
  struct vv_error error;
  return vv_watch_start(5000000, &error);
}

struct party {
  struct vv_end *near[ENDS], *far[ENDS];
  char far_contact[ENDS][VV_STACK_CONTACT_MAX];
};

static struct vv_stack_config config_of(enum vv_to to, bool far) {
  stop_at_ns = vv_clock_ns() + FOREVER_NS;
  return (struct vv_stack_config){.address = "127.0.0.1",
                                  .far = far,
                                  .to = to,
                                  .size_bytes_max = SIZE_BYTES,
                                  .key = {(uint8_t)to, 7},
                                  .stop = {.ask = ask_stop}};
}

static struct party meet(enum vv_to to) {
  struct party party;
  struct vv_error error;
  char near_contact[VV_STACK_CONTACT_MAX];
  struct vv_stack_config near = config_of(to, false), far = config_of(to, true);
  for (int i = 0; i < ENDS; i++) {
    party.far[i] = vv_stack_raw.open(&far, party.far_contact[i], &error);
    party.near[i] = vv_stack_raw.open(&near, near_contact, &error);
    assert_non_null(party.far[i]);
    assert_non_null(party.near[i]);
    assert_int_equal(vv_stack_raw.accept(party.far[i], near_contact, 0, &error), 0);
    assert_int_equal(vv_stack_raw.connect(party.near[i], party.far_contact[i], 0, &error), 0);
  }
  return party;
}

static void part(struct party *party) {
  for (int i = 0; i < ENDS; i++) {
    vv_stack_raw.close(party->near[i]);
    vv_stack_raw.close(party->far[i]);
  }
}

static uint8_t message[SIZE_BYTES], got[SIZE_BYTES];

static const uint8_t *make_message(uint8_t first) {
  for (size_t i = 0; i < SIZE_BYTES; i++) message[i] = (uint8_t)(first + i * 31 + i / 251);
  return message;
}

static void everybody_has_it(enum vv_to to) {
  struct party party = meet(to);
  struct vv_error error;
  const size_t sizes[] = {1, 1000, SIZE_BYTES, 17};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    make_message((uint8_t)k);
    for (int i = 0; i < (to == VV_TO_EACH ? ENDS : 1); i++) {
      assert_int_equal(vv_stack_raw.send(party.near[i], message, sizes[k], &error), VV_GOT_MESSAGE);
    }
    for (int i = 0; i < ENDS; i++) {
      memset(got, 0, sizes[k]);
      assert_int_equal(vv_stack_raw.recv(party.far[i], got, sizes[k], &error), VV_GOT_MESSAGE);
      assert_memory_equal(got, message, sizes[k]);
    }
  }
  part(&party);
}

static void by_broadcast(void **state) {
  (void)state;
  everybody_has_it(VV_TO_BROADCAST);
}

static void by_multicast(void **state) {
  (void)state;
  everybody_has_it(VV_TO_MULTICAST);
}

static void to_each(void **state) {
  (void)state;
  everybody_has_it(VV_TO_EACH);
}

/* by hand -------------------------------------------------------------- */

#define UNIT  100
#define COUNT 5
#define SMALL (UNIT * (COUNT - 1) + 40)

/* Datagrams to the first far end, written here. */
struct hand {
  int fd;
  uint32_t launch;
};

static struct hand reach(const struct party *party) {
  struct hand hand;
  struct vv_address own, to;
  struct vv_error error;
  struct vv_stack_config config = config_of(VV_TO_EACH, true);
  hand.launch = (uint32_t)(vv_siphash(config.key, (const uint8_t *)"raw", 3) >> 32);
  assert_int_equal(vv_address_parse("127.0.0.1", 0, &own, &error), 0);
  assert_int_equal(vv_address_parse_pair(party->far_contact[0], &to, &error), 0);
  hand.fd = vv_socket_bound(SOCK_DGRAM, &own, 0, 0, &error);
  assert_true(hand.fd >= 0);
  assert_int_equal(connect(hand.fd, &to.any, to.length), 0);
  return hand;
}

static void send_piece(const struct hand *hand, uint32_t number, uint16_t index, size_t bytes) {
  uint8_t datagram[VV_FRAGMENT_HEADER_BYTES + UNIT];
  struct vv_fragment fragment = {.launch = hand->launch, .message = number, .index = index, .count = COUNT};
  vv_fragment_emit(&fragment, datagram);
  memcpy(datagram + VV_FRAGMENT_HEADER_BYTES, message + index * UNIT, bytes);
  assert_int_equal(send(hand->fd, datagram, VV_FRAGMENT_HEADER_BYTES + bytes, 0), VV_FRAGMENT_HEADER_BYTES + bytes);
}

static size_t piece_bytes(uint16_t index) {
  return index + 1 == COUNT ? SMALL - (COUNT - 1) * UNIT : UNIT;
}

static void send_all(const struct hand *hand, uint32_t number) {
  for (uint16_t i = COUNT; i-- > 0;) send_piece(hand, number, i, piece_bytes(i));
}

static void receive_small(struct party *party) {
  struct vv_error error;
  memset(got, 0, SMALL);
  assert_int_equal(vv_stack_raw.recv(party->far[0], got, SMALL, &error), VV_GOT_MESSAGE);
  assert_memory_equal(got, message, SMALL);
}

static void pieces_come_in_any_order_and_more_than_once(void **state) {
  (void)state;
  struct party party = meet(VV_TO_EACH);
  struct hand hand = reach(&party);
  make_message(1);
  send_piece(&hand, 0, 3, UNIT);
  send_piece(&hand, 0, 3, UNIT);
  send_all(&hand, 0);
  receive_small(&party);
  close(hand.fd);
  part(&party);
}

static void a_later_message_ends_one_that_lost_a_piece(void **state) {
  (void)state;
  struct party party = meet(VV_TO_EACH);
  struct hand hand = reach(&party);
  make_message(2);
  for (uint16_t i = 1; i < COUNT; i++) send_piece(&hand, 4, i, piece_bytes(i));
  make_message(3);
  send_all(&hand, 5);
  receive_small(&party);
  send_all(&hand, 5); /* again: it is over */
  make_message(4);
  send_all(&hand, 6);
  receive_small(&party);
  close(hand.fd);
  part(&party);
}

static void what_is_not_of_this_launch_or_does_not_fit_is_dropped(void **state) {
  (void)state;
  struct party party = meet(VV_TO_EACH);
  struct hand hand = reach(&party), stranger = hand;
  stranger.launch++;
  make_message(9);
  send_all(&stranger, 0);
  send_piece(&hand, 0, COUNT - 2, 7); /* too short for its place, so it claims another */
  assert_int_equal(send(hand.fd, "short", 5, 0), 5);
  make_message(5);
  send_all(&hand, 1);
  receive_small(&party);
  close(hand.fd);
  part(&party);
}

static void a_wait_ends_when_it_is_told_to(void **state) {
  (void)state;
  struct party party = meet(VV_TO_EACH);
  struct hand hand = reach(&party);
  struct vv_error error;
  make_message(6);
  for (uint16_t i = 1; i < COUNT; i++) send_piece(&hand, 0, i, piece_bytes(i));
  stop_at_ns = vv_clock_ns() + 20000000;
  assert_int_equal(vv_stack_raw.recv(party.far[0], got, SMALL, &error), VV_GOT_STOPPED);
  stop_at_ns = vv_clock_ns() + FOREVER_NS;
  send_piece(&hand, 0, 0, UNIT); /* the same call goes on where it was */
  assert_int_equal(vv_stack_raw.recv(party.far[0], got, SMALL, &error), VV_GOT_MESSAGE);
  assert_memory_equal(got, message, SMALL);
  close(hand.fd);
  part(&party);
}

static void ports_stay_in_their_range(void **state) {
  (void)state;
  struct vv_error error;
  char contact[VV_STACK_CONTACT_MAX];
  struct vv_stack_config near = config_of(VV_TO_BROADCAST, false), far = config_of(VV_TO_BROADCAST, true);
  near.port_min = far.port_min = 41000;
  near.port_max = far.port_max = 41200;
  struct vv_end *receiver = vv_stack_raw.open(&far, contact, &error);
  struct vv_end *sender = vv_stack_raw.open(&near, contact, &error);
  assert_non_null(receiver);
  assert_non_null(sender);
  assert_int_equal(vv_stack_raw.connect(sender, contact, 0, &error), 0);
  assert_int_equal(vv_stack_raw.send(sender, make_message(8), 10, &error), VV_GOT_MESSAGE);
  assert_int_equal(vv_stack_raw.recv(receiver, got, 10, &error), VV_GOT_MESSAGE);
  vv_stack_raw.close(receiver);
  vv_stack_raw.close(sender);
}

static void ipv6_has_no_broadcast(void **state) {
  (void)state;
  struct vv_error error;
  char contact[VV_STACK_CONTACT_MAX];
  struct vv_stack_config config = config_of(VV_TO_BROADCAST, true);
  config.address = "::1";
  assert_null(vv_stack_raw.open(&config, contact, &error));
  assert_non_null(strstr(error.remedy, "multicast"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_broadcast),
      cmocka_unit_test(by_multicast),
      cmocka_unit_test(to_each),
      cmocka_unit_test(pieces_come_in_any_order_and_more_than_once),
      cmocka_unit_test(a_later_message_ends_one_that_lost_a_piece),
      cmocka_unit_test(what_is_not_of_this_launch_or_does_not_fit_is_dropped),
      cmocka_unit_test(a_wait_ends_when_it_is_told_to),
      cmocka_unit_test(ports_stay_in_their_range),
      cmocka_unit_test(ipv6_has_no_broadcast),
  };
  return cmocka_run_group_tests(tests, start_watch, NULL);
}
