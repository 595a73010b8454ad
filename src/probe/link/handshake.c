/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/link/handshake.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/time.h"
#include "core/wire/hello.h"
#include "core/wire/hex.h"
#include "io/os/watch.h"
#include "probe/base/record.h"

#define NONCE_DIGITS     (2 * VV_HELLO_NONCE_BYTES)
#define PROOF_DIGITS     (2 * VV_HELLO_PROOF_BYTES)
#define NEAR_PATIENCE_NS (5 * VV_SEC)
#define STRANGERS_MAX    16           /* that have connected and not yet proved anything */
#define STRANGER_NS      (2 * VV_SEC) /* for each of them */
#define WARNINGS_MAX     8            /* about strangers: nobody may fill a launcher's pipe */
#define TCP_WORDS_MAX    192

struct stranger {
  struct vv_control control;
  struct vv_hello_nonces nonces; /* far's is known from the beginning */
  vv_ns deadline_ns;
};

/* A host's name is the host's own affair; in a line it must be one word. */
static void one_word(char *text) {
  for (; *text; text++) {
    if ((unsigned char)*text <= ' ') *text = '?';
  }
}

static int version_error(const struct vv_hello *hello, struct vv_error *error) {
  vv_error_set(error, "peer-version", "the other end is vaiven-probe %s, this is " VV_VERSION,
               hello->version[0] ? hello->version : "unknown");
  return vv_error_remedy(error, "install the same version at both ends");
}

static bool same_version(const struct vv_hello *hello) {
  return strcmp(hello->version, VV_VERSION) == 0;
}

/* near ---------------------------------------------------------------- */

