/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A station of `llc` under whatever comes: frames of a real peer, frames bent on
 * the way, frames from nowhere, its user's wishes, time.
 *
 * The input is a byte of settings, then steps: what (1 byte), how (1 byte), and
 * for frames as many bytes as `how` says. Frames are heap blocks of their own
 * size, so that reading beyond them is caught.
 *
 * The oracle of delivery. As long as every frame is one that a station sent, as
 * it was, and none was overtaken by others sent more than late_ns after it, what
 * is acknowledged has been delivered, byte for byte. And whatever has happened:
 * when it is over, the cable has been cut and mended, and the peer connects
 * anew, its message arrives.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/llc/station.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MTU = 128, MESSAGE = 1000, QUEUE = 64, SETTLE_TURNS = 200, EARLY = 5 };
enum { SENDS = 200, HONEST = SENDS, HONEST_BYTES = 100, HONEST_TURNS = 20000 };

#define CUT_NS (120 * VV_SEC) /* longer than any link that is given up, and any to a stranger, lasts */
enum { PLAIN = 1, FEW_CREDITS = 2, ASK = 4, REFUSE = 8, BOTH_CONNECT = 16 };
enum step { DELIVER, BEND, LOSE, SWAP, FROM_NOWHERE, FORGE, SLEEP, SEND, CREDIT, CONNECT, DISCONNECT, RESET, STEPS };

struct frame {
  size_t count;
  vv_ns sent_ns;
  bool forged;
  uint8_t *bytes;
};

struct wire {
  struct frame frames[QUEUE];
  unsigned first, count;
  vv_ns newest_ns; /* of what has been delivered: when it was sent */
};

/* What a user has sent, and what has come to one. Message number n is bytes of n. */
struct user {
  unsigned sent;
  uint32_t sizes[SENDS];
  bool got[SENDS]; /* message n of the other, whole */
  uint8_t coming[MESSAGE];
};

struct world {
  struct vv_llc_station stations[2];
  void *memory[2];
  struct wire wires[2]; /* to station 0, 1 */
  uint32_t links[2];
  struct user users[2];
  bool plain;
  bool bent; /* a frame came that no station sent so, or too late: what is said or acknowledged proves nothing */
  bool honest_came, honest_done; /* the honest message: delivered, acknowledged */
  uint8_t sum;
  vv_ns now_ns;
};

static uint8_t messages[SENDS][MESSAGE], honest[HONEST_BYTES];

static struct vv_llc_address address(int which) {
  return (struct vv_llc_address){.mac = {2, 0, 0, 0, 0, (uint8_t)(which + 1)}, .sap = 0x64};
}

static void start(struct world *world, int which, uint8_t settings) {
  struct vv_llc_station_config config;
  vv_llc_station_defaults(&config);
  config.self = address(which);
  config.incarnation = (uint32_t)which * 77;
  config.plain = settings & PLAIN;
  config.links = 2;
  config.messages = 4;
  config.units = 4;
  config.early = EARLY;
  config.pdu_bytes_max = MTU;
  config.window = 1 + (settings >> 5) * 18;
  if (settings & FEW_CREDITS) config.credit = 2;
  if (settings & ASK) config.listen = VV_LLC_LISTEN_ASK;
  if (settings & REFUSE) config.listen = VV_LLC_LISTEN_REFUSE;
  world->memory[which] = malloc(vv_llc_station_bytes(&config));
  vv_llc_station_init(&world->stations[which], world->memory[which], &config);
  world->links[which] = VV_LLC_NO_LINK;
}

static void connect(struct world *world, int which) {
  struct vv_llc_address peer = address(!which);
  world->links[which] = vv_llc_station_connect(&world->stations[which], world->now_ns, &peer);
}

/* How many places for what came early a chain has. */
static unsigned chain(const struct vv_llc_early *early, uint32_t place) {
  unsigned count = 0;
  for (; place != VV_LLC_NO_EARLY; place = early->pdus[place].next) assert(++count <= EARLY);
  return count;
}

