/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet ports on the loopback interface of a network namespace of their own, and frames made by hand. */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/wire/envelope.h"
#include "core/wire/tcp_segment.h"
#include "io/engine/node.h"
#include "io/os/clock.h"
#include "io/os/socket.h"
#include "io/port/packet.h"

#include "../../namespace.h"

enum { SAP = 0x20, OTHER_SAP = 0x24, JUMBO = 0x8870, FRAME_MAX = 9014, PATIENCE_S = 30 };
static const vv_ns patience_ns = (int64_t)PATIENCE_S * 1000000000;

static int by_hand = -1; /* a packet socket that sends what it is told */

static int make_namespace(void **state) {
  (void)state;
  enter_namespace();
  if (have_namespace) by_hand = socket(AF_PACKET, SOCK_RAW, 0);
  return 0;
}

static void send_bytes(const uint8_t *frame, size_t count) {
  struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex("lo"), .sll_halen = ETH_ALEN};
  assert_int_equal(sendto(by_hand, frame, count, 0, (struct sockaddr *)&to, sizeof to), count);
}

/* A frame to `sap` with that length field, `count` bytes in all. */
static void send_frame(uint8_t last_of_mac, size_t length, uint8_t sap, size_t count) {
  uint8_t frame[FRAME_MAX] = {[5] = last_of_mac, [12] = (uint8_t)(length >> 8), (uint8_t)length, sap, 0x28, 0x01, 0x02};
  send_bytes(frame, count);
}

static void open_with(struct vv_packet *packet, struct vv_filter filter) {
  struct vv_error error;
  struct vv_packet_config config = {.iface = "lo", .filter = filter, .backlog_bytes = 0};
  if (vv_packet_open(packet, &config, &error) != 0) fail_msg("%s: %s", error.code, error.text);
}

static void open_port(struct vv_packet *packet, uint8_t sap) {
  open_with(packet, (struct vv_filter){.dsap = sap});
}

/* The next frame must be there within the patience. */
static size_t next_frame(struct vv_packet *packet, uint8_t *dsap) {
  struct vv_packet_frame frame;
  vv_ns deadline_ns = vv_clock_ns() + patience_ns;
  while (!vv_packet_peek(packet, &frame)) {
    if (vv_packet_wait(packet, deadline_ns) != 0 && errno != EINTR) fail_msg("no frame: %s", strerror(errno));
  }
  size_t count = frame.count;
  *dsap = frame.bytes[14];
  vv_packet_release(packet);
  return count;
}

static void a_port_takes_whole_frames_to_its_sap_and_no_others(void **state) {
  (void)state;
  need_namespace();
  struct vv_packet packet;
  uint8_t dsap;
  open_port(&packet, SAP);
  send_frame(0, 4, OTHER_SAP, 18); /* another service */
  send_frame(9, 4, SAP, 18);       /* another host's */
  send_frame(0, 200, SAP, 18);     /* a length that lies */
  send_frame(0, 0x0800, SAP, 60);  /* a type, not a length: IPv4 */
  send_frame(0, 0x8100, SAP, 60);  /* a VLAN tag */
  send_frame(0, 0, SAP, 14);       /* nothing inside */
  send_frame(0, 38, 0x42, 60);     /* spanning tree */
  send_frame(0, 4, SAP, 18);       /* short, as virtual cards bring it */
  send_frame(0, 4, SAP, 60);       /* padded, as real ones do */
  send_frame(0, 1500, SAP, 1514);  /* full */
  assert_int_equal(next_frame(&packet, &dsap), 18);
  assert_int_equal(dsap, SAP);
  assert_int_equal(next_frame(&packet, &dsap), 60);
  assert_int_equal(next_frame(&packet, &dsap), 1514);
  struct vv_packet_frame frame;
  assert_false(vv_packet_peek(&packet, &frame));
  assert_int_equal(vv_packet_drops(&packet), 0);
  vv_packet_close(&packet);
}

