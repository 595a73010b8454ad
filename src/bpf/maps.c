/* SPDX-License-Identifier: BSD-3-Clause */
#include "bpf/maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "fabric-object.h"

#define HANDLE 1 /* of our filters, and their priority: how they are found again */

static const char *const map_names[VV_MAPS] = {
    [VV_MAP_PORTS] = "ports",   [VV_MAP_EXITS] = "exits", [VV_MAP_EXIT_STATES] = "exit_states",
    [VV_MAP_TIMERS] = "timers", [VV_MAP_LINKS] = "links", [VV_MAP_LINK_STATES] = "link_states",
};

/* The program on that side of an interface, or -1. */
static int program_on(int ifindex, enum bpf_tc_attach_point side) {
  DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = side);
  DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE, .priority = HANDLE);
  if (bpf_tc_query(&hook, &opts)) return -1;
  return bpf_prog_get_fd_by_id(opts.prog_id);
}

static void keep_map(struct vv_fabric *fabric, __u32 id) {
  struct bpf_map_info info = {0};
  __u32 length = sizeof info;
  int map = bpf_map_get_fd_by_id(id);
  if (map < 0 || bpf_obj_get_info_by_fd(map, &info, &length)) return;
  for (int i = 0; i < VV_MAPS; i++) {
    if (strcmp(info.name, map_names[i]) == 0) fabric->maps[i] = map;
  }
}

static bool keep_maps_of(struct vv_fabric *fabric, int program) {
  __u32 ids[32];
  struct bpf_prog_info info = {.map_ids = (__u64)(uintptr_t)ids, .nr_map_ids = sizeof ids / sizeof *ids};
  __u32 length = sizeof info;
  if (bpf_obj_get_info_by_fd(program, &info, &length)) return false;
  for (__u32 i = 0; i < info.nr_map_ids && i < sizeof ids / sizeof *ids; i++) keep_map(fabric, ids[i]);
  return true;
}

/* A kernel without clsact, or an interface without our filter, is an answer here and no news for standard error. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
  (void)level;
  (void)format;
  (void)arguments;
  return 0;
}

bool vv_fabric_find(struct vv_fabric *fabric) {
  struct if_nameindex *all = if_nameindex();
  bool found = false;
  memset(fabric, -1, sizeof *fabric);
  libbpf_print_fn_t print = libbpf_set_print(say_nothing);
  for (struct if_nameindex *one = all; one && one->if_index && !found; one++) {
    fabric->enter = program_on((int)one->if_index, BPF_TC_INGRESS);
    fabric->leave = program_on((int)one->if_index, BPF_TC_EGRESS);
    found = fabric->enter >= 0 && fabric->leave >= 0 && keep_maps_of(fabric, fabric->enter) &&
            keep_maps_of(fabric, fabric->leave);
  }
  libbpf_set_print(print);
  if_freenameindex(all);
  for (int i = 0; i < VV_MAPS; i++) found = found && fabric->maps[i] >= 0;
  return found;
}

int vv_fabric_load(struct vv_fabric *fabric) {
  struct bpf_object *object = bpf_object__open_mem(vv_fabric_object, sizeof vv_fabric_object, NULL);
  if (!object || bpf_object__load(object)) return -1;
  fabric->enter = bpf_program__fd(bpf_object__find_program_by_name(object, "vv_enter"));
  fabric->leave = bpf_program__fd(bpf_object__find_program_by_name(object, "vv_leave"));
  for (int i = 0; i < VV_MAPS; i++) fabric->maps[i] = bpf_object__find_map_fd_by_name(object, map_names[i]);
  return 0;
}

static int hang_on(int ifindex, enum bpf_tc_attach_point side, int program) {
  DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = side);
  DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .handle = HANDLE, .priority = HANDLE, .prog_fd = program,
                      .flags = BPF_TC_F_REPLACE);
  libbpf_print_fn_t print = libbpf_set_print(say_nothing); /* a clsact discipline that is there already is fine */
  int made = bpf_tc_hook_create(&hook);
  libbpf_set_print(print);
  if (made && made != -EEXIST) return -1;
  return bpf_tc_attach(&hook, &opts) ? -1 : 0;
}

int vv_fabric_hang(const struct vv_fabric *fabric, int ifindex) {
  if (hang_on(ifindex, BPF_TC_INGRESS, fabric->enter)) return -1;
  return hang_on(ifindex, BPF_TC_EGRESS, fabric->leave);
}

int vv_fabric_get(const struct vv_fabric *fabric, enum vv_map map, __u32 key, void *value) {
  return bpf_map_lookup_elem(fabric->maps[map], &key, value) ? -1 : 0;
}

int vv_fabric_put(const struct vv_fabric *fabric, enum vv_map map, __u32 key, const void *value) {
  return bpf_map_update_elem(fabric->maps[map], &key, value, BPF_ANY) ? -1 : 0;
}
