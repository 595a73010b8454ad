/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/link/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/os/watch.h"
#include "probe/base/record.h"
#include "probe/link/handshake.h"
#include "probe/link/launch_key.h"

#define LAST_WORDS_NS   (300 * VV_MS) /* for the other end to say why it closed */
#define SETTLE_NS       (5 * VV_SEC)  /* for the other end to get ready */
#define NS_PER_BYTE_MAX 800           /* 10 Mb/s: the slowest network in use */

/* Asked whenever a signal has broken a wait, so it may cost a few system calls. */
static bool stop_waiting(void *context) {
  const struct vv_session *session = context;
  return vv_session_clock_ns(session) >= session->stop_at_ns || vv_watch_launcher_gone() ||
         vv_watch_has_input(session->control.fd);
}

vv_ns vv_session_patience_ns(const struct vv_session *session, size_t size_bytes) {
  return session->config->timeout_ns + 2 * NS_PER_BYTE_MAX * (int64_t)size_bytes;
}

int vv_session_expect(struct vv_session *session, const char *verb, char line[VV_LINE_BYTES_MAX],
                      struct vv_error *error) {
  /* Memory for the largest messages may have to be found and filled at the other end first. */
  vv_ns deadline_ns = vv_clock_ns() + vv_session_patience_ns(session, session->size_bytes_max) + SETTLE_NS;
  return vv_control_expect(&session->control, verb, line, deadline_ns, error);
}

static int launcher_gone(struct vv_error *error) {
  return vv_error_set(error, "launcher-gone", "standard input was closed: the launcher has gone");
}

int vv_session_why(struct vv_session *session, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  if (vv_watch_launcher_gone()) return launcher_gone(error);
  if (session->config->command == VV_COMMAND_FAR || !vv_watch_has_input(session->control.fd)) return 0;
  /* The near end has asked for nothing: a line now can only be bad news. */
  if (vv_control_receive(&session->control, line, vv_clock_ns() + LAST_WORDS_NS, error) != 0) return -1;
  return vv_error_set(error, "bad-control", "the other end said \"%.80s\" unasked", line);
}

int vv_session_closed(struct vv_session *session, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  vv_ns deadline_ns = vv_clock_ns() + LAST_WORDS_NS;
  while (vv_control_receive(&session->control, line, deadline_ns, error) == 0) continue;
  if (error->kind != VV_CODE_TIMEOUT) return -1;
  vv_error_set(error, "peer-gone", "the other end of %s has closed", session->stack->id);
  return vv_error_remedy(error, "see what the other end printed last, and whether its host still runs");
}

static struct vv_stack_config make_config(struct vv_session *session, const char *own_host) {
  const struct vv_probe_config *config = session->config;
  struct vv_stack_config stack_config = {.address = own_host,
                                         .far = config->command == VV_COMMAND_FAR,
                                         .iface = config->iface,
                                         .port_min = config->port_min,
                                         .port_max = config->port_max,
                                         .sap = (uint8_t)config->sap,
                                         .write = config->write,
                                         .wait = config->wait,
                                         .acks = config->acks,
                                         .to = config->to,
                                         .far_ends = (unsigned)config->also_count + 1,
                                         .size_bytes_max = session->size_bytes_max,
                                         .stop = {.ask = stop_waiting, .context = session},
                                         .steps = config->steps,
                                         .program = config->program};
  memcpy(stack_config.key, session->key, VV_KEY_BYTES);
  return stack_config;
}

struct vv_end *vv_session_open_as(struct vv_session *session, bool far, char contact[VV_STACK_CONTACT_MAX],
                                  struct vv_error *error) {
  char own_host[VV_ADDRESS_TEXT_MAX] = "";
  if (session->own.length > 0) vv_address_format_host(&session->own, own_host);
  struct vv_stack_config stack_config = make_config(session, own_host);
  stack_config.far = far;
  return session->stack->open(&stack_config, contact, error);
}

struct vv_end *vv_session_open_end(struct vv_session *session, char contact[VV_STACK_CONTACT_MAX],
                                   struct vv_error *error) {
  return vv_session_open_as(session, session->config->command == VV_COMMAND_FAR, contact, error);
}

/* The other end's contact: what it says, or, where its kernel answers, its address. */
static int exchange_contacts(struct vv_session *session, const char *contact, char far_contact[VV_STACK_CONTACT_MAX],
                             struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX], host[VV_ADDRESS_TEXT_MAX];
  if (session->control.fd == VV_CONTROL_NONE) {
    if (session->peer.length > 0)
      vv_address_format_host(&session->peer, host);
    else
      snprintf(host, sizeof host, "none");
    snprintf(far_contact, VV_STACK_CONTACT_MAX, "%s", host);
    return 0;
  }
  if (vv_control_send(&session->control, error, "open size_bytes_max=%zu contact=%s", session->size_bytes_max,
                      contact) ||
      vv_session_expect(session, "opened", line, error) != 0) {
    return -1;
  }
  if (vv_line_word(line, "contact", far_contact, VV_STACK_CONTACT_MAX)) return 0;
  return vv_error_set(error, "bad-control", "the far end did not say how to reach it");
}

