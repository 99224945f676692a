/* SPDX-License-Identifier: MIT */
/*
 * Numbers that C and assembly share. Compiled to assembly only; the build turns each marked line into a #define in
 * offsets.h.
 */
#include <linux/seccomp.h> /* SECCOMP_MODE_STRICT */
#include <signal.h>	   /* SIG_SETMASK */
#include <stddef.h>
#include <sys/prctl.h>	 /* PR_SET_TSC */
#include <sys/resource.h> /* RLIMIT_AS */
#include <sys/syscall.h> /* __NR_rt_sigprocmask */

#include "format/trace.h"
#include "x86_64/contract.h"
#include "x86_64/mirror.h"
#include "x86_64/remote.h"
#include "x86_64/stub.h"
#include "x86_64/tramp.h"
#include "x86_64/vectors.h"

#define NUMBER(name, value) __asm__ volatile("\n.ascii \"->" #name " %0\"" : : "i"((long)(value)))

void offsets(void);

void offsets(void)
{
	NUMBER(STACK_LOW, offsetof(struct tramp_stack, low));
	NUMBER(STACK_SIZE, offsetof(struct tramp_stack, size));
	NUMBER(STACK_TOP, offsetof(struct tramp_stack, top));
	NUMBER(STATE_STACK, offsetof(struct tramp_state, stack));
	NUMBER(STATE_CURSOR, offsetof(struct tramp_state, cursor));
	NUMBER(STATE_CHUNK_BIT, offsetof(struct tramp_state, chunk_bit));
	NUMBER(STATE_TOKEN, offsetof(struct tramp_state, token));
	NUMBER(STATE_SPAN, offsetof(struct tramp_state, span));
	NUMBER(STATE_COUNT_LIMIT, offsetof(struct tramp_state, count_limit));
	NUMBER(STATE_COUNTS, offsetof(struct tramp_state, counts));
	NUMBER(STATE_READ, offsetof(struct tramp_state, read));
	NUMBER(STATE_AHEAD, offsetof(struct tramp_state, ahead));
	NUMBER(ENTRY_ADDRESS, offsetof(struct mirror_entry, address));
	NUMBER(ENTRY_WORD, offsetof(struct mirror_entry, word));
	NUMBER(ENTRY_LINK, offsetof(struct mirror_entry, link));
	NUMBER(ID_MASK, TRACE_ID_MASK);
	NUMBER(WORD_ENTRY, (unsigned long)TRACE_WORD(TRACE_ENTRY, 0));
	/* What to xor into an entry's word to make it another type's. */
	NUMBER(ENTRY_TO_EXIT, TRACE_WORD(TRACE_ENTRY, 0) ^ TRACE_WORD(TRACE_EXIT, 0));
	NUMBER(ENTRY_TO_TAIL, TRACE_WORD(TRACE_ENTRY, 0) ^ TRACE_WORD(TRACE_TAIL, 0));
	NUMBER(ENTRY_TO_POINT, TRACE_WORD(TRACE_ENTRY, 0) ^ TRACE_WORD(TRACE_POINT, 0));
	NUMBER(EVENT_INTERCEPT, TRAMP_INTERCEPT * sizeof(void *));
	NUMBER(EVENT_POINT, TRAMP_POINT * sizeof(void *));
	NUMBER(EVENT_XRAY_ENTRY, TRAMP_XRAY_ENTRY * sizeof(void *));
	NUMBER(EVENT_XRAY_EXIT, TRAMP_XRAY_EXIT * sizeof(void *));
	NUMBER(EVENT_XRAY_TAIL, TRAMP_XRAY_TAIL * sizeof(void *));
	NUMBER(EVENT_LANDED, TRAMP_LANDED * sizeof(void *));
	NUMBER(EVENT_JUMP, TRAMP_JUMP * sizeof(void *));
	NUMBER(EVENT_CALLER, TRAMP_CALLER * sizeof(void *));
	NUMBER(EVENT_RETURN, TRAMP_RETURN * sizeof(void *));
	NUMBER(EVENT_CFA, TRAMP_CFA * sizeof(void *));
	NUMBER(EVENT_PRCTL, TRAMP_PRCTL * sizeof(void *));
	NUMBER(EVENT_SYSCALL, TRAMP_SYSCALL * sizeof(void *));
	NUMBER(EVENT_LIMIT, TRAMP_LIMIT * sizeof(void *));
	NUMBER(EVENT_LOCK, TRAMP_LOCK * sizeof(void *));
	NUMBER(EVENT_RIGHTS, TRAMP_RIGHTS * sizeof(void *));
	NUMBER(EVENT_EXEC, TRAMP_EXEC * sizeof(void *));
	NUMBER(EVENT_PROBE, TRAMP_PROBE * sizeof(void *));
	NUMBER(LIMIT_ADDRESSES, RLIMIT_AS);
	NUMBER(LIMIT_FILES, RLIMIT_FSIZE);
	NUMBER(LIMIT_DESCRIPTORS, RLIMIT_NOFILE);
	NUMBER(SET_TSC, PR_SET_TSC);
	NUMBER(SET_SECCOMP, PR_SET_SECCOMP);
	NUMBER(SECCOMP_STRICT, SECCOMP_MODE_STRICT);
	NUMBER(SET_MODE_STRICT, SECCOMP_SET_MODE_STRICT);
	NUMBER(SET_MODE_FILTER, SECCOMP_SET_MODE_FILTER);
	NUMBER(NR_PRCTL, __NR_prctl);
	NUMBER(NR_SECCOMP, __NR_seccomp);
	NUMBER(NR_SETUID, __NR_setuid);
	NUMBER(NR_SETREUID, __NR_setreuid);
	NUMBER(NR_SETRESUID, __NR_setresuid);
	NUMBER(NR_CAPSET, __NR_capset);
	NUMBER(NR_CHROOT, __NR_chroot);
	NUMBER(NR_UNSHARE, __NR_unshare);
	NUMBER(NR_SETNS, __NR_setns);
	NUMBER(NR_FORK, __NR_fork);
	NUMBER(NR_CLONE, __NR_clone);
	NUMBER(NR_CLONE3, __NR_clone3);
	NUMBER(TSC_SIGSEGV, PR_TSC_SIGSEGV);
	NUMBER(EVENT_CUSTOM, TRAMP_CUSTOM * sizeof(void *));
	NUMBER(EVENT_TYPED, TRAMP_TYPED * sizeof(void *));
	NUMBER(RED_ZONE, STUB_RED_ZONE);
	NUMBER(FIXED_STUBS, STUB_FIXED);
	NUMBER(STUB_BYTES, STUB_SIZE);
	NUMBER(CELL_SIZE, sizeof(struct stub_cell));
	NUMBER(CELL_WORD, offsetof(struct stub_cell, word));
	NUMBER(CELL_BODY, offsetof(struct stub_cell, body));
	NUMBER(CELL_GATE, offsetof(struct stub_cell, gate));
	NUMBER(CELL_TARGET, offsetof(struct stub_cell, target));
	NUMBER(WANTED_ENTRY, TRAMP_WANTED_ENTRY | TRAMP_WANTED_ARGUMENTS);
	NUMBER(WANTED_TAIL, TRAMP_WANTED_TAIL);
	NUMBER(WANTED_EXIT, TRAMP_WANTED_EXIT);
	NUMBER(WANTED_PROBE, TRAMP_WANTED_PROBE);
	NUMBER(VECTORS_SIZE, offsetof(struct tramp_vectors, size));
	NUMBER(VECTORS_MASK, offsetof(struct tramp_vectors, mask));
	NUMBER(VECTORS_WAY, offsetof(struct tramp_vectors, way));
	NUMBER(VECTORS_QUICK, offsetof(struct tramp_vectors, quick));
	NUMBER(VECTORS_MORE, offsetof(struct tramp_vectors, more));
	NUMBER(VECTORS_PUSHES, offsetof(struct tramp_vectors, pushes));
	NUMBER(VECTORS_XSAVE, TRAMP_XSAVE);
	NUMBER(QUICK_YMM, TRAMP_QUICK_YMM);
	NUMBER(QUICK_ZMM, TRAMP_QUICK_ZMM);
	NUMBER(SAVED_MXCSR, offsetof(struct tramp_saved, mxcsr));
	NUMBER(SAVED_MXCSR_BEHIND, offsetof(struct tramp_saved, mxcsr_behind));
	NUMBER(SAVED_CONTROL, offsetof(struct tramp_saved, control));
	NUMBER(SAVED_CONTROL_BEHIND, offsetof(struct tramp_saved, control_behind));
	NUMBER(SAVED_X87, offsetof(struct tramp_saved, x87));
	NUMBER(SAVED_QUICK, offsetof(struct tramp_saved, is_quick));
	NUMBER(SAVED_IN_USE, offsetof(struct tramp_saved, in_use));
	NUMBER(USED_UPPER, TRAMP_USED_UPPER);
	NUMBER(USED_MORE, TRAMP_USED_MORE);
	NUMBER(USED_MASKS, TRAMP_USED_MASKS);
	NUMBER(SAVED_MASKS, offsetof(struct tramp_saved, masks));
	NUMBER(SAVED_ZMM, offsetof(struct tramp_saved, zmm));
	NUMBER(BUCKET_SIZE, sizeof(struct tramp_bucket));
	NUMBER(BUCKET_FURTHER, offsetof(struct tramp_bucket, further));
	NUMBER(BUCKET_BLOCK, offsetof(struct tramp_bucket, block));
	NUMBER(QUICK_ENTRY, offsetof(struct tramp_values, entry));
	NUMBER(QUICK_END, offsetof(struct tramp_values, end));
	NUMBER(QUICK_LATE, offsetof(struct tramp_quick, late));
	NUMBER(QUICK_FIRST, offsetof(struct tramp_quick, first));
	NUMBER(QUICK_NEXT, offsetof(struct tramp_quick, next));
	NUMBER(QUICK_TEXT, offsetof(struct tramp_quick, text));
	NUMBER(QUICK_PLACE, offsetof(struct tramp_quick, place));
	NUMBER(TEXT_MOST, TRAMP_TEXT_MOST);
	NUMBER(PLACE_COUNT, TRAMP_PLACE_COUNT);
	NUMBER(PLACE_FIRST, TRAMP_PLACE_FIRST);
	NUMBER(WHOLE_HIGH, offsetof(struct stack, high));
	NUMBER(WHOLE_PARENT, offsetof(struct stack, parent));
	NUMBER(WHOLE_NATIVE, offsetof(struct stack, native));
	NUMBER(WHOLE_MAIN, MAIN_STACK);
	NUMBER(QUICK_EVENT, offsetof(struct tramp_quick, event));
	NUMBER(QUICK_RESERVED, offsetof(struct tramp_quick, reserved));
	NUMBER(QUICK_WORDS, offsetof(struct tramp_quick, words));
	NUMBER(QUICK_PLAIN, offsetof(struct tramp_quick, plain));
	NUMBER(QUICK_PIECE, offsetof(struct tramp_quick, piece));
	NUMBER(ANSWER_AGAIN, TRAMP_AGAIN);
	NUMBER(ANSWER_POINTED, TRAMP_POINTED);
	NUMBER(ANSWER_PASS, TRAMP_PASS);
	NUMBER(ANSWER_ENDED, TRAMP_ENDED);
	NUMBER(CONTROL_MAGIC_NUMBER, CONTROL_MAGIC);
	NUMBER(NR_RT_SIGPROCMASK, __NR_rt_sigprocmask);
	NUMBER(HOW_SETMASK, SIG_SETMASK);
	NUMBER(FRAME_FLAGS, offsetof(struct control_frame, flags));
	NUMBER(FRAME_R15, offsetof(struct control_frame, r15));
	NUMBER(FRAME_R14, offsetof(struct control_frame, r14));
	NUMBER(FRAME_R13, offsetof(struct control_frame, r13));
	NUMBER(FRAME_R12, offsetof(struct control_frame, r12));
	NUMBER(FRAME_R11, offsetof(struct control_frame, r11));
	NUMBER(FRAME_R10, offsetof(struct control_frame, r10));
	NUMBER(FRAME_R9, offsetof(struct control_frame, r9));
	NUMBER(FRAME_R8, offsetof(struct control_frame, r8));
	NUMBER(FRAME_RDI, offsetof(struct control_frame, rdi));
	NUMBER(FRAME_RSI, offsetof(struct control_frame, rsi));
	NUMBER(FRAME_RBP, offsetof(struct control_frame, rbp));
	NUMBER(FRAME_RBX, offsetof(struct control_frame, rbx));
	NUMBER(FRAME_RDX, offsetof(struct control_frame, rdx));
	NUMBER(FRAME_RCX, offsetof(struct control_frame, rcx));
	NUMBER(FRAME_RAX, offsetof(struct control_frame, rax));
	NUMBER(FRAME_RIP, offsetof(struct control_frame, rip));
	NUMBER(FRAME_SIZE, sizeof(struct control_frame));
	NUMBER(WAITING_PC, offsetof(struct remote_waiting, pc));
	NUMBER(WAITING_RDX, offsetof(struct remote_waiting, rdx));
	NUMBER(WAITING_R8, offsetof(struct remote_waiting, r8));
	NUMBER(WAITING_R10, offsetof(struct remote_waiting, r10));
	NUMBER(WAITING_SIZE, sizeof(struct remote_waiting));
}
