/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our engine beside the guest: a plain station that does what it is told, line
 * by line on standard input, and answers on standard output as guest.c does:
 *
 *   peer IFACE SAP                  ready MAC
 *
 *   listen accept|refuse            ok: begins anew, without links
 *   connect MAC SAP                 ok
 *   accept                          ok: once somebody has connected
 *   send BYTES                      ok BYTES: the next bytes of the stream, all acknowledged
 *   receive BYTES                   ok BYTES WRONG
 *   both BYTES                      ok BYTES WRONG: sends and receives as many at the same time
 *   fill                            ok BYTES: so much came until the credit was used up, and RNR said
 *   drop sent|received N            ok: the next N frames are lost
 *   reset                           ok: the link was reset
 *   disconnect                      ok WHY
 *   await-close                     ok WHY: the other side closed
 *   test MAC SAP BYTES              ok BYTES WRONG: what came back
 *   identify MAC SAP                ok WINDOW
 *   unit MAC SAP BYTES              ok: a datagram
 *   receive-unit                    ok MAC SAP BYTES WRONG
 *   counts                          ok NAME=NUMBER...
 *
 * While no line is there the station works on, but gives no credit.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/engine/node.h"
#include "io/port/lossy.h"
#include "stream.h"

enum { WORDS_MAX = 8, CREDIT = 64, UNIT_BYTES = 2048, HANDLE = 1 };
static const vv_ns patience_ns = 120000000000;
/* Long, as the kernel's own (1 s): the guest may be kept from running. */
static const vv_ns t1_ns = 3000000000;

struct peer {
  struct vv_node node;
  struct vv_lossy lossy;
  uint32_t link;
  bool up, reset, closed, answered, got_unit;
  enum vv_llc_close why;
  uint8_t *out; /* the message on its way */
  bool sending;
  uint64_t sent, arrived, asked; /* bytes of the streams; asked for by receive so far */
  uint64_t wrong;
  uint32_t withheld; /* PDUs whose credit was not given back */
  uint8_t window;    /* of the last identity */
  struct vv_llc_address unit_from;
  size_t unit_bytes, unit_wrong; /* of the last datagram, or of the last answer to a test */
};

/* what the station tells ------------------------------------------------ */

static void give_credit(struct peer *peer) {
  if (peer->withheld == 0 || !peer->up) return;
  vv_llc_station_credit(&peer->node.station, vv_node_now(), peer->link, peer->withheld);
  peer->withheld = 0;
}

static void take_data(struct peer *peer, const struct vv_llc_station_event *event) {
  peer->wrong += stream_wrong(peer->arrived, event->data, event->data_bytes);
  peer->arrived += event->data_bytes;
  peer->withheld++;
  if (peer->arrived < peer->asked) give_credit(peer);
}

static void take_unit(struct peer *peer, const struct vv_llc_station_event *event) {
  peer->unit_from = event->peer;
  peer->unit_bytes = event->data_bytes;
  peer->unit_wrong = stream_wrong(0, event->data, event->data_bytes);
}

static void tell(void *context, const struct vv_llc_station_event *event) {
  struct peer *peer = context;
  switch (event->what) {
  case VV_LLC_STATION_CONNECTED:
    peer->link = event->link;
    peer->up = true;
    break;
  case VV_LLC_STATION_DATA:
    take_data(peer, event);
    break;
  case VV_LLC_STATION_SENT:
    peer->sending = false;
    break;
  case VV_LLC_STATION_RESET:
    peer->reset = true;
    break;
  case VV_LLC_STATION_CLOSED:
    peer->closed = true;
    peer->up = false;
    peer->why = event->why;
    break;
  case VV_LLC_STATION_UNIT:
    take_unit(peer, event);
    peer->got_unit = true;
    break;
  case VV_LLC_STATION_ECHO:
    take_unit(peer, event);
    peer->answered = true;
    break;
  case VV_LLC_STATION_IDENTITY:
    peer->window = event->window;
    peer->answered = true;
    break;
  default:
    break;
  }
}

