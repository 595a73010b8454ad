/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLC type 2 by our own engine: connections straight over Ethernet, without
 * TCP/IP, between a SAP of one MAC and a SAP of another.
 *
 * The station lives in this process and works only while a call of this stack
 * waits. What is sent is copied, for it may have to be sent again after the
 * caller has taken its buffer back. A small message is then on its way, as with
 * any socket; of a large one, send waits until all of it has left. Whoever then
 * waits for something else than a message calls drain. What comes while nobody
 * receives waits in an inbox as large as the credit that the other end was given;
 * when that is used up it is told to wait (RNR).
 *
 * The contact is MAC/SAP/MTU. Frames are as long as the smaller of the two MTUs
 * allows, 1500 bytes of data at most; jumbo frames (llc-jumbo) know no such limit,
 * and both interfaces must have a larger MTU.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/siphash.h"
#include "io/engine/node.h"
#include "io/port/sap.h"
#include "stack/stack.h"

enum {
  COPIES = 32,          /* small messages on their way */
  COPY_BYTES = 1 << 14, /* what is small */
  LARGE = COPIES,       /* the handle of a large message */
  INBOX = 256,          /* frames that may come unasked: more than a window */
};

/* Bytes of a message that came before anybody asked for them. */
struct chunk {
  uint32_t offset_bytes;
  uint32_t message_bytes;
  uint32_t count;
};

struct vv_end {
  struct vv_node node;
  struct vv_stack_config config;
  struct vv_llc_address peer;
  bool jumbo;
  size_t mtu_bytes; /* of both ends */
  uint32_t link;    /* VV_LLC_NO_LINK: none yet, or no more */
  bool up;          /* connected */
  bool closed;      /* was, and is no more */
  enum vv_llc_close why;

  uint32_t taken;     /* copies that are on their way, one bit each */
  uint8_t *large;     /* of the largest message, when there is a large one */
  bool large_waits;   /* it is on its way */
  bool large_goes_on; /* and the send that began it was stopped: the same call will go on waiting */

  uint8_t *into;        /* where the message that is received goes; NULL: nobody receives */
  const uint8_t *begun; /* where a stopped recv has begun to put one */
  size_t wanted_bytes, got_bytes;
  bool whole, misfit;
  uint32_t inbox_first, inbox_count;
  uint8_t *inbox_bytes; /* of the data of a frame for each chunk */
  uint32_t owed_credit;

  bool marking;
  struct vv_marks marks;          /* those of both: what was told last */
  struct vv_marks sent, received; /* what the engine notes in a send and in a recv */

  uint8_t copies[COPIES][COPY_BYTES];
  struct chunk inbox[INBOX];
};

/* what the station tells ------------------------------------------------ */

/* Given back in portions, and at once when it could run out. */
static void give_credit(struct vv_end *end, uint32_t pdus) {
  enum { PORTION = INBOX / 4 };
  end->owed_credit += pdus;
  if (end->owed_credit < PORTION || !end->up) return;
  vv_llc_station_credit(&end->node.station, vv_node_now(), end->link, end->owed_credit);
  end->owed_credit = 0;
}

static uint8_t *bytes_of(const struct vv_end *end, const struct chunk *chunk) {
  return end->inbox_bytes + (size_t)(chunk - end->inbox) * end->node.packet.data_bytes_max;
}

/* One piece of the message that is received. */
static void place(struct vv_end *end, uint32_t offset_bytes, uint32_t message_bytes, const uint8_t *bytes,
                  uint32_t count) {
  give_credit(end, 1);
  if (message_bytes != end->wanted_bytes) {
    end->misfit = true;
    return;
  }
  if (count > 0) memcpy(end->into + offset_bytes, bytes, count);
  end->got_bytes += count;
  end->whole = end->got_bytes == end->wanted_bytes;
}

