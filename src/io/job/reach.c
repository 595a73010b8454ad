/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/reach.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/group/credit.h"
#include "core/group/rank.h"
#include "core/wire/trial.h"
#include "io/os/clock.h"
#include "io/os/datagram.h"

#define TRAIN_MAX           16 /* enough for all ways of sending; one is charged what many are charged */
#define UDP_BYTES           28 /* headers of IPv4 and UDP */
#define MTU_MIN             ((uint32_t)(VV_GPDU_DATAGRAM_BYTES_MIN + UDP_BYTES))
#define DATAGRAM_CHARGE_MIN 256           /* no kernel charges less for one */
#define DATAGRAM_MAX        8972          /* jumbo frames; loopback allows more, of which few fit into a buffer */
#define TAIL_NS             (60 * VV_MS)  /* for it: sixteen full datagrams at 10 Mb/s take 20 */
#define QUIET_NS            VV_MS         /* nothing more has come for so long: a train that is whole is there */
#define SETTLE_NS           (30 * VV_MS)  /* the same of one that is not: what is missing is lost */
#define SILENCE_NS          (400 * VV_MS) /* nothing has come at all: nothing will */
#define RTT_NS_MIN          VV_MS
#define RTT_NS_MAX          (100 * VV_MS)
#define ROUNDS              3
#define MBPS                UINT64_C(1000000)
#define NOT_SHARED          UINT32_MAX
/* Where foreign datagrams may have crowded a train out: datagrams so far apart, to ranks that read all the while. */
#define LISTENINGS     3
#define LISTEN_NS      (200 * VV_MS) /* at most, for the first datagram of the job */
#define LISTEN_TRAIN   25
#define LISTEN_WAIT_MS 4
#define CROWD_RATE     500 /* foreign datagrams a second: fewer crowd nothing out of a socket that is read */

/* What every rank needs in the trial. */
struct reach_trial {
  struct vv_reach *reach;
  struct vv_meeting *meeting;
  struct vv_cast *cast;
  const uint8_t *key;
  vv_ns deadline_ns;
  uint32_t train; /* datagrams: at most half of the smallest buffer */
  struct vv_error *error;
};

/* What came to the DATA socket. */
struct heard {
  uint32_t good, foreign; /* trial datagrams of this job; others */
  bool read;              /* something was read: */
  uint32_t counted;       /* so many were good then, */
  uint64_t charged_bytes; /* and that was charged for all that was there */
};

/* What a kernel may charge for a datagram of that size, if it does not say. */
static uint64_t charge_guess_bytes(const struct vv_reach *reach) {
  return 2 * (uint64_t)reach->datagram_bytes + 1024;
}

static int agree(const struct reach_trial *trial, uint32_t a, uint32_t b, uint32_t agreed[VV_MEETING_VALUES]) {
  const uint32_t values[VV_MEETING_VALUES] = {a, b, 0, 0};
  memcpy(agreed, values, sizeof values);
  return vv_meeting_agree(trial->meeting, agreed, trial->deadline_ns, trial->error);
}

struct sockaddr_in vv_reach_place(const struct vv_reach *reach, const struct sockaddr_in *peer, uint32_t rank,
                                  int socket) {
  struct sockaddr_in place = *peer;
  place.sin_port = htons(reach->ports[rank][socket]);
  return place;
}

static void send_to(const struct reach_trial *trial, struct sockaddr_in place, struct vv_cast_datagram *datagrams,
                    unsigned count) {
  for (unsigned i = 0; i < count; i++) datagrams[i].to = place;
  vv_cast_send(trial->cast, datagrams, count);
}

/* To that socket of all. */
static void send_to_all(const struct reach_trial *trial, int socket, struct vv_cast_datagram *datagrams,
                        unsigned count) {
  const struct vv_meeting *meeting = trial->meeting;
  if (!trial->reach->ports) return send_to(trial, vv_cast_place(trial->cast, socket), datagrams, count);
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) {
    if (rank == meeting->rank) continue;
    send_to(trial, vv_reach_place(trial->reach, &meeting->peers[rank], rank, socket), datagrams, count);
  }
}

