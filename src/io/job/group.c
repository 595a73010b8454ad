/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven/group.h over the core of group (core/group), its sockets (io/port/cast)
 * and the meeting of its ranks (io/boot/meeting).
 *
 * Whoever holds the lock drives the core: the application's thread during its
 * calls, asleep in poll() with the lock held; the thread of the group else. So a
 * broadcast wakes one thread, and a peer's question is answered at any time.
 */
#include "vaiven/group.h"

#include <assert.h>
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

#include "core/group/rank.h"
#include "core/wire/accord.h"
#include "io/boot/meeting.h"
#include "io/job/group_config.h"
#include "io/job/reach.h"
#include "io/os/clock.h"
#include "io/port/cast.h"

#define TAKE_MAX 64          /* datagrams of one socket in a turn, so that no socket waits long for another */
#define LOOKS    16          /* looks for data alone between two at all sockets, of who spins */
#define AWAIT_NS (2 * VV_MS) /* nothing may be due for so long, or data are not awaited alone */
/* A deadline that the other thread will not miss by more is no reason to wake it. */
#define SLACK_NS        (5 * VV_MS)
#define FLOOD_DATAGRAMS 100           /* of strangers, a second: a flood */
#define FLOOD_BEGINS    10            /* so many may be the beginning of one */
#define TELL_NS         (10 * VV_SEC) /* the same is told again after so long at the soonest */

enum { WATCH_WAKE = VV_CAST_SOCKETS, WATCH_LINKS }; /* what is polled: the sockets of the port, this, the links */

/* Datagrams of strangers. */
struct strangers {
  uint64_t counted; /* so many until this second began */
  vv_ns since_ns;
  uint64_t many;  /* in this second */
  vv_ns flood_ns; /* when there were very many; 0: never */
  vv_ns told_ns;  /* and when that was told; 0: never */
};

struct vv_group {
  struct vv_rank core;
  void *memory; /* of the core */
  struct vv_cast cast;
  struct vv_meeting meeting;
  enum vv_group_route route;
  uint32_t timeout_ms;
  bool spin;
  void (*notice)(void *context, const char *text);
  bool (*stop)(void *context);
  void *context;
  vv_ns at_ns;            /* when this turn began: the clock is read once after each wait */
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
  vv_ns deaf_ns; /* when it was told that no multicast comes; 0: never */
  bool deaf;     /* the core says so, and it is to be told */
  bool deaf_told;
  struct vv_group_problem problem;

  unsigned generation; /* of the process that opened it */
  pthread_mutex_t lock;
  pthread_t thread;
  bool has_thread;
  bool stopping;
  int wake[2];           /* a pipe: a byte wakes the thread */
  struct pollfd *asleep; /* what the thread polls without the lock */
  vv_ns asleep_until_ns; /* when it wakes by itself */
};

/* A child of fork has the group's memory and descriptors, but not its thread: nothing of it is the child's. */

static unsigned generation; /* of processes: a child's is one more than its parent's */

static void begin_generation(void) {
  generation++;
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, begin_generation);
}

static bool is_own(const struct vv_group *group) {
  return group && group->generation == generation;
}

/* Problems */

static_assert((int)VV_GROUP_TIMEOUT == VV_CODE_TIMEOUT && (int)VV_GROUP_GONE == VV_CODE_GONE &&
                  (int)VV_GROUP_REFUSED == VV_CODE_REFUSED && (int)VV_GROUP_WRONG == VV_CODE_WRONG &&
                  (int)VV_GROUP_LACKING == VV_CODE_LACKING && (int)VV_GROUP_BROKEN == VV_CODE_BROKEN,
              "kinds are the same inside and outside");

static void problem_of(const struct vv_error *error, uint32_t rank, struct vv_group_problem *problem) {
  if (!problem) return;
  problem->kind = (enum vv_group_kind)error->kind;
  problem->code = error->code;
  problem->rank = rank == VV_MEETING_NOBODY ? -1 : (int64_t)rank;
  snprintf(problem->text, sizeof problem->text, "%s%s%s", error->text, error->remedy[0] ? "; " : "", error->remedy);
}

static void where_is(const struct vv_group *group, uint32_t rank, char text[VV_ADDRESS_TEXT_MAX]) {
  const struct vv_address address = {.v4 = group->meeting.peers[rank], .length = sizeof group->meeting.peers[rank]};
  vv_address_format_host(&address, text);
}

