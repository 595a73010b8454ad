/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/btl/module.h"

#include <opal/datatype/opal_convertor.h>
#include <opal/mca/btl/base/base.h>
#include <opal/runtime/opal_progress.h>
#include <opal/util/proc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/base/modex.h"
#include "mpi/base/openmpi.h"
#include "mpi/btl/route.h"

enum {
  SMALL_BYTES = 1400,                /* fits a frame with all heads */
  PEERS_MESSAGE_BYTES_MAX = 8 << 20, /* of a fragment: whatever limits another rank was given */
};
static const vv_ns patience_ns = 300 * VV_MS; /* of the last acknowledgements: everybody has come to MPI_Finalize */

struct mca_btl_base_endpoint_t {
  opal_list_item_t super;
  struct vv_courier_peer peer;
  struct opal_proc_t *proc;
};
typedef struct mca_btl_base_endpoint_t vv_endpoint_t;
static OBJ_CLASS_INSTANCE(vv_endpoint_t, opal_list_item_t, NULL, NULL);

/* A descriptor, its one segment, and the message of the courier that both are of. */
struct vv_parcel {
  mca_btl_base_descriptor_t super;
  mca_btl_base_segment_t segment;
  struct vv_courier_load load;
  opal_free_list_t *list;
  int held; /* by whoever sends it, and until it is acknowledged */
  uint8_t bytes[] __attribute__((aligned(16)));
};
typedef struct vv_parcel vv_parcel_t;
static OBJ_CLASS_INSTANCE(vv_parcel_t, mca_btl_base_descriptor_t, NULL, NULL);

/* descriptors ------------------------------------------------------------ */

static size_t list_bytes(size_t index) {
  const size_t sizes[] = {SMALL_BYTES, vv_module.super.btl_eager_limit, vv_module.super.btl_max_send_size};
  return sizes[index];
}

static struct vv_parcel *make(size_t size_bytes, uint32_t flags) {
  size_t index = 0;
  while (index < 3 && size_bytes > list_bytes(index)) index++;
  if (index == 3) return NULL;
  struct vv_parcel *parcel = (struct vv_parcel *)opal_free_list_get(&vv_module.lists[index]);
  if (!parcel) return NULL;
  parcel->list = &vv_module.lists[index];
  parcel->segment.seg_addr.pval = parcel->bytes + VV_MODULE_HEAD_BYTES;
  parcel->segment.seg_len = size_bytes;
  parcel->super.des_segments = &parcel->segment;
  parcel->super.des_segment_count = 1;
  parcel->super.des_flags = flags;
  parcel->super.order = MCA_BTL_NO_ORDER;
  return parcel;
}

static mca_btl_base_descriptor_t *allocate(struct mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                                           uint8_t order, size_t size_bytes, uint32_t flags) {
  (void)btl, (void)endpoint, (void)order;
  struct vv_parcel *parcel = make(size_bytes, flags);
  return parcel ? &parcel->super : NULL;
}

static int release(struct mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor) {
  (void)btl;
  struct vv_parcel *parcel = (struct vv_parcel *)descriptor;
  opal_free_list_return(parcel->list, &descriptor->super);
  return OPAL_SUCCESS;
}

/* Copies what the convertor has, behind `at` bytes: how much, or -1. */
static ssize_t pack(struct vv_parcel *parcel, struct opal_convertor_t *convertor, size_t at, size_t size_bytes) {
  struct iovec room = {.iov_base = parcel->bytes + VV_MODULE_HEAD_BYTES + at, .iov_len = size_bytes};
  uint32_t pieces = 1;
  if (size_bytes > 0 && opal_convertor_pack(convertor, &room, &pieces, &size_bytes) < 0) return -1;
  parcel->segment.seg_len = at + size_bytes;
  return (ssize_t)size_bytes;
}

static mca_btl_base_descriptor_t *prepare(struct mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                                          struct opal_convertor_t *convertor, uint8_t order, size_t reserve,
                                          size_t *size_bytes, uint32_t flags) {
  (void)endpoint, (void)order;
  size_t most = btl->btl_max_send_size - reserve;
  if (*size_bytes > most) *size_bytes = most;
  struct vv_parcel *parcel = make(reserve + *size_bytes, flags);
  if (!parcel) return NULL;
  ssize_t packed = pack(parcel, convertor, reserve, *size_bytes);
  if (packed < 0) {
    release(btl, &parcel->super);
    return NULL;
  }
  *size_bytes = (size_t)packed;
  return &parcel->super;
}

