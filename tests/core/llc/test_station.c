/* SPDX-License-Identifier: BSD-3-Clause */
/* Stations, two at a time: what users ask for, what peers do wrong, and what the wire carries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/wire/announcement.h"
#include "pair.h"

enum { LENGTH = VV_ENVELOPE_BYTES };

static struct pair *connected(bool plain) {
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  a.plain = b.plain = plain;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], 1);
  assert_int_equal(pair->told[1][VV_LLC_STATION_CONNECTED], 1);
  return pair;
}

static uint8_t *pattern(size_t count) {
  uint8_t *bytes = malloc(count + 1);
  for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)(i * 7 + i / 251);
  return bytes;
}

static void send_and_check(struct pair *pair, int from, uint32_t count) {
  uint8_t *bytes = pattern(count);
  unsigned sent = pair->told[from][VV_LLC_STATION_SENT];
  pair->got_bytes[!from] = 0;
  assert_true(vv_llc_station_send(&pair->stations[from], pair->now_ns, pair->links[from], bytes, count, count));
  pair_sleep(pair, 20 * VV_MS);
  assert_int_equal(pair->got_bytes[!from], count);
  assert_memory_equal(pair->got[!from], bytes, count);
  assert_int_equal(pair->told[from][VV_LLC_STATION_SENT], sent + 1);
  const struct vv_llc_station_event *event = pair_event(pair, from, VV_LLC_STATION_SENT);
  assert_true(event->acknowledged && event->handle == count);
  pair->events_count[0] = pair->events_count[1] = 0;
  free(bytes);
}

static void test_messages_of_any_size(void **state) {
  (void)state;
  const uint32_t sizes[] = {0, 1, 1481, 1482, 1483, 1490, 1495, 1496, 1497, 1498, 1499, 1500, 1501, 65535, 10000000};
  struct pair *pair = connected(false);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    send_and_check(pair, 0, sizes[i]);
    send_and_check(pair, 1, sizes[i]);
  }
  assert_int_equal(pair->longest, VV_ENVELOPE_BYTES + 1500);
  assert_int_equal(pair->stations[0].counts.resent + pair->stations[1].counts.resent, 0);
  pair_free(pair);
}

/* Two windows: the first leaves at once, the second when the first was acknowledged. */
static void test_what_left_waits_for_acknowledgements_only(void **state) {
  (void)state;
  struct pair *pair = connected(false);
  struct vv_llc_station *near = &pair->stations[0];
  uint32_t count = 2 * 127 * 1490;
  uint8_t *bytes = pattern(count);
  assert_true(vv_llc_station_has_left(near, pair->links[0]));
  assert_true(vv_llc_station_send(near, pair->now_ns, pair->links[0], bytes, count, 1));
  assert_false(vv_llc_station_has_left(near, pair->links[0]));
  pair_send(pair, 0);
  assert_false(vv_llc_station_has_left(near, pair->links[0]));
  while (!vv_llc_station_has_left(near, pair->links[0])) {
    assert_int_equal(pair->told[0][VV_LLC_STATION_SENT], 0);
    while (pair_deliver(pair, 1)) continue;
    pair_send(pair, 1);
    while (pair_deliver(pair, 0)) continue;
    pair_send(pair, 0);
  }
  assert_int_equal(pair->told[0][VV_LLC_STATION_SENT], 0);
  pair_sleep(pair, 20 * VV_MS);
  assert_int_equal(pair->told[0][VV_LLC_STATION_SENT], 1);
  pair_free(pair);
  free(bytes);
}

static void test_plain(void **state) {
  (void)state;
  struct pair *pair = connected(true);
  send_and_check(pair, 0, 1);
  send_and_check(pair, 1, 1496);
  send_and_check(pair, 0, 1497);
  send_and_check(pair, 0, 1000000);
  assert_false(vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], "", 0, 0));
  pair_free(pair);
}

static void test_jumbo(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  a.pdu_bytes_max = b.pdu_bytes_max = 9000;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  send_and_check(pair, 0, 100);
  send_and_check(pair, 0, 100000);
  assert_int_equal(pair->longest, VV_ENVELOPE_BYTES + 9000);
  pair_free(pair);
}

