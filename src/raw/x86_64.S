# SPDX-License-Identifier: BSD-3-Clause
# What C cannot say on this machine: where a program begins, and a call of the kernel.
        .globl _start
_start: xor %ebp, %ebp
        mov %rsp, %rdi
        and $-16, %rsp
        call vv_raw_begin
        hlt

        .globl vv_raw_call
vv_raw_call:
        mov %rdi, %rax
        mov %rsi, %rdi
        mov %rdx, %rsi
        mov %rcx, %rdx
        mov %r8, %r10
        mov %r9, %r8
        syscall
        ret

        .section .note.GNU-stack, "", @progbits