static void set_failure(struct vv_group *group, const struct vv_member_failure *failure) {
  static const struct {
    const char *code, *text;
  } reasons[] = {
      [VV_GPDU_DIED] = {"rank-died", "has ended without leaving the group, or cannot be reached"},
      [VV_GPDU_LEFT] = {"rank-left", "has left the group before the others were done"},
      [VV_GPDU_UNEQUAL_SIZE] = {"sizes-differ", "gave another size than the root; all ranks must give the same"},
      [VV_GPDU_UNEQUAL_ROOT] = {"roots-differ", "named another root; all ranks must name the same"},
  };
  char where[VV_ADDRESS_TEXT_MAX];
  where_is(group, failure->rank, where);
  group->failed = true;
  group->problem.kind = (enum vv_group_kind)vv_code_find(reasons[failure->why].code)->kind;
  group->problem.code = reasons[failure->why].code;
  group->problem.rank = failure->rank;
  snprintf(group->problem.text, sizeof group->problem.text, "rank %u (%s) %s, found at broadcast %u", failure->rank,
           where, reasons[failure->why].text, failure->operation);
}

static void notice(struct vv_group *group, const char *format, uint32_t rank) {
  char text[200], where[VV_ADDRESS_TEXT_MAX];
  if (!group->notice) return;
  where_is(group, rank, where);
  snprintf(text, sizeof text, format, rank, where);
  group->notice(group->context, text);
}

/* Driving the core. All of these hold the lock. */

static void begin_turn(struct vv_group *group) {
  group->at_ns = vv_clock_ns();
}

static void lock(struct vv_group *group) {
  pthread_mutex_lock(&group->lock);
  begin_turn(group);
}

/* A rank's kernel, or rank 0, says that it is gone. Rank 0 tells the others in a way that loses nothing. */
static void lose(struct vv_group *group, uint32_t rank) {
  vv_rank_lost(&group->core, group->at_ns, rank, VV_GPDU_DIED);
  const struct vv_letter_note lost = vv_letter_lost(&(struct vv_letter_refusal){VV_LETTER_DIED, rank, 0});
  if (group->meeting.rank == 0) vv_meeting_tell(&group->meeting, &lost);
}

static void hear_link(struct vv_group *group, uint32_t rank) {
  struct vv_letter_note note;
  struct vv_letter_refusal lost;
  const nfds_t place = WATCH_LINKS + (group->meeting.rank == 0 ? rank : 0);
  do {
    if (!vv_meeting_hear(&group->meeting, rank, &note)) {
      if (group->watched[place].events != 0) lose(group, rank);
      group->watched[place].fd = -1;
      return;
    }
    if (vv_letter_is_lost(&note, &lost) && lost.rank < group->meeting.ranks) lose(group, lost.rank);
    struct vv_accord accord;
    if (note.kind == VV_LETTER_WORD && group->watched[place].events != 0 &&
        vv_accord_parse(note.numbers, group->meeting.ranks, rank == 0, &accord)) {
      group->byes++;
      group->parted = group->byes >= (group->meeting.rank == 0 ? group->meeting.ranks - 1 : 1);
      group->watched[place].events = 0; /* what comes now is its end, and is in order */
    }
  } while (note.kind != VV_LETTER_NOTHING);
}

static void take(struct vv_group *group, enum vv_rank_socket from, const uint8_t *bytes, const size_t *counts,
                 unsigned came) {
  for (unsigned i = 0; i < came; i++) {
    if (counts[i] > 0) vv_rank_take(&group->core, group->at_ns, from, bytes + i * group->room, counts[i]);
  }
}

static void take_socket(struct vv_group *group, int socket) {
  const enum vv_rank_socket from = socket == VV_CAST_DATA ? VV_RANK_SOCKET_DATA : VV_RANK_SOCKET_CONTROL;
  size_t counts[VV_CAST_BATCH];
  for (int turns = 0; turns < TAKE_MAX / VV_CAST_BATCH; turns++) {
    if (socket == VV_CAST_DATA && !vv_rank_wants_data(&group->core)) return;
    const unsigned came = vv_cast_recv(&group->cast, socket, group->bytes, group->room, counts);
    take(group, from, group->bytes, counts, came);
    if (came == VV_CAST_BATCH) continue;
    if (socket == VV_CAST_DATA) vv_rank_dry(&group->core, group->at_ns);
    return;
  }
}

