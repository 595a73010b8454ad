/* SPDX-License-Identifier: BSD-3-Clause */
/* The stacks of vaiven-probe, which needs libc alone. Those of a library are in a program of their own (mpi.h). */
#include "stack/registry.h"
#include "stack/stack.h"

const struct vv_stack *const vv_stack_registry[] = {
    &vv_stack_icmp,       &vv_stack_eth,
    &vv_stack_llc,        &vv_stack_llc_jumbo,
    &vv_stack_llc_kernel, &vv_stack_udp,
    &vv_stack_tcp,        &vv_stack_tcp_nagle,
    &vv_stack_raw,        &vv_stack_group,
    &vv_stack_udpcast,    &vv_stack_uftp,
    &vv_stack_null,       NULL,
};
