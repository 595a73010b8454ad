/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/boot/refusal.h"

#include <stdio.h>

#include "io/os/socket.h"

/* "rank 3 (10.1.0.4)" */
static void name(uint32_t rank, const struct sockaddr_in *where, char text[VV_ADDRESS_TEXT_MAX + 24]) {
  char host[VV_ADDRESS_TEXT_MAX];
  const int length = snprintf(text, 24, "rank %u", rank);
  if (where->sin_port == 0) return;
  vv_address_format_host(&(struct vv_address){.v4 = *where, .length = sizeof *where}, host);
  snprintf(text + length, VV_ADDRESS_TEXT_MAX, " (%.80s)", host);
}

static int of_rank(const struct vv_letter_refusal *refusal, const struct sockaddr_in *where, const char *code,
                   const char *what, struct vv_error *error) {
  char who[VV_ADDRESS_TEXT_MAX + 24];
  name(refusal->rank, where, who);
  return vv_error_set(error, code, "%s %s", who, what);
}

int vv_refusal_error(const struct vv_letter_refusal *refusal, uint32_t ranks, const struct sockaddr_in *where,
                     struct vv_error *error) {
  *error = (struct vv_error){0};
  switch (refusal->why) {
  case VV_LETTER_DIED:
    return of_rank(refusal, where, "rank-died", "has ended, or cannot be reached", error);
  case VV_LETTER_SILENT:
    return of_rank(refusal, where, "timeout", "does not answer", error);
  case VV_LETTER_GAVE_UP:
    of_rank(refusal, where, "rank-failed", "could not open the group", error);
    return vv_error_remedy(error, "its own error says why");
  case VV_LETTER_ABSENT:
    vv_error_set(error, "timeout", "%u of %u ranks did not come to the meeting in time, the first of them rank %u",
                 refusal->count, ranks, refusal->rank);
    return vv_error_remedy(error, "see that it runs, has the same key, and reaches the host of rank 0 by TCP");
  case VV_LETTER_TAKEN:
    vv_error_set(error, "rank-taken", "two processes say that they are rank %u", refusal->rank);
    return vv_error_remedy(error, "start each rank once");
  case VV_LETTER_UNEQUAL:
    vv_error_set(error, "ranks-differ", "a process says that it is rank %u of %u, and rank 0 has another number",
                 refusal->rank, refusal->count);
    return vv_error_remedy(error, "start all with the same number of ranks");
  case VV_LETTER_FULL:
    vv_error_set(error, "no-descriptors", "rank 0 may not open as many files as a group of %u ranks needs: %u more",
                 ranks, refusal->count);
    return vv_error_remedy(error, "raise the hard limit of its process (ulimit -n), or close what it has open");
  }
  return vv_error_set(error, "rank-died", "the meeting has ended");
}
