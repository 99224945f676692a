/* SPDX-License-Identifier: MIT */
/*
 * One thread of a traced process and another process that stops it by ptrace: how the thread speaks (audit/check/ to
 * tool/check/).
 *
 * The thread speaks by one breakpoint instruction in code of ours, with a number in rax that says whose it is, and the
 * address of what it has to say in rdi. The other side takes the SIGTRAP away and lets it go on.
 */
#ifndef XAUDIT_X86_64_REMOTE_H
#define XAUDIT_X86_64_REMOTE_H

#include <stdint.h>
#include <sys/user.h> /* struct user_regs_struct */

/* In the traced process. SIGTRAP may be neither blocked nor ignored, and somebody has to take it. */
static inline void remote_tell(uint64_t magic, const void *message)
{
	__asm__ volatile("int3" : : "a"(magic), "D"(message) : "memory", "cc");
}

/*
 * In the other process, of a thread that was stopped by SIGTRAP: may that be remote_tell() with this number? Then the
 * addresses of the instruction, where REMOTE_TELL is to lie, and of the message.
 */
static inline int remote_told(
	const struct user_regs_struct *registers, uint64_t magic, uint64_t *instruction, uint64_t *message)
{
	*instruction = registers->rip - 1;
	*message = registers->rdi;
	return registers->rax == magic;
}

#define REMOTE_TELL 0xcc

#endif
