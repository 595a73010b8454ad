/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven/group.h over the core of group (core/group), its sockets (io/port/cast)
 * and the meeting of its ranks (io/boot/meeting).
 *
 * Whoever holds the lock drives the core: the application's thread during its
 * calls, asleep in poll() with the lock held; the thread of this end else. So a
 * broadcast wakes one thread, and a peer's question is answered at any time.
 */
#include "vaiven/group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/group/group.h"
#include "core/wire/bytes.h"
#include "io/boot/meeting.h"
#include "io/engine/reach.h"
#include "io/os/clock.h"
#include "io/port/cast.h"

#define TAKE_MAX 64      /* datagrams of one socket in a turn, so that no socket waits long for another */
#define LOOKS    16      /* looks for data alone between two at all sockets, of who spins */
#define AWAIT_NS 2000000 /* nothing may be due for so long, or data are not awaited alone */
/* A deadline that the other thread will not miss by more is no reason to wake it. */
#define SLACK_NS        5000000
#define SECOND_NS       UINT64_C(1000000000)
#define FLOOD_DATAGRAMS 100              /* of strangers, a second: a flood */
#define FLOOD_BEGINS    10               /* so many may be the beginning of one */
#define TELL_NS         (10 * SECOND_NS) /* the same is told again after so long at the soonest */

enum { WATCH_WAKE = VV_CAST_SOCKETS, WATCH_LINKS }; /* what is polled: the sockets of the port, this, the links */

/* Datagrams of strangers. */
struct strangers {
  uint64_t counted, since_ns; /* so many until this second began */
  uint64_t many;              /* in this second */
  uint64_t flood_ns;          /* when there were very many; 0: never */
  uint64_t told_ns;           /* and when that was told; 0: never */
};

struct vv_group_end {
  struct vv_group core;
  void *memory; /* of the core */
  struct vv_cast cast;
  struct vv_meeting meeting;
  enum vv_group_route route;
  uint32_t timeout_ms;
  bool spin;
  void (*notice)(void *context, const char *text);
  bool (*stop)(void *context);
  void *context;
  uint64_t at_ns;         /* when this turn began: the clock is read once after each wait */
  uint8_t *bytes;         /* room for what who holds the lock takes, then for what is awaited without it */
  size_t room;            /* for one */
  struct pollfd *watched; /* of who holds the lock */
  nfds_t watched_count;
  bool done, failed, closed; /* what the core has told */
  bool stopped;              /* a call was broken off: its operation goes on */
  uint64_t size_bytes;       /* of the message that is done */
  uint32_t byes;             /* from how many linked ranks, which then need nobody any more */
  bool parted;               /* from all of them */
  struct strangers strangers;
  uint64_t deaf_ns; /* when it was told that no multicast comes; 0: never */
  bool deaf;        /* the core says so, and it is to be told */
  bool deaf_told;
  struct vv_group_problem problem;

  pthread_mutex_t lock;
  pthread_t thread;
  bool has_thread;
  bool stopping;
  int wake[2];             /* a pipe: a byte wakes the thread */
  struct pollfd *asleep;   /* what the thread polls without the lock */
  int64_t asleep_until_ns; /* when it wakes by itself */
};

/* Problems */

static void problem_of(const struct vv_error *error, uint32_t rank, struct vv_group_problem *problem) {
  problem->code = error->code;
  problem->rank = rank == VV_MEETING_NOBODY ? -1 : (int64_t)rank;
  snprintf(problem->text, sizeof problem->text, "%s%s%s", error->text, error->remedy[0] ? "; " : "", error->remedy);
}

static void where_is(const struct vv_group_end *end, uint32_t rank, char text[VV_ADDRESS_TEXT_MAX]) {
  const struct vv_address address = {.v4 = end->meeting.peers[rank], .length = sizeof end->meeting.peers[rank]};
  vv_address_format_host(&address, text);
}

