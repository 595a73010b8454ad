/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A launch as one end sees it: config, control connection, open stack.
 *
 * near                                far
 *   connect          ------------->     listens on --bind
 *                    <-------------     vaiven schema= probe= nonce=
 *   near schema= probe= nonce= proof= stack= write= ...  -->
 *                    <-------------     welcome proof= hostname= arch= byte_order= ...   | error code= text=
 *   open size_bytes_max= contact=  -->
 *                    <-------------     opened contact=
 *   (stack connects)                    (stack accepts)
 *                    <-------------     linked
 *   QUESTION size_bytes= ...  ----->    the question's own lines, until it returns
 *   bye              ------------->
 *
 * A proof is SipHash(key, role, both nonces): the key itself never travels. The
 * far end keeps several strangers waiting at once, each for a bounded time, so
 * that none can keep the near end out.
 */
#ifndef VV_PROBE_LINK_SESSION_H
#define VV_PROBE_LINK_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/payload.h"
#include "core/base/time.h"
#include "io/os/clock.h"
#include "io/os/host.h"
#include "probe/base/config.h"
#include "probe/link/control.h"
#include "probe/link/slots.h"
#include "probe/link/tally.h"
#include "stack/stack.h"

struct vv_session {
  const struct vv_probe_config *config;
  const struct vv_stack *stack;
  struct vv_end *end;        /* NULL at a far end whose kernel answers */
  struct vv_control control; /* VV_CONTROL_NONE: no far end (null; icmp without a port) */
  uint8_t key[VV_KEY_BYTES];
  struct vv_payload payload;
  uint64_t seq;        /* number of the next message, over all cells */
  struct vv_slots out; /* cut for the cell that is measured, or was last */
  struct vv_slots in;
  size_t size_bytes_max;
  struct vv_address own; /* of the control connection; port 0 where there is none */
  struct vv_address peer;
  struct vv_clock_quality clock;
  struct vv_tally tally;
  vv_ns connect_ns; /* near: the stack's connect; -1 when it has none */
  vv_ns stop_at_ns; /* VV_NEVER, or when the stack's waits are given up */
};

/* Near: everything up to the hello record. 0, or -1 and *error. Close it in both cases. */
int vv_session_near(struct vv_session *session, const struct vv_probe_config *config, struct vv_error *error);
/* Far: prints "ready" and waits for the near end, whose lines come then. 0, or -1 and *error. Close it in both cases.
 */
int vv_session_far(struct vv_session *session, const struct vv_probe_config *config, struct vv_error *error);
void vv_session_close(struct vv_session *session);

/*
 * Both ends open new stack ends and drop the old ones, so that whatever is
 * still under way goes nowhere. Near calls it; far does the same when it takes
 * a line "open" (vv_session_serve_open). 0, or -1 and *error.
 */
int vv_session_reopen(struct vv_session *session, struct vv_error *error);
int vv_session_serve_open(struct vv_session *session, const char *line, struct vv_error *error);

/* Another own end, not yet linked to the far one: `connect` needs many. The caller closes it. NULL and *error. */
struct vv_end *vv_session_open_end(struct vv_session *session, char contact[VV_STACK_CONTACT_MAX],
                                   struct vv_error *error);
/* The same, and whether it will accept (far) or connect: `exchange` joins far ends with each other. */
struct vv_end *vv_session_open_as(struct vv_session *session, bool far, char contact[VV_STACK_CONTACT_MAX],
                                  struct vv_error *error);

/* The stack's clock, in ns. */
static inline vv_ns vv_session_clock_ns(const struct vv_session *session) {
  return session->stack->clock_ns ? session->stack->clock_ns(session->end) : vv_clock_ns();
}

/* Keeps the processor until that time of the stack's clock. */
static inline void vv_session_spin(const struct vv_session *session, vv_ns until_ns) {
  if (!session->stack->pause) {
    while (vv_clock_ns() < until_ns) continue;
    return;
  }
  vv_ns left_ns = until_ns - session->stack->clock_ns(session->end);
  if (left_ns > 0) session->stack->pause(session->end, left_ns);
}

/* How long to wait for one message: the time-out, and what the size takes there and back at 10 Mb/s. */
vv_ns vv_session_patience_ns(const struct vv_session *session, size_t size_bytes);

/*
 * Sends or receives one message. The wait ends, with VV_GOT_STOPPED, at
 * session->stop_at_ns (the stack's clock), when a line or the end of the control
 * connection has come, or when the launcher has gone; vv_session_why tells which.
 */
static inline enum vv_got vv_session_send(struct vv_session *session, const uint8_t *message, size_t size_bytes,
                                          struct vv_error *error) {
  return session->stack->send(session->end, message, size_bytes, error);
}
static inline enum vv_got vv_session_recv(struct vv_session *session, uint8_t *message, size_t size_bytes,
                                          struct vv_error *error) {
  return session->stack->recv(session->end, message, size_bytes, error);
}

/*
 * After VV_GOT_STOPPED. 0: the time was up, or (far) a control line is there to
 * be read. -1 and *error: "launcher-gone"; near: "peer-gone", or the error that
 * the far end reported.
 */
int vv_session_why(struct vv_session *session, struct vv_error *error);

/* After VV_GOT_CLOSED: -1 and *error, the other end's own words if it left any, or "peer-gone". */
int vv_session_closed(struct vv_session *session, struct vv_error *error);

/* Waits for a control line of that verb, as long as the largest message may take and some seconds. See
 * vv_control_expect. */
int vv_session_expect(struct vv_session *session, const char *verb, char line[VV_LINE_BYTES_MAX],
                      struct vv_error *error);

#endif
