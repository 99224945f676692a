/* SPDX-License-Identifier: MIT */
/*
 * One thread of a traced process and another process that stops it by ptrace.
 *
 * The thread sends a message (audit/check/ to tool/check/) by one breakpoint instruction in code of ours, with a number
 * in rax that tells it from other breakpoints, and the address of the message in rdi. The other side takes the SIGTRAP
 * away and lets the thread go on.
 *
 * The thread is made to call control_run() (runtime/control.h has the protocol): it is sent to control_entry.
 */
#ifndef XAUDIT_X86_64_REMOTE_H
#define XAUDIT_X86_64_REMOTE_H

#include <errno.h>  /* ENOSYS */
#include <stdbool.h>
#include <stddef.h> /* offsetof */
#include <stdint.h>
#include <sys/syscall.h> /* __NR_rt_sigprocmask */
#include <sys/user.h>    /* struct user_regs_struct */

/* In the traced process. SIGTRAP may be neither blocked nor ignored, and a tracer must take it. */
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

/* The words by which control_entry brings a thread back, in the order in which it pops them. */
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

/*
 * What lies on a thread's stack while it makes a system call again in remote_wait. timeout: the time that is left,
 * where the call takes the address of one.
 */
struct remote_waiting {
	uint64_t pc; /* behind the thread's own system call */
	uint64_t rdx, r8, r10; /* its own */
	int64_t timeout[2]; /* s, ns */
};

/* Not a C function: wait.S says what it expects. */
void remote_wait(void) __attribute__((visibility("hidden")));

/* ---- in the other process: registers of a stopped thread, as the kernel tells them (PTRACE_GETREGS) ---- */

#define REMOTE_RED_ZONE 128 /* bytes below its stack pointer that a thread may use */

static inline uint64_t remote_pc(const struct user_regs_struct *r)
{
	return r->rip;
}

static inline void remote_set_pc(struct user_regs_struct *r, uint64_t pc)
{
	r->rip = pc;
}

static inline uint64_t remote_sp(const struct user_regs_struct *r)
{
	return r->rsp;
}

#define REMOTE_CALL_SIZE 2 /* bytes of the instruction that makes a system call */

/* Number of the system call that it is in; negative: it is in none. */
static inline long remote_call(const struct user_regs_struct *r)
{
	return (long)r->orig_rax;
}

/* What the system call returns. */
static inline long remote_result(const struct user_regs_struct *r)
{
	return (long)r->rax;
}

static inline void remote_set_result(struct user_regs_struct *r, long result)
{
	r->rax = (unsigned long long)result;
}

/* Does it run code of this machine's 64-bit mode? */
static inline bool remote_is_native(const struct user_regs_struct *r)
{
	return (r->cs & 0xffff) == 0x33;
}

/* System calls that <sys/syscall.h> of older systems does not name. */
#ifndef __NR_io_pgetevents
#define __NR_io_pgetevents 333
#endif
#ifndef __NR_io_uring_enter
#define __NR_io_uring_enter 426
#endif
#ifndef __NR_epoll_pwait2
#define __NR_epoll_pwait2 441
#endif

/* What brings a thread with these registers back, as it is: a system call that it is in has returned to it. */
static inline struct control_frame remote_frame(const struct user_regs_struct *r, uint64_t mask)
{
	return (struct control_frame){
		.mask = mask,
		.flags = r->eflags,
		.r15 = r->r15,
		.r14 = r->r14,
		.r13 = r->r13,
		.r12 = r->r12,
		.r11 = r->r11,
		.r10 = r->r10,
		.r9 = r->r9,
		.r8 = r->r8,
		.rdi = r->rdi,
		.rsi = r->rsi,
		.rbp = r->rbp,
		.rbx = r->rbx,
		.rdx = r->rdx,
		.rcx = r->rcx,
		.rax = r->rax,
		.rip = r->rip,
	};
}

/* ... and makes system call `number` again, with the arguments that it has, in place of the one that has returned. */
static inline void remote_frame_calls(struct control_frame *frame, long number)
{
	frame->rax = (uint64_t)number;
	frame->rip -= 2; /* of syscall */
}

/* Where that frame is to lie. */
static inline uint64_t remote_frame_at(const struct user_regs_struct *r)
{
	return r->rsp - REMOTE_RED_ZONE - sizeof(struct control_frame);
}

/* Sends the thread to control_entry, on another stack; the system call that it is in is not restarted by the kernel. */
static inline void remote_enter(struct user_regs_struct *r, const struct user_regs_struct *from, uint64_t entry,
	uint64_t stack_top)
{
	*r = *from;
	r->rip = entry;
	r->rdi = remote_frame_at(from);
	r->rsp = stack_top;
	r->orig_rax = (unsigned long long)-1;
	r->eflags &= ~0x100ull; /* no single steps */
}

