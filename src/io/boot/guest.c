/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/boot/guest.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/boot/bell.h"
#include "io/boot/refusal.h"
#include "io/os/clock.h"
#include "io/os/datagram.h"
#include "io/os/host.h"
#include "vaiven/data.h"

#define RETRY_NS    (20 * VV_MS)
#define PATIENCE_NS (250 * VV_MS) /* beyond the deadline, of who is in: rank 0, whose time is up too, says why */

/* One attempt to be let in. */
struct visit {
  struct vv_meeting *meeting;
  const struct vv_meeting_config *config;
  int fd;
  uint8_t nonce[VV_LETTER_NONCE_BYTES];
  vv_ns deadline_ns;
  struct vv_error *error;
};

/* How an attempt ends. */
enum outcome { WELCOMED, FAILED, LEFT_ALONE /* nobody is there, or has said enough: try again */ };

/* False: the other side is gone, or the deadline has passed. */
static bool read_all(const struct visit *visit, uint8_t *bytes, size_t count, vv_ns deadline_ns) {
  struct pollfd one = {.fd = visit->fd, .events = POLLIN};
  for (size_t at = 0; at < count;) {
    if (poll(&one, 1, vv_clock_left_ms(deadline_ns)) <= 0 && vv_clock_ns() >= deadline_ns) return false;
    const ssize_t got = recv(visit->fd, bytes + at, count - at, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (got > 0) at += (size_t)got;
  }
  return true;
}

static enum outcome wrong_key(const struct visit *visit) {
  vv_error_set(visit->error, "wrong-key", "who answers at the meeting place is not of this job");
  return FAILED;
}

static enum outcome refused(const struct visit *visit, const struct vv_letter_refusal *refusal) {
  const struct sockaddr_in unknown = {0};
  visit->meeting->lost = refusal->rank;
  vv_refusal_error(refusal, visit->config->ranks, &unknown, visit->error);
  return FAILED;
}

/* The table of all ranks has come. */
static enum outcome welcomed(const struct visit *visit, const uint8_t *letter) {
  const struct vv_meeting_config *config = visit->config;
  uint8_t session[VV_LETTER_NONCE_BYTES];
  struct vv_letter_seat *seats = calloc(config->ranks, sizeof *seats);
  if (!seats) return vv_error_set(visit->error, "no-memory", "no memory for the table of ranks"), FAILED;
  const bool is_ours = vv_letter_welcome_parse(config->key, visit->nonce, letter, config->ranks, session, seats);
  for (uint32_t rank = 0; is_ours && rank < config->ranks; rank++) {
    visit->meeting->peers[rank] = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(seats[rank].port), .sin_addr.s_addr = htonl(seats[rank].address)};
    visit->meeting->orders[rank] = seats[rank].order;
  }
  if (is_ours) vv_letter_session_key(config->key, session, visit->meeting->key);
  free(seats);
  return is_ours ? WELCOMED : wrong_key(visit);
}

/* Waits for the answer to the join, which comes when all are there, or never will be. */
static enum outcome hear_answer(const struct visit *visit) {
  const struct vv_meeting_config *config = visit->config;
  uint8_t mark[VV_LETTER_MARK_BYTES];
  struct vv_letter_refusal refusal;
  const vv_ns deadline_ns = visit->deadline_ns + PATIENCE_NS;
  if (!read_all(visit, mark, sizeof mark, deadline_ns)) return LEFT_ALONE;
  const size_t bytes = vv_letter_answer_bytes(mark, config->ranks);
  if (bytes == 0) return wrong_key(visit);
  uint8_t *letter = malloc(bytes);
  if (!letter) return vv_error_set(visit->error, "no-memory", "no memory for the table of ranks"), FAILED;
  memcpy(letter, mark, sizeof mark);
  enum outcome outcome = LEFT_ALONE;
  if (read_all(visit, letter + sizeof mark, bytes - sizeof mark, deadline_ns)) {
    const bool is_refusal = bytes == VV_LETTER_REFUSAL_BYTES;
    if (!is_refusal)
      outcome = welcomed(visit, letter);
    else if (vv_letter_refusal_parse(config->key, visit->nonce, letter, &refusal))
      outcome = refused(visit, &refusal);
    else
      outcome = wrong_key(visit);
  }
  free(letter);
  return outcome;
}