static void send_one(const struct reach_trial *trial, uint32_t number, const uint8_t *padding) {
  uint8_t header[VV_TRIAL_BYTES];
  vv_trial_emit(trial->key, trial->reach->stream, number, header);
  struct vv_cast_datagram datagram = {
      .pieces = {{header, VV_TRIAL_BYTES},
                 {(void *)(uintptr_t)padding, trial->reach->datagram_bytes - VV_TRIAL_BYTES}}};
  send_to_all(trial, VV_CAST_DATA, &datagram, 1);
}

/* Behind a train, to the other socket: whoever gets it need not guess whether more is to come. */
static void send_tail(const struct reach_trial *trial) {
  uint8_t header[VV_TRIAL_BYTES];
  vv_trial_emit(trial->key, trial->reach->stream, VV_TRIAL_TAIL + trial->meeting->rank, header);
  struct vv_cast_datagram datagram = {.pieces = {{header, VV_TRIAL_BYTES}, {NULL, 0}}};
  send_to_all(trial, VV_CAST_EVERYONE, &datagram, 1);
}

/* `at_once` by one call: kernels may charge another sum for what is given to them so. */
static void send_train(const struct reach_trial *trial, unsigned at_once, const uint8_t *padding) {
  uint8_t headers[VV_CAST_BATCH][VV_TRIAL_BYTES];
  struct vv_cast_datagram datagrams[VV_CAST_BATCH];
  for (uint32_t sent = 0, count; sent < trial->train; sent += count) {
    count = trial->train - sent < at_once ? trial->train - sent : at_once;
    for (uint32_t i = 0; i < count; i++) {
      vv_trial_emit(trial->key, trial->reach->stream, sent + i, headers[i]);
      datagrams[i] = (struct vv_cast_datagram){
          .pieces = {{headers[i], VV_TRIAL_BYTES},
                     {(void *)(uintptr_t)padding, trial->reach->datagram_bytes - VV_TRIAL_BYTES}}};
    }
    send_to_all(trial, VV_CAST_DATA, datagrams, count);
  }
}

/* Waits until nothing more comes for quiet_ns, or nothing at all for silence_ns; what the kernel charged by then. */
static uint64_t settle(const struct reach_trial *trial, vv_ns quiet_ns, vv_ns silence_ns) {
  const int fd = trial->cast->fds[VV_CAST_DATA];
  const struct timespec nap = {.tv_nsec = quiet_ns / 8};
  const vv_ns begin_ns = vv_clock_ns();
  vv_ns changed_ns = begin_ns;
  uint64_t charged_bytes = 0;
  for (;;) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    const bool heard = poll(&one, 1, 0) > 0;
    const uint64_t now_bytes = vv_datagram_charged_bytes(fd);
    const vv_ns now_ns = vv_clock_ns();
    if (now_bytes != charged_bytes) changed_ns = now_ns;
    charged_bytes = now_bytes;
    if (heard ? now_ns - changed_ns > quiet_ns : now_ns - begin_ns > silence_ns) return charged_bytes;
    nanosleep(&nap, NULL);
  }
}

/* Takes some of what is there. False: there is no more. */
static bool take_some(const struct reach_trial *trial, uint8_t *bytes, struct heard *heard) {
  const size_t room = trial->reach->datagram_bytes;
  size_t counts[VV_CAST_BATCH];
  uint32_t number;
  const unsigned came = vv_cast_recv(trial->cast, VV_CAST_DATA, bytes, room, counts);
  for (unsigned i = 0; i < came; i++) {
    const bool good =
        counts[i] == room && vv_trial_parse(trial->key, trial->reach->stream, bytes + i * room, counts[i], &number);
    heard->good += good;
    heard->foreign += !good;
  }
  return came == VV_CAST_BATCH;
}

/* Reads the train, and what else is there: no more than fits into the buffer, for strangers may go on. */
static void hear_all(const struct reach_trial *trial, uint8_t *bytes, struct heard *heard) {
  const uint64_t most = heard->good + heard->foreign + trial->cast->room_bytes / DATAGRAM_CHARGE_MIN + trial->train;
  while (heard->good + heard->foreign < most && take_some(trial, bytes, heard)) continue;
}

