/* SPDX-License-Identifier: BSD-3-Clause */
/* Which two links are a pair: what was sent on one is delivered by the one that it came up with, or given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/llc/link.h"
#include "core/llc/turn.h"
#include "core/wire/announcement.h"
#include "pair.h"

enum { WORD = 700 }; /* bytes of a message of these tests: one I PDU */

static const uint8_t word[WORD];

/* What the wire loses, by the station that it goes to. */
struct cable {
  bool cut[2];      /* all */
  bool no_calls[2]; /* TEST commands */
  bool no_acks[2];  /* S PDUs */
};

static bool carry(struct pair *pair, int to, uint8_t *bytes, size_t *count, void *context) {
  (void)pair;
  const struct cable *cable = context;
  struct vv_lpdu_view view;
  struct vv_lpdu pdu;
  assert_true(vv_lpdu_view(bytes + VV_ENVELOPE_BYTES, *count - VV_ENVELOPE_BYTES, &view));
  assert_true(vv_lpdu_parse(view, &pdu));
  bool call = pdu.kind == VV_LPDU_TEST && !pdu.response;
  bool ack = pdu.kind == VV_LPDU_RR || pdu.kind == VV_LPDU_RNR || pdu.kind == VV_LPDU_REJ;
  return !cable->cut[to] && !(call && cable->no_calls[to]) && !(ack && cable->no_acks[to]);
}

static struct pair *world(struct cable *cable) {
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  struct pair *pair = pair_new(&a, &b);
  *cable = (struct cable){0};
  pair->filter = carry;
  pair->context = cable;
  return pair;
}

/* The link ends here at once, and nobody is told: as when another process takes the place of the one that had it. */
static void forget(struct pair *pair, int which) {
  struct vv_llc_station *station = &pair->stations[which];
  struct vv_llc_link *link = &station->links[pair->links[which]];
  if ((link->tell & VV_LLC_NEWS_CLOSED) == 0) vv_llc_link_close(station, link, VV_LLC_CLOSE_ASKED);
  link->owed_count = 0;
  vv_llc_turn_settle(station, link, pair->now_ns);
}

static void call(struct pair *pair, int which) {
  struct vv_llc_address peer = pair_address(!which);
  pair->links[which] = vv_llc_station_connect(&pair->stations[which], pair->now_ns, &peer);
}

/* One message, delivered and acknowledged. */
static void say(struct pair *pair, int from) {
  size_t got = pair->got_bytes[!from];
  assert_true(vv_llc_station_send(&pair->stations[from], pair->now_ns, pair->links[from], word, WORD, 1));
  pair_sleep(pair, 20 * VV_MS);
  assert_int_equal(pair->got_bytes[!from], got + WORD);
  assert_true(pair_event(pair, from, VV_LLC_STATION_SENT)->acknowledged);
}

/*
 * A message is delivered and its acknowledgement lost. Then the cable is cut, who has the message hangs up, and is
 * called by the link of then, or calls anew, or both at once. Whoever connected first, and whoever of the two knew what
 * of the other: the message is not delivered to the next link.
 */
static void test_a_pair_is_one_for_good(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < 32; kind++) {
    int first = kind & 1, leaver = kind >> 1 & 1;
    bool spoke = kind & 4, hears_first = kind & 8, resets = kind & 16;
    struct cable cable;
    struct pair *pair = world(&cable);
    call(pair, first);
    pair_sleep(pair, 50 * VV_MS);
    if (spoke) say(pair, leaver);
    cable.no_acks[!leaver] = true;
    vv_llc_station_send(&pair->stations[!leaver], pair->now_ns, pair->links[!leaver], word, WORD, 2);
    pair_run(pair);
    assert_int_equal(pair->got_bytes[leaver], WORD);
    cable = (struct cable){.cut = {true, true}};
    vv_llc_station_disconnect(&pair->stations[leaver], pair->now_ns, pair->links[leaver]);
    forget(pair, leaver);
    pair_run(pair);
    if (resets) vv_llc_station_reset(&pair->stations[!leaver], pair->now_ns, pair->links[!leaver]);
    cable = (struct cable){0};
    cable.no_calls[!leaver] = hears_first;
    call(pair, leaver);
    pair_sleep(pair, 1000 * VV_MS);
    cable = (struct cable){0};
    pair_sleep(pair, 2000 * VV_MS);
    assert_int_equal(pair->got_bytes[leaver], WORD);
    assert_int_equal(pair->told[!leaver][VV_LLC_STATION_CLOSED], 1);
    assert_int_equal(pair_event(pair, !leaver, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_GONE);
    assert_false(pair_event(pair, !leaver, VV_LLC_STATION_SENT)->acknowledged);
    assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], 2);
    assert_int_equal(pair->told[1][VV_LLC_STATION_CONNECTED], 2);
    say(pair, !leaver);
    say(pair, leaver);
    pair_free(pair);
  }
}