static void set_failure(struct vv_group_end *end, const struct vv_group_failure *failure) {
  static const struct {
    const char *code, *text;
  } reasons[] = {
      [VV_GROUP_DIED] = {"rank-died", "has ended without leaving the group, or cannot be reached"},
      [VV_GROUP_LEFT] = {"rank-left", "has left the group before the others were done"},
      [VV_GROUP_UNEQUAL_SIZE] = {"sizes-differ", "gave another size than the root; all ranks must give the same"},
      [VV_GROUP_UNEQUAL_ROOT] = {"roots-differ", "named another root; all ranks must name the same"},
  };
  char where[VV_ADDRESS_TEXT_MAX];
  where_is(end, failure->rank, where);
  end->failed = true;
  end->problem.code = reasons[failure->why].code;
  end->problem.rank = failure->rank;
  snprintf(end->problem.text, sizeof end->problem.text, "rank %u (%s) %s, found at broadcast %u", failure->rank, where,
           reasons[failure->why].text, failure->operation);
}

static void notice(struct vv_group_end *end, const char *format, uint32_t rank) {
  char text[200], where[VV_ADDRESS_TEXT_MAX];
  if (!end->notice) return;
  where_is(end, rank, where);
  snprintf(text, sizeof text, format, rank, where);
  end->notice(end->context, text);
}

/* Driving the core. All of these hold the lock. */

static void begin_turn(struct vv_group_end *end) {
  end->at_ns = (uint64_t)vv_clock_ns();
}

static void lock(struct vv_group_end *end) {
  pthread_mutex_lock(&end->lock);
  begin_turn(end);
}

/* A rank's kernel, or rank 0, says that it is gone. Rank 0 tells the others in a way that loses nothing. */
static void lose(struct vv_group_end *end, uint32_t rank) {
  vv_group_lost(&end->core, end->at_ns, rank, VV_GROUP_DIED);
  const struct vv_letter_note lost = vv_letter_lost(&(struct vv_letter_refusal){VV_LETTER_DIED, rank, 0});
  if (end->meeting.rank == 0) vv_meeting_tell(&end->meeting, &lost);
}

static void hear_link(struct vv_group_end *end, uint32_t rank) {
  struct vv_letter_note note;
  struct vv_letter_refusal lost;
  const nfds_t place = WATCH_LINKS + (end->meeting.rank == 0 ? rank : 0);
  do {
    if (!vv_meeting_hear(&end->meeting, rank, &note)) {
      if (end->watched[place].events != 0) lose(end, rank);
      end->watched[place].fd = -1;
      return;
    }
    if (vv_letter_is_lost(&note, &lost) && lost.rank < end->meeting.ranks) lose(end, lost.rank);
    if (note.kind == VV_LETTER_BYE && end->watched[place].events != 0) {
      end->byes++;
      end->parted = end->byes >= (end->meeting.rank == 0 ? end->meeting.ranks - 1 : 1);
      end->watched[place].events = 0; /* what comes now is its end, and is in order */
    }
  } while (note.kind != VV_LETTER_NOTHING);
}

static void take(struct vv_group_end *end, enum vv_group_socket from, const uint8_t *bytes, const size_t *counts,
                 unsigned came) {
  for (unsigned i = 0; i < came; i++) {
    if (counts[i] > 0) vv_group_take(&end->core, end->at_ns, from, bytes + i * end->room, counts[i]);
  }
}

static void take_socket(struct vv_group_end *end, int socket) {
  const enum vv_group_socket from = socket == VV_CAST_DATA ? VV_GROUP_SOCKET_DATA : VV_GROUP_SOCKET_CONTROL;
  size_t counts[VV_CAST_BATCH];
  for (int turns = 0; turns < TAKE_MAX / VV_CAST_BATCH; turns++) {
    if (socket == VV_CAST_DATA && !vv_group_wants_data(&end->core)) return;
    const unsigned came = vv_cast_recv(&end->cast, socket, end->bytes, end->room, counts);
    take(end, from, end->bytes, counts, came);
    if (came == VV_CAST_BATCH) continue;
    if (socket == VV_CAST_DATA) vv_group_dry(&end->core, end->at_ns);
    return;
  }
}

/* Takes what has come, by what poll() said, which looked at all sockets not before then_ns. */
static void take_ready(struct vv_group_end *end, uint64_t then_ns) {
  const struct pollfd *data = &end->watched[VV_CAST_DATA];
  if (data->events && !data->revents)
    vv_group_dry(&end->core, then_ns); /* before what CONTROL says of what came since */
  for (int socket = VV_CAST_SOCKETS - 1; socket >= 0; socket--) {
    if (end->watched[socket].revents) take_socket(end, socket);
  }
  for (nfds_t i = WATCH_LINKS; i < end->watched_count; i++) {
    if (end->watched[i].revents) hear_link(end, (uint32_t)(i - WATCH_LINKS));
  }
}

