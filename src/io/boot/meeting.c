/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/boot/meeting.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/wire/bytes.h"
#include "io/os/clock.h"
#include "io/os/datagram.h"

#define NONCE_BYTES   8
#define TAG_BYTES     8
#define JOIN_BYTES    (4 + 4 + 4 + 4 + 4 + NONCE_BYTES + TAG_BYTES)
#define WELCOME_BYTES (4 + TAG_BYTES)
#define PEER_BYTES    8
#define NOTE_BYTES    (4 + 4 * VV_MEETING_VALUES)
#define VISITORS_MAX  32         /* who have connected and not yet said who they are */
#define VISIT_NS      2000000000 /* how long they may take */
#define RETRY_NS      20000000
#define KEEPALIVE_S   8

static const uint8_t join_mark[4] = {'v', 'v', 'j', '1'}, welcome_mark[4] = {'v', 'v', 'w', '1'};

/* Somebody who has connected. */
struct visitor {
  int fd; /* -1: a free place */
  int64_t until_ns;
  size_t got;
  uint8_t bytes[JOIN_BYTES];
};

/* What rank 0 has while it waits. */
struct hall {
  struct vv_meeting *meeting;
  const uint8_t *key;
  uint8_t (*nonces)[NONCE_BYTES]; /* by rank */
  struct visitor visitors[VISITORS_MAX];
  uint32_t here; /* ranks that have come, this one with them */
  struct vv_error *error;
};

static void put_tag(const uint8_t *key, const uint8_t *bytes, size_t count, uint8_t tag[TAG_BYTES]) {
  vv_put64(tag, vv_siphash(key, bytes, count));
}

static int64_t left_ms(int64_t deadline_ns) {
  const int64_t left = (deadline_ns - vv_clock_ns() + 999999) / 1000000;
  return left < 0 ? 0 : left > 1000000 ? 1000000 : left;
}

/* Waits until the descriptor can be read or the deadline. */
static bool readable(int fd, int64_t deadline_ns) {
  struct pollfd one = {.fd = fd, .events = POLLIN};
  int got;
  do got = poll(&one, 1, (int)left_ms(deadline_ns));
  while (got < 0 && errno == EINTR);
  return got > 0;
}

