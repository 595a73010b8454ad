/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/boot/hall.h"

#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/boot/bell.h"
#include "io/boot/refusal.h"
#include "io/os/clock.h"
#include "io/os/datagram.h"
#include "io/os/descriptors.h"
#include "io/os/host.h"

#define VISITORS_MAX 128          /* who have connected and not yet said who they are */
#define VISIT_NS     (2 * VV_SEC) /* how long they may take */
#define FAREWELL_NS  (5 * VV_SEC) /* how long those who come too late are told so, if not all have been */
#define DESCRIPTORS  8            /* of this group beside its links */
#define PIECE_BYTES  40
#define PIECES_MAX   10 /* segments that TCP sends at once */
#define NONCE_BYTES  VV_LETTER_NONCE_BYTES
#define LETTER_BYTES VV_LETTER_JOIN_BYTES

/* Somebody who has connected. */
struct visitor {
  int fd; /* -1: a free place */
  vv_ns until_ns;
  uint8_t challenge[NONCE_BYTES];
  size_t got;
  uint8_t bytes[LETTER_BYTES];
};

enum {
  VISITOR = 0,
  LINK = VISITORS_MAX
}; /* who is waited for: a visitor, a rank's link, and behind them the listener */

struct hall {
  struct vv_meeting *meeting;
  const uint8_t *key;
  int listener;
  uint8_t (*nonces)[NONCE_BYTES]; /* by rank: of its join */
  struct pollfd *fds;             /* what is polled now: no more than there are descriptors, or poll() refuses */
  uint32_t *who;                  /* of each */
  nfds_t watched;
  struct visitor visitors[VISITORS_MAX];
  uint32_t here;                    /* ranks that have come, this one with them */
  uint32_t told;                    /* ranks that have been told the refusal */
  struct vv_letter_refusal refusal; /* why the meeting comes to nothing, if it does */
};

static void refuse(struct hall *hall, enum vv_letter_why why, uint32_t rank, uint32_t count) {
  if (hall->refusal.why == 0) hall->refusal = (struct vv_letter_refusal){why, rank, count};
}

static void show_out(struct visitor *visitor) {
  close(visitor->fd);
  visitor->fd = -1;
}

/* Tells a rank that joined with that nonce why there will be no group, and ends the connection. */
static void turn_away(struct hall *hall, int fd, const uint8_t nonce[NONCE_BYTES]) {
  uint8_t letter[VV_LETTER_REFUSAL_BYTES];
  vv_letter_refusal_emit(hall->key, nonce, &hall->refusal, letter);
  vv_socket_write_all(fd, letter, sizeof letter);
  close(fd);
  hall->told++;
}

/* A rank that waits says nothing: what comes from it is its end. */
static void leave(struct hall *hall, uint32_t rank) {
  close(hall->meeting->links[rank].fd);
  hall->meeting->links[rank].fd = -1;
  hall->here--;
}

static bool is_there(const struct hall *hall, uint32_t rank) {
  struct pollfd one = {.fd = hall->meeting->links[rank].fd, .events = POLLIN};
  return poll(&one, 1, 0) == 0;
}

/* Who holds the key has come: its place is its own, unless it is another's. */
static void seat(struct hall *hall, int fd, const struct vv_letter_join *join) {
  struct vv_meeting *meeting = hall->meeting;
  const uint32_t rank = join->rank;
  if (join->ranks != meeting->ranks || rank == 0 || rank >= meeting->ranks) {
    refuse(hall, VV_LETTER_UNEQUAL, rank, join->ranks);
  } else if (meeting->links[rank].fd >= 0) {
    if (is_there(hall, rank))
      refuse(hall, VV_LETTER_TAKEN, rank, 0);
    else
      leave(hall, rank);
  }
  if (hall->refusal.why != 0) return turn_away(hall, fd, join->nonce);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  meeting->links[rank].fd = fd;
  meeting->peers[rank] = (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(join->seat.port), .sin_addr.s_addr = htonl(join->seat.address)};
  meeting->orders[rank] = join->seat.order;
  memcpy(hall->nonces[rank], join->nonce, NONCE_BYTES);
  hall->here++;
}

