/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ethernet/lan.h"

static bool number(const char *text, uint64_t *value) {
  char *end;
  if (text == NULL || text[0] < '0' || text[0] > '9') return false;
  *value = strtoull(text, &end, 10);
  return *end == '\0';
}

static bool probability(const char *text, double *value) {
  char *end;
  if (text == NULL) return false;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && *value >= 0 && *value <= 1;
}

/* Sets what the option is about; `text` is its value, if it has one. */
static bool set(const struct vv_sim_option *option, const char *text, void *config) {
  void *at = (char *)config + option->offset;
  uint64_t value = 0;
  if (option->type == VV_SIM_OPTION_PROBABILITY) return probability(text, at);
  if (option->type > VV_SIM_OPTION_HUB && !number(text, &value)) return false;
  switch (option->type) {
  case VV_SIM_OPTION_FLAG:
    *(bool *)at = true;
    break;
  case VV_SIM_OPTION_HUB:
    *(enum vv_lan_fabric *)at = VV_LAN_HUB;
    break;
  case VV_SIM_OPTION_U32:
    *(uint32_t *)at = (uint32_t)value;
    break;
  case VV_SIM_OPTION_U64:
    *(uint64_t *)at = value;
    break;
  case VV_SIM_OPTION_MICROSECONDS:
    *(vv_ns *)at = (vv_ns)value * VV_US;
    break;
  default:
    *(vv_ns *)at = (vv_ns)value * VV_MS;
  }
  return value <= UINT32_MAX || option->type != VV_SIM_OPTION_U32;
}

static const struct vv_sim_option *find(const struct vv_sim_option *options, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(options[i].name, name) == 0) return &options[i];
  }
  return NULL;
}

bool vv_sim_options_parse(const struct vv_sim_option *options, size_t count, int argc, char **argv, void *config) {
  for (int i = 0; i < argc; i++) {
    const struct vv_sim_option *option = find(options, count, argv[i]);
    if (option == NULL) return false;
    bool has_value = option->type > VV_SIM_OPTION_HUB;
    if (!set(option, has_value && i + 1 < argc ? argv[i + 1] : NULL, config)) return false;
    i += has_value;
  }
  return true;
}

bool vv_sim_options_seeds(const char *text, uint64_t *first, uint64_t *last) {
  unsigned long long from, to;
  if (sscanf(text, "%llu-%llu", &from, &to) != 2) return false;
  *first = from;
  *last = to;
  return from <= to;
}
