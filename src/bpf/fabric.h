/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the timed fabric is told, and what it remembers: the maps of
 * fabric.bpf.c, shared with vaiven-fabric.
 *
 * A medium is what frames take turns on: a hub, one direction of a cable, a
 * slow host. An exit is an interface whose queueing discipline holds frames
 * back until they have crossed their medium; several exits may share a medium.
 * All times are ns of CLOCK_MONOTONIC. `_q16` is a number times 2^16.
 *
 * How an exit waits. Its discipline is HTB: one class is a line of time along
 * which every packet, once sent, moves the class's deadline by its length, and
 * no packet is sent before the deadline. A real frame counts as one byte (the
 * size table takes VV_DUMMY_BYTES off every length); in front of it goes a
 * dummy as long as the frame has to wait, which is longer than any MTU and
 * therefore dropped when it leaves. HTB remembers at most credit_ns of idle
 * time; the program knows the deadline at every moment, so it makes a dummy
 * exactly as long as brings the deadline to the instant at which the frame must
 * leave, whatever happened before.
 */
#ifndef VV_BPF_FABRIC_H
#define VV_BPF_FABRIC_H

#include <linux/bpf.h>

#define VV_IFINDEX_MAX 512   /* what fits into tc_index beside what the packet is */
#define VV_DUMMY_BYTES 2048  /* no real frame is that long, every dummy is longer */
#define VV_DUMMY_UNITS 12000 /* the longest dummy is VV_DUMMY_BYTES longer than this: what one page order holds */
#define VV_DUMMIES_MAX 256   /* dummies before one frame */
#define VV_LANES       3     /* classes 1:1 as usual, 1:2 with a constant delay, 1:3 for frames that others overtake */

/*
 * The door. A timer is late by what the processor slept and by what else it did,
 * which is nothing to a train, whose lateness does not add up, and a tenth of the
 * time of a lone frame. So a frame that is alone at an exit (no other shortly before it
 * on the medium, none waiting there) leaves it some time before it has crossed, and
 * waits for its instant in a program: at the door, which is where its port hands it to
 * the cable of its host, before the host's kernel stamps it or a capture there sees
 * it. Frames come to the doors behind one exit one after the other, in their order:
 * what follows waits for what is at the door.
 *
 * The queue of a port is therefore not on the port, behind whose queue there is no
 * program, but on a macvlan: the port sends frames there, and gets them back from the
 * interface that all these share. A macvlan keeps nothing: a frame is through its door
 * before the next one leaves the queue. A door keeps its processor, so a train cannot
 * wait there, least of all one that a busy machine sends with gaps: what comes soon
 * behind another frame leaves lead_ns early, and no door holds it.
 *
 * How early is enough is learned, for machines differ: on most a timer is never late by
 * alone_ns, but where a hypervisor has to interrupt a processor that is busy it may be
 * by 70 us. A frame that waited for a timer and came to its door too late
 * lets those after it leave VV_EARLIER_NS earlier, each that came in time VV_LATER_NS
 * later again: so one of fifty is late. What is learned holds for all exits of a switch,
 * because timers are the machine's. A switch's doors take a quarter of a processor at
 * most, for who follows sooner than that is not alone; on a hub, where an answer comes
 * as soon as software is done, a ping-pong of short frames may take nearly all of one.
 */
#define VV_TIMER_MIN_NS 5000   /* a frame that would have to wait for less than that does not wait for a timer */
#define VV_DOOR_NS      130000 /* the longest wait at a door: more than alone_ns and more_ns */
#define VV_DOOR_LOOKS   30000  /* at the clock: more than the longest wait takes */
#define VV_DOOR_LATE_NS 2000   /* a frame that comes to its door so much after it should open is counted */
#define VV_EARLIER_NS   5000
#define VV_LATER_NS     100