static struct sockaddr_in target(const struct vv_group_end *end, const struct vv_group_datagram *datagram) {
  if (datagram->way == VV_GROUP_TO_RANK) return end->meeting.peers[datagram->rank];
  return datagram->way == VV_GROUP_TO_DATA ? end->cast.group : vv_cast_everyone(&end->cast);
}

/* Sends some of what the core wants sent. False: there is nothing more now. */
static bool send_some(struct vv_group_end *end) {
  struct vv_group_datagram datagrams[VV_CAST_BATCH];
  struct vv_cast_datagram out[VV_CAST_BATCH];
  unsigned count = 0;
  for (; count < VV_CAST_BATCH && vv_group_next(&end->core, end->at_ns, &datagrams[count]); count++) {
    struct vv_group_datagram *one = &datagrams[count];
    out[count] = (struct vv_cast_datagram){
        target(end, one), {{one->header, one->header_bytes}, {(void *)(uintptr_t)one->payload, one->payload_bytes}}};
  }
  if (count > 0) vv_cast_send(&end->cast, out, count);
  return count == VV_CAST_BATCH;
}

static void tell_flood(struct vv_group_end *end, uint64_t rate) {
  char text[400], where[VV_ADDRESS_TEXT_MAX];
  const unsigned port = ntohs(end->cast.group.sin_port);
  where_is(end, end->meeting.rank, where);
  snprintf(text, sizeof text,
           "%" PRIu64 " foreign datagrams a second come to rank %u (%s), UDP ports %u and %u or its own: they change "
           "nothing, and cost time and room. See who sends them",
           rate, end->meeting.rank, where, port, port + 1);
  if (end->notice) end->notice(end->context, text);
}

static bool is_recent(const struct vv_group_end *end, uint64_t then_ns) {
  return then_ns != 0 && end->at_ns - then_ns < TELL_NS;
}

/* Counts what strangers send, from second to second; when it is much, says so, and not again for a while. */
static void mind_strangers(struct vv_group_end *end) {
  struct strangers *strangers = &end->strangers;
  strangers->many = end->core.counts.foreign - strangers->counted;
  if (strangers->many == 0) return;
  const uint64_t spent_ns = end->at_ns - strangers->since_ns + 1;
  if (strangers->many < FLOOD_DATAGRAMS && spent_ns < SECOND_NS) return;
  const uint64_t rate = strangers->many * SECOND_NS / spent_ns;
  strangers->counted = end->core.counts.foreign;
  strangers->since_ns = end->at_ns;
  if (rate < FLOOD_DATAGRAMS) return;
  strangers->flood_ns = end->at_ns;
  if (is_recent(end, strangers->told_ns)) return;
  strangers->told_ns = end->at_ns;
  tell_flood(end, rate);
}

/*
 * A flood crowds out what the group sends, and then is the reason: joining again would change nothing. Nothing is told
 * while strangers' datagrams come that may be the beginning of one.
 */
static void mind_hearing(struct vv_group_end *end) {
  if (end->strangers.many >= FLOOD_BEGINS || is_recent(end, end->strangers.flood_ns) || is_recent(end, end->deaf_ns)) {
    return;
  }
  end->deaf = false;
  end->deaf_told = true;
  end->deaf_ns = end->at_ns;
  notice(end,
         "no multicast reaches rank %u (%s): it gets every datagram by itself. See that no switch waits "
         "for an IGMP querier that is not there",
         end->meeting.rank);
  vv_cast_rejoin(&end->cast);
}

static void turn_hearing(struct vv_group_end *end, bool deaf) {
  if (!deaf && end->deaf_told) notice(end, "multicast reaches rank %u (%s) again", end->meeting.rank);
  if (!deaf) end->deaf_told = false;
  end->deaf = deaf;
}

static void hear_core(struct vv_group_end *end) {
  struct vv_group_event event;
  mind_strangers(end);
  while (vv_group_event(&end->core, &event)) {
    switch (event.kind) {
    case VV_GROUP_DONE:
      end->done = true;
      end->size_bytes = event.size_bytes;
      break;
    case VV_GROUP_CLOSED:
      end->closed = true;
      break;
    case VV_GROUP_FAILED:
      set_failure(end, &event.failure);
      break;
    case VV_GROUP_LATE:
      notice(end, "all wait for rank %u (%s)", event.rank);
      break;
    case VV_GROUP_HEARING:
    case VV_GROUP_DEAFENED:
      turn_hearing(end, event.kind == VV_GROUP_DEAFENED);
      break;
    }
  }
  if (end->deaf) mind_hearing(end);
}

