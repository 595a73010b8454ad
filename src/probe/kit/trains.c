/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/trains.h"

#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/wire/fragment.h"
#include "io/os/clock.h"
#include "io/os/iface.h"

#define BATCH              64
#define DATAGRAM_BYTES_MAX 65507
#define TRAIN_BYTES_MAX    (256u << 20)
#define ROOM_BYTES         (4 << 20) /* a train, while the receiver sleeps */
#define FRAME_HEADERS      (VV_FRAME_HEADER_BYTES + VV_LPDU_HEADER_BYTES)

size_t vv_trains_size_min(bool frames) {
  return frames ? 0 : VV_FRAGMENT_HEADER_BYTES;
}

size_t vv_trains_size_max(bool frames, size_t mtu_bytes) {
  return frames ? vv_fragment_unit(mtu_bytes) : DATAGRAM_BYTES_MAX;
}

static int open_packet(struct vv_packet *packet, const struct vv_trains_config *config, size_t backlog_bytes,
                       struct vv_error *error) {
  char host[VV_ADDRESS_TEXT_MAX], iface[VV_IFACE_NAME_MAX];
  vv_address_format_host(&config->own, host);
  if (!config->iface && vv_iface_of(host, iface, error) != 0) return -1;
  struct vv_fragment lead = {.launch = config->launch, .end = config->end, .count = 1};
  uint8_t header[VV_FRAGMENT_HEADER_BYTES];
  struct vv_packet_config packet_config = {
      .iface = config->iface ? config->iface : iface,
      .filter = {.to = config->broadcast ? VV_FILTER_TO_ALL : VV_FILTER_TO_US, .dsap = VV_LPDU_SAP, .lead = header},
      .stamps = true,
      .backlog_bytes = backlog_bytes};
  vv_fragment_emit(&lead, header);
  return vv_packet_open(packet, &packet_config, error);
}

/* sender -------------------------------------------------------------- */

static int dial_frames(struct vv_trains_sender *sender, const char *to, struct vv_error *error) {
  unsigned mac[VV_MAC_BYTES];
  if (sscanf(to, "%2x:%2x:%2x:%2x:%2x:%2x", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4], &mac[5]) != VV_MAC_BYTES) {
    return vv_error_set(error, "bad-contact", "oneway: '%.40s' is no MAC", to);
  }
  if (open_packet(&sender->packet, &sender->config, 0, error) != 0) return -1;
  sender->fd = -1;
  struct vv_frame frame = {.data_bytes = VV_FRAGMENT_OVERHEAD_BYTES + sender->config.size_bytes};
  struct vv_lpdu_ui ui = {.dsap = VV_LPDU_SAP, .ssap = VV_LPDU_SAP};
  for (size_t i = 0; i < VV_MAC_BYTES; i++) {
    frame.destination[i] = sender->config.broadcast ? 0xff : (uint8_t)mac[i];
    frame.source[i] = sender->packet.mac[i];
  }
  for (uint32_t i = 0; i < sender->config.train; i++) {
    vv_frame_emit(&frame, sender->bytes + i * sender->stride);
    vv_lpdu_ui_emit(&ui, sender->bytes + i * sender->stride + VV_FRAME_HEADER_BYTES);
  }
  return 0;
}

static int dial_datagrams(struct vv_trains_sender *sender, const char *to, struct vv_error *error) {
  const struct vv_trains_config *config = &sender->config;
  struct vv_address own = config->own, far;
  int on = 1, size_bytes = (int)config->size_bytes;
  if (vv_address_parse_pair(to, &far, error) != 0) return -1;
  if (config->broadcast) {
    uint16_t port = vv_address_port(&far);
    far = own;
    if (vv_address_broadcast(&far, error) != 0) return -1;
    vv_address_set_port(&far, port);
  }
  sender->fd = vv_socket_bound(SOCK_DGRAM, &own, 0, 0, error);
  if (sender->fd < 0) return -1;
  if (setsockopt(sender->fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) == 0 &&
      connect(sender->fd, &far.any, far.length) == 0 &&
      (!config->segment || setsockopt(sender->fd, SOL_UDP, UDP_SEGMENT, &size_bytes, sizeof size_bytes) == 0)) {
    return 0;
  }
  vv_error_errno(error, "socket", "oneway: cannot set up a socket to %s", to);
  close(sender->fd);
  return -1;
}

int vv_trains_dial(struct vv_trains_sender *sender, const struct vv_trains_config *config, const char *to,
                   struct vv_error *error) {
  size_t headers = config->frames ? FRAME_HEADERS + VV_FRAGMENT_HEADER_BYTES : 0;
  *sender = (struct vv_trains_sender){.config = *config, .header_at = config->frames ? FRAME_HEADERS : 0};
  sender->stride = headers + config->size_bytes;
  if (sender->stride * config->train > TRAIN_BYTES_MAX) {
    return vv_error_set(error, "no-memory", "oneway: a train of %u messages of %zu bytes is too long", config->train,
                        config->size_bytes);
  }
  sender->bytes = calloc(config->train, sender->stride);
  if (!sender->bytes) return vv_error_set(error, "no-memory", "no memory for a train");
  int result = config->frames ? dial_frames(sender, to, error) : dial_datagrams(sender, to, error);
  if (result != 0) free(sender->bytes);
  return result;
}

