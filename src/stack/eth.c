/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw Ethernet: LLC type 1 UI frames with a length field between two MACs.
 *
 * A message goes in as many frames as it needs; nothing is acknowledged and
 * nothing repeated. Both ends cut at the smaller of their two MTUs. The contact
 * is MAC/end/MTU; `end` is drawn anew for every end, so that whatever was sent
 * to an earlier one goes nowhere.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/siphash.h"
#include "core/wire/bytes.h"
#include "core/wire/reassembly.h"
#include "io/os/host.h"
#include "io/os/watch.h"
#include "io/port/packet.h"
#include "stack/stack.h"

/* Message 0 is the greeting; it is empty. A few copies, for wires that lose frames. */
enum { GREETING = 0, GREETING_COPIES = 4, HEADER_BYTES = VV_FRAME_HEADER_BYTES + VV_FRAGMENT_OVERHEAD_BYTES };
static const vv_ns greeting_gap_ns = VV_MS;
static const vv_ns greeting_again_ns = 100 * VV_MS;
static const vv_ns full_queue_pause_ns = 50 * VV_US;

struct vv_end {
  struct vv_packet packet;
  struct vv_stack_config config;
  uint32_t launch;
  uint32_t own_end;
  uint32_t peer_end;
  uint8_t peer_mac[VV_MAC_BYTES];
  size_t unit_bytes;     /* of both ends */
  uint32_t message;      /* number of the last one sent */
  size_t fragments_sent; /* of the message that a stop broke off */
  struct vv_reassembly reassembly;
  uint8_t headers[VV_PACKET_BATCH_MAX][HEADER_BYTES];
};

static int open_packet(struct vv_end *end, struct vv_error *error) {
  char iface[VV_IFACE_NAME_MAX];
  if (vv_stack_iface(&end->config, iface, error) != 0) return -1;
  uint8_t lead[VV_FILTER_LEAD_BYTES];
  vv_put32(lead, end->launch);
  vv_put32(lead + 4, end->own_end);
  struct vv_packet_config config = {.iface = iface, .filter = {.dsap = VV_LPDU_SAP, .lead = lead}};
  config.backlog_bytes = 2 * end->config.size_bytes_max; /* a message, and one that came too late */
  return vv_packet_open(&end->packet, &config, error);
}

static void draw_identity(struct vv_end *end, const uint8_t random[4]) {
  static const uint8_t purpose[] = "eth launch";
  end->launch = (uint32_t)vv_siphash(end->config.key, purpose, sizeof purpose - 1);
  end->own_end = vv_get32(random);
}

static void write_contact(const struct vv_end *end, char contact[VV_STACK_CONTACT_MAX]) {
  const uint8_t *mac = end->packet.mac;
  snprintf(contact, VV_STACK_CONTACT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x/%08x/%zu", mac[0], mac[1], mac[2], mac[3],
           mac[4], mac[5], end->own_end, end->packet.mtu_bytes);
}

static struct vv_end *eth_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                               struct vv_error *error) {
  uint8_t random[4];
  if (vv_host_random(random, sizeof random, error) != 0) return NULL;
  struct vv_end *end = calloc(1, sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for an eth end");
    return NULL;
  }
  end->config = *config;
  draw_identity(end, random);
  if (open_packet(end, error) != 0) {
    free(end);
    return NULL;
  }
  write_contact(end, contact);
  return end;
}

static int bad_contact(struct vv_error *error, const char *contact) {
  return vv_error_set(error, "bad-contact", "eth: '%s' is no contact of an eth end", contact);
}

/* A new peer: the numbering of messages begins again, and the greeting counts as had. */
static int set_peer(struct vv_end *end, const char *contact, struct vv_error *error) {
  unsigned mac[VV_MAC_BYTES], peer_end;
  size_t mtu_bytes;
  int rest = 0;
  int got = sscanf(contact, "%2x:%2x:%2x:%2x:%2x:%2x/%8x/%5zu%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4], &mac[5],
                   &peer_end, &mtu_bytes, &rest);
  if (got != 8 || contact[rest] != '\0' || mtu_bytes < VV_FRAGMENT_MTU_MIN) return bad_contact(error, contact);
  for (size_t i = 0; i < VV_MAC_BYTES; i++) end->peer_mac[i] = (uint8_t)mac[i];
  end->peer_end = peer_end;
  end->unit_bytes = vv_fragment_unit(mtu_bytes < end->packet.mtu_bytes ? mtu_bytes : end->packet.mtu_bytes);
  end->message = GREETING;
  end->fragments_sent = 0;
  vv_reassembly_init(&end->reassembly);
  end->reassembly.any = true;
  end->reassembly.message = GREETING;
  return 0;
}