/* A user is asked whether to let somebody in, who gives up meanwhile, and calls again. */
static void test_who_asks_again_is_let_in(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  b.listen = VV_LLC_LISTEN_ASK;
  struct pair *pair = pair_new(&a, &b);
  for (int turn = 0; turn < 3; turn++) {
    call(pair, 0);
    pair_sleep(pair, 10 * VV_MS);
    assert_int_equal(pair->told[1][VV_LLC_STATION_ASKED], 1);
    if (turn == 2) break;
    forget(pair, 0);
    pair_run(pair);
  }
  vv_llc_station_accept(&pair->stations[1], pair->now_ns, pair->links[1]);
  pair_sleep(pair, 100 * VV_MS);
  assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], 1);
  say(pair, 0);
  say(pair, 1);
  pair_free(pair);
}

/* A call for a link that is no more opens none, and comes back as it was. */
static void test_a_call_for_another_is_echoed(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  struct pair *pair = pair_new(&a, &b);
  struct vv_llc_address peer = pair_address(1);
  struct vv_announcement announcement = {.nonce = a.nonce, .incarnation = 5, .peer = 6, .epoch = 1, .window = 9};
  uint8_t info[VV_ANNOUNCEMENT_BYTES];
  vv_announcement_emit(&announcement, info);
  assert_true(vv_llc_station_test(&pair->stations[0], &peer, info, sizeof info));
  pair_send(pair, 0);
  while (pair_deliver(pair, 1)) continue;
  struct vv_llc_station_frame frame;
  assert_true(vv_llc_station_next_frame(&pair->stations[1], pair->now_ns, &frame));
  assert_int_equal(frame.data_bytes, sizeof info);
  assert_memory_equal(frame.data, info, sizeof info);
  peer = pair_address(0);
  assert_int_equal(vv_llc_station_find(&pair->stations[1], &peer), VV_LLC_NO_LINK);
  pair_free(pair);
}

/* A process that has never talked with this peer waits all the same, if the peer has with the process before it. */
static void test_late_pdus_die_out(void **state) {
  (void)state;
  struct cable cable;
  struct pair *pair = world(&cable);
  for (int turn = 0; turn < 2; turn++) {
    call(pair, 0);
    pair_run(pair);
    assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], turn == 0);
    pair_sleep(pair, pair->stations[0].config.late_ns);
    assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], 1);
    vv_llc_station_disconnect(&pair->stations[1], pair->now_ns, pair->links[1]);
    pair_run(pair);
    struct vv_llc_station_config next = pair_config(0);
    next.incarnation = 12345;
    pair_start(pair, 0, &next);
    pair->told[0][VV_LLC_STATION_CONNECTED] = 0;
  }
  pair_free(pair);
}

/* Lets the first call of station 0 wait until it is put on the wire by hand. */
static bool hold_a_call(struct pair *pair, int to, uint8_t *bytes, size_t *count, void *context) {
  (void)pair;
  struct pair_frame *held = context;
  bool test = bytes[VV_ENVELOPE_BYTES + 2] == 0xf3; /* P = 1 */
  if (to != 1 || !test || held->bytes != NULL) return true;
  *held = (struct pair_frame){*count, malloc(*count)};
  memcpy(held->bytes, bytes, *count);
  return false;
}

/* Both call, one gives way, and its call comes when both are up, numbered as far from the other's as can be. */
static void test_a_call_that_gave_way_comes_late(void **state) {
  (void)state;
  for (unsigned apart = 1; apart < 256; apart++) {
    struct pair_frame held = {0};
    struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
    a.incarnation = 0x1000 + 82 + apart;
    b.incarnation = 0x2000 + 82;
    struct pair *pair = pair_new(&a, &b);
    pair->filter = hold_a_call;
    pair->context = &held;
    call(pair, 0);
    call(pair, 1);
    pair_sleep(pair, 1 * VV_MS);
    assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], 1);
    assert_non_null(held.bytes);
    pair_put(pair, 1, held.bytes, held.count);
    pair_sleep(pair, 1000 * VV_MS);
    say(pair, 0);
    say(pair, 1);
    free(held.bytes);
    pair_free(pair);
  }
}

/* Its incarnations never are 0, which stands for none. */
static void test_no_link_is_called_none(void **state) {
  (void)state;
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  a.incarnation = b.incarnation = 0;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  for (int i = 0; i < 2; i++) {
    assert_int_not_equal(pair_link(pair, i)->incarnation, 0);
    assert_int_equal(pair_link(pair, i)->peer_incarnation, pair_link(pair, !i)->incarnation);
  }
  say(pair, 0);
  say(pair, 1);
  pair_free(pair);
}