/* waiting ---------------------------------------------------------------- */

static bool has_line(void *context) {
  (void)context;
  struct pollfd entry = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&entry, 1, 0) > 0;
}

static bool is_up(void *context) {
  const struct peer *peer = context;
  return peer->up || peer->closed;
}

static bool is_reset(void *context) {
  const struct peer *peer = context;
  return peer->reset || peer->closed;
}

static bool is_closed(void *context) {
  return ((const struct peer *)context)->closed;
}

static bool is_answered(void *context) {
  return ((const struct peer *)context)->answered;
}

static bool has_unit(void *context) {
  return ((const struct peer *)context)->got_unit;
}

static bool is_sent(void *context) {
  const struct peer *peer = context;
  return !peer->sending || peer->closed;
}

static bool has_arrived(void *context) {
  const struct peer *peer = context;
  return peer->arrived >= peer->asked || peer->closed;
}

static bool has_both(void *context) {
  return is_sent(context) && has_arrived(context);
}

static bool is_full(void *context) {
  const struct peer *peer = context;
  return peer->withheld >= CREDIT || peer->closed;
}

static void failed(int number, const char *text) {
  printf("failed %d %s\n", number, text);
}

/* True when it came; else the answer is given. */
static bool wait_for(struct peer *peer, bool (*done)(void *context)) {
  struct vv_error error = {.text = "stopped"};
  peer->node.engine.stop = (struct vv_watch_stop){0};
  enum vv_engine_ran ran = vv_node_run(&peer->node, done, vv_clock_ns() + patience_ns, &error);
  if (ran == VV_ENGINE_RAN_DONE) return true;
  failed(ran == VV_ENGINE_RAN_LATE ? ETIMEDOUT : EIO, ran == VV_ENGINE_RAN_LATE ? "it did not come" : error.text);
  return false;
}

/* requests ---------------------------------------------------------------- */

static struct vv_llc_address address_of(char **words) {
  struct vv_llc_address address = {.sap = (uint8_t)strtol(words[1], NULL, 0)};
  unsigned bytes[VV_MAC_BYTES] = {0};
  sscanf(words[0], "%x:%x:%x:%x:%x:%x", &bytes[0], &bytes[1], &bytes[2], &bytes[3], &bytes[4], &bytes[5]);
  for (size_t i = 0; i < VV_MAC_BYTES; i++) address.mac[i] = (uint8_t)bytes[i];
  return address;
}

static const char *format_mac(const uint8_t *mac) {
  static char text[18];
  snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
  return text;
}

static void forget_link(struct peer *peer) {
  peer->up = peer->closed = peer->reset = peer->sending = false;
  peer->sent = peer->arrived = peer->asked = peer->wrong = 0;
  peer->withheld = 0;
}

static void verb_listen(struct peer *peer, char **words) {
  struct vv_llc_station_config config;
  struct vv_error error;
  vv_llc_station_defaults(&config);
  config.plain = true;
  config.listen = strcmp(words[1], "accept") == 0 ? VV_LLC_LISTEN_ACCEPT : VV_LLC_LISTEN_REFUSE;
  config.credit = CREDIT;
  config.tries = UINT32_MAX;
  config.t1_ns_min = config.t1_ns_max = t1_ns;
  forget_link(peer);
  if (vv_node_start(&peer->node, config, &error) != 0) return failed(EIO, error.text);
  vv_lossy_init(&peer->lossy, peer->node.engine.port, 0, 1);
  peer->node.engine.port = vv_lossy_port(&peer->lossy);
  puts("ok");
}

static void verb_connect(struct peer *peer, char **words) {
  struct vv_llc_address to = address_of(words + 1);
  forget_link(peer);
  peer->link = vv_llc_station_connect(&peer->node.station, vv_node_now(), &to);
  if (!wait_for(peer, is_up)) return;
  if (peer->up)
    puts("ok");
  else
    failed(ECONNREFUSED, vv_node_why(peer->why));
}