/* What holds of a station whatever happens to it. */
static void check(const struct world *world, int which) {
  const struct vv_llc_station *station = &world->stations[which];
  unsigned places = chain(&station->early, station->early.free);
  for (uint32_t id = 0; id < station->config.links; id++) {
    const struct vv_llc_link *link = &station->links[id];
    assert(!vv_llc_is_up(link->state) || link->used);
    if (!link->used) continue;
    assert(vv_llc_link_ahead(link->high, link->va) <= station->config.window);
    assert(vv_llc_link_ahead(link->vs, link->va) <= vv_llc_link_ahead(link->high, link->va));
    assert(link->window.working >= 1 && link->window.working <= link->window.limit);
    assert(link->plain || link->got_bytes <= link->message_bytes);
    assert(!link->plain || link->early == VV_LLC_NO_EARLY);
    places += chain(&station->early, link->early);
  }
  assert(places == EARLY);
}

/* A piece of a message that a user sent, at a time when nothing can have changed it on the way. */
static void take_piece(struct world *world, int which, const struct vv_llc_station_event *event) {
  struct user *user = &world->users[which];
  const struct user *other = &world->users[!which];
  const uint32_t end = event->offset_bytes + (uint32_t)event->data_bytes;
  assert(end <= MESSAGE);
  if (event->data_bytes > 0) memcpy(user->coming + event->offset_bytes, event->data, event->data_bytes);
  if (end < event->message_bytes) return;
  const unsigned number = user->coming[0];
  assert(number < other->sent && end == other->sizes[number] && memcmp(user->coming, messages[number], end) == 0);
  user->got[number] = true;
}

static void take_data(struct world *world, int which, const struct vv_llc_station_event *event) {
  assert(event->offset_bytes + event->data_bytes <= event->message_bytes);
  for (size_t i = 0; i < event->data_bytes; i++) world->sum ^= event->data[i]; /* read all of it */
  if (!world->bent && !world->plain) take_piece(world, which, event);
  if (which == 1 && event->data_bytes == HONEST_BYTES && memcmp(event->data, honest, HONEST_BYTES) == 0)
    world->honest_came = true;
}

static void take_sent(struct world *world, int which, const struct vv_llc_station_event *event) {
  if (!event->acknowledged) return;
  if (event->handle == HONEST) {
    assert(world->honest_came);
    world->honest_done = true;
  } else if (!world->bent && !world->plain) {
    assert(world->users[!which].got[event->handle]);
  }
}

static void take(struct world *world, int which) {
  struct vv_llc_station_event event;
  while (vv_llc_station_take(&world->stations[which], world->now_ns, &event)) {
    if (event.what == VV_LLC_STATION_CONNECTED || event.what == VV_LLC_STATION_ASKED) world->links[which] = event.link;
    if (event.what == VV_LLC_STATION_CLOSED && event.link == world->links[which]) world->links[which] = VV_LLC_NO_LINK;
    if (event.what == VV_LLC_STATION_ASKED) vv_llc_station_accept(&world->stations[which], world->now_ns, event.link);
    if (event.what == VV_LLC_STATION_DATA) take_data(world, which, &event);
    if (event.what == VV_LLC_STATION_SENT) take_sent(world, which, &event);
  }
}

static void put(struct world *world, int to, bool forged, const uint8_t *head, size_t head_bytes, const uint8_t *data,
                size_t count) {
  struct wire *wire = &world->wires[to];
  if (wire->count == QUEUE) return;
  uint8_t *bytes = malloc(head_bytes + count + (head_bytes + count == 0));
  if (bytes == NULL) return;
  if (head_bytes > 0) memcpy(bytes, head, head_bytes);
  if (count > 0) memcpy(bytes + head_bytes, data, count);
  wire->frames[(wire->first + wire->count++) % QUEUE] =
      (struct frame){head_bytes + count, world->now_ns, forged, bytes};
}

static void send(struct world *world, int which) {
  struct vv_llc_station_frame frame;
  while (world->wires[!which].count < QUEUE &&
         vv_llc_station_next_frame(&world->stations[which], world->now_ns, &frame)) {
    assert(frame.head_bytes + frame.data_bytes <= VV_ENVELOPE_BYTES + MTU);
    put(world, !which, false, frame.head, frame.head_bytes, frame.data, frame.data_bytes);
  }
}

