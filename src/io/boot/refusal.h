/* SPDX-License-Identifier: BSD-3-Clause */
/* Why ranks do not meet, or no longer agree, in words: the same at whoever finds it and at all who are told. */
#ifndef VV_IO_BOOT_REFUSAL_H
#define VV_IO_BOOT_REFUSAL_H

#include <netinet/in.h>

#include "core/wire/letter.h"
#include "io/os/error.h"

/*
 * Sets the error of that refusal in a group of so many ranks, and returns -1.
 * `where` is the rank's address; its port is 0 where it is not known. Codes:
 * "rank-died", "timeout", "rank-taken", "ranks-differ", "no-descriptors", "rank-failed".
 */
int vv_refusal_error(const struct vv_letter_refusal *refusal, uint32_t ranks, const struct sockaddr_in *where,
                     struct vv_error *error);

#endif