static void test_padded_frames(void **state) {
  (void)state;
  struct pair *pair = connected(false);
  uint8_t frame[VV_FRAME_BYTES_MIN] = {0};
  struct vv_envelope envelope = {.pdu_bytes = 7};
  memcpy(envelope.destination, pair_address(0).mac, VV_MAC_BYTES);
  memcpy(envelope.source, pair_address(1).mac, VV_MAC_BYTES);
  vv_envelope_emit(&envelope, frame);
  memcpy(frame + LENGTH, "\x64\x68\x03word", 7);
  pair_put(pair, 0, frame, sizeof frame);
  pair_run(pair);
  const struct vv_llc_station_event *event = pair_event(pair, 0, VV_LLC_STATION_UNIT);
  assert_non_null(event);
  assert_int_equal(event->data_bytes, 4);
  pair_free(pair);
}

static void test_type_1(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  b.receive_window = 31;
  struct pair *pair = pair_new(&a, &b);
  struct vv_llc_address peer = pair_address(1), null = peer;
  const uint8_t too_long[1498] = {0};
  null.sap = VV_LLC_SAP_NULL;
  assert_true(vv_llc_station_unit(&pair->stations[0], &peer, "hello", 5));
  assert_true(vv_llc_station_test(&pair->stations[0], &peer, "ping", 4));
  assert_true(vv_llc_station_identify(&pair->stations[0], &peer));
  pair_run(pair);
  assert_int_equal(pair_event(pair, 1, VV_LLC_STATION_UNIT)->data_bytes, 5);
  assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_ECHO)->data_bytes, 4);
  assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_IDENTITY)->window, 31);
  assert_true(vv_llc_station_test(&pair->stations[0], &null, "", 0));
  pair_run(pair);
  assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_ECHO)->peer.sap, VV_LLC_SAP_NULL);
  assert_false(vv_llc_station_unit(&pair->stations[0], &peer, too_long, sizeof too_long));
  for (uint32_t i = 0; i < a.units; i++) assert_true(vv_llc_station_unit(&pair->stations[0], &peer, "", 0));
  assert_false(vv_llc_station_unit(&pair->stations[0], &peer, "", 0));
  pair_free(pair);
}

/* Whoever asks a group cannot know how many will answer: all are told, and nobody else is. */
static void test_everybody_is_asked(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  struct pair *pair = pair_new(&a, &b);
  struct vv_llc_address all = {.mac = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, .sap = VV_LLC_SAP_GLOBAL};
  assert_true(vv_llc_station_test(&pair->stations[0], &all, "", 0));
  all.sap = VV_LLC_SAP_NULL;
  assert_true(vv_llc_station_test(&pair->stations[0], &all, "", 0));
  pair_run(pair);
  assert_int_equal(pair->told[0][VV_LLC_STATION_ECHO], 2);
  assert_int_equal(pair->events[0][0].peer.sap, pair_address(1).sap);
  assert_int_equal(pair->events[0][1].peer.sap, VV_LLC_SAP_NULL);
  assert_memory_equal(pair->events[0][1].peer.mac, pair_address(1).mac, VV_MAC_BYTES);
  assert_int_equal(pair->told[1][VV_LLC_STATION_ECHO], 0);
  pair_free(pair);
}

static void test_nobody_listens(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  b.listen = VV_LLC_LISTEN_REFUSE;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_REFUSED);
  assert_int_equal(pair->events_count[1], 0);
  pair_free(pair);
}

static void test_another_job(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  b.nonce++;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_REFUSED);
  assert_true(pair->stations[1].counts.foreign > 0);
  pair_free(pair);
}

static void test_the_user_is_asked(void **state) {
  (void)state;
  for (int plain = 0; plain < 2; plain++) {
    for (int accepts = 0; accepts < 2; accepts++) {
      struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
      a.plain = b.plain = plain;
      b.listen = VV_LLC_LISTEN_ASK;
      struct pair *pair = pair_new(&a, &b);
      pair_connect(pair);
      assert_int_equal(pair->told[1][VV_LLC_STATION_ASKED], 1);
      assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], 0);
      assert_int_equal(pair_link(pair, 1)->state, VV_LLC_CONN);
      if (accepts) vv_llc_station_accept(&pair->stations[1], pair->now_ns, pair->links[1]);
      if (!accepts) vv_llc_station_disconnect(&pair->stations[1], pair->now_ns, pair->links[1]);
      pair_run(pair);
      assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], accepts);
      assert_int_equal(pair->told[0][VV_LLC_STATION_CLOSED], !accepts);
      pair_free(pair);
    }
  }
}