static int link_ends(struct vv_session *session, struct vv_end *end, const char *contact, struct vv_error *error) {
  char far_contact[VV_STACK_CONTACT_MAX], line[VV_LINE_BYTES_MAX];
  if (exchange_contacts(session, contact, far_contact, error) != 0) return -1;
  vv_ns start_ns = vv_clock_ns();
  if (session->stack->connect(end, far_contact, start_ns + SETTLE_NS, error) != 0) return -1;
  session->connect_ns = session->stack->datagram || session->stack->joined ? -1 : vv_clock_ns() - start_ns;
  if (session->control.fd == VV_CONTROL_NONE) return 0;
  return vv_session_expect(session, "linked", line, error);
}

int vv_session_reopen(struct vv_session *session, struct vv_error *error) {
  char contact[VV_STACK_CONTACT_MAX];
  struct vv_end *end = vv_session_open_end(session, contact, error);
  if (!end) return -1;
  if (link_ends(session, end, contact, error) != 0) {
    session->stack->close(end);
    return -1;
  }
  session->stack->close(session->end);
  session->end = end;
  return 0;
}

/* Where the kernel answers there is nothing to open: its address is the contact. */
static int open_far_end(struct vv_session *session, const char *near_contact, struct vv_error *error) {
  char contact[VV_STACK_CONTACT_MAX];
  if (session->stack->kernel_echo) {
    vv_address_format_host(&session->own, contact);
    return vv_control_send(&session->control, error, "opened contact=%s", contact);
  }
  struct vv_end *end = vv_session_open_end(session, contact, error);
  if (!end) return -1;
  session->stack->close(session->end);
  session->end = end;
  if (vv_control_send(&session->control, error, "opened contact=%s", contact) != 0) return -1;
  return session->stack->accept(end, near_contact, vv_clock_ns() + SETTLE_NS, error);
}

int vv_session_serve_open(struct vv_session *session, const char *line, struct vv_error *error) {
  char near_contact[VV_STACK_CONTACT_MAX];
  int64_t size_bytes_max;
  if (vv_control_number(line, "size_bytes_max", &size_bytes_max, error) != 0) return -1;
  if (size_bytes_max < 0 || size_bytes_max > VV_PROBE_SIZE_BYTES_MAX ||
      !vv_line_word(line, "contact", near_contact, sizeof near_contact)) {
    return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
  }
  session->size_bytes_max = (size_t)size_bytes_max;
  if (open_far_end(session, near_contact, error) != 0) return -1;
  return vv_control_send(&session->control, error, "linked");
}

/* Of messages over TCP, whichever stack they are of: a library's and the control connection's have the same route. */
static void record_tcp(struct vv_record *record, const struct vv_tcp *tcp) {
  if (!tcp->congestion_control[0]) {
    vv_record_null(record, "tcp");
    return;
  }
  vv_record_object(record, "tcp");
  vv_record_text(record, "congestion_control", tcp->congestion_control);
  vv_record_known(record, "initial_window_segments", tcp->initial_window_segments);
  vv_record_bool(record, "quick_acks", tcp->quick_acks);
  vv_record_text(record, "interface", tcp->iface);
  vv_record_known(record, "batch_segments_max", tcp->batch_segments_max);
  vv_record_object_end(record);
}

static void record_host(struct vv_record *record, const char *key, const struct vv_host *host) {
  vv_record_object(record, key);
  vv_record_text(record, "hostname", host->hostname);
  vv_record_text(record, "arch", host->arch);
  vv_record_text(record, "byte_order", host->byte_order);
  record_tcp(record, &host->tcp);
  vv_record_object_end(record);
}

static void record_options(struct vv_record *record, const struct vv_probe_config *config) {
  vv_record_object(record, "options");
  vv_record_text(record, "write", vv_probe_config_write[config->write]);
  vv_record_text(record, "wait", vv_probe_config_wait[config->wait]);
  vv_record_text(record, "buffers", vv_probe_config_buffers[config->buffers]);
  if (config->stack->own_tcp) vv_record_text(record, "acks", vv_probe_config_acks[config->acks]);
  if (config->stack->to_all) vv_record_text(record, "to", vv_probe_config_to[config->to]);
  vv_record_int(record, "idle_ms", config->idle_ns / VV_MS);
  if (config->idle_wire) vv_record_bool(record, "idle_wire", true);
  if (config->cpu >= 0)
    vv_record_int(record, "cpu", config->cpu);
  else
    vv_record_null(record, "cpu");
  vv_record_object_end(record);
}