static void take_data(struct vv_end *end, const struct vv_llc_station_event *event) {
  uint32_t count = (uint32_t)event->data_bytes;
  if (end->into && !end->whole && end->inbox_count == 0) {
    place(end, event->offset_bytes, event->message_bytes, event->data, count);
    return;
  }
  assert(end->inbox_count < INBOX);
  struct chunk *chunk = &end->inbox[(end->inbox_first + end->inbox_count++) % INBOX];
  chunk->offset_bytes = event->offset_bytes;
  chunk->message_bytes = event->message_bytes;
  chunk->count = count;
  if (count > 0) memcpy(bytes_of(end, chunk), event->data, count);
}

static void empty_inbox(struct vv_end *end) {
  while (end->inbox_count > 0 && !end->whole && !end->misfit) {
    const struct chunk *chunk = &end->inbox[end->inbox_first];
    place(end, chunk->offset_bytes, chunk->message_bytes, bytes_of(end, chunk), chunk->count);
    end->inbox_first = (end->inbox_first + 1) % INBOX;
    end->inbox_count--;
  }
}

static void take_sent(struct vv_end *end, uint64_t handle) {
  if (handle == LARGE)
    end->large_waits = false;
  else
    end->taken &= ~(UINT32_C(1) << handle);
}

/* Whoever asks is let in when it is the near end that was announced. */
static void judge_asker(struct vv_end *end, const struct vv_llc_station_event *event) {
  struct vv_llc_station *station = &end->node.station;
  if (!end->up && vv_llc_address_compare(&event->peer, &end->peer) == 0) {
    end->link = event->link;
    vv_llc_station_accept(station, vv_node_now(), event->link);
  } else {
    vv_llc_station_disconnect(station, vv_node_now(), event->link);
  }
}

static void tell(void *context, const struct vv_llc_station_event *event) {
  struct vv_end *end = context;
  switch (event->what) {
  case VV_LLC_STATION_ASKED:
    judge_asker(end, event);
    break;
  case VV_LLC_STATION_CONNECTED:
    end->up = end->up || event->link == end->link;
    break;
  case VV_LLC_STATION_DATA:
    take_data(end, event);
    break;
  case VV_LLC_STATION_SENT:
    take_sent(end, event->handle);
    break;
  case VV_LLC_STATION_CLOSED:
    if (event->link != end->link) break;
    end->closed = true;
    end->up = false;
    end->why = event->why;
    break;
  default:
    break;
  }
}

/* what is waited for ----------------------------------------------------- */

static bool has_settled(void *context) {
  const struct vv_end *end = context;
  return end->up || end->closed;
}

static bool has_copy(void *context) {
  const struct vv_end *end = context;
  return end->taken != UINT32_MAX || end->closed;
}

static bool has_sent_large(void *context) {
  const struct vv_end *end = context;
  return !end->large_waits || end->closed;
}

static bool has_arrived(void *context) {
  const struct vv_end *end = context;
  return (end->taken == 0 && !end->large_waits) || end->closed;
}

static bool has_left(void *context) {
  const struct vv_end *end = context;
  return end->closed || vv_llc_station_has_left(&end->node.station, end->link);
}

static bool has_message(void *context) {
  const struct vv_end *end = context;
  return end->whole || end->misfit || end->closed;
}

/* open and connect ------------------------------------------------------- */

static void write_contact(const struct vv_end *end, char contact[VV_STACK_CONTACT_MAX]) {
  const uint8_t *mac = end->node.self.mac;
  snprintf(contact, VV_STACK_CONTACT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x/%02x/%zu", mac[0], mac[1], mac[2], mac[3],
           mac[4], mac[5], end->node.self.sap, end->node.packet.mtu_bytes);
}

static int open_node(struct vv_end *end, struct vv_error *error) {
  char iface[VV_IFACE_NAME_MAX];
  if (vv_stack_iface(&end->config, iface, error) != 0) return -1;
  struct vv_node_config config = {.iface = iface,
                                  .sap = end->config.sap,
                                  .links = 1,
                                  .jumbo = end->jumbo,
                                  .spin = end->config.wait == VV_WAIT_SPIN,
                                  .stop = end->config.stop,
                                  .tell = tell,
                                  .context = end};
  return vv_node_open(&end->node, &config, error);
}