static void test_silence(void **state) {
  (void)state;
  int both = 2;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  struct pair *pair = pair_new(&a, &b);
  pair->filter = pair_deaf;
  pair->context = &both;
  pair_connect(pair);
  pair_sleep(pair, 20000 * VV_MS);
  assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_SILENT);
  pair_free(pair);
}

/* A peer that was there is late, not dead, unless n2 says otherwise. */
static void test_late_is_not_dead(void **state) {
  (void)state;
  int both = 2;
  for (uint32_t n2 = 0; n2 < 8; n2 += 7) {
    struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
    a.n2 = n2;
    struct pair *pair = pair_new(&a, &b);
    pair_connect(pair);
    pair->filter = pair_deaf;
    pair->context = &both;
    vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], "word", 4, 1);
    pair_sleep(pair, 60000 * VV_MS);
    assert_int_equal(pair->told[0][VV_LLC_STATION_CLOSED], n2 > 0);
    if (n2 > 0) assert_false(pair_event(pair, 0, VV_LLC_STATION_SENT)->acknowledged);
    pair->filter = NULL;
    pair_sleep(pair, 2000 * VV_MS);
    assert_int_equal(pair->got_bytes[1], n2 > 0 ? 0 : 4);
    pair_free(pair);
  }
}

static void test_disconnect(void **state) {
  (void)state;
  for (int plain = 0; plain < 2; plain++) {
    struct pair *pair = connected(plain);
    vv_llc_station_disconnect(&pair->stations[0], pair->now_ns, pair->links[0]);
    assert_false(vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], "late", 4, 1));
    pair_run(pair);
    assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_ASKED);
    assert_int_equal(pair_event(pair, 1, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_PEER);
    pair_connect(pair); /* and again, in the same place */
    send_and_check(pair, 1, 5000);
    pair_free(pair);
  }
}

static void test_both_connect(void **state) {
  (void)state;
  for (int plain = 0; plain < 2; plain++) {
    struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
    a.plain = b.plain = plain;
    struct pair *pair = pair_new(&a, &b);
    for (int i = 0; i < 2; i++) {
      struct vv_llc_address peer = pair_address(!i);
      pair->links[i] = vv_llc_station_connect(&pair->stations[i], pair->now_ns, &peer);
      assert_int_equal(vv_llc_station_connect(&pair->stations[i], pair->now_ns, &peer), pair->links[i]);
    }
    pair_sleep(pair, 50 * VV_MS);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(pair->told[i][VV_LLC_STATION_CONNECTED], 1);
      send_and_check(pair, i, 3000);
    }
    pair_free(pair);
  }
}

static void test_busy(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  b.credit = 3;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  uint8_t *bytes = pattern(100000);
  vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], bytes, 100000, 1);
  pair_sleep(pair, 100 * VV_MS);
  assert_int_equal(pair->got_bytes[1], 1482 + 2 * 1490);
  assert_int_equal(pair_link(pair, 1)->state, VV_LLC_BUSY);
  assert_true(pair_link(pair, 0)->remote_busy);
  vv_llc_station_credit(&pair->stations[1], pair->now_ns, pair->links[1], 10);
  pair_sleep(pair, 100 * VV_MS);
  assert_int_equal(pair->got_bytes[1], 1482 + 12 * 1490);
  vv_llc_station_credit(&pair->stations[1], pair->now_ns, pair->links[1], VV_LLC_CREDIT_UNLIMITED);
  pair_sleep(pair, 100 * VV_MS);
  assert_int_equal(pair->got_bytes[1], 100000);
  assert_memory_equal(pair->got[1], bytes, 100000);
  free(bytes);
  pair_free(pair);
}

static bool lose_one_in(struct pair *pair, int to, uint8_t *bytes, size_t *count, void *context) {
  (void)pair, (void)to, (void)bytes, (void)count;
  unsigned *left = context;
  return (++*left % 37) != 0;
}

/* I PDUs with data from station 0: which are lost, and how often each number is seen. */
struct losses {
  unsigned first, last; /* of all that come, counted from 0: lost when they come for the first time */
  unsigned seen;
};

