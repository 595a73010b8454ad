/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/served.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "io/os/clock.h"
#include "io/os/host.h"
#include "mpi/coll/family.h"
#include "mpi/coll/gate.h"
#include "mpi/coll/networks.h"
#include "mpi/coll/passport.h"

enum {
  OPEN_MS = 10000, /* all ranks are in the call */
  TURN_MS = 1,     /* between two turns of the MPI's own messages */
};

static const struct vv_served_mpi *below;
static bool verbose;
static bool gave_up;     /* a meeting has come to nothing here */
static unsigned calling; /* threads in an operation that is served */

/* Whether a call that waits is to let others at the groups. */
static bool gives_way(void *context) {
  (void)context;
  return vv_gate_is_wanted();
}

void vv_served_begin(const struct vv_served_mpi *mpi) {
  const char *text = getenv("VAIVEN_VERBOSE");
  below = mpi;
  verbose = text && *text && strcmp(text, "0") != 0;
  vv_gate_begin(mpi->threads);
}

void vv_served_init(struct vv_served *served, void *communicator, uint32_t ranks, uint32_t rank) {
  *served = (struct vv_served){.communicator = communicator, .ranks = ranks, .rank = rank};
  if (verbose && ranks > 0 && rank == 0) served->report = vv_report_new(ranks);
}

/* What is told */

/* It stays with its MPI, which one rank says. */
static void leave_to_mpi(struct vv_served *served, const char *why, bool always) {
  served->way = VV_SERVED_BY_MPI;
  if ((verbose || always) && served->rank == 0)
    vv_report_say("collective operations of %u ranks stay with the MPI: %s", served->ranks, why);
}

static void notice(void *context, const char *text) {
  (void)context;
  if (verbose) vv_report_say("%s", text);
}

static void meanwhile(void *context) {
  (void)context;
  below->progress();
}

/* Meeting */

/* What is known of a communicator's ranks while it is found out whether it is served. */
struct trial {
  struct vv_served *served;
  uint64_t *who;
  uint32_t *addresses;
  uint32_t *members; /* of a family */
  uint8_t *bytes;    /* of all passports */
  struct vv_passport *passports;
};

static bool trial_begin(struct trial *trial, struct vv_served *served) {
  const size_t ranks = served->ranks;
  *trial = (struct trial){.served = served,
                          .who = malloc(ranks * sizeof *trial->who),
                          .addresses = malloc(ranks * sizeof *trial->addresses),
                          .members = malloc(ranks * sizeof *trial->members),
                          .bytes = malloc(ranks * VV_PASSPORT_BYTES),
                          .passports = malloc(ranks * sizeof *trial->passports)};
  return trial->who && trial->addresses && trial->members && trial->bytes && trial->passports;
}

static void trial_end(struct trial *trial) {
  free(trial->who);
  free(trial->addresses);
  free(trial->members);
  free(trial->bytes);
  free(trial->passports);
}

/* By the MPI: whether all say so. */
static bool all_agree(struct trial *trial, bool own) {
  const uint8_t word = own;
  if (below->gather_all(trial->served->communicator, &word, trial->bytes, 1) != 0) return false;
  bool all = true;
  for (uint32_t i = 0; i < trial->served->ranks; i++) all = all && trial->bytes[i] == 1;
  return all;
}

/* Of a family that may come. */
static uint64_t new_number(void) {
  uint64_t number = 0;
  struct vv_error ignored; /* then there is one that others may have, too, and no secret in it */
  vv_host_random((uint8_t *)&number, sizeof number, &ignored);
  return number | 1;
}

/* NULL, or why all ranks know that they are no group. */
static const char *greet(struct trial *trial, uint64_t number) {
  const uint32_t ranks = trial->served->ranks;
  struct vv_passport own = {.threads = below->threads, .family = number, .offer = new_number()};
  uint8_t bytes[VV_PASSPORT_BYTES];
  vv_networks_own(getenv("VAIVEN_IFACE"), &own);
  own.unwilling = gave_up || vv_family_count() >= VV_FAMILY_COUNT_MAX;
  vv_passport_emit(&own, bytes);
  if (below->gather_all(trial->served->communicator, bytes, trial->bytes, VV_PASSPORT_BYTES) != 0)
    return "the MPI has failed";
  bool unwilling = false;
  for (uint32_t i = 0; i < ranks; i++) {
    if (!vv_passport_parse(trial->bytes + (size_t)i * VV_PASSPORT_BYTES, &trial->passports[i]))
      return "one of them has another version of vaiven";
    unwilling = unwilling || trial->passports[i].unwilling;
  }
  if (unwilling) return "one of them could not meet others before, or has met too many";
  if (!vv_passport_common(trial->passports, ranks, trial->addresses)) return "there is no IPv4 network that all are on";
  if (vv_passport_hosts(trial->addresses, ranks, VV_SERVED_HOSTS_MIN) < VV_SERVED_HOSTS_MIN)
    return "they are on fewer than three hosts";
  return NULL;
}

