/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a component fits the Open MPI that has loaded it: the structures of Open MPI are those of its minor release.
 */
#ifndef VV_MPI_BASE_RELEASE_H
#define VV_MPI_BASE_RELEASE_H

#include <stdbool.h>
#include <stddef.h>

/* For what release a component was built, by the headers of Open MPI. */
struct vv_release {
  const char *component; /* its file: "mca_btl_llc.so" */
  int major, minor;
};

enum { VV_RELEASE_TEXT_BYTES = 120 };

/* `running`: what Open MPI says of itself, "4.1.4". False, and a sentence without its full stop. */
bool vv_release_fits(const struct vv_release *built, const char *running, char text[VV_RELEASE_TEXT_BYTES]);

#endif
