/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stack: one way for a message to travel between the two ends of a launch.
 *
 * Each stack is one file with one table of functions (vv_stack). The probe
 * opens an end, exchanges the two ends' contacts over its control connection,
 * and then only sends and receives messages. A stack owns its sockets, never
 * the control connection, and prints nothing.
 *
 * Times are nanoseconds of vv_clock_ns(). A deadline is an absolute time;
 * VV_NEVER waits for ever. Buffers belong to the caller.
 */
#ifndef VV_STACK_STACK_H
#define VV_STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/base/time.h"
#include "core/ethernet/message.h"
#include "io/os/clock.h"
#include "io/os/error.h"
#include "io/os/iface.h"
#include "io/os/mark.h"
#include "io/os/watch.h"

#define VV_STACK_PIECE_BYTES 16 /* the first piece of a message that is written in two */

/* How one message is handed to the system. */
enum vv_write {
  VV_WRITE_ONE,    /* one call */
  VV_WRITE_SPLIT,  /* header (VV_STACK_PIECE_BYTES, or half of a smaller message) and rest in two calls, for Nagle */
  VV_WRITE_WRITEV, /* the same two pieces in one gathering call */
};

/* Where the one message of a fanout is sent. */
enum vv_to {
  VV_TO_BROADCAST, /* once, to the broadcast address of the network */
  VV_TO_MULTICAST, /* once, to a group that the launch key names */
  VV_TO_EACH,      /* to one end after the other */
};

/* How an end waits for a message. */
enum vv_wait {
  VV_WAIT_BLOCK, /* asleep in the kernel */
  VV_WAIT_SPIN,  /* asking again and again */
};

/* When a TCP of ours acknowledges what came and nobody has answered yet. */
enum vv_acks {
  VV_ACKS_KERNEL,  /* as the kernel likes */
  VV_ACKS_QUICK,   /* before each wait it is asked to do so at once (TCP_QUICKACK) */
  VV_ACKS_DELAYED, /* before each wait it is asked not to */
};

/* What an end must be told to open. All strings are numeric, none is resolved. */
struct vv_stack_config {
  const char *address; /* own IPv4 or IPv6 address; for the far end the one it answers on */
  bool far;            /* this end will accept: from open on the near end can reach it */
  const char *iface;   /* interface name; NULL unless the stack needs one */
  uint16_t port_min;   /* first and last port that may be used; 0, 0: any */
  uint16_t port_max;
  uint8_t sap; /* llc: the own service access point; 0: the first that is free */
  enum vv_write write;
  enum vv_wait wait;
  enum vv_acks acks;
  enum vv_to to;         /* raw only; other stacks send to each */
  unsigned far_ends;     /* near: how many far ends this launch has */
  size_t size_bytes_max; /* the largest message of this launch */
  uint8_t key[16];       /* the launch key */
  struct vv_watch_stop stop;
  bool steps;          /* vv_stack.steps will be asked for: the end keeps account of them, which costs a little */
  const char *program; /* null only: what it shall do (stack/null.h) */
};

/* Room for an end's contact: a short text that tells the other end how to reach it. */
#define VV_STACK_CONTACT_MAX 128

struct vv_end;  /* one end; each stack defines its own */
struct vv_flow; /* one of several messages at once: flows.h */

/* What became of one send or receive. */
enum vv_got {
  VV_GOT_MESSAGE = 0, /* the whole message went or came */
  VV_GOT_STOPPED,     /* stop said so. The same call again goes on where it was (a stream: in the same message) */
  VV_GOT_CLOSED,      /* the other end closed */
  VV_GOT_ERROR,       /* see the error; the launch is over */
};

/*
 * What the message that this end gave last, and the one that it took last, cost it. Times are CPU time of the process:
 * a wait costs nothing. bytes: what the library held of the message in buffers of its own, headers and all.
 * translations: how often this end turned the numbers of these two messages from one representation into another.
 */
struct vv_steps {
  vv_ns encode_ns; /* from the caller's data to what can be sent */
  vv_ns send_ns;
  vv_ns decode_ns;    /* from what came to the caller's data, as they lie there */
  vv_ns translate_ns; /* then from the other end's representation to the own */
  int64_t out_bytes;
  int64_t in_bytes;
  int64_t translations;
};