/* sending ---------------------------------------------------------------- */

static bool is_ours(const struct vv_parcel *parcel) {
  return (parcel->super.des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP) != 0;
}

static void let_go(struct vv_parcel *parcel) {
  if (__atomic_sub_fetch(&parcel->held, 1, __ATOMIC_ACQ_REL) == 0) release(&vv_module.super, &parcel->super);
}

/* Who sends a parcel of ours lets it go afterwards; another may be freed, by its owner, as soon as it is acknowledged.
 */
static enum vv_courier_sent dispatch(struct vv_parcel *parcel, struct mca_btl_base_endpoint_t *endpoint,
                                     mca_btl_base_tag_t tag) {
  memset(parcel->bytes, 0, VV_MODULE_HEAD_BYTES);
  parcel->bytes[0] = tag;
  parcel->held = 2;
  parcel->load.bytes = parcel->bytes;
  parcel->load.count = (uint32_t)(VV_MODULE_HEAD_BYTES + parcel->segment.seg_len);
  return vv_courier_send(&vv_module.courier, &endpoint->peer, &parcel->load);
}

static int send_descriptor(struct mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                           mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag) {
  struct vv_parcel *parcel = (struct vv_parcel *)descriptor;
  bool ours = is_ours(parcel), must_call = (descriptor->des_flags & MCA_BTL_DES_SEND_ALWAYS_CALLBACK) != 0;
  enum vv_courier_sent sent = dispatch(parcel, endpoint, tag);
  if (sent == VV_COURIER_GONE) return OPAL_ERR_UNREACH;
  bool done = sent == VV_COURIER_LEFT && ours;
  if (done && must_call) descriptor->des_cbfunc(btl, endpoint, descriptor, OPAL_SUCCESS);
  if (ours) let_go(parcel);
  return done ? 1 : OPAL_SUCCESS;
}

/* The message is done when this returns, and its sender may never call MPI again: so only what leaves now is sent so.
 */
static int send_at_once(struct mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_bytes, size_t payload_bytes,
                        uint8_t order, uint32_t flags, mca_btl_base_tag_t tag, mca_btl_base_descriptor_t **descriptor) {
  const uint32_t silently = MCA_BTL_DES_FLAGS_BTL_OWNERSHIP;
  size_t whole_bytes = header_bytes + payload_bytes;
  bool leaves = whole_bytes <= SMALL_BYTES && vv_courier_is_open(&vv_module.courier, &endpoint->peer);
  struct vv_parcel *parcel = leaves ? make(whole_bytes, silently) : NULL;
  if (!parcel) {
    if (descriptor) *descriptor = allocate(btl, endpoint, order, whole_bytes, flags);
    return OPAL_ERR_RESOURCE_BUSY;
  }
  memcpy(parcel->bytes + VV_MODULE_HEAD_BYTES, header, header_bytes);
  parcel->super.des_cbfunc = NULL;
  if (pack(parcel, convertor, header_bytes, payload_bytes) >= 0 && dispatch(parcel, endpoint, tag) != VV_COURIER_GONE) {
    let_go(parcel);
    return OPAL_SUCCESS;
  }
  release(btl, &parcel->super);
  if (descriptor) *descriptor = NULL;
  return OPAL_ERR_UNREACH;
}

/* what the courier tells -------------------------------------------------- */

static void fail(struct opal_proc_t *proc, const char *text) {
  if (vv_module.failed) return;
  vv_module.failed = true;
  fprintf(stderr, "vaiven: MPI over LLC: %s\n", text);
  if (vv_module.fail) vv_module.fail(&vv_module.super, MCA_BTL_ERROR_FLAGS_FATAL, proc, (char *)(uintptr_t)text);
}

