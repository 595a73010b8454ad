/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-fabric: what netlink libraries cannot do. It works in the network
 * namespace it is started in, that of a lab's switch, and knows interfaces by name.
 *
 *   vaiven-fabric apply   carries out the commands of standard input, one a line;
 *                         loads the programs unless they are there, and hangs
 *                         them on every interface that is named first in a line
 *   vaiven-fabric show    prints what passed and what was hit, as JSON Lines
 *
 *   entrance IFNAME IFNAME|-                  frames that come in there go to that exit; -: on, as they came
 *   queue IFNAME IFNAME                       frames that leave there wait at that exit before
 *   exit IFNAME NAME=NUMBER...                settings of struct vv_exit; those not named stay
 *   link IFNAME in|out KIND [NAME=NUMBER...]  a rule (struct vv_rule) anew; without settings it is gone.
 *                                             in is towards the host
 *
 * Exit status 0; 1 and a line on standard error when the kernel refuses; 2 for a
 * command that is none, and nothing after it is carried out.
 */
#include <errno.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/maps.h"
#include "bpf/words.h"

static const char *const fault_names[VV_FAULTS] = {
    [VV_FAULT_CUT] = "cut",         [VV_FAULT_LOSS] = "loss",           [VV_FAULT_BURST_LOSS] = "burst-loss",
    [VV_FAULT_CORRUPT] = "corrupt", [VV_FAULT_DUPLICATE] = "duplicate", [VV_FAULT_REORDER] = "reorder",
    [VV_FAULT_DELAY] = "delay",     [VV_FAULT_ICMP] = "icmp",
};
static const char *const direction_names[] = {"in", "out"};

static const struct vv_setting exit_settings[] = {
    VV_SETTING(struct vv_exit, byte_ns_q16),
    VV_SETTING(struct vv_exit, frame_ns),
    VV_SETTING(struct vv_exit, bytes_min),
    VV_SETTING(struct vv_exit, bytes_more),
    VV_SETTING(struct vv_exit, queue_ns),
    VV_SETTING(struct vv_exit, lead_ns),
    VV_SETTING(struct vv_exit, alone_ns),
    VV_SETTING(struct vv_exit, more_ns),
    VV_SETTING(struct vv_exit, idle_ns),
    VV_SETTING(struct vv_exit, idle_more_ns),
    VV_SETTING(struct vv_exit, door_ns),
    VV_SETTING(struct vv_exit, credit_ns),
    VV_SETTING(struct vv_exit, unit_ns_q16),
    VV_SETTING(struct vv_exit, medium),
    {0},
};
static const struct vv_setting rule_settings[] = {
    VV_SETTING(struct vv_rule, stream),    VV_SETTING(struct vv_rule, threshold),
    VV_SETTING(struct vv_rule, delay_ns),  VV_SETTING(struct vv_rule, burst_frames),
    VV_SETTING(struct vv_rule, bytes_max), {0},
};

static int wrong(const char *what, const char *word) {
  fprintf(stderr, "vaiven-fabric: %s: %s\n", what, word);
  return 2;
}

static int refused(const char *what, const char *name) {
  fprintf(stderr, "vaiven-fabric: %s %s: %s\n", what, name, strerror(errno));
  return 1;
}

static int put_port(const struct vv_fabric *fabric, __u32 ifindex, const struct vv_port *port) {
  return vv_fabric_put(fabric, VV_MAP_PORTS, ifindex, port) ? refused("cannot set", "a port") : 0;
}

static int command_entrance(const struct vv_fabric *fabric, __u32 ifindex, char **words, int count) {
  struct vv_port port;
  if (count != 1) return wrong("an entrance has one exit, or -", count ? words[1] : "none");
  if (vv_fabric_get(fabric, VV_MAP_PORTS, ifindex, &port)) return refused("cannot read", "a port");
  port.entrance = if_nametoindex(words[0]);
  if (!port.entrance && strcmp(words[0], "-") != 0) return wrong("no such interface", words[0]);
  return put_port(fabric, ifindex, &port);
}

static int command_queue(const struct vv_fabric *fabric, __u32 ifindex, char **words, int count) {
  struct vv_port port;
  struct vv_exit exit;
  if (count != 1) return wrong("a port has one queue", count ? words[1] : "none");
  __u32 queue = if_nametoindex(words[0]);
  if (queue == 0 || queue >= VV_IFINDEX_MAX) return wrong("no such interface", words[0]);
  if (vv_fabric_get(fabric, VV_MAP_PORTS, ifindex, &port)) return refused("cannot read", "a port");
  if (vv_fabric_get(fabric, VV_MAP_EXITS, queue, &exit)) return refused("cannot read", "an exit");
  if (!exit.present) return wrong("not an exit", words[0]);
  exit.port = ifindex;
  if (vv_fabric_put(fabric, VV_MAP_EXITS, queue, &exit)) return refused("cannot set", "an exit");
  port.queue = queue;
  return put_port(fabric, ifindex, &port);
}

static int command_exit(const struct vv_fabric *fabric, __u32 ifindex, char **words, int count) {
  struct vv_exit exit;
  if (vv_fabric_get(fabric, VV_MAP_EXITS, ifindex, &exit)) return refused("cannot read", "an exit");
  const char *bad = vv_words_set(words, count, exit_settings, &exit);
  if (bad) return wrong("not a setting of an exit", bad);
  if (!exit.unit_ns_q16 || exit.medium >= VV_IFINDEX_MAX) return wrong("an exit needs a unit and a medium", words[0]);
  exit.present = 1;
  return vv_fabric_put(fabric, VV_MAP_EXITS, ifindex, &exit) ? refused("cannot set", "an exit") : 0;
}