/* Is the thread about to make the system call by which control_entry ends? */
static inline bool remote_is_done(const struct user_regs_struct *r, uint64_t entry, uint64_t entry_end)
{
	return r->orig_rax == __NR_rt_sigprocmask && r->r9 == CONTROL_MAGIC && r->rip >= entry && r->rip < entry_end &&
	       remote_result(r) == -ENOSYS;
}

/* Timeouts of system calls that the kernel does not make again with the time that was left. */
enum remote_timeout { REMOTE_NO_TIMEOUT, REMOTE_MS, REMOTE_TIMESPEC };

/* Whether the system call has such a timeout, by its arguments, the third first. */
static inline enum remote_timeout remote_has_timeout(long call, const uint64_t argument[3])
{
	switch (call) {
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
		return (int32_t)argument[1] > 0 ? REMOTE_MS : REMOTE_NO_TIMEOUT;
	case __NR_epoll_pwait2:
	case __NR_semtimedop:
		return argument[1] ? REMOTE_TIMESPEC : REMOTE_NO_TIMEOUT;
	case __NR_rt_sigtimedwait:
		return argument[0] ? REMOTE_TIMESPEC : REMOTE_NO_TIMEOUT;
	case __NR_io_getevents:
	case __NR_io_pgetevents:
		return argument[2] ? REMOTE_TIMESPEC : REMOTE_NO_TIMEOUT;
	default:
		return REMOTE_NO_TIMEOUT;
	}
}

/* As above, of the system call that a stopped thread is in. *value: ms, or the address of s and ns. */
static inline enum remote_timeout remote_timeout(const struct user_regs_struct *r, uint64_t *value)
{
	const uint64_t argument[3] = { r->rdx, r->r10, r->r8 };

	*value = r->orig_rax == __NR_rt_sigtimedwait ? r->rdx
		 : r->orig_rax == __NR_io_getevents || r->orig_rax == __NR_io_pgetevents ? r->r8 : r->r10;
	return remote_has_timeout((long)r->orig_rax, argument);
}

/*
 * Has a stopped thread, whose system call the kernel will make again, make it in remote_wait, which lies at `wait`,
 * with that timeout. *at: where the frame is to lie.
 */
static inline void remote_wait_again(struct user_regs_struct *r, uint64_t wait, enum remote_timeout kind, uint64_t ms,
	struct remote_waiting *frame, uint64_t *at)
{
	uint64_t value = ms;

	if (r->rip == wait + REMOTE_CALL_SIZE) { /* it is there already */
		*at = r->rsp;
	} else {
		*at = r->rsp - REMOTE_RED_ZONE - sizeof(*frame);
		*frame = (struct remote_waiting){ .pc = r->rip, .rdx = r->rdx, .r8 = r->r8, .r10 = r->r10 };
		r->rsp = *at;
		r->rip = wait + REMOTE_CALL_SIZE;
	}
	if (kind == REMOTE_TIMESPEC)
		value = *at + offsetof(struct remote_waiting, timeout);
	if (r->orig_rax == __NR_rt_sigtimedwait)
		r->rdx = value;
	else if (r->orig_rax == __NR_io_getevents || r->orig_rax == __NR_io_pgetevents)
		r->r8 = value;
	else
		r->r10 = value;
}

/*
 * A thread is about to make a system call: has it make another one instead, which does nothing, and which filters of
 * system calls let pass. *own becomes the registers to be set afterwards: as if its own call had been denied.
 */
static inline void remote_deny_call(struct user_regs_struct *r, struct user_regs_struct *own)
{
	*own = *r;
	remote_set_result(own, -EPERM);
	r->orig_rax = __NR_rt_sigprocmask;
	r->r10 = 0; /* no size of a mask */
}

/* The registers in DWARF's order. */
enum remote_dwarf { REMOTE_DWARF_SP = 7, REMOTE_DWARF_PC = 16, REMOTE_DWARF_REGISTERS };

static inline void remote_dwarf(const struct user_regs_struct *r, uint64_t to[REMOTE_DWARF_REGISTERS])
{
	const uint64_t from[REMOTE_DWARF_REGISTERS] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip };

	for (int i = 0; i < REMOTE_DWARF_REGISTERS; i++)
		to[i] = from[i];
}

/* What a thread's own variables of libc are found by (x86_64/libc.h); and where it is for PTRACE_PEEKUSER. */
#define REMOTE_THREAD_AT offsetof(struct user_regs_struct, fs_base)

static inline uint64_t remote_thread(const struct user_regs_struct *r)
{
	return r->fs_base;
}

#endif