/* Waits for the datagram behind a train of that rank, and reads nothing else. */
static bool await_tail(const struct reach_trial *trial, uint32_t sender, uint8_t *bytes) {
  const size_t room = trial->reach->datagram_bytes;
  const vv_ns until_ns = vv_clock_ns() + TAIL_NS;
  struct pollfd one = {.fd = trial->cast->fds[VV_CAST_EVERYONE], .events = POLLIN};
  size_t counts[VV_CAST_BATCH];
  uint32_t number;
  bool came = false;
  while (!came && vv_clock_ns() < until_ns) {
    poll(&one, 1, vv_clock_left_ms(until_ns));
    const unsigned heard = vv_cast_recv(trial->cast, VV_CAST_EVERYONE, bytes, room, counts);
    for (unsigned i = 0; i < heard; i++) {
      came |= vv_trial_parse(trial->key, trial->reach->stream, bytes + i * room, counts[i], &number) &&
              number == VV_TRIAL_TAIL + sender;
    }
  }
  return came;
}

/* Reads what is there for the first time: by then the kernel has charged for all of it. */
static void hear_first(const struct reach_trial *trial, uint8_t *bytes, uint64_t charged_bytes, struct heard *heard) {
  hear_all(trial, bytes, heard);
  heard->counted = heard->good;
  heard->charged_bytes = charged_bytes;
  heard->read = true;
}

/* Reads a train that has not come whole with what tells its end: all is sent, and what has not come yet may be lost. */
static void hear_rest(const struct reach_trial *trial, uint8_t *bytes, struct heard *heard) {
  if (!heard->read) hear_first(trial, bytes, settle(trial, QUIET_NS, SILENCE_NS), heard);
  if (heard->good >= trial->train) return;
  settle(trial, SETTLE_NS, SETTLE_NS);
  hear_all(trial, bytes, heard);
}

/* What the kernel charged for one datagram; 0: it does not say, or not of these alone. */
static uint64_t charge_bytes(const struct heard *heard) {
  const bool told = heard->counted > 0 && heard->good == heard->counted && heard->foreign == 0;
  return told && heard->charged_bytes > 0 ? heard->charged_bytes / heard->counted + 1 : 0;
}

static uint32_t window(const struct reach_trial *trial, uint64_t charge_bytes) {
  const uint32_t datagrams = vv_credit_datagrams(trial->cast->room_bytes, charge_bytes);
  return datagrams > 8 ? datagrams : 8;
}

/* How many full datagrams may be in the buffer of this rank, by what the train cost; 0: nothing came. */
static uint32_t window_by_train(const struct reach_trial *trial, const struct heard *heard) {
  if (heard->good == 0) return 0;
  const uint64_t charge = charge_bytes(heard);
  return window(trial, charge > 0 ? charge : charge_guess_bytes(trial->reach));
}

static void send_apart(const struct reach_trial *trial, const uint8_t *padding) {
  for (uint32_t i = 0; i < LISTEN_TRAIN; i++) {
    send_one(trial, i, padding);
    poll(NULL, 0, LISTEN_WAIT_MS);
  }
}

/* Reads until a datagram of the job comes, or the time is over. What strangers send a second goes to *rate. */
static bool listen_to(const struct reach_trial *trial, uint8_t *bytes, uint32_t *rate) {
  struct pollfd one = {.fd = trial->cast->fds[VV_CAST_DATA], .events = POLLIN};
  const vv_ns begin_ns = vv_clock_ns();
  struct heard heard = {0};
  while (heard.good == 0 && vv_clock_ns() - begin_ns < LISTEN_NS) {
    if (!take_some(trial, bytes, &heard) && heard.good == 0) poll(&one, 1, LISTEN_WAIT_MS);
  }
  const uint64_t foreign_rate = (uint64_t)heard.foreign * VV_SEC / (uint64_t)(vv_clock_ns() - begin_ns + 1);
  if (heard.good == 0 && foreign_rate > *rate) *rate = (uint32_t)foreign_rate;
  return heard.good > 0;
}

