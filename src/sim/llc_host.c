/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/llc_host.h"

#include <stdlib.h>
#include <string.h>

#include "sim/memory.h"

enum { SAP = 0x64, NONCE = 0x6a6f6221, BUSY_CREDIT = 3, ENQUIRIES = 30 };

struct vv_llc_address vv_sim_llc_host_address(uint32_t number) {
  return (struct vv_llc_address){.mac = {2, 'v', 'v', 0, 0, (uint8_t)number}, .sap = SAP};
}

static struct vv_payload payload(const struct vv_sim_llc_config *config, uint32_t from, uint32_t to) {
  struct vv_payload made;
  uint8_t key[VV_KEY_BYTES] = {(uint8_t)from, (uint8_t)to};
  memcpy(key + 2, &config->seed, sizeof config->seed);
  vv_payload_init(&made, key, false);
  return made;
}

static struct vv_llc_station_config station_config_of(struct vv_sim_llc_host *host) {
  const struct vv_sim_llc_config *config = host->config;
  struct vv_llc_station_config station_config;
  vv_llc_station_defaults(&station_config);
  station_config.self = vv_sim_llc_host_address(host->number);
  station_config.nonce = NONCE;
  station_config.incarnation = (uint32_t)vv_rng_next(&host->rng);
  station_config.links = config->hosts;
  station_config.messages = config->hosts * VV_SIM_LLC_SENDS_AHEAD;
  station_config.pdu_bytes_max = config->mtu_bytes;
  station_config.window = (uint8_t)config->window;
  station_config.receive_window = (uint8_t)config->receive_window;
  station_config.early = config->early;
  if (config->busy) station_config.credit = BUSY_CREDIT;
  station_config.n2 = config->patient ? 0 : ENQUIRIES;
  station_config.tries = 30;
  station_config.idle_ns = 100 * VV_MS;
  station_config.late_ns = 20 * VV_MS; /* what a full queue of a switch and a late frame take together */
  station_config.t1_ns_max = 200 * VV_MS;
  return station_config;
}

void vv_sim_llc_host_start(struct vv_sim_llc_host *all, const struct vv_sim_llc_config *config, uint32_t number,
                           uint32_t life) {
  struct vv_sim_llc_host *host = &all[number];
  *host = (struct vv_sim_llc_host){.config = config, .all = all, .number = number, .life = life, .alive = true};
  host->rng.state = config->seed * 31 + number * 2 + life + 1;
  struct vv_llc_station_config station_config = station_config_of(host);
  host->memory = vv_sim_memory_must(malloc(vv_llc_station_bytes(&station_config)));
  vv_llc_station_init(&host->station, host->memory, &station_config);
  host->peers = vv_sim_memory_must(calloc(config->hosts, sizeof *host->peers));
  host->taking = vv_sim_memory_must(malloc(config->hosts * (config->size_bytes + 1)));
  for (uint32_t other = 0; other < config->hosts; other++) {
    struct vv_sim_llc_peer *peer = &host->peers[other];
    peer->link = VV_LLC_NO_LINK;
    peer->more_ns = VV_NEVER;
    peer->closed = other == number;
    peer->again = life > 0;
    peer->taking = host->taking + other * (config->size_bytes + 1);
    peer->out = payload(config, number, other);
    peer->in = payload(config, other, number);
    bool connects = number < other || config->crossing;
    if (!peer->closed && connects && life == 0) {
      struct vv_llc_address address = vv_sim_llc_host_address(other);
      peer->link = vv_llc_station_connect(&host->station, 0, &address);
    }
  }
}

void vv_sim_llc_host_free(struct vv_sim_llc_host *host) {
  for (uint32_t other = 0; other < host->config->hosts; other++) {
    for (int i = 0; i < VV_SIM_LLC_SENDS_AHEAD; i++) free(host->peers[other].sending[i]);
  }
  free(host->taking);
  free(host->peers);
  free(host->memory);
}

static void wrong(struct vv_sim_llc_host *host, const char *what) {
  if (host->wrong == NULL) host->wrong = what;
}

static void send_more(struct vv_sim_llc_host *host, vv_ns now_ns, uint32_t other) {
  struct vv_sim_llc_peer *peer = &host->peers[other];
  while (peer->sent < host->config->messages && peer->sent - peer->acknowledged < VV_SIM_LLC_SENDS_AHEAD) {
    uint32_t size = vv_sim_llc_config_size(host->config, host->number, other, peer->sent);
    uint8_t *bytes = vv_sim_memory_must(malloc(size + 1));
    vv_payload_fill(&peer->out, peer->sent, bytes, size);
    peer->sending[peer->sent % VV_SIM_LLC_SENDS_AHEAD] = bytes;
    if (!vv_llc_station_send(&host->station, now_ns, peer->link, bytes, size, peer->sent)) {
      wrong(host, "a message was not taken");
      return;
    }
    peer->sent++;
  }
}

static void take_data(struct vv_sim_llc_host *host, struct vv_sim_llc_peer *peer, uint32_t other, vv_ns now_ns,
                      const struct vv_llc_station_event *event) {
  uint32_t size = vv_sim_llc_config_size(host->config, other, host->number, peer->taken);
  if (peer->taken == host->config->messages) return wrong(host, "data that nobody sent");
  if (event->message_bytes != size) return wrong(host, "a message of the wrong size");
  if (event->offset_bytes != peer->got_bytes) return wrong(host, "bytes at the wrong place");
  if (event->data_bytes > size - peer->got_bytes) return wrong(host, "more bytes than the message has");
  if (event->data_bytes > 0) memcpy(peer->taking + peer->got_bytes, event->data, event->data_bytes);
  peer->got_bytes += (uint32_t)event->data_bytes;
  if (host->config->busy && peer->more_ns == VV_NEVER) peer->more_ns = now_ns + vv_rng_next(&host->rng) % (5 * VV_MS);
  if (peer->got_bytes < size) return;
  if (!vv_payload_check(&peer->in, peer->taken, peer->taking, size)) wrong(host, "wrong bytes");
  peer->taken++;
  peer->got_bytes = 0;
}