static void verb_accept(struct peer *peer, char **words) {
  (void)words;
  if (wait_for(peer, is_up)) puts(peer->up ? "ok" : "failed 1 closed");
}

static bool begin_send(struct peer *peer, uint64_t count) {
  free(peer->out);
  peer->out = malloc(count);
  if (!peer->out) return false;
  stream_fill(peer->sent, peer->out, count);
  peer->sent += count;
  peer->sending = true;
  return vv_llc_station_send(&peer->node.station, vv_node_now(), peer->link, peer->out, (uint32_t)count, HANDLE);
}

static void begin_receive(struct peer *peer, uint64_t count) {
  peer->asked += count;
  give_credit(peer);
}

static void transfer(struct peer *peer, uint64_t out, uint64_t in, bool (*done)(void *context)) {
  uint64_t before = peer->asked;
  if (out > 0 && !begin_send(peer, out)) return failed(EPIPE, "the station takes no message");
  begin_receive(peer, in);
  if (!wait_for(peer, done)) return;
  if (peer->closed) return failed(ECONNRESET, vv_node_why(peer->why));
  uint64_t got = in > 0 ? (peer->arrived < peer->asked ? peer->arrived - before : in) : out;
  printf("ok %lu %lu\n", got, peer->wrong);
}

static void verb_send(struct peer *peer, char **words) {
  transfer(peer, strtoull(words[1], NULL, 10), 0, is_sent);
}

static void verb_receive(struct peer *peer, char **words) {
  transfer(peer, 0, strtoull(words[1], NULL, 10), has_arrived);
}

static void verb_both(struct peer *peer, char **words) {
  uint64_t count = strtoull(words[1], NULL, 10);
  transfer(peer, count, count, has_both);
}

static void verb_fill(struct peer *peer, char **words) {
  (void)words;
  if (wait_for(peer, is_full)) printf("ok %lu\n", peer->arrived);
}

static void verb_drop(struct peer *peer, char **words) {
  uint32_t count = (uint32_t)strtoul(words[2], NULL, 10);
  *(strcmp(words[1], "sent") == 0 ? &peer->lossy.drop_sent : &peer->lossy.drop_received) = count;
  puts("ok");
}

static void verb_reset(struct peer *peer, char **words) {
  (void)words;
  peer->reset = false;
  vv_llc_station_reset(&peer->node.station, vv_node_now(), peer->link);
  if (wait_for(peer, is_reset)) puts(peer->closed ? "failed 104 closed" : "ok");
}

static void await_close(struct peer *peer) {
  if (wait_for(peer, is_closed)) printf("ok %d\n", (int)peer->why);
}

static void verb_disconnect(struct peer *peer, char **words) {
  (void)words;
  vv_llc_station_disconnect(&peer->node.station, vv_node_now(), peer->link);
  await_close(peer);
}

static void verb_await_close(struct peer *peer, char **words) {
  (void)words;
  await_close(peer);
}

static void verb_test(struct peer *peer, char **words) {
  static uint8_t bytes[UNIT_BYTES];
  struct vv_llc_address to = address_of(words + 1);
  size_t count = strtoul(words[3], NULL, 10) % sizeof bytes;
  stream_fill(0, bytes, count);
  peer->answered = false;
  if (!vv_llc_station_test(&peer->node.station, &to, bytes, count)) return failed(EMSGSIZE, "it does not fit");
  if (wait_for(peer, is_answered)) printf("ok %zu %zu\n", peer->unit_bytes, peer->unit_wrong);
}

static void verb_identify(struct peer *peer, char **words) {
  struct vv_llc_address to = address_of(words + 1);
  peer->answered = false;
  if (!vv_llc_station_identify(&peer->node.station, &to)) return failed(ENOBUFS, "no room");
  if (wait_for(peer, is_answered)) printf("ok %d\n", peer->window);
}