static bool lose_some(struct pair *pair, int to, uint8_t *bytes, size_t *count, void *context) {
  (void)pair;
  struct losses *losses = context;
  bool is_i = *count > VV_ENVELOPE_BYTES + VV_LPDU_HEADER_BYTES_MAX && (bytes[VV_ENVELOPE_BYTES + 2] & 1) == 0;
  if (to != 1 || !is_i) return true;
  unsigned which = losses->seen++;
  return which < losses->first || which > losses->last;
}

/* 200 I PDUs with some lost: all arrive, once, in order. Tells how many were sent again. */
static uint64_t resent_of(bool plain, struct losses losses, uint32_t early) {
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  a.plain = b.plain = plain;
  b.early = early;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  pair->filter = lose_some;
  pair->context = &losses;
  send_and_check(pair, 0, 200 * 1490);
  uint64_t resent = pair->stations[0].counts.resent;
  assert_true(pair->stations[1].counts.rejects > 0 || losses.last > 200);
  assert_int_equal(pair_link(pair, 1)->early, VV_LLC_NO_EARLY);
  pair_free(pair);
  return resent;
}

static void test_what_is_lost_alone_is_sent_again_alone(void **state) {
  (void)state;
  for (unsigned lost = 1; lost < 150; lost += 7) {
    assert_int_equal(resent_of(false, (struct losses){.first = lost, .last = lost}, 128), 1);
  }
}

/* Without places to keep what came early, and with a peer that is not ours, all behind a loss are sent again. */
static void test_go_back(void **state) {
  (void)state;
  const struct losses one = {.first = 100, .last = 100};
  assert_true(resent_of(true, one, 128) > 4);
  assert_true(resent_of(false, one, 0) > 4);
}

/* As many as were lost, and fewer than twice as many: REJ after REJ gets twice as many. */
static void test_a_burst_is_sent_again(void **state) {
  (void)state;
  for (unsigned burst = 2; burst < 20; burst++) {
    assert_in_range(resent_of(false, (struct losses){.first = 100, .last = 100 + burst - 1}, 128), burst, 2 * burst);
  }
}

/* The last of a message: nothing comes behind it, so only T1 can tell. */
static void test_the_last_is_lost(void **state) {
  (void)state;
  struct losses losses = {.first = 3, .last = 3};
  struct pair *pair = connected(false);
  pair->filter = lose_some;
  pair->context = &losses;
  send_and_check(pair, 0, 1482 + 3 * 1490);
  assert_int_equal(pair->stations[0].counts.resent, 1);
  assert_int_equal(pair->stations[0].counts.enquiries, 1);
  pair_free(pair);
}

/* What came early waits for credit, too, and is not asked for again. */
static void test_early_and_busy(void **state) {
  (void)state;
  struct losses losses = {.first = 2, .last = 2};
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  b.credit = 4;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  pair->filter = lose_some;
  pair->context = &losses;
  uint8_t *bytes = pattern(8 * 1490);
  vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], bytes, 8 * 1490, 1);
  pair_run(pair);
  assert_int_equal(pair->got_bytes[1], 1482 + 3 * 1490);
  assert_int_equal(pair_link(pair, 1)->state, VV_LLC_BUSY);
  assert_int_not_equal(pair_link(pair, 1)->early, VV_LLC_NO_EARLY);
  vv_llc_station_credit(&pair->stations[1], pair->now_ns, pair->links[1], 2);
  pair_take(pair, 1); /* without any frame */
  assert_int_equal(pair->got_bytes[1], 1482 + 5 * 1490);
  vv_llc_station_credit(&pair->stations[1], pair->now_ns, pair->links[1], VV_LLC_CREDIT_UNLIMITED);
  pair_sleep(pair, 100 * VV_MS);
  assert_int_equal(pair->got_bytes[1], 8 * 1490);
  assert_memory_equal(pair->got[1], bytes, 8 * 1490);
  assert_int_equal(pair->stations[0].counts.resent, 1);
  free(bytes);
  pair_free(pair);
}

