/* SPDX-License-Identifier: BSD-3-Clause */
/* The timed fabric. fabric.h says how it waits. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "bpf/fabric.h"

/* In tc_index: what a packet is. */
#define DUMMY   1  /* and nothing else */
#define ENTERED 2  /* came through vv_enter, where its fate was decided: */
#define LOST    4  /* it gets lost on the wire, */
#define LATE    8  /* it is overtaken */
#define OURS    16 /* like ENTERED, but on the way to a host: see disown() */
#define CROSSED 32 /* comes from the queue of the port in PORT(), on the way to its door */
#define ALONE   64 /* left its exit early: it waits at the door */
#define HELD    1  /* beside ALONE: a timer let it out of its exit */

#define PORT_BITS 7 /* above all these */
#define PORT(is)  ((is) >> PORT_BITS)
#define TO(port)  (CROSSED | (port) << PORT_BITS)

#define CLASS(lane) ((1u << 16) | ((lane) + 1)) /* in priority: HTB sends the packet to that class */

enum direction { DIRECTION_IN, DIRECTION_OUT };
enum lane { LANE_USUAL, LANE_DELAYED, LANE_LATE }; /* VV_LANES of them */

struct medium {
  struct bpf_spin_lock lock;
  __u64 free_ns;
};
#define ARRAY(name_, value_, entries_)                                                                                 \
  struct {                                                                                                             \
    __uint(type, BPF_MAP_TYPE_ARRAY);                                                                                  \
    __type(key, __u32);                                                                                                \
    __type(value, value_);                                                                                             \
    __uint(max_entries, entries_);                                                                                     \
  } name_ SEC(".maps")

ARRAY(ports, struct vv_port, VV_IFINDEX_MAX);
ARRAY(exits, struct vv_exit, VV_IFINDEX_MAX);
ARRAY(exit_states, struct vv_exit_state, VV_IFINDEX_MAX);
ARRAY(media, struct medium, VV_IFINDEX_MAX);
ARRAY(timers, struct vv_timers, 1);
ARRAY(links, struct vv_link, 2 * VV_IFINDEX_MAX);
ARRAY(link_states, struct vv_link_state, 2 * VV_IFINDEX_MAX);

static __always_inline __u64 larger(__u64 a, __u64 b) {
  return a > b ? a : b;
}

static __always_inline __u64 smaller(__u64 a, __u64 b) {
  return a < b ? a : b;
}