/* One frame in two pieces: the headers, written to `header`, and the fragment's data. */
static void make_frame(const struct vv_end *end, const struct vv_fragment *fragment, uint8_t header[HEADER_BYTES],
                       struct iovec pieces[2]) {
  struct vv_frame frame = {.data_bytes = VV_FRAGMENT_OVERHEAD_BYTES + fragment->data_bytes};
  memcpy(frame.destination, end->peer_mac, VV_MAC_BYTES);
  memcpy(frame.source, end->packet.mac, VV_MAC_BYTES);
  struct vv_lpdu_ui ui = {.dsap = VV_LPDU_SAP, .ssap = VV_LPDU_SAP};
  vv_frame_emit(&frame, header);
  vv_lpdu_ui_emit(&ui, header + VV_FRAME_HEADER_BYTES);
  vv_fragment_emit(fragment, header + VV_FRAME_HEADER_BYTES + VV_LPDU_HEADER_BYTES);
  pieces[0] = (struct iovec){.iov_base = header, .iov_len = HEADER_BYTES};
  pieces[1] = (struct iovec){.iov_base = (void *)(uintptr_t)fragment->data, .iov_len = fragment->data_bytes};
}

/* Takes the next frame out of the ring. 1: a fragment, whose data stay until the release; 0: a frame that is none of
 * ours; -1: no frame. */
static int next_fragment(struct vv_end *end, struct vv_fragment *fragment) {
  struct vv_packet_frame raw;
  if (!vv_packet_peek(&end->packet, &raw)) return -1;
  struct vv_frame_view frame_view;
  struct vv_frame frame;
  if (!vv_frame_view(raw.bytes, raw.count, &frame_view)) return 0;
  vv_frame_parse(frame_view, &frame);
  struct vv_lpdu_view llc_view;
  struct vv_lpdu_ui ui;
  struct vv_fragment_view view;
  return vv_lpdu_view(frame.data, frame.data_bytes, &llc_view) && vv_lpdu_ui_parse(llc_view, &ui) &&
         vv_fragment_view(ui.data, ui.data_bytes, &view) && vv_fragment_parse(view, fragment) &&
         memcmp(frame.source, end->peer_mac, VV_MAC_BYTES) == 0;
}

static int greet(struct vv_end *end, struct vv_error *error) {
  struct vv_fragment fragment = {.launch = end->launch, .end = end->peer_end, .message = GREETING, .count = 1};
  struct iovec frame[1][2];
  make_frame(end, &fragment, end->headers[0], frame[0]);
  for (int copy = 0; copy < GREETING_COPIES; copy++) {
    if (copy > 0 && vv_watch_sleep(vv_clock_ns() + greeting_gap_ns, error) != 0) return -1;
    if (vv_packet_send(&end->packet, frame, 1) < 0 && errno != EINTR && errno != ENOBUFS) {
      return vv_error_errno(error, "socket", "eth: cannot send a frame");
    }
  }
  return 0;
}

/* Waits for the peer's greeting. 0, or -1 and *error. */
static int await_greeting(struct vv_end *end, vv_ns deadline_ns, struct vv_error *error) {
  for (;;) {
    struct vv_fragment fragment;
    int got;
    while ((got = next_fragment(end, &fragment)) >= 0) {
      bool greeted = got == 1 && fragment.message == GREETING;
      vv_packet_release(&end->packet);
      if (greeted) return 0;
    }
    if (vv_watch_wait(&end->packet.fd, 1, deadline_ns, error) < 0) return -1;
  }
}

static int explain_silence(struct vv_error *error, const char *contact) {
  if (error->kind != VV_CODE_TIMEOUT) return -1;
  vv_error_set(error, "timeout", "eth: no LLC frame came back from %s", contact);
  return vv_error_remedy(error, "both interfaces must lie on one Ethernet (--iface); clouds, Wi-Fi and routers drop "
                                "frames that are not IP");
}

static int eth_accept(struct vv_end *end, const char *near_contact, vv_ns deadline_ns, struct vv_error *error) {
  if (set_peer(end, near_contact, error) != 0) return -1;
  if (await_greeting(end, deadline_ns, error) != 0) return explain_silence(error, near_contact);
  return greet(end, error);
}