static void text_of(uint32_t address, char text[INET_ADDRSTRLEN]) {
  const struct in_addr of = {htonl(address)};
  inet_ntop(AF_INET, &of, text, INET_ADDRSTRLEN);
}

/* It is served from now on. */
static void serve(struct trial *trial) {
  struct vv_served *served = trial->served;
  struct vv_report *report = served->report;
  char address[INET_ADDRSTRLEN];
  served->way = VV_SERVED_BY_GROUP;
  if (!report) return;
  report->route = vv_group_route_of(served->group) == VV_GROUP_MULTICAST ? "multicast" : "broadcast";
  text_of(trial->addresses[served->rank], address);
  if (vv_passport_hosts(trial->addresses, served->ranks, served->ranks) == served->ranks)
    vv_report_find_wire(report, address);
}

static int exchange(void *context, const void *own, void *all, size_t bytes) {
  const struct trial *trial = context;
  return below->gather_all(trial->served->communicator, own, all, bytes);
}

static struct vv_group *open_group(struct trial *trial, struct vv_group_problem *problem) {
  const struct vv_served *served = trial->served;
  char address[INET_ADDRSTRLEN];
  text_of(trial->addresses[served->rank], address);
  const struct vv_group_config config = {VV_GROUP_CONFIG,    .ranks = served->ranks, .rank = served->rank,
                                         .address = address, .timeout_ms = OPEN_MS,  .patience_ms = UINT32_MAX,
                                         .notice = notice,   .exchange = exchange,   .meanwhile = meanwhile,
                                         .stop = gives_way,  .context = trial}; /* of the exchange alone, in open */
  return vv_group_open(&config, problem);
}

static void end_begins(struct vv_served *served) {
  vv_begun_group_free(served->begins);
  served->begins = NULL;
}

/* Nobody here tries to meet again. */
static void give_up(struct vv_served *served, const char *why) {
  vv_gate_enter();
  gave_up = true;
  vv_gate_leave();
  leave_to_mpi(served, why, true);
}

/* The ranks meet: they are a family from now on, or none of them has one. */
static void meet(struct trial *trial) {
  struct vv_served *served = trial->served;
  struct vv_group_problem problem = {.text = "another rank of them says why"};
  bool threads = false;
  for (uint32_t i = 0; i < served->ranks; i++) threads = threads || trial->passports[i].threads;
  const vv_ns began_ns = vv_clock_ns();
  struct vv_group *group = open_group(trial, &problem);
  if (group && vv_group_route_of(group) == VV_GROUP_UNICAST) { /* which all have found */
    vv_group_leave(group);
    return give_up(served, "neither multicast nor broadcast reaches all of them");
  }
  const struct vv_family wanted = {.number = trial->passports[0].offer,
                                   .group = group,
                                   .ranks = served->ranks,
                                   .who = trial->who,
                                   .addresses = trial->addresses,
                                   .threads = threads};
  vv_gate_enter();
  struct vv_family *family = group ? vv_family_add(&wanted) : NULL;
  vv_gate_leave();
  if (!group) vv_report_say("rank %u cannot be in a group: %s", served->rank, problem.text);
  if (group && !family) vv_group_leave(group);
  if (family && threads) served->begins = vv_begun_group_new(group, false); /* no other shares it */
  if (!all_agree(trial, family && (served->begins || !threads))) {
    end_begins(served);
    vv_gate_enter();
    if (family) vv_family_leave(family);
    vv_gate_leave();
    return give_up(served, "they could not meet as a group");
  }
  served->group = group;
  serve(trial);
  if (served->report) {
    char address[INET_ADDRSTRLEN];
    text_of(trial->addresses[0], address);
    vv_report_say("collective operations of %u ranks go by %s from %s: opened in %.1f ms", served->ranks,
                  served->report->route, address, (double)(vv_clock_ns() - began_ns) / VV_MS);
  }
}

/*
 * A communicator of the very ranks of another shares its group, where one thread of each rank calls: then the calls on
 * both come in one order everywhere. In different orders they may wait for each other for ever without us as well, for
 * an MPI may wait in every collective operation (MPI 4.1, 6.14).
 */
static void share(struct trial *trial, struct vv_group *group) {
  struct vv_served *served = trial->served;
  served->group = group;
  serve(trial);
  if (served->report) vv_report_say("collective operations of %u ranks go by a group that they share", served->ranks);
}