/* Takes what has come, by what poll() said, which looked at all sockets not before then_ns. */
static void take_ready(struct vv_group *group, vv_ns then_ns) {
  const struct pollfd *data = &group->watched[VV_CAST_DATA];
  if (data->events && !data->revents)
    vv_rank_dry(&group->core, then_ns); /* before what CONTROL says of what came since */
  for (int socket = VV_CAST_SOCKETS - 1; socket >= 0; socket--) {
    if (group->watched[socket].revents) take_socket(group, socket);
  }
  for (nfds_t i = WATCH_LINKS; i < group->watched_count; i++) {
    if (group->watched[i].revents) hear_link(group, (uint32_t)(i - WATCH_LINKS));
  }
}

static struct sockaddr_in target(const struct vv_group *group, const struct vv_rank_datagram *datagram) {
  if (datagram->way == VV_RANK_TO_RANK) return group->meeting.peers[datagram->rank];
  return datagram->way == VV_RANK_TO_DATA ? group->cast.group : vv_cast_everyone(&group->cast);
}

/* Sends some of what the core wants sent. False: there is nothing more now. */
static bool send_some(struct vv_group *group) {
  struct vv_rank_datagram datagrams[VV_CAST_BATCH];
  struct vv_cast_datagram out[VV_CAST_BATCH];
  unsigned count = 0;
  for (; count < VV_CAST_BATCH && vv_rank_next(&group->core, group->at_ns, &datagrams[count]); count++) {
    struct vv_rank_datagram *one = &datagrams[count];
    out[count] = (struct vv_cast_datagram){
        target(group, one), {{one->header, one->header_bytes}, {(void *)(uintptr_t)one->payload, one->payload_bytes}}};
  }
  if (count > 0) vv_cast_send(&group->cast, out, count);
  return count == VV_CAST_BATCH;
}

static void tell_flood(struct vv_group *group, uint64_t rate) {
  char text[400], where[VV_ADDRESS_TEXT_MAX];
  const unsigned port = ntohs(group->cast.group.sin_port);
  where_is(group, group->meeting.rank, where);
  snprintf(text, sizeof text,
           "%" PRIu64 " foreign datagrams a second come to rank %u (%s), UDP ports %u and %u or its own: they change "
           "nothing, and cost time and room. See who sends them",
           rate, group->meeting.rank, where, port, port + 1);
  if (group->notice) group->notice(group->context, text);
}

static bool is_recent(const struct vv_group *group, vv_ns then_ns) {
  return then_ns != 0 && group->at_ns - then_ns < TELL_NS;
}

/* Counts what strangers send, from second to second; when it is much, says so, and not again for a while. */
static void mind_strangers(struct vv_group *group) {
  struct strangers *strangers = &group->strangers;
  strangers->many = group->core.counts.foreign - strangers->counted;
  if (strangers->many == 0) return;
  const vv_ns spent_ns = group->at_ns - strangers->since_ns + 1;
  if (strangers->many < FLOOD_DATAGRAMS && spent_ns < VV_SEC) return;
  const uint64_t rate = strangers->many * VV_SEC / spent_ns;
  strangers->counted = group->core.counts.foreign;
  strangers->since_ns = group->at_ns;
  if (rate < FLOOD_DATAGRAMS) return;
  strangers->flood_ns = group->at_ns;
  if (is_recent(group, strangers->told_ns)) return;
  strangers->told_ns = group->at_ns;
  tell_flood(group, rate);
}

/*
 * A flood crowds out what the group sends, and then is the reason: joining again would change nothing. Nothing is told
 * while strangers' datagrams come that may be the beginning of one.
 */
static void mind_hearing(struct vv_group *group) {
  if (group->strangers.many >= FLOOD_BEGINS || is_recent(group, group->strangers.flood_ns) ||
      is_recent(group, group->deaf_ns)) {
    return;
  }
  group->deaf = false;
  group->deaf_told = true;
  group->deaf_ns = group->at_ns;
  notice(group,
         "no multicast reaches rank %u (%s): it gets every datagram by itself. See that no switch waits "
         "for an IGMP querier that is not there",
         group->meeting.rank);
  vv_cast_rejoin(&group->cast);
}