/*
 * The train did not come, and foreign datagrams did: whether these are the reason. As try_way; an error, if they
 * may be, for whoever sends them shall not choose the route.
 */
static int try_crowded(const struct reach_trial *trial, uint8_t *bytes, uint32_t agreed[VV_MEETING_VALUES]) {
  uint32_t rate = 0;
  for (int listening = 0; listening < LISTENINGS; listening++) {
    uint32_t least = window(trial, charge_guess_bytes(trial->reach)), own_rate = 0;
    for (uint32_t sender = 0; sender < 2; sender++) {
      if (agree(trial, 0, 0, agreed) != 0) return -1; /* all listen */
      if (trial->meeting->rank == sender) send_apart(trial, bytes);
      if (trial->meeting->rank != sender && !listen_to(trial, bytes, &own_rate)) least = 0;
    }
    if (agree(trial, least, UINT32_MAX - own_rate, agreed) != 0) return -1;
    if (agreed[0] > 0) return 1;
    rate = UINT32_MAX - agreed[1];
    if (rate < CROWD_RATE) return 0;
  }
  vv_error_set(trial->error, "flooded",
               "%u foreign datagrams a second come to UDP port %u of a rank, and may be why what the group sends to "
               "everybody does not",
               rate, trial->reach->port);
  return vv_error_remedy(trial->error, "see who sends them (tcpdump -n udp port %u)", trial->reach->port);
}

/* What all ranks can send and hold, and on which medium: the least that any of them says, which may be anything. Told
 * when this rank listens. */
static int cut(struct reach_trial *trial) {
  struct vv_reach *reach = trial->reach;
  const uint32_t own_bytes = trial->cast->mtu_bytes, own_mbps = trial->cast->shared_mbps;
  uint32_t agreed[VV_MEETING_VALUES] = {own_bytes, (uint32_t)trial->cast->room_bytes,
                                        own_mbps > 0 ? own_mbps : NOT_SHARED};
  if (vv_meeting_agree(trial->meeting, agreed, trial->deadline_ns, trial->error) != 0) return -1;
  reach->shared_bps = agreed[2] < NOT_SHARED ? agreed[2] * MBPS : 0;
  if (agreed[0] < MTU_MIN) {
    vv_error_set(trial->error, "mtu-too-small",
                 "the interface of a rank has an MTU of %u bytes, and a group needs %u; this rank's has %u", agreed[0],
                 MTU_MIN, own_bytes);
    return vv_error_remedy(trial->error, "see `ip link` on all hosts, and set the MTU that the network has (1500)");
  }
  reach->datagram_bytes = agreed[0] - UDP_BYTES < DATAGRAM_MAX ? agreed[0] - UDP_BYTES : DATAGRAM_MAX;
  vv_cast_cut(trial->cast, reach->datagram_bytes);
  const uint64_t train = agreed[1] / 2 / charge_guess_bytes(reach);
  trial->train = train < 4 ? 4 : train > TRAIN_MAX ? TRAIN_MAX : (uint32_t)train;
  return 0;
}

static void narrow(uint32_t *least, uint32_t window_datagrams) {
  if (window_datagrams < *least) *least = window_datagrams;
}

/*
 * A train of that rank. The least window goes to agreed[0], and in *least that of this rank; in agreed[1] is
 * UINT32_MAX less the foreign datagrams of who got most. Who got the tail and all before it needs no more than one
 * agreement, after which all listen to the next train; where anybody lacks something, that agreement says that all is
 * sent.
 */
static int try_sender(const struct reach_trial *trial, uint32_t sender, uint8_t *bytes, uint32_t *least,
                      uint32_t agreed[VV_MEETING_VALUES]) {
  const bool sends = trial->meeting->rank == sender;
  struct heard heard = {0};
  if (sends) {
    send_train(trial, sender == 0 ? 1 : VV_CAST_BATCH, bytes);
    send_tail(trial);
  } else if (await_tail(trial, sender, bytes)) {
    hear_first(trial, bytes, vv_datagram_charged_bytes(trial->cast->fds[VV_CAST_DATA]), &heard);
  }
  const bool whole = sends || heard.good >= trial->train;
  if (!sends && whole) narrow(least, window_by_train(trial, &heard));
  if (agree(trial, whole ? *least : 0, UINT32_MAX - heard.foreign, agreed) != 0) return -1;
  if (agreed[0] > 0) return 0;
  if (!whole) {
    hear_rest(trial, bytes, &heard);
    narrow(least, window_by_train(trial, &heard));
  }
  return agree(trial, *least, UINT32_MAX - heard.foreign, agreed);
}

