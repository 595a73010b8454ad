/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into linux.uml, whose room for a process's extended registers is of
 * the time before AMX. Where the processor has more of them, the kernel refuses
 * to set a part (EFAULT), and the guest dies at once. Here the part is laid over
 * the whole.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { STATE_BYTES_MAX = 1 << 16 };

typedef long ptrace_fn(enum __ptrace_request request, ...);

static long set_part(ptrace_fn *real, int pid, const struct iovec *part) {
  static _Thread_local uint8_t whole[STATE_BYTES_MAX];
  struct iovec all = {.iov_base = whole, .iov_len = sizeof whole};
  if (real(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &all) < 0) return -1;
  if (part->iov_len <= all.iov_len) memcpy(whole, part->iov_base, part->iov_len);
  return real(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...) {
  static ptrace_fn *real;
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "ptrace");
  va_list rest;
  va_start(rest, request);
  int pid = va_arg(rest, int);
  void *address = va_arg(rest, void *), *data = va_arg(rest, void *);
  va_end(rest);
  long result = real(request, pid, address, data);
  bool refused = result < 0 && errno == EFAULT && request == PTRACE_SETREGSET;
  return refused && (uintptr_t)address == NT_X86_XSTATE ? set_part(real, pid, data) : result;
}