static int print_hello(struct vv_session *session, const struct vv_host *far, struct vv_error *error) {
  struct vv_record record;
  struct vv_host near;
  vv_host_read(&near, session->stack->alone ? NULL : &session->peer);
  vv_record_begin_stream(&record, "hello");
  vv_record_text(&record, "stack", session->stack->id);
  record_options(&record, session->config);
  vv_record_object(&record, "clock");
  vv_record_text(&record, "source", session->stack->alone ? session->stack->id : "CLOCK_MONOTONIC");
  vv_record_int(&record, "resolution_ns", session->clock.resolution_ns);
  vv_record_int(&record, "cost_ns", session->clock.cost_ns);
  vv_record_object_end(&record);
  record_host(&record, "near", &near);
  if (session->stack->way)
    vv_record_text(&record, "way", session->stack->way(session->end));
  else
    vv_record_null(&record, "way");
  if (session->control.fd != VV_CONTROL_NONE)
    record_host(&record, "far", far);
  else
    vv_record_null(&record, "far");
  vv_record_ints(&record, "connect_ns", &session->connect_ns, session->connect_ns >= 0 ? 1 : 0);
  return vv_record_end(&record, error);
}

static void begin(struct vv_session *session, const struct vv_probe_config *config) {
  *session = (struct vv_session){.config = config, .stack = config->stack, .stop_at_ns = VV_NEVER, .connect_ns = -1};
  vv_control_init(&session->control, VV_CONTROL_NONE);
  for (size_t i = 0; i < config->size_count; i++) {
    if (config->sizes[i] > session->size_bytes_max) session->size_bytes_max = config->sizes[i];
  }
}

/* The own address towards the peer, as the routing table has it. Connecting a datagram socket sends nothing. */
static int find_own_address(struct vv_session *session, struct vv_error *error) {
  struct vv_address peer = session->peer;
  vv_address_set_port(&peer, 9);
  int fd = socket(peer.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return vv_error_errno(error, "socket", "cannot open a socket");
  int result = 0;
  if (connect(fd, &peer.any, peer.length) != 0) result = vv_error_errno(error, "unreachable", "no way to the peer");
  if (result == 0) result = vv_socket_own(fd, &session->own, error);
  close(fd);
  return result;
}

/* Alone (null), with a far kernel only (icmp without a port), or with a far end. */
static int meet(struct vv_session *session, struct vv_host *far, struct vv_error *error) {
  if (session->stack->alone) return 0;
  if (vv_address_port(&session->peer) == 0) return find_own_address(session, error);
  if (vv_handshake_near(session, far, error) != 0) return -1;
  vv_watch_input(session->control.fd);
  return 0;
}

int vv_session_near(struct vv_session *session, const struct vv_probe_config *config, struct vv_error *error) {
  struct vv_host far;
  begin(session, config);
  session->peer = config->address;
  if (vv_launch_key_find(config, session->key, error) != 0) return -1;
  vv_payload_init(&session->payload, session->key, session->stack->numbers);
  if (meet(session, &far, error) != 0 || vv_session_reopen(session, error) != 0) return -1;
  session->clock = session->stack->clock_ns ? session->stack->clock_quality(session->end) : vv_clock_measure();
  return print_hello(session, &far, error);
}

int vv_session_far(struct vv_session *session, const struct vv_probe_config *config, struct vv_error *error) {
  begin(session, config);
  session->own = config->address;
  if (vv_launch_key_find(config, session->key, error) != 0) return -1;
  vv_payload_init(&session->payload, session->key, session->stack->numbers);
  if (vv_handshake_far(session, error) != 0) return -1;
  vv_watch_input(session->control.fd);
  return 0;
}

/* What strangers send changes no message, but takes time and room that the messages wanted. */
static void tell_foreign(const struct vv_session *session) {
  if (!session->stack || !session->stack->foreign || !session->end) return;
  const uint64_t count = session->stack->foreign(session->end);
  if (count == 0) return;
  char where[VV_ADDRESS_TEXT_MAX];
  vv_address_format_host(&session->own, where);
  vv_record_warning("foreign-datagrams",
                    "%" PRIu64
                    " datagrams of strangers came to %s at the ports of this launch: they change no message, "
                    "and cost time; see who sends them",
                    count, where);
}

void vv_session_close(struct vv_session *session) {
  tell_foreign(session);
  if (session->stack) session->stack->close(session->end);
  session->end = NULL;
  vv_slots_close(&session->out);
  vv_slots_close(&session->in);
  vv_control_close(&session->control);
}