static int command_link(const struct vv_fabric *fabric, __u32 ifindex, char **words, int count) {
  int direction = count >= 2 ? vv_words_find(words[0], direction_names, 2) : -1;
  int kind = count >= 2 ? vv_words_find(words[1], fault_names, VV_FAULTS) : -1;
  if (direction < 0 || kind < 0) return wrong("a link needs in or out, and a kind of fault", count ? words[0] : "none");
  __u32 key = ifindex * 2 + (__u32)direction;
  struct vv_link link;
  if (vv_fabric_get(fabric, VV_MAP_LINKS, key, &link)) return refused("cannot read", "a link");
  struct vv_rule rule = {0};
  const char *bad = vv_words_set(words + 2, count - 2, rule_settings, &rule);
  if (bad) return wrong("not a setting of a rule", bad);
  link.rules[kind] = rule;
  if (count > 2) link.rules[kind].epoch = ++link.epochs;
  link.present = 1;
  return vv_fabric_put(fabric, VV_MAP_LINKS, key, &link) ? refused("cannot set", "a link") : 0;
}

typedef int (*command)(const struct vv_fabric *fabric, __u32 ifindex, char **words, int count);

static command command_named(const char *word) {
  static const char *const names[] = {"entrance", "queue", "exit", "link"};
  static const command commands[] = {command_entrance, command_queue, command_exit, command_link};
  int i = vv_words_find(word, names, 4);
  return i < 0 ? NULL : commands[i];
}

static int obey(const struct vv_fabric *fabric, char *line) {
  char *words[VV_WORDS_MAX];
  int count = vv_words_cut(line, words);
  if (count == 0) return 0;
  command carry_out = count >= 2 && count <= VV_WORDS_MAX ? command_named(words[0]) : NULL;
  if (!carry_out) return wrong("not a command", words[0]);
  __u32 ifindex = if_nametoindex(words[1]);
  if (ifindex == 0 || ifindex >= VV_IFINDEX_MAX) return wrong("no such interface", words[1]);
  int status = carry_out(fabric, ifindex, words + 2, count - 2);
  if (status == 0 && vv_fabric_hang(fabric, (int)ifindex)) status = refused("cannot attach to", words[1]);
  return status;
}

static int apply(void) {
  struct vv_fabric fabric;
  char *line = NULL;
  size_t room = 0;
  int status = 0;
  if (!vv_fabric_find(&fabric) && vv_fabric_load(&fabric)) return refused("cannot load", "the programs");
  while (status == 0 && getline(&line, &room, stdin) >= 0) status = obey(&fabric, line);
  free(line);
  return status;
}

static void show_exit(const struct vv_fabric *fabric, __u32 ifindex, const char *name) {
  struct vv_exit exit;
  struct vv_exit_state state;
  if (vv_fabric_get(fabric, VV_MAP_EXITS, ifindex, &exit) || !exit.present) return;
  if (vv_fabric_get(fabric, VV_MAP_EXIT_STATES, ifindex, &state)) return;
  const struct vv_tally *tally = &state.tally;
  printf("{\"type\":\"exit\",\"interface\":\"%s\",\"frames\":%llu,\"bytes\":%llu,\"full\":%llu,\"oversize\":%llu,"
         "\"lost\":%llu,\"unshaped\":%llu,\"alone\":%llu,\"late\":%llu}\n",
         name, tally->frames, tally->bytes, tally->full, tally->oversize, tally->lost, tally->unshaped, tally->alone,
         tally->late);
}

static void show_link(const struct vv_fabric *fabric, __u32 ifindex, const char *name, int direction) {
  __u32 key = ifindex * 2 + (__u32)direction;
  struct vv_link link;
  struct vv_link_state state;
  if (vv_fabric_get(fabric, VV_MAP_LINKS, key, &link) || !link.present) return;
  if (vv_fabric_get(fabric, VV_MAP_LINK_STATES, key, &state)) return;
  for (int i = 0; i < VV_FAULTS; i++) {
    bool begun = state.rules[i].epoch == link.rules[i].epoch;
    if (!link.rules[i].epoch) continue;
    printf("{\"type\":\"rule\",\"interface\":\"%s\",\"direction\":\"%s\",\"kind\":\"%s\",\"seen\":%llu,\"hit\":%llu}\n",
           name, direction_names[direction], fault_names[i], begun ? state.rules[i].seen : 0,
           begun ? state.rules[i].hit : 0);
  }
}

static void show_timers(const struct vv_fabric *fabric) {
  struct vv_timers timers;
  if (vv_fabric_get(fabric, VV_MAP_TIMERS, 0, &timers)) return;
  printf("{\"type\":\"timers\",\"more_ns\":%llu}\n", timers.more_ns);
}

static int show(void) {
  struct vv_fabric fabric;
  if (!vv_fabric_find(&fabric)) return 0; /* no programs, nothing to tell */
  struct if_nameindex *all = if_nameindex();
  for (struct if_nameindex *one = all; one && one->if_index; one++) {
    if (one->if_index >= VV_IFINDEX_MAX) continue;
    show_exit(&fabric, one->if_index, one->if_name);
    show_link(&fabric, one->if_index, one->if_name, 0);
    show_link(&fabric, one->if_index, one->if_name, 1);
  }
  if_freenameindex(all);
  show_timers(&fabric);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "apply") == 0) return apply();
  if (argc == 2 && strcmp(argv[1], "show") == 0) return show();
  return wrong("usage", "vaiven-fabric apply|show");
}
