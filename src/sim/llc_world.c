/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/llc_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ethernet/eth.h"
#include "sim/memory.h"

enum { HOST_FRAMES = 64, PORT_FRAMES = 200, FRAMES = 4096, FLIGHTS = 16384, INBOX = 400, INCIDENTS_MAX = 32 };
enum { REPLAYS = 64, RETRY_US = 20, CUT_MS_MAX = 15000, BEGINNING_MS = 100, SLOW_FRAMES = 8 };

/* How often a host that finds many frames answers one before it looks at the next. */
static const double ANSWERS_AT_ONCE = 0.2;
/* How often one that stood still lets its timers run out before it looks at what came meanwhile. */
static const double TIMERS_FIRST = 0.5;

enum kind { RESET, PAUSE, CUT, CRASH, RESTART };

struct incident {
  enum kind kind;
  vv_ns ns;
  uint32_t host;
  vv_ns span_ns;
};

/* A frame on the LAN, in an inbox, or kept to come again. */
struct packet {
  struct packet *next; /* in an inbox */
  uint32_t to;
  size_t count;
  uint8_t bytes[];
};

/* What came while a host was stopped. */
struct inbox {
  struct packet *first, *last;
  uint32_t count;
};

struct replay {
  struct packet *packet; /* NULL: none */
  vv_ns ns;
};

struct world {
  const struct vv_sim_llc_config *config;
  struct vv_lan lan;
  void *lan_memory;
  struct vv_sim_llc_host *hosts;
  struct packet **held; /* by host: made, and the LAN had no room for it yet */
  vv_ns *wake_ns;       /* by host: stopped until then */
  vv_ns *whole_ns;      /* by host: its cable is cut until then */
  struct inbox *inboxes;
  struct replay replays[REPLAYS];
  vv_ns replay_ns; /* of the first of them; VV_NEVER: none */
  struct incident incidents[INCIDENTS_MAX];
  uint32_t incidents_count;
  struct vv_rng rng;
  vv_ns now_ns;
  bool crashed; /* somebody did, at any time */
  bool cut;     /* some cable was, at any time */
  struct vv_llc_station_counts dead;
  char *wrong;
};

static uint64_t below(struct world *world, uint64_t end) {
  return end == 0 ? 0 : vv_rng_next(&world->rng) % end;
}

static bool chance(struct world *world, double probability) {
  return vv_rng_unit(&world->rng) < probability;
}

static void wrong_at(struct world *world, uint32_t host, uint32_t other, const char *what) {
  if (world->wrong[0] != '\0') return;
  const struct vv_sim_llc_peer *peer = &world->hosts[host].peers[other];
  snprintf(world->wrong, 200, "at %.6f s, host %u with %u (sent %u, acknowledged %u, taken %u): %s",
           (double)world->now_ns * 1e-9, host, other, peer->sent, peer->acknowledged, peer->taken, what);
}

static bool is_cut(const struct world *world, uint32_t host) {
  return world->whole_ns[host] > world->now_ns;
}

static void set_up_lan(struct world *world) {
  const struct vv_sim_llc_config *config = world->config;
  struct vv_lan_config lan_config = {.fabric = config->fabric,
                                     .stations = config->hosts,
                                     .rate_bps = config->rate_bps,
                                     .reach_ns = 500,
                                     .forward_ns = 2 * VV_US,
                                     .ageing_ns = 300 * VV_SEC,
                                     .host_frames = HOST_FRAMES,
                                     .port_frames = PORT_FRAMES,
                                     .frames = FRAMES,
                                     .flights = FLIGHTS,
                                     .seed = config->seed};
  struct vv_faults_config in = {.loss = config->loss,
                                .burst_enter = config->burst,
                                .burst_leave = 0.3,
                                .burst_loss = 0.8,
                                .corrupt = config->corrupt,
                                .duplicate = config->duplicate,
                                .reorder = config->reorder,
                                .reorder_ns = config->reorder_ns};
  world->lan_memory = vv_sim_memory_must(malloc(vv_lan_bytes(&lan_config)));
  vv_lan_init(&world->lan, world->lan_memory, &lan_config);
  for (uint32_t host = 0; host < config->hosts; host++) vv_lan_faults(&world->lan, host, VV_LAN_IN, &in);
}

