/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/group_host.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/ethernet/eth.h"
#include "core/group/cut.h"
#include "sim/memory.h"

/* A switch forgets a member, and learns of it again, in about this time. */
#define REJOIN_NS (100 * VV_MS)
#define RETRY_NS  (100 * VV_US)
#define RTT_NS    (500 * VV_US)

enum { SCRIBBLE = 0xee, GROUP_STREAM = 0x5117, UDP_BYTES = 28, LINE_BYTES = 64, PARTS_APART = 37 };

static struct vv_rank_config rank_config_of(const struct vv_sim_group_config *config, uint32_t rank) {
  vv_ns frame_ns = vv_eth_ns(vv_eth_wire_bytes(config->datagram_bytes + UDP_BYTES, false), config->rate_bps);
  struct vv_rank_config rank_config = {
      .ranks = config->ranks,
      .rank = rank,
      .stream = GROUP_STREAM,
      .datagram_bytes = config->datagram_bytes,
      .window_datagrams = vv_sim_group_config_window(config),
      .rtt_ns = RTT_NS + 2 * frame_ns,
      .shared_bps = config->fabric == VV_LAN_HUB && !config->untold ? config->rate_bps : 0,
  };
  memcpy(rank_config.key, &config->seed, sizeof config->seed);
  return rank_config;
}

static void compute(struct vv_sim_group_host *host, vv_ns now_ns) {
  vv_ns most_ns = host->config->compute_ns;
  host->state = VV_SIM_GROUP_HOST_COMPUTING;
  host->ready_ns = now_ns + (most_ns > 0 ? vv_rng_next(&host->rng) % most_ns : 0);
}

void vv_sim_group_host_open(struct vv_sim_group_host *host, const struct vv_sim_group_config *config, uint32_t rank,
                            vv_sim_group_host_send *send, void *context) {
  struct vv_rank_config rank_config = rank_config_of(config, rank);
  *host = (struct vv_sim_group_host){
      .config = config, .send = send, .context = context, .rng = {config->seed ^ (rank + 1) << 20}};
  host->memory = vv_sim_memory_must(malloc(vv_rank_bytes(&rank_config)));
  vv_rank_init(&host->core, host->memory, &rank_config);
  vv_payload_init(&host->payload, rank_config.key, false);
  vv_sim_socket_open(&host->data, config->buffer_bytes);
  vv_sim_socket_open(&host->control, config->buffer_bytes);
  compute(host, 0);
}

void vv_sim_group_host_close(struct vv_sim_group_host *host) {
  vv_sim_socket_close(&host->data);
  vv_sim_socket_close(&host->control);
  free(host->memory);
  free(host->buffer);
}

/* The bytes of the stream at that position, which this rank has consumed. */
static bool is_right(const struct vv_sim_group_host *host, uint64_t position) {
  const struct vv_rank *core = &host->core;
  const struct vv_store_slot *slot = vv_store_find(&core->store, position);
  if (slot == NULL) return false;
  uint64_t size_bytes = host->step.size_bytes;
  uint64_t number = position - core->current.first;
  struct vv_cut cut = vv_cut_piece(size_bytes, core->body_bytes, number);
  const uint8_t *data = vv_store_body(&core->store, slot) + (number == 0 ? VV_GPDU_HEAD_BYTES : 0);
  return vv_payload_check_part(&host->payload, host->operations + 1, size_bytes, cut.offset, data, cut.bytes);
}

/* Takes what has come of a stream, before the store has something else in its place. */
static void read_stream(struct vv_sim_group_host *host) {
  if (host->state != VV_SIM_GROUP_HOST_INSIDE || host->buffer != NULL) return;
  for (; host->read < host->core.consumed; host->read++) {
    if (!is_right(host, host->read)) host->wrong = "wrong bytes were delivered in a stream";
  }
}

/* Whoever receives a packet reads the same in it: the first parses it, which is most of what a receiver costs. */
static bool is_good(const struct vv_rank *core, struct vv_sim_packet *packet) {
  packet->good = packet->good || vv_gpdu_parse(&core->keys, core->config.stream, core->consumed, packet->bytes,
                                               packet->count, &packet->pdu);
  return packet->good;
}

static bool take(struct vv_sim_group_host *host, vv_ns now_ns, struct vv_sim_socket *socket, enum vv_rank_socket from) {
  struct vv_sim_packet *packet = vv_sim_socket_take(socket);
  if (packet == NULL) return false;
  if (is_good(&host->core, packet)) {
    vv_rank_take_pdu(&host->core, now_ns, from, &packet->pdu);
  } else {
    vv_rank_take(&host->core, now_ns, from, packet->bytes, packet->count);
  }
  vv_sim_packet_drop(packet);
  read_stream(host);
  return true;
}