static void verb_unit(struct peer *peer, char **words) {
  static uint8_t bytes[UNIT_BYTES];
  struct vv_llc_address to = address_of(words + 1);
  size_t count = strtoul(words[3], NULL, 10) % sizeof bytes;
  stream_fill(0, bytes, count);
  puts(vv_llc_station_unit(&peer->node.station, &to, bytes, count) ? "ok" : "failed 90 it does not fit");
}

static void verb_receive_unit(struct peer *peer, char **words) {
  (void)words;
  if (!wait_for(peer, has_unit)) return;
  peer->got_unit = false;
  printf("ok %s %d %zu %zu\n", format_mac(peer->unit_from.mac), peer->unit_from.sap, peer->unit_bytes,
         peer->unit_wrong);
}

static void verb_counts(struct peer *peer, char **words) {
  (void)words;
  const struct vv_llc_station_counts *counts = &peer->node.station.counts;
  printf("ok in=%lu out=%lu foreign=%lu resent=%lu enquiries=%lu rejects=%lu resets=%lu frmr_in=%lu frmr_out=%lu "
         "lost=%lu drops=%u\n",
         counts->frames_in, counts->frames_out, counts->foreign, counts->resent, counts->enquiries, counts->rejects,
         counts->resets, counts->frmr_in, counts->frmr_out, peer->lossy.lost, vv_packet_drops(&peer->node.packet));
}

/* lines ------------------------------------------------------------------- */

static const struct {
  const char *word;
  int words; /* at least, with the verb */
  void (*obey)(struct peer *peer, char **words);
} verbs[] = {
    {"listen", 2, verb_listen},
    {"connect", 3, verb_connect},
    {"accept", 1, verb_accept},
    {"send", 2, verb_send},
    {"receive", 2, verb_receive},
    {"both", 2, verb_both},
    {"fill", 1, verb_fill},
    {"drop", 3, verb_drop},
    {"reset", 1, verb_reset},
    {"disconnect", 1, verb_disconnect},
    {"await-close", 1, verb_await_close},
    {"test", 4, verb_test},
    {"identify", 3, verb_identify},
    {"unit", 4, verb_unit},
    {"receive-unit", 1, verb_receive_unit},
    {"counts", 1, verb_counts},
};

static void obey(struct peer *peer, char *line) {
  char *words[WORDS_MAX + 1] = {NULL}, *rest = NULL;
  int count = 0;
  for (char *word = strtok_r(line, " \n", &rest); word && count < WORDS_MAX; word = strtok_r(NULL, " \n", &rest)) {
    words[count++] = word;
  }
  for (size_t i = 0; count > 0 && i < sizeof verbs / sizeof *verbs; i++) {
    if (strcmp(words[0], verbs[i].word) == 0 && count >= verbs[i].words) return verbs[i].obey(peer, words);
  }
  failed(EINVAL, "no such line");
}

/* One line; the station works until there is one. False at the end of the input. */
static bool next_line(struct peer *peer, char *line, int room) {
  struct vv_error error;
  peer->node.engine.stop = (struct vv_watch_stop){.ask = has_line};
  while (!has_line(NULL)) vv_node_run(&peer->node, has_line, VV_NEVER, &error);
  return fgets(line, room, stdin);
}

int main(int argc, char **argv) {
  static struct peer peer;
  struct vv_error error = {0};
  char line[256];
  setvbuf(stdin, NULL, _IONBF, 0); /* so that poll tells whether there is a line */
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc != 3) return 2;
  struct vv_node_config config = {
      .iface = argv[1], .sap = (uint8_t)strtol(argv[2], NULL, 0), .links = 4, .tell = tell, .context = &peer};
  char *accept_all[] = {"listen", "accept"};
  if (vv_watch_start(5000000, &error) != 0 || vv_node_open(&peer.node, &config, &error) != 0) {
    fprintf(stderr, "%s: %s\n", error.code, error.text);
    return 1;
  }
  verb_listen(&peer, accept_all);
  printf("ready %s\n", format_mac(peer.node.self.mac));
  while (next_line(&peer, line, sizeof line)) obey(&peer, line);
  free(peer.out);
  vv_node_close(&peer.node);
  return 0;
}