/* A filter: the first UAs are lost, *context of them, an int. */
static bool lose_ua(struct pair *pair, int to, uint8_t *bytes, size_t *count, void *context) {
  (void)pair, (void)to;
  int *left = context;
  const bool is_ua =
      *count == VV_ENVELOPE_BYTES + VV_LPDU_HEADER_BYTES && (bytes[VV_ENVELOPE_BYTES + 2] & 0xef) == 0x63;
  return !is_ua || (*left)-- <= 0;
}

/* A station disconnects, its DISC is lost, and then that PDU comes to it, late: both ends learn what happened. */
static void end_while_it_comes(int ending, struct vv_lpdu late) {
  int deaf = !ending;
  const struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  vv_llc_station_disconnect(&pair->stations[ending], pair->now_ns, pair->links[ending]);
  pair->filter = pair_deaf;
  pair->context = &deaf;
  pair_send(pair, ending);
  pair->filter = NULL;
  pair_forge(pair, ending, late, NULL, 0);
  pair_sleep(pair, 50 * VV_MS);
  assert_int_equal(pair_event(pair, !ending, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_PEER);
  assert_int_equal(pair_event(pair, ending, VV_LLC_STATION_CLOSED)->why, VV_LLC_CLOSE_ASKED);
  pair_free(pair);
}

/* A SABME of before comes again: no DM takes the place of the DISC that was lost. */
static void test_a_late_sabme_does_not_end_what_is_being_ended(void **state) {
  (void)state;
  end_while_it_comes(1, (struct vv_lpdu){.kind = VV_LPDU_SABME, .pf = true});
}

/* A UA that answers a SABME, which went twice, is none to the DISC that was lost. */
static void test_a_late_ua_does_not_end_what_is_being_ended(void **state) {
  (void)state;
  end_while_it_comes(0, (struct vv_lpdu){.kind = VV_LPDU_UA, .response = true, .pf = true});
}

/*
 * It comes again because the UA was slow, not lost: what went behind that UA has arrived, and the peer counts it. Were
 * the numbers cleared, and the window too small for as many since, nothing would ever be acknowledged.
 */
static void test_a_sabme_that_comes_again_clears_nothing(void **state) {
  (void)state;
  enum { PDUS = 6, BYTES = PDUS * 1490 };
  static const uint8_t bytes[BYTES] = {1, 2, 3};
  const struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  assert_true(vv_llc_station_send(&pair->stations[1], pair->now_ns, pair->links[1], bytes, BYTES, 1));
  pair_send(pair, 1);
  while (pair_deliver(pair, 0)) continue;
  assert_true(pair_link(pair, 0)->vr >= PDUS);
  pair_forge(pair, 1, (struct vv_lpdu){.kind = VV_LPDU_SABME, .pf = true}, NULL, 0);
  pair_link(pair, 1)->window.working = PDUS - 2; /* as after a loss */
  pair_sleep(pair, 200 * VV_MS);
  assert_non_null(pair_event(pair, 1, VV_LLC_STATION_SENT));
  assert_int_equal(pair->got_bytes[0], BYTES);
  say(pair, 0);
  pair_free(pair);
}

/* Nor does it where the UA was lost, and nothing has arrived. */
static void test_a_sabme_after_a_lost_ua_is_answered(void **state) {
  (void)state;
  static const uint8_t bytes[5 * 1490] = {1, 2, 3};
  const struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  struct pair *pair = pair_new(&a, &b);
  pair->filter = lose_ua;
  pair->context = &(int){1};
  pair_connect(pair);
  assert_int_equal(pair->told[0][VV_LLC_STATION_CONNECTED], 1);
  assert_true(vv_llc_station_send(&pair->stations[1], pair->now_ns, pair->links[1], bytes, sizeof bytes, 1));
  pair_sleep(pair, 20000 * VV_MS);
  assert_true(pair_event(pair, 1, VV_LLC_STATION_SENT)->acknowledged);
  assert_int_equal(pair->got_bytes[0], sizeof bytes);
  assert_int_equal(pair->stations[1].counts.resets, 0);
  pair_free(pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_pair_is_one_for_good),
      cmocka_unit_test(test_who_asks_again_is_let_in),
      cmocka_unit_test(test_a_call_for_another_is_echoed),
      cmocka_unit_test(test_late_pdus_die_out),
      cmocka_unit_test(test_a_call_that_gave_way_comes_late),
      cmocka_unit_test(test_no_link_is_called_none),
      cmocka_unit_test(test_a_late_sabme_does_not_end_what_is_being_ended),
      cmocka_unit_test(test_a_late_ua_does_not_end_what_is_being_ended),
      cmocka_unit_test(test_a_sabme_that_comes_again_clears_nothing),
      cmocka_unit_test(test_a_sabme_after_a_lost_ua_is_answered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