/* Looks at what has come, without sleeping. */
static void look(struct vv_group_end *end) {
  const uint64_t then_ns = end->at_ns;
  const int ready = poll(end->watched, end->watched_count, 0);
  begin_turn(end);
  if (ready > 0) take_ready(end, then_ns);
}

/* Everything that can be done now. */
static void turn(struct vv_group_end *end) {
  while (send_some(end)) look(end);
  hear_core(end);
}

static int64_t sooner(int64_t a_ns, uint64_t b_ns) {
  return b_ns < (uint64_t)a_ns ? (int64_t)b_ns : a_ns;
}

/*
 * Sleeps until something or a signal comes, or that time. `fds` are those of whoever sleeps. What poll() returns: 0
 * says that it looked when the time was over, and found nothing.
 */
static int rest(struct pollfd *fds, nfds_t count, int64_t until_ns) {
  int64_t left_ns = until_ns == INT64_MAX ? INT64_MAX : until_ns - vv_clock_ns();
  if (left_ns < 0) left_ns = 0;
  const struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
  const int ready = ppoll(fds, count, left_ns == INT64_MAX ? NULL : &left, NULL);
  for (nfds_t i = 0; ready <= 0 && i < count; i++) fds[i].revents = 0;
  return ready;
}

/*
 * The application's thread sleeps in the very call that fetches what it waits for, `most` datagrams, without the lock:
 * a small message costs one system call, a large one as few as can be. The thread of this end does all else meanwhile.
 * Only if nothing is due soon.
 */
static void await_data(struct vv_group_end *end, unsigned most) {
  uint8_t *bytes = end->bytes + VV_CAST_BATCH * end->room;
  size_t counts[VV_CAST_BATCH];
  pthread_mutex_unlock(&end->lock);
  const unsigned came = vv_cast_await(&end->cast, bytes, end->room, counts, most);
  lock(end);
  take(end, VV_GROUP_SOCKET_DATA, bytes, counts, came);
}

/* Sleeps until something comes, or is due, and takes what came. */
static void await_anything(struct vv_group_end *end, int64_t deadline_ns) {
  end->watched[VV_CAST_DATA].events = vv_group_wants_data(&end->core) ? POLLIN : 0;
  const int64_t until_ns = end->spin ? 0 : sooner(deadline_ns, vv_group_deadline_ns(&end->core));
  const uint64_t before_ns = end->at_ns;
  const int ready = rest(end->watched, end->watched_count, until_ns);
  begin_turn(end);
  if (ready >= 0) take_ready(end, ready == 0 && (uint64_t)until_ns > before_ns ? (uint64_t)until_ns : before_ns);
}

static bool may_await(const struct vv_group_end *end) {
  return !end->spin && end->cast.awaits && vv_group_wants_data_alone(&end->core) &&
         vv_group_deadline_ns(&end->core) > end->at_ns + AWAIT_NS;
}

/*
 * Drives the core until `*flag`, a failure, the deadline, or a stop. True: the flag. A stop is asked for before each
 * wait, and not by how one ends: Linux may report a signal in the last jiffy of a time-out as the time-out.
 */
static bool drive(struct vv_group_end *end, const bool *flag, int64_t deadline_ns) {
  for (uint32_t waits = 0;; waits++) {
    turn(end);
    if (*flag) return true;
    if (end->failed || (int64_t)end->at_ns >= deadline_ns) return false;
    if (end->spin && waits % LOOKS != 0) {
      begin_turn(end);
      take_socket(end, VV_CAST_DATA);
      continue;
    }
    if (end->stop && end->stop(end->context)) {
      end->stopped = true;
      return false;
    }
    if (may_await(end)) {
      await_data(end, waits == 0 ? 1 : VV_CAST_BATCH); /* a small message is all that comes: no look for more */
    } else {
      await_anything(end, deadline_ns);
    }
  }
}

/* The thread of this end: peers get their answers while the application is elsewhere. */

