/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/btl/courier.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGES = 4096 }; /* under way in the station; the others wait here */
static const vv_ns watch_ns = VV_SEC;
static const vv_ns absent_ns = VV_SEC; /* so long without a turn: what was silent meanwhile was ourselves */

/* What comes by a link. */
struct vv_courier_flow {
  struct vv_courier_peer *peer; /* NULL: it was not joined */
  uint8_t *bytes;               /* of the message that comes */
  size_t room_bytes;
};

static void lock(struct vv_courier *courier) {
  if (courier->config.threads) pthread_mutex_lock(&courier->mutex);
}

static void unlock(struct vv_courier *courier) {
  if (courier->config.threads) pthread_mutex_unlock(&courier->mutex);
}

static void begin_telling(struct vv_courier *courier) {
  courier->telling = true;
  unlock(courier);
}

static void end_telling(struct vv_courier *courier) {
  lock(courier);
  courier->telling = false;
}

static bool is_up(const struct vv_courier_peer *peer) {
  return peer->link != VV_LLC_NO_LINK;
}

/* what the station tells ------------------------------------------------ */

static void begin_leaving(struct vv_courier *courier, struct vv_courier_load *load) {
  load->other = courier->leaving;
  load->at = &courier->leaving;
  if (load->other) load->other->at = &load->other;
  courier->leaving = load;
}

static void end_leaving(struct vv_courier_load *load) {
  if (!load->at) return;
  *load->at = load->other;
  if (load->other) load->other->at = load->at;
  load->at = NULL;
}

static bool give(struct vv_courier *courier, struct vv_courier_load *load, vv_ns now_ns) {
  bool given = vv_llc_station_send(&courier->node.station, now_ns, load->peer->link, load->bytes, load->count,
                                   (uint64_t)(uintptr_t)load);
  if (given) begin_leaving(courier, load);
  return given;
}

static void tell_sent(struct vv_courier *courier, struct vv_courier_load *load, bool arrived) {
  courier->under_way--;
  end_leaving(load);
  if (courier->closing) return;
  begin_telling(courier);
  courier->config.user.sent(courier->config.user.context, load, arrived);
  end_telling(courier);
}

static struct vv_courier_load *take_first(struct vv_courier *courier) {
  struct vv_courier_load *load = courier->first;
  courier->first = load->next;
  if (!courier->first) courier->last = NULL;
  return load;
}

/* Those that wait, as long as there is room; those to a peer that is gone are given back. */
static void give_more(struct vv_courier *courier) {
  while (courier->first) {
    struct vv_courier_load *load = courier->first;
    if (is_up(load->peer)) {
      if (!give(courier, load, vv_node_now())) return;
      take_first(courier);
    } else {
      tell_sent(courier, take_first(courier), false);
    }
  }
}

static void end(struct vv_courier *courier, uint32_t link, enum vv_llc_close why) {
  struct vv_courier_peer *peer = courier->flows[link].peer;
  courier->flows[link].peer = NULL;
  if (!peer) return;
  peer->link = VV_LLC_NO_LINK;
  peer->up = false;
  give_more(courier);
  if (courier->closing) return;
  begin_telling(courier);
  courier->config.user.ended(courier->config.user.context, peer, why);
  end_telling(courier);
}

static bool make_room(struct vv_courier_flow *flow, size_t bytes) {
  if (bytes <= flow->room_bytes) return true;
  uint8_t *grown = realloc(flow->bytes, bytes);
  if (!grown) return false;
  flow->bytes = grown;
  flow->room_bytes = bytes;
  return true;
}

static void take_data(struct vv_courier *courier, const struct vv_llc_station_event *event) {
  struct vv_courier_flow *flow = &courier->flows[event->link];
  const uint8_t *bytes = event->data;
  if (courier->closing) return;
  if (event->data_bytes < event->message_bytes) {
    bool fits = event->message_bytes <= courier->config.message_bytes_max;
    if (!fits || !make_room(flow, event->message_bytes)) {
      vv_llc_station_disconnect(&courier->node.station, vv_node_now(), event->link);
      end(courier, event->link, VV_LLC_CLOSE_LOST);
      return;
    }
    memcpy(flow->bytes + event->offset_bytes, bytes, event->data_bytes);
    if (event->offset_bytes + event->data_bytes < event->message_bytes) return;
    bytes = flow->bytes;
  }
  begin_telling(courier);
  courier->config.user.came(courier->config.user.context, bytes, event->message_bytes);
  end_telling(courier);
}

