/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/link/tally.h"

#include "core/ethernet/message.h"
#include "probe/base/record.h"
#include "probe/link/fars.h"
#include "probe/link/session.h"

#define MTU_MAX              1500 /* the path's may be less than the interface's: it cuts messages in more frames */
#define V6_MORE_BYTES        20   /* of a header, than IPv4 has */
#define CONTROL_HEADER_BYTES 66   /* Ethernet 14, IPv4 20, TCP 20 and timestamps 12 */

static bool is_v6(const struct vv_session *session) {
  return session->own.any.sa_family == AF_INET6;
}

/* Of all control connections, in whole frames. False where the system does not tell (an emulator, Linux < 4.19). */
static bool control_of(const struct vv_session *session, const struct vv_fars *fars, struct vv_traffic *all) {
  struct vv_traffic one;
  *all = (struct vv_traffic){0};
  const size_t count = fars ? fars->count : 1;
  for (size_t i = 0; i < count; i++) {
    const int fd = fars ? fars->ends[i].session->control.fd : session->control.fd;
    if (fd < 0) continue;
    if (!vv_traffic_of_connection(fd, &one)) return false;
    vv_traffic_add(all, &one);
  }
  const uint64_t header_bytes = CONTROL_HEADER_BYTES + (is_v6(session) ? V6_MORE_BYTES : 0);
  all->tx_bytes += header_bytes * all->tx_frames;
  all->rx_bytes += header_bytes * all->rx_frames;
  return true;
}

void vv_tally_begin(struct vv_session *session, const struct vv_fars *fars) {
  struct vv_tally *tally = &session->tally;
  const char *interface = session->config->iface;
  if (tally->begun || !interface) return;
  struct vv_iface found;
  struct vv_error ignored;
  if (vv_iface_read(interface, &found, &ignored) != 0) return;
  tally->mtu_bytes = found.mtu_bytes < MTU_MAX ? found.mtu_bytes : MTU_MAX;
  tally->is_control_known = control_of(session, fars, &tally->control);
  tally->resent = vv_traffic_resent();
  tally->printed = vv_record_written();
  tally->begun = tally->mtu_bytes >= VV_MESSAGE_MTU_MIN + V6_MORE_BYTES && session->stack->path != VV_PATH_NONE &&
                 vv_traffic_of_interface(interface, &tally->before);
}

void vv_tally_messages(struct vv_session *session, size_t size_bytes, uint64_t sent, uint64_t got) {
  struct vv_tally *tally = &session->tally;
  const struct vv_stack *stack = session->stack;
  const uint32_t more = is_v6(session) ? V6_MORE_BYTES : 0;
  if (!tally->begun) return;
  const struct vv_message_cost one =
      vv_message_cost(stack->path, size_bytes + stack->header_bytes, tally->mtu_bytes - more);
  if (one.frames > 0) tally->header_bytes = one.header_bytes + more;
  tally->sent += sent;
  tally->got += got;
  tally->messages.tx_bytes += sent * one.data_bytes;
  tally->messages.tx_frames += sent * one.frames;
  tally->messages.rx_bytes += got * one.data_bytes;
  tally->messages.rx_frames += got * one.frames;
}

static void record_ways(struct vv_record *record, const struct vv_traffic *traffic) {
  vv_record_int(record, "tx_bytes", (int64_t)traffic->tx_bytes);
  vv_record_int(record, "tx_frames", (int64_t)traffic->tx_frames);
  vv_record_int(record, "rx_bytes", (int64_t)traffic->rx_bytes);
  vv_record_int(record, "rx_frames", (int64_t)traffic->rx_frames);
}

static void record_traffic(struct vv_record *record, const char *key, const struct vv_traffic *traffic) {
  vv_record_object(record, key);
  record_ways(record, traffic);
  vv_record_object_end(record);
}

static void record_messages(struct vv_record *record, const struct vv_tally *tally) {
  if (tally->unknown) {
    vv_record_null(record, "messages");
    return;
  }
  vv_record_object(record, "messages");
  vv_record_int(record, "tx_messages", (int64_t)tally->sent);
  vv_record_int(record, "rx_messages", (int64_t)tally->got);
  record_ways(record, &tally->messages);
  vv_record_object_end(record);
}

int vv_tally_record(const struct vv_session *session, const struct vv_fars *fars, struct vv_error *error) {
  const struct vv_tally *tally = &session->tally;
  struct vv_traffic now, control;
  struct vv_record record;
  char address[VV_ADDRESS_TEXT_MAX] = "";
  if (!tally->begun || !vv_traffic_of_interface(session->config->iface, &now)) return 0;
  now = vv_traffic_since(&tally->before, &now);
  if (session->own.length > 0) vv_address_format_host(&session->own, address);
  vv_record_begin(&record, "traffic");
  vv_record_text(&record, "end", session->config->command == VV_COMMAND_FAR ? "far" : "near");
  vv_record_text(&record, "address", address);
  vv_record_text(&record, "interface", session->config->iface);
  record_traffic(&record, "seen", &now);
  if (tally->is_control_known && control_of(session, fars, &control)) {
    control = vv_traffic_since(&tally->control, &control);
    record_traffic(&record, "control", &control);
  } else {
    vv_record_null(&record, "control");
  }
  record_messages(&record, tally);
  vv_record_int(&record, "header_bytes", tally->header_bytes);
  vv_record_int(&record, "printed_bytes", (int64_t)(vv_record_written() - tally->printed));
  vv_record_int(&record, "resent", (int64_t)(vv_traffic_resent() - tally->resent));
  return vv_record_end(&record, error);
}
