/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one end of a launch was told to do: the command line as values (probe/options.h), and what a launcher that
 * starts ranks adds. Every room reads it; nobody changes it after the start.
 */
#ifndef VV_PROBE_BASE_CONFIG_H
#define VV_PROBE_BASE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/siphash.h"
#include "core/base/time.h"
#include "io/os/error.h"
#include "io/os/socket.h"
#include "stack/stack.h"

#define VV_PROBE_SIZE_BYTES_MAX (64u << 20)
#define VV_PROBE_SAMPLES_MAX    10000000 /* of a cell */
#define VV_PROBE_ALSO_MAX       63       /* with --peer the hosts of the largest lab but one */

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
  VV_COMMAND_WITNESS,
};

enum vv_probe_buffers {
  VV_PROBE_BUFFERS_HOT,  /* the same buffer again and again */
  VV_PROBE_BUFFERS_COLD, /* a ring of at least twice the last-level cache */
};

struct vv_probe_config {
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
  enum vv_acks acks;
  enum vv_to to;
  enum vv_probe_buffers buffers;
  vv_ns idle_ns;

  int cpu; /* --cpu, or -1 */

  /* Effort. */
  uint32_t samples;     /* target of each cell */
  uint32_t samples_min; /* of each cell, even when its time is up */
  vv_ns cell_ns;        /* bound of each cell */
  vv_ns timeout_ns;     /* a message is lost after that, and what its size takes at 10 Mb/s */
  uint32_t train;       /* --train, or what the question takes without it */
  uint64_t cap_bps;     /* rounds come so seldom that they send no more on average; 0: as they come */
  bool idle_wire;       /* pingpong: --idle-wire, beside idle_ns, and no part of the identity */
  bool one_clock;       /* near and far share CLOCK_REALTIME */
  bool steps;           /* the question wants the steps of a message told apart */
  bool segment;         /* oneway: cut from large pieces by the kernel */

  struct vv_address also[VV_PROBE_ALSO_MAX]; /* --also: the far ends after the first */
  size_t also_count;

  size_t *sizes; /* --sizes, in the order given; freed by vv_options_free */
  size_t size_count;

  /* The wire, for the model; 0: not given. */
  uint64_t rate_bps;
  uint32_t hops;
  uint32_t mtu_bytes;
};

/* The words of the command line, in the order of the enumerations; NULL at the end. */
extern const char *const vv_probe_config_write[];
extern const char *const vv_probe_config_wait[];
extern const char *const vv_probe_config_acks[];
extern const char *const vv_probe_config_to[];
extern const char *const vv_probe_config_buffers[];

/*
 * Does a cell go on after so many samples, `lost` more being lost? Until it has
 * --samples of them or its time is up, and then still to --samples-min tries: a
 * median of fewer says little, however long they take. But time alone is no
 * reason to wait for one that loses more than come.
 */
bool vv_probe_config_goes_on(const struct vv_probe_config *config, uint64_t samples, uint64_t lost, bool in_time);

#endif