/* Reads that many bytes. 1: done; 0: the other side is gone; -1: the deadline passed. */
static int read_all(int fd, uint8_t *bytes, size_t count, int64_t deadline_ns) {
  for (size_t at = 0; at < count;) {
    if (!readable(fd, deadline_ns)) return -1;
    const ssize_t got = recv(fd, bytes + at, count - at, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return 0;
    if (got > 0) at += (size_t)got;
  }
  return 1;
}

static bool write_all(int fd, const uint8_t *bytes, size_t count) {
  for (size_t at = 0; at < count;) {
    const ssize_t went = send(fd, bytes + at, count - at, MSG_NOSIGNAL);
    if (went < 0 && errno == EINTR) continue;
    if (went < 0) return false;
    at += (size_t)went;
  }
  return true;
}

static void linked(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  vv_stream_keepalive(fd, KEEPALIVE_S);
}

static int rank_error(struct vv_meeting *meeting, uint32_t rank, const char *code, const char *what,
                      struct vv_error *error) {
  meeting->lost = rank;
  if (meeting->peers[rank].sin_port == 0) return vv_error_set(error, code, "rank %u %s", rank, what);
  char where[VV_ADDRESS_TEXT_MAX];
  vv_address_format_host(&(struct vv_address){.v4 = meeting->peers[rank], .length = sizeof meeting->peers[rank]},
                         where);
  return vv_error_set(error, code, "rank %u (%s) %s", rank, where, what);
}

/* The meeting, rank 0 */

/* A whole "join" has come: lets the rank in, or shows a stranger out. 0, or -1 and the error. */
static int admit(struct hall *hall, struct visitor *visitor) {
  const uint8_t *bytes = visitor->bytes;
  uint8_t tag[TAG_BYTES];
  put_tag(hall->key, bytes, JOIN_BYTES - TAG_BYTES, tag);
  const int fd = visitor->fd;
  visitor->fd = -1;
  if (memcmp(bytes, join_mark, sizeof join_mark) != 0 ||
      !vv_equal_constant_time(tag, bytes + JOIN_BYTES - TAG_BYTES, TAG_BYTES)) {
    return close(fd);
  }
  struct vv_meeting *meeting = hall->meeting;
  const uint32_t ranks = vv_get32(bytes + 4), rank = vv_get32(bytes + 8);
  if (ranks != meeting->ranks || rank == 0 || rank >= ranks) {
    close(fd);
    return vv_error_set(hall->error, "ranks-differ", "a process says that it is rank %u of %u, and this group has %u",
                        rank, ranks, meeting->ranks);
  }
  if (meeting->links[rank] >= 0) {
    close(fd);
    return vv_error_set(hall->error, "rank-taken", "two processes say that they are rank %u", rank);
  }
  memcpy(&meeting->peers[rank].sin_addr.s_addr, bytes + 12, 4);
  meeting->peers[rank].sin_family = AF_INET;
  meeting->peers[rank].sin_port = htons((uint16_t)vv_get32(bytes + 16));
  memcpy(hall->nonces[rank], bytes + 20, NONCE_BYTES);
  linked(meeting->links[rank] = fd);
  hall->here++;
  return 0;
}

static int visit(struct hall *hall, struct visitor *visitor) {
  const ssize_t got = recv(visitor->fd, visitor->bytes + visitor->got, JOIN_BYTES - visitor->got, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (got <= 0) {
    close(visitor->fd);
    visitor->fd = -1;
    return 0;
  }
  visitor->got += (size_t)got;
  return visitor->got == JOIN_BYTES ? admit(hall, visitor) : 0;
}

static void receive_visitor(struct hall *hall, int listener) {
  const int fd = accept(listener, NULL, NULL);
  if (fd < 0) return;
  struct visitor *place = &hall->visitors[0]; /* when all places are taken: who has been there longest goes */
  for (int i = 0; i < VISITORS_MAX; i++) {
    struct visitor *visitor = &hall->visitors[i];
    if (place->fd >= 0 && (visitor->fd < 0 || visitor->until_ns < place->until_ns)) place = visitor;
  }
  if (place->fd >= 0) close(place->fd);
  *place = (struct visitor){.fd = fd, .until_ns = vv_clock_ns() + VISIT_NS};
}

/* One round of waiting for connections and for what they say. */
static int host_round(struct hall *hall, int listener, int64_t deadline_ns) {
  struct pollfd fds[1 + VISITORS_MAX] = {{.fd = listener, .events = POLLIN}};
  int64_t until_ns = deadline_ns;
  for (int i = 0; i < VISITORS_MAX; i++) {
    struct visitor *visitor = &hall->visitors[i];
    if (visitor->fd >= 0 && vv_clock_ns() > visitor->until_ns) {
      close(visitor->fd);
      visitor->fd = -1;
    }
    if (visitor->fd >= 0 && visitor->until_ns < until_ns) until_ns = visitor->until_ns;
    fds[1 + i] = (struct pollfd){.fd = visitor->fd, .events = POLLIN};
  }
  if (poll(fds, 1 + VISITORS_MAX, (int)left_ms(until_ns)) <= 0) return 0;
  for (int i = 0; i < VISITORS_MAX; i++) {
    if (fds[1 + i].revents && visit(hall, &hall->visitors[i]) != 0) return -1;
  }
  if (fds[0].revents) receive_visitor(hall, listener);
  return 0;
}

static int welcome(struct hall *hall) {
  struct vv_meeting *meeting = hall->meeting;
  const size_t table_bytes = (size_t)meeting->ranks * PEER_BYTES, bytes = WELCOME_BYTES + NONCE_BYTES + table_bytes;
  uint8_t *letter = calloc(1, bytes);
  if (!letter) return vv_error_set(hall->error, "no-memory", "no memory for the table of ranks");
  uint8_t *nonce = letter + WELCOME_BYTES, *table = nonce + NONCE_BYTES;
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) {
    memcpy(table + rank * PEER_BYTES, &meeting->peers[rank].sin_addr.s_addr, 4);
    memcpy(table + rank * PEER_BYTES + 4, &meeting->peers[rank].sin_port, 2);
  }
  memcpy(letter, welcome_mark, sizeof welcome_mark);
  for (uint32_t rank = 1; rank < meeting->ranks; rank++) {
    memcpy(nonce, hall->nonces[rank], NONCE_BYTES);
    put_tag(hall->key, nonce, NONCE_BYTES + table_bytes, letter + 4);
    /* A rank that is gone by now is found by the first agreement. */
    if (write_all(meeting->links[rank], letter, WELCOME_BYTES)) write_all(meeting->links[rank], table, table_bytes);
  }
  free(letter);
  return 0;
}

static int nobody_came(struct vv_meeting *meeting, struct vv_error *error) {
  uint32_t missing = 0, first = 0;
  for (uint32_t rank = meeting->ranks - 1; rank > 0; rank--) {
    if (meeting->links[rank] >= 0) continue;
    missing++;
    first = rank;
  }
  meeting->lost = first;
  vv_error_set(error, "timeout", "%u of %u ranks did not come to the meeting in time, the first of them rank %u",
               missing, meeting->ranks, first);
  return vv_error_remedy(error, "see that it runs, and that it reaches this host by TCP");
}

static int host_meeting(struct vv_meeting *meeting, const struct vv_address *place, const uint8_t *key,
                        int64_t deadline_ns, struct vv_error *error) {
  struct vv_address at = *place;
  const uint16_t port = vv_address_port(place);
  const int listener = vv_socket_listening(&at, port, port, 128, error);
  if (listener < 0) return -1;
  struct hall hall = {.meeting = meeting, .key = key, .here = 1, .error = error};
  hall.nonces = calloc(meeting->ranks, sizeof *hall.nonces);
  for (int i = 0; i < VISITORS_MAX; i++) hall.visitors[i].fd = -1;
  int result = hall.nonces ? 0 : vv_error_set(error, "no-memory", "no memory for %u ranks", meeting->ranks);
  while (result == 0 && hall.here < meeting->ranks) {
    result = vv_clock_ns() > deadline_ns ? nobody_came(meeting, error) : host_round(&hall, listener, deadline_ns);
  }
  if (result == 0) result = welcome(&hall);
  for (int i = 0; i < VISITORS_MAX; i++) {
    if (hall.visitors[i].fd >= 0) close(hall.visitors[i].fd);
  }
  free(hall.nonces);
  close(listener);
  return result;
}

/* The meeting, other ranks */

static int join(struct vv_meeting *meeting, int fd, const uint8_t *key, const uint8_t nonce[NONCE_BYTES]) {
  uint8_t letter[JOIN_BYTES];
  memcpy(letter, join_mark, sizeof join_mark);
  vv_put32(letter + 4, meeting->ranks);
  vv_put32(letter + 8, meeting->rank);
  memcpy(letter + 12, &meeting->peers[meeting->rank].sin_addr.s_addr, 4);
  vv_put32(letter + 16, ntohs(meeting->peers[meeting->rank].sin_port));
  memcpy(letter + 20, nonce, NONCE_BYTES);
  put_tag(key, letter, JOIN_BYTES - TAG_BYTES, letter + JOIN_BYTES - TAG_BYTES);
  return write_all(fd, letter, JOIN_BYTES) ? 0 : -1;
}

/* The table of all ranks. 0; 1: the host is gone, try again; -1 and *error. */
static int be_welcomed(struct vv_meeting *meeting, int fd, const uint8_t *key, const uint8_t nonce[NONCE_BYTES],
                       int64_t deadline_ns, struct vv_error *error) {
  const size_t table_bytes = (size_t)meeting->ranks * PEER_BYTES;
  uint8_t *letter = malloc(WELCOME_BYTES + NONCE_BYTES + table_bytes), tag[TAG_BYTES];
  if (!letter) return vv_error_set(error, "no-memory", "no memory for the table of ranks");
  uint8_t *signed_part = letter + WELCOME_BYTES, *table = signed_part + NONCE_BYTES;
  int result = 1;
  if (read_all(fd, letter, WELCOME_BYTES, deadline_ns) == 1 && read_all(fd, table, table_bytes, deadline_ns) == 1) {
    memcpy(signed_part, nonce, NONCE_BYTES);
    put_tag(key, signed_part, NONCE_BYTES + table_bytes, tag);
    result = 0;
    if (memcmp(letter, welcome_mark, sizeof welcome_mark) != 0 || !vv_equal_constant_time(tag, letter + 4, TAG_BYTES)) {
      result = vv_error_set(error, "wrong-key", "who answers at the meeting place is not of this job");
    }
  }
  for (uint32_t rank = 0; result == 0 && rank < meeting->ranks; rank++) {
    meeting->peers[rank] = (struct sockaddr_in){.sin_family = AF_INET};
    memcpy(&meeting->peers[rank].sin_addr.s_addr, table + rank * PEER_BYTES, 4);
    memcpy(&meeting->peers[rank].sin_port, table + rank * PEER_BYTES + 4, 2);
  }
  free(letter);
  return result;
}

static void make_nonce(const uint8_t *key, uint32_t rank, uint8_t nonce[NONCE_BYTES]) {
  uint8_t label[16];
  vv_put64(label, (uint64_t)vv_clock_ns());
  vv_put32(label + 8, rank);
  vv_put32(label + 12, (uint32_t)getpid());
  put_tag(key, label, sizeof label, nonce);
}

/* Rank 0 may not listen yet, or may be another job's that will end: tried again until the deadline. */
static int attend_meeting(struct vv_meeting *meeting, const struct vv_address *place, const uint8_t *key,
                          int64_t deadline_ns, struct vv_error *error) {
  bool was_let_in = false;
  while (vv_clock_ns() < deadline_ns) {
    uint8_t nonce[NONCE_BYTES];
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return vv_error_errno(error, "socket", "cannot open a TCP socket");
    make_nonce(key, meeting->rank, nonce);
    if (vv_socket_connect(fd, place, deadline_ns, error) == 0 && join(meeting, fd, key, nonce) == 0) {
      was_let_in = true;
      const int result = be_welcomed(meeting, fd, key, nonce, deadline_ns, error);
      if (result == 0) linked(meeting->links[0] = fd);
      if (result <= 0) return result < 0 ? (close(fd), -1) : 0;
    }
    close(fd);
    poll(NULL, 0, (int)(RETRY_NS / 1000000));
  }
  char text[VV_ADDRESS_TEXT_MAX];
  vv_address_format(place, text);
  meeting->lost = 0;
  if (was_let_in) {
    vv_error_set(error, "timeout", "rank 0 at %s did not let this rank in, or not all ranks came in time", text);
    return vv_error_remedy(error, "rank 0 says who is missing; see that all have the same key");
  }
  vv_error_set(error, "timeout", "rank 0 does not listen at %s", text);
  return vv_error_remedy(error, "see that it runs, and that this host reaches it by TCP");
}

int vv_meeting_open(struct vv_meeting *meeting, const struct vv_address *place, const uint8_t key[VV_KEY_BYTES],
                    int64_t deadline_ns, struct vv_error *error) {
  meeting->lost = VV_MEETING_NOBODY;
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) meeting->links[rank] = -1;
  if (meeting->ranks == 1) return 0;
  if (meeting->rank == 0) return host_meeting(meeting, place, key, deadline_ns, error);
  return attend_meeting(meeting, place, key, deadline_ns, error);
}

