/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack group: messages by vaiven/group.h. The near end is rank 0, far ends
 * are ranks 1, 2, ... of one group, whose message from the near end is one
 * broadcast.
 *
 * All ends of a launch must meet at once, but the probe links far ends one after
 * the other: a far end goes to the meeting in a thread, and the near end opens
 * the group when the last of its far ends is linked. A message comes where the
 * probe wants it; while it is broken off it goes on in a buffer of the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/os/socket.h"
#include "stack/stack.h"
#include "vaiven/group.h"

#define TIMEOUT_MS 15000

struct vv_end {
  struct vv_stack_config config;
  struct vv_group_config group_config;
  char address[VV_ADDRESS_TEXT_MAX];
  char meeting[VV_ADDRESS_TEXT_MAX];
  struct vv_group *group; /* far: when `opener` has ended; near: see `near` */
  struct vv_group_problem problem;
  bool opening;
  pthread_t opener;
  bool stopped;    /* a message that was to come is broken off, */
  uint8_t *bounce; /* and goes on here */
};

/* The one group of a near process; its ends are the links to the far ends. */
static struct {
  struct vv_group *group;
  char meeting[VV_ADDRESS_TEXT_MAX];
  unsigned ends, linked;
} near;

static int pass_on(const struct vv_group_problem *problem, struct vv_error *error) {
  return vv_error_set(error, problem->code, "group: %s", problem->text);
}

static bool must_stop(void *context) {
  const struct vv_end *end = context;
  return vv_watch_rang() && end->config.stop.ask(end->config.stop.context);
}

/* open ----------------------------------------------------------------- */

/* A port that is free now: rank 0 listens there while the ranks meet, and the group uses the UDP port after it, too. */
static int choose_meeting(const struct vv_end *end, struct vv_error *error) {
  struct vv_address at;
  if (vv_address_parse(end->address, 0, &at, error) != 0) return -1;
  const uint16_t low = end->config.port_min, high = end->config.port_max;
  const int fd = vv_socket_listening(&at, low, low < high && high == UINT16_MAX ? high - 1 : high, 1, error);
  if (fd < 0) return -1;
  close(fd);
  vv_address_format(&at, near.meeting);
  return 0;
}

static void give_up(struct vv_end *end) {
  explicit_bzero(end->config.key, sizeof end->config.key);
  explicit_bzero(end->group_config.key, sizeof end->group_config.key);
  free(end->bounce);
  free(end);
}

static struct vv_end *group_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                 struct vv_error *error) {
  struct vv_end *end = calloc(1, sizeof *end);
  uint8_t *bounce = malloc(config->size_bytes_max + 1);
  if (!end || !bounce) {
    vv_error_set(error, "no-memory", "no memory for an end of %zu bytes", config->size_bytes_max);
    free(bounce);
    free(end);
    return NULL;
  }
  end->config = *config;
  end->bounce = bounce;
  snprintf(end->address, sizeof end->address, "%s", config->address);
  end->group_config = (struct vv_group_config){VV_GROUP_CONFIG,
                                               .address = end->address,
                                               .meeting = end->meeting,
                                               .timeout_ms = TIMEOUT_MS,
                                               .spin = config->wait == VV_WAIT_SPIN,
                                               .stop = must_stop,
                                               .context = end};
  memcpy(end->group_config.key, config->key, sizeof end->group_config.key);
  if (config->far) {
    snprintf(contact, VV_STACK_CONTACT_MAX, "%s", end->address);
    return end;
  }
  if (near.ends == config->far_ends) {
    vv_error_set(error, "one-group", "group: a launch has one group, and cannot open a second");
    return give_up(end), NULL;
  }
  if (near.ends == 0 && choose_meeting(end, error) != 0) return give_up(end), NULL;
  near.ends++;
  snprintf(end->meeting, sizeof end->meeting, "%s", near.meeting);
  snprintf(contact, VV_STACK_CONTACT_MAX, "%s/%u/%u", near.meeting, config->far_ends + 1, near.ends);
  return end;
}

/* link ----------------------------------------------------------------- */

static void *go_to_meeting(void *argument) {
  struct vv_end *end = argument;
  end->group = vv_group_open(&end->group_config, &end->problem);
  return NULL;
}

static int group_accept(struct vv_end *end, const char *near_contact, vv_ns deadline_ns, struct vv_error *error) {
  (void)deadline_ns;
  struct vv_group_config *config = &end->group_config;
  sigset_t all, before;
  if (end->opening || end->group) {
    return vv_error_set(error, "one-group", "group: a launch has one group, and cannot open a second");
  }
  if (sscanf(near_contact, "%95[^/]/%" SCNu32 "/%" SCNu32, end->meeting, &config->ranks, &config->rank) != 3) {
    return vv_error_set(error, "bad-control", "group: \"%.80s\" is no contact of a near end", near_contact);
  }
  sigfillset(&all); /* signals break the waits of the probe's own thread */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&end->opener, NULL, go_to_meeting, end);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed != 0) {
    errno = failed;
    return vv_error_errno(error, "no-thread", "group: cannot start a thread");
  }
  end->opening = true;
  return 0;
}

