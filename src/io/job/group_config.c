/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/group_config.h"

#include <string.h>

#include "core/base/siphash.h"

/* A program that was compiled for a later library may ask for what this one has not got. */
static int check_size(const struct vv_group_config *config, struct vv_error *error) {
  if (config->size_bytes == sizeof *config) return 0;
  vv_error_set(error, "bad-config", "the config says that it has %zu bytes, and that of this library has %zu",
               config->size_bytes, sizeof *config);
  return vv_error_remedy(error, "begin it with VV_GROUP_CONFIG, and compile with the headers of the library in use");
}

static int check_members(const struct vv_group_config *config, struct vv_error *error) {
  const char *missing = !config->address                        ? "address"
                        : !config->meeting && !config->exchange ? "meeting"
                        : config->timeout_ms == 0               ? "timeout_ms"
                                                                : NULL;
  if (missing) {
    vv_error_set(error, "bad-config", "%s of the config is not set", missing);
    return vv_error_remedy(error, "the header vaiven/group.h says what each member means");
  }
  if (config->route <= VV_GROUP_UNICAST) return 0;
  return vv_error_set(error, "bad-config", "there is no route number %d", (int)config->route);
}

static int check_key(const struct vv_group_config *config, struct vv_error *error) {
  static const uint8_t zeros[VV_KEY_BYTES];
  if (config->exchange || memcmp(config->key, zeros, sizeof zeros) != 0) return 0; /* rank 0 may draw it */
  vv_error_set(error, "bad-key", "the key of the group is all zeros, which anybody can guess");
  return vv_error_remedy(
      error, "give all ranks the same %d random bytes (getrandom, or a file that others cannot read)", VV_KEY_BYTES);
}

int vv_group_config_check(const struct vv_group_config *config, struct vv_error *error) {
  if (!config) return vv_error_set(error, "bad-call", "there is no config");
  if (check_size(config, error) != 0 || check_members(config, error) != 0) return -1;
  if (config->ranks < 1 || config->ranks > VV_GROUP_RANKS_MAX || config->rank >= config->ranks) {
    return vv_error_set(error, "bad-rank", "rank %u of %u: ranks go from 0, and a group has 1 to %u", config->rank,
                        config->ranks, VV_GROUP_RANKS_MAX);
  }
  return check_key(config, error);
}