static void plan_incident(struct world *world, enum kind kind, vv_ns ns, vv_ns span_ns) {
  world->incidents[world->incidents_count++] =
      (struct incident){kind, ns, (uint32_t)below(world, world->config->hosts), span_ns};
}

static void plan_incidents(struct world *world) {
  const struct vv_sim_llc_config *config = world->config;
  vv_ns span_ns =
      2 * VV_MS + config->messages * config->hosts * (VV_MS / 10 + 5 * vv_eth_ns(config->size_bytes, config->rate_bps));
  for (uint32_t i = 0; i < config->resets && i < 8; i++) plan_incident(world, RESET, below(world, span_ns), 0);
  for (uint32_t i = 0; i < config->pauses && i < 8; i++) {
    vv_ns within_ns = i == 0 ? BEGINNING_MS * VV_MS : span_ns; /* connections are made: what is asked comes again */
    plan_incident(world, PAUSE, below(world, within_ns), below(world, config->pause_ns));
  }
  for (uint32_t i = 0; i < config->cuts && i < 8; i++)
    plan_incident(world, CUT, below(world, span_ns / 8), below(world, CUT_MS_MAX * VV_MS));
  if (!config->crash) return;
  plan_incident(world, CRASH, below(world, span_ns), 0);
  struct incident crash = world->incidents[world->incidents_count - 1];
  crash.kind = RESTART;
  crash.ns += below(world, 100 * VV_MS);
  if (config->restart) world->incidents[world->incidents_count++] = crash;
}

static struct packet *packet_of(const struct vv_llc_station_frame *frame) {
  size_t count = frame->head_bytes + frame->data_bytes;
  struct packet *packet = vv_sim_memory_must(malloc(sizeof *packet + count));
  packet->count = count;
  packet->to = frame->head[VV_MAC_BYTES - 1];
  memcpy(packet->bytes, frame->head, frame->head_bytes);
  if (frame->data_bytes > 0) memcpy(packet->bytes + frame->head_bytes, frame->data, frame->data_bytes);
  return packet;
}

static struct packet *copy_of(const struct packet *packet) {
  struct packet *copy = vv_sim_memory_must(malloc(sizeof *copy + packet->count));
  memcpy(copy, packet, sizeof *copy + packet->count);
  return copy;
}

/* I PDUs may come again long after: numbers and epochs must tell. */
static void keep(struct world *world, const struct packet *packet) {
  bool is_i = packet->count > VV_ENVELOPE_BYTES + 2 && (packet->bytes[VV_ENVELOPE_BYTES + 2] & 1) == 0;
  if (!is_i || !chance(world, world->config->replay)) return;
  struct replay *replay = &world->replays[below(world, REPLAYS)];
  if (replay->packet != NULL) return;
  *replay = (struct replay){copy_of(packet), world->now_ns + below(world, world->config->replay_ns)};
  if (replay->ns < world->replay_ns) world->replay_ns = replay->ns;
}

/* Sends what the station has, until the interface is full, or a slow host's turn is over. */
static void send(struct world *world, uint32_t host) {
  struct vv_llc_station_frame frame;
  uint64_t most = world->config->slow_ns > 0 ? 1 + below(world, SLOW_FRAMES) : UINT64_MAX;
  for (uint64_t sent = 0; sent < most; sent++) {
    struct packet *packet = world->held[host];
    world->held[host] = NULL;
    if (packet == NULL && !vv_llc_station_next_frame(&world->hosts[host].station, world->now_ns, &frame)) return;
    if (packet == NULL) packet = packet_of(&frame);
    struct vv_lan_frame on_lan = {.source = host,
                                  .destination = packet->to,
                                  .data_bytes = (uint32_t)packet->count - VV_ENVELOPE_BYTES,
                                  .handle = packet};
    if (!vv_lan_send(&world->lan, world->now_ns, &on_lan)) {
      world->held[host] = packet;
      return;
    }
    keep(world, packet);
  }
}