static int group_connect(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error) {
  (void)far_contact, (void)deadline_ns;
  if (++near.linked < end->config.far_ends) return 0;
  end->group_config.ranks = end->config.far_ends + 1;
  near.group = vv_group_open(&end->group_config, &end->problem);
  return near.group ? 0 : pass_on(&end->problem, error);
}

/* messages ------------------------------------------------------------- */

/* The group that this end is in; NULL and *error. */
static struct vv_group *group_of(struct vv_end *end, struct vv_error *error) {
  if (!end->config.far) {
    if (!near.group) vv_error_set(error, "not-linked", "group: not all far ends are linked");
    return near.group;
  }
  if (end->opening) pthread_join(end->opener, NULL);
  end->opening = false;
  if (!end->group) pass_on(&end->problem, error);
  return end->group;
}

static enum vv_got got_of(int result, const struct vv_group_problem *problem, struct vv_error *error) {
  if (result == 0) return VV_GOT_MESSAGE;
  if (result == VV_GROUP_STOPPED) return VV_GOT_STOPPED;
  pass_on(problem, error);
  return problem->kind == VV_GROUP_GONE ? VV_GOT_CLOSED : VV_GOT_ERROR;
}

static enum vv_got group_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  struct vv_group *group = group_of(end, error);
  if (!group) return VV_GOT_ERROR;
  /* The root's buffer is only read. */
  const int result = vv_group_broadcast(group, end->config.far ? end->group_config.rank : 0, (void *)(uintptr_t)message,
                                        size_bytes, &end->problem);
  return got_of(result, &end->problem, error);
}

static enum vv_got group_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  struct vv_group *group = group_of(end, error);
  size_t got_bytes;
  if (!group) return VV_GOT_ERROR;
  if (end->stopped) vv_group_move(group, message, size_bytes);
  const int result = vv_group_receive(group, end->config.far ? 0 : 1, message, size_bytes, &got_bytes, &end->problem);
  end->stopped = result == VV_GROUP_STOPPED;
  if (end->stopped) vv_group_move(group, end->bounce, end->config.size_bytes_max);
  if (result != 0) return got_of(result, &end->problem, error);
  if (got_bytes == size_bytes) return VV_GOT_MESSAGE;
  vv_error_set(error, "bad-message", "group: a message of %zu bytes came for one of %zu", got_bytes, size_bytes);
  return VV_GOT_ERROR;
}

static const char *group_way(const struct vv_end *end) {
  const struct vv_group *group = end->config.far ? end->group : near.group;
  if (!group) return "multicast, or what reaches all"; /* found out when all far ends are linked */
  static const char *const ways[][2] = {
      [VV_GROUP_MULTICAST] = {"multicast", "multicast, on a shared medium"},
      [VV_GROUP_BROADCAST] = {"broadcast of the subnet", "broadcast of the subnet, on a shared medium"},
      [VV_GROUP_UNICAST] = {"unicast, to each", "unicast, to each, on a shared medium"}};
  return ways[vv_group_route_of(group)][vv_group_shared_bps(group) > 0];
}

static int64_t group_resent(const struct vv_end *end) {
  uint64_t given = 0, asked;
  const struct vv_group *group = end->config.far ? end->group : near.group;
  if (group) vv_group_repairs(group, &given, &asked);
  return (int64_t)given;
}

static uint64_t group_foreign(const struct vv_end *end) {
  if (!end->config.far) return near.group && near.ends == 1 ? vv_group_foreign(near.group) : 0;
  return !end->opening && end->group ? vv_group_foreign(end->group) : 0;
}

static void group_close(struct vv_end *end) {
  if (!end) return;
  if (end->config.far) {
    if (end->opening) pthread_join(end->opener, NULL);
    vv_group_leave(end->group);
  } else if (--near.ends == 0) {
    vv_group_leave(near.group);
    near.group = NULL;
    near.linked = 0;
  }
  give_up(end);
}

const struct vv_stack vv_stack_group = {
    .id = "group",
    .summary = "reliable broadcast over UDP multicast (vaiven/group.h)",
    .size_bytes_min = 0,
    .size_bytes_max = (size_t)64 << 20,
    .to_all = true,
    .path = VV_PATH_GROUP,
    .open = group_open,
    .accept = group_accept,
    .connect = group_connect,
    .send = group_send,
    .recv = group_recv,
    .way = group_way,
    .resent = group_resent,
    .foreign = group_foreign,
    .close = group_close,
};