static void hear_visitor(struct hall *hall, struct visitor *visitor) {
  struct vv_letter_join join;
  const ssize_t got = recv(visitor->fd, visitor->bytes + visitor->got, LETTER_BYTES - visitor->got, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return show_out(visitor);
  visitor->got += (size_t)got;
  if (visitor->got < LETTER_BYTES) return;
  if (!vv_letter_join_parse(hall->key, visitor->challenge, visitor->bytes, &join)) return show_out(visitor);
  const int fd = visitor->fd;
  visitor->fd = -1;
  seat(hall, fd, &join);
}

/* Who has been there longest; NULL: nobody is there. */
static struct visitor *oldest(struct hall *hall) {
  struct visitor *found = NULL;
  for (int i = 0; i < VISITORS_MAX; i++) {
    struct visitor *visitor = &hall->visitors[i];
    if (visitor->fd >= 0 && (!found || visitor->until_ns < found->until_ns)) found = visitor;
  }
  return found;
}

/* A free place: when all are taken, who has been there longest goes. */
static struct visitor *free_place(struct hall *hall) {
  for (int i = 0; i < VISITORS_MAX; i++) {
    if (hall->visitors[i].fd < 0) return &hall->visitors[i];
  }
  struct visitor *visitor = oldest(hall);
  assert(visitor);
  show_out(visitor);
  return visitor;
}

/* There is no descriptor for who knocks: a stranger's may do, and without strangers there will never be one. */
static void make_room(struct hall *hall) {
  struct visitor *visitor = oldest(hall);
  if (visitor) return show_out(visitor);
  refuse(hall, VV_LETTER_FULL, 0, hall->meeting->ranks - hall->here);
}

static void receive_visitor(struct hall *hall) {
  uint8_t letter[VV_LETTER_CHALLENGE_BYTES];
  struct vv_error ignored;
  const int fd = accept4(hall->listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE)) make_room(hall);
  if (fd < 0) return;
  struct visitor *visitor = free_place(hall);
  *visitor = (struct visitor){.fd = fd, .until_ns = vv_clock_ns() + VISIT_NS};
  vv_socket_keepalive(fd, VV_MEETING_KEEPALIVE_S);
  if (vv_host_random(visitor->challenge, NONCE_BYTES, &ignored) != 0) return show_out(visitor);
  vv_letter_challenge_emit(visitor->challenge, letter);
  if (!vv_socket_write_all(fd, letter, sizeof letter)) show_out(visitor);
}

static void watch(struct hall *hall, int fd, uint32_t who) {
  if (fd < 0) return;
  hall->fds[hall->watched] = (struct pollfd){.fd = fd, .events = POLLIN};
  hall->who[hall->watched++] = who;
}

/* Fills in what is waited for; until when, at most. */
static vv_ns watch_all(struct hall *hall, vv_ns until_ns) {
  const vv_ns now_ns = vv_clock_ns();
  hall->watched = 0;
  for (uint32_t rank = 1; rank < hall->meeting->ranks; rank++) watch(hall, hall->meeting->links[rank].fd, LINK + rank);
  for (uint32_t i = 0; i < VISITORS_MAX; i++) {
    struct visitor *visitor = &hall->visitors[i];
    if (visitor->fd >= 0 && now_ns > visitor->until_ns) show_out(visitor);
    if (visitor->fd >= 0 && visitor->until_ns < until_ns) until_ns = visitor->until_ns;
    watch(hall, visitor->fd, VISITOR + i);
  }
  watch(hall, hall->listener, LINK + hall->meeting->ranks);
  return until_ns;
}

/* One round of waiting for who goes, what visitors say, and who comes, in this order. */
static void wait_once(struct hall *hall, vv_ns until_ns) {
  until_ns = watch_all(hall, until_ns);
  if (poll(hall->fds, hall->watched, vv_clock_left_ms(until_ns)) <= 0) return;
  for (nfds_t i = 0; i < hall->watched; i++) {
    const uint32_t who = hall->who[i];
    if (!hall->fds[i].revents) continue;
    if (who < LINK)
      hear_visitor(hall, &hall->visitors[who - VISITOR]);
    else if (who < LINK + hall->meeting->ranks)
      leave(hall, who - LINK);
    else
      receive_visitor(hall);
  }
}

/* Who never came is to blame, before those who came and had less patience. */
static void refuse_for_the_absent(struct hall *hall) {
  const struct vv_meeting *meeting = hall->meeting;
  uint32_t absent = 0, gone = 0, first_absent = 0, first_gone = 0;
  for (uint32_t rank = meeting->ranks - 1; rank > 0; rank--) {
    if (meeting->peers[rank].sin_port == 0)
      first_absent = rank, absent++;
    else if (meeting->links[rank].fd < 0)
      first_gone = rank, gone++;
  }
  if (absent > 0)
    refuse(hall, VV_LETTER_ABSENT, first_absent, absent);
  else
    refuse(hall, VV_LETTER_ABSENT, first_gone, gone);
}

/* True when all have come and are still there: who came and was killed before it was heard is waited for again. */
static bool all_are_there(struct hall *hall) {
  const uint32_t ranks = hall->meeting->ranks;
  if (hall->here < ranks) return false;
  for (uint32_t rank = 1; rank < ranks; rank++) {
    if (!is_there(hall, rank)) leave(hall, rank);
  }
  return hall->here == ranks;
}