static void came(void *context, const uint8_t *bytes, size_t count) {
  (void)context;
  if (count < VV_MODULE_HEAD_BYTES || bytes[0] >= MCA_BTL_TAG_MAX) return;
  mca_btl_base_segment_t segment = {.seg_addr.pval = (void *)(uintptr_t)(bytes + VV_MODULE_HEAD_BYTES),
                                    .seg_len = count - VV_MODULE_HEAD_BYTES};
  vv_openmpi_hand_over(&vv_module.super, bytes[0], &segment);
}

static struct vv_parcel *parcel_of(struct vv_courier_load *load) {
  return (struct vv_parcel *)((uint8_t *)load - offsetof(struct vv_parcel, load));
}

static void complete(struct vv_parcel *parcel) {
  if (parcel->super.des_cbfunc)
    parcel->super.des_cbfunc(&vv_module.super, parcel->load.peer->context, &parcel->super, OPAL_SUCCESS);
}

/* Who sends a message of ours is done with it then: its bytes are our copy. */
static void left(void *context, struct vv_courier_load *load) {
  (void)context;
  struct vv_parcel *parcel = parcel_of(load);
  if (is_ours(parcel)) complete(parcel);
}

/* Where `sent` is told that a message did not arrive `ended` follows, which ends the job, or the peer has left. */
static void sent(void *context, struct vv_courier_load *load, bool arrived) {
  (void)context, (void)arrived;
  struct vv_parcel *parcel = parcel_of(load);
  bool ours = is_ours(parcel), told = load->left && ours;
  if (!told) complete(parcel);
  if (ours) let_go(parcel);
}

static void describe(const struct opal_proc_t *proc, char *text, size_t room) {
  const char *host = opal_get_proc_hostname(proc);
  snprintf(text, room, "rank %u on %s", (unsigned)proc->proc_name.vpid, host ? host : "a host unknown");
}

/* A peer that says good-bye has come to its MPI_Finalize. */
static void ended(void *context, struct vv_courier_peer *peer, enum vv_llc_close why) {
  (void)context;
  struct mca_btl_base_endpoint_t *endpoint = peer->context;
  char who[120], text[320];
  if (why == VV_LLC_CLOSE_PEER || why == VV_LLC_CLOSE_ASKED) return;
  describe(endpoint->proc, who, sizeof who);
  snprintf(text, sizeof text, "%s is gone: %s", who, vv_node_why(why));
  fail(endpoint->proc, text);
}

static void waits(void *context, struct vv_courier_peer *peer) {
  (void)context;
  char who[120];
  describe(((struct mca_btl_base_endpoint_t *)peer->context)->proc, who, sizeof who);
  fprintf(stderr,
          "vaiven: MPI over LLC: %s has not answered for %d s: it computes, or %s is not on one Ethernet with it "
          "(--mca btl_llc_if)\n",
          who, (int)(VV_COURIER_WARN_NS / VV_SEC), vv_module.courier.config.iface);
}

static int progress(void) {
  struct vv_error error;
  if (vv_module.failed) return 0;
  int count = vv_courier_turn(&vv_module.courier, &error);
  if (count < 0) fail(opal_proc_local_get(), error.text);
  return count;
}

/* peers ------------------------------------------------------------------ */

static struct mca_btl_base_endpoint_t *reach(struct opal_proc_t *proc) {
  size_t count = 0;
  struct vv_card card;
  uint8_t *bytes = vv_modex_told(&vv_module.super.btl_component->btl_version, &proc->proc_name, &count);
  const bool known = bytes && vv_card_parse(bytes, count, &card);
  free(bytes);
  if (!known || !vv_card_reaches(&vv_module.card, &card)) return NULL;
  struct mca_btl_base_endpoint_t *endpoint = OBJ_NEW(vv_endpoint_t);
  if (!endpoint) return NULL;
  endpoint->proc = proc;
  endpoint->peer = (struct vv_courier_peer){.address = card.address, .context = endpoint};
  if (!vv_courier_join(&vv_module.courier, &endpoint->peer)) {
    OBJ_RELEASE(endpoint);
    return NULL;
  }
  opal_list_append(&vv_module.endpoints, &endpoint->super);
  return endpoint;
}