/* What may go wrong on a link. One rule of each kind per direction. */
enum vv_fault {
  VV_FAULT_CUT,        /* nothing passes, nothing is charged */
  VV_FAULT_LOSS,       /* a frame crosses the wire and is gone */
  VV_FAULT_BURST_LOSS, /* the same, burst_frames in a row */
  VV_FAULT_CORRUPT,    /* the same; its check sequence was wrong */
  VV_FAULT_DUPLICATE,  /* a frame crosses the wire twice */
  VV_FAULT_REORDER,    /* a frame waits delay_ns more, the next ones do not */
  VV_FAULT_DELAY,      /* every frame arrives delay_ns later */
  VV_FAULT_ICMP,       /* fragments of ICMP messages with more than bytes_max of data are dropped by the host */
  VV_FAULTS,
};

/* Told by vaiven-fabric, never written by the programs. */
struct vv_rule {
  __u64 stream;    /* seed of this rule's own random numbers: rule, frame number -> hit or not */
  __u64 threshold; /* probability times 2^32 */
  __u64 delay_ns;
  __u32 burst_frames;
  __u32 bytes_max;
  __u32 epoch; /* 0: no such fault; another number than before: frames are counted from 0 again */
  __u32 pad;
};
struct vv_link {
  __u32 present;
  __u32 epochs; /* so far */
  struct vv_rule rules[VV_FAULTS];
};
struct vv_exit {
  __u64 byte_ns_q16; /* the medium is taken for frame_ns + bytes * byte_ns, */
  __u64 frame_ns;    /* where bytes are those of the frame, at least bytes_min, */
  __u32 bytes_min;   /* and bytes_more (preamble, check sequence, gap) */
  __u32 bytes_more;  /* */
  __u64 queue_ns;    /* a frame that would wait longer for its turn is dropped */
  __u64 lead_ns;     /* frames leave that much early: what the software after the exit costs */
  __u64 alone_ns;    /* a frame that is alone leaves that much early, */
  __u64 more_ns;     /* and up to so much more where timers were late; 0: no door is behind it */
  __u64 idle_ns; /* alone is a frame before which the medium was free so long, or three times as long as it takes; */
  __u64 idle_more_ns; /* three times as much longer as frames leave earlier, but no more than that */
  __u64 door_ns;      /* doors open so much early: what this fabric's software costs beyond a free lab's */
  __u64 credit_ns;    /* the burst of the HTB classes as time */
  __u64 unit_ns_q16;  /* one byte in the HTB classes as time */
  __u32 medium;       /* index of its medium */
  __u32 present;      /* 0: this interface has a plain queueing discipline or none */
  __u32 port;         /* ifindex that it is the queue of; 0: frames leave here */
  __u32 pad;
};
struct vv_port {
  __u32 entrance; /* ifindex of the exit that frames from here are sent to; 0: they go on as they came */
  __u32 queue;    /* ifindex of the exit that frames wait at before they leave here; 0: they wait here, or nowhere */
};

/* Written by the programs. The locks are for them alone. */
struct vv_tally {
  __u64 frames;   /* that left, or will */
  __u64 bytes;    /* of those, as they count on the medium */
  __u64 full;     /* dropped: the queue was full */
  __u64 oversize; /* dropped: too long for a timed fabric */
  __u64 lost;     /* dropped: a fault */
  __u64 unshaped; /* left too early: there was no memory for a dummy */
  __u64 alone;    /* came to a door to wait there for their instant, */
  __u64 late;     /* and found it past */
};
struct vv_timers {
  __u64 more_ns; /* beyond alone_ns: what was learned */
};
struct vv_exit_state {
  __u64 deadline_ns[VV_LANES];
  struct vv_tally tally;
};
struct vv_rule_state {
  __u64 seen; /* frames so far */
  __u64 hit;  /* of those */
  __u32 left; /* of a burst */
  __u32 epoch;
};
struct vv_link_state {
  struct bpf_spin_lock lock;
  __u32 pad;
  struct vv_rule_state rules[VV_FAULTS];
};

#endif
