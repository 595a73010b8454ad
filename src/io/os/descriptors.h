/* SPDX-License-Identifier: BSD-3-Clause */
/* How many files a process may have open. */
#ifndef VV_IO_OS_DESCRIPTORS_H
#define VV_IO_OS_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether this process may open so many more; `fd` is one that it has. If it may
 * not, its soft limit is raised towards the hard one first. They are not kept.
 */
bool vv_descriptors_reserve(int fd, uint32_t count);

#endif