/* What a connected end can do, as it is set up now; 0: unknown. */
struct vv_limits {
  uint64_t sequence;   /* so many bytes or frames are numbered before the numbers begin anew */
  uint64_t window;     /* so many of them may be on their way unacknowledged */
  uint32_t services;   /* addresses of services that a host has */
  uint32_t free;       /* of those any program may take */
  uint32_t unit_bytes; /* of a message in one frame */
};

struct vv_stack {
  const char *id;        /* "tcp" */
  const char *summary;   /* one line for `vaiven-probe stacks` */
  const char *needs;     /* privilege or NULL: "CAP_NET_RAW" */
  const char *program;   /* that carries the messages, whose CPU time is in no record; NULL: none but ours */
  size_t size_bytes_min; /* smallest and largest message it can carry */
  size_t size_bytes_max;
  bool kernel_echo;  /* the far kernel answers: there is no far end to open, and no CPU time of it */
  bool alone;        /* no far end, no network: the near end plays both (null) */
  bool datagram;     /* messages can be lost, repeated, overtaken; false: a stream, whose connections cost */
  bool to_all;       /* it can reach all far ends with one message: VV_TO_* mean something */
  bool joined;       /* a launcher or daemons of its own bring its ends together: connecting tells nothing */
  bool ranked;       /* all ends are ranks of one launcher's: 0 is near, and hears from the others where they are */
  bool spins;        /* it always asks again and again (VV_WAIT_SPIN), whatever it is told */
  bool user_accepts; /* a connection comes about only while the far end is in accept; false: its kernel answers */
  bool numbers;      /* a message is 64-bit numbers, which arrive as numbers whatever the other end's byte order */
  bool own_tcp;      /* an end is a TCP connection of ours: VV_ACKS_* mean something, and its segments can be watched */
  bool two_writes;   /* VV_WRITE_SPLIT means something: only where the pieces stay one message */
  enum vv_path path; /* what its messages are on the wire, for the Ethernet model */
  size_t header_bytes; /* that a library puts before each message, inside that path */

  /*
   * Opens the own end and writes its contact (no spaces). NULL and *error set
   * on failure. Two ends that are open at the same time, even on one address,
   * never receive each other's messages: after a loss the probe opens a new end
   * and closes the old one, so that stale answers go nowhere.
   */
  struct vv_end *(*open)(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                         struct vv_error *error);
  /*
   * Far, after open: waits until the near end of that contact has connected and
   * lets nobody else in; called again it drops that one and waits for another.
   * Near: connects to the far contact (of a kernel_echo stack: the far address).
   * 0, or -1 and *error ("timeout" when the deadline passed, "launcher-gone").
   */
  int (*accept)(struct vv_end *end, const char *near_contact, vv_ns deadline_ns, struct vv_error *error);
  int (*connect)(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error);
  /* Sends one whole message. */
  enum vv_got (*send)(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error);
  /* Receives one whole message of exactly size_bytes. Datagrams of another size are dropped. */
  enum vv_got (*recv)(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error);
  /*
   * Begins a message and the receipt of its answer, both of size_bytes, and waits
   * for neither; send and recv of the same buffers then wait for them. 0, or -1 and
   * *error. NULL: whoever has called send need not call again for it to arrive.
   */
  int (*start)(struct vv_end *end, const uint8_t *message, uint8_t *answer, size_t size_bytes, struct vv_error *error);
  /* The clock that this stack's messages live by; NULL: vv_clock_ns(). */
  vv_ns (*clock_ns)(struct vv_end *end);
  /* Lets so much time of that clock pass; NULL together with clock_ns: a spinning wait. */
  void (*pause)(struct vv_end *end, vv_ns pause_ns);
  /* The quality of that clock; NULL together with clock_ns. */
  struct vv_clock_quality (*clock_quality)(struct vv_end *end);
  /* How this end works, where there is more than one way, in a few words for the hello record. May be NULL. */
  const char *(*way)(const struct vv_end *end);
  /*
   * In how many equal parts, rounded up, a message of that size is measured: its
   * time is that of one part so many times. NULL: always 1. More than 1 is said
   * in the record, because the latency is then counted as often.
   */
  unsigned (*parts)(const struct vv_end *end, size_t size_bytes);
  /*
   * Several messages at once, each at an end of its own, whose stop is not asked
   * (flows.h): until every flow has sent and received all. VV_GOT_MESSAGE;
   * VV_GOT_STOPPED when stop says so (the flows tell what is missing, the same call
   * goes on); VV_GOT_CLOSED; VV_GOT_ERROR and *error. NULL: one message after the
   * other, and no more.
   */
  enum vv_got (*flow)(struct vv_flow *flows, size_t count, const struct vv_watch_stop *stop, struct vv_error *error);
  /* The TCP socket of an end of ours (own_tcp), for who asks for its state. NULL: there is none. */
  int (*descriptor)(const struct vv_end *end);
  /*
   * Near, of a stack that sets up a session for each message: when the last one
   * that was sent began to travel, by CLOCK_REALTIME, and how long its session had
   * taken to set up. NULL: it begins to travel when send is called.
   */
  int64_t (*began)(const struct vv_end *end, vv_ns *setup_ns);
  /*
   * Of a stack that works only while one of its calls waits: waits until all that
   * was sent has arrived, or, where it cannot tell, until stop says so, for who
   * will then wait for something else. As send; NULL: the kernel, a thread or a
   * daemon goes on by itself.
   */
  enum vv_got (*drain)(struct vv_end *end, struct vv_error *error);
  /* How many pieces of what this end sent it had to send again so far. NULL: it cannot tell. */
  int64_t (*resent)(const struct vv_end *end);
  /*
   * How many datagrams of strangers came where this end, which is about to be closed, takes its own, looked like them,
   * and were dropped. Ends that share sockets tell it once. NULL: it cannot tell.
   */
  uint64_t (*foreign)(const struct vv_end *end);
  /*
   * Keeps marks of every message from now on, or no more, and tells where: of the
   * last one sent and of the last that came. NULL (no function): it cannot.
   */
  const struct vv_marks *(*mark)(struct vv_end *end, bool on);
  /* NULL: there is nothing to tell. */
  struct vv_limits (*limits)(const struct vv_end *end);
  /* Of an end that was opened with config.steps. NULL: a message has no steps that could be told apart. */
  const struct vv_steps *(*steps)(const struct vv_end *end);
  /*
   * Near, of a stack whose far ends wait in a call that no stop can break (a
   * collective operation): lets that call return in all of them, VV_GOT_STOPPED,
   * once each has been sent a control line. NULL: every wait can be broken. 0, or
   * -1 and *error.
   */
  int (*release)(struct vv_end *end, struct vv_error *error);
  /* Frees the end and closes its sockets. NULL is allowed. */
  void (*close)(struct vv_end *end);
};