static void turn_hearing(struct vv_group *group, bool deaf) {
  if (!deaf && group->deaf_told) notice(group, "multicast reaches rank %u (%s) again", group->meeting.rank);
  if (!deaf) group->deaf_told = false;
  group->deaf = deaf;
}

static void hear_core(struct vv_group *group) {
  struct vv_rank_event event;
  mind_strangers(group);
  while (vv_rank_event(&group->core, &event)) {
    switch (event.kind) {
    case VV_RANK_DONE:
      group->done = true;
      group->size_bytes = event.size_bytes;
      break;
    case VV_RANK_CLOSED:
      group->closed = true;
      break;
    case VV_RANK_FAILED:
      set_failure(group, &event.failure);
      break;
    case VV_RANK_LATE:
      notice(group, "all wait for rank %u (%s)", event.rank);
      break;
    case VV_RANK_HEARING:
    case VV_RANK_DEAFENED:
      turn_hearing(group, event.kind == VV_RANK_DEAFENED);
      break;
    }
  }
  if (group->deaf) mind_hearing(group);
}

/* Looks at what has come, without sleeping. */
static void look(struct vv_group *group) {
  const vv_ns then_ns = group->at_ns;
  const int ready = poll(group->watched, group->watched_count, 0);
  begin_turn(group);
  if (ready > 0) take_ready(group, then_ns);
}

/* Everything that can be done now. */
static void turn(struct vv_group *group) {
  while (send_some(group)) look(group);
  hear_core(group);
}

static vv_ns sooner(vv_ns a_ns, vv_ns b_ns) {
  return b_ns < a_ns ? b_ns : a_ns;
}

/*
 * Sleeps until something or a signal comes, or that time. `fds` are those of whoever sleeps. What poll() returns: 0
 * says that it looked when the time was over, and found nothing.
 */
static int rest(struct pollfd *fds, nfds_t count, vv_ns until_ns) {
  vv_ns left_ns = until_ns == VV_NEVER ? VV_NEVER : until_ns - vv_clock_ns();
  if (left_ns < 0) left_ns = 0;
  const struct timespec left = {left_ns / VV_SEC, left_ns % VV_SEC};
  const int ready = ppoll(fds, count, left_ns == VV_NEVER ? NULL : &left, NULL);
  for (nfds_t i = 0; ready <= 0 && i < count; i++) fds[i].revents = 0;
  return ready;
}

/*
 * The application's thread sleeps in the very call that fetches what it waits for, `most` datagrams, without the lock:
 * a small message costs one system call, a large one as few as can be. The thread of the group does all else meanwhile.
 * Only if nothing is due soon.
 */
static void await_data(struct vv_group *group, unsigned most) {
  uint8_t *bytes = group->bytes + VV_CAST_BATCH * group->room;
  size_t counts[VV_CAST_BATCH];
  pthread_mutex_unlock(&group->lock);
  const unsigned came = vv_cast_await(&group->cast, bytes, group->room, counts, most);
  lock(group);
  take(group, VV_RANK_SOCKET_DATA, bytes, counts, came);
}

/* Sleeps until something comes, or is due, and takes what came. */
static void await_anything(struct vv_group *group, vv_ns deadline_ns) {
  group->watched[VV_CAST_DATA].events = vv_rank_wants_data(&group->core) ? POLLIN : 0;
  const vv_ns until_ns = group->spin ? 0 : sooner(deadline_ns, vv_rank_deadline_ns(&group->core));
  const vv_ns before_ns = group->at_ns;
  const int ready = rest(group->watched, group->watched_count, until_ns);
  begin_turn(group);
  if (ready >= 0) take_ready(group, ready == 0 && until_ns > before_ns ? until_ns : before_ns);
}

static bool may_await(const struct vv_group *group) {
  return !group->spin && group->cast.awaits && vv_rank_wants_data_alone(&group->core) &&
         vv_rank_deadline_ns(&group->core) > group->at_ns + AWAIT_NS;
}

/*
 * Drives the core until `*flag`, a failure, the deadline, or a stop. True: the flag. A stop is asked for before each
 * wait, and not by how one ends: Linux may report a signal in the last jiffy of a time-out as the time-out.
 */