static int make_room(struct vv_end *end, struct vv_error *error) {
  bool large = end->config.size_bytes_max > COPY_BYTES;
  if (large) end->large = malloc(end->config.size_bytes_max);
  end->inbox_bytes = malloc(INBOX * end->node.packet.data_bytes_max);
  if (end->inbox_bytes && (end->large || !large)) return 0;
  return vv_error_set(error, "no-memory", "no memory for the messages of an llc end");
}

static void give_up(struct vv_end *end) {
  free(end->inbox_bytes);
  free(end->large);
  free(end);
}

static struct vv_end *open_end(const struct vv_stack_config *config, bool jumbo, char contact[VV_STACK_CONTACT_MAX],
                               struct vv_error *error) {
  struct vv_end *end = calloc(1, sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for an llc end");
    return NULL;
  }
  end->config = *config;
  end->jumbo = jumbo;
  end->link = VV_LLC_NO_LINK;
  bool opened = open_node(end, error) == 0;
  if (opened && make_room(end, error) == 0) {
    write_contact(end, contact);
    return end;
  }
  if (opened) vv_node_close(&end->node);
  give_up(end);
  return NULL;
}

static struct vv_end *llc_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                               struct vv_error *error) {
  return open_end(config, false, contact, error);
}

static struct vv_end *llc_jumbo_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                     struct vv_error *error) {
  return open_end(config, true, contact, error);
}

static int set_peer(struct vv_end *end, const char *contact, struct vv_error *error) {
  unsigned mac[VV_MAC_BYTES], sap;
  size_t mtu_bytes;
  int rest = 0;
  int got = sscanf(contact, "%2x:%2x:%2x:%2x:%2x:%2x/%2x/%5zu%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4], &mac[5],
                   &sap, &mtu_bytes, &rest);
  if (got != 8 || contact[rest] != '\0' || mtu_bytes < VV_LLC_STATION_PDU_BYTES_MIN) {
    return vv_error_set(error, "bad-contact", "llc: '%s' is no contact of an llc end", contact);
  }
  for (size_t i = 0; i < VV_MAC_BYTES; i++) end->peer.mac[i] = (uint8_t)mac[i];
  end->peer.sap = (uint8_t)sap;
  end->mtu_bytes = mtu_bytes;
  return vv_stack_check_macs(end->node.self.mac, end->peer.mac, error);
}

/* A new peer: nothing of an earlier one is left. */
static int start(struct vv_end *end, enum vv_llc_listen listen, struct vv_error *error) {
  static const uint8_t purpose[] = "llc job";
  struct vv_llc_station_config config;
  end->link = VV_LLC_NO_LINK;
  end->up = end->closed = end->large_waits = end->large_goes_on = end->whole = end->misfit = false;
  end->into = NULL;
  end->begun = NULL;
  end->taken = end->inbox_count = end->owed_credit = 0;
  vv_llc_station_defaults(&config);
  config.nonce = (uint32_t)vv_siphash(end->config.key, purpose, sizeof purpose - 1);
  config.listen = listen;
  config.tries = UINT32_MAX; /* the deadline of the caller decides */
  config.messages = COPIES + 1;
  config.credit = INBOX;
  config.pdu_bytes_max = (uint32_t)end->mtu_bytes;
  return vv_node_start(&end->node, config, error);
}

/* Until the link is up. The errors of accept and connect in stack/stack.h. */
static int settle(struct vv_end *end, const char *contact, vv_ns deadline_ns, struct vv_error *error) {
  for (;;) {
    switch (vv_node_run(&end->node, has_settled, deadline_ns, error)) {
    case VV_ENGINE_RAN_DONE:
      if (end->up) return 0;
      return vv_error_set(error, "refused", "llc: no connection with %s: %s", contact, vv_node_why(end->why));
    case VV_ENGINE_RAN_LATE:
      vv_error_set(error, "timeout", "llc: no LLC frame came back from %s", contact);
      return vv_error_remedy(error, "both interfaces must lie on one Ethernet (--iface); clouds, Wi-Fi and routers "
                                    "drop frames that are not IP");
    case VV_ENGINE_RAN_ERROR:
      return -1;
    case VV_ENGINE_RAN_STOPPED:
      if (vv_watch_launcher_gone()) return vv_error_set(error, "launcher-gone", "the launcher has gone");
      break;
    }
  }
}