static void watch_windows(struct world *world, uint32_t host) {
  const struct vv_sim_llc_config *config = world->config;
  uint32_t limit = config->window < config->receive_window ? config->window : config->receive_window;
  for (uint32_t other = 0; other < config->hosts; other++) {
    const struct vv_sim_llc_peer *peer = &world->hosts[host].peers[other];
    if (peer->link == VV_LLC_NO_LINK) continue;
    const struct vv_llc_link *link = &world->hosts[host].station.links[peer->link];
    if (vv_llc_link_ahead(link->high, link->va) > limit) wrong_at(world, host, other, "the window is above its limit");
    if (vv_llc_link_ahead(link->vs, link->va) > limit) wrong_at(world, host, other, "V(S) is beyond the window");
  }
}

static void watch(struct world *world, uint32_t host) {
  const struct vv_sim_llc_config *config = world->config;
  struct vv_sim_llc_host *self = &world->hosts[host];
  if (self->wrong != NULL) wrong_at(world, host, 0, self->wrong);
  watch_windows(world, host);
  for (uint32_t other = 0; other < config->hosts; other++) {
    const struct vv_sim_llc_host *far = &world->hosts[other];
    if (other == host) continue;
    struct vv_sim_llc_peer *peer = &self->peers[other];
    if (far->life == 0 && self->life == 0 && peer->acknowledged > far->peers[host].taken)
      wrong_at(world, host, other, "acknowledged, and not taken");
    bool asked = peer->why == VV_LLC_CLOSE_ASKED || peer->why == VV_LLC_CLOSE_PEER;
    bool excused = world->crashed || world->cut || config->beyond;
    if (!peer->closed || excused) continue;
    if (!asked) wrong_at(world, host, other, "a link ended without a reason");
    if (peer->taken != config->messages) wrong_at(world, host, other, "a link ended before all was taken");
  }
}

static void put(struct inbox *inbox, struct packet *packet) {
  packet->next = NULL;
  if (inbox->first == NULL) {
    inbox->first = packet;
  } else {
    inbox->last->next = packet;
  }
  inbox->last = packet;
  inbox->count++;
}

static struct packet *take(struct inbox *inbox) {
  struct packet *packet = inbox->first;
  if (packet == NULL) return NULL;
  inbox->first = packet->next;
  inbox->count--;
  return packet;
}

static void drop_all(struct inbox *inbox) {
  for (struct packet *packet = take(inbox); packet != NULL; packet = take(inbox)) free(packet);
}

static void run(struct world *world, uint32_t host) {
  struct vv_sim_llc_host *self = &world->hosts[host];
  if (!self->alive || world->wake_ns[host] > world->now_ns) return;
  if (world->wake_ns[host] == world->now_ns && chance(world, TIMERS_FIRST)) {
    vv_sim_llc_host_run(self, world->now_ns);
    if (chance(world, ANSWERS_AT_ONCE)) send(world, host);
  }
  for (struct packet *packet = take(&world->inboxes[host]); packet != NULL; packet = take(&world->inboxes[host])) {
    vv_llc_station_receive(&self->station, world->now_ns, packet->bytes, packet->count);
    vv_sim_llc_host_run(self, world->now_ns);
    free(packet);
    if (chance(world, ANSWERS_AT_ONCE)) send(world, host);
  }
  vv_sim_llc_host_run(self, world->now_ns);
  send(world, host);
  watch(world, host);
  if (world->config->slow_ns > 0) world->wake_ns[host] = world->now_ns + below(world, world->config->slow_ns);
}

static void deliver(struct world *world, uint32_t host, const struct packet *packet) {
  bool cut = is_cut(world, host) || is_cut(world, packet->bytes[2 * VV_MAC_BYTES - 1]); /* the sender's */
  if (cut || !world->hosts[host].alive || world->inboxes[host].count == INBOX) return;
  put(&world->inboxes[host], copy_of(packet));
  run(world, host);
}

static void sum(struct vv_llc_station_counts *all, const struct vv_llc_station_counts *one) {
  uint64_t *to = (uint64_t *)all;
  const uint64_t *from = (const uint64_t *)one;
  for (size_t i = 0; i < sizeof *all / sizeof *to; i++) to[i] += from[i];
}

static void crash(struct world *world, uint32_t host) {
  world->crashed = true;
  world->hosts[host].alive = false;
  drop_all(&world->inboxes[host]);
  free(world->held[host]);
  world->held[host] = NULL;
}

static void restart(struct world *world, uint32_t host) {
  sum(&world->dead, &world->hosts[host].station.counts);
  vv_sim_llc_host_free(&world->hosts[host]);
  vv_sim_llc_host_start(world->hosts, world->config, host, 1);
}

