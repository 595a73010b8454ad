/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of vaiven-probe as values. `vaiven-probe --help` is its manual. */
#ifndef VV_PROBE_OPTIONS_H
#define VV_PROBE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/siphash.h"
#include "io/os/error.h"
#include "io/os/socket.h"
#include "stack/stack.h"

#define VV_SIZE_BYTES_MAX (64u << 20)
#define VV_ALSO_MAX       63 /* with --peer the hosts of the largest lab but one */

struct vv_question;

enum vv_command {
  VV_COMMAND_HELP,
  VV_COMMAND_VERSION,
  VV_COMMAND_FAR,
  VV_COMMAND_NEAR,
  VV_COMMAND_WIRE,
  VV_COMMAND_INVENTORY,
  VV_COMMAND_STACKS,
  VV_COMMAND_MAP,
  VV_COMMAND_STATION,
};

enum vv_buffers {
  VV_BUFFERS_HOT,  /* the same buffer again and again */
  VV_BUFFERS_COLD, /* a ring of at least twice the last-level cache */
};

struct vv_options {
  enum vv_command command;
  const struct vv_stack *stack;       /* far, near, wire */
  const struct vv_question *question; /* near */

  struct vv_address address; /* far: --bind; near: --peer, port 0 when none was given */
  uint16_t port_min;         /* --port; 0, 0: any */
  uint16_t port_max;
  const char *iface;   /* --iface, or NULL */
  uint32_t sap;        /* --sap; 0: any */
  const char *program; /* --null, or NULL */
  const char *root;    /* inventory: --root, or NULL */

  bool key_stdin;       /* --key-stdin: the launcher holds standard input open */
  const char *key_file; /* --key-file, or NULL */

  /* Of ends that a launcher has started as ranks (main_mpi.c); NULL: the command line and "ready" say it. */
  const uint8_t *key;                                                    /* known already */
  int (*announce)(const struct vv_address *own, struct vv_error *error); /* far: tells near where it listens */

  /* A part of the stack's identity: both ends must agree. */
  enum vv_write write;
  enum vv_wait wait;
  enum vv_to to;
  enum vv_buffers buffers;
  int64_t idle_ns;

  int cpu; /* --cpu, or -1 */

  /* Effort. */
  uint32_t samples;     /* target of each cell */
  uint32_t samples_min; /* of each cell, even when its time is up */
  int64_t cell_ns;      /* bound of each cell */
  int64_t timeout_ns;   /* a message is lost after that, and what its size takes at 10 Mb/s */
  uint32_t train;       /* --train, or what the question takes without it */
  uint64_t cap_bps;     /* rounds come so seldom that they send no more on average; 0: as they come */
  bool one_clock;       /* near and far share CLOCK_REALTIME */
  bool segment;         /* oneway: cut from large pieces by the kernel */

  struct vv_address also[VV_ALSO_MAX]; /* --also: the far ends after the first */
  size_t also_count;

  size_t *sizes; /* --sizes, in the order given; freed by vv_options_free */
  size_t size_count;

  /* The wire, for the model; 0: not given. */
  uint64_t rate_bps;
  uint32_t hops;
  uint32_t mtu_bytes;
};

/*
 * Reads the command line and refuses what cannot be: an unknown stack, a size
 * outside the stack's limits, a missing --peer. 0, or -1 and *error ("usage",
 * "unknown-stack", "size-limit", "bad-address"): exit status 2. Strings are argv's own.
 */
int vv_options_parse(struct vv_options *options, int argc, char **argv, struct vv_error *error);
void vv_options_free(struct vv_options *options);

/* The words of the command line. */
const char *vv_options_write_word(enum vv_write write);
const char *vv_options_wait_word(enum vv_wait wait);
const char *vv_options_to_word(enum vv_to to);
const char *vv_options_buffers_word(enum vv_buffers buffers);

/* Prints the manual. */
void vv_options_help(void);

#endif