static void test_a_reset_loses_nothing(void **state) {
  (void)state;
  unsigned seen = 0;
  uint8_t *bytes = pattern(1000000);
  struct pair *pair = connected(false);
  pair->filter = lose_one_in;
  pair->context = &seen;
  for (int i = 0; i < 2; i++) vv_llc_station_send(&pair->stations[i], pair->now_ns, pair->links[i], bytes, 1000000, 1);
  for (int turn = 0; turn < 10; turn++) {
    pair_sleep(pair, VV_MS / 2);
    vv_llc_station_reset(&pair->stations[turn % 2], pair->now_ns, pair->links[turn % 2]);
  }
  pair_sleep(pair, 5000 * VV_MS);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pair->got_bytes[i], 1000000);
    assert_memory_equal(pair->got[i], bytes, 1000000);
    assert_int_equal(pair->told[i][VV_LLC_STATION_RESET] + pair->told[i][VV_LLC_STATION_CLOSED], 0);
  }
  assert_true(pair->stations[0].counts.resets > 0);
  free(bytes);
  pair_free(pair);
}

static void test_a_plain_reset_gives_messages_up(void **state) {
  (void)state;
  int to_1 = 1;
  struct pair *pair = connected(true);
  pair->filter = pair_deaf;
  pair->context = &to_1;
  vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], "lost", 4, 9);
  pair_run(pair);
  pair->filter = NULL;
  vv_llc_station_reset(&pair->stations[1], pair->now_ns, pair->links[1]);
  pair_run(pair);
  assert_int_equal(pair->told[0][VV_LLC_STATION_RESET], 1);
  assert_int_equal(pair->told[1][VV_LLC_STATION_RESET], 1);
  assert_false(pair_event(pair, 0, VV_LLC_STATION_SENT)->acknowledged);
  send_and_check(pair, 0, 4000);
  pair_free(pair);
}

static void test_frmr_both_ways(void **state) {
  (void)state;
  for (int plain = 0; plain < 2; plain++) {
    struct pair *pair = connected(plain);
    /* acknowledges what was never sent; without marks one of ours says nothing at all */
    pair_forge(pair, 0, (struct vv_lpdu){.kind = VV_LPDU_RR, .nr = 60}, NULL, 0);
    assert_int_equal(pair->stations[0].counts.frmr_out, 1);
    assert_int_equal(pair_link(pair, 0)->frmr.why, plain ? VV_LPDU_FRMR_Z : VV_LPDU_FRMR_W | VV_LPDU_FRMR_X);
    assert_int_equal(pair_link(pair, 0)->state, VV_LLC_ERROR);
    pair_sleep(pair, 100 * VV_MS);
    assert_int_equal(pair->stations[1].counts.frmr_in, 1);
    assert_int_equal(pair_link(pair, 0)->state, VV_LLC_NORMAL);
    send_and_check(pair, 0, 2000);
    pair_forge(pair, 0, (struct vv_lpdu){.kind = VV_LPDU_RR}, "x", 1); /* information where none may be */
    assert_int_equal(pair_link(pair, 0)->frmr.why, VV_LPDU_FRMR_W | VV_LPDU_FRMR_X);
    pair_sleep(pair, 100 * VV_MS);
    send_and_check(pair, 1, 2000);
    pair_free(pair);
  }
}

/* An RR that was sent before a reset, or a round of N(R) ago, acknowledges nothing, however late it comes. */
static void test_a_late_rr_acknowledges_nothing(void **state) {
  (void)state;
  int to_1 = 1;
  struct pair *pair = connected(false);
  uint8_t *bytes = pattern(1000);
  send_and_check(pair, 0, 1000);
  pair->filter = pair_deaf;
  pair->context = &to_1;
  vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], bytes, 1000, 1);
  pair_run(pair);
  const struct vv_llc_link *link = pair_link(pair, 0);
  struct vv_lpdu rr = {.kind = VV_LPDU_RR, .response = true, .nr = 2};
  const struct vv_segment old[] = {{.epoch = link->epoch - 1}, {.epoch = link->epoch, .round = 255}};
  for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
    uint8_t marks[VV_SEGMENT_BYTES_MIN];
    vv_segment_emit_least(&old[i], marks);
    pair_forge(pair, 0, rr, marks, sizeof marks);
    assert_null(pair_event(pair, 0, VV_LLC_STATION_SENT));
  }
  assert_int_equal(pair->stations[0].counts.frmr_out, 0);
  pair->filter = NULL;
  pair_sleep(pair, 100 * VV_MS);
  assert_int_equal(pair->got_bytes[1], 2000);
  free(bytes);
  pair_free(pair);
}

