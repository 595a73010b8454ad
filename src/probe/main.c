/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/error.h"
#include "probe/commands.h"
#include "probe/options.h"
#include "probe/record.h"

int main(int argc, char **argv) {
  struct vv_error error = {0};
  struct vv_options options;
  int status = 0;
  if (vv_options_parse(&options, argc, argv, &error) != 0)
    status = VV_EXIT_USAGE;
  else if (vv_command_run(&options, &error) != 0)
    status = VV_EXIT_ERROR;
  if (status != 0) vv_record_error(&error);
  vv_options_free(&options);
  return status;
}