static int llc_accept(struct vv_end *end, const char *near_contact, vv_ns deadline_ns, struct vv_error *error) {
  if (set_peer(end, near_contact, error) != 0 || start(end, VV_LLC_LISTEN_ASK, error) != 0) return -1;
  return settle(end, near_contact, deadline_ns, error);
}

static int llc_connect(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error) {
  if (set_peer(end, far_contact, error) != 0 || start(end, VV_LLC_LISTEN_REFUSE, error) != 0) return -1;
  end->link = vv_llc_station_connect(&end->node.station, vv_node_now(), &end->peer);
  return settle(end, far_contact, deadline_ns, error);
}

/* messages --------------------------------------------------------------- */

/* What an end of the link means: the other end's doing, of which it may tell, or the network's, of which only we know.
 */
static enum vv_got ended(const struct vv_end *end, struct vv_error *error) {
  if (end->why != VV_LLC_CLOSE_STUCK && end->why != VV_LLC_CLOSE_LOST) return VV_GOT_CLOSED;
  vv_error_set(error, "link-broken", "llc: the connection is no more: %s", vv_node_why(end->why));
  return VV_GOT_ERROR;
}

/* Runs until done, and says what that means for a message. */
static enum vv_got wait_for(struct vv_end *end, bool (*done)(void *context), struct vv_error *error) {
  switch (vv_node_run(&end->node, done, VV_NEVER, error)) {
  case VV_ENGINE_RAN_STOPPED:
    return VV_GOT_STOPPED;
  case VV_ENGINE_RAN_DONE:
    return end->closed ? ended(end, error) : VV_GOT_MESSAGE;
  default:
    return VV_GOT_ERROR;
  }
}

static enum vv_got refuse(struct vv_end *end, struct vv_error *error) {
  if (end->closed) return ended(end, error);
  vv_error_set(error, "socket", "llc: the station does not take another message");
  return VV_GOT_ERROR;
}

static enum vv_got send_copy(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  enum vv_got got = has_copy(end) ? VV_GOT_MESSAGE : wait_for(end, has_copy, error);
  if (got != VV_GOT_MESSAGE) return got;
  unsigned slot = (unsigned)__builtin_ctz(~end->taken);
  memcpy(end->copies[slot], message, size_bytes);
  vv_ns now_ns = vv_node_now();
  if (!vv_llc_station_send(&end->node.station, now_ns, end->link, end->copies[slot], (uint32_t)size_bytes, slot)) {
    return refuse(end, error);
  }
  vv_mark(end->node.engine.marks, VV_MARK_QUEUED);
  end->taken |= UINT32_C(1) << slot;
  return vv_node_flush(&end->node, now_ns, error) == 0 ? VV_GOT_MESSAGE : VV_GOT_ERROR;
}

/* There may still be one on its way that nobody waits for any more. */
static enum vv_got begin_large(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  enum vv_got got = has_sent_large(end) ? VV_GOT_MESSAGE : wait_for(end, has_sent_large, error);
  if (got != VV_GOT_MESSAGE) return got;
  memcpy(end->large, message, size_bytes);
  if (!vv_llc_station_send(&end->node.station, vv_node_now(), end->link, end->large, (uint32_t)size_bytes, LARGE)) {
    return refuse(end, error);
  }
  vv_mark(end->node.engine.marks, VV_MARK_QUEUED);
  end->large_waits = end->large_goes_on = true;
  return VV_GOT_MESSAGE;
}

static enum vv_got send_large(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  enum vv_got got = end->large_goes_on ? VV_GOT_MESSAGE : begin_large(end, message, size_bytes, error);
  if (got == VV_GOT_MESSAGE) got = wait_for(end, has_left, error);
  if (got != VV_GOT_STOPPED) end->large_goes_on = false;
  return got;
}