static void test_a_successor_knows_nothing(void **state) {
  (void)state;
  struct pair *pair = connected(false);
  send_and_check(pair, 0, 2000);
  struct vv_llc_station_config b = pair_config(1);
  b.incarnation += 12345;
  pair_start(pair, 1, &b);
  vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], "word", 4, 1);
  pair_sleep(pair, 1000 * VV_MS);
  assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_GONE);
  assert_false(pair_event(pair, 0, VV_LLC_STATION_SENT)->acknowledged);
  pair_connect(pair);
  send_and_check(pair, 0, 2000);
  pair_free(pair);
}

/*
 * The cable is cut, one end gives the link up, and connects again when the cable is back, while the other still holds
 * the old link. Whoever sends then: what is acknowledged has arrived.
 */
static void test_a_link_after_another_delivers(void **state) {
  (void)state;
  int both = 2;
  for (unsigned kind = 0; kind < 16; kind++) {
    int cutter = kind & 1, sender = kind >> 1 & 1;
    bool talked = kind & 4, answered = kind & 8;
    struct pair *pair = connected(false);
    if (talked) send_and_check(pair, cutter, 700);
    if (answered) send_and_check(pair, !cutter, 700);
    pair->filter = pair_deaf;
    pair->context = &both;
    vv_llc_station_disconnect(&pair->stations[cutter], pair->now_ns, pair->links[cutter]);
    pair_sleep(pair, 60000 * VV_MS);
    assert_int_equal(pair->told[cutter][VV_LLC_STATION_CLOSED], 1);
    pair->filter = NULL;
    struct vv_llc_address peer = pair_address(!cutter);
    pair->links[cutter] = vv_llc_station_connect(&pair->stations[cutter], pair->now_ns, &peer);
    pair_sleep(pair, 5000 * VV_MS);
    assert_int_equal(pair->told[cutter][VV_LLC_STATION_CONNECTED], 2);
    send_and_check(pair, sender, 700);
    send_and_check(pair, !sender, 700);
    pair_free(pair);
  }
}

/* In the middle of a message: the other end hears of another link, not of the rest of that message. */
static void test_a_link_after_another_begins_anew(void **state) {
  (void)state;
  int both = 2;
  struct losses losses = {.first = 3, .last = 1000};
  struct pair *pair = connected(false);
  uint8_t *bytes = pattern(50000);
  pair->filter = lose_some;
  pair->context = &losses;
  vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], bytes, 50000, 1);
  pair_run(pair);
  assert_int_equal(pair->got_bytes[1], 1482 + 2 * 1490);
  pair->filter = pair_deaf;
  pair->context = &both;
  vv_llc_station_disconnect(&pair->stations[0], pair->now_ns, pair->links[0]);
  pair_sleep(pair, 60000 * VV_MS);
  assert_false(pair_event(pair, 0, VV_LLC_STATION_SENT)->acknowledged);
  pair->filter = NULL;
  pair_connect(pair);
  assert_int_equal(pair_event(pair, 1, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_GONE);
  send_and_check(pair, 0, 50000);
  free(bytes);
  pair_free(pair);
}

/* A link that was called for and given up before it came about is no event of the other's user. */
static void test_a_call_after_another(void **state) {
  (void)state;
  int to_0 = 0;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  struct pair *pair = pair_new(&a, &b);
  pair->filter = pair_deaf;
  pair->context = &to_0;
  pair_connect(pair);
  vv_llc_station_disconnect(&pair->stations[0], pair->now_ns, pair->links[0]);
  pair_run(pair);
  pair->filter = NULL;
  pair_connect(pair);
  assert_int_equal(pair->told[1][VV_LLC_STATION_CLOSED], 0);
  assert_int_equal(pair->told[1][VV_LLC_STATION_CONNECTED], 1);
  send_and_check(pair, 0, 2000);
  pair_free(pair);
}

/* A frame to station 1 from somebody made up, who never hears anything. */
static void forge_stranger(struct pair *pair, uint8_t who, enum vv_lpdu_kind kind, const void *info, size_t count) {
  struct vv_lpdu pdu = {.dsap = pair_address(1).sap, .ssap = 0x64, .kind = kind, .pf = true};
  uint8_t frame[VV_ENVELOPE_BYTES + VV_LPDU_HEADER_BYTES_MAX + 64];
  size_t header = vv_lpdu_emit(&pdu, frame + VV_ENVELOPE_BYTES);
  if (count > 0) memcpy(frame + VV_ENVELOPE_BYTES + header, info, count);
  struct vv_envelope envelope = {.source = {2, 9, 9, 9, 9, who}, .pdu_bytes = header + count};
  memcpy(envelope.destination, pair_address(1).mac, VV_MAC_BYTES);
  vv_envelope_emit(&envelope, frame);
  pair_put(pair, 1, frame, VV_ENVELOPE_BYTES + header + count);
  pair_deliver(pair, 1);
}

