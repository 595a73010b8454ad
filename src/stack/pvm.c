/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PVM: two routes times four encodings, all with the real library and daemons.
 *
 * Route: `default` is task, daemon, daemon, task, with UDP between the daemons;
 * `direct` is one TCP connection between the tasks, made when the ends are
 * joined. Encoding: `xdr` packs doubles into a common format (PvmDataDefault),
 * `raw` copies them (PvmDataRaw), `inplace` sends them from where they lie
 * (PvmDataInPlace), `trans` does too, behind a descriptor by which the receiver
 * turns doubles if its representation differs (vaiven/data.h). PVM itself
 * refuses raw and inplace between unlike hosts, if it comes to it: some tasks
 * would wait for ever, so ends that are unlike are told when they are joined.
 * trans then travels as bytes in XDR, which are opaque there.
 *
 * A message for all (pvm_mcast, and pvm_bcast to a group) has a route and an
 * encoding, too, one for all who get it.
 *
 * Both ends enrol with the daemon of their host, whose place PVM_TMP tells.
 *
 * Steps: encode is packing, decode unpacking without what trans turns, which is
 * translate. What PVM holds of a message is what the heap shrinks by when its
 * buffer is given back: fragments of what was packed, or of what came. A
 * translation is seen: the first number lies otherwise there than at the caller's.
 */
#include <inttypes.h>
#include <malloc.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "io/os/watch.h"
#include "stack/registry.h"
#include "stack/stack.h"
#include "vaiven/data.h"

#define TICK_US      5000 /* a wait is broken so often, to look round */
#define TAG_JOIN     1    /* of the empty message that opens a route */
#define TAG_ALL      2    /* of a message for all; above it each end has one of its own */
#define GROUP        "vaiven"
#define ENDS_MAX     64
#define HEADER_BYTES 48 /* before a message, at least: a fragment's header 16 and a message's 32 */
#define PIECE_BYTES  16 /* before another fragment */
#define PACKET_BYTES 42 /* and before that, between daemons, of which each takes a datagram of its own */
#define WAY_MAX      160
#define NUMBER_BYTES sizeof(double)
#define TRANS_LAYOUT (&numbers)
#define DESCRIPTOR   (VV_DATA_HEADER_BYTES + VV_DATA_FIELD_BYTES)
#define TRANS_BYTES  (HEADER_BYTES + PIECE_BYTES + DESCRIPTOR) /* the descriptor is a fragment */

enum encoding { XDR, RAW, INPLACE, TRANS };

static const struct vv_data_field number = {VV_DATA_DOUBLE, 1, 0};
static const struct vv_data_layout numbers = {NUMBER_BYTES, 1, &number};

struct vv_end {
  struct vv_watch_stop stop;
  enum encoding encoding;
  int style; /* PvmData* */
  int own_tag;
  int peer;
  int peer_tag;
  uint8_t descriptor[VV_DATA_DESCRIPTOR_BYTES_MAX]; /* must stay where it is until a message in place is sent */
  bool counts;                                      /* its steps were asked for */
  vv_ns step_began_ns;
  struct vv_steps steps;
};

static char way[WAY_MAX];
static int tags;
static int receivers[ENDS_MAX]; /* near: the tasks of all far ends that were joined */
static int receiver_count;
static bool any_unlike; /* of those */

static int failed(int code, const char *what, struct vv_error *error) {
  if (code == PvmBadMsg) {
    vv_error_set(error, "pvm-refused", "PVM refuses data without encoding between hosts of unlike representations");
    return vv_error_remedy(error, "xdr or trans between such hosts");
  }
  return vv_error_set(error, "pvm", "PVM cannot %s: error %d", what, code);
}

/* joining ------------------------------------------------------------- */

