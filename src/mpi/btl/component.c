/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mca_btl_llc.so: the component by which ranks of Open MPI, 4.1 or 5.0, on different hosts
 * of one Ethernet send to each other over IEEE 802.2 LLC type 2, without TCP/IP.
 * Open MPI finds it in its component path, and `--mca btl llc,vader,self` chooses
 * it; with tcp among them, those whom it cannot reach are reached by that.
 *
 * Where it cannot work it says why, once on a host, and there is no such transport:
 * no CAP_NET_RAW, no free SAP, an interface that is none, another Open MPI. It
 * says nothing where all ranks are on one host.
 */
#include <opal_config.h>

#include <opal/mca/btl/base/base.h>
#include <opal/mca/btl/btl.h>
#include <opal/runtime/opal.h>
#include <opal/util/proc.h>
#include <opal/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/siphash.h"
#include "mpi/base/modex.h"
#include "mpi/base/release.h"
#include "mpi/btl/module.h"
#include "mpi/btl/route.h"

/* Behind btl tcp: more exclusive than it, less than what shares memory. */
enum { EXCLUSIVITY = MCA_BTL_EXCLUSIVITY_LOW + 200, WINDOW = 127, WINDOW_MAX = 127 };

static const struct vv_release built = {"mca_btl_llc.so", OPAL_MAJOR_VERSION, OPAL_MINOR_VERSION};

static struct vv_module_config wanted;

static uint32_t nonce_of_job(void) {
  static const uint8_t key[VV_KEY_BYTES] = "vaiven btl llc";
  char text[VV_MODEX_JOB_BYTES];
  vv_modex_job(text);
  return (uint32_t)vv_siphash(key, (const uint8_t *)text, strlen(text));
}

/* True for one rank of the job on this host: a name of a socket, held until the process ends, that no two can have. */
static bool speaks(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "vaiven-btl-%08x", nonce_of_job());
  int said = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  socklen_t whole = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
  return said >= 0 && bind(said, (struct sockaddr *)&name, whole) == 0;
}

static void say(const char *what, const char *remedy) {
  if (speaks())
    fprintf(stderr, "vaiven: %s has no MPI over LLC: %s%s%s\n", opal_process_info.nodename, what, *remedy ? "; " : "",
            remedy);
}

static uint32_t ranks_elsewhere(void) {
  const uint32_t ranks = vv_modex_ranks(), here = (uint32_t)opal_process_info.num_local_peers + 1;
  return ranks > here ? ranks - here : 0;
}

static int find_iface(char iface[VV_IFACE_NAME_MAX], struct vv_error *error) {
  if (wanted.iface && *wanted.iface) {
    snprintf(iface, VV_IFACE_NAME_MAX, "%s", wanted.iface);
    return 0;
  }
  char *hosts = vv_modex_hosts();
  const int found = vv_route_iface(hosts ? hosts : "", opal_process_info.nodename, iface, error);
  free(hosts);
  return found == 0 ? 0 : vv_error_remedy(error, "name it: --mca btl_llc_if IF");
}

static mca_btl_base_module_t **start(int *count, bool progress_threads, bool threads) {
  static char iface[VV_IFACE_NAME_MAX];
  (void)progress_threads;
  struct vv_error error = {0};
  uint8_t card[VV_CARD_BYTES];
  char text[VV_RELEASE_TEXT_BYTES];
  uint32_t peers = ranks_elsewhere();
  mca_btl_base_module_t **modules = NULL;
  *count = 0;
  if (peers == 0) return NULL;
  if (!vv_release_fits(&built, opal_version_string, text)) {
    say(text, "");
    return NULL;
  }
  bool opened =
      find_iface(iface, &error) == 0 && vv_module_open(&wanted, iface, peers, nonce_of_job(), threads, &error) == 0;
  if (!opened) {
    say(error.text, error.remedy);
    return NULL;
  }
  vv_card_emit(&vv_module.card, card);
  if (vv_modex_tell(&vv_module.super.btl_component->btl_version, card, sizeof card))
    modules = malloc(sizeof *modules); /* Open MPI frees it */
  if (!modules) {
    vv_module.super.btl_finalize(&vv_module.super);
    return NULL;
  }
  modules[0] = &vv_module.super;
  *count = 1;
  return modules;
}

static int do_nothing(void) {
  return OPAL_SUCCESS;
}

static void add_number(const mca_base_component_t *component, const char *name, const char *help, int *value) {
  mca_base_component_var_register(component, name, help, MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_4,
                                  MCA_BASE_VAR_SCOPE_READONLY, value);
}

static int register_parameters(void);

OPAL_DECLSPEC extern mca_btl_base_component_3_0_0_t mca_btl_llc_component;
mca_btl_base_component_3_0_0_t mca_btl_llc_component = {
    .btl_version = {MCA_BTL_DEFAULT_VERSION("llc"), .mca_open_component = do_nothing, .mca_close_component = do_nothing,
                    .mca_register_component_params = register_parameters},
    .btl_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
    .btl_init = start,
};

/* The limits of fragments are those of btl tcp. */
static int register_parameters(void) {
  const mca_base_component_t *component = &mca_btl_llc_component.btl_version;
  mca_btl_base_module_t *module = &vv_module.super;
  mca_base_var_group_component_register(component, "IEEE 802.2 LLC type 2 over Ethernet, of vaiven");
  mca_base_component_var_register(component, "if", "Interface (empty: the one that leads to the other hosts)",
                                  MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_1, MCA_BASE_VAR_SCOPE_READONLY,
                                  &wanted.iface);
  wanted.window = WINDOW;
  add_number(component, "window", "Frames under way to a rank, 1 to 127", &wanted.window);
  wanted.silence_s = 0;
  add_number(component, "silence",
             "Seconds after which a rank that is silent is taken for dead; 0: never, for one that computes is silent",
             &wanted.silence_s);
  if (wanted.window < 1 || wanted.window > WINDOW_MAX) wanted.window = WINDOW;
  if (wanted.silence_s < 0) wanted.silence_s = 0;
  module->btl_component = (mca_btl_base_component_t *)&mca_btl_llc_component;
  module->btl_exclusivity = EXCLUSIVITY;
  module->btl_eager_limit = module->btl_rndv_eager_limit = 64 << 10;
  module->btl_max_send_size = 128 << 10;
  module->btl_flags = MCA_BTL_FLAGS_SEND;
  module->btl_bandwidth = 100;
  module->btl_latency = 50;
  return mca_btl_base_param_register(&mca_btl_llc_component.btl_version, module);
}
