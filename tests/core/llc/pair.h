/* SPDX-License-Identifier: BSD-3-Clause */
/* Two stations and a wire between them that a test can cut, bend and listen to. No time passes but by pair_sleep. */
#ifndef VV_TESTS_CORE_LLC_PAIR_H
#define VV_TESTS_CORE_LLC_PAIR_H

#include <stdlib.h>
#include <string.h>

#include "core/llc/station.h"

enum { PAIR_QUEUE = 4096, PAIR_EVENTS = 256 };

struct pair_frame {
  size_t count;
  uint8_t *bytes;
};

struct pair {
  struct vv_llc_station stations[2];
  void *memory[2];
  struct pair_frame wires[2][PAIR_QUEUE]; /* on their way to station 0, 1 */
  unsigned first[2], count[2];
  vv_ns now_ns;
  uint32_t links[2];
  uint8_t *got[2]; /* bytes of messages, one behind the other */
  size_t got_bytes[2], got_room[2];
  struct vv_llc_station_event events[2][PAIR_EVENTS]; /* all but DATA */
  unsigned events_count[2];
  unsigned told[2][VV_LLC_STATION_IDENTITY + 1]; /* how often each kind came */
  bool (*filter)(struct pair *pair, int to, uint8_t *bytes, size_t *count,
                 void *context); /* false: the frame is lost */
  void *context;
  size_t longest; /* frame */
};

static inline struct vv_llc_address pair_address(int which) {
  return (struct vv_llc_address){.mac = {2, 0, 0, 0, 0, (uint8_t)(which + 1)}, .sap = (uint8_t)(0x64 + 4 * which)};
}

static inline struct vv_llc_station_config pair_config(int which) {
  struct vv_llc_station_config config;
  vv_llc_station_defaults(&config);
  config.self = pair_address(which);
  config.nonce = 77;
  config.incarnation = 0xfffffff0u + (uint32_t)which * 1000; /* numbers wrap soon */
  config.links = 4;
  config.idle_ns = 0;
  return config;
}

static inline void pair_start(struct pair *pair, int which, const struct vv_llc_station_config *config) {
  free(pair->memory[which]);
  pair->memory[which] = malloc(vv_llc_station_bytes(config));
  vv_llc_station_init(&pair->stations[which], pair->memory[which], config);
  pair->links[which] = VV_LLC_NO_LINK;
}

static inline struct pair *pair_new(const struct vv_llc_station_config *a, const struct vv_llc_station_config *b) {
  struct pair *pair = calloc(1, sizeof *pair);
  pair->now_ns = 1;
  pair_start(pair, 0, a);
  pair_start(pair, 1, b);
  return pair;
}

static inline void pair_clear(struct pair *pair) {
  for (int to = 0; to < 2; to++) {
    for (; pair->count[to] > 0; pair->count[to]--) free(pair->wires[to][pair->first[to]++ % PAIR_QUEUE].bytes);
  }
}

static inline void pair_free(struct pair *pair) {
  pair_clear(pair);
  for (int i = 0; i < 2; i++) {
    free(pair->got[i]);
    free(pair->memory[i]);
  }
  free(pair);
}

/* Puts bytes on the wire to a station. */
static inline void pair_put(struct pair *pair, int to, const uint8_t *bytes, size_t count) {
  uint8_t *copy = malloc(count + 1);
  memcpy(copy, bytes, count);
  if (pair->filter != NULL && !pair->filter(pair, to, copy, &count, pair->context)) {
    free(copy);
    return;
  }
  if (count > pair->longest) pair->longest = count;
  pair->wires[to][(pair->first[to] + pair->count[to]++) % PAIR_QUEUE] = (struct pair_frame){count, copy};
}

static inline void pair_keep(struct pair *pair, int which, const uint8_t *data, size_t bytes) {
  const size_t wanted = pair->got_bytes[which] + bytes;
  if (wanted > pair->got_room[which]) {
    pair->got_room[which] = 2 * wanted;
    pair->got[which] = realloc(pair->got[which], pair->got_room[which]);
  }
  if (bytes > 0) memcpy(pair->got[which] + pair->got_bytes[which], data, bytes);
  pair->got_bytes[which] = wanted;
}

static inline void pair_take(struct pair *pair, int which) {
  struct vv_llc_station_event event;
  while (vv_llc_station_take(&pair->stations[which], pair->now_ns, &event)) {
    pair->told[which][event.what]++;
    if (event.what == VV_LLC_STATION_CONNECTED || event.what == VV_LLC_STATION_ASKED) pair->links[which] = event.link;
    if (event.what == VV_LLC_STATION_DATA) {
      pair_keep(pair, which, event.data, event.data_bytes);
    } else if (pair->events_count[which] < PAIR_EVENTS) {
      pair->events[which][pair->events_count[which]++] = event;
    }
  }
}