/* Ranks of this host share its memory (vader). */
static int add_procs(struct mca_btl_base_module_t *btl, size_t count, struct opal_proc_t **procs,
                     struct mca_btl_base_endpoint_t **endpoints, struct opal_bitmap_t *reachable) {
  (void)btl;
  for (size_t i = 0; i < count; i++) {
    if (procs[i] == opal_proc_local_get() || OPAL_PROC_ON_LOCAL_NODE(procs[i]->proc_flags)) continue;
    endpoints[i] = reach(procs[i]);
    if (!endpoints[i]) continue;
    if (reachable && opal_bitmap_set_bit(reachable, (int)i) != OPAL_SUCCESS) return OPAL_ERR_OUT_OF_RESOURCE;
  }
  return OPAL_SUCCESS;
}

/* What is under way to them still refers to their endpoints: all end together. */
static int del_procs(struct mca_btl_base_module_t *btl, size_t count, struct opal_proc_t **procs,
                     struct mca_btl_base_endpoint_t **endpoints) {
  (void)btl, (void)count, (void)procs, (void)endpoints;
  return OPAL_SUCCESS;
}

static int register_error(struct mca_btl_base_module_t *btl, mca_btl_base_module_error_cb_fn_t function) {
  (void)btl;
  vv_module.fail = function;
  return OPAL_SUCCESS;
}

/* open and close ---------------------------------------------------------- */

static int finalize(struct mca_btl_base_module_t *btl) {
  (void)btl;
  if (!vv_module.open) return OPAL_SUCCESS;
  vv_module.open = false;
  opal_progress_unregister(progress);
  vv_courier_close(&vv_module.courier, patience_ns);
  OPAL_LIST_DESTRUCT(&vv_module.endpoints);
  for (size_t i = 0; i < 3; i++) OBJ_DESTRUCT(&vv_module.lists[i]);
  return OPAL_SUCCESS;
}

static int make_lists(struct vv_error *error) {
  enum { FIRST = 16, MORE = 16 };
  OBJ_CONSTRUCT(&vv_module.endpoints, opal_list_t);
  int result = OPAL_SUCCESS;
  for (size_t i = 0; i < 3; i++) {
    OBJ_CONSTRUCT(&vv_module.lists[i], opal_free_list_t);
    if (result == OPAL_SUCCESS)
      result = opal_free_list_init(&vv_module.lists[i], sizeof(struct vv_parcel) + VV_MODULE_HEAD_BYTES + list_bytes(i),
                                   opal_cache_line_size, OBJ_CLASS(vv_parcel_t), 0, 0, i == 0 ? FIRST : 0, -1, MORE,
                                   NULL, 0, NULL, NULL, NULL);
  }
  return result == OPAL_SUCCESS ? 0 : vv_error_set(error, "no-memory", "no memory for fragments");
}

int vv_module_open(const struct vv_module_config *wanted, const char *iface, uint32_t peers, uint32_t nonce,
                   bool threads, struct vv_error *error) {
  const struct vv_courier_config courier = {
      .iface = iface,
      .peers = peers,
      .nonce = nonce,
      .window = (uint8_t)wanted->window,
      .message_bytes_max = PEERS_MESSAGE_BYTES_MAX,
      .silence_ns = wanted->silence_s * VV_SEC,
      .threads = threads,
      .user = {.came = came, .left = left, .sent = sent, .ended = ended, .waits = waits},
  };
  if (vv_courier_open(&vv_module.courier, &courier, error) != 0) return -1;
  if (make_lists(error) != 0) {
    vv_courier_close(&vv_module.courier, 0);
    return -1;
  }
  vv_module.card = (struct vv_card){.address = vv_module.courier.node.self,
                                    .mtu_bytes = (uint16_t)vv_module.courier.node.packet.data_bytes_max,
                                    .nonce = nonce};
  vv_route_network(iface, &vv_module.card.network, &vv_module.card.prefix);
  vv_module.open = true;
  opal_progress_register(progress);
  return 0;
}

struct vv_module vv_module = {.super = {.btl_add_procs = add_procs,
                                        .btl_del_procs = del_procs,
                                        .btl_finalize = finalize,
                                        .btl_alloc = allocate,
                                        .btl_free = release,
                                        .btl_prepare_src = prepare,
                                        .btl_send = send_descriptor,
                                        .btl_sendi = send_at_once,
                                        .btl_dump = mca_btl_base_dump,
                                        .btl_register_error = register_error}};