/* Notes */

static void put_note(const struct vv_note *note, uint8_t bytes[NOTE_BYTES]) {
  memset(bytes, 0, NOTE_BYTES);
  bytes[0] = (uint8_t)note->kind;
  for (int i = 0; i < VV_MEETING_VALUES; i++) vv_put32(bytes + 4 + 4 * i, note->values[i]);
}

static void get_note(const uint8_t bytes[NOTE_BYTES], struct vv_note *note) {
  note->kind = (enum vv_note_kind)bytes[0];
  for (int i = 0; i < VV_MEETING_VALUES; i++) note->values[i] = vv_get32(bytes + 4 + 4 * i);
}

void vv_meeting_tell(struct vv_meeting *meeting, const struct vv_note *note) {
  uint8_t bytes[NOTE_BYTES];
  put_note(note, bytes);
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) {
    if (meeting->links[rank] >= 0) write_all(meeting->links[rank], bytes, NOTE_BYTES);
  }
}

static void hang_up(struct vv_meeting *meeting, uint32_t rank) {
  close(meeting->links[rank]);
  meeting->links[rank] = -1;
}

bool vv_meeting_hear(struct vv_meeting *meeting, uint32_t rank, struct vv_note *note) {
  uint8_t bytes[NOTE_BYTES];
  note->kind = VV_NOTE_NONE;
  const ssize_t got = recv(meeting->links[rank], bytes, NOTE_BYTES, MSG_DONTWAIT | MSG_PEEK);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got > 0 && got < NOTE_BYTES) return true; /* the rest is under way */
  if (got <= 0 || recv(meeting->links[rank], bytes, NOTE_BYTES, MSG_DONTWAIT) != NOTE_BYTES) {
    hang_up(meeting, rank);
    return false;
  }
  get_note(bytes, note);
  return true;
}

