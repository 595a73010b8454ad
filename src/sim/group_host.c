/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/group_host.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/heap.h"
#include "core/ethernet/link.h"
#include "core/group/cut.h"
#include "sim/memory.h"

/* A switch forgets a member, and learns of it again, in about this time. */
#define REJOIN_NS UINT64_C(100000000)
#define RETRY_NS  UINT64_C(100000)
#define RTT_NS    UINT64_C(500000)

enum { SCRIBBLE = 0xee, GROUP_STREAM = 0x5117, BURST_DATAGRAMS = 8, UDP_BYTES = 28, LINE_BYTES = 64 };

/* The rate of datagrams on a link that frames of full size fill. */
static uint64_t payload_rate_bps(const struct vv_group_plan *plan) {
  uint64_t wire = vv_eth_wire_bytes(plan->datagram_bytes + UDP_BYTES, false);
  return plan->rate_bps * plan->datagram_bytes / wire;
}

static struct vv_group_wanted group_wanted(const struct vv_group_plan *plan, uint32_t rank) {
  uint64_t frame_ns = vv_eth_ns(vv_eth_wire_bytes(plan->datagram_bytes + UDP_BYTES, false), plan->rate_bps);
  struct vv_group_wanted wanted = {
      .ranks = plan->ranks,
      .rank = rank,
      .stream = GROUP_STREAM,
      .datagram_bytes = plan->datagram_bytes,
      .window_datagrams = vv_credit_datagrams(plan->buffer_bytes, vv_sim_charge_bytes(plan->datagram_bytes)),
      .rtt_ns = RTT_NS + 2 * frame_ns,
      .slot_ns = plan->fabric == VV_FABRIC_HUB ? 100000 : 0,
      .rate_bps = payload_rate_bps(plan),
      .burst_datagrams = BURST_DATAGRAMS,
  };
  memcpy(wanted.key, &plan->seed, sizeof plan->seed);
  return wanted;
}

static void compute(struct vv_host *host, uint64_t now_ns) {
  uint64_t most_ns = host->plan->compute_ns;
  host->state = VV_HOST_COMPUTING;
  host->ready_ns = now_ns + (most_ns > 0 ? vv_rng_next(&host->rng) % most_ns : 0);
}

void vv_host_open(struct vv_host *host, const struct vv_group_plan *plan, uint32_t rank, vv_host_send *send,
                  void *context) {
  struct vv_group_wanted wanted = group_wanted(plan, rank);
  *host = (struct vv_host){.plan = plan, .send = send, .context = context, .rng = {plan->seed ^ (rank + 1) << 20}};
  host->memory = vv_memory_must(malloc(vv_group_bytes(&wanted)));
  vv_group_init(&host->group, host->memory, &wanted);
  vv_payload_init(&host->payload, wanted.key, false);
  vv_sim_socket_open(&host->data, plan->buffer_bytes);
  vv_sim_socket_open(&host->control, plan->buffer_bytes);
  compute(host, 0);
}

void vv_host_close(struct vv_host *host) {
  vv_sim_socket_close(&host->data);
  vv_sim_socket_close(&host->control);
  free(host->memory);
  free(host->buffer);
}

/* The bytes of the stream at that position, which this rank has consumed. */
static bool is_right(const struct vv_host *host, uint64_t position) {
  const struct vv_group *group = &host->group;
  const struct vv_store_slot *slot = vv_store_find(&group->store, position);
  if (slot == NULL) return false;
  uint64_t size_bytes = host->step.size_bytes;
  uint64_t number = position - group->current.first;
  struct vv_cut cut = vv_cut_piece(size_bytes, group->body_bytes, number);
  const uint8_t *data = vv_store_body(&group->store, slot) + (number == 0 ? VV_GROUP_HEAD_BYTES : 0);
  return vv_payload_check_part(&host->payload, host->operations + 1, size_bytes, cut.offset, data, cut.bytes);
}