/* Those of a station: to it, to everybody, to groups; to its SAP, to the station itself, to all SAPs. */
static void a_station_gets_what_stations_answer(void **state) {
  (void)state;
  need_namespace();
  static const struct {
    uint8_t first_of_mac, dsap;
    bool shown;
  } cases[] = {{0x00, SAP, true},        {0x00, 0x00, true}, {0x00, 0xff, true}, {0xff, SAP, true},
               {0xff, 0xff, true},       {0x01, 0x00, true}, {0x02, SAP, false}, {0x02, 0x00, false},
               {0xff, OTHER_SAP, false}, {0x00, 0x42, false}};
  struct vv_packet packet;
  uint8_t dsap;
  open_with(&packet, (struct vv_filter){.to = VV_FILTER_TO_GROUP, .dsap = SAP, .station = true});
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t frame[18] = {[0] = cases[i].first_of_mac, [13] = 4, cases[i].dsap, 0x28, 0x01, 0x02};
    if (frame[0] == 0xff) memset(frame, 0xff, ETH_ALEN);
    send_bytes(frame, sizeof frame);
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (!cases[i].shown) continue;
    next_frame(&packet, &dsap);
    assert_int_equal(dsap, cases[i].dsap);
  }
  struct vv_packet_frame frame;
  assert_false(vv_packet_peek(&packet, &frame));
  vv_packet_close(&packet);
}

static void jumbo_frames_come_in_order_with_others(void **state) {
  (void)state;
  need_namespace();
  struct vv_packet packet;
  uint8_t dsap;
  open_with(&packet, (struct vv_filter){.dsap = SAP, .jumbo = true});
  assert_int_equal(packet.data_bytes_max, VV_ENVELOPE_PDU_BYTES_MAX); /* the MTU of lo is beyond it */
  send_frame(0, JUMBO, SAP, 1514);                                    /* so short has a length field */
  send_frame(0, JUMBO, OTHER_SAP, 3000);                              /* another service */
  send_frame(9, JUMBO, SAP, 3000);                                    /* another host's */
  send_frame(0, 0x0800, SAP, 3000);                                   /* another type */
  send_frame(0, 200, SAP, 18);                                        /* a length that lies */
  send_bytes((uint8_t[22]){[12] = 0x81, 0x00, 0x00, 0x07, 0x00, 0x04, SAP, 0x28, 0x01, 0x02}, 22); /* of a VLAN */
  send_frame(0, JUMBO, SAP, 1515);
  send_frame(0, 4, SAP, 60);
  send_frame(0, JUMBO, SAP, FRAME_MAX);
  assert_int_equal(next_frame(&packet, &dsap), 1515);
  assert_int_equal(next_frame(&packet, &dsap), 60);
  assert_int_equal(next_frame(&packet, &dsap), FRAME_MAX);
  struct vv_packet_frame frame;
  assert_false(vv_packet_peek(&packet, &frame)); /* nor what this host sent, which comes by on its way out */
  assert_int_equal(vv_packet_drops(&packet), 0);
  vv_packet_close(&packet);
}

static void jumbo_frames_need_an_mtu(void **state) {
  (void)state;
  need_namespace();
  struct vv_packet packet;
  struct vv_error error = {0};
  struct vv_packet_config config = {.iface = "lo", .filter = {.dsap = SAP, .jumbo = true}};
  assert_int_equal(change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = 1500}), 0);
  assert_int_equal(vv_packet_open(&packet, &config, &error), -1);
  assert_string_equal(error.code, "no-jumbo");
  assert_int_equal(change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = 1501}), 0);
  assert_int_equal(vv_packet_open(&packet, &config, &error), 0);
  assert_int_equal(packet.data_bytes_max, 1501);
  vv_packet_close(&packet);
  assert_int_equal(change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = 65536}), 0);
}

/* A window of full frames from each of 16 peers, and what comes besides. */
static void a_ring_for_16_peers_takes_8_mib_at_most(void **state) {
  (void)state;
  need_namespace();
  struct vv_node node;
  struct vv_error error;
  struct vv_node_config config = {.iface = "lo", .links = 16};
  assert_int_equal(change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = 1500}), 0);
  if (vv_node_open(&node, &config, &error) != 0) fail_msg("%s: %s", error.code, error.text);
  assert_true(node.packet.slots / 4 * 3 >= 16 * 127);
  assert_true(node.packet.ring_bytes <= (size_t)8 << 20);
  vv_node_close(&node);
  assert_int_equal(change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = 65536}), 0);
}

static void two_services_on_two_saps_do_not_mix(void **state) {
  (void)state;
  need_namespace();
  struct vv_packet one, other;
  uint8_t dsap;
  open_port(&one, SAP);
  open_port(&other, OTHER_SAP);
  for (int i = 0; i < 3; i++) {
    send_frame(0, 4, SAP, 18);
    send_frame(0, 5, OTHER_SAP, 19);
  }
  for (int i = 0; i < 3; i++) {
    assert_int_equal(next_frame(&one, &dsap), 18);
    assert_int_equal(dsap, SAP);
    assert_int_equal(next_frame(&other, &dsap), 19);
    assert_int_equal(dsap, OTHER_SAP);
  }
  vv_packet_close(&one);
  vv_packet_close(&other);
}