static void call_as_strangers(struct pair *pair, bool plain) {
  const struct vv_llc_station *station = &pair->stations[1];
  struct vv_announcement announcement = {.nonce = station->config.nonce, .incarnation = 5, .epoch = 1, .window = 127};
  uint8_t info[VV_ANNOUNCEMENT_BYTES];
  vv_announcement_emit(&announcement, info);
  for (uint8_t who = 0; who < station->config.links; who++) {
    if (!plain) forge_stranger(pair, who, VV_LPDU_TEST, info, sizeof info);
    forge_stranger(pair, who, VV_LPDU_SABME, NULL, 0);
    if (who % 2 == 0) forge_stranger(pair, who, VV_LPDU_RR, NULL, 0);
  }
}

/* Made-up stations take all links; they end in silence, though n2 = 0, and then an honest one gets in, and stays. */
static void test_links_to_strangers_end(void **state) {
  (void)state;
  for (int plain = 0; plain < 2; plain++) {
    struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
    a.plain = b.plain = plain;
    b.idle_ns = 1000 * VV_MS;
    struct pair *pair = pair_new(&a, &b);
    call_as_strangers(pair, plain);
    assert_int_equal(pair->told[1][VV_LLC_STATION_CONNECTED], b.links);
    pair_connect(pair);
    assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], 0);
    pair_sleep(pair, 60000 * VV_MS);
    assert_int_equal(pair->told[1][VV_LLC_STATION_CLOSED], b.links);
    assert_int_equal(pair_event(pair, 1, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_SILENT);
    pair_connect(pair);
    assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], 1);
    send_and_check(pair, 0, 3000);
    pair_sleep(pair, 600000 * VV_MS);
    assert_int_equal(pair->told[1][VV_LLC_STATION_CLOSED], b.links);
    send_and_check(pair, 1, 3000);
    pair_free(pair);
  }
}

/* Whom our user has let in is late, not dead, as one that was connected to. */
static void test_who_was_let_in_may_be_late(void **state) {
  (void)state;
  int both = 2;
  for (int accepts = 0; accepts < 2; accepts++) {
    struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
    b.listen = accepts ? VV_LLC_LISTEN_ASK : VV_LLC_LISTEN_ACCEPT;
    b.idle_ns = 1000 * VV_MS;
    struct pair *pair = pair_new(&a, &b);
    pair_connect(pair);
    if (accepts) vv_llc_station_accept(&pair->stations[1], pair->now_ns, pair->links[1]);
    pair_run(pair);
    pair->filter = pair_deaf;
    pair->context = &both;
    pair_sleep(pair, 600000 * VV_MS);
    assert_int_equal(pair->told[1][VV_LLC_STATION_CLOSED], !accepts);
    pair_free(pair);
  }
}

/* A silent peer is asked, and one that has gone says DM. */
static void test_an_idle_link_notices(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  a.idle_ns = 100 * VV_MS;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  pair_sleep(pair, 1000 * VV_MS);
  assert_int_equal(pair->told[0][VV_LLC_STATION_CLOSED], 0);
  pair_start(pair, 1, &b);
  pair_sleep(pair, 300 * VV_MS);
  assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_GONE);
  pair_free(pair);
}

static bool lose_long(struct pair *pair, int to, uint8_t *bytes, size_t *count, void *context) {
  (void)pair, (void)to, (void)bytes, (void)context;
  return *count < 1000;
}

