/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-raw PROGRAM [ARGUMENT...]: starts a program with CAP_NET_RAW, if this
 * file has that capability (setcap cap_net_raw+p), and without it otherwise; so
 * that a program that was built by others, such as one of MPI, may send raw
 * frames though its user is not root.
 *
 * It makes the capability inheritable and ambient, and becomes the program. That is
 * all, and it has no libc: a program that gains capabilities and starts with the
 * loader or libc of GNU has LD_LIBRARY_PATH, LD_PRELOAD and TMPDIR taken from its
 * environment, and with that from what it starts. It is given +p and not +ep, or
 * else exec itself would fail where the capability is not to be had.
 *
 * It ends with 126 when it is setuid or setgid, which it must never be, and with
 * 127 when the program cannot be started.
 */
#ifndef VV_RAW_RAW_H
#define VV_RAW_RAW_H

/* Of the assembler: a system call of the kernel. What it returns, -errno on failure. */
long vv_raw_call(long number, long a, long b, long c, long d, long e);

/* Called by the assembler with what the kernel puts on the stack: argc, argv, NULL, environment, NULL. Does not return.
 */
void vv_raw_begin(long *stack);

#endif