/* Takes what has come of a stream, before the store has something else in its place. */
static void read_stream(struct vv_host *host) {
  if (host->state != VV_HOST_INSIDE || host->buffer != NULL) return;
  for (; host->read < host->group.consumed; host->read++) {
    if (!is_right(host, host->read)) host->wrong = "wrong bytes were delivered in a stream";
  }
}

/* Whoever receives a packet reads the same in it: the first parses it, which is most of what a receiver costs. */
static bool is_good(const struct vv_group *group, struct vv_packet *packet) {
  packet->good = packet->good || vv_group_pdu_parse(&group->keys, group->wanted.stream, group->consumed, packet->bytes,
                                                    packet->count, &packet->pdu);
  return packet->good;
}

static bool take(struct vv_host *host, uint64_t now_ns, struct vv_sim_socket *socket, enum vv_group_socket from) {
  struct vv_packet *packet = vv_sim_socket_take(socket);
  if (packet == NULL) return false;
  if (is_good(&host->group, packet)) {
    vv_group_take_pdu(&host->group, now_ns, from, &packet->pdu);
  } else {
    vv_group_take(&host->group, now_ns, from, packet->bytes, packet->count);
  }
  vv_packet_drop(packet);
  read_stream(host);
  return true;
}

/* True when a socket may hold more. */
static bool receive_from(struct vv_host *host, uint64_t now_ns, struct vv_sim_socket *socket,
                         enum vv_group_socket from) {
  for (uint32_t i = 0; i < host->plan->take_max; i++) {
    if (from == VV_GROUP_SOCKET_DATA && !vv_group_wants_data(&host->group)) return false;
    if (!take(host, now_ns, socket, from)) return false;
  }
  return true;
}

static bool receive(struct vv_host *host, uint64_t now_ns) {
  bool more = receive_from(host, now_ns, &host->control, VV_GROUP_SOCKET_CONTROL);
  more = receive_from(host, now_ns, &host->data, VV_GROUP_SOCKET_DATA) || more;
  if (vv_group_wants_data(&host->group) && host->data.count == 0) vv_group_dry(&host->group, now_ns);
  return more;
}

static void send_all(struct vv_host *host, uint64_t now_ns) {
  while (host->blocked || vv_group_next(&host->group, now_ns, &host->pending)) {
    host->blocked = !host->send(host->context, host->group.wanted.rank, &host->pending);
    if (host->blocked) return;
  }
}

/* The memory that the application has for a message, at most size_bytes long; NULL: not enough. */
static uint8_t *memory_for(const struct vv_host *host, bool root, uint64_t size_bytes) {
  return root || size_bytes <= host->plan->memory_bytes ? vv_memory_must(malloc(size_bytes + 1)) : NULL;
}

static void start(struct vv_host *host, uint64_t now_ns) {
  const struct vv_group_step step = host->step = vv_group_plan_step(host->plan, host->operations);
  bool root = step.root == host->group.wanted.rank;
  bool known = root || vv_rng_next(&host->rng) % 2 == 0;
  uint64_t size_bytes = known ? step.size_bytes : host->plan->size_bytes;
  host->buffer = memory_for(host, root, size_bytes);
  host->read = host->group.consumed;
  struct vv_group_operation operation = {.root = step.root,
                                         .buffer = host->buffer,
                                         .size_bytes = size_bytes,
                                         .size_known = known,
                                         .stream = host->buffer == NULL,
                                         .representation = (uint8_t)host->operations};
  if (root) vv_payload_fill(&host->payload, host->operations + 1, host->buffer, step.size_bytes);
  host->state = VV_HOST_INSIDE;
  vv_group_start(&host->group, now_ns, &operation);
  read_stream(host);
}

static bool run_application(struct vv_host *host, uint64_t now_ns) {
  if (host->state != VV_HOST_COMPUTING || host->ready_ns > now_ns) return false;
  if (host->operations < host->plan->operations) {
    start(host, now_ns);
  } else {
    host->state = VV_HOST_CLOSING;
    vv_group_close(&host->group, now_ns);
  }
  return true;
}