/* Connected: answers the challenge. */
static enum outcome join(struct visit *visit, bool *was_let_in) {
  const struct vv_meeting_config *config = visit->config;
  uint8_t letter[VV_LETTER_JOIN_BYTES], challenge[VV_LETTER_NONCE_BYTES];
  if (!read_all(visit, letter, VV_LETTER_CHALLENGE_BYTES, visit->deadline_ns)) return LEFT_ALONE;
  if (!vv_letter_challenge_parse(letter, challenge)) return wrong_key(visit);
  if (vv_host_random(visit->nonce, sizeof visit->nonce, visit->error) != 0) return FAILED;
  struct vv_letter_join own = {
      config->ranks,
      config->rank,
      {ntohl(config->own.sin_addr.s_addr), ntohs(config->own.sin_port), (uint8_t)vv_data_own_order()},
      {0}};
  memcpy(own.nonce, visit->nonce, sizeof own.nonce);
  vv_letter_join_emit(config->key, challenge, &own, letter);
  if (!vv_socket_write_all(visit->fd, letter, sizeof letter)) return LEFT_ALONE;
  *was_let_in = true;
  return hear_answer(visit);
}

static enum outcome pay_visit(struct visit *visit, bool *was_let_in) {
  const int on = 1;
  visit->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (visit->fd < 0) return vv_error_errno(visit->error, "socket", "cannot open a TCP socket"), FAILED;
  setsockopt(visit->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  vv_socket_keepalive(visit->fd, VV_MEETING_KEEPALIVE_S);
  enum outcome outcome = LEFT_ALONE;
  if (vv_socket_connect(visit->fd, &visit->config->place, visit->deadline_ns, visit->error) == 0) {
    outcome = join(visit, was_let_in);
  }
  if (outcome == WELCOMED)
    visit->meeting->links[0].fd = visit->fd;
  else
    close(visit->fd);
  return outcome;
}

/*
 * Visits until one is answered, or the deadline. Rank 0 may not listen yet: after a visit in vain its bell is heard,
 * and as it may have rung before, it is visited again at once. A ring makes one visit, and the next is in its time:
 * others than rank 0 may ring it, too.
 */
static enum outcome pay_visits(struct visit *visit, bool *was_let_in) {
  const struct vv_meeting_config *config = visit->config;
  enum outcome outcome = pay_visit(visit, was_let_in);
  if (outcome != LEFT_ALONE) return outcome;
  const int bell = vv_bell_open(&config->own, vv_address_port(&config->place));
  bool rung = false;
  outcome = pay_visit(visit, was_let_in);
  while (outcome == LEFT_ALONE && vv_clock_ns() < visit->deadline_ns) {
    rung = vv_bell_await(rung ? -1 : bell, config->key, vv_clock_ns() + RETRY_NS);
    outcome = pay_visit(visit, was_let_in);
  }
  if (bell >= 0) close(bell);
  return outcome;
}

int vv_guest_open(struct vv_meeting *meeting, const struct vv_meeting_config *config, vv_ns deadline_ns,
                  struct vv_error *error) {
  bool was_let_in = false;
  struct visit visit = {.meeting = meeting, .config = config, .deadline_ns = deadline_ns, .error = error};
  const enum outcome outcome = pay_visits(&visit, &was_let_in);
  if (outcome != LEFT_ALONE) return outcome == WELCOMED ? 0 : -1;
  char text[VV_ADDRESS_TEXT_MAX];
  vv_address_format(&config->place, text);
  meeting->lost = 0;
  if (was_let_in) {
    vv_error_set(error, "timeout", "rank 0 at %s did not let this rank in, or not all ranks came in time", text);
    return vv_error_remedy(error, "rank 0 says who is missing; see that all have the same key");
  }
  vv_error_set(error, "timeout", "rank 0 does not listen at %s", text);
  return vv_error_remedy(error, "see that it runs, and that this host reaches it by TCP");
}
