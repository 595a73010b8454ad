/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/base/config.h"

const char *const vv_probe_config_write[] = {"one", "split", "writev", NULL};
const char *const vv_probe_config_wait[] = {"block", "spin", NULL};
const char *const vv_probe_config_acks[] = {"kernel", "quick", "delayed", NULL};
const char *const vv_probe_config_to[] = {"broadcast", "multicast", "each", NULL};
const char *const vv_probe_config_buffers[] = {"hot", "cold", NULL};

bool vv_probe_config_goes_on(const struct vv_probe_config *config, uint64_t samples, uint64_t lost, bool in_time) {
  if (samples >= config->samples) return false;
  return in_time || (samples + lost < config->samples_min && lost <= samples);
}
