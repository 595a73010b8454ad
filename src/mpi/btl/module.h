/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module of the component (component.c): what Open MPI's BTL interface asks
 * for, by a courier. Only messages are sent, no memory of another rank is
 * written or read; the PML above cuts what is longer than a fragment, asks
 * before it sends what is longer than an eager one, and keeps the order.
 *
 * A fragment on the way is a message of the courier: the tag (1 byte), 7 of
 * zeros, so that what follows is aligned, then what Open MPI wants sent. Its
 * memory is of a free list: nothing is allocated for a message once the lists
 * have grown.
 *
 * A fragment counts as sent when it has left, though it is kept, as a copy, until it
 * is acknowledged; one that finds the window full, or whose descriptor is not
 * ours to free, only when it is acknowledged.
 */
#ifndef VV_MPI_BTL_MODULE_H
#define VV_MPI_BTL_MODULE_H

#include <opal_config.h>

#include <opal/class/opal_free_list.h>
#include <opal/mca/btl/btl.h>
#include <stdint.h>

#include "mpi/btl/card.h"
#include "mpi/btl/courier.h"

#define VV_MODULE_HEAD_BYTES 8

/* What a user may set; parameters of component.c. */
struct vv_module_config {
  char *iface;   /* btl_llc_if; NULL or empty: the one that leads to the other hosts */
  int window;    /* btl_llc_window */
  int silence_s; /* btl_llc_silence */
};

struct vv_module {
  mca_btl_base_module_t super; /* first: Open MPI knows this */
  struct vv_courier courier;
  struct vv_card card; /* our own */
  bool open;
  bool failed; /* and has said so */
  opal_free_list_t lists[3];
  opal_list_t endpoints;
  mca_btl_base_module_error_cb_fn_t fail; /* of the PML */
};

/* The one there is. */
extern struct vv_module vv_module;

/*
 * Opens it on that interface for so many peers. 0, or -1 and *error (vv_courier_open); `threads`: several call.
 */
int vv_module_open(const struct vv_module_config *wanted, const char *iface, uint32_t peers, uint32_t nonce,
                   bool threads, struct vv_error *error);

#endif