static void *serve(void *argument) {
  struct vv_group_end *end = argument;
  lock(end);
  while (!end->stopping) {
    end->watched[VV_CAST_DATA].events = 0; /* data wait in the kernel for the application's next call */
    look(end);
    turn(end);
    memcpy(end->asleep, end->watched, end->watched_count * sizeof *end->asleep);
    end->asleep[VV_CAST_DATA].fd = -1;
    end->asleep[WATCH_WAKE] = (struct pollfd){.fd = end->wake[0], .events = POLLIN};
    end->asleep_until_ns = end->failed ? INT64_MAX : sooner(INT64_MAX, vv_group_duty_ns(&end->core));
    pthread_mutex_unlock(&end->lock);
    rest(end->asleep, end->watched_count, end->asleep_until_ns);
    char bytes[64];
    if (end->asleep[WATCH_WAKE].revents && read(end->wake[0], bytes, sizeof bytes) < 0) bytes[0] = 0;
    lock(end);
  }
  pthread_mutex_unlock(&end->lock);
  return NULL;
}

static void wake(struct vv_group_end *end) {
  while (write(end->wake[1], "", 1) < 0 && errno == EINTR) continue;
}

/* The application leaves: the thread takes over, in time for the core's next deadline. */
static void hand_over(struct vv_group_end *end) {
  const bool early = sooner(INT64_MAX, vv_group_duty_ns(&end->core)) < end->asleep_until_ns - SLACK_NS;
  pthread_mutex_unlock(&end->lock);
  if (early) wake(end);
}

/* Opening */

static int check_config(const struct vv_group_config *config, struct vv_error *error) {
  if (config->ranks < 1 || config->ranks > VV_GROUP_ENDS_MAX || config->rank >= config->ranks) {
    return vv_error_set(error, "bad-rank", "rank %u of %u: ranks go from 0, and a group has 1 to %u", config->rank,
                        config->ranks, VV_GROUP_ENDS_MAX);
  }
  static const uint8_t zeros[VV_KEY_BYTES];
  if (memcmp(config->key, zeros, sizeof zeros) == 0) {
    vv_error_set(error, "bad-key", "the key of the group is all zeros, which anybody can guess");
    return vv_error_remedy(
        error, "give all ranks the same %d random bytes (getrandom, or a file that others cannot read)", VV_KEY_BYTES);
  }
  return 0;
}

static struct vv_group_end *make(const struct vv_group_config *config) {
  struct vv_group_end *end = calloc(1, sizeof *end);
  if (!end) return NULL;
  end->meeting = (struct vv_meeting){.ranks = config->ranks, .rank = config->rank, .lost = VV_MEETING_NOBODY};
  end->cast = (struct vv_cast){.fds = {-1, -1, -1}};
  end->wake[0] = end->wake[1] = -1;
  end->timeout_ms = config->timeout_ms;
  end->spin = config->spin;
  end->notice = config->notice;
  end->stop = config->stop;
  end->context = config->context;
  end->watched_count = WATCH_LINKS + (config->rank == 0 ? config->ranks : 1);
  end->watched = calloc(end->watched_count, sizeof *end->watched);
  end->asleep = calloc(end->watched_count, sizeof *end->asleep);
  pthread_mutex_init(&end->lock, NULL);
  return end;
}

static void destroy(struct vv_group_end *end) {
  vv_cast_close(&end->cast);
  vv_meeting_close(&end->meeting);
  for (int i = 0; i < 2; i++) {
    if (end->wake[i] >= 0) close(end->wake[i]);
  }
  pthread_mutex_destroy(&end->lock);
  free(end->watched);
  free(end->asleep);
  free(end->bytes);
  free(end->memory);
  explicit_bzero(end, sizeof *end); /* the core's keys */
  free(end);
}

static int find_place(const struct vv_group_config *config, struct vv_address *place, struct vv_error *error) {
  if (vv_address_parse_pair(config->meeting, place, error) != 0) return -1;
  if (place->any.sa_family != AF_INET) return vv_error_set(error, "bad-address", "a group needs IPv4 addresses");
  if (vv_address_port(place) != 0 && vv_address_port(place) != UINT16_MAX) return 0;
  vv_error_set(error, "bad-port", "a group cannot meet at %.64s: it needs that port and the one after it",
               config->meeting);
  return vv_error_remedy(error, "give a port from 1 to 65534");
}