static void take_sent(struct vv_sim_llc_host *host, struct vv_sim_llc_peer *peer,
                      const struct vv_llc_station_event *event) {
  uint32_t place = event->handle % VV_SIM_LLC_SENDS_AHEAD;
  free(peer->sending[place]);
  peer->sending[place] = NULL;
  if (!event->acknowledged) return;
  if (event->handle != peer->acknowledged) wrong(host, "messages done in the wrong order");
  peer->acknowledged++;
}

/* On a link after another both go on with the first message that the other has not taken whole. */
static void go_on(struct vv_sim_llc_host *host, uint32_t other) {
  struct vv_sim_llc_peer *peer = &host->peers[other];
  peer->got_bytes = 0;
  peer->sent = peer->acknowledged = host->all[other].peers[host->number].taken;
}

static void take(struct vv_sim_llc_host *host, vv_ns now_ns, const struct vv_llc_station_event *event) {
  uint32_t other = event->peer.mac[VV_MAC_BYTES - 1];
  struct vv_sim_llc_peer *peer = &host->peers[other];
  switch (event->what) {
  case VV_LLC_STATION_CONNECTED:
    if (peer->connected) wrong(host, "connected twice");
    if (peer->again) go_on(host, other); /* no sooner: until now its old link may have taken something */
    peer->closed = false;
    peer->connected = true;
    peer->link = event->link;
    return;
  case VV_LLC_STATION_DATA:
    return take_data(host, peer, other, now_ns, event);
  case VV_LLC_STATION_SENT:
    return take_sent(host, peer, event);
  case VV_LLC_STATION_CLOSED:
    if (peer->closed) wrong(host, "closed twice");
    peer->closed = peer->again = true;
    peer->connected = false;
    peer->why = event->why;
    peer->link = VV_LLC_NO_LINK;
    peer->more_ns = VV_NEVER;
    return;
  default:
    return wrong(host, "an event of nothing that was asked");
  }
}

static bool all_done(const struct vv_sim_llc_host *host, const struct vv_sim_llc_peer *peer) {
  return peer->acknowledged == host->config->messages && peer->taken == host->config->messages;
}

static bool wants_again(const struct vv_sim_llc_host *host, uint32_t other) {
  const struct vv_sim_llc_host *far = &host->all[other];
  const struct vv_sim_llc_peer *peer = &host->peers[other];
  bool may = host->config->cuts > 0 && host->life == 0 && far->alive && far->life == 0;
  return may && other != host->number && peer->closed && !all_done(host, peer);
}

static void serve(struct vv_sim_llc_host *host, vv_ns now_ns, uint32_t other) {
  struct vv_sim_llc_peer *peer = &host->peers[other];
  if (wants_again(host, other)) {
    struct vv_llc_address address = vv_sim_llc_host_address(other);
    peer->closed = false;
    peer->link = vv_llc_station_connect(&host->station, now_ns, &address);
  }
  if (peer->link == VV_LLC_NO_LINK) return;
  if (peer->more_ns <= now_ns) {
    peer->more_ns = VV_NEVER;
    vv_llc_station_credit(&host->station, now_ns, peer->link, 1 + (uint32_t)(vv_rng_next(&host->rng) % BUSY_CREDIT));
    if (host->station.links[peer->link].credit < BUSY_CREDIT) peer->more_ns = now_ns + VV_MS;
  }
  if (peer->again && !peer->connected) return;
  if (!all_done(host, peer)) return send_more(host, now_ns, other);
  if (peer->connected && host->number < other) {
    peer->connected = false;
    vv_llc_station_disconnect(&host->station, now_ns, peer->link);
  }
}

void vv_sim_llc_host_hang_up(struct vv_sim_llc_host *host, vv_ns now_ns, uint32_t other) {
  struct vv_sim_llc_peer *peer = &host->peers[other];
  if (!host->alive || peer->link == VV_LLC_NO_LINK || all_done(host, peer)) return;
  peer->connected = false;
  peer->again = true;
  vv_llc_station_disconnect(&host->station, now_ns, peer->link);
}

void vv_sim_llc_host_run(struct vv_sim_llc_host *host, vv_ns now_ns) {
  struct vv_llc_station_event event;
  vv_llc_station_tick(&host->station, now_ns);
  do {
    while (vv_llc_station_take(&host->station, now_ns, &event)) take(host, now_ns, &event);
    for (uint32_t other = 0; other < host->config->hosts; other++) serve(host, now_ns, other);
  } while (host->station.telling.count > 0);
}

vv_ns vv_sim_llc_host_next_ns(const struct vv_sim_llc_host *host) {
  vv_ns next = vv_llc_station_next_ns(&host->station);
  for (uint32_t other = 0; other < host->config->hosts; other++) {
    if (host->peers[other].more_ns < next) next = host->peers[other].more_ns;
  }
  return next;
}

bool vv_sim_llc_host_is_over(const struct vv_sim_llc_host *host, uint32_t other, bool other_died) {
  const struct vv_sim_llc_peer *peer = &host->peers[other];
  if (wants_again(host, other)) return false;
  return peer->closed || host->life > 0 || (other_died && peer->link == VV_LLC_NO_LINK);
}
