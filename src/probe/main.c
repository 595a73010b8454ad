/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/error.h"
#include "probe/base/record.h"
#include "probe/options.h"
#include "probe/run.h"

int main(int argc, char **argv) {
  struct vv_error error = {0};
  struct vv_probe_config config;
  int status = 0;
  if (vv_options_parse(&config, argc, argv, &error) != 0)
    status = VV_RUN_EXIT_USAGE;
  else if (vv_run(&config, &error) != 0)
    status = VV_RUN_EXIT_ERROR;
  if (status != 0) vv_record_error(&error);
  vv_options_free(&config);
  return status;
}