/* The tables, one per file (llc.c and tcp.c have two). */
extern const struct vv_stack vv_stack_eth;
extern const struct vv_stack vv_stack_group;
extern const struct vv_stack vv_stack_icmp;
extern const struct vv_stack vv_stack_llc;
extern const struct vv_stack vv_stack_llc_jumbo;
extern const struct vv_stack vv_stack_llc_kernel;
extern const struct vv_stack vv_stack_null;
extern const struct vv_stack vv_stack_raw;
extern const struct vv_stack vv_stack_tcp;
extern const struct vv_stack vv_stack_tcp_nagle;
extern const struct vv_stack vv_stack_udp;
extern const struct vv_stack vv_stack_udpcast;
extern const struct vv_stack vv_stack_uftp;

/*
 * For stacks: the two pieces of a message under VV_WRITE_SPLIT and
 * VV_WRITE_WRITEV, header and rest. Returns the bytes of the first.
 */
size_t vv_stack_pieces(const uint8_t *message, size_t size_bytes, struct iovec pieces[2]);

/* For stacks that need an interface: the one that was named, or that has the own address. 0, or -1 and *error. */
int vv_stack_iface(const struct vv_stack_config *config, char name[VV_IFACE_NAME_MAX], struct vv_error *error);

/*
 * For stacks whose ends must know a port without being told: the first of `count`
 * consecutive ports that may be used, chosen by a hash of the launch key; a
 * multiple of `count`. 0 where there are not as many.
 */
uint16_t vv_stack_port(const struct vv_stack_config *config, uint64_t hash, uint16_t count);

/*
 * For stacks over sockets: what a failed call (errno) means. VV_GOT_MESSAGE:
 * nothing, make it again. `id` and `what` are for the error's words.
 */
enum vv_got vv_stack_judge(const struct vv_watch_stop *stop, const char *id, const char *what, struct vv_error *error);

/*
 * For stacks of bare frames: 0, or -1 and *error "one-host" when both ends have
 * one MAC. Ethernet brings no frame back to its sender; only the loopback
 * interface does, whose MAC is zero.
 */
int vv_stack_check_macs(const uint8_t own[6], const uint8_t peer[6], struct vv_error *error);

#endif