/* True when a socket may hold more. */
static bool receive_from(struct vv_sim_group_host *host, vv_ns now_ns, struct vv_sim_socket *socket,
                         enum vv_rank_socket from) {
  for (uint32_t i = 0; i < host->config->take_max; i++) {
    if (from == VV_RANK_SOCKET_DATA && !vv_rank_wants_data(&host->core)) return false;
    if (!take(host, now_ns, socket, from)) return false;
  }
  return true;
}

static bool receive(struct vv_sim_group_host *host, vv_ns now_ns) {
  bool more = receive_from(host, now_ns, &host->control, VV_RANK_SOCKET_CONTROL);
  more = receive_from(host, now_ns, &host->data, VV_RANK_SOCKET_DATA) || more;
  if (vv_rank_wants_data(&host->core) && host->data.count == 0) vv_rank_dry(&host->core, now_ns);
  return more;
}

static void send_all(struct vv_sim_group_host *host, vv_ns now_ns) {
  while (host->blocked || vv_rank_next(&host->core, now_ns, &host->pending)) {
    host->blocked = !host->send(host->context, host->core.config.rank, &host->pending);
    if (host->blocked) return;
  }
}

/* The memory that the application has for a message, at most size_bytes long; NULL: not enough. */
static uint8_t *memory_for(const struct vv_sim_group_host *host, bool root, uint64_t size_bytes) {
  return root || size_bytes <= host->config->memory_bytes ? vv_sim_memory_must(malloc(size_bytes + 1)) : NULL;
}

/* Which message of all a rank's part of the present round is. */
static uint64_t part_number(const struct vv_sim_group_host *host, uint32_t rank) {
  return ((uint64_t)host->operations + 1) * PARTS_APART + rank;
}

static void start_round(struct vv_sim_group_host *host, vv_ns now_ns) {
  uint8_t *next = host->buffer = vv_sim_memory_must(malloc(host->step.size_bytes + 1));
  for (uint32_t i = 0; i < host->config->ranks; i++) {
    size_t bytes = vv_sim_group_config_part_bytes(host->config, host->operations, i);
    host->parts[i] = (struct vv_rank_part){next, bytes};
    next += bytes;
  }
  const struct vv_rank_part *own = &host->parts[host->core.config.rank];
  vv_payload_fill(&host->payload, part_number(host, host->core.config.rank), own->buffer, own->bytes);
  host->state = VV_SIM_GROUP_HOST_INSIDE;
  struct vv_rank_operation operation = {.parts = host->parts};
  vv_rank_start(&host->core, now_ns, &operation);
}

static void start(struct vv_sim_group_host *host, vv_ns now_ns) {
  const struct vv_sim_group_step step = host->step = vv_sim_group_config_step(host->config, host->operations);
  if (step.round) return start_round(host, now_ns);
  bool root = step.root == host->core.config.rank;
  bool known = root || vv_rng_next(&host->rng) % 2 == 0;
  uint64_t size_bytes = known ? step.size_bytes : host->config->size_bytes;
  host->buffer = memory_for(host, root, size_bytes);
  host->read = host->core.consumed;
  struct vv_rank_operation operation = {.root = step.root,
                                        .buffer = host->buffer,
                                        .size_bytes = size_bytes,
                                        .size_known = known,
                                        .stream = host->buffer == NULL,
                                        .representation = (uint8_t)host->operations};
  if (root) vv_payload_fill(&host->payload, host->operations + 1, host->buffer, step.size_bytes);
  host->state = VV_SIM_GROUP_HOST_INSIDE;
  vv_rank_start(&host->core, now_ns, &operation);
  read_stream(host);
}

static bool run_application(struct vv_sim_group_host *host, vv_ns now_ns) {
  if (host->state != VV_SIM_GROUP_HOST_COMPUTING || host->ready_ns > now_ns) return false;
  if (host->operations < host->config->operations) {
    start(host, now_ns);
  } else {
    host->state = VV_SIM_GROUP_HOST_CLOSING;
    vv_rank_close(&host->core, now_ns);
  }
  return true;
}

