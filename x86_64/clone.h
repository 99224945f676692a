/* SPDX-License-Identifier: MIT */
/*
 * Starts a process that runs a function of ours in the caller's memory. Its thread has no place in libc's lists, and
 * the caller's %fs: what it runs uses no libc, no TLS and no stack protector. The caller blocks all signals before,
 * since a handler of the program must not run there.
 *
 * Async-signal-safe, no lock.
 */
#ifndef XAUDIT_X86_64_CLONE_H
#define XAUDIT_X86_64_CLONE_H

#include <stdint.h>
#include <sys/syscall.h> /* __NR_clone */

/*
 * flags: CLONE_VM and others of clone(2), with the signal that tells of the end; none that needs a word but
 * CLONE_CHILD_CLEARTID, whose word is *left. stack_end: behind the stack, a multiple of 16. Returns the process's id,
 * or -errno. The process ends with what body() returns.
 */
static inline long clone_call(uint64_t flags, void *stack_end, uint32_t *left, int (*body)(void *), void *argument)
{
	uintptr_t *top = stack_end;
	long r;
	register uint32_t *r10 __asm__("r10") = left;

	*--top = (uintptr_t)body;
	*--top = (uintptr_t)argument;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t" /* no frame above it */
			 "pop %%rdi\n\t"
			 "pop %%rax\n\t"
			 "call *%%rax\n\t"
			 "mov %%eax, %%edi\n\t"
			 "mov %[exit], %%eax\n\t"
			 "syscall\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(r)
			 : "a"((long)__NR_clone), "D"(flags), "S"(top), "d"(0l), "r"(r10), [exit] "i"(__NR_exit_group)
			 : "rcx", "r11", "cc", "memory");
	return r;
}

#endif