static void connected(struct vv_courier *courier, uint32_t link) {
  struct vv_courier_peer *peer = courier->flows[link].peer;
  if (!peer) return;
  peer->up = true;
  peer->since_ns = vv_node_now();
}

static void tell(void *context, const struct vv_llc_station_event *event) {
  struct vv_courier *courier = context;
  switch (event->what) {
  case VV_LLC_STATION_CONNECTED:
    connected(courier, event->link);
    break;
  case VV_LLC_STATION_DATA:
    take_data(courier, event);
    break;
  case VV_LLC_STATION_SENT:
    tell_sent(courier, (struct vv_courier_load *)(uintptr_t)event->handle, event->acknowledged);
    give_more(courier);
    break;
  case VV_LLC_STATION_CLOSED:
    end(courier, event->link, event->why);
    break;
  default:
    break;
  }
}

/* open and close -------------------------------------------------------- */

static int start(struct vv_courier *courier, struct vv_error *error) {
  struct vv_llc_station_config config;
  vv_llc_station_defaults(&config);
  config.nonce = courier->config.nonce;
  config.tries = UINT32_MAX; /* who computes is late, not dead */
  config.messages = MESSAGES;
  config.window = courier->config.window;
  config.units += 2 * courier->config.peers;
  courier->flows = calloc(courier->config.peers, sizeof *courier->flows);
  if (!courier->flows) return vv_error_set(error, "no-memory", "no memory for %u peers", courier->config.peers);
  if (vv_node_start(&courier->node, config, error) == 0) return 0;
  free(courier->flows);
  return -1;
}

int vv_courier_open(struct vv_courier *courier, const struct vv_courier_config *config, struct vv_error *error) {
  *courier = (struct vv_courier){.config = *config};
  struct vv_node_config node = {
      .iface = config->iface, .links = config->peers, .turns = true, .tell = tell, .context = courier};
  if (vv_node_open(&courier->node, &node, error) != 0) return -1;
  if (start(courier, error) != 0) {
    vv_node_close(&courier->node);
    return -1;
  }
  pthread_mutex_init(&courier->mutex, NULL);
  courier->turned_ns = courier->back_ns = courier->watched_ns = vv_node_now();
  return 0;
}

/* Until something comes, a turn is due, or the deadline. */
static void sleep_until(const struct vv_courier *courier, vv_ns deadline_ns) {
  struct pollfd entry = {.fd = vv_engine_descriptor(&courier->node.engine), .events = POLLIN};
  vv_ns due_ns = vv_engine_due_ns(&courier->node.engine);
  vv_ns left_ns = (due_ns < deadline_ns ? due_ns : deadline_ns) - vv_node_now();
  struct timespec left = {.tv_sec = left_ns / VV_SEC, .tv_nsec = left_ns % VV_SEC};
  if (left_ns > 0) ppoll(&entry, 1, &left, NULL);
}

void vv_courier_close(struct vv_courier *courier, vv_ns patience_ns) {
  struct vv_llc_station *station = &courier->node.station;
  struct vv_error ignored;
  vv_ns deadline_ns = vv_node_now() + patience_ns;
  courier->closing = true;
  while (courier->under_way > 0 && vv_node_now() < deadline_ns) {
    if (vv_courier_turn(courier, &ignored) < 0) break;
    if (courier->under_way > 0) sleep_until(courier, deadline_ns);
  }
  for (uint32_t link = 0; link < courier->config.peers; link++) {
    if (station->links[link].used) vv_llc_station_disconnect(station, vv_node_now(), link);
    free(courier->flows[link].bytes);
  }
  vv_node_flush(&courier->node, vv_node_now(), &ignored);
  vv_node_close(&courier->node);
  free(courier->flows);
  pthread_mutex_destroy(&courier->mutex);
}

/* peers and messages ---------------------------------------------------- */

bool vv_courier_join(struct vv_courier *courier, struct vv_courier_peer *peer) {
  lock(courier);
  peer->since_ns = vv_node_now();
  peer->link = vv_llc_station_connect(&courier->node.station, peer->since_ns, &peer->address);
  bool joined = is_up(peer);
  if (joined) courier->flows[peer->link].peer = peer;
  unlock(courier);
  return joined;
}

