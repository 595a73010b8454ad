/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/engine/node.h"

#include <assert.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/os/host.h"
#include "io/port/sap.h"

enum { WINDOW_MAX = VV_LPDU_MODULUS - 1 };

static_assert(VV_LLC_LINK_HEAD_BYTES <= VV_ENGINE_HEAD_BYTES, "the engine has room for the head of a frame");

/* the station as the engine's core ------------------------------------- */

static void tell_all(struct vv_node *node, vv_ns now_ns) {
  struct vv_llc_station_event event;
  while (vv_llc_station_take(&node->station, now_ns, &event)) node->config.tell(node->config.context, &event);
}

static void receive(void *self, vv_ns now_ns, const uint8_t *bytes, size_t count) {
  struct vv_node *node = self;
  vv_llc_station_receive(&node->station, now_ns, bytes, count);
  tell_all(node, now_ns);
}

/* What the rest of a frame points to changes only when something comes or a timer runs out. */
static bool next(void *self, vv_ns now_ns, uint8_t head[VV_ENGINE_HEAD_BYTES], size_t *head_bytes, struct iovec *rest) {
  struct vv_node *node = self;
  struct vv_llc_station_frame frame;
  if (!vv_llc_station_next_frame(&node->station, now_ns, &frame)) return false;
  memcpy(head, frame.head, frame.head_bytes);
  *head_bytes = frame.head_bytes;
  *rest = (struct iovec){.iov_base = (void *)(uintptr_t)frame.data, .iov_len = frame.data_bytes};
  return true;
}

static vv_ns next_ns(const void *self) {
  const struct vv_node *node = self;
  return vv_llc_station_next_ns(&node->station);
}

static void tick(void *self, vv_ns now_ns) {
  struct vv_node *node = self;
  vv_llc_station_tick(&node->station, now_ns);
  tell_all(node, now_ns);
}

/* open, start, close --------------------------------------------------- */

/* Three quarters of the ring are promised to peers; the rest is for acknowledgements and repetitions. */
static size_t backlog_bytes(const struct vv_node_config *config) {
  size_t frame_bytes = config->jumbo ? VV_ENVELOPE_PDU_BYTES_MAX : VV_FRAME_DATA_BYTES_MAX;
  return config->links * WINDOW_MAX * frame_bytes / 3 * 4;
}

static uint8_t receive_window(const struct vv_node *node) {
  size_t share = node->packet.slots / 4 * 3 / node->config.links;
  return share < 1 ? 1 : share < WINDOW_MAX ? (uint8_t)share : WINDOW_MAX;
}

/* An interface that is not there has the number 0; the port then says so. */
int vv_node_open(struct vv_node *node, const struct vv_node_config *config, struct vv_error *error) {
  *node = (struct vv_node){.config = *config, .self.sap = config->sap};
  node->claim = vv_sap_claim((int)if_nametoindex(config->iface), &node->self.sap, error);
  if (node->claim < 0) return -1;
  struct vv_packet_config packet = {
      .iface = config->iface,
      .filter = {.to = VV_FILTER_TO_GROUP, .dsap = node->self.sap, .station = true, .jumbo = config->jumbo},
      .backlog_bytes = backlog_bytes(config),
      .hurried = config->turns};
  if (vv_packet_open(&node->packet, &packet, error) != 0) {
    close(node->claim);
    return -1;
  }
  memcpy(node->self.mac, node->packet.mac, VV_MAC_BYTES);
  return 0;
}

/* Where frames wait that find no room in a turn. */
static int make_hold(struct vv_node *node, struct vv_error *error) {
  node->hold = (struct vv_engine_hold){.bytes = node->hold.bytes,
                                       .unit_bytes = VV_LLC_LINK_HEAD_BYTES + node->packet.data_bytes_max};
  if (!node->hold.bytes) node->hold.bytes = malloc(VV_PORT_BATCH_MAX * node->hold.unit_bytes);
  if (!node->hold.bytes) return vv_error_set(error, "no-memory", "no memory for frames that wait");
  node->engine.hold = &node->hold;
  return 0;
}

int vv_node_start(struct vv_node *node, struct vv_llc_station_config config, struct vv_error *error) {
  static const struct vv_engine_core core = {.receive = receive, .next = next, .next_ns = next_ns, .tick = tick};
  uint8_t random[sizeof config.incarnation];
  if (vv_host_random(random, sizeof random, error) != 0) return -1;
  memcpy(&config.incarnation, random, sizeof random);
  config.self = node->self;
  config.links = node->config.links;
  config.receive_window = receive_window(node);
  if (config.pdu_bytes_max > node->packet.data_bytes_max) config.pdu_bytes_max = (uint32_t)node->packet.data_bytes_max;
  void *memory = malloc(vv_llc_station_bytes(&config));
  if (!memory) return vv_error_set(error, "no-memory", "no memory for an LLC station");
  free(node->memory);
  node->memory = memory;
  vv_llc_station_init(&node->station, memory, &config);
  vv_engine_init(&node->engine, vv_packet_port(&node->packet), &core, node);
  node->engine.spin = node->config.spin;
  node->engine.stop = node->config.stop;
  return node->config.turns ? make_hold(node, error) : 0;
}

enum vv_engine_ran vv_node_run(struct vv_node *node, bool (*done)(void *context), vv_ns deadline_ns,
                               struct vv_error *error) {
  tell_all(node, vv_node_now());
  return vv_engine_run(&node->engine, done, node->config.context, deadline_ns, error);
}

int vv_node_turn(struct vv_node *node, struct vv_error *error) {
  if (vv_llc_station_has_news(&node->station)) tell_all(node, vv_node_now());
  return vv_engine_turn(&node->engine, error);
}

void vv_node_close(struct vv_node *node) {
  vv_packet_close(&node->packet);
  close(node->claim);
  free(node->memory);
  free(node->hold.bytes);
}

const char *vv_node_why(enum vv_llc_close why) {
  static const char *const words[] = {
      [VV_LLC_CLOSE_ASKED] = "this end closed it",
      [VV_LLC_CLOSE_PEER] = "the other end closed it",
      [VV_LLC_CLOSE_REFUSED] = "the other end refused it",
      [VV_LLC_CLOSE_GONE] = "the other end knows nothing of it: it has ended, or another process has its SAP",
      [VV_LLC_CLOSE_SILENT] = "the other end did not answer",
      [VV_LLC_CLOSE_STUCK] =
          "the other end answers, but what was sent to it does not arrive: frames may be too long for the way",
      [VV_LLC_CLOSE_LOST] = "the network delayed frames so long that data were lost",
  };
  return words[why];
}
