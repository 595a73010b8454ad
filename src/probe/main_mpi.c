/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-probe-openmpi and vaiven-probe-mpich: the probe as ranks of one MPI job,
 * rank 0 near, the others far. The near end has the launch key on its standard
 * input, and the far ends get it from there; where they listen they tell rank 0.
 */
#include "io/os/error.h"
#include "probe/commands.h"
#include "probe/handshake.h"
#include "probe/options.h"
#include "probe/record.h"
#include "stack/mpi.h"

static uint8_t key[VV_KEY_BYTES];

static int announce(const struct vv_address *own, struct vv_error *error) {
  char text[VV_ADDRESS_TEXT_MAX];
  (void)error;
  vv_address_format(own, text);
  vv_mpi_tell(text);
  return 0;
}

static int hear_far_ends(struct vv_options *options, struct vv_error *error) {
  static char texts[VV_MPI_RANKS_MAX][VV_CONTACT_MAX];
  size_t count = vv_mpi_hear(texts);
  if (vv_address_parse_pair(texts[0], &options->address, error) != 0) return -1;
  for (options->also_count = 0; options->also_count + 1 < count; options->also_count++) {
    struct vv_address *also = &options->also[options->also_count];
    if (vv_address_parse_pair(texts[options->also_count + 1], also, error) != 0) return -1;
  }
  return 0;
}

/* Everything that the ends must know of each other before the session. */
static int meet(struct vv_options *options, struct vv_error *error) {
  bool far = options->command == VV_COMMAND_FAR;
  if (vv_mpi_begin(far, error) != 0) return -1;
  if (!far && vv_handshake_key(options, key, error) != 0) return -1;
  vv_mpi_share_key(key);
  options->key = key;
  options->announce = announce;
  return far ? 0 : hear_far_ends(options, error);
}

int main(int argc, char **argv) {
  struct vv_error error = {0};
  struct vv_options options;
  int status = vv_options_parse(&options, argc, argv, &error) == 0 ? 0 : VV_EXIT_USAGE;
  bool end = status == 0 && (options.command == VV_COMMAND_FAR || options.command == VV_COMMAND_NEAR);
  if (status == 0 && ((end && meet(&options, &error) != 0) || vv_command_run(&options, &error) != 0)) {
    status = VV_EXIT_ERROR;
  }
  if (status != 0) vv_record_error(&error);
  if (end) vv_mpi_end(status);
  vv_options_free(&options);
  return status;
}
