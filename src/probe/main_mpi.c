/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-probe-openmpi and vaiven-probe-mpich: the probe as ranks of one MPI job,
 * rank 0 near, the others far. The near end has the launch key on its standard
 * input, and the far ends get it from there; where they listen they tell rank 0.
 */
#include "io/os/error.h"
#include "probe/base/record.h"
#include "probe/link/launch_key.h"
#include "probe/options.h"
#include "probe/run.h"
#include "stack/mpi.h"

static uint8_t key[VV_KEY_BYTES];

static int announce(const struct vv_address *own, struct vv_error *error) {
  char text[VV_ADDRESS_TEXT_MAX];
  (void)error;
  vv_address_format(own, text);
  vv_mpi_tell(text);
  return 0;
}

static int hear_far_ends(struct vv_probe_config *config, struct vv_error *error) {
  static char texts[VV_MPI_RANKS_MAX][VV_STACK_CONTACT_MAX];
  size_t count = vv_mpi_hear(texts);
  if (vv_address_parse_pair(texts[0], &config->address, error) != 0) return -1;
  for (config->also_count = 0; config->also_count + 1 < count; config->also_count++) {
    struct vv_address *also = &config->also[config->also_count];
    if (vv_address_parse_pair(texts[config->also_count + 1], also, error) != 0) return -1;
  }
  return 0;
}

/* Everything that the ends must know of each other before the session. */
static int meet(struct vv_probe_config *config, struct vv_error *error) {
  bool far = config->command == VV_COMMAND_FAR;
  if (vv_mpi_begin(far, error) != 0) return -1;
  if (!far && vv_launch_key_find(config, key, error) != 0) return -1;
  vv_mpi_share_key(key);
  config->key = key;
  config->announce = announce;
  return far ? 0 : hear_far_ends(config, error);
}

int main(int argc, char **argv) {
  struct vv_error error = {0};
  struct vv_probe_config config;
  int status = vv_options_parse(&config, argc, argv, &error) == 0 ? 0 : VV_RUN_EXIT_USAGE;
  bool end = status == 0 && (config.command == VV_COMMAND_FAR || config.command == VV_COMMAND_NEAR);
  if (status == 0 && ((end && meet(&config, &error) != 0) || vv_run(&config, &error) != 0)) {
    status = VV_RUN_EXIT_ERROR;
  }
  if (status != 0) vv_record_error(&error);
  if (end) vv_mpi_end(status);
  vv_options_free(&config);
  return status;
}