static int eth_connect(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error) {
  if (set_peer(end, far_contact, error) != 0) return -1;
  for (;;) {
    vv_ns again_ns = vv_clock_ns() + greeting_again_ns;
    if (again_ns > deadline_ns) again_ns = deadline_ns;
    if (greet(end, error) != 0) return -1;
    if (await_greeting(end, again_ns, error) == 0) return 0;
    if (error->kind != VV_CODE_TIMEOUT || again_ns == deadline_ns) return explain_silence(error, far_contact);
  }
}

/* What a failed call means. VV_GOT_MESSAGE: nothing, try again. */
static enum vv_got judge(struct vv_end *end, const char *what, struct vv_error *error) {
  if (errno == EINTR) return end->config.stop.ask(end->config.stop.context) ? VV_GOT_STOPPED : VV_GOT_MESSAGE;
  if (errno == ENOBUFS) {
    /* The interface has no room for another frame: let it send some. */
    struct timespec pause = {.tv_nsec = full_queue_pause_ns};
    nanosleep(&pause, NULL);
    bool stopped = vv_watch_rang() && end->config.stop.ask(end->config.stop.context);
    return stopped ? VV_GOT_STOPPED : VV_GOT_MESSAGE;
  }
  vv_error_errno(error, "socket", "eth: cannot %s", what);
  return VV_GOT_ERROR;
}

/* The frames of the message from `first` on, at most a batch. Returns how many. */
static size_t make_batch(struct vv_end *end, const uint8_t *message, size_t size_bytes, size_t first,
                         struct iovec frames[VV_PACKET_BATCH_MAX][2]) {
  size_t count = vv_fragment_count(size_bytes, end->unit_bytes);
  size_t batch = count - first < VV_PACKET_BATCH_MAX ? count - first : VV_PACKET_BATCH_MAX;
  for (size_t i = 0; i < batch; i++) {
    size_t before = (first + i) * end->unit_bytes;
    struct vv_fragment fragment = {
        .launch = end->launch,
        .end = end->peer_end,
        .message = end->message,
        .index = (uint16_t)(first + i),
        .count = (uint16_t)count,
        .data = message + before,
        .data_bytes = first + i + 1 < count ? end->unit_bytes : size_bytes - before,
    };
    make_frame(end, &fragment, end->headers[i], frames[i]);
  }
  return batch;
}

static enum vv_got eth_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  struct iovec frames[VV_PACKET_BATCH_MAX][2];
  size_t count = vv_fragment_count(size_bytes, end->unit_bytes);
  if (end->fragments_sent == 0) end->message++;
  while (end->fragments_sent < count) {
    size_t batch = make_batch(end, message, size_bytes, end->fragments_sent, frames);
    int went = vv_packet_send(&end->packet, frames, batch);
    if (went > 0) end->fragments_sent += (size_t)went;
    enum vv_got got = went > 0 ? VV_GOT_MESSAGE : judge(end, "send a frame", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  end->fragments_sent = 0;
  return VV_GOT_MESSAGE;
}

/* Takes what has come. True when the message is whole. */
static bool drain(struct vv_end *end) {
  struct vv_fragment fragment;
  for (int got; (got = next_fragment(end, &fragment)) >= 0;) {
    bool whole = got == 1 && vv_reassembly_take(&end->reassembly, &fragment);
    vv_packet_release(&end->packet);
    if (whole) return true;
  }
  return false;
}

static enum vv_got eth_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  vv_reassembly_expect(&end->reassembly, message, size_bytes, end->unit_bytes);
  while (!drain(end)) {
    if (end->config.wait == VV_WAIT_SPIN) {
      if (vv_watch_rang() && end->config.stop.ask(end->config.stop.context)) return VV_GOT_STOPPED;
      continue;
    }
    enum vv_got got =
        vv_packet_wait(&end->packet, VV_NEVER) == 0 ? VV_GOT_MESSAGE : judge(end, "wait for a frame", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  return VV_GOT_MESSAGE;
}

static void eth_close(struct vv_end *end) {
  if (!end) return;
  vv_packet_close(&end->packet);
  free(end);
}

const struct vv_stack vv_stack_eth = {
    .id = "eth",
    .summary = "raw Ethernet: LLC type 1 UI frames, reassembled above the MTU",
    .needs = "CAP_NET_RAW",
    .size_bytes_min = 0,
    .size_bytes_max = VV_FRAGMENTED_BYTES_MAX,
    .datagram = true,
    .path = VV_PATH_LLC_UI,
    .open = eth_open,
    .accept = eth_accept,
    .connect = eth_connect,
    .send = eth_send,
    .recv = eth_recv,
    .close = eth_close,
};