/* The meeting, and the core on what was agreed there. */
static int meet(struct vv_group_end *end, const struct vv_group_config *config, struct vv_error *error) {
  const int64_t deadline_ns = vv_clock_ns() + (int64_t)config->timeout_ms * 1000000;
  struct vv_meeting_config meeting = {.ranks = config->ranks, .rank = config->rank, .key = config->key};
  if (find_place(config, &meeting.place, error) != 0) return -1;
  if (vv_cast_open(&end->cast, config->address, error) != 0) return -1;
  meeting.own = end->cast.own;
  if (vv_meeting_open(&end->meeting, &meeting, deadline_ns, error) != 0) return -1;
  struct vv_reach reach = {.route = config->route, .port = vv_address_port(&meeting.place)};
  if (vv_reach(&reach, &end->meeting, &end->cast, end->meeting.key, deadline_ns, error) != 0) return -1;
  end->route = reach.route;
  struct vv_group_wanted wanted = {.ranks = config->ranks,
                                   .rank = config->rank,
                                   .stream = reach.stream,
                                   .datagram_bytes = reach.datagram_bytes,
                                   .window_datagrams = reach.window_datagrams,
                                   .rtt_ns = reach.rtt_ns,
                                   .burst_datagrams = 1};
  end->room = reach.datagram_bytes;
  end->bytes = malloc((size_t)2 * VV_CAST_BATCH * end->room);
  end->memory = malloc(vv_group_bytes(&wanted));
  if (!end->bytes || !end->memory) return vv_error_set(error, "no-memory", "no memory for the group's datagrams");
  memcpy(wanted.key, end->meeting.key, sizeof wanted.key);
  vv_group_init(&end->core, end->memory, &wanted);
  explicit_bzero(&wanted, sizeof wanted);
  return 0;
}

static void watch(struct vv_group_end *end) {
  for (int i = 0; i < VV_CAST_SOCKETS; i++) end->watched[i] = (struct pollfd){.fd = end->cast.fds[i], .events = POLLIN};
  end->watched[WATCH_WAKE].fd = -1;
  for (nfds_t i = WATCH_LINKS; i < end->watched_count; i++) {
    end->watched[i] = (struct pollfd){.fd = end->meeting.links[i - WATCH_LINKS].fd, .events = POLLIN};
  }
}