static bool drive(struct vv_group *group, const bool *flag, vv_ns deadline_ns) {
  for (uint32_t waits = 0;; waits++) {
    turn(group);
    if (*flag) return true;
    if (group->failed || group->at_ns >= deadline_ns) return false;
    if (group->spin && waits % LOOKS != 0) {
      begin_turn(group);
      take_socket(group, VV_CAST_DATA);
      continue;
    }
    if (group->stop && group->stop(group->context)) {
      group->stopped = true;
      return false;
    }
    if (may_await(group)) {
      await_data(group, waits == 0 ? 1 : VV_CAST_BATCH); /* a small message is all that comes: no look for more */
    } else {
      await_anything(group, deadline_ns);
    }
  }
}

/* The thread of the group: peers get their answers while the application is elsewhere. */

static void *serve(void *argument) {
  struct vv_group *group = argument;
  lock(group);
  while (!group->stopping) {
    group->watched[VV_CAST_DATA].events = 0; /* data wait in the kernel for the application's next call */
    look(group);
    turn(group);
    memcpy(group->asleep, group->watched, group->watched_count * sizeof *group->asleep);
    group->asleep[VV_CAST_DATA].fd = -1;
    group->asleep[WATCH_WAKE] = (struct pollfd){.fd = group->wake[0], .events = POLLIN};
    group->asleep_until_ns = group->failed ? VV_NEVER : sooner(VV_NEVER, vv_rank_duty_ns(&group->core));
    pthread_mutex_unlock(&group->lock);
    rest(group->asleep, group->watched_count, group->asleep_until_ns);
    char bytes[64];
    if (group->asleep[WATCH_WAKE].revents && read(group->wake[0], bytes, sizeof bytes) < 0) bytes[0] = 0;
    lock(group);
  }
  pthread_mutex_unlock(&group->lock);
  return NULL;
}

static void wake(struct vv_group *group) {
  while (write(group->wake[1], "", 1) < 0 && errno == EINTR) continue;
}

/* The application leaves: the thread takes over, in time for the core's next deadline. */
static void hand_over(struct vv_group *group) {
  const bool early = sooner(VV_NEVER, vv_rank_duty_ns(&group->core)) < group->asleep_until_ns - SLACK_NS;
  pthread_mutex_unlock(&group->lock);
  if (early) wake(group);
}

/* Opening */

static struct vv_group *make(const struct vv_group_config *config) {
  static pthread_once_t watched = PTHREAD_ONCE_INIT;
  pthread_once(&watched, watch_forks);
  struct vv_group *group = calloc(1, sizeof *group);
  if (!group) return NULL;
  group->meeting = (struct vv_meeting){.ranks = config->ranks, .rank = config->rank, .lost = VV_MEETING_NOBODY};
  group->generation = generation;
  group->cast = (struct vv_cast){.fds = {-1, -1, -1}};
  group->wake[0] = group->wake[1] = -1;
  group->timeout_ms = config->timeout_ms;
  group->spin = config->spin;
  group->notice = config->notice;
  group->stop = config->stop;
  group->context = config->context;
  group->watched_count = WATCH_LINKS + (config->rank == 0 ? config->ranks : 1);
  group->watched = calloc(group->watched_count, sizeof *group->watched);
  group->asleep = calloc(group->watched_count, sizeof *group->asleep);
  pthread_mutex_init(&group->lock, NULL);
  return group;
}

