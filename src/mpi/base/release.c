/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/base/release.h"

#include <stdio.h>

bool vv_release_fits(const struct vv_release *built, const char *running, char text[VV_RELEASE_TEXT_BYTES]) {
  int major, minor;
  if (sscanf(running, "%d.%d", &major, &minor) == 2 && major == built->major && minor == built->minor) return true;
  snprintf(text, VV_RELEASE_TEXT_BYTES, "%s was built for Open MPI %d.%d, and this is %.20s", built->component,
           built->major, built->minor, running);
  return false;
}