static struct vv_end *open_end(const struct vv_stack_config *config, bool direct, enum encoding encoding,
                               char contact[VV_STACK_CONTACT_MAX], struct vv_error *error) {
  pvm_setopt(PvmAutoErr, 0);
  int tid = pvm_mytid();
  if (tid < 0) {
    vv_error_set(error, "no-pvmd", "this host has no PVM daemon (looked for in PVM_TMP=%.80s)",
                 getenv("PVM_TMP") ? getenv("PVM_TMP") : "/tmp");
    vv_error_remedy(error, "start one there: pvmd; see its log pvml.* in that directory");
    return NULL;
  }
  struct vv_end *end = malloc(sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for an end of PVM");
    return NULL;
  }
  static const int styles[] = {PvmDataDefault, PvmDataRaw, PvmDataInPlace, PvmDataInPlace};
  pvm_setopt(PvmRoute, direct ? PvmRouteDirect : PvmDontRoute);
  *end = (struct vv_end){.stop = config->stop,
                         .encoding = encoding,
                         .style = styles[encoding],
                         .own_tag = TAG_ALL + ++tags,
                         .counts = config->steps};
  snprintf(contact, VV_STACK_CONTACT_MAX, "t%x/%d", (unsigned)tid, end->own_tag);
  const char *slack = getenv("VAIVEN_PVMD_SLACK_NS");
  snprintf(way, sizeof way, "PVM %s: fragments of %d bytes, timer slack of the daemons %s ns", pvm_version(),
           pvm_getopt(PvmFragSize), slack ? slack : "unknown");
  return end;
}

/* What PVM takes from memory as it is, it gives only to hosts of the same data signature. */
static bool unlike(int peer) {
  int hosts, formats, own = 0, other = 0;
  struct pvmhostinfo *host;
  if (pvm_config(&hosts, &formats, &host) < 0) return false;
  for (int i = 0; i < hosts; i++) {
    if (host[i].hi_tid == pvm_tidtohost(pvm_mytid())) own = host[i].hi_dsig;
    if (host[i].hi_tid == pvm_tidtohost(peer)) other = host[i].hi_dsig;
  }
  return own != other;
}

static int read_contact(struct vv_end *end, const char *contact, struct vv_error *error) {
  unsigned peer;
  int used = 0;
  if (sscanf(contact, "t%x/%d%n", &peer, &end->peer_tag, &used) == 2 && contact[used] == '\0') {
    end->peer = (int)peer;
    bool is_unlike = unlike(end->peer);
    if (is_unlike && (end->encoding == RAW || end->encoding == INPLACE)) return failed(PvmBadMsg, "join", error);
    any_unlike = any_unlike || is_unlike;
    if (end->encoding == TRANS && is_unlike) end->style = PvmDataDefault;
    return 0;
  }
  return vv_error_set(error, "bad-contact", "\"%.60s\" is no task of PVM", contact);
}

static int send_join(const struct vv_end *end, struct vv_error *error) {
  pvm_initsend(PvmDataDefault);
  int code = pvm_send(end->peer, TAG_JOIN);
  return code < 0 ? failed(code, "reach the other end", error) : 0;
}

static int await_join(const struct vv_end *end, vv_ns deadline_ns, struct vv_error *error) {
  for (;;) {
    struct timeval tick = {.tv_usec = TICK_US};
    int code = pvm_trecv(end->peer, TAG_JOIN, &tick);
    if (code > 0) return 0;
    if (code < 0) return failed(code, "hear from the other end", error);
    if (vv_watch_launcher_gone()) return vv_error_set(error, "launcher-gone", "the launcher has gone");
    if (vv_clock_ns() >= deadline_ns) return vv_error_set(error, "timeout", "the other end does not come");
  }
}

/* The near end's empty message makes the direct connection; the far end answers it. */
static int pvm_join_near(struct vv_end *end, const char *contact, vv_ns deadline_ns, struct vv_error *error) {
  if (read_contact(end, contact, error) != 0 || send_join(end, error) != 0) return -1;
  if (await_join(end, deadline_ns, error) != 0) return -1;
  if (receiver_count < ENDS_MAX) receivers[receiver_count++] = end->peer;
  return 0;
}

static int pvm_join_far(struct vv_end *end, const char *contact, vv_ns deadline_ns, struct vv_error *error) {
  if (read_contact(end, contact, error) != 0 || await_join(end, deadline_ns, error) != 0) return -1;
  return send_join(end, error);
}

/* steps --------------------------------------------------------------- */

static void begin_step(struct vv_end *end) {
  if (end->counts) end->step_began_ns = vv_clock_cpu_ns();
}

/* What the step took that began at the last begin_step or end_step; the next one begins. */
static void end_step(struct vv_end *end, vv_ns *took_ns) {
  if (!end->counts) return;
  vv_ns now_ns = vv_clock_cpu_ns(), ns = now_ns - end->step_began_ns - vv_clock_cpu_cost_ns();
  *took_ns = ns > 0 ? ns : 0;
  end->step_began_ns = now_ns;
}

static int64_t heap_bytes(void) {
  struct mallinfo2 heap = mallinfo2();
  return (int64_t)(heap.uordblks + heap.hblkhd);
}