/* Until all are there, or it is known that they will not be. */
static void wait_for_all(struct hall *hall, vv_ns deadline_ns) {
  const uint32_t ranks = hall->meeting->ranks;
  if (!vv_descriptors_reserve(hall->listener, ranks + DESCRIPTORS))
    refuse(hall, VV_LETTER_FULL, 0, ranks + DESCRIPTORS);
  while (hall->refusal.why == 0 && !all_are_there(hall)) {
    if (vv_clock_ns() > deadline_ns)
      refuse_for_the_absent(hall);
    else
      wait_once(hall, deadline_ns);
  }
}

/* Tells those who wait, and for a while those who come, why there will be no group. */
static int say_farewell(struct hall *hall, vv_ns deadline_ns, struct vv_error *error) {
  struct vv_meeting *meeting = hall->meeting;
  const vv_ns last_ns = vv_clock_ns() + FAREWELL_NS, until_ns = last_ns < deadline_ns ? last_ns : deadline_ns;
  for (uint32_t rank = 1; rank < meeting->ranks; rank++) {
    if (meeting->links[rank].fd < 0) continue;
    turn_away(hall, meeting->links[rank].fd, hall->nonces[rank]);
    meeting->links[rank].fd = -1;
  }
  while (hall->told < meeting->ranks - 1 && vv_clock_ns() < until_ns) wait_once(hall, until_ns);
  meeting->lost = hall->refusal.rank;
  const struct sockaddr_in unknown = {0};
  return vv_refusal_error(&hall->refusal, meeting->ranks, &unknown, error);
}

/*
 * An interface whose MTU is far too small takes no longer segment, though its kernel announces 256 bytes: in pieces it
 * gets the letter of a small group, and its rank hears why it cannot take part.
 */
static void send_in_pieces(int fd, const uint8_t *letter, size_t bytes) {
  const size_t piece = bytes <= (size_t)PIECES_MAX * PIECE_BYTES ? PIECE_BYTES : bytes;
  for (size_t at = 0; at < bytes; at += piece) {
    if (!vv_socket_write_all(fd, letter + at, bytes - at < piece ? bytes - at : piece)) return;
  }
}

/* Draws the session, and tells everybody of it and of all others. */
static int welcome(struct hall *hall, struct vv_error *error) {
  struct vv_meeting *meeting = hall->meeting;
  const size_t bytes = VV_LETTER_WELCOME_BYTES(meeting->ranks);
  uint8_t session[NONCE_BYTES], *letter = malloc(bytes);
  struct vv_letter_seat *seats = calloc(meeting->ranks, sizeof *seats);
  int result = letter && seats ? vv_host_random(session, sizeof session, error)
                               : vv_error_set(error, "no-memory", "no memory for the table of ranks");
  for (uint32_t rank = 0; result == 0 && rank < meeting->ranks; rank++) {
    const struct sockaddr_in *peer = &meeting->peers[rank];
    seats[rank] = (struct vv_letter_seat){ntohl(peer->sin_addr.s_addr), ntohs(peer->sin_port), meeting->orders[rank]};
  }
  for (uint32_t rank = 1; result == 0 && rank < meeting->ranks; rank++) {
    vv_letter_welcome_emit(hall->key, hall->nonces[rank], session, seats, meeting->ranks, letter);
    send_in_pieces(meeting->links[rank].fd, letter, bytes); /* who is gone by now: the first agreement finds it */
  }
  if (result == 0) vv_letter_session_key(hall->key, session, meeting->key);
  free(seats);
  free(letter);
  return result;
}

static int hold(struct hall *hall, vv_ns deadline_ns, struct vv_error *error) {
  wait_for_all(hall, deadline_ns);
  return hall->refusal.why == 0 ? welcome(hall, error) : say_farewell(hall, deadline_ns, error);
}

int vv_hall_open(struct vv_meeting *meeting, const struct vv_meeting_config *config, vv_ns deadline_ns,
                 struct vv_error *error) {
  struct hall hall = {.meeting = meeting, .key = config->key, .listener = config->listener, .here = 1};
  vv_bell_ring(&config->place, config->key);
  for (int i = 0; i < VISITORS_MAX; i++) hall.visitors[i].fd = -1;
  hall.nonces = calloc(meeting->ranks, sizeof *hall.nonces);
  hall.fds = calloc(LINK + meeting->ranks + 1, sizeof *hall.fds);
  hall.who = calloc(LINK + meeting->ranks + 1, sizeof *hall.who);
  const int result = hall.nonces && hall.fds && hall.who
                         ? hold(&hall, deadline_ns, error)
                         : vv_error_set(error, "no-memory", "no memory for a meeting of %u ranks", meeting->ranks);
  for (int i = 0; i < VISITORS_MAX; i++) {
    if (hall.visitors[i].fd >= 0) show_out(&hall.visitors[i]);
  }
  free(hall.nonces);
  free(hall.fds);
  free(hall.who);
  close(hall.listener);
  return result;
}