/* A way of reaching everybody, which was joined. 1: it does, and agreed[0] is the window; 0: it does not; -1 and the
 * error. */
static int try_way(struct reach_trial *trial, uint8_t *bytes, uint32_t agreed[VV_MEETING_VALUES]) {
  uint32_t least = UINT32_MAX, fewest = UINT32_MAX;
  if (cut(trial) != 0) return -1; /* all listen */
  for (uint32_t sender = 0; sender < 2; sender++) {
    if (try_sender(trial, sender, bytes, &least, agreed) != 0) return -1;
    if (agreed[1] < fewest) fewest = agreed[1];
  }
  if (agreed[0] > 0) return 1;
  return fewest == UINT32_MAX ? 0 : try_crowded(trial, bytes, agreed);
}

/*
 * The quickest of a few agreements of the slowest rank, of which each tells of those before it. None more than needed:
 * what is quicker than RTT_NS_MIN counts as that. All come from an agreement, so that the first waits for nobody.
 */
static int measure_rtt(const struct reach_trial *trial, vv_ns *rtt_ns) {
  uint32_t agreed[VV_MEETING_VALUES];
  vv_ns quickest_ns = RTT_NS_MAX, slowest_ns = RTT_NS_MAX;
  for (int i = 0; i <= ROUNDS && slowest_ns > RTT_NS_MIN; i++) {
    const vv_ns begin_ns = vv_clock_ns();
    if (agree(trial, UINT32_MAX - (uint32_t)quickest_ns, 0, agreed) != 0) return -1;
    const vv_ns spent_ns = vv_clock_ns() - begin_ns;
    slowest_ns = UINT32_MAX - agreed[0];
    if (spent_ns < quickest_ns) quickest_ns = spent_ns;
  }
  *rtt_ns = slowest_ns > RTT_NS_MIN ? slowest_ns : RTT_NS_MIN;
  return 0;
}

static bool hosts_are_shared(const struct vv_meeting *meeting) {
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) {
    const bool same = meeting->peers[rank].sin_addr.s_addr == meeting->peers[meeting->rank].sin_addr.s_addr;
    if (same && rank != meeting->rank) return true;
  }
  return false;
}

static int try_multicast(struct reach_trial *trial, uint8_t *bytes, uint32_t agreed[VV_MEETING_VALUES]) {
  const struct vv_reach *reach = trial->reach;
  const struct in_addr address = vv_cast_group_of(trial->key, reach->stream);
  const bool shared = hosts_are_shared(trial->meeting);
  if (vv_cast_join(trial->cast, address, reach->port, reach->stream, shared, trial->error) != 0) return -1;
  return try_way(trial, bytes, agreed);
}

/* Where a rank has no such address, and there are other ways, it takes part, and reaches nobody. */
static int try_broadcast(struct reach_trial *trial, bool alone, uint8_t *bytes, uint32_t agreed[VV_MEETING_VALUES]) {
  const struct vv_reach *reach = trial->reach;
  const bool shared = hosts_are_shared(trial->meeting);
  struct vv_address all = {.v4 = trial->cast->own, .length = sizeof all.v4};
  if (vv_address_broadcast(&all, trial->error) != 0) {
    if (alone) return -1;
    all.v4 = trial->cast->own;
  }
  if (vv_cast_join(trial->cast, all.v4.sin_addr, reach->port, reach->stream, shared, trial->error) != 0) return -1;
  return try_way(trial, bytes, agreed);
}