/* Gives a buffer back that is done with. */
static void weigh(const struct vv_end *end, int buffer, int64_t *bytes) {
  if (!end->counts) return;
  int64_t before_bytes = heap_bytes();
  pvm_freebuf(buffer);
  *bytes = before_bytes - heap_bytes();
}

/*
 * How often PVM turned the numbers of a message between the caller's memory and that buffer: 0 or 1. What is turned
 * under trans is none of PVM's. It reads a buffer from its beginning on when it was the one that is sent before.
 */
static int turned(const struct vv_end *end, int buffer, const uint8_t *message, size_t size_bytes) {
  char number_held[NUMBER_BYTES];
  if (!end->counts || end->encoding == TRANS || size_bytes < sizeof number_held) return 0;
  pvm_setrbuf(0);
  pvm_setsbuf(buffer);
  pvm_setsbuf(0);
  pvm_setrbuf(buffer);
  return pvm_upkbyte(number_held, sizeof number_held, 1) >= 0 && memcmp(number_held, message, sizeof number_held) != 0;
}

static const struct vv_steps *pvm_steps(const struct vv_end *end) {
  return &end->steps;
}

/* messages ------------------------------------------------------------ */

/* PVM packs from char * and double *, which it only reads. */
static int pack(struct vv_end *end, const uint8_t *message, size_t size_bytes) {
  char *bytes = (char *)(uintptr_t)message;
  size_t count = size_bytes / NUMBER_BYTES, rest = size_bytes % NUMBER_BYTES;
  int code = 0;
  if (end->encoding == TRANS) {
    size_t length = vv_data_describe(TRANS_LAYOUT, count, end->descriptor);
    code = pvm_pkbyte((char *)end->descriptor, (int)length, 1);
    return code < 0 ? code : pvm_pkbyte(bytes, (int)size_bytes, 1);
  }
  if (count > 0) code = pvm_pkdouble((double *)(void *)bytes, (int)count, 1);
  return code < 0 || rest == 0 ? code : pvm_pkbyte(bytes + size_bytes - rest, (int)rest, 1);
}

static int unpack_translated(struct vv_end *end, uint8_t *message, size_t size_bytes) {
  struct vv_data_description description;
  uint8_t descriptor[DESCRIPTOR];
  uint64_t converted;
  size_t numbers_bytes = size_bytes - size_bytes % NUMBER_BYTES;
  int code = pvm_upkbyte((char *)descriptor, DESCRIPTOR, 1);
  if (code >= 0) code = pvm_upkbyte((char *)message, (int)size_bytes, 1);
  end_step(end, &end->steps.decode_ns);
  if (code < 0) return code;
  if (vv_data_parse(descriptor, DESCRIPTOR, &description) != VV_DATA_OK ||
      vv_data_take(&description, message, numbers_bytes, TRANS_LAYOUT, message, numbers_bytes, &converted)) {
    return PvmBadMsg;
  }
  end_step(end, &end->steps.translate_ns);
  end->steps.translations += converted > 0;
  return 0;
}

static int unpack(struct vv_end *end, uint8_t *message, size_t size_bytes) {
  size_t count = size_bytes / NUMBER_BYTES, rest = size_bytes % NUMBER_BYTES;
  int code = 0;
  begin_step(end);
  if (end->encoding == TRANS) return unpack_translated(end, message, size_bytes);
  if (count > 0) code = pvm_upkdouble((double *)(void *)message, (int)count, 1);
  if (code >= 0 && rest > 0) code = pvm_upkbyte((char *)message + size_bytes - rest, (int)rest, 1);
  end_step(end, &end->steps.decode_ns);
  return code;
}

static enum vv_got pvm_give(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  begin_step(end);
  int code = pvm_initsend(end->style);
  if (code >= 0) code = pack(end, message, size_bytes);
  end_step(end, &end->steps.encode_ns);
  if (code >= 0) code = pvm_send(end->peer, end->peer_tag);
  end_step(end, &end->steps.send_ns);
  if (code < 0) {
    failed(code, "send", error);
    return VV_GOT_ERROR;
  }
  int buffer = pvm_getsbuf();
  end->steps.translations = turned(end, buffer, message, size_bytes);
  weigh(end, buffer, &end->steps.out_bytes);
  return VV_GOT_MESSAGE;
}