static struct frame pop(struct world *world, int to) {
  struct wire *wire = &world->wires[to];
  if (wire->count == 0) return (struct frame){0};
  wire->count--;
  return wire->frames[wire->first++ % QUEUE];
}

static bool deliver(struct world *world, int to, uint8_t bend) {
  struct frame frame = pop(world, to);
  if (frame.bytes == NULL) return false;
  if (bend != 0 && frame.count > 0) frame.bytes[bend % frame.count] ^= bend | 1;
  vv_ns *newest_ns = &world->wires[to].newest_ns;
  if (frame.sent_ns > *newest_ns) *newest_ns = frame.sent_ns;
  world->bent |= bend != 0 || frame.forged || frame.sent_ns + world->stations[to].config.late_ns < *newest_ns;
  vv_llc_station_receive(&world->stations[to], world->now_ns, frame.bytes, frame.count);
  take(world, to);
  free(frame.bytes);
  return true;
}

static void swap(struct world *world, int to) {
  struct frame frame = pop(world, to);
  struct wire *wire = &world->wires[to];
  if (frame.bytes != NULL) wire->frames[(wire->first + wire->count++) % QUEUE] = frame;
}

/* Bytes of the input behind a good header: most frames from nowhere would go no further than that. */
static void forge(struct world *world, int to, const uint8_t *bytes, size_t count) {
  uint8_t head[VV_ENVELOPE_BYTES];
  struct vv_envelope envelope = {.pdu_bytes = count};
  memcpy(envelope.destination, address(to).mac, VV_MAC_BYTES);
  memcpy(envelope.source, address(!to).mac, VV_MAC_BYTES);
  vv_envelope_emit(&envelope, head);
  put(world, to, true, head, sizeof head, bytes, count);
}

static void say(struct world *world, int which, uint32_t link, uint32_t size) {
  struct user *user = &world->users[which];
  if (user->sent == SENDS) return;
  user->sizes[user->sent] = size;
  user->sent +=
      vv_llc_station_send(&world->stations[which], world->now_ns, link, messages[user->sent], size, user->sent);
}

static void wish(struct world *world, int which, enum step step, uint8_t how) {
  struct vv_llc_station *station = &world->stations[which];
  uint32_t link = world->links[which];
  if (step == CONNECT) connect(world, which);
  if (link == VV_LLC_NO_LINK || !station->links[link].used) return;
  if (step == SEND) say(world, which, link, 1 + how * 3u);
  if (step == CREDIT) vv_llc_station_credit(station, world->now_ns, link, how == 255 ? VV_LLC_CREDIT_UNLIMITED : how);
  if (step == DISCONNECT) vv_llc_station_disconnect(station, world->now_ns, link);
  if (step == RESET) vv_llc_station_reset(station, world->now_ns, link);
}

/* One step; tells how many bytes of the input it took besides its two. */
static size_t step(struct world *world, uint8_t what, uint8_t how, const uint8_t *rest, size_t left) {
  int which = what & 1;
  size_t count = how < left ? how : left;
  enum step step = (what >> 1) % STEPS;
  switch (step) {
  case DELIVER:
    for (int i = 0; i <= how % 8; i++) deliver(world, which, 0);
    return 0;
  case BEND:
    deliver(world, which, how);
    return 0;
  case LOSE:
    free(pop(world, which).bytes);
    return 0;
  case SWAP:
    swap(world, which);
    return 0;
  case FROM_NOWHERE:
    put(world, which, true, NULL, 0, rest, count);
    return count;
  case FORGE:
    forge(world, which, rest, count);
    return count;
  case SLEEP:
    world->now_ns += (uint64_t)how * how * 100000;
    for (int i = 0; i < 2; i++) vv_llc_station_tick(&world->stations[i], world->now_ns);
    return 0;
  default:
    wish(world, which, step, how);
    return 0;
  }
}

static void settle(struct world *world) {
  for (int i = 0; i < 2; i++) {
    take(world, i);
    send(world, i);
    check(world, i);
  }
}

