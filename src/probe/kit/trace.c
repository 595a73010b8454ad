/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/tcp_segment.h"

#define SEGMENTS_MAX VV_PACKET_SLOTS_MAX
#define ACKS_MORE    3 /* slots for acknowledgements, and for what is sent again, beside those of the messages */

/* The last four bytes of an address tell IPv4 hosts apart, and nearly all of IPv6. */
static uint32_t low_host(const struct vv_address *address) {
  const uint8_t *six = address->v6.sin6_addr.s6_addr;
  return address->any.sa_family == AF_INET6 ? vv_get32(six + 12)
                                            : vv_get32((const uint8_t *)&address->v4.sin_addr.s_addr);
}

/* The port at which the far end listens for the control connection: that is what both ends know of it. */
static uint16_t control_port(const struct vv_session *session) {
  bool far = session->config->command == VV_COMMAND_FAR;
  return vv_address_port(far ? &session->own : &session->peer);
}

void vv_trace_open(struct vv_trace *trace, const struct vv_session *session, size_t backlog_bytes) {
  const struct vv_filter_watch watch = {.host = low_host(&session->peer), .not_port = control_port(session)};
  char host[VV_ADDRESS_TEXT_MAX], iface[VV_IFACE_NAME_MAX];
  struct vv_error why = {0};
  *trace = (struct vv_trace){.looks = false};
  vv_address_format_host(&session->own, host);
  const struct vv_packet_config config = {.iface = iface, .watch = &watch, .backlog_bytes = ACKS_MORE * backlog_bytes};
  trace->looks = vv_iface_of(host, iface, &why) == 0 && vv_packet_open(&trace->packet, &config, &why) == 0;
  if (!trace->looks) snprintf(trace->why, sizeof trace->why, "%s", why.text);
}

/* Sequence numbers begin anywhere and go round: they count from those of the SYNs. */
struct base {
  bool known[2]; /* of what this end sends, and of what it gets */
  uint32_t seq[2];
};

static int64_t since(const struct base *base, int direction, uint32_t seq) {
  return base->known[direction] ? (int32_t)(seq - base->seq[direction]) : 0;
}

static void add(struct vv_trace *trace, struct base *base, const struct vv_packet_frame *frame,
                const struct vv_tcp_segment *segment) {
  int own = frame->outgoing ? 0 : 1, other = 1 - own;
  if (segment->syn || !base->known[own]) {
    base->seq[own] = segment->seq + segment->syn;
    base->known[own] = true;
  }
  if (trace->count == SEGMENTS_MAX) {
    trace->dropped++;
    return;
  }
  trace->segments[trace->count++] =
      (struct vv_trace_segment){.at_ns = frame->stamp_ns,
                                .out = frame->outgoing,
                                .syn = segment->syn,
                                .seq = since(base, own, segment->seq),
                                .ack = segment->acks ? since(base, other, segment->ack) : -1,
                                .data_bytes = segment->data_bytes};
}

/* What comes in carries this end's port as its destination, what goes out as its source: loopback shows both twice. */
static void take_all(struct vv_trace *trace, uint16_t own_port, uint16_t peer_port) {
  struct base base = {0};
  struct vv_packet_frame frame;
  for (; vv_packet_peek(&trace->packet, &frame); vv_packet_release(&trace->packet)) {
    struct vv_tcp_segment segment;
    if (!vv_tcp_segment_parse(frame.bytes, frame.count, frame.whole_bytes, &segment)) continue;
    bool goes = segment.from_port == own_port && segment.to_port == peer_port;
    bool comes = segment.from_port == peer_port && segment.to_port == own_port;
    if (frame.outgoing ? goes : comes) add(trace, &base, &frame, &segment);
  }
}

static int make_room(struct vv_trace *trace, struct vv_error *error) {
  trace->segments = calloc(SEGMENTS_MAX, sizeof *trace->segments);
  return trace->segments ? 0 : vv_error_set(error, "no-memory", "no memory for the segments of a connection");
}