/* True when all of a message that was read, or lies in the buffer, is right. */
static bool is_whole(const struct vv_sim_group_host *host) {
  for (uint32_t i = 0; host->step.round && i < host->config->ranks; i++) {
    const struct vv_rank_part *part = &host->parts[i];
    if (!vv_payload_check(&host->payload, part_number(host, i), part->buffer, part->bytes)) return false;
  }
  if (host->step.round) return true;
  if (host->buffer == NULL) return host->read == host->core.current.end;
  return vv_payload_check(&host->payload, host->operations + 1, host->buffer, host->step.size_bytes);
}

/* The operation is said to be done: so the bytes must be right. Then they are overwritten, as users do. */
static void done(struct vv_sim_group_host *host, vv_ns now_ns, const struct vv_rank_event *event) {
  uint64_t size_bytes = host->step.size_bytes;
  if (host->state != VV_SIM_GROUP_HOST_INSIDE) host->wrong = "an operation was done twice";
  if (event->size_bytes != size_bytes) host->wrong = "a message had the wrong size";
  bool other = !host->step.round && event->representation != (uint8_t)host->operations;
  if (other) host->wrong = "a message was of another operation";
  if (host->wrong == NULL && !is_whole(host)) host->wrong = "wrong bytes were delivered";
  if (host->buffer != NULL) memset(host->buffer, SCRIBBLE, size_bytes);
  free(host->buffer);
  host->buffer = NULL;
  host->operations++;
  host->done_ns = now_ns;
  compute(host, now_ns);
}

static void hear(struct vv_sim_group_host *host, vv_ns now_ns, const struct vv_rank_event *event) {
  switch (event->kind) {
  case VV_RANK_DONE:
    done(host, now_ns, event);
    break;
  case VV_RANK_FAILED:
    host->state = VV_SIM_GROUP_HOST_FAILED;
    host->failure = event->failure;
    break;
  case VV_RANK_DEAFENED:
    if (host->deaf_ns > now_ns + REJOIN_NS) host->deaf_ns = now_ns + REJOIN_NS;
    if (vv_sim_group_config_is_faultless(host->config)) host->wrong = "a rank that hears was called deaf";
    break;
  case VV_RANK_CLOSED:
    host->state = VV_SIM_GROUP_HOST_CLOSED;
    break;
  case VV_RANK_LATE:
  case VV_RANK_HEARING:
    break;
  }
}

static bool hear_all(struct vv_sim_group_host *host, vv_ns now_ns) {
  struct vv_rank_event event;
  bool any = false;
  if (host->blocked) return false;
  for (; vv_rank_event(&host->core, &event); any = true) hear(host, now_ns, &event);
  return any;
}

static vv_ns earlier(vv_ns a_ns, vv_ns b_ns) {
  return a_ns < b_ns ? a_ns : b_ns;
}

static void fetch(const void *memory, size_t bytes) {
  for (size_t i = 0; i < bytes; i += LINE_BYTES) __builtin_prefetch((const char *)memory + i, 1);
}

void vv_sim_group_host_fetch(const struct vv_sim_group_host *host) {
  fetch(&host->core, offsetof(struct vv_rank, outbox) + LINE_BYTES);
  fetch(&host->data, sizeof *host - offsetof(struct vv_sim_group_host, data));
}

void vv_sim_group_host_fetch_store(const struct vv_sim_group_host *host) {
  const struct vv_store *store = &host->core.store;
  uint64_t slot = host->core.consumed % store->room;
  fetch(&store->slots[slot], 2 * sizeof *store->slots);
  fetch(store->bodies + slot * store->body_bytes, store->body_bytes);
  fetch(&host->data.queue[host->data.first], sizeof(void *));
}

vv_ns vv_sim_group_host_turn(struct vv_sim_group_host *host, vv_ns now_ns) {
  if (host->state == VV_SIM_GROUP_HOST_DEAD || host->state == VV_SIM_GROUP_HOST_CLOSED) return VV_NEVER;
  if (host->paused_ns > now_ns) return host->paused_ns;
  bool more = true;
  while (more && host->wrong == NULL) {
    more = receive(host, now_ns);
    more = run_application(host, now_ns) || more;
    send_all(host, now_ns);
    more = hear_all(host, now_ns) || more;
  }
  if (host->state == VV_SIM_GROUP_HOST_CLOSED) return VV_NEVER;
  vv_ns next_ns = host->blocked ? now_ns + RETRY_NS : vv_rank_deadline_ns(&host->core);
  return host->state == VV_SIM_GROUP_HOST_COMPUTING ? earlier(next_ns, host->ready_ns) : next_ns;
}

bool vv_sim_group_host_over(const struct vv_sim_group_host *host) {
  return host->state >= VV_SIM_GROUP_HOST_CLOSED;
}