static void wait_in_line(struct vv_courier *courier, struct vv_courier_load *load) {
  load->next = NULL;
  if (courier->last)
    courier->last->next = load;
  else
    courier->first = load;
  courier->last = load;
}

static bool has_left(const struct vv_courier *courier, const struct vv_courier_peer *peer) {
  return !courier->first && courier->node.hold.count == 0 &&
         vv_llc_station_has_left(&courier->node.station, peer->link);
}

bool vv_courier_is_open(struct vv_courier *courier, const struct vv_courier_peer *peer) {
  lock(courier);
  bool open = is_up(peer) && !courier->first && courier->node.hold.count == 0 &&
              vv_llc_station_is_open(&courier->node.station, peer->link);
  unlock(courier);
  return open;
}

/* What fails to leave now is found out by the next turn, which somebody takes who can be told. */
enum vv_courier_sent vv_courier_send(struct vv_courier *courier, struct vv_courier_peer *peer,
                                     struct vv_courier_load *load) {
  struct vv_error ignored;
  lock(courier);
  bool taken = is_up(peer);
  load->peer = peer;
  load->at = NULL;
  load->left = false;
  if (taken) {
    vv_ns now_ns = vv_node_now();
    courier->under_way++;
    if (courier->first || !give(courier, load, now_ns)) wait_in_line(courier, load);
    if (!courier->telling) vv_node_flush(&courier->node, now_ns, &ignored);
    load->left = has_left(courier, peer);
    if (load->left) end_leaving(load);
  }
  enum vv_courier_sent sent = !taken ? VV_COURIER_GONE : load->left ? VV_COURIER_LEFT : VV_COURIER_TAKEN;
  unlock(courier);
  return sent;
}

/* turns ----------------------------------------------------------------- */

static void mind(struct vv_courier *courier, struct vv_courier_peer *peer, vv_ns now_ns) {
  vv_ns silence_ns = courier->config.silence_ns;
  vv_ns heard_ns = vv_llc_station_heard_ns(&courier->node.station, peer->link);
  vv_ns from_ns = peer->since_ns > heard_ns ? peer->since_ns : heard_ns;
  if (from_ns < courier->back_ns) from_ns = courier->back_ns;
  if (silence_ns > 0 && now_ns - from_ns > silence_ns) {
    uint32_t link = peer->link;
    vv_llc_station_disconnect(&courier->node.station, now_ns, link);
    end(courier, link, VV_LLC_CLOSE_SILENT);
  } else if (!peer->up && !peer->warned && heard_ns == 0 && now_ns - peer->since_ns > VV_COURIER_WARN_NS) {
    peer->warned = true;
    begin_telling(courier);
    courier->config.user.waits(courier->config.user.context, peer);
    end_telling(courier);
  }
}

/* Whoever sends nothing while we sleep is not silent: we are deaf. */
static void watch(struct vv_courier *courier) {
  vv_ns now_ns = courier->node.engine.turned_ns;
  if (now_ns - courier->turned_ns > absent_ns) courier->back_ns = now_ns;
  courier->turned_ns = now_ns;
  if (now_ns - courier->watched_ns < watch_ns || courier->closing) return;
  courier->watched_ns = now_ns;
  for (uint32_t link = 0; link < courier->config.peers; link++) {
    struct vv_courier_peer *peer = courier->flows[link].peer;
    if (peer) mind(courier, peer, now_ns);
  }
}

/* Tells of those that have left. Others come before the first one while the user is told, and only a turn takes any
 * away: the next one stays where it is. */
static void see_off(struct vv_courier *courier) {
  struct vv_courier_load *load = courier->closing ? NULL : courier->leaving, *other;
  for (; load; load = other) {
    other = load->other;
    if (!is_up(load->peer) || !has_left(courier, load->peer)) continue;
    end_leaving(load);
    load->left = true;
    begin_telling(courier);
    courier->config.user.left(courier->config.user.context, load);
    end_telling(courier);
  }
}

int vv_courier_turn(struct vv_courier *courier, struct vv_error *error) {
  if (__atomic_test_and_set(&courier->turning, __ATOMIC_ACQUIRE)) return 0;
  lock(courier);
  int count = vv_node_turn(&courier->node, error);
  if (count >= 0) see_off(courier);
  if (count >= 0) watch(courier);
  unlock(courier);
  __atomic_clear(&courier->turning, __ATOMIC_RELEASE);
  return count;
}