/* Something happens: what is on the wires arrives, or else a timer runs out. False: nothing will any more. */
static bool live(struct world *world, bool cut) {
  settle(world);
  for (int i = 0; i < 2 && cut; i++) {
    for (struct frame lost = pop(world, i); lost.bytes != NULL; lost = pop(world, i)) free(lost.bytes);
  }
  bool moved = deliver(world, 0, 0);
  moved = deliver(world, 1, 0) || moved;
  if (moved) return true;
  vv_ns next_ns = VV_NEVER;
  for (int i = 0; i < 2; i++) {
    const vv_ns due_ns = vv_llc_station_next_ns(&world->stations[i]);
    if (due_ns < next_ns) next_ns = due_ns;
  }
  if (next_ns == VV_NEVER) return false;
  if (next_ns > world->now_ns) world->now_ns = next_ns;
  for (int i = 0; i < 2; i++) vv_llc_station_tick(&world->stations[i], world->now_ns);
  return true;
}

/* Ends what a station has: all of it, or all that it has with others than the two of us. */
static void give_up(struct world *world, int which, bool all) {
  struct vv_llc_station *station = &world->stations[which];
  const struct vv_llc_address peer = address(!which);
  for (uint32_t id = 0; id < station->config.links; id++) {
    const struct vv_llc_link *link = &station->links[id];
    if (link->used && (all || vv_llc_address_compare(&link->peer, &peer) != 0))
      vv_llc_station_disconnect(station, world->now_ns, id);
  }
}

/* One turn of who wants to get the honest message through, whatever becomes of his links, to who listens. */
static void insist(struct world *world) {
  struct vv_llc_station *station = &world->stations[0], *other = &world->stations[1];
  const uint32_t theirs = vv_llc_station_find(other, &station->config.self);
  if (theirs != VV_LLC_NO_LINK && other->links[theirs].credit == 0)
    vv_llc_station_credit(other, world->now_ns, theirs, 1);
  const struct vv_llc_address peer = address(1);
  world->links[0] = vv_llc_station_connect(station, world->now_ns, &peer);
  if (world->links[0] == VV_LLC_NO_LINK || station->links[world->links[0]].backlog.head != VV_LLC_NO_MESSAGE) return;
  vv_llc_station_send(station, world->now_ns, world->links[0], honest, HONEST_BYTES, HONEST);
}

/* The peer gives all up while the cable is cut, and begins anew; the other still believes what it did. */
static void be_honest(struct world *world) {
  give_up(world, 0, true);
  give_up(world, 1, false);
  const vv_ns mended_ns = world->now_ns + CUT_NS;
  for (int turn = 0; turn < HONEST_TURNS && world->now_ns < mended_ns && live(world, true); turn++) continue;
  world->bent = true; /* what was under way before is no longer looked at */
  for (int turn = 0; turn < HONEST_TURNS && !world->honest_done; turn++) {
    insist(world);
    live(world, false);
  }
  assert(world->honest_done);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct world world;
  if (size < 1) return 0;
  memset(&world, 0, sizeof world);
  memset(honest, HONEST, sizeof honest);
  for (int n = 0; n < SENDS; n++) memset(messages[n], n, MESSAGE);
  world.plain = data[0] & PLAIN;
  for (int i = 0; i < 2; i++) start(&world, i, data[0]);
  connect(&world, 0);
  if (data[0] & BOTH_CONNECT) connect(&world, 1);
  for (size_t at = 1; at + 2 <= size;) {
    settle(&world);
    at += 2 + step(&world, data[at], data[at + 1], data + at + 2, size - at - 2);
  }
  for (int turn = 0; turn < SETTLE_TURNS; turn++) { /* whatever it was: nothing goes round for ever */
    settle(&world);
    bool moved = deliver(&world, 0, 0);
    if (!deliver(&world, 1, 0) && !moved) break;
    world.now_ns += 1000;
  }
  if ((data[0] & REFUSE) == 0) be_honest(&world);
  for (int i = 0; i < 2; i++) {
    for (struct frame frame = pop(&world, i); frame.bytes != NULL; frame = pop(&world, i)) free(frame.bytes);
    free(world.memory[i]);
  }
  return 0;
}