static void number_train(struct vv_trains_sender *sender, uint32_t number) {
  const struct vv_trains_config *config = &sender->config;
  struct vv_fragment fragment = {
      .launch = config->launch, .end = config->end, .message = number, .count = (uint16_t)config->train};
  for (uint32_t i = 0; i < config->train; i++) {
    fragment.index = (uint16_t)i;
    vv_fragment_emit(&fragment, sender->bytes + i * sender->stride + sender->header_at);
  }
}

/* Messages from `first` on, as many as one call takes; how many went, or -1 and errno. */
static int send_frames(struct vv_trains_sender *sender, uint32_t first) {
  struct iovec pieces[VV_PACKET_BATCH_MAX][2];
  uint32_t left = sender->config.train - first;
  size_t count = left < VV_PACKET_BATCH_MAX ? left : VV_PACKET_BATCH_MAX;
  for (size_t i = 0; i < count; i++) {
    pieces[i][0] = (struct iovec){sender->bytes + (first + i) * sender->stride, sender->stride};
    pieces[i][1] = (struct iovec){0};
  }
  return vv_packet_send(&sender->packet, pieces, count);
}

static int send_datagrams(struct vv_trains_sender *sender, uint32_t first) {
  struct mmsghdr batch[BATCH];
  struct iovec pieces[BATCH];
  uint32_t left = sender->config.train - first;
  unsigned count = left < BATCH ? left : BATCH;
  for (unsigned i = 0; i < count; i++) {
    pieces[i] = (struct iovec){sender->bytes + (first + i) * sender->stride, sender->stride};
    batch[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &pieces[i], .msg_iovlen = 1}};
  }
  return sendmmsg(sender->fd, batch, count, 0);
}

/* The kernel cuts at most 64 datagrams from what would fit one. */
static int send_segments(struct vv_trains_sender *sender, uint32_t first) {
  size_t left = sender->config.train - first, fit = DATAGRAM_BYTES_MAX / sender->stride;
  size_t count = left < BATCH ? left : BATCH;
  if (count > fit) count = fit;
  ssize_t sent = send(sender->fd, sender->bytes + first * sender->stride, count * sender->stride, 0);
  return sent < 0 ? -1 : (int)count;
}

int vv_trains_send(struct vv_trains_sender *sender, uint32_t number, vv_ns *sent_ns, struct vv_error *error) {
  const struct vv_trains_config *config = &sender->config;
  number_train(sender, number);
  *sent_ns = vv_clock_real_ns();
  for (uint32_t first = 0; first < config->train;) {
    int went = config->frames    ? send_frames(sender, first)
               : config->segment ? send_segments(sender, first)
                                 : send_datagrams(sender, first);
    if (went < 0 && errno != EINTR && errno != ENOBUFS) {
      return vv_error_errno(error, "socket", "oneway: cannot send");
    }
    if (went > 0) first += (uint32_t)went;
  }
  return 0;
}

void vv_trains_hang_up(struct vv_trains_sender *sender) {
  if (sender->config.frames)
    vv_packet_close(&sender->packet);
  else
    close(sender->fd);
  free(sender->bytes);
}

/* receiver ------------------------------------------------------------ */