static enum vv_got pvm_take(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  for (;;) {
    struct timeval tick = {.tv_usec = TICK_US};
    int code = pvm_trecv(end->peer, end->own_tag, &tick);
    if (code > 0) {
      code = unpack(end, message, size_bytes);
      int buffer = pvm_getrbuf();
      end->steps.translations += turned(end, buffer, message, size_bytes);
      weigh(end, buffer, &end->steps.in_bytes);
      if (code >= 0) return VV_GOT_MESSAGE;
    }
    if (code < 0) {
      failed(code, "receive", error);
      return VV_GOT_ERROR;
    }
    if (end->stop.ask(end->stop.context)) return VV_GOT_STOPPED;
  }
}

/* messages for all, each of which PVM makes one for each ------------- */

/* `grouped`: a far end is a member of a group, which the near one need not be. */
static struct vv_end *open_for_all(const struct vv_stack_config *config, bool grouped, bool direct,
                                   enum encoding encoding, char contact[VV_STACK_CONTACT_MAX], struct vv_error *error) {
  if (config->to == VV_TO_EACH) {
    vv_error_set(error, "usage", "pvm_mcast and pvm_bcast are one message for all far ends");
    vv_error_remedy(error, "a stack of one message, as pvm-direct-raw, sends to each");
    return NULL;
  }
  struct vv_end *end = open_end(config, direct, encoding, contact, error);
  if (!end) return NULL;
  int code = grouped && config->far ? pvm_joingroup(GROUP) : 0;
  if (code < 0) {
    failed(code, "join a group: is its server pvmgs there?", error);
    free(end);
    return NULL;
  }
  end->own_tag = TAG_ALL;
  snprintf(contact, VV_STACK_CONTACT_MAX, "t%x/%d", (unsigned)pvm_mytid(), TAG_ALL);
  return end;
}

static enum vv_got give_all(struct vv_end *end, const uint8_t *message, size_t size_bytes, bool grouped,
                            struct vv_error *error) {
  int code = pvm_initsend(end->encoding == TRANS && any_unlike ? PvmDataDefault : end->style);
  if (code >= 0) code = pack(end, message, size_bytes);
  if (code >= 0) code = grouped ? pvm_bcast(GROUP, TAG_ALL) : pvm_mcast(receivers, receiver_count, TAG_ALL);
  if (code >= 0) return VV_GOT_MESSAGE;
  failed(code, "send to all", error);
  return VV_GOT_ERROR;
}

static enum vv_got give_mcast(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  return give_all(end, message, size_bytes, false, error);
}

static enum vv_got give_bcast(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  return give_all(end, message, size_bytes, true, error);
}

static const char *pvm_way(const struct vv_end *end) {
  (void)end;
  return way;
}

static void pvm_leave(struct vv_end *end) {
  free(end);
}

/* One table for each mode; `open` is all that differs. */
#define MODE(name, word, text, is_direct, how, on_wire, before)                                                        \
  static struct vv_end *open_##name(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],          \
                                    struct vv_error *error) {                                                          \
    return open_end(config, is_direct, how, contact, error);                                                           \
  }                                                                                                                    \
  static const struct vv_stack name = {.id = (word),                                                                   \
                                       .summary = (text),                                                              \
                                       .needs = "pvmd",                                                                \
                                       .size_bytes_max = (size_t)64 << 20,                                             \
                                       .header_bytes = (before),                                                       \
                                       .joined = true,                                                                 \
                                       .numbers = true,                                                                \
                                       .path = (on_wire),                                                              \
                                       .open = open_##name,                                                            \
                                       .accept = pvm_join_far,                                                         \
                                       .connect = pvm_join_near,                                                       \
                                       .send = pvm_give,                                                               \
                                       .recv = pvm_take,                                                               \
                                       .way = pvm_way,                                                                 \
                                       .steps = pvm_steps,                                                             \
                                       .close = pvm_leave}

MODE(default_xdr, "pvm-default-xdr", "PVM through the daemons, encoded in XDR", false, XDR, VV_PATH_UDP, HEADER_BYTES);
MODE(default_raw, "pvm-default-raw", "PVM through the daemons, copied", false, RAW, VV_PATH_UDP, HEADER_BYTES);
MODE(default_inplace, "pvm-default-inplace", "PVM through the daemons, from where it lies", false, INPLACE, VV_PATH_UDP,
     HEADER_BYTES);
MODE(default_trans, "pvm-default-trans", "PVM through the daemons, the receiver makes right", false, TRANS, VV_PATH_UDP,
     TRANS_BYTES + PACKET_BYTES);