static int start_thread(struct vv_group_end *end, struct vv_error *error) {
  if (pipe2(end->wake, O_CLOEXEC) != 0) return vv_error_errno(error, "no-pipe", "cannot make a pipe");
  /* Signals are the application's affair: they break its waits, not this thread's. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&end->thread, NULL, serve, end);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed != 0) {
    errno = failed;
    return vv_error_errno(error, "no-thread", "cannot start the thread that answers peers");
  }
  end->has_thread = true;
  return 0;
}

/* The others, if they have met, need not wait for this rank. */
static void give_up(struct vv_group_end *end) {
  const struct vv_letter_refusal refusal = {VV_LETTER_GAVE_UP, end->meeting.rank, 0};
  const struct vv_letter_note lost = vv_letter_lost(&refusal);
  if (end->meeting.links) vv_meeting_tell(&end->meeting, &lost);
  destroy(end);
}

struct vv_group_end *vv_group_open(const struct vv_group_config *config, struct vv_group_problem *problem) {
  struct vv_error error = {0};
  if (check_config(config, &error) != 0) return problem_of(&error, VV_MEETING_NOBODY, problem), NULL;
  struct vv_group_end *end = make(config);
  if (!end || !end->watched || !end->asleep) {
    vv_error_set(&error, "no-memory", "no memory for a group of %u ranks", config->ranks);
  } else if (config->ranks == 1) {
    end->route = config->route == VV_GROUP_ANY ? VV_GROUP_MULTICAST : config->route;
    return end;
  } else if (meet(end, config, &error) == 0) {
    watch(end);
    if (start_thread(end, &error) == 0) return end;
  }
  problem_of(&error, end ? end->meeting.lost : VV_MEETING_NOBODY, problem);
  if (end) give_up(end);
  return NULL;
}

/* Use */

static int check_operation(const struct vv_group_end *end, const struct vv_group_operation *operation,
                           struct vv_group_problem *problem) {
  struct vv_error error;
  if (operation->root >= end->meeting.ranks) {
    vv_error_set(&error, "bad-rank", "there is no rank %u in a group of %u", operation->root, end->meeting.ranks);
  } else if (operation->size_bytes > VV_GROUP_SIZE_BYTES_MAX) {
    vv_error_set(&error, "bad-size", "a message has %" PRIu64 " bytes at most", VV_GROUP_SIZE_BYTES_MAX);
  } else {
    return 0;
  }
  problem_of(&error, VV_MEETING_NOBODY, problem);
  return -1;
}

/* An operation, begun or gone on with. */
static int operate(struct vv_group_end *end, const struct vv_group_operation *operation, size_t *size_bytes,
                   struct vv_group_problem *problem) {
  if (check_operation(end, operation, problem) != 0) return -1;
  if (end->meeting.ranks == 1) return 0;
  lock(end);
  if (!end->failed) {
    if (!end->stopped) {
      end->done = false; /* one that was broken off may be done by now */
      vv_group_start(&end->core, end->at_ns, operation);
    }
    end->stopped = false;
    drive(end, &end->done, INT64_MAX);
  }
  int result = end->stopped ? VV_GROUP_STOPPED : 0;
  if (end->failed) {
    *problem = end->problem;
    result = -1;
  }
  if (size_bytes && result == 0) *size_bytes = end->size_bytes;
  hand_over(end);
  return result;
}

int vv_group_broadcast(struct vv_group_end *end, uint32_t root, void *buffer, size_t size_bytes,
                       struct vv_group_problem *problem) {
  const struct vv_group_operation operation = {
      .root = root, .buffer = buffer, .size_bytes = size_bytes, .size_known = true};
  return operate(end, &operation, NULL, problem);
}

int vv_group_receive(struct vv_group_end *end, uint32_t root, void *buffer, size_t room_bytes, size_t *size_bytes,
                     struct vv_group_problem *problem) {
  const struct vv_group_operation operation = {.root = root, .buffer = buffer, .size_bytes = room_bytes};
  return operate(end, &operation, size_bytes, problem);
}

void vv_group_move(struct vv_group_end *end, void *buffer, size_t room_bytes) {
  lock(end);
  if (end->stopped) vv_group_redirect(&end->core, end->at_ns, buffer, room_bytes);
  pthread_mutex_unlock(&end->lock);
}

uint64_t vv_group_foreign(const struct vv_group_end *end) {
  struct vv_group_end *own = (struct vv_group_end *)(uintptr_t)end;
  lock(own);
  const uint64_t foreign = end->core.counts.foreign;
  pthread_mutex_unlock(&own->lock);
  return foreign;
}

enum vv_group_route vv_group_route_of(const struct vv_group_end *end) {
  return end->route;
}

void vv_group_repairs(const struct vv_group_end *end, uint64_t *given, uint64_t *asked) {
  struct vv_group_end *own = (struct vv_group_end *)(uintptr_t)end;
  lock(own);
  *given = end->core.counts.repairs_one + end->core.counts.repairs_all;
  *asked = end->core.counts.asks;
  pthread_mutex_unlock(&own->lock);
}

/*
 * All ranks say bye when they need nobody; rank 0 answers when all have. Until
 * then each answers its peers. A rank that was broken off in an operation needs
 * nobody: its root has not begun it, and leaves too.
 */
static void part(struct vv_group_end *end) {
  const int64_t deadline_ns = vv_clock_ns() + (int64_t)end->timeout_ms * 1000000;
  const struct vv_letter_note bye = {.kind = VV_LETTER_BYE};
  end->stop = NULL; /* bounded by the time-out alone */
  if (!end->stopped) {
    vv_group_close(&end->core, end->at_ns);
    if (!drive(end, &end->closed, deadline_ns)) return;
  }
  if (end->meeting.rank != 0) vv_meeting_tell(&end->meeting, &bye);
  drive(end, &end->parted, deadline_ns);
  if (end->meeting.rank == 0) vv_meeting_tell(&end->meeting, &bye);
}

void vv_group_leave(struct vv_group_end *end) {
  if (!end) return;
  if (end->has_thread) {
    lock(end);
    if (!end->failed) part(end);
    end->stopping = true;
    pthread_mutex_unlock(&end->lock);
    wake(end);
    pthread_join(end->thread, NULL);
  }
  destroy(end);
}