static int dial(struct vv_session *session, struct vv_error *error) {
  int fd = socket(session->peer.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return vv_error_errno(error, "socket", "cannot open a socket");
  vv_control_init(&session->control, fd);
  if (vv_socket_connect(fd, &session->peer, vv_clock_ns() + NEAR_PATIENCE_NS, error) != 0) return -1;
  return vv_socket_own(fd, &session->own, error);
}

static int introduce(struct vv_session *session, const struct vv_hello_nonces *nonces, struct vv_error *error) {
  const struct vv_probe_config *config = session->config;
  uint8_t proof[VV_HELLO_PROOF_BYTES];
  char nonce_hex[NONCE_DIGITS + 1], proof_hex[PROOF_DIGITS + 1];
  vv_hello_prove(session->key, VV_HELLO_NEAR, nonces, proof);
  vv_hex_write(nonces->near, VV_HELLO_NONCE_BYTES, nonce_hex);
  vv_hex_write(proof, VV_HELLO_PROOF_BYTES, proof_hex);
  return vv_control_send(
      &session->control, error,
      "near schema=%d probe=%s nonce=%s proof=%s stack=%s write=%s wait=%s acks=%s buffers=%s to=%s idle_ns=%" PRId64,
      VV_RECORD_SCHEMA, VV_VERSION, nonce_hex, proof_hex, config->stack->id, vv_probe_config_write[config->write],
      vv_probe_config_wait[config->wait], vv_probe_config_acks[config->acks], vv_probe_config_buffers[config->buffers],
      vv_probe_config_to[config->to], config->idle_ns);
}

/* What an end says of how its TCP sends. What it does not know it leaves out. */
static void say_tcp(const struct vv_tcp *tcp, char words[TCP_WORDS_MAX]) {
  int used = snprintf(words, TCP_WORDS_MAX, "quick_acks=%d", tcp->quick_acks);
  const struct {
    const char *name, *value;
  } names[] = {{"congestion_control", tcp->congestion_control}, {"iface", tcp->iface}};
  const struct {
    const char *name;
    int64_t value;
  } numbers[] = {{"initial_window", tcp->initial_window_segments}, {"batch_max", tcp->batch_segments_max}};
  for (int i = 0; i < 2; i++) {
    if (names[i].value[0])
      used += snprintf(words + used, TCP_WORDS_MAX - (size_t)used, " %s=%s", names[i].name, names[i].value);
    if (numbers[i].value != VV_INVENTORY_UNKNOWN)
      used += snprintf(words + used, TCP_WORDS_MAX - (size_t)used, " %s=%" PRId64, numbers[i].name, numbers[i].value);
  }
}

static int64_t known_number(const char *line, const char *name) {
  struct vv_error unsaid;
  int64_t number;
  return vv_control_number(line, name, &number, &unsaid) == 0 ? number : VV_INVENTORY_UNKNOWN;
}

static void read_tcp(const char *line, struct vv_tcp *tcp) {
  *tcp = (struct vv_tcp){.initial_window_segments = known_number(line, "initial_window"),
                         .batch_segments_max = known_number(line, "batch_max"),
                         .quick_acks = known_number(line, "quick_acks") > 0};
  vv_line_word(line, "congestion_control", tcp->congestion_control, sizeof tcp->congestion_control);
  vv_line_word(line, "iface", tcp->iface, sizeof tcp->iface);
}

static int read_host(const char *line, struct vv_host *host, struct vv_error *error) {
  char order[8];
  if (!vv_line_word(line, "hostname", host->hostname, sizeof host->hostname) ||
      !vv_line_word(line, "arch", host->arch, sizeof host->arch) ||
      !vv_line_word(line, "byte_order", order, sizeof order)) {
    return vv_error_set(error, "bad-control", "the far end did not say what it is");
  }
  host->byte_order = strcmp(order, "big") == 0 ? "big" : "little";
  read_tcp(line, &host->tcp);
  return 0;
}

int vv_handshake_near(struct vv_session *session, struct vv_host *far, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  struct vv_hello_nonces nonces;
  if (vv_host_random(nonces.near, sizeof nonces.near, error) != 0 || dial(session, error) != 0) return -1;
  vv_ns deadline_ns = vv_clock_ns() + NEAR_PATIENCE_NS;
  if (vv_control_expect(&session->control, "vaiven", line, deadline_ns, error) != 0) return -1;
  const struct vv_hello offer = vv_hello_parse(line);
  if (!offer.has_nonce) return version_error(&offer, error);
  memcpy(nonces.far, offer.nonce, sizeof nonces.far);
  /* The far end of another version is told, or it would wait on. */
  if (introduce(session, &nonces, error) != 0) return -1;
  if (!same_version(&offer)) return version_error(&offer, error);
  if (vv_control_expect(&session->control, "welcome", line, deadline_ns, error) != 0) return -1;
  const struct vv_hello welcome = vv_hello_parse(line);
  if (!vv_hello_holds(&welcome, session->key, VV_HELLO_FAR, &nonces)) {
    return vv_error_set(error, "wrong-key", "what answers there does not hold the key of this launch");
  }
  return read_host(line, far, error);
}

/* far ----------------------------------------------------------------- */

static int print_ready(const struct vv_session *session, struct vv_error *error) {
  struct vv_record record;
  char host[VV_ADDRESS_TEXT_MAX], key[2 * VV_KEY_BYTES + 1];
  vv_address_format_host(&session->own, host);
  vv_record_begin_stream(&record, "ready");
  vv_record_text(&record, "stack", session->stack->id);
  vv_record_text(&record, "address", host);
  vv_record_int(&record, "port", vv_address_port(&session->own));
  if (!session->config->key_stdin && !session->config->key_file) {
    vv_hex_write(session->key, VV_KEY_BYTES, key);
    vv_record_text(&record, "key", key);
  }
  return vv_record_end(&record, error);
}

static void dismiss(struct stranger *stranger) {
  vv_control_close(&stranger->control);
}

/* A free place, or that of the one who has waited longest. */
static struct stranger *find_place(struct stranger strangers[STRANGERS_MAX]) {
  struct stranger *oldest = &strangers[0];
  for (int i = 0; i < STRANGERS_MAX; i++) {
    if (strangers[i].control.fd < 0) return &strangers[i];
    if (strangers[i].deadline_ns < oldest->deadline_ns) oldest = &strangers[i];
  }
  dismiss(oldest);
  return oldest;
}

static int admit(int listener, struct stranger strangers[STRANGERS_MAX], struct vv_error *error) {
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return 0;
  struct stranger *stranger = find_place(strangers);
  char nonce[NONCE_DIGITS + 1];
  vv_control_init(&stranger->control, fd);
  stranger->deadline_ns = vv_clock_ns() + STRANGER_NS;
  if (vv_host_random(stranger->nonces.far, VV_HELLO_NONCE_BYTES, error) != 0) return -1;
  vv_hex_write(stranger->nonces.far, VV_HELLO_NONCE_BYTES, nonce);
  struct vv_error gone;
  if (vv_control_send(&stranger->control, &gone, "vaiven schema=%d probe=%s nonce=%s", VV_RECORD_SCHEMA, VV_VERSION,
                      nonce)) {
    dismiss(stranger);
  }
  return 0;
}

static void refuse(struct stranger *stranger, int *warnings) {
  struct vv_address from;
  struct vv_error error;
  char text[VV_ADDRESS_TEXT_MAX] = "somewhere";
  if (vv_socket_peer(stranger->control.fd, &from, &error) == 0) vv_address_format(&from, text);
  if ((*warnings)++ < WARNINGS_MAX) vv_record_warning("wrong-key", "%s came without the key of this launch", text);
  vv_error_set(&error, "wrong-key", "that is not the key of this launch");
  vv_control_send_error(&stranger->control, &error);
  dismiss(stranger);
}

static int option_error(const char *name, const char *theirs, const char *ours, struct vv_error *error) {
  vv_error_set(error, "peer-options", "near has %s %.40s, far has %.40s", name, theirs, ours);
  return vv_error_remedy(error,
                         "give both ends the same stack, --write, --wait, --acks, --buffers, --to and --idle-ms");
}

static int check_same(const struct vv_session *session, const struct vv_hello *hello, const char *line,
                      struct vv_error *error) {
  const struct vv_probe_config *config = session->config;
  char idle_ns[24], theirs[40];
  snprintf(idle_ns, sizeof idle_ns, "%" PRId64, config->idle_ns);
  const char *const pairs[][2] = {{"stack", session->stack->id},
                                  {"write", vv_probe_config_write[config->write]},
                                  {"wait", vv_probe_config_wait[config->wait]},
                                  {"acks", vv_probe_config_acks[config->acks]},
                                  {"buffers", vv_probe_config_buffers[config->buffers]},
                                  {"to", vv_probe_config_to[config->to]},
                                  {"idle_ns", idle_ns}};
  if (!same_version(hello)) return version_error(hello, error);
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    if (!vv_line_word(line, pairs[i][0], theirs, sizeof theirs)) theirs[0] = '\0';
    if (strcmp(theirs, pairs[i][1]) != 0) return option_error(pairs[i][0], theirs, pairs[i][1], error);
  }
  return 0;
}