static void what_finds_the_ring_full_is_counted(void **state) {
  (void)state;
  need_namespace();
  struct vv_packet packet;
  uint8_t dsap;
  open_port(&packet, SAP);
  for (size_t i = 0; i < packet.slots + 5; i++) send_frame(0, 4, SAP, 18);
  for (size_t i = 0; i < packet.slots; i++) next_frame(&packet, &dsap);
  assert_int_equal(vv_packet_drops(&packet), 5);
  assert_int_equal(vv_packet_drops(&packet), 0); /* told once */
  vv_packet_close(&packet);
}

static void a_batch_goes_out_in_order(void **state) {
  (void)state;
  need_namespace();
  enum { BATCH = 10 };
  struct vv_packet packet;
  uint8_t heads[BATCH][18], dsap;
  struct iovec frames[BATCH][VV_PORT_PIECES];
  open_port(&packet, SAP);
  for (size_t i = 0; i < BATCH; i++) {
    memcpy(heads[i], ((uint8_t[18]){[13] = (uint8_t)(4 + i), SAP, SAP, 0x01, 0x01}), 18);
    frames[i][0] = (struct iovec){.iov_base = heads[i], .iov_len = 18};
    frames[i][1] = (struct iovec){.iov_base = heads[i], .iov_len = i};
  }
  struct vv_port port = vv_packet_port(&packet);
  assert_int_equal(port.ops->send(port.self, frames, BATCH), BATCH);
  for (size_t i = 0; i < BATCH; i++) assert_int_equal(next_frame(&packet, &dsap), 18 + i);
  vv_packet_close(&packet);
}

static void a_wait_ends_at_its_deadline(void **state) {
  (void)state;
  need_namespace();
  struct vv_packet packet;
  open_port(&packet, SAP);
  vv_ns deadline_ns = vv_clock_ns() + 2000000;
  assert_int_equal(vv_packet_wait(&packet, deadline_ns), -1);
  assert_int_equal(errno, ETIME);
  assert_true(vv_clock_ns() >= deadline_ns);
  assert_int_equal(vv_packet_wait(&packet, deadline_ns), -1); /* long past */
  assert_int_equal(errno, ETIME);
  vv_packet_close(&packet);
}

static void a_change_of_the_interface_is_noticed(void **state) {
  (void)state;
  need_namespace();
  struct vv_packet packet;
  struct vv_error error = {0};
  open_port(&packet, SAP);
  int mtu = (int)packet.mtu_bytes;
  assert_int_equal(vv_packet_check(&packet, &error), 0);

  assert_int_equal(change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = mtu / 2}), 0);
  assert_int_equal(vv_packet_check(&packet, &error), -1);
  assert_string_equal(error.code, "iface-changed");
  assert_int_equal(change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = mtu}), 0);
  assert_int_equal(vv_packet_check(&packet, &error), 0);

  assert_int_equal(set_lo(0), 0);
  assert_int_equal(vv_packet_check(&packet, &error), -1);
  assert_string_equal(error.code, "iface-down");
  assert_int_equal(vv_packet_wait(&packet, vv_clock_ns() + patience_ns), -1);
  assert_int_equal(errno, ENETDOWN);
  assert_int_equal(set_lo(IFF_UP), 0);
  assert_int_equal(vv_packet_check(&packet, &error), 0);
  vv_packet_close(&packet);
}

static void what_cannot_be_opened_is_refused_by_name(void **state) {
  (void)state;
  need_namespace();
  struct vv_packet packet;
  struct vv_error error = {0};
  struct vv_packet_config config = {.iface = "none0", .filter = {.dsap = SAP}};
  assert_int_equal(vv_packet_open(&packet, &config, &error), -1);
  assert_string_equal(error.code, "no-iface");
  assert_int_equal(set_lo(0), 0);
  config.iface = "lo";
  assert_int_equal(vv_packet_open(&packet, &config, &error), -1);
  assert_string_equal(error.code, "iface-down");
  assert_int_equal(set_lo(IFF_UP), 0);
}

enum { SAID = 3000 };

/* Connects to this host, and says SAID bytes there. *port: where it listened. */
static void talk(const char *host, uint16_t *port) {
  static uint8_t bytes[SAID];
  struct vv_error error;
  struct vv_address at;
  assert_int_equal(vv_address_parse(host, 0, &at, &error), 0);
  int listener = vv_socket_listening(&at, 0, 0, 1, &error), fd = socket(at.any.sa_family, SOCK_STREAM, 0);
  assert_int_equal(connect(fd, &at.any, at.length), 0);
  int other = accept(listener, NULL, NULL);
  assert_true(vv_socket_write_all(fd, bytes, SAID));
  assert_int_equal(recv(other, bytes, SAID, MSG_WAITALL), SAID);
  *port = vv_address_port(&at);
  close(fd);
  close(other);
  close(listener);
}

