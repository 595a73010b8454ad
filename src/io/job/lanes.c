/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/wire/letter.h"
#include "io/os/host.h"
#include "io/os/socket.h"

enum { BACKLOG = 64, EVENTS = 16 };
/* Of what comes, so much is read at once where small messages may follow each other; larger pieces go straight to where
 * they belong. */
enum { AHEAD_BYTES = 2048, DIRECT_BYTES = 1024 };

/* How far a connection is. */
enum stage {
  NONE,
  CONNECTING, /* and waiting for the challenge */
  CALLING,    /* waiting for the answer */
  OPEN,
  LOST,
};

struct vv_lanes_lane {
  uint32_t peer;
  enum stage stage;
  int fd;                               /* -1: none */
  bool blocked;                         /* the kernel takes no more now */
  struct vv_lanes_message *messages;    /* begun and not ended */
  uint8_t nonce[VV_LETTER_NONCE_BYTES]; /* of the call */
  uint8_t letter[VV_LETTER_CALL_BYTES]; /* that is being read */
  size_t letter_got;
  uint8_t ahead[AHEAD_BYTES]; /* bytes that were read before the road wanted them */
  size_t ahead_at, ahead_end;
  struct vv_road road;
};

/* Numbers of what an epoll tells of: lanes by rank, then guests, then the listener. */
static uint64_t guest_number(const struct vv_lanes *lanes, uint32_t i) {
  return (uint64_t)lanes->ranks + i;
}

static uint64_t listener_number(const struct vv_lanes *lanes) {
  return guest_number(lanes, VV_LANES_GUESTS_MAX);
}

static void watch(const struct vv_lanes *lanes, int action, int fd, uint32_t events, uint64_t number) {
  struct epoll_event event = {.events = events, .data.u64 = number};
  epoll_ctl(lanes->fd, action, fd, &event);
}

/* Ends */

static void hang_up(struct vv_lanes_lane *lane, enum stage stage) {
  if (lane->fd >= 0) close(lane->fd);
  lane->fd = -1;
  lane->stage = stage;
  lane->blocked = false;
  lane->letter_got = lane->ahead_at = lane->ahead_end = 0;
}

static void lose(struct vv_lanes_lane *lane) {
  hang_up(lane, LOST);
  while (lane->messages != NULL) {
    struct vv_lanes_message *message = lane->messages;
    lane->messages = message->next;
    message->failed = message->ended = true;
  }
}

/* Takes out of the list what the road has done. */
static void collect(struct vv_lanes_lane *lane) {
  for (struct vv_lanes_message **place = &lane->messages; *place != NULL;) {
    struct vv_lanes_message *message = *place;
    message->ended = message->sends ? message->send.done : message->take.done;
    if (message->ended) {
      *place = message->next;
    } else {
      place = &message->next;
    }
  }
}

/* The bytes of the road */

static void mind_room(const struct vv_lanes *lanes, struct vv_lanes_lane *lane, bool blocked) {
  if (lane->blocked == blocked) return;
  lane->blocked = blocked;
  watch(lanes, EPOLL_CTL_MOD, lane->fd, blocked ? EPOLLIN | EPOLLOUT : EPOLLIN, lane->peer);
}

/* False: the connection has ended. */
static bool send_out(const struct vv_lanes *lanes, struct vv_lanes_lane *lane) {
  struct vv_road_piece pieces[2];
  for (unsigned count; (count = vv_road_out(&lane->road, pieces)) > 0;) {
    struct iovec parts[2];
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++) {
      parts[i] = (struct iovec){(void *)(uintptr_t)pieces[i].data, pieces[i].bytes};
      bytes += pieces[i].bytes;
    }
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    const ssize_t sent = sendmsg(lane->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent > 0) vv_road_left(&lane->road, (size_t)sent);
    if (sent < (ssize_t)bytes) {
      mind_room(lanes, lane, true);
      return true;
    }
  }
  mind_room(lanes, lane, false);
  return true;
}