/* The near end is there: proves the key to it, and says what this host is. 1, or -1 and *error. */
static int welcome(struct vv_session *session, const struct vv_hello_nonces *nonces, struct vv_error *error) {
  uint8_t proof[VV_HELLO_PROOF_BYTES];
  char proof_hex[PROOF_DIGITS + 1];
  vv_hello_prove(session->key, VV_HELLO_FAR, nonces, proof);
  vv_hex_write(proof, VV_HELLO_PROOF_BYTES, proof_hex);
  struct vv_host host;
  char tcp[TCP_WORDS_MAX];
  if (vv_socket_peer(session->control.fd, &session->peer, error) != 0) return -1;
  vv_host_read(&host, &session->peer);
  one_word(host.hostname);
  say_tcp(&host.tcp, tcp);
  bool told = vv_control_send(&session->control, error, "welcome proof=%s hostname=%s arch=%s byte_order=%s %s",
                              proof_hex, host.hostname[0] ? host.hostname : "?", host.arch, host.byte_order, tcp) == 0;
  return told ? 1 : -1;
}

/* 1: this is the near end; 0: not, or not yet; -1: it is, and it does not fit. */
static int listen_to(struct vv_session *session, struct stranger *stranger, int *warnings, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  struct vv_error gone;
  int got = vv_control_take(&stranger->control, line, &gone);
  if (got < 0) dismiss(stranger);
  if (got <= 0) return 0;
  const struct vv_hello hello = vv_hello_parse(line);
  memcpy(stranger->nonces.near, hello.nonce, sizeof hello.nonce);
  if (!hello.has_nonce || !vv_hello_holds(&hello, session->key, VV_HELLO_NEAR, &stranger->nonces)) {
    refuse(stranger, warnings);
    return 0;
  }
  session->control = stranger->control;
  stranger->control.fd = -1;
  return check_same(session, &hello, line, error) == 0 ? welcome(session, &stranger->nonces, error) : -1;
}

/* One event. The same results. */
static int serve_strangers(struct vv_session *session, int listener, struct stranger strangers[STRANGERS_MAX],
                           int *warnings, struct vv_error *error) {
  int fds[STRANGERS_MAX + 1] = {listener};
  vv_ns now_ns = vv_clock_ns(), deadline_ns = VV_NEVER;
  for (int i = 0; i < STRANGERS_MAX; i++) {
    struct stranger *stranger = &strangers[i];
    if (stranger->control.fd >= 0 && stranger->deadline_ns <= now_ns) dismiss(stranger);
    fds[i + 1] = stranger->control.fd;
    if (fds[i + 1] >= 0 && stranger->deadline_ns < deadline_ns) deadline_ns = stranger->deadline_ns;
  }
  int ready = vv_watch_wait(fds, STRANGERS_MAX + 1, deadline_ns, error);
  if (ready < 0) return error->kind == VV_CODE_TIMEOUT ? 0 : -1;
  if (ready == 0) return admit(listener, strangers, error);
  return listen_to(session, &strangers[ready - 1], warnings, error);
}

int vv_handshake_far(struct vv_session *session, struct vv_error *error) {
  static struct stranger strangers[STRANGERS_MAX];
  const struct vv_probe_config *config = session->config;
  for (int i = 0; i < STRANGERS_MAX; i++) strangers[i].control.fd = -1;
  int listener = vv_socket_listening(&session->own, config->port_min, config->port_max, STRANGERS_MAX, error);
  if (listener < 0) return -1;
  int result = config->announce ? config->announce(&session->own, error) : print_ready(session, error);
  int warnings = 0;
  while (result == 0) result = serve_strangers(session, listener, strangers, &warnings, error);
  for (int i = 0; i < STRANGERS_MAX; i++) {
    if (strangers[i].control.fd >= 0) dismiss(&strangers[i]);
  }
  close(listener);
  return result < 0 ? -1 : 0;
}
