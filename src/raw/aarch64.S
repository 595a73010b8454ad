// SPDX-License-Identifier: BSD-3-Clause
// What C cannot say on this machine: where a program begins, and a call of the kernel.
        .globl _start
_start: mov x29, #0
        mov x30, #0
        mov x0, sp
        and sp, x0, #-16
        bl vv_raw_begin
        brk #0

        .globl vv_raw_call
vv_raw_call:
        mov x8, x0
        mov x0, x1
        mov x1, x2
        mov x2, x3
        mov x3, x4
        mov x4, x5
        svc #0
        ret

        .section .note.GNU-stack, "", %progbits