MODE(direct_xdr, "pvm-direct-xdr", "PVM over TCP, encoded in XDR", true, XDR, VV_PATH_TCP, HEADER_BYTES);
MODE(direct_raw, "pvm-direct-raw", "PVM over TCP, copied", true, RAW, VV_PATH_TCP, HEADER_BYTES);
MODE(direct_inplace, "pvm-direct-inplace", "PVM over TCP, from where it lies", true, INPLACE, VV_PATH_TCP,
     HEADER_BYTES);
MODE(direct_trans, "pvm-direct-trans", "PVM over TCP, the receiver makes right", true, TRANS, VV_PATH_TCP, TRANS_BYTES);

/* And of messages for all: `is_grouped` says by which call, give_* are those. */
#define FOR_ALL(name, word, text, give, is_grouped, is_direct, how, on_wire, before)                                   \
  static struct vv_end *open_##name(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],          \
                                    struct vv_error *error) {                                                          \
    return open_for_all(config, is_grouped, is_direct, how, contact, error);                                           \
  }                                                                                                                    \
  static const struct vv_stack name = {.id = (word),                                                                   \
                                       .summary = (text),                                                              \
                                       .needs = "pvmd",                                                                \
                                       .size_bytes_min = 1,                                                            \
                                       .size_bytes_max = (size_t)64 << 20,                                             \
                                       .header_bytes = (before),                                                       \
                                       .to_all = true,                                                                 \
                                       .joined = true,                                                                 \
                                       .numbers = true,                                                                \
                                       .path = (on_wire),                                                              \
                                       .open = open_##name,                                                            \
                                       .accept = pvm_join_far,                                                         \
                                       .connect = pvm_join_near,                                                       \
                                       .send = (give),                                                                 \
                                       .recv = pvm_take,                                                               \
                                       .way = pvm_way,                                                                 \
                                       .close = pvm_leave}

#define MCAST(name, word, text, is_direct, how, on_wire, before)                                                       \
  FOR_ALL(mcast_##name, "pvm-mcast" word, "pvm_mcast() of PVM " text, give_mcast, false, is_direct, how, on_wire,      \
          before)
#define BCAST(name, word, text, is_direct, how, on_wire, before)                                                       \
  FOR_ALL(bcast_##name, "pvm-bcast" word, "pvm_bcast() of PVM to a group, " text, give_bcast, true, is_direct, how,    \
          on_wire, before)

/* By either broadcast: every route, every encoding. */
#define EVERY_WAY(ONE)                                                                                                 \
  ONE(default_xdr, "-default-xdr", "through the daemons, encoded in XDR", false, XDR, VV_PATH_UDP, HEADER_BYTES);      \
  ONE(default_raw, "-default-raw", "through the daemons, copied", false, RAW, VV_PATH_UDP, HEADER_BYTES);              \
  ONE(default_inplace, "-default-inplace", "through the daemons, from where it lies", false, INPLACE, VV_PATH_UDP,     \
      HEADER_BYTES);                                                                                                   \
  ONE(default_trans, "-default-trans", "through the daemons, the receivers make right", false, TRANS, VV_PATH_UDP,     \
      TRANS_BYTES + PACKET_BYTES);                                                                                     \
  ONE(direct_xdr, "-direct-xdr", "over TCP, encoded in XDR", true, XDR, VV_PATH_TCP, HEADER_BYTES);                    \
  ONE(direct_raw, "", "over TCP, copied", true, RAW, VV_PATH_TCP, HEADER_BYTES);                                       \
  ONE(direct_inplace, "-direct-inplace", "over TCP, from where it lies", true, INPLACE, VV_PATH_TCP, HEADER_BYTES);    \
  ONE(direct_trans, "-direct-trans", "over TCP, the receivers make right", true, TRANS, VV_PATH_TCP, TRANS_BYTES);

EVERY_WAY(MCAST)
EVERY_WAY(BCAST)

const struct vv_stack *const vv_stack_registry[] = {
    &default_xdr,
    &default_raw,
    &default_inplace,
    &default_trans,
    &direct_xdr,
    &direct_raw,
    &direct_inplace,
    &direct_trans,
    &mcast_default_xdr,
    &mcast_default_raw,
    &mcast_default_inplace,
    &mcast_default_trans,
    &mcast_direct_xdr,
    &mcast_direct_raw,
    &mcast_direct_inplace,
    &mcast_direct_trans,
    &bcast_default_xdr,
    &bcast_default_raw,
    &bcast_default_inplace,
    &bcast_default_trans,
    &bcast_direct_xdr,
    &bcast_direct_raw,
    &bcast_direct_inplace,
    &bcast_direct_trans,
    NULL,
};