/* Bound to the address that the datagrams go to, so that no others come in. */
static int listen_datagrams(struct vv_trains_receiver *receiver, uint16_t port, char contact[VV_TRAINS_CONTACT_MAX],
                            struct vv_error *error) {
  struct vv_address here = receiver->config.own;
  int room_bytes = ROOM_BYTES, on = 1;
  if (receiver->config.broadcast && vv_address_broadcast(&here, error) != 0) return -1;
  receiver->fd = vv_socket_bound(SOCK_DGRAM, &here, port, port, error);
  if (receiver->fd < 0) return -1;
  if (setsockopt(receiver->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room_bytes, sizeof room_bytes) != 0) {
    setsockopt(receiver->fd, SOL_SOCKET, SO_RCVBUF, &room_bytes, sizeof room_bytes);
  }
  if (setsockopt(receiver->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0) {
    vv_error_errno(error, "socket", "oneway: the kernel gives no time stamps");
    close(receiver->fd);
    return -1;
  }
  struct vv_address shown = receiver->config.own;
  vv_address_set_port(&shown, vv_address_port(&here));
  vv_address_format(&shown, contact);
  return 0;
}

static int listen_frames(struct vv_trains_receiver *receiver, char contact[VV_TRAINS_CONTACT_MAX],
                         struct vv_error *error) {
  receiver->fd = -1;
  if (open_packet(&receiver->packet, &receiver->config, ROOM_BYTES, error) != 0) return -1;
  const uint8_t *mac = receiver->packet.mac;
  snprintf(contact, VV_TRAINS_CONTACT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
           mac[5]);
  return 0;
}

int vv_trains_listen(struct vv_trains_receiver *receiver, const struct vv_trains_config *config, uint32_t trains,
                     uint16_t port, char contact[VV_TRAINS_CONTACT_MAX], struct vv_error *error) {
  *receiver = (struct vv_trains_receiver){.config = *config, .fd = -1, .trains = trains};
  receiver->arrivals = calloc(trains, sizeof *receiver->arrivals);
  if (!receiver->arrivals) return vv_error_set(error, "no-memory", "no memory for %u trains", trains);
  int result =
      config->frames ? listen_frames(receiver, contact, error) : listen_datagrams(receiver, port, contact, error);
  if (result != 0) free(receiver->arrivals);
  return result;
}

/* One message of size_bytes after its header fields; true when it is of ours. */
static bool note(struct vv_trains_receiver *receiver, const uint8_t *bytes, size_t count, vv_ns stamp_ns) {
  const struct vv_trains_config *config = &receiver->config;
  struct vv_fragment_view view;
  struct vv_fragment fragment;
  if (!vv_fragment_view(bytes, count, &view) || !vv_fragment_parse(view, &fragment)) return false;
  if (fragment.launch != config->launch || fragment.end != config->end || fragment.message >= receiver->trains ||
      fragment.count != config->train) {
    return false;
  }
  struct vv_trains_arrivals *arrivals = &receiver->arrivals[fragment.message];
  arrivals->count++;
  if (fragment.index == 0) arrivals->first_ns = stamp_ns;
  if (fragment.index + 1 == fragment.count) arrivals->last_ns = stamp_ns;
  return true;
}

static size_t collect_frames(struct vv_trains_receiver *receiver) {
  struct vv_packet_frame raw;
  size_t noted = 0;
  for (; vv_packet_peek(&receiver->packet, &raw); vv_packet_release(&receiver->packet)) {
    struct vv_frame_view frame_view;
    struct vv_frame frame;
    struct vv_lpdu_view llc_view;
    struct vv_lpdu_ui ui;
    if (!vv_frame_view(raw.bytes, raw.count, &frame_view)) continue;
    vv_frame_parse(frame_view, &frame);
    if (!vv_lpdu_view(frame.data, frame.data_bytes, &llc_view) || !vv_lpdu_ui_parse(llc_view, &ui)) continue;
    if (ui.data_bytes != VV_FRAGMENT_HEADER_BYTES + receiver->config.size_bytes) continue;
    noted += note(receiver, ui.data, ui.data_bytes, raw.stamp_ns);
  }
  return noted;
}

static int64_t stamp_of(struct msghdr *message) {
  struct timespec stamp = {0};
  for (struct cmsghdr *one = CMSG_FIRSTHDR(message); one; one = CMSG_NXTHDR(message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_TIMESTAMPNS) continue;
    memcpy(&stamp, CMSG_DATA(one), sizeof stamp);
  }
  return stamp.tv_sec * VV_SEC + stamp.tv_nsec;
}

/* Only the header is fetched; MSG_TRUNC tells how long the datagram was. */
static size_t collect_datagrams(struct vv_trains_receiver *receiver) {
  uint8_t headers[BATCH][VV_FRAGMENT_HEADER_BYTES];
  _Alignas(struct cmsghdr) char control[BATCH][CMSG_SPACE(sizeof(struct timespec))];
  struct iovec pieces[BATCH];
  struct mmsghdr batch[BATCH];
  size_t noted = 0;
  for (int got = BATCH; got == BATCH;) {
    for (size_t i = 0; i < BATCH; i++) {
      pieces[i] = (struct iovec){headers[i], sizeof headers[i]};
      batch[i] = (struct mmsghdr){
          .msg_hdr = {
              .msg_iov = &pieces[i], .msg_iovlen = 1, .msg_control = control[i], .msg_controllen = sizeof control[i]}};
    }
    got = recvmmsg(receiver->fd, batch, BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
    for (int i = 0; i < got; i++) {
      if (batch[i].msg_len != receiver->config.size_bytes) continue;
      noted += note(receiver, headers[i], sizeof headers[i], stamp_of(&batch[i].msg_hdr));
    }
  }
  return noted;
}

size_t vv_trains_collect(struct vv_trains_receiver *receiver) {
  return receiver->config.frames ? collect_frames(receiver) : collect_datagrams(receiver);
}

void vv_trains_close(struct vv_trains_receiver *receiver) {
  if (receiver->config.frames)
    vv_packet_close(&receiver->packet);
  else
    close(receiver->fd);
  free(receiver->arrivals);
}