static void note(struct vv_end *end, const struct vv_marks *from, unsigned first, unsigned last) {
  for (unsigned mark = first; mark <= last && end->marking; mark++) end->marks.at_ns[mark] = from->at_ns[mark];
}

/* While an enquiry is unanswered nothing is made here, but in the next recv: then that mark is missing. */
static enum vv_got llc_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  end->sent = (struct vv_marks){0};
  end->node.engine.marks = end->marking ? &end->sent : NULL;
  vv_mark(end->node.engine.marks, VV_MARK_GIVEN);
  enum vv_got got = (size_bytes <= COPY_BYTES ? send_copy : send_large)(end, message, size_bytes, error);
  note(end, &end->sent, VV_MARK_GIVEN, VV_MARK_MADE);
  return got;
}

static enum vv_got llc_drain(struct vv_end *end, struct vv_error *error) {
  end->large_goes_on = false; /* a send that was stopped is not made again */
  return wait_for(end, has_arrived, error);
}

static enum vv_got receive(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  if (end->begun != message) end->got_bytes = 0;
  end->begun = end->into = message;
  end->large_goes_on = false;
  end->wanted_bytes = size_bytes;
  end->whole = false;
  empty_inbox(end);
  enum vv_got got = has_message(end) ? VV_GOT_MESSAGE : wait_for(end, has_message, error);
  end->into = NULL;
  if (got == VV_GOT_STOPPED || got == VV_GOT_ERROR) return got;
  end->begun = NULL;
  if (end->whole) return VV_GOT_MESSAGE;
  if (end->closed) return ended(end, error);
  vv_error_set(error, "bad-message", "llc: a message of another size came than the %zu bytes asked for", size_bytes);
  return VV_GOT_ERROR;
}

static enum vv_got llc_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  end->node.engine.marks = end->marking ? &end->received : NULL;
  enum vv_got got = receive(end, message, size_bytes, error);
  vv_mark(end->node.engine.marks, VV_MARK_GOT);
  note(end, &end->received, VV_MARK_DEVICE, VV_MARK_GOT);
  return got;
}

static const struct vv_marks *llc_mark(struct vv_end *end, bool on) {
  end->marking = on && vv_packet_stamp(&end->node.packet) == 0;
  return &end->marks;
}

static struct vv_limits llc_limits(const struct vv_end *end) {
  struct vv_limits limits = {.sequence = VV_LPDU_MODULUS, .services = VV_SAPS, .free = vv_sap_count()};
  if (end->up) limits.window = end->node.station.links[end->link].window.limit;
  limits.unit_bytes = end->node.station.config.pdu_bytes_max - VV_LPDU_HEADER_BYTES_MAX - VV_SEGMENT_BYTES;
  return limits;
}

static void llc_close(struct vv_end *end) {
  if (!end) return;
  struct vv_error ignored;
  if (end->up) {
    vv_llc_station_disconnect(&end->node.station, vv_node_now(), end->link);
    vv_node_flush(&end->node, vv_node_now(), &ignored);
  }
  vv_node_close(&end->node);
  give_up(end);
}

/* What both tables have in common. */
#define LLC                                                                                                            \
  .needs = "CAP_NET_RAW", .size_bytes_min = 0, .size_bytes_max = (size_t)64 << 20, .user_accepts = true,               \
  .accept = llc_accept, .connect = llc_connect, .send = llc_send, .drain = llc_drain, .recv = llc_recv,                \
  .close = llc_close, .mark = llc_mark, .limits = llc_limits

const struct vv_stack vv_stack_llc = {.id = "llc",
                                      .summary =
                                          "LLC type 2: connections over Ethernet without TCP/IP, by our own engine",
                                      .path = VV_PATH_LLC_I,
                                      .open = llc_open,
                                      LLC};

const struct vv_stack vv_stack_llc_jumbo = {.id = "llc-jumbo",
                                            .summary =
                                                "the same in jumbo frames, where both ends have an MTU above 1500",
                                            .path = VV_PATH_LLC_JUMBO,
                                            .open = llc_jumbo_open,
                                            LLC};