/* Who is on either side of a cable that is cut may lose patience, or not notice. */
static void cut(struct world *world, const struct incident *incident) {
  world->cut = true;
  world->whole_ns[incident->host] = world->now_ns + incident->span_ns;
  for (uint32_t other = 0; other < world->config->hosts; other++) {
    uint64_t who = 1 + below(world, 3);
    if (other == incident->host) continue;
    if (who & 1) vv_sim_llc_host_hang_up(&world->hosts[incident->host], world->now_ns, other);
    if (who & 2) vv_sim_llc_host_hang_up(&world->hosts[other], world->now_ns, incident->host);
  }
}

static void happen(struct world *world, const struct incident *incident) {
  struct vv_sim_llc_host *host = &world->hosts[incident->host];
  if (incident->kind == RESTART) return restart(world, incident->host);
  if (!host->alive) return;
  if (incident->kind == CRASH) return crash(world, incident->host);
  if (incident->kind == CUT) return cut(world, incident);
  if (incident->kind == PAUSE) {
    world->wake_ns[incident->host] = world->now_ns + incident->span_ns;
    return;
  }
  uint32_t other = (uint32_t)below(world, world->config->hosts);
  if (host->peers[other].connected) vv_llc_station_reset(&host->station, world->now_ns, host->peers[other].link);
  run(world, incident->host);
}

static vv_ns host_ns(const struct world *world, uint32_t host) {
  if (!world->hosts[host].alive) return VV_NEVER;
  vv_ns next = vv_sim_llc_host_next_ns(&world->hosts[host]);
  if (world->held[host] != NULL && world->now_ns + RETRY_US * VV_US < next) next = world->now_ns + RETRY_US * VV_US;
  if (world->wake_ns[host] > world->now_ns) next = world->wake_ns[host];
  return next;
}

static vv_ns next_ns(const struct world *world) {
  vv_ns next = vv_lan_next_ns(&world->lan);
  for (uint32_t host = 0; host < world->config->hosts; host++) {
    vv_ns ns = host_ns(world, host);
    if (ns < next) next = ns;
  }
  for (uint32_t i = 0; i < world->incidents_count; i++) {
    if (world->incidents[i].ns < next) next = world->incidents[i].ns;
  }
  return world->replay_ns < next ? world->replay_ns : next;
}

static void deliver_again(struct world *world) {
  if (world->replay_ns > world->now_ns) return;
  world->replay_ns = VV_NEVER;
  for (uint32_t i = 0; i < REPLAYS; i++) {
    struct replay *replay = &world->replays[i];
    struct packet *packet = replay->packet;
    if (packet == NULL) continue;
    if (replay->ns > world->now_ns) {
      if (replay->ns < world->replay_ns) world->replay_ns = replay->ns;
      continue;
    }
    replay->packet = NULL;
    deliver(world, packet->to, packet);
    free(packet);
  }
}

/*
 * Whether it has something to do that no frame brought. Nobody else runs, so that a station that does not ask to be
 * woken is found.
 */
static bool is_due(const struct world *world, uint32_t host) {
  bool wakes = world->wake_ns[host] == world->now_ns;
  return wakes || world->held[host] != NULL || host_ns(world, host) <= world->now_ns;
}

static void step(struct world *world) {
  struct vv_lan_event event;
  bool happened = false;
  while (vv_lan_take(&world->lan, world->now_ns, &event)) {
    if (event.kind == VV_LAN_DONE) {
      free(event.frame.handle);
    } else {
      deliver(world, event.station, event.frame.handle);
    }
  }
  for (uint32_t i = 0; i < world->incidents_count; i++) {
    if (world->incidents[i].ns > world->now_ns) continue;
    struct incident incident = world->incidents[i];
    world->incidents[i--] = world->incidents[--world->incidents_count];
    happen(world, &incident);
    happened = true;
  }
  deliver_again(world);
  for (uint32_t host = 0; host < world->config->hosts; host++) {
    if (happened || is_due(world, host)) run(world, host);
  }
}

static bool has_died(const struct world *world, uint32_t host) {
  return !world->hosts[host].alive || world->hosts[host].life > 0;
}