/* One rank's values of an agreement. */
static int values_of(struct vv_meeting *meeting, uint32_t rank, struct vv_note *note, int64_t deadline_ns,
                     struct vv_error *error) {
  uint8_t bytes[NOTE_BYTES];
  const int got = meeting->links[rank] < 0 ? 0 : read_all(meeting->links[rank], bytes, NOTE_BYTES, deadline_ns);
  if (got < 0) return rank_error(meeting, rank, "timeout", "does not answer", error);
  if (got == 0) return rank_error(meeting, rank, "rank-died", "has ended", error);
  get_note(bytes, note);
  if (note->kind == VV_NOTE_VALUES) return 0;
  if (note->kind == VV_NOTE_LOST && note->values[0] < meeting->ranks) {
    return rank_error(meeting, note->values[0], "rank-died", "has ended", error);
  }
  return rank_error(meeting, rank, "rank-died", "leaves while the others agree", error);
}

int vv_meeting_agree(struct vv_meeting *meeting, uint32_t values[VV_MEETING_VALUES], int64_t deadline_ns,
                     struct vv_error *error) {
  struct vv_note note, least = {.kind = VV_NOTE_VALUES};
  memcpy(least.values, values, sizeof least.values);
  if (meeting->rank != 0) {
    vv_meeting_tell(meeting, &least);
    if (values_of(meeting, 0, &least, deadline_ns, error) != 0) return -1;
  }
  for (uint32_t rank = 1; meeting->rank == 0 && rank < meeting->ranks; rank++) {
    if (values_of(meeting, rank, &note, deadline_ns, error) != 0) {
      vv_meeting_tell(meeting, &(struct vv_note){VV_NOTE_LOST, {meeting->lost}});
      return -1;
    }
    for (int i = 0; i < VV_MEETING_VALUES; i++) {
      if (note.values[i] < least.values[i]) least.values[i] = note.values[i];
    }
  }
  if (meeting->rank == 0) vv_meeting_tell(meeting, &least);
  memcpy(values, least.values, sizeof least.values);
  return 0;
}

void vv_meeting_close(struct vv_meeting *meeting) {
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) {
    if (meeting->links[rank] >= 0) hang_up(meeting, rank);
  }
}
