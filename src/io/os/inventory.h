/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this host is made of: the facts that a measurement is read with years
 * later.
 *
 * Every file is read below a root directory, "/" or a copy of some machine's
 * /proc and /sys, so that a machine seen once can be seen again in a test.
 * Nothing here fails: what the system does not tell is "" or VV_INVENTORY_UNKNOWN.
 */
#ifndef VV_IO_OS_INVENTORY_H
#define VV_IO_OS_INVENTORY_H

#include <stddef.h>
#include <stdint.h>

#define VV_INVENTORY_UNKNOWN      (-1)
#define VV_INVENTORY_TEXT_MAX     128
#define VV_INVENTORY_CACHES_MAX   8
#define VV_INVENTORY_NICS_MAX     16
#define VV_INVENTORY_OFFLOADS_MAX 8

struct vv_inventory_cache {
  int64_t level;
  char kind[16]; /* "Data", "Instruction", "Unified" */
  int64_t size_bytes;
};

struct vv_inventory_offload {
  const char *name; /* as `ethtool -k` calls it: "tcp-segmentation-offload" */
  int on;           /* 1, 0, VV_INVENTORY_UNKNOWN */
};

struct vv_inventory_nic {
  char name[16];
  char mac[24];
  char driver[VV_INVENTORY_TEXT_MAX]; /* "" for a virtual one without a device */
  char pci_id[16];                    /* "8086:1533" */
  char state[16];                     /* "up", "down" */
  char duplex[16];
  int64_t mtu_bytes;
  int64_t speed_bps;
  /* Of the running system: unknown below another root. */
  struct vv_inventory_offload offloads[VV_INVENTORY_OFFLOADS_MAX];
  int64_t rx_delay_us; /* for how long the card may keep a frame before it interrupts */
  int rx_adaptive;     /* 1: it chooses that delay by itself; 0, VV_INVENTORY_UNKNOWN */
};

/* Buffers of a socket that asks for none: what it begins with, and what TCP may let it grow to. */
struct vv_inventory_socket_buffers {
  int64_t send_bytes, receive_bytes; /* all but TCP */
  int64_t tcp_send_bytes, tcp_send_bytes_max;
  int64_t tcp_receive_bytes, tcp_receive_bytes_max;
};

/* What TCP does for all connections of this host, whatever its routes say. Of the truths 1, 0 or VV_INVENTORY_UNKNOWN.
 */
struct vv_inventory_tcp {
  char congestion_control[VV_INVENTORY_TEXT_MAX];  /* of a connection that asks for none: "reno" */
  char congestion_controls[VV_INVENTORY_TEXT_MAX]; /* all that there are: "reno cubic" */
  int slow_start_after_idle;                       /* the window is forgotten after a pause */
  int metrics_saved; /* a connection begins with what earlier ones to that peer found out */
  int timestamps;    /* 12 bytes of each segment */
};

struct vv_inventory {
  char hostname[VV_INVENTORY_TEXT_MAX];
  char os[VV_INVENTORY_TEXT_MAX];           /* "Debian GNU/Linux 12 (bookworm)" */
  char kernel[VV_INVENTORY_TEXT_MAX];       /* release */
  char kernel_build[VV_INVENTORY_TEXT_MAX]; /* what `uname -v` says */
  char libc[VV_INVENTORY_TEXT_MAX];         /* of this program */
  char compiler[VV_INVENTORY_TEXT_MAX];     /* of this program */

  char cpu_model[VV_INVENTORY_TEXT_MAX];
  int64_t cpu_threads; /* online */
  int64_t cpu_cores;
  int64_t cpu_sockets;
  int64_t cpu_hz; /* now, of the first CPU */
  int64_t cpu_hz_max;
  char governor[VV_INVENTORY_TEXT_MAX];
  struct vv_inventory_cache caches[VV_INVENTORY_CACHES_MAX]; /* of the first CPU */
  size_t cache_count;

  int64_t memory_bytes;
  char board_vendor[VV_INVENTORY_TEXT_MAX];
  char board_name[VV_INVENTORY_TEXT_MAX];
  char product[VV_INVENTORY_TEXT_MAX];
  char chipset_pci_id[16];                    /* of the host bridge */
  char virtualisation[VV_INVENTORY_TEXT_MAX]; /* "kvm", "vmware", ..., "yes" when only the CPU tells, "none" */
  char clock_source[VV_INVENTORY_TEXT_MAX];
  int64_t load_milli; /* running processes, mean of the last minute, in thousandths */

  struct vv_inventory_socket_buffers sockets;
  struct vv_inventory_tcp tcp;

  struct vv_inventory_nic nics[VV_INVENTORY_NICS_MAX]; /* without loopback, by name */
  size_t nic_count;
};

/* Reads everything below root ("/", or a directory without a slash at its end). */
void vv_inventory_read(const char *root, struct vv_inventory *inventory);

#endif