static bool is_over(struct world *world) {
  for (uint32_t a = 0; a < world->config->hosts; a++) {
    if (!world->hosts[a].alive) continue;
    for (uint32_t b = 0; b < world->config->hosts; b++) {
      if (!vv_sim_llc_host_is_over(&world->hosts[a], b, has_died(world, b))) return false;
    }
  }
  return true;
}

static void who_waits(struct world *world) {
  for (uint32_t a = 0; a < world->config->hosts; a++) {
    for (uint32_t b = 0; b < world->config->hosts && world->hosts[a].alive; b++) {
      if (!vv_sim_llc_host_is_over(&world->hosts[a], b, has_died(world, b)))
        wrong_at(world, a, b, "not over by the deadline");
    }
  }
}

/* Where nobody died all was delivered: where cables are cut, whoever lost a link has connected again for the rest. */
static void watch_end(struct world *world) {
  bool all_again = world->config->cuts > 0;
  if (world->crashed || (world->config->beyond && !all_again)) return;
  for (uint32_t a = 0; a < world->config->hosts; a++) {
    for (uint32_t b = 0; b < world->config->hosts; b++) {
      if (a != b && world->hosts[a].peers[b].taken != world->config->messages)
        wrong_at(world, a, b, "over before all was taken");
    }
  }
}

static void set_up(struct world *world) {
  const struct vv_sim_llc_config *config = world->config;
  world->rng.state = config->seed * 7919 + 1;
  set_up_lan(world);
  world->hosts = vv_sim_memory_must(calloc(config->hosts, sizeof *world->hosts));
  world->held = vv_sim_memory_must(calloc(config->hosts, sizeof(struct packet *)));
  world->wake_ns = vv_sim_memory_must(calloc(config->hosts, sizeof *world->wake_ns));
  world->whole_ns = vv_sim_memory_must(calloc(config->hosts, sizeof *world->whole_ns));
  world->inboxes = vv_sim_memory_must(calloc(config->hosts, sizeof *world->inboxes));
  for (uint32_t host = 0; host < config->hosts; host++) vv_sim_llc_host_start(world->hosts, config, host, 0);
  plan_incidents(world);
}

static void take_down(struct world *world, struct vv_sim_llc_result *result) {
  struct vv_lan_event event;
  result->elapsed_ns = world->now_ns;
  result->counts = world->dead;
  for (uint32_t host = 0; host < world->config->hosts; host++) {
    struct vv_sim_llc_host *one = &world->hosts[host];
    sum(&result->counts, &one->station.counts);
    for (uint32_t other = 0; other < world->config->hosts; other++) {
      for (uint32_t seq = 0; seq < one->peers[other].taken; seq++)
        result->payload_bytes += vv_sim_llc_config_size(world->config, other, host, seq);
    }
    drop_all(&world->inboxes[host]);
    free(world->held[host]);
    vv_sim_llc_host_free(one);
  }
  for (vv_ns ns = vv_lan_next_ns(&world->lan); ns != VV_NEVER; ns = vv_lan_next_ns(&world->lan)) {
    while (vv_lan_take(&world->lan, ns, &event)) {
      if (event.kind == VV_LAN_DONE) free(event.frame.handle);
    }
  }
  for (int i = 0; i < REPLAYS; i++) free(world->replays[i].packet);
  free(world->lan_memory);
  free(world->hosts);
  free(world->held);
  free(world->wake_ns);
  free(world->whole_ns);
  free(world->inboxes);
}

bool vv_sim_llc_world_run(const struct vv_sim_llc_config *config, struct vv_sim_llc_result *result, char wrong[200]) {
  struct world world = {.config = config, .replay_ns = VV_NEVER, .wrong = wrong};
  wrong[0] = '\0';
  *result = (struct vv_sim_llc_result){0};
  set_up(&world);
  for (uint32_t host = 0; host < config->hosts; host++) run(&world, host);
  while (wrong[0] == '\0' && !is_over(&world)) {
    vv_ns next = next_ns(&world);
    if (next > config->deadline_ns) {
      who_waits(&world);
      break;
    }
    world.now_ns = next > world.now_ns ? next : world.now_ns;
    step(&world);
  }
  watch_end(&world);
  take_down(&world, result);
  return wrong[0] == '\0';
}
