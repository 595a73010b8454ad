/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/engine/reach.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "core/group/credit.h"
#include "core/wire/bytes.h"
#include "io/os/clock.h"
#include "io/os/datagram.h"

#define TRAIN_MAX    80
#define TRIAL_BYTES  16        /* kind (1) stream (3) number (4) tag (8) */
#define UDP_BYTES    28        /* headers of IPv4 and UDP */
#define DATAGRAM_MAX 8972      /* jumbo frames; loopback allows more, of which few fit into a buffer */
#define SETTLE_NS    30000000  /* nothing more has come for so long: the train is over */
#define SILENCE_NS   400000000 /* nothing has come at all: nothing will */
#define RTT_NS_MIN   1000000
#define RTT_NS_MAX   100000000
#define ROUNDS       3

/* What every rank needs in the trial. */
struct trial {
  const struct vv_reach *reach;
  struct vv_meeting *meeting;
  struct vv_cast *cast;
  const uint8_t *key;
  int64_t deadline_ns;
  uint32_t train; /* datagrams: about half of the smallest buffer */
  struct vv_error *error;
};

/* What a kernel may charge for a datagram of that size, if it does not say. */
static uint64_t charge_guess_bytes(const struct vv_reach *reach) {
  return 2 * (uint64_t)reach->datagram_bytes + 1024;
}

static int agree(const struct trial *trial, uint32_t a, uint32_t b, uint32_t agreed[VV_MEETING_VALUES]) {
  const uint32_t values[VV_MEETING_VALUES] = {a, b, 0, 0};
  memcpy(agreed, values, sizeof values);
  return vv_meeting_agree(trial->meeting, agreed, trial->deadline_ns, trial->error);
}

static void trial_header(const struct trial *trial, uint32_t number, uint8_t header[TRIAL_BYTES]) {
  vv_put32(header, (uint32_t)VV_CAST_TRIAL << 24 | trial->reach->stream);
  vv_put32(header + 4, number);
  vv_put64(header + 8, vv_siphash(trial->key, header, 8));
}

/* `at_once` by one call: kernels may charge another sum for what is given to them so. */
static void send_train(const struct trial *trial, unsigned at_once, const uint8_t *padding) {
  uint8_t headers[VV_CAST_BATCH][TRIAL_BYTES];
  struct vv_cast_datagram datagrams[VV_CAST_BATCH];
  for (uint32_t sent = 0, count; sent < trial->train; sent += count) {
    count = trial->train - sent < at_once ? trial->train - sent : at_once;
    for (uint32_t i = 0; i < count; i++) {
      trial_header(trial, sent + i, headers[i]);
      datagrams[i] = (struct vv_cast_datagram){
          trial->cast->group,
          {{headers[i], TRIAL_BYTES}, {(void *)(uintptr_t)padding, trial->reach->datagram_bytes - TRIAL_BYTES}}};
    }
    vv_cast_send(trial->cast, datagrams, count);
  }
}

/* Waits until nothing more comes; what the kernel has then charged for it all. */
static uint64_t settle(const struct trial *trial) {
  const int fd = trial->cast->fds[VV_CAST_DATA];
  const int64_t begin_ns = vv_clock_ns();
  int64_t changed_ns = begin_ns;
  uint64_t charged_bytes = 0;
  for (;;) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    const bool heard = poll(&one, 1, 0) > 0;
    const uint64_t now_bytes = vv_datagram_charged_bytes(fd);
    const int64_t now_ns = vv_clock_ns();
    if (now_bytes != charged_bytes) changed_ns = now_ns;
    charged_bytes = now_bytes;
    if (heard ? now_ns - changed_ns > SETTLE_NS : now_ns - begin_ns > SILENCE_NS) return charged_bytes;
    poll(NULL, 0, 5);
  }
}

/* Reads the train, and what else is there: how many trial datagrams of this job have come. */
static uint32_t count_train(const struct trial *trial, uint8_t *bytes) {
  uint8_t header[TRIAL_BYTES];
  const size_t room = trial->reach->datagram_bytes;
  size_t counts[VV_CAST_BATCH];
  uint32_t good = 0;
  unsigned came;
  do {
    came = vv_cast_recv(trial->cast, VV_CAST_DATA, bytes, room, counts);
    for (unsigned i = 0; i < came; i++) {
      if (counts[i] != room) continue;
      trial_header(trial, vv_get32(bytes + i * room + 4), header);
      good += vv_equal_constant_time(header, bytes + i * room, TRIAL_BYTES);
    }
  } while (came == VV_CAST_BATCH);
  return good;
}

/* How many full datagrams may be in the buffer of this rank, by what the train cost; 0: nothing came. */
static uint32_t window(const struct trial *trial, uint8_t *bytes) {
  const uint64_t charged_bytes = settle(trial);
  const uint32_t came = count_train(trial, bytes);
  if (came == 0) return 0;
  const uint64_t charge_bytes = charged_bytes ? charged_bytes / came + 1 : charge_guess_bytes(trial->reach);
  const uint32_t datagrams = vv_credit_datagrams(trial->cast->room_bytes, charge_bytes);
  return datagrams > 8 ? datagrams : 8;
}