void vv_trace_end(struct vv_trace *trace, int fd) {
  struct vv_address own, peer;
  struct vv_error why = {0};
  if (!trace->looks) return;
  int result = make_room(trace, &why);
  if (result == 0) result = vv_socket_own(fd, &own, &why);
  if (result == 0) result = vv_socket_peer(fd, &peer, &why);
  if (result == 0) take_all(trace, vv_address_port(&own), vv_address_port(&peer));
  if (result != 0) snprintf(trace->why, sizeof trace->why, "%s", why.text);
  trace->dropped += vv_packet_drops(&trace->packet);
  vv_packet_close(&trace->packet);
  trace->looks = false;
}

void vv_trace_free(struct vv_trace *trace) {
  if (trace->looks) vv_packet_close(&trace->packet);
  free(trace->segments);
  *trace = (struct vv_trace){0};
}

/* between the ends ------------------------------------------------------ */

int vv_trace_tell(const struct vv_trace *trace, struct vv_session *session, struct vv_error *error) {
  struct vv_control *control = &session->control;
  int result = vv_control_send(control, error, "trace count=%zu dropped=%" PRId64 " text=%s", trace->count,
                               trace->dropped, trace->why);
  for (size_t i = 0; i < trace->count && result == 0; i++) {
    const struct vv_trace_segment *one = &trace->segments[i];
    result = vv_control_send(control, error,
                             "segment at_ns=%" PRId64 " out=%d syn=%d seq=%" PRId64 " ack=%" PRId64 " bytes=%" PRId64,
                             one->at_ns, one->out, one->syn, one->seq, one->ack, one->data_bytes);
  }
  return result;
}

static int hear_one(struct vv_trace_segment *segment, struct vv_session *session, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  int64_t out, syn;
  if (vv_session_expect(session, "segment", line, error) != 0 ||
      vv_control_number(line, "at_ns", &segment->at_ns, error) != 0 ||
      vv_control_number(line, "out", &out, error) != 0 || vv_control_number(line, "syn", &syn, error) != 0 ||
      vv_control_number(line, "seq", &segment->seq, error) != 0 ||
      vv_control_number(line, "ack", &segment->ack, error) != 0) {
    return -1;
  }
  segment->out = out != 0;
  segment->syn = syn != 0;
  return vv_control_number(line, "bytes", &segment->data_bytes, error);
}

int vv_trace_hear(struct vv_trace *trace, struct vv_session *session, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  int64_t count;
  *trace = (struct vv_trace){.looks = false};
  if (vv_session_expect(session, "trace", line, error) != 0 || vv_control_number(line, "count", &count, error) != 0 ||
      vv_control_number(line, "dropped", &trace->dropped, error) != 0) {
    return -1;
  }
  const char *text = strstr(line, " text=");
  if (!text || count < 0 || count > SEGMENTS_MAX) {
    return vv_error_set(error, "bad-control", "the far end said \"%.80s\"", line);
  }
  snprintf(trace->why, sizeof trace->why, "%s", text + strlen(" text="));
  if (make_room(trace, error) != 0) return -1;
  while (trace->count < (size_t)count) {
    if (hear_one(&trace->segments[trace->count], session, error) != 0) return -1;
    trace->count++;
  }
  return 0;
}

void vv_trace_record(struct vv_record *record, const char *key, const struct vv_trace *trace) {
  vv_record_object(record, key);
  vv_record_array(record, "segments");
  for (size_t i = 0; i < trace->count; i++) {
    const struct vv_trace_segment *one = &trace->segments[i];
    const int64_t values[] = {one->at_ns, one->out, one->syn, one->seq, one->ack, one->data_bytes};
    vv_record_ints(record, NULL, values, sizeof values / sizeof *values);
  }
  vv_record_array_end(record);
  vv_record_int(record, "dropped", trace->dropped);
  vv_record_known_text(record, "why", trace->why);
  vv_record_object_end(record);
}