/* Gives the road what was read ahead. False: it does not believe it. */
static bool feed(struct vv_lanes_lane *lane) {
  while (lane->ahead_at < lane->ahead_end) {
    size_t bytes;
    uint8_t *to = vv_road_in(&lane->road, &bytes);
    if (bytes > lane->ahead_end - lane->ahead_at) bytes = lane->ahead_end - lane->ahead_at;
    memcpy(to, lane->ahead + lane->ahead_at, bytes);
    lane->ahead_at += bytes;
    if (!vv_road_came(&lane->road, bytes)) return false;
  }
  return true;
}

/* Takes what has come. False: the connection has ended, or is not believed. */
static bool take_in(struct vv_lanes_lane *lane) {
  for (;;) {
    if (!feed(lane)) return false;
    size_t room;
    uint8_t *to = vv_road_in(&lane->road, &room);
    const bool direct = room >= DIRECT_BYTES;
    if (!direct) to = lane->ahead, room = AHEAD_BYTES;
    const ssize_t got = recv(lane->fd, to, room, MSG_DONTWAIT);
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (direct) {
      if (!vv_road_came(&lane->road, (size_t)got)) return false;
    } else {
      lane->ahead_at = 0;
      lane->ahead_end = (size_t)got;
    }
    if ((size_t)got < room) return feed(lane); /* there was no more */
  }
}

static void move(struct vv_lanes *lanes, struct vv_lanes_lane *lane) {
  const bool goes_on = take_in(lane);
  lanes->has_untaken |= lane->road.kept_count > 0;
  if (!goes_on || !send_out(lanes, lane)) {
    collect(lane);
    lose(lane);
    return;
  }
  collect(lane);
}

/* Calls */