/* One way of reaching everybody. 1: it does, and agreed[0] is the window; 0: it does not; -1 and the error. */
static int try_address(const struct trial *trial, struct in_addr address, bool shared, uint8_t *bytes,
                       uint32_t agreed[VV_MEETING_VALUES]) {
  uint32_t least = UINT32_MAX;
  if (vv_cast_join(trial->cast, address, trial->reach->port, trial->reach->stream, shared, trial->error) != 0)
    return -1;
  for (uint32_t sender = 0; sender < 2; sender++) {
    if (agree(trial, 0, 0, agreed) != 0) return -1; /* all listen */
    if (trial->meeting->rank == sender) send_train(trial, sender == 0 ? 1 : VV_CAST_BATCH, bytes);
    if (agree(trial, 0, 0, agreed) != 0) return -1; /* all is sent */
    const uint32_t own = trial->meeting->rank == sender ? UINT32_MAX : window(trial, bytes);
    if (own < least) least = own;
  }
  if (agree(trial, least, 0, agreed) != 0) return -1;
  return agreed[0] > 0;
}

/* The quickest of a few agreements of the slowest rank. */
static int measure_rtt(const struct trial *trial, uint64_t *rtt_ns) {
  uint32_t agreed[VV_MEETING_VALUES];
  int64_t quickest_ns = RTT_NS_MAX;
  for (int i = 0; i <= ROUNDS; i++) {
    const int64_t begin_ns = vv_clock_ns();
    if (agree(trial, 0, 0, agreed) != 0) return -1;
    const int64_t spent_ns = vv_clock_ns() - begin_ns;
    if (i > 0 && spent_ns < quickest_ns) quickest_ns = spent_ns; /* the first one waits for who is late */
  }
  if (agree(trial, UINT32_MAX - (uint32_t)quickest_ns, 0, agreed) != 0) return -1;
  *rtt_ns = UINT32_MAX - agreed[0];
  if (*rtt_ns < RTT_NS_MIN) *rtt_ns = RTT_NS_MIN;
  return 0;
}

static bool hosts_are_shared(const struct vv_meeting *meeting) {
  for (uint32_t rank = 0; rank < meeting->ranks; rank++) {
    const bool same = meeting->peers[rank].sin_addr.s_addr == meeting->peers[meeting->rank].sin_addr.s_addr;
    if (same && rank != meeting->rank) return true;
  }
  return false;
}

/* The first route that reaches all. */
static int choose(const struct trial *trial, struct vv_reach *reach, uint8_t *bytes) {
  uint32_t agreed[VV_MEETING_VALUES];
  const bool shared = hosts_are_shared(trial->meeting);
  int reached = 0;
  if (reach->route != VV_GROUP_BROADCAST) {
    reached = try_address(trial, vv_cast_group_of(trial->key, reach->stream), shared, bytes, agreed);
    if (reached > 0) reach->route = VV_GROUP_MULTICAST;
  }
  if (reached == 0 && reach->route != VV_GROUP_MULTICAST) {
    struct vv_address everybody = {.v4 = trial->cast->own, .length = sizeof everybody.v4};
    if (vv_address_broadcast(&everybody, trial->error) != 0) return -1;
    reached = try_address(trial, everybody.v4.sin_addr, shared, bytes, agreed);
    if (reached > 0) reach->route = VV_GROUP_BROADCAST;
  }
  if (reached < 0) return -1;
  if (reached == 0) {
    vv_error_set(trial->error, "no-multicast", "datagrams to everybody do not reach all ranks");
    return vv_error_remedy(trial->error,
                           "all ranks must be on one subnet; a switch that snoops IGMP needs a querier; "
                           "firewalls must let UDP ports %u and %u in",
                           reach->port, reach->port + 1);
  }
  reach->window_datagrams = agreed[0];
  return 0;
}

int vv_reach(struct vv_reach *reach, struct vv_meeting *meeting, struct vv_cast *cast, const uint8_t key[VV_KEY_BYTES],
             int64_t deadline_ns, struct vv_error *error) {
  struct trial trial = {reach, meeting, cast, key, deadline_ns, 0, error};
  const uint8_t label[8] = {'s', 't', 'r', 'e', 'a', 'm', (uint8_t)(reach->port >> 8), (uint8_t)reach->port};
  uint32_t agreed[VV_MEETING_VALUES];
  reach->stream = (uint32_t)vv_siphash(key, label, sizeof label) & VV_GROUP_STREAM_MAX;
  if (agree(&trial, cast->mtu_bytes, (uint32_t)cast->room_bytes, agreed) != 0) return -1;
  reach->datagram_bytes = agreed[0] - UDP_BYTES < DATAGRAM_MAX ? agreed[0] - UDP_BYTES : DATAGRAM_MAX;
  vv_cast_cut(cast, reach->datagram_bytes);
  const uint64_t train = agreed[1] / 2 / charge_guess_bytes(reach);
  trial.train = train < 4 ? 4 : train > TRAIN_MAX ? TRAIN_MAX : (uint32_t)train;
  uint8_t *bytes = calloc(VV_CAST_BATCH, reach->datagram_bytes);
  if (!bytes) return vv_error_set(error, "no-memory", "no memory for the datagrams of a trial");
  int result = choose(&trial, reach, bytes);
  if (result == 0) result = measure_rtt(&trial, &reach->rtt_ns);
  free(bytes);
  return result;
}