/* Frames that do not fit the way: the peer answers all questions, and gets no data. */
static void test_long_frames_do_not_arrive(void **state) {
  (void)state;
  uint8_t *bytes = pattern(5000);
  struct pair *pair = connected(false);
  pair->filter = lose_long;
  vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], bytes, 5000, 1);
  pair_sleep(pair, 20000 * VV_MS);
  assert_int_equal(pair_event(pair, 0, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_STUCK);
  assert_int_equal(pair_event(pair, 1, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_PEER);
  free(bytes);
  pair_free(pair);
}

/* A queue that is full for seconds, but for short frames: many send to one at once. */
static void test_long_frames_that_are_lost_for_long_arrive_in_the_end(void **state) {
  (void)state;
  uint8_t *bytes = pattern(5000);
  struct pair *pair = connected(false);
  pair->filter = lose_long;
  vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], bytes, 5000, 1);
  pair_sleep(pair, 8000 * VV_MS);
  assert_int_equal(pair->told[0][VV_LLC_STATION_CLOSED], 0);
  pair->filter = NULL;
  pair_sleep(pair, 5000 * VV_MS);
  assert_true(pair_event(pair, 0, VV_LLC_STATION_SENT)->acknowledged);
  free(bytes);
  pair_free(pair);
}

static void test_frames_that_are_not_ours(void **state) {
  (void)state;
  struct pair *pair = connected(false);
  struct vv_rng rng = {1};
  for (int turn = 0; turn < 20000; turn++) {
    uint8_t frame[80];
    for (size_t i = 0; i < sizeof frame; i++) frame[i] = (uint8_t)vv_rng_next(&rng);
    memcpy(frame, pair_address(0).mac, VV_MAC_BYTES - turn % 2);
    memcpy(frame + VV_MAC_BYTES, "\2\7\7\7\7\7", VV_MAC_BYTES); /* a stranger */
    frame[12] = turn % 3 == 0 ? 0x81 : 0;
    frame[13] = (uint8_t)(turn % 120);
    frame[14] = turn % 5 == 0 ? 0x42 : pair_address(0).sap;
    vv_llc_station_receive(&pair->stations[0], pair->now_ns, frame, (size_t)turn % sizeof frame);
    pair_take(pair, 0);
    pair_clear(pair);
  }
  pair->events_count[0] = 0;
  pair_sleep(pair, 100 * VV_MS);
  send_and_check(pair, 0, 3000);
  send_and_check(pair, 1, 3000);
  pair_free(pair);
}

static void test_memory(void **state) {
  (void)state;
  struct vv_llc_station_config config = pair_config(0);
  config.links = 16;
  config.messages = 1024;
  config.units = 64;
  assert_in_range(vv_llc_station_bytes(&config), 1, 8 << 20); /* 16 peers; the ring of a packet socket is beside it */
  assert_in_range(vv_llc_station_bytes(&config), 1, 400 << 10);
  assert_in_range(sizeof(struct vv_llc_link), 1, 600);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages_of_any_size),
      cmocka_unit_test(test_what_left_waits_for_acknowledgements_only),
      cmocka_unit_test(test_plain),
      cmocka_unit_test(test_jumbo),
      cmocka_unit_test(test_padded_frames),
      cmocka_unit_test(test_type_1),
      cmocka_unit_test(test_everybody_is_asked),
      cmocka_unit_test(test_nobody_listens),
      cmocka_unit_test(test_another_job),
      cmocka_unit_test(test_the_user_is_asked),
      cmocka_unit_test(test_silence),
      cmocka_unit_test(test_late_is_not_dead),
      cmocka_unit_test(test_disconnect),
      cmocka_unit_test(test_both_connect),
      cmocka_unit_test(test_busy),
      cmocka_unit_test(test_what_is_lost_alone_is_sent_again_alone),
      cmocka_unit_test(test_go_back),
      cmocka_unit_test(test_a_burst_is_sent_again),
      cmocka_unit_test(test_the_last_is_lost),
      cmocka_unit_test(test_early_and_busy),
      cmocka_unit_test(test_a_reset_loses_nothing),
      cmocka_unit_test(test_a_plain_reset_gives_messages_up),
      cmocka_unit_test(test_frmr_both_ways),
      cmocka_unit_test(test_a_late_rr_acknowledges_nothing),
      cmocka_unit_test(test_a_successor_knows_nothing),
      cmocka_unit_test(test_a_link_after_another_delivers),
      cmocka_unit_test(test_a_link_after_another_begins_anew),
      cmocka_unit_test(test_a_call_after_another),
      cmocka_unit_test(test_links_to_strangers_end),
      cmocka_unit_test(test_who_was_let_in_may_be_late),
      cmocka_unit_test(test_an_idle_link_notices),
      cmocka_unit_test(test_long_frames_do_not_arrive),
      cmocka_unit_test(test_long_frames_that_are_lost_for_long_arrive_in_the_end),
      cmocka_unit_test(test_frames_that_are_not_ours),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