/* Data bytes to and from that port that the ring has; *heads: the longest that it shows of a frame. */
static void add_up(struct vv_packet *packet, uint16_t port, uint32_t bytes[2], size_t *heads) {
  struct vv_packet_frame frame;
  struct vv_tcp_segment segment;
  for (; vv_packet_peek(packet, &frame); vv_packet_release(packet)) {
    assert_true(vv_tcp_segment_parse(frame.bytes, frame.count, frame.whole_bytes, &segment));
    if (segment.to_port == port) bytes[frame.outgoing] += segment.data_bytes;
    *heads = frame.count > *heads ? frame.count : *heads;
  }
}

static void who_looks_on_sees_both_directions_of_one_host_and_not_that_port(void **state) {
  (void)state;
  need_namespace();
  static const char *const hosts[] = {"127.0.0.1", "::1"};
  static const uint32_t low[] = {0x7f000001, 1};
  for (int i = 0; i < 2; i++) {
    struct vv_packet packet;
    struct vv_error error;
    uint16_t before, port;
    talk(hosts[i], &before);
    const struct vv_filter_watch watch = {.host = low[i], .not_port = 7}, deaf = {.host = low[i] + 1, .not_port = 7};
    const struct vv_packet_config config = {.iface = "lo", .watch = &watch}, other = {.iface = "lo", .watch = &deaf};
    struct vv_packet nothing;
    assert_int_equal(vv_packet_open(&packet, &config, &error), 0);
    assert_int_equal(vv_packet_open(&nothing, &other, &error), 0);
    talk(hosts[i], &port);
    uint32_t bytes[2] = {0};
    size_t heads = 0;
    add_up(&packet, port, bytes, &heads);
    assert_int_equal(bytes[0], SAID); /* as it comes */
    assert_int_equal(bytes[1], SAID); /* and as it goes: loopback has both */
    assert_in_range(heads, 54, VV_TCP_SEGMENT_HEAD_BYTES);
    add_up(&nothing, port, bytes, &heads);
    assert_int_equal(bytes[0] + bytes[1], 2 * SAID); /* of another host it sees nothing */
    vv_packet_close(&packet);
    vv_packet_close(&nothing);
  }
}

/* The control connection's, say: it listens at a port that is known before anybody looks on. */
static void a_port_that_is_left_out_is_not_seen(void **state) {
  (void)state;
  need_namespace();
  struct vv_error error;
  struct vv_address at;
  struct vv_packet packet;
  assert_int_equal(vv_address_parse("127.0.0.1", 0, &at, &error), 0);
  int listener = vv_socket_listening(&at, 0, 0, 1, &error), fd = socket(AF_INET, SOCK_STREAM, 0);
  const struct vv_filter_watch watch = {.host = 0x7f000001, .not_port = vv_address_port(&at)};
  const struct vv_packet_config config = {.iface = "lo", .watch = &watch};
  assert_int_equal(vv_packet_open(&packet, &config, &error), 0);
  assert_int_equal(connect(fd, &at.any, at.length), 0);
  assert_true(vv_socket_write_all(fd, (const uint8_t *)"said", 4));
  struct vv_packet_frame frame;
  assert_false(vv_packet_peek(&packet, &frame));
  close(fd);
  close(listener);
  vv_packet_close(&packet);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_port_takes_whole_frames_to_its_sap_and_no_others),
      cmocka_unit_test(a_station_gets_what_stations_answer),
      cmocka_unit_test(jumbo_frames_come_in_order_with_others),
      cmocka_unit_test(jumbo_frames_need_an_mtu),
      cmocka_unit_test(a_ring_for_16_peers_takes_8_mib_at_most),
      cmocka_unit_test(two_services_on_two_saps_do_not_mix),
      cmocka_unit_test(what_finds_the_ring_full_is_counted),
      cmocka_unit_test(a_batch_goes_out_in_order),
      cmocka_unit_test(a_wait_ends_at_its_deadline),
      cmocka_unit_test(a_change_of_the_interface_is_noticed),
      cmocka_unit_test(what_cannot_be_opened_is_refused_by_name),
      cmocka_unit_test(who_looks_on_sees_both_directions_of_one_host_and_not_that_port),
      cmocka_unit_test(a_port_that_is_left_out_is_not_seen),
  };
  return cmocka_run_group_tests(tests, make_namespace, NULL);
}
