/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which frames a packet socket shows: a program that the kernel runs on each,
 * so that what is not ours costs no slot of the ring and no wake-up.
 *
 * Let in are whole LLC frames (core/wire/envelope.h) without a VLAN tag, by
 * their destination and DSAP, as the filter wants them. What is inside is not
 * looked at, but for the lead.
 */
#ifndef VV_IO_PORT_FILTER_H
#define VV_IO_PORT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#define VV_FILTER_LEAD_BYTES 8

/* Whose destination: each of these lets in what those before it do. */
enum vv_filter_to {
  VV_FILTER_TO_US,
  VV_FILTER_TO_ALL,   /* the broadcast address too */
  VV_FILTER_TO_GROUP, /* and groups of hosts */
};

struct vv_filter {
  enum vv_filter_to to;
  uint8_t dsap;
  bool station;        /* frames to the null SAP and to the global SAP too: what a station answers (clause 5.3) */
  bool jumbo;          /* frames with EtherType 0x8870 too */
  const uint8_t *lead; /* how the information of a UI command begins, VV_FILTER_LEAD_BYTES; NULL: any PDU */
};

/* Sets the filter of a packet socket. 0, or -1 and errno. */
int vv_filter_attach(int fd, const struct vv_filter *filter);

/*
 * Who looks on instead: at segments of TCP over IPv4 or IPv6 from and to one
 * host, of which it sees as much as tells where in its stream each belongs.
 */
struct vv_filter_watch {
  uint32_t host;     /* the last four bytes of its address, the first of them highest */
  uint16_t not_port; /* but for the segments of that port, at either end */
};

/* The same. */
int vv_filter_watch(int fd, const struct vv_filter_watch *watch);

#endif