/* The n-th number of a stream: a 64-bit mix of a counter, so that a frame's fate depends on its number alone. */
static __always_inline __u32 draw(__u64 stream, __u64 n) {
  __u64 z = stream + (n + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return (__u32)((z ^ (z >> 31)) >> 32);
}

/* Whether the next frame is hit by that rule. The link's lock is held. */
static __always_inline int hits(const struct vv_rule *rule, struct vv_rule_state *state) {
  if (!rule->epoch) return 0;
  if (state->epoch != rule->epoch) {
    state->epoch = rule->epoch;
    state->seen = 0;
    state->hit = 0;
    state->left = 0;
  }
  int hit = draw(rule->stream, state->seen) < rule->threshold;
  state->seen++;
  if (state->left) {
    state->left--;
    hit = 1;
  } else if (hit && rule->burst_frames) {
    state->left = rule->burst_frames - 1;
  }
  state->hit += hit;
  return hit;
}

/* Whether this is a piece of an ICMP message with more data than that. */
static __always_inline int is_long_icmp(struct __sk_buff *skb, __u32 bytes_max) {
  struct iphdr ip;
  if (skb->protocol != bpf_htons(ETH_P_IP)) return 0;
  if (bpf_skb_load_bytes(skb, ETH_HLEN, &ip, sizeof ip) || ip.protocol != IPPROTO_ICMP) return 0;
  __u32 offset = (bpf_ntohs(ip.frag_off) & 0x1FFF) * 8u;
  __u32 end = offset + bpf_ntohs(ip.tot_len) - ip.ihl * 4u;
  return end > bytes_max + 8; /* its own header */
}

/* Whether a host's kernel says by itself which groups it listens to (MLD): the only IPv6 with hop-by-hop options. */
static __always_inline int is_of_nobody(struct __sk_buff *skb) {
  __u8 next_header = 1;
  if (skb->protocol != bpf_htons(ETH_P_IPV6)) return 0;
  return bpf_skb_load_bytes(skb, ETH_HLEN + 6, &next_header, 1) == 0 && next_header == 0;
}

struct fate {
  int cut;
  int lost;
  int twice;
  enum lane lane;
  __u64 delay_ns;
};

static __always_inline const struct vv_link *link_of(__u32 ifindex, enum direction direction) {
  __u32 key = ifindex * 2 + direction;
  return bpf_map_lookup_elem(&links, &key);
}

/* What chance does to the next frame on a link. */
static __always_inline void roll(const struct vv_rule *rules, struct vv_link_state *state, struct fate *fate) {
  bpf_spin_lock(&state->lock);
  fate->lost |= hits(&rules[VV_FAULT_LOSS], &state->rules[VV_FAULT_LOSS]);
  fate->lost |= hits(&rules[VV_FAULT_BURST_LOSS], &state->rules[VV_FAULT_BURST_LOSS]);
  fate->lost |= hits(&rules[VV_FAULT_CORRUPT], &state->rules[VV_FAULT_CORRUPT]);
  fate->twice = hits(&rules[VV_FAULT_DUPLICATE], &state->rules[VV_FAULT_DUPLICATE]);
  if (hits(&rules[VV_FAULT_REORDER], &state->rules[VV_FAULT_REORDER])) fate->lane = LANE_LATE;
  bpf_spin_unlock(&state->lock);
}

/* What becomes of a frame on the link of that interface, but for the delay. */
static __always_inline void judge(struct __sk_buff *skb, __u32 ifindex, enum direction direction, struct fate *fate) {
  __u32 key = ifindex * 2 + direction;
  const struct vv_link *link = link_of(ifindex, direction);
  struct vv_link_state *state = bpf_map_lookup_elem(&link_states, &key);
  if (!link || !state || !link->present) return;
  fate->cut = link->rules[VV_FAULT_CUT].epoch != 0;
  if (link->rules[VV_FAULT_ICMP].epoch) fate->lost = is_long_icmp(skb, link->rules[VV_FAULT_ICMP].bytes_max);
  if (!is_of_nobody(skb)) roll(link->rules, state, fate); /* counted, it would shift all hits by chance */
}

static __always_inline void postpone(__u32 ifindex, enum direction direction, struct fate *fate) {
  const struct vv_link *link = link_of(ifindex, direction);
  if (!link || !link->present) return;
  if (link->rules[VV_FAULT_DELAY].epoch) {
    fate->delay_ns = link->rules[VV_FAULT_DELAY].delay_ns;
    if (fate->lane == LANE_USUAL) fate->lane = LANE_DELAYED;
  }
  if (fate->lane == LANE_LATE) fate->delay_ns += link->rules[VV_FAULT_REORDER].delay_ns;
}

/*
 * When the frame came. Software brought it here later (or, by lead_ns, earlier)
 * than the wire before would have; that wire's exit left the true instant in
 * `mark`, the low 32 bits of it, never 0.
 */
static __always_inline __u64 arrival_ns(const struct __sk_buff *skb, __u64 now_ns) {
  __u32 mark = skb->mark;
  return mark ? now_ns + (__s32)(mark - (__u32)now_ns) : now_ns;
}

/* How long the dummy before a frame must be for the frame to leave at leave_ns. The medium's lock is held. */
static __always_inline __u32 units_before(__u64 *deadline_ns, const struct vv_exit *exit, __u64 now_ns,
                                          __u64 leave_ns) {
  __u64 from_ns = larger(*deadline_ns, now_ns - exit->credit_ns);
  __u64 units = 0;
  if (leave_ns > from_ns && larger(leave_ns, *deadline_ns + VV_TIMER_MIN_NS) > now_ns + VV_TIMER_MIN_NS)
    units = ((leave_ns - from_ns) << 16) / exit->unit_ns_q16;
  if (units > VV_DUMMY_UNITS * VV_DUMMIES_MAX) units = VV_DUMMY_UNITS * VV_DUMMIES_MAX;
  *deadline_ns = from_ns + (((units + 1) * exit->unit_ns_q16) >> 16);
  return (__u32)units;
}

/* How much earlier than alone_ns frames that are alone leave that exit. */
static __always_inline __u64 more_ns(const struct vv_exit *exit) {
  __u32 key = 0;
  const struct vv_timers *learned = bpf_map_lookup_elem(&timers, &key);
  return learned ? smaller(learned->more_ns, exit->more_ns) : 0;
}

struct turn {
  __u64 arrived_ns;
  __u64 bytes;  /* that the frame counts on the medium */
  __u64 end_ns; /* when it has crossed, and its delay is over */
  __u32 units;
  int is_alone; /* no frame shortly before it on the medium, and none waiting at the exit */
};

/* Takes the medium for a frame; false if it would have to wait too long. */
static __always_inline int take(struct medium *medium, const struct vv_exit *exit, struct vv_exit_state *state,
                                const struct fate *fate, __u32 is, struct turn *turn) {
  __u64 taken_ns = exit->frame_ns + ((turn->bytes * exit->byte_ns_q16) >> 16);
  __u64 earlier_ns = more_ns(exit);
  __u64 idle_ns = smaller(exit->idle_ns + smaller(3 * earlier_ns, exit->idle_more_ns), 3 * taken_ns);
  __u64 now_ns = bpf_ktime_get_ns();
  bpf_spin_lock(&medium->lock);
  __u64 start_ns = larger(turn->arrived_ns, medium->free_ns);
  int room = start_ns - turn->arrived_ns <= exit->queue_ns;
  turn->is_alone = turn->arrived_ns >= medium->free_ns + idle_ns && state->deadline_ns[fate->lane] <= now_ns;
  if (!taken_ns) turn->is_alone = is & ALONE; /* behind a hub: who takes no time is as alone as it was */
  if (room) medium->free_ns = start_ns + taken_ns;
  if (room && !fate->lost) {
    turn->end_ns = start_ns + taken_ns + fate->delay_ns;
    __u64 leave_ns = turn->end_ns - (turn->is_alone ? exit->alone_ns + earlier_ns : exit->lead_ns);
    turn->units = units_before(&state->deadline_ns[fate->lane], exit, now_ns, leave_ns);
    state->tally.frames++;
    state->tally.bytes += turn->bytes;
  } else if (room) {
    state->tally.lost++;
  } else {
    state->tally.full++;
  }
  bpf_spin_unlock(&medium->lock);
  return room;
}

/* Puts dummies of that many units in front of the frame. 0 if all are there. */
static __always_inline long hold(struct __sk_buff *skb, __u32 units) {
  __u32 mark = skb->mark;
  __u32 longest = units / VV_DUMMY_UNITS;
  long failed = 0;
  skb->tc_index = DUMMY;
  skb->mark = VV_DUMMY_UNITS;
  for (__u32 i = 0; i < VV_DUMMIES_MAX && i < longest; i++) failed |= bpf_clone_redirect(skb, skb->ifindex, 0);
  skb->mark = units % VV_DUMMY_UNITS;
  if (skb->mark) failed |= bpf_clone_redirect(skb, skb->ifindex, 0);
  skb->tc_index = 0;
  skb->mark = mark;
  return failed;
}

/* Into the discipline; after it the packet is that. The kernel puts the class of what passes into tc_index. */
static __always_inline int pass(struct __sk_buff *skb, __u32 is) {
  skb->tc_classid = is;
  return TC_ACT_OK;
}

/* A dummy on its way into the discipline becomes as long as it has to be. One that is so long has served. */
static __always_inline int dummy(struct __sk_buff *skb) {
  if (skb->len >= VV_DUMMY_BYTES) return TC_ACT_SHOT;
  return bpf_skb_change_tail(skb, VV_DUMMY_BYTES + skb->mark, 0) ? TC_ACT_SHOT : pass(skb, DUMMY);
}

/* A look at the clock: 1 ends the looking. */
static long is_past(__u32 look, void *until_ns) {
  (void)look;
  return bpf_ktime_get_ns() >= *(__u64 *)until_ns;
}

/* What a frame that a timer let out tells of timers. Whoever tells at the same time may be overheard. */
static __always_inline void learn(const struct vv_exit *exit, int is_late) {
  __u32 key = 0;
  struct vv_timers *learned = bpf_map_lookup_elem(&timers, &key);
  if (!learned) return;
  __u64 more = learned->more_ns;
  learned->more_ns = is_late ? smaller(more + VV_EARLIER_NS, exit->more_ns) : larger(more, VV_LATER_NS) - VV_LATER_NS;
}

/* Until the frame has crossed. What it was late before is made up for here, up to what it left early by. */
static __always_inline void wait_at_door(const struct __sk_buff *skb, const struct vv_exit *exit,
                                         struct vv_exit_state *state, __u32 is) {
  __u64 now_ns = bpf_ktime_get_ns();
  __u64 until_ns = arrival_ns(skb, now_ns) - exit->door_ns;
  __sync_fetch_and_add(&state->tally.alone, 1);
  if (now_ns > until_ns + VV_DOOR_LATE_NS) __sync_fetch_and_add(&state->tally.late, 1);
  if (is & HELD) learn(exit, now_ns > until_ns);
  if (until_ns > now_ns + VV_DOOR_NS) return; /* no exit frees a frame so early */
  bpf_loop(VV_DOOR_LOOKS, is_past, &until_ns, 0);
}

/* Of a frame that is alone: HELD if it waits here for a timer, or did where it took its time. */
static __always_inline __u32 held(const struct turn *turn, __u32 is) {
  return turn->units ? HELD : is & ALONE ? is & HELD : 0;
}

/* A frame takes its turn at an exit. It is charged even if it is lost: it was on the wire. */
static __always_inline int cross(struct __sk_buff *skb, const struct vv_exit *exit, struct vv_exit_state *state,
                                 const struct fate *fate, __u32 is) {
  __u32 index = exit->medium;
  struct medium *medium = bpf_map_lookup_elem(&media, &index);
  __u32 length = skb->len + (skb->vlan_present ? 4 : 0);
  struct turn turn = {
      .arrived_ns = arrival_ns(skb, bpf_ktime_get_ns()),
      .bytes = larger(length, exit->bytes_min) + exit->bytes_more,
  };
  if (!medium) return TC_ACT_SHOT;
  if (!take(medium, exit, state, fate, is, &turn) || fate->lost) return TC_ACT_SHOT;
  skb->priority = CLASS(fate->lane);
  skb->mark = (__u32)turn.end_ns | 1;
  if (hold(skb, turn.units)) __sync_fetch_and_add(&state->tally.unshaped, 1);
  return pass(skb, (exit->port ? TO(exit->port) : 0) | (turn.is_alone ? ALONE | held(&turn, is) : 0));
}

static __always_inline __u32 flags_of(const struct fate *fate) {
  return (fate->lost ? LOST : 0) | (fate->lane == LANE_LATE ? LATE : 0);
}

/*
 * On the way to a host: on to the exit where the frame takes its turn, a queue or
 * its own port. It goes on as a clone, which belongs to no socket: a network card
 * gives a frame back to its sender once it has left the host, and what waits in a
 * switch must not make the sender wait.
 */
static __always_inline int disown(struct __sk_buff *skb, __u32 exit, const struct fate *fate) {
  skb->tc_index = OURS | (skb->tc_index & ALONE ? skb->tc_index & (ALONE | HELD) : 0) | flags_of(fate);
  if (fate->twice) bpf_clone_redirect(skb, exit, 0);
  if (!skb->sk && exit != skb->ifindex) return bpf_redirect(exit, 0);
  bpf_clone_redirect(skb, exit, 0);
  return TC_ACT_SHOT;
}

/* On the way in from a cable: on to the exit where the frame takes its turn. */
SEC("tc")
int vv_enter(struct __sk_buff *skb) {
  __u32 ifindex = skb->ifindex;
  const struct vv_port *port = bpf_map_lookup_elem(&ports, &ifindex);
  struct fate fate = {};
  if (!port) return TC_ACT_OK;
  if (skb->tc_index == OURS) return TC_ACT_OK;
  judge(skb, ifindex, DIRECTION_OUT, &fate);
  if (fate.cut || (fate.lost && !port->entrance)) return TC_ACT_SHOT;
  if (port->entrance) {
    skb->tc_index = ENTERED | flags_of(&fate);
    if (fate.twice) bpf_clone_redirect(skb, port->entrance, 0);
    return bpf_redirect(port->entrance, 0);
  }
  skb->tc_index = OURS;
  if (fate.twice) bpf_clone_redirect(skb, ifindex, BPF_F_INGRESS);
  return TC_ACT_OK;
}

/* What is too long for an exit: a dummy that served at the one before, or a batch that was not cut, which has no mark.
 */
static __always_inline int drop_long(const struct __sk_buff *skb, struct vv_exit_state *state) {
  if (!skb->mark) __sync_fetch_and_add(&state->tally.oversize, 1);
  return TC_ACT_SHOT;
}

/* A frame that comes from the queue of a port: on to that port, and through its door. */
static __always_inline int deliver(struct __sk_buff *skb, __u32 is) {
  __u32 ifindex = PORT(is);
  if (ifindex != skb->ifindex) return bpf_redirect(ifindex, 0);
  if (!(is & ALONE)) return TC_ACT_OK;
  const struct vv_port *port = bpf_map_lookup_elem(&ports, &ifindex);
  __u32 queue = port ? port->queue : 0;
  const struct vv_exit *exit = bpf_map_lookup_elem(&exits, &queue);
  struct vv_exit_state *state = bpf_map_lookup_elem(&exit_states, &queue);
  if (exit && state) wait_at_door(skb, exit, state, is);
  return TC_ACT_OK;
}

/* On the way out: to the queue of this port, or the frame takes its turn. */
SEC("tc")
int vv_leave(struct __sk_buff *skb) {
  __u32 ifindex = skb->ifindex;
  __u32 is = skb->tc_index;
  if (is == DUMMY) return dummy(skb);
  if (is & CROSSED) return deliver(skb, is);
  const struct vv_port *port = bpf_map_lookup_elem(&ports, &ifindex);
  struct fate fate = {.lost = (is & LOST) != 0, .lane = is & LATE ? LANE_LATE : LANE_USUAL};
  if (!port) return TC_ACT_OK;
  if (!(is & (ENTERED | OURS))) {
    judge(skb, ifindex, DIRECTION_IN, &fate);
    if (fate.cut) return TC_ACT_SHOT;
    if (port->queue || (fate.twice && !fate.lost)) return disown(skb, port->queue ? port->queue : ifindex, &fate);
  }
  const struct vv_exit *exit = bpf_map_lookup_elem(&exits, &ifindex);
  struct vv_exit_state *state = bpf_map_lookup_elem(&exit_states, &ifindex);
  skb->tc_index = 0;
  if (!exit || !state) return TC_ACT_OK;
  if (!exit->present) return fate.lost ? TC_ACT_SHOT : TC_ACT_OK;
  if (skb->len >= VV_DUMMY_BYTES) return drop_long(skb, state);
  if (is & ENTERED)
    postpone(skb->ingress_ifindex, DIRECTION_OUT, &fate);
  else
    postpone(exit->port, DIRECTION_IN, &fate);
  return cross(skb, exit, state, &fate, is);
}

char vv_license[] SEC("license") = "Dual BSD/GPL";