static void destroy(struct vv_group *group) {
  vv_cast_close(&group->cast);
  vv_meeting_close(&group->meeting);
  for (int i = 0; i < 2; i++) {
    if (group->wake[i] >= 0) close(group->wake[i]);
  }
  pthread_mutex_destroy(&group->lock);
  free(group->watched);
  free(group->asleep);
  free(group->bytes);
  free(group->memory);
  explicit_bzero(group, sizeof *group); /* the core's keys */
  free(group);
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
static int meet(struct vv_group *group, const struct vv_group_config *config, struct vv_error *error) {
  const vv_ns deadline_ns = vv_clock_ns() + config->timeout_ms * VV_MS;
  struct vv_meeting_config meeting = {.ranks = config->ranks, .rank = config->rank, .key = config->key};
  if (find_place(config, &meeting.place, error) != 0) return -1;
  if (vv_cast_open(&group->cast, config->address, error) != 0) return -1;
  meeting.own = group->cast.own;
  if (vv_meeting_open(&group->meeting, &meeting, deadline_ns, error) != 0) return -1;
  struct vv_reach reach = {.route = config->route, .port = vv_address_port(&meeting.place)};
  if (vv_reach(&reach, &group->meeting, &group->cast, group->meeting.key, deadline_ns, error) != 0) return -1;
  group->route = reach.route;
  struct vv_rank_config rank_config = {.ranks = config->ranks,
                                       .rank = config->rank,
                                       .stream = reach.stream,
                                       .datagram_bytes = reach.datagram_bytes,
                                       .window_datagrams = reach.window_datagrams,
                                       .rtt_ns = reach.rtt_ns,
                                       .shared_bps = reach.shared_bps};
  group->room = reach.datagram_bytes;
  group->bytes = malloc((size_t)2 * VV_CAST_BATCH * group->room);
  group->memory = malloc(vv_rank_bytes(&rank_config));
  if (!group->bytes || !group->memory) return vv_error_set(error, "no-memory", "no memory for the group's datagrams");
  memcpy(rank_config.key, group->meeting.key, sizeof rank_config.key);
  vv_rank_init(&group->core, group->memory, &rank_config);
  explicit_bzero(&rank_config, sizeof rank_config);
  return 0;
}

static void watch(struct vv_group *group) {
  for (int i = 0; i < VV_CAST_SOCKETS; i++)
    group->watched[i] = (struct pollfd){.fd = group->cast.fds[i], .events = POLLIN};
  group->watched[WATCH_WAKE].fd = -1;
  for (nfds_t i = WATCH_LINKS; i < group->watched_count; i++) {
    group->watched[i] = (struct pollfd){.fd = group->meeting.links[i - WATCH_LINKS].fd, .events = POLLIN};
  }
}

static int start_thread(struct vv_group *group, struct vv_error *error) {
  if (pipe2(group->wake, O_CLOEXEC) != 0) return vv_error_errno(error, "no-pipe", "cannot make a pipe");
  /* Signals are the application's affair: they break its waits, not this thread's. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&group->thread, NULL, serve, group);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed != 0) {
    errno = failed;
    return vv_error_errno(error, "no-thread", "cannot start the thread that answers peers");
  }
  group->has_thread = true;
  return 0;
}

/* The others, if they have met, need not wait for this rank. */
static void give_up(struct vv_group *group) {
  const struct vv_letter_refusal refusal = {VV_LETTER_GAVE_UP, group->meeting.rank, 0};
  const struct vv_letter_note lost = vv_letter_lost(&refusal);
  if (group->meeting.links) vv_meeting_tell(&group->meeting, &lost);
  destroy(group);
}

struct vv_group *vv_group_open(const struct vv_group_config *config, struct vv_group_problem *problem) {
  struct vv_error error = {0};
  if (vv_group_config_check(config, &error) != 0) return problem_of(&error, VV_MEETING_NOBODY, problem), NULL;
  struct vv_group *group = make(config);
  if (!group || !group->watched || !group->asleep) {
    vv_error_set(&error, "no-memory", "no memory for a group of %u ranks", config->ranks);
  } else if (config->ranks == 1) {
    group->route = config->route == VV_GROUP_ANY ? VV_GROUP_MULTICAST : config->route;
    return group;
  } else if (meet(group, config, &error) == 0) {
    watch(group);
    if (start_thread(group, &error) == 0) return group;
  }
  problem_of(&error, group ? group->meeting.lost : VV_MEETING_NOBODY, problem);
  if (group) give_up(group);
  return NULL;
}

/* Use */

static int check_operation(const struct vv_group *group, const struct vv_rank_operation *operation,
                           struct vv_group_problem *problem) {
  struct vv_error error;
  if (!group) {
    vv_error_set(&error, "bad-call", "there is no group");
  } else if (!is_own(group)) {
    vv_error_set(&error, "bad-call", "the group is that of the process which this one was forked from");
  } else if (!operation->buffer && operation->size_bytes > 0) {
    vv_error_set(&error, "bad-call", "a message of bytes has no buffer");
  } else if (operation->root >= group->meeting.ranks) {
    vv_error_set(&error, "bad-rank", "there is no rank %u in a group of %u", operation->root, group->meeting.ranks);
  } else if (operation->size_bytes > VV_GPDU_SIZE_BYTES_MAX) {
    vv_error_set(&error, "bad-size", "a message has %" PRIu64 " bytes at most", VV_GPDU_SIZE_BYTES_MAX);
  } else {
    return 0;
  }
  problem_of(&error, VV_MEETING_NOBODY, problem);
  return -1;
}

/* An operation, begun or gone on with. */
static int operate(struct vv_group *group, const struct vv_rank_operation *operation, size_t *size_bytes,
                   struct vv_group_problem *problem) {
  if (check_operation(group, operation, problem) != 0) return -1;
  if (group->meeting.ranks == 1) return 0;
  lock(group);
  if (!group->failed) {
    if (!group->stopped) {
      group->done = false; /* one that was broken off may be done by now */
      vv_rank_start(&group->core, group->at_ns, operation);
    }
    group->stopped = false;
    drive(group, &group->done, VV_NEVER);
  }
  int result = group->stopped ? VV_GROUP_STOPPED : 0;
  if (group->failed) {
    if (problem) *problem = group->problem;
    result = -1;
  }
  if (size_bytes && result == 0) *size_bytes = group->size_bytes;
  hand_over(group);
  return result;
}

int vv_group_broadcast(struct vv_group *group, uint32_t root, void *buffer, size_t size_bytes,
                       struct vv_group_problem *problem) {
  const struct vv_rank_operation operation = {
      .root = root, .buffer = buffer, .size_bytes = size_bytes, .size_known = true};
  return operate(group, &operation, NULL, problem);
}

int vv_group_receive(struct vv_group *group, uint32_t root, void *buffer, size_t room_bytes, size_t *size_bytes,
                     struct vv_group_problem *problem) {
  const struct vv_rank_operation operation = {.root = root, .buffer = buffer, .size_bytes = room_bytes};
  return operate(group, &operation, size_bytes, problem);
}

void vv_group_move(struct vv_group *group, void *buffer, size_t room_bytes) {
  if (!is_own(group)) return;
  lock(group);
  if (group->stopped) vv_rank_redirect(&group->core, group->at_ns, buffer, room_bytes);
  pthread_mutex_unlock(&group->lock);
}

uint64_t vv_group_foreign(const struct vv_group *group) {
  struct vv_group *own = (struct vv_group *)(uintptr_t)group;
  if (!is_own(group)) return 0;
  lock(own);
  const uint64_t foreign = group->core.counts.foreign;
  pthread_mutex_unlock(&own->lock);
  return foreign;
}

enum vv_group_route vv_group_route_of(const struct vv_group *group) {
  return group ? group->route : VV_GROUP_ANY;
}

uint64_t vv_group_shared_bps(const struct vv_group *group) {
  return group ? group->core.config.shared_bps : 0;
}

void vv_group_repairs(const struct vv_group *group, uint64_t *given, uint64_t *asked) {
  struct vv_group *own = (struct vv_group *)(uintptr_t)group;
  uint64_t own_given = 0, own_asked = 0;
  if (is_own(group)) {
    lock(own);
    own_given = group->core.counts.repairs_one + group->core.counts.repairs_all;
    own_asked = group->core.counts.asks;
    pthread_mutex_unlock(&own->lock);
  }
  if (given) *given = own_given;
  if (asked) *asked = own_asked;
}

/*
 * All ranks say bye when they need nobody; rank 0 answers when all have. Until
 * then each answers its peers. A rank that was broken off in an operation needs
 * nobody: its root has not begun it, and leaves too.
 */
static void part(struct vv_group *group) {
  const vv_ns deadline_ns = vv_clock_ns() + group->timeout_ms * VV_MS;
  const struct vv_accord accord = {.what = group->meeting.rank == 0 ? VV_ACCORD_ENDED : VV_ACCORD_BYE};
  struct vv_letter_note bye = {.kind = VV_LETTER_WORD};
  vv_accord_emit(&accord, bye.numbers);
  group->stop = NULL; /* bounded by the time-out alone */
  if (!group->stopped) {
    vv_rank_close(&group->core, group->at_ns);
    if (!drive(group, &group->closed, deadline_ns)) return;
  }
  if (group->meeting.rank != 0) vv_meeting_tell(&group->meeting, &bye);
  drive(group, &group->parted, deadline_ns);
  if (group->meeting.rank == 0) vv_meeting_tell(&group->meeting, &bye);
}

void vv_group_leave(struct vv_group *group) {
  if (!group) return;
  if (group->has_thread && is_own(group)) {
    lock(group);
    if (!group->failed) part(group);
    group->stopping = true;
    pthread_mutex_unlock(&group->lock);
    wake(group);
    pthread_join(group->thread, NULL);
  }
  destroy(group);
}