/* A further group of a family. All its ranks hear the same of its end, but where one of them has died. */
static void open_further(struct trial *trial, struct vv_family *family) {
  struct vv_served *served = trial->served;
  struct vv_group_problem problem = {.code = "", .text = "another rank of them says why"};
  vv_gate_enter();
  served->group = vv_group_among(family->group, trial->members, served->ranks, &problem);
  if (served->group && family->threads) served->begins = vv_begun_group_new(served->group, true);
  vv_gate_leave();
  if (family->threads && !all_agree(trial, served->begins != NULL)) {
    end_begins(served);
    served->group = NULL;
  }
  /* Programs may have communicators by thousands. */
  if (!served->group) return leave_to_mpi(served, problem.text, strcmp(problem.code, "too-many-groups") != 0);
  if (!family->threads) {
    vv_family_keep(family, trial->members, served->ranks, served->group);
    trial->members = NULL;
  }
  serve(trial);
  if (served->report) vv_report_say("collective operations of %u ranks go by a further group", served->ranks);
}

static void join(struct trial *trial, struct vv_family *family) {
  const uint32_t ranks = trial->served->ranks;
  for (uint32_t i = 0; i < ranks; i++) {
    trial->members[i] = vv_family_rank(family, trial->who[i]);
    trial->addresses[i] = family->addresses[trial->members[i]];
  }
  if (vv_passport_hosts(trial->addresses, ranks, VV_SERVED_HOSTS_MIN) < VV_SERVED_HOSTS_MIN)
    return leave_to_mpi(trial->served, "they are on fewer than three hosts", false);
  struct vv_group *there = family->threads ? NULL : vv_family_group_of(family, trial->members, ranks);
  if (there) return share(trial, there);
  open_further(trial, family);
}

/* Where threads call, families may have come in another order elsewhere: then they tell each other which one they mean.
 */
static void find_way(struct trial *trial) {
  struct vv_served *served = trial->served;
  if (!below->who(served->communicator, trial->who))
    return leave_to_mpi(served, "one of them is of another job, or has no vaiven", false);
  vv_gate_enter();
  struct vv_family *family = vv_family_of(trial->who, served->ranks);
  const uint64_t number = family ? family->number : 0;
  vv_gate_leave();
  if (family && !family->threads) return join(trial, family);
  const char *why = greet(trial, number);
  if (why) return leave_to_mpi(served, why, false);
  bool same = family != NULL;
  for (uint32_t i = 0; i < served->ranks; i++) same = same && trial->passports[i].family == number;
  if (same) return join(trial, family);
  meet(trial);
}

void vv_served_try(struct vv_served *served) {
  struct trial trial;
  if (served->ranks < VV_SERVED_HOSTS_MIN || served->ranks > VV_GROUP_RANKS_MAX) {
    leave_to_mpi(served, "that is too few, or too many", false);
  } else if (trial_begin(&trial, served)) {
    find_way(&trial);
    trial_end(&trial);
  } else {
    leave_to_mpi(served, "there is no memory", true);
  }
}

/* A group of the same ranks for what is begun, where others may share the communicator's. */
void vv_served_answer(struct vv_served *served) {
  struct vv_group_problem problem;
  uint32_t all[VV_GROUP_RANKS_MAX];
  served->asking = VV_SERVED_ANSWERED;
  if (served->way == VV_SERVED_UNTRIED) vv_served_try(served);
  if (served->way != VV_SERVED_BY_GROUP || served->begins) return;
  for (uint32_t i = 0; i < served->ranks; i++) all[i] = i;
  vv_gate_enter();
  struct vv_group *own = vv_group_among(served->group, all, served->ranks, &problem);
  if (own) served->begins = vv_begun_group_new(own, true);
  vv_gate_leave();
  if (served->report && !own) vv_report_say("%s stay with the MPI: %s", VV_REPORT_BEGUN, problem.text);
}

/* Calls */

/*
 * Several threads may call. While one of them does alone, as nearly all programs do, it waits in the group, and gives
 * way when another one comes; those that come then leave the group to each other, and look when there is news.
 */

/* Between two looks: the MPI's messages go on. news: -1, or a descriptor that tells of some. */
static void rest(int news) {
  struct pollfd told = {.fd = news, .events = POLLIN};
  below->progress();
  poll(&told, 1, TURN_MS);
}

static int await(struct vv_group *group, struct vv_group_operation *operation, bool alone,
                 struct vv_group_problem *problem) {
  for (int news = -1;;) {
    vv_gate_enter();
    const int result =
        alone ? vv_group_wait(operation, UINT32_MAX, NULL, problem) : vv_group_test(operation, NULL, problem);
    const bool goes_on = result == VV_GROUP_PENDING || result == VV_GROUP_STOPPED;
    if (goes_on && news < 0) news = vv_group_descriptor(group, problem);
    vv_gate_leave();
    if (!goes_on) return result;
    rest(news);
  }
}