static inline void pair_send(struct pair *pair, int which) {
  struct vv_llc_station_frame frame;
  uint8_t bytes[VV_LLC_STATION_PDU_BYTES_MAX + VV_ENVELOPE_BYTES];
  while (pair->count[!which] < PAIR_QUEUE && vv_llc_station_next_frame(&pair->stations[which], pair->now_ns, &frame)) {
    memcpy(bytes, frame.head, frame.head_bytes);
    if (frame.data_bytes > 0) memcpy(bytes + frame.head_bytes, frame.data, frame.data_bytes);
    pair_put(pair, !which, bytes, frame.head_bytes + frame.data_bytes);
  }
}

static inline bool pair_deliver(struct pair *pair, int to) {
  if (pair->count[to] == 0) return false;
  struct pair_frame frame = pair->wires[to][pair->first[to]++ % PAIR_QUEUE];
  pair->count[to]--;
  pair->now_ns += 1000;
  vv_llc_station_receive(&pair->stations[to], pair->now_ns, frame.bytes, frame.count);
  pair_take(pair, to);
  free(frame.bytes);
  return true;
}

/* Until nothing is on the wire and nobody has anything to send now. */
static inline void pair_run(struct pair *pair) {
  bool moved = true;
  while (moved) {
    for (int i = 0; i < 2; i++) {
      pair_take(pair, i);
      pair_send(pair, i);
    }
    moved = pair_deliver(pair, 0);
    moved = pair_deliver(pair, 1) || moved;
  }
}

/* The same, and timers run out, for so long. */
static inline void pair_sleep(struct pair *pair, vv_ns ns) {
  vv_ns end_ns = pair->now_ns + ns;
  for (;;) {
    pair_run(pair);
    vv_ns next = VV_NEVER;
    for (int i = 0; i < 2; i++) {
      vv_ns due = vv_llc_station_next_ns(&pair->stations[i]);
      if (due < next) next = due;
    }
    if (next > end_ns) break;
    if (next > pair->now_ns) pair->now_ns = next;
    for (int i = 0; i < 2; i++) vv_llc_station_tick(&pair->stations[i], pair->now_ns);
  }
  if (end_ns > pair->now_ns) pair->now_ns = end_ns;
}

static inline struct vv_llc_link *pair_link(struct pair *pair, int which) {
  return &pair->stations[which].links[pair->links[which]];
}

static inline void pair_connect(struct pair *pair) {
  struct vv_llc_address peer = pair_address(1);
  pair->links[0] = vv_llc_station_connect(&pair->stations[0], pair->now_ns, &peer);
  pair_sleep(pair, 50 * VV_MS);
}

static inline const struct vv_llc_station_event *pair_event(const struct pair *pair, int which,
                                                            enum vv_llc_station_happening what) {
  for (unsigned i = pair->events_count[which]; i-- > 0;) {
    if (pair->events[which][i].what == what) return &pair->events[which][i];
  }
  return NULL;
}

/* A PDU of the peer, made by hand. */
static inline void pair_forge(struct pair *pair, int to, struct vv_lpdu pdu, const void *info, size_t count) {
  uint8_t frame[VV_ENVELOPE_BYTES + VV_LPDU_HEADER_BYTES_MAX + 64];
  pdu.dsap = pair_address(to).sap;
  pdu.ssap = pair_address(!to).sap;
  size_t header = vv_lpdu_emit(&pdu, frame + VV_ENVELOPE_BYTES);
  if (count > 0) memcpy(frame + VV_ENVELOPE_BYTES + header, info, count);
  struct vv_envelope envelope = {.pdu_bytes = header + count};
  memcpy(envelope.destination, pair_address(to).mac, VV_MAC_BYTES);
  memcpy(envelope.source, pair_address(!to).mac, VV_MAC_BYTES);
  vv_envelope_emit(&envelope, frame);
  pair_put(pair, to, frame, VV_ENVELOPE_BYTES + header + count);
  pair_deliver(pair, to);
}

/* A filter: what goes to station *context, an int, is lost; 2: to both. */
static inline bool pair_deaf(struct pair *pair, int to, uint8_t *bytes, size_t *count, void *context) {
  (void)pair, (void)bytes, (void)count;
  return to != *(int *)context && *(int *)context != 2;
}

#endif
