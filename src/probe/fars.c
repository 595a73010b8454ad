/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/fars.h"

#include <inttypes.h>
#include <string.h>

#include "io/os/watch.h"
#include "probe/handshake.h"

#define READINGS 16 /* of a clock: the quickest counts */

static struct vv_session others[VV_ALSO_MAX];
static struct vv_fars met;

static int meet_one(struct vv_session *other, const struct vv_session *first, const struct vv_address *peer,
                    struct vv_error *error) {
  struct vv_host host;
  *other = (struct vv_session){.options = first->options,
                               .stack = first->stack,
                               .payload = first->payload,
                               .size_bytes_max = first->size_bytes_max,
                               .clock = first->clock,
                               .peer = *peer,
                               .connect_ns = -1,
                               .stop_at_ns = VV_FOREVER};
  memcpy(other->key, first->key, VV_KEY_BYTES);
  vv_control_init(&other->control, VV_CONTROL_NONE);
  if (vv_handshake_near(other, &host, error) != 0) return -1;
  vv_watch_input(other->control.fd);
  return 0;
}

struct vv_fars *vv_fars_meet(struct vv_session *first, bool linked, struct vv_error *error) {
  const struct vv_options *options = first->options;
  if (met.count == 0) met.ends[met.count++] = (struct vv_far){.session = first};
  while (met.count <= options->also_count) {
    size_t i = met.count - 1;
    met.ends[met.count++] = (struct vv_far){.session = &others[i]};
    if (meet_one(&others[i], first, &options->also[i], error) != 0) return NULL;
    if (linked && vv_session_reopen(&others[i], error) != 0) return NULL;
  }
  return &met;
}

static int read_clock(struct vv_far *far, struct vv_error *error) {
  char line[VV_CONTROL_LINE_MAX];
  int64_t theirs_ns, best_ns = INT64_MAX;
  for (int i = 0; i < READINGS; i++) {
    int64_t start_ns = vv_clock_real_ns();
    if (vv_control_send(&far->session->control, error, "clock") != 0 ||
        vv_session_expect(far->session, "clock", line, error) != 0 ||
        vv_control_number(line, "real_ns", &theirs_ns, error) != 0) {
      return -1;
    }
    int64_t took_ns = vv_clock_real_ns() - start_ns;
    if (took_ns >= best_ns || took_ns < 0) continue;
    best_ns = took_ns;
    far->ahead_ns = theirs_ns - start_ns - took_ns / 2;
    far->ahead_error_ns = took_ns / 2;
  }
  return 0;
}

int vv_fars_compare(struct vv_fars *fars, struct vv_error *error) {
  for (size_t i = 0; i < fars->count; i++) {
    if (fars->ends[i].session->options->one_clock) continue;
    if (read_clock(&fars->ends[i], error) != 0) return -1;
  }
  return 0;
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
