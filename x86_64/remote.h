/* SPDX-License-Identifier: MIT */
/*
 * One thread of a traced process and another process that stops it by ptrace.
 *
 * The thread speaks (audit/check/ to tool/check/) by one breakpoint instruction in code of ours, with a number in rax
 * that says whose it is, and the address of what it has to say in rdi. The other side takes the SIGTRAP away and lets
 * it go on.
 *
 * The thread is made to call control_run() (runtime/control.h has the protocol): it is sent to control_entry.
 */
#ifndef XAUDIT_X86_64_REMOTE_H
#define XAUDIT_X86_64_REMOTE_H

#include <stddef.h> /* offsetof */
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

/* In r9 at the system call by which control_entry ends: "xcontrol". */
#define CONTROL_MAGIC 0x6c6f72746e6f6378ull

/* How control_entry gets a thread back to where it was. In the order in which it pops them. */
struct control_frame {
	uint64_t mask; /* of blocked signals */
	uint64_t flags, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
	uint64_t rip; /* last: `ret $128` steps over the red zone. The frame ends 128 bytes below T's stack pointer. */
};
/* control.S pops them one after another: nothing may be between them. */
_Static_assert(offsetof(struct control_frame, flags) == 8 && offsetof(struct control_frame, rip) == 17 * 8 &&
		       sizeof(struct control_frame) == 18 * 8,
	"popped in this order");

/* Not a C function: control.S says what it expects. It ends before control_entry_end. */
void control_entry(void) __attribute__((visibility("hidden")));
extern const char control_entry_end[] __attribute__((visibility("hidden")));

#endif