/* True when all of a message that was read, or lies in the buffer, is right. */
static bool is_whole(const struct vv_host *host) {
  if (host->buffer == NULL) return host->read == host->group.current.end;
  return vv_payload_check(&host->payload, host->operations + 1, host->buffer, host->step.size_bytes);
}

/* The operation is said to be done: so the bytes must be right. Then they are overwritten, as users do. */
static void done(struct vv_host *host, uint64_t now_ns, const struct vv_group_event *event) {
  uint64_t size_bytes = host->step.size_bytes;
  if (host->state != VV_HOST_INSIDE) host->wrong = "an operation was done twice";
  if (event->size_bytes != size_bytes) host->wrong = "a message had the wrong size";
  if (event->representation != (uint8_t)host->operations) host->wrong = "a message was of another operation";
  if (host->wrong == NULL && !is_whole(host)) host->wrong = "wrong bytes were delivered";
  if (host->buffer != NULL) memset(host->buffer, SCRIBBLE, size_bytes);
  free(host->buffer);
  host->buffer = NULL;
  host->operations++;
  host->done_ns = now_ns;
  compute(host, now_ns);
}

static void hear(struct vv_host *host, uint64_t now_ns, const struct vv_group_event *event) {
  switch (event->kind) {
  case VV_GROUP_DONE:
    done(host, now_ns, event);
    break;
  case VV_GROUP_FAILED:
    host->state = VV_HOST_FAILED;
    host->failure = event->failure;
    break;
  case VV_GROUP_DEAFENED:
    if (host->deaf_ns > now_ns + REJOIN_NS) host->deaf_ns = now_ns + REJOIN_NS;
    if (vv_group_plan_is_faultless(host->plan)) host->wrong = "a rank that hears was called deaf";
    break;
  case VV_GROUP_CLOSED:
    host->state = VV_HOST_CLOSED;
    break;
  case VV_GROUP_LATE:
  case VV_GROUP_HEARING:
    break;
  }
}

static bool hear_all(struct vv_host *host, uint64_t now_ns) {
  struct vv_group_event event;
  bool any = false;
  if (host->blocked) return false;
  for (; vv_group_event(&host->group, &event); any = true) hear(host, now_ns, &event);
  return any;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns) {
  return a_ns < b_ns ? a_ns : b_ns;
}

static void fetch(const void *memory, size_t bytes) {
  for (size_t i = 0; i < bytes; i += LINE_BYTES) __builtin_prefetch((const char *)memory + i, 1);
}

void vv_host_fetch(const struct vv_host *host) {
  fetch(&host->group, offsetof(struct vv_group, outbox) + LINE_BYTES);
  fetch(&host->data, sizeof *host - offsetof(struct vv_host, data));
}

void vv_host_fetch_store(const struct vv_host *host) {
  const struct vv_store *store = &host->group.store;
  uint64_t slot = host->group.consumed % store->room;
  fetch(&store->slots[slot], 2 * sizeof *store->slots);
  fetch(store->bodies + slot * store->body_bytes, store->body_bytes);
  fetch(&host->data.queue[host->data.first], sizeof *host->data.queue);
}

uint64_t vv_host_turn(struct vv_host *host, uint64_t now_ns) {
  if (host->state == VV_HOST_DEAD || host->state == VV_HOST_CLOSED) return VV_NEVER;
  if (host->paused_ns > now_ns) return host->paused_ns;
  bool more = true;
  while (more && host->wrong == NULL) {
    more = receive(host, now_ns);
    more = run_application(host, now_ns) || more;
    send_all(host, now_ns);
    more = hear_all(host, now_ns) || more;
  }
  if (host->state == VV_HOST_CLOSED) return VV_NEVER;
  uint64_t next_ns = host->blocked ? now_ns + RETRY_NS : vv_group_deadline_ns(&host->group);
  return host->state == VV_HOST_COMPUTING ? earlier(next_ns, host->ready_ns) : next_ns;
}

bool vv_host_over(const struct vv_host *host) {
  return host->state >= VV_HOST_CLOSED;
}