static void call(const struct vv_lanes *lanes, struct vv_lanes_lane *lane) {
  const int on = 1;
  lane->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (lane->fd < 0) return lose(lane);
  setsockopt(lane->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const struct sockaddr_in *peer = &lanes->peers[lane->peer];
  lane->stage = CONNECTING;
  watch(lanes, EPOLL_CTL_ADD, lane->fd, EPOLLIN, lane->peer);
  if (connect(lane->fd, (const struct sockaddr *)peer, sizeof *peer) != 0 && errno != EINPROGRESS) lose(lane);
}

/* Reads on at a letter of that length: 1 when it is whole, 0 while it is not, -1 when the connection has ended. */
static int read_letter(int fd, uint8_t *letter, size_t *got, size_t bytes) {
  const ssize_t came = recv(fd, letter + *got, bytes - *got, MSG_DONTWAIT);
  if (came < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (came <= 0) return -1;
  *got += (size_t)came;
  return *got == bytes;
}

/*
 * A call comes to nothing. Where it was heard, and the other rank is the lower one, that
 * has called at the same time, and its call is on its way; else the rank is gone.
 */
static void give_up_call(const struct vv_lanes *lanes, struct vv_lanes_lane *lane) {
  if (lane->stage == CALLING && lane->peer < lanes->rank) {
    hang_up(lane, NONE);
  } else {
    lose(lane);
  }
}

static void go_on_calling(struct vv_lanes *lanes, struct vv_lanes_lane *lane) {
  uint8_t challenge[VV_LETTER_NONCE_BYTES];
  const bool called = lane->stage == CALLING;
  const size_t bytes = called ? VV_LETTER_ANSWER_BYTES : VV_LETTER_CHALLENGE_BYTES;
  const int whole = read_letter(lane->fd, lane->letter, &lane->letter_got, bytes);
  if (whole == 0) return;
  const bool refused = whole < 0 || (!called && !vv_letter_challenge_parse(lane->letter, challenge)) ||
                       (called && !vv_letter_answer_parse(lanes->key, lane->nonce, lane->letter));
  if (refused) return give_up_call(lanes, lane);
  lane->letter_got = 0;
  if (called) {
    lane->stage = OPEN;
    return move(lanes, lane);
  }
  struct vv_letter_call own = {.from = lanes->rank, .to = lane->peer};
  struct vv_error error;
  uint8_t letter[VV_LETTER_CALL_BYTES];
  if (vv_host_random(own.nonce, sizeof own.nonce, &error) != 0) return lose(lane);
  memcpy(lane->nonce, own.nonce, sizeof own.nonce);
  vv_letter_call_emit(lanes->key, challenge, &own, letter);
  lane->stage = CALLING;
  if (send(lane->fd, letter, sizeof letter, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof letter) lose(lane);
}

static struct vv_lanes_lane *lane_of(struct vv_lanes *lanes, uint32_t peer) {
  struct vv_lanes_lane *lane = lanes->by_rank[peer];
  if (lane != NULL) return lane;
  lane = malloc(sizeof *lane);
  if (lane == NULL) return NULL;
  memset(lane, 0, offsetof(struct vv_lanes_lane, road));
  vv_road_init(&lane->road);
  lane->peer = peer;
  lane->fd = -1;
  lanes->by_rank[peer] = lane;
  lanes->in_use = true;
  return lane;
}

/* Guests */

static void dismiss(struct vv_lanes_guest *guest) {
  if (guest->fd >= 0) close(guest->fd);
  guest->fd = -1;
  guest->got = 0;
}

static void receive_guest(struct vv_lanes *lanes) {
  const int on = 1;
  struct vv_error error;
  uint8_t letter[VV_LETTER_CHALLENGE_BYTES];
  const int fd = accept4(lanes->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  /* Who comes while all places are taken gets that of the one who has been silent for the longest. */
  const uint32_t i = lanes->guest_next++ % VV_LANES_GUESTS_MAX;
  struct vv_lanes_guest *guest = &lanes->guests[i];
  dismiss(guest);
  guest->fd = fd;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  watch(lanes, EPOLL_CTL_ADD, fd, EPOLLIN, guest_number(lanes, i));
  if (vv_host_random(guest->challenge, sizeof guest->challenge, &error) != 0) return dismiss(guest);
  vv_letter_challenge_emit(guest->challenge, letter);
  if (send(fd, letter, sizeof letter, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof letter) dismiss(guest);
}

/* Whether a call of that rank is to be answered: of two at once that of the lower rank counts. */
static bool is_welcome(const struct vv_lanes *lanes, const struct vv_lanes_lane *lane) {
  if (lane->stage == CONNECTING || lane->stage == CALLING) return lane->peer < lanes->rank;
  return lane->stage == NONE;
}

static void hear_guest(struct vv_lanes *lanes, struct vv_lanes_guest *guest) {
  struct vv_letter_call call;
  uint8_t answer[VV_LETTER_ANSWER_BYTES];
  if (guest->fd < 0) return;
  const int whole = read_letter(guest->fd, guest->letter, &guest->got, sizeof guest->letter);
  if (whole == 0) return;
  if (whole < 0 || !vv_letter_call_parse(lanes->key, guest->challenge, guest->letter, &call)) return dismiss(guest);
  if (call.to != lanes->rank || call.from >= lanes->ranks || call.from == lanes->rank) return dismiss(guest);
  struct vv_lanes_lane *lane = lane_of(lanes, call.from);
  if (lane == NULL || !is_welcome(lanes, lane)) return dismiss(guest);
  hang_up(lane, OPEN);
  lane->fd = guest->fd;
  guest->fd = -1;
  guest->got = 0;
  watch(lanes, EPOLL_CTL_MOD, lane->fd, EPOLLIN, lane->peer);
  vv_letter_answer_emit(lanes->key, call.nonce, answer);
  if (send(lane->fd, answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof answer) return lose(lane);
  move(lanes, lane);
}

/* What programs see */

void vv_lanes_begin(struct vv_lanes *lanes, uint32_t peer, struct vv_lanes_message *message) {
  struct vv_lanes_lane *lane = lane_of(lanes, peer);
  message->ended = message->failed = lane == NULL || lane->stage == LOST;
  if (message->ended) return;
  message->next = lane->messages;
  lane->messages = message;
  if (message->sends) {
    vv_road_send(&lane->road, &message->send);
  } else {
    vv_road_take(&lane->road, &message->take);
  }
  if (lane->stage == NONE) call(lanes, lane);
  if (lane->stage == OPEN) move(lanes, lane);
}

static void hear(struct vv_lanes *lanes, const struct epoll_event *event) {
  const uint64_t number = event->data.u64;
  if (number == listener_number(lanes)) return receive_guest(lanes);
  if (number >= lanes->ranks) return hear_guest(lanes, &lanes->guests[number - lanes->ranks]);
  struct vv_lanes_lane *lane = lanes->by_rank[number];
  if (lane->stage == OPEN) return move(lanes, lane);
  if (lane->fd >= 0) go_on_calling(lanes, lane);
}

bool vv_lanes_untaken(const struct vv_lanes *lanes, uint32_t peer, uint32_t *at, uint64_t *label) {
  const struct vv_lanes_lane *lane = lanes->by_rank[peer];
  return lane != NULL && vv_road_untaken(&lane->road, at, label);
}

void vv_lanes_turn(struct vv_lanes *lanes) {
  struct epoll_event events[EVENTS];
  const int count = epoll_wait(lanes->fd, events, EVENTS, 0);
  for (int i = 0; i < count; i++) hear(lanes, &events[i]);
}

void vv_lanes_lost(struct vv_lanes *lanes, uint32_t peer) {
  struct vv_lanes_lane *lane = lane_of(lanes, peer);
  if (lane != NULL) lose(lane);
}

void vv_lanes_init(struct vv_lanes *lanes) {
  memset(lanes, 0, sizeof *lanes);
  for (uint32_t i = 0; i < VV_LANES_GUESTS_MAX; i++) lanes->guests[i].fd = -1;
  lanes->fd = lanes->listener = -1;
}

int vv_lanes_listen(struct vv_lanes *lanes, const struct sockaddr_in *own, struct vv_error *error) {
  struct vv_address place = {.v4 = *own, .length = sizeof *own};
  const uint16_t port = ntohs(own->sin_port);
  lanes->listener = vv_socket_listening(&place, port, port, BACKLOG, error);
  if (lanes->listener < 0) return -1;
  /* Who connected may be gone again when it is looked for. */
  fcntl(lanes->listener, F_SETFL, fcntl(lanes->listener, F_GETFL) | O_NONBLOCK);
  return 0;
}

int vv_lanes_open(struct vv_lanes *lanes, uint32_t ranks, uint32_t rank, const struct sockaddr_in *peers,
                  const uint8_t key[VV_KEY_BYTES], struct vv_error *error) {
  lanes->ranks = ranks;
  lanes->rank = rank;
  lanes->peers = peers;
  memcpy(lanes->key, key, sizeof lanes->key);
  lanes->by_rank = calloc(ranks, sizeof(struct vv_lanes_lane *));
  if (lanes->by_rank == NULL) return vv_error_set(error, "no-memory", "no memory for the roads to %u ranks", ranks);
  lanes->fd = epoll_create1(EPOLL_CLOEXEC);
  if (lanes->fd < 0) return vv_error_errno(error, "no-descriptors", "cannot make an epoll");
  watch(lanes, EPOLL_CTL_ADD, lanes->listener, EPOLLIN, listener_number(lanes));
  return 0;
}

void vv_lanes_close(struct vv_lanes *lanes) {
  for (uint32_t i = 0; lanes->by_rank != NULL && i < lanes->ranks; i++) {
    if (lanes->by_rank[i] == NULL) continue;
    lose(lanes->by_rank[i]);
    free(lanes->by_rank[i]);
  }
  for (uint32_t i = 0; i < VV_LANES_GUESTS_MAX; i++) dismiss(&lanes->guests[i]);
  if (lanes->listener >= 0) close(lanes->listener);
  if (lanes->fd >= 0) close(lanes->fd);
  free(lanes->by_rank);
  explicit_bzero(lanes, sizeof *lanes);
  vv_lanes_init(lanes);
}