/* All ranks tell each other where they hear: two in each agreement, in which all others say the most there is. */
static int tell_ports(const struct reach_trial *trial) {
  const struct vv_meeting *meeting = trial->meeting;
  for (uint32_t rank = 0; rank < meeting->ranks; rank += 2) {
    uint32_t agreed[VV_MEETING_VALUES] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < VV_MEETING_VALUES; i++) {
      if (rank + i / 2 == meeting->rank) agreed[i] = trial->cast->ports[i % 2];
    }
    if (vv_meeting_agree(trial->meeting, agreed, trial->deadline_ns, trial->error) != 0) return -1;
    for (uint32_t i = 0; i < VV_MEETING_VALUES && rank + i / 2 < meeting->ranks; i++)
      trial->reach->ports[rank + i / 2][i % 2] = (uint16_t)agreed[i];
  }
  return 0;
}

static int try_unicast(struct reach_trial *trial, uint8_t *bytes, uint32_t agreed[VV_MEETING_VALUES]) {
  struct vv_reach *reach = trial->reach;
  if (vv_cast_join_alone(trial->cast, reach->stream, trial->error) != 0) return -1;
  reach->ports = calloc(trial->meeting->ranks, sizeof *reach->ports);
  if (!reach->ports) return vv_error_set(trial->error, "no-memory", "no memory for the ports of a group");
  if (tell_ports(trial) != 0) return -1;
  return try_way(trial, bytes, agreed);
}

static int reached_nobody(const struct reach_trial *trial) {
  const struct vv_reach *reach = trial->reach;
  vv_error_set(trial->error, "no-multicast", "datagrams to everybody do not reach all ranks");
  if (reach->ports)
    return vv_error_remedy(
        trial->error,
        "firewalls must let UDP in between all ranks: what was sent to each by itself did not come, either");
  return vv_error_remedy(trial->error,
                         "all ranks must be on one subnet; a switch that snoops IGMP needs a querier; "
                         "firewalls must let UDP ports %u and %u in",
                         reach->port, reach->port + 1);
}

/* The route that was asked for, or the first that reaches all. */
static int choose(struct reach_trial *trial, uint8_t *bytes) {
  struct vv_reach *reach = trial->reach;
  const enum vv_group_route wanted = reach->route;
  uint32_t agreed[VV_MEETING_VALUES];
  int reached = 0;
  for (int route = VV_GROUP_MULTICAST; reached == 0 && route <= VV_GROUP_UNICAST; route++) {
    if (wanted != VV_GROUP_ANY && wanted != (enum vv_group_route)route) continue;
    reach->route = (enum vv_group_route)route;
    if (route == VV_GROUP_MULTICAST) reached = try_multicast(trial, bytes, agreed);
    if (route == VV_GROUP_BROADCAST) reached = try_broadcast(trial, wanted != VV_GROUP_ANY, bytes, agreed);
    if (route == VV_GROUP_UNICAST) reached = try_unicast(trial, bytes, agreed);
  }
  if (reached < 0) return -1;
  if (reached == 0) return reached_nobody(trial);
  reach->window_datagrams = agreed[0] < VV_RANK_WINDOW_MIN ? VV_RANK_WINDOW_MIN : agreed[0];
  return 0;
}

int vv_reach(struct vv_reach *reach, struct vv_meeting *meeting, struct vv_cast *cast, const uint8_t key[VV_KEY_BYTES],
             vv_ns deadline_ns, struct vv_error *error) {
  struct reach_trial trial = {reach, meeting, cast, key, deadline_ns, 0, error};
  const uint8_t label[8] = {'s', 't', 'r', 'e', 'a', 'm', (uint8_t)(reach->port >> 8), (uint8_t)reach->port};
  reach->stream = (uint32_t)vv_siphash(key, label, sizeof label) & VV_GPDU_STREAM_MAX & ~(VV_DATAGRAM_STREAMS - 1u);
  uint8_t *bytes = calloc(VV_CAST_BATCH, DATAGRAM_MAX);
  if (!bytes) return vv_error_set(error, "no-memory", "no memory for the datagrams of a trial");
  int result = choose(&trial, bytes);
  if (result == 0) result = measure_rtt(&trial, &reach->rtt_ns);
  free(bytes);
  return result;
}