static int broadcast_alone(struct vv_group *group, void *buffer, size_t bytes, uint32_t root,
                           struct vv_group_problem *problem) {
  for (;;) {
    vv_gate_enter();
    const int result = vv_group_broadcast(group, root, buffer, bytes, problem);
    vv_gate_leave();
    if (result != VV_GROUP_STOPPED) return result;
    rest(-1);
  }
}

static int broadcast_beside_others(struct vv_group *group, void *buffer, size_t bytes, uint32_t root,
                                   struct vv_group_problem *problem) {
  vv_gate_enter();
  struct vv_group_operation *operation = vv_group_begin_broadcast(group, root, buffer, bytes, problem);
  vv_gate_leave();
  return operation ? await(group, operation, false, problem) : -1;
}

static int broadcast(struct vv_group *group, void *buffer, size_t bytes, uint32_t root,
                     struct vv_group_problem *problem) {
  if (!below->threads) return broadcast_alone(group, buffer, bytes, root, problem);
  const bool alone = __atomic_add_fetch(&calling, 1, __ATOMIC_SEQ_CST) == 1;
  const int result = alone ? broadcast_alone(group, buffer, bytes, root, problem)
                           : broadcast_beside_others(group, buffer, bytes, root, problem);
  __atomic_sub_fetch(&calling, 1, __ATOMIC_SEQ_CST);
  return result;
}

static int call_of_one_thread(struct vv_group *group, const struct vv_coll_call *call,
                              struct vv_group_problem *problem) {
  vv_gate_enter();
  const int result = vv_coll(group, call, problem);
  vv_gate_leave();
  return result;
}

static int call_of(struct vv_group *group, const struct vv_coll_call *call, struct vv_group_problem *problem) {
  if (!below->threads) return call_of_one_thread(group, call, problem);
  const bool alone = __atomic_add_fetch(&calling, 1, __ATOMIC_SEQ_CST) == 1;
  vv_gate_enter();
  struct vv_group_operation *operation = vv_coll_begin(group, call, problem);
  vv_gate_leave();
  const int result = operation ? await(group, operation, alone, problem) : -1;
  __atomic_sub_fetch(&calling, 1, __ATOMIC_SEQ_CST);
  return result;
}

void vv_served_leave(struct vv_served *served, enum vv_coll_kind kind, size_t bytes) {
  if (served->way != VV_SERVED_BY_MPI) vv_report_stays(served->report, kind, bytes);
}

int vv_served_broadcast(struct vv_served *served, void *buffer, size_t bytes, uint32_t root) {
  struct vv_group_problem problem;
  const vv_ns began_ns = served->report ? vv_clock_ns() : 0;
  const int result = broadcast(served->group, buffer, bytes, root, &problem);
  if (result != 0) vv_report_broadcast_failed(root, served->rank, problem.text);
  if (served->report && result == 0)
    vv_report_went(served->report, VV_COLL_BROADCAST, served->rank == root, bytes, vv_clock_ns() - began_ns);
  return result;
}

int vv_served_call(struct vv_served *served, const struct vv_coll_call *call, size_t bytes) {
  struct vv_group_problem problem;
  const vv_ns began_ns = served->report ? vv_clock_ns() : 0;
  const int result = call_of(served->group, call, &problem);
  if (result != 0) vv_report_say("a collective operation at rank %u: %s", served->rank, problem.text);
  if (served->report && result == 0) vv_report_went(served->report, call->kind, false, bytes, vv_clock_ns() - began_ns);
  return result;
}

bool vv_served_can_begin(struct vv_served *served, size_t bytes) {
  if (served->begins) return vv_gains(VV_COLL_BROADCAST, served->ranks, bytes);
  if (served->way != VV_SERVED_BY_MPI && served->asking == VV_SERVED_NOT_ASKED) {
    served->asking = VV_SERVED_ASKED;
    if (served->report)
      vv_report_say("%s stay with the MPI until a call that waits for all ranks has made a group for them",
                    VV_REPORT_BEGUN);
  }
  return false;
}

bool vv_served_begin_broadcast(struct vv_served *served, struct vv_begun *begun, uint32_t root) {
  begun->root = root;
  begun->rank = served->rank;
  const bool has_begun = vv_begun_start(begun, served->begins);
  if (served->report && has_begun) vv_report_begins(served->report);
  return has_begun;
}

/* Ending */

void vv_served_end(struct vv_served *served) {
  vv_report_end(served->report);
  end_begins(served);
  *served = (struct vv_served){.way = VV_SERVED_BY_MPI};
}

void vv_served_end_all(void) {
  vv_family_leave_all();
  vv_begun_forget_all();
}
