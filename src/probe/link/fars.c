/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/link/fars.h"

#include <inttypes.h>
#include <string.h>

#include "core/ethernet/message.h"
#include "io/os/watch.h"
#include "probe/link/handshake.h"

#define QUESTION       "clock" /* with its newline as long as with its end */
#define TCP_MORE_BYTES 12      /* of a header, than UDP has */
#define ERROR_SHARE    10

static struct vv_session others[VV_PROBE_ALSO_MAX];
static struct vv_fars met;

static int meet_one(struct vv_session *other, const struct vv_session *first, const struct vv_address *peer,
                    struct vv_error *error) {
  struct vv_host host;
  *other = (struct vv_session){.config = first->config,
                               .stack = first->stack,
                               .payload = first->payload,
                               .size_bytes_max = first->size_bytes_max,
                               .clock = first->clock,
                               .peer = *peer,
                               .connect_ns = -1,
                               .stop_at_ns = VV_NEVER};
  memcpy(other->key, first->key, VV_KEY_BYTES);
  vv_control_init(&other->control, VV_CONTROL_NONE);
  if (vv_handshake_near(other, &host, error) != 0) return -1;
  vv_watch_input(other->control.fd);
  return 0;
}

struct vv_fars *vv_fars_meet(struct vv_session *first, bool linked, struct vv_error *error) {
  const struct vv_probe_config *config = first->config;
  if (met.count == 0) met.ends[met.count++] = (struct vv_far){.session = first};
  while (met.count <= config->also_count) {
    size_t i = met.count - 1;
    met.ends[met.count++] = (struct vv_far){.session = &others[i]};
    if (meet_one(&others[i], first, &config->also[i], error) != 0) return NULL;
    if (linked && vv_session_reopen(&others[i], error) != 0) return NULL;
  }
  return &met;
}

/*
 * What the wire takes at least for a line over TCP, without options of its header: on one link, for a switch may pass
 * a frame on before it has all of it. 0 where nobody knows the wire.
 */
static vv_ns wire_ns(const struct vv_probe_config *config, size_t line_bytes) {
  if (config->rate_bps == 0 || config->mtu_bytes == 0) return 0;
  struct vv_message_cost cost = vv_message_cost(VV_PATH_UDP, line_bytes + TCP_MORE_BYTES, config->mtu_bytes);
  return (int64_t)vv_message_ns(&cost, config->rate_bps, 1);
}

/* One question and answer. */
static int read_clock(struct vv_session *session, struct vv_strip_reading *reading, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  vv_ns sent_ns = vv_clock_real_ns();
  if (vv_control_send(&session->control, error, QUESTION) != 0 ||
      vv_session_expect(session, "clock", line, error) != 0 ||
      vv_control_number(line, "real_ns", &reading->theirs_ns, error) != 0) {
    return -1;
  }
  vv_ns got_ns = vv_clock_real_ns();
  reading->earliest_ns = sent_ns + wire_ns(session->config, sizeof QUESTION);
  reading->latest_ns = got_ns - wire_ns(session->config, strlen(line) + 1);
  if (reading->latest_ns >= reading->earliest_ns) return 0;
  reading->earliest_ns = sent_ns; /* quicker than the wire that we were told of */
  reading->latest_ns = got_ns;
  return 0;
}

static void take_quickest(struct vv_far *far) {
  vv_ns best_ns = INT64_MAX;
  for (size_t i = 0; i < far->reading_count; i++) {
    const struct vv_strip_reading *one = &far->readings[i];
    vv_ns between_ns = one->latest_ns - one->earliest_ns;
    if (between_ns >= best_ns || between_ns < 0) continue;
    best_ns = between_ns;
    far->ahead_ns = one->theirs_ns - one->earliest_ns - between_ns / 2;
    far->ahead_error_ns = (between_ns + 1) / 2;
  }
}

int vv_fars_visit(struct vv_fars *fars, bool first, struct vv_error *error) {
  for (size_t i = 0; i < fars->count; i++) {
    struct vv_far *far = &fars->ends[i];
    if (first) far->reading_count = 0;
    for (size_t k = 0; k < VV_FARS_READINGS; k++) {
      if (read_clock(far->session, &far->readings[far->reading_count], error) != 0) return -1;
      far->reading_count++;
    }
    if (first) take_quickest(far);
  }
  return 0;
}

const struct vv_far *vv_fars_bound(struct vv_fars *fars, vv_ns begin_ns, vv_ns end_ns) {
  const struct vv_far *set = NULL;
  for (size_t i = 0; i < fars->count; i++) {
    struct vv_far *far = &fars->ends[i];
    far->strip = (struct vv_strip){.at_ns = {begin_ns, end_ns}};
    far->set = !vv_strip_fit(&far->strip, far->readings, far->reading_count);
    if (far->set && !set) set = far;
  }
  return set;
}

vv_ns vv_fars_half_width_ns(const struct vv_fars *fars) {
  vv_ns widest_ns = 0;
  for (size_t i = 0; i < fars->count; i++) {
    vv_ns half_ns = vv_strip_half_width_ns(&fars->ends[i].strip);
    if (half_ns > widest_ns) widest_ns = half_ns;
  }
  return widest_ns;
}

bool vv_fars_too_rough(vv_ns error_ns, vv_ns result_ns) {
  return error_ns * ERROR_SHARE > result_ns;
}

int vv_fars_refuse(const struct vv_far *set, vv_ns error_ns, struct vv_error *error) {
  char host[VV_ADDRESS_TEXT_MAX];
  if (!set) {
    return vv_error_set(error, "rough-clock",
                        "the hosts' clocks cannot be compared to better than %" PRId64
                        " us, which is more than a tenth of the result",
                        error_ns / VV_US);
  }
  vv_address_format_host(&set->session->peer, host);
  return vv_error_set(error, "clock-set", "the clock of this host or of %s was set meanwhile, or does not go evenly",
                      host);
}

void vv_fars_record_strip(struct vv_record *record, const struct vv_far *far) {
  int64_t drift_ppb[2];
  vv_strip_drift_ppb(&far->strip, drift_ppb);
  vv_record_object(record, NULL);
  vv_record_ints(record, "at_ns", far->strip.at_ns, 2);
  vv_record_ints(record, "low_ns", far->strip.low_ns, 2);
  vv_record_ints(record, "high_ns", far->strip.high_ns, 2);
  vv_record_ints(record, "drift_ppb", drift_ppb, 2);
  vv_record_object_end(record);
}

int vv_fars_serve_clock(struct vv_session *session, struct vv_error *error) {
  return vv_control_send(&session->control, error, "clock real_ns=%" PRId64, vv_clock_real_ns());
}

void vv_fars_part(void) {
  struct vv_error ignored;
  for (size_t i = 1; i < met.count; i++) {
    if (met.ends[i].session->control.fd >= 0) vv_control_send(&met.ends[i].session->control, &ignored, "bye");
    vv_session_close(met.ends[i].session);
  }
  met.count = 0;
}
