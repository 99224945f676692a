/* SPDX-License-Identifier: MIT */
/*
 * Control from outside: the data that `xaudit ctl` finds in the process, and the function that it lets a stopped thread
 * call.
 *
 * Nothing of ours waits for commands in the program. The tool finds `xaudit_control`, a symbol of libxaudit.so, in the
 * process's memory, stops all threads by ptrace, lets one of them call control_entry on a stack of ours, and lets all
 * go. Only work that must be done in the process is done so; the tool writes code bytes itself. Status and snapshots
 * need no call: the tool reads memory and files.
 *
 * The call. T is a stopped thread:
 *  1. The tool fills `request` and writes a struct control_frame below T's stack pointer and red zone: T's registers,
 *    as they shall be afterwards (if T was in a system call, set up to restart it).
 *  2. It sets T's registers: rip = entry, rdi = address of the frame, rsp = stack_top, orig_rax = -1; then blocks all
 *     its signals but SIGKILL (PTRACE_SETSIGMASK; in this order, for the frame holds the mask), and lets T alone run
 *     (PTRACE_SYSCALL).
 *  3. control_entry sets `running`, calls control_run(), clears `running`, steps back to T's own stack and makes the
 *    system call rt_sigprocmask(SIG_SETMASK, frame.mask) with CONTROL_MAGIC in r9. The tool sees it begin, stops T
 *    after it before any signal is delivered, and sets T's own registers there, orig_rax among them: so the kernel
 *    restarts the system call that T was in as if it had never been interrupted.
 *  4. If the tool has died meanwhile, control_entry takes the registers from the frame itself, and the program goes on
 *    as before.
 * One ptrace request changes all registers, so the tool may die between any two.
 * So the tool must not begin while any thread's rip is within [entry, entry_end) or its rsp on our stack: that
 * thread is still in a call. (`running` alone does not tell: a child that was forked meanwhile has it set for good.)
 *
 * control_run() runs while all other threads are stopped wherever they were, perhaps with the process lock or ld.so's:
 * it waits for nothing and answers -EAGAIN; the tool lets the program go on for a moment and tries again. If the tool
 * dies, the other threads run on while control_run() does: everything that it does must be right then, too. General
 * registers only, no libc.
 */
#ifndef XAUDIT_CONTROL_H
#define XAUDIT_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"    /* enum trace_reason */
#include "x86_64/contract.h" /* control_run */
#include "x86_64/remote.h"   /* struct control_frame, control_entry */

#define CONTROL_SYMBOL "xaudit_control"
#define CONTROL_TEXT   16384
#define CONTROL_STACK  65536

enum control_op {
	/*
	 * text: rules, each ended by a NUL, and an empty one; argument: number of indexes in the room; answers a list
	 * of patches
	 */
	CONTROL_ENABLE = 1,
	CONTROL_DISABLE, /* as CONTROL_ENABLE, without indexes */
	/*
	 * the patches were written: frees the list. argument: a sum of CONTROL_GIVE_BACK, pages that are the file's own
	 * again; CONTROL_ALL_WRITTEN, no patch was left out, and no guard
	 */
	CONTROL_WRITTEN,
	CONTROL_START,
	CONTROL_STOP,
	CONTROL_MODE, /* argument: enum trace_mode */
	/*
	 * Room for what the tool brings along with the request that is called next, while all threads are still
	 * stopped. argument: bytes; answers `room`. That of a tool that died is freed then.
	 */
	CONTROL_ROOM,
	/*
	 * argument: number of plans in the room (struct control_index, format/plan.h); text: RULES that they were made
	 * by, for objects to come. Their functions are counted in the result that are traced and have values now.
	 */
	CONTROL_ADD_CONTEXT,
	/* text: patterns of functions, each ended by a NUL, and an empty one. Those that had values are counted. */
	CONTROL_DEL_CONTEXT,
	/*
	 * argument: number of parts in the room (struct control_index): plans (format/plan.h), each with all probes of
	 * its object from now on; and one of object CONTROL_OBJECT_RULES, a text that ends with NUL: RULES about probes
	 * that they were made by, which take the place of all that there were, for objects to come. argument 0: nothing
	 * new; what was left out is answered again. Answers a list of patches: of windows that are taken away, then of
	 * those that are set, each behind what it takes the place of. Probes are counted in the result: `functions` all
	 * that there are now, `refused` by enum probe_refusal. Probes that were there before and are in the plan stay
	 * as they are.
	 */
	CONTROL_PROBES,
	/*
	 * text: patterns of functions and names that these have in the trace from now on: PATTERN and NAME in turn,
	 * each ended by a NUL, and an empty one. They come before all that were given earlier. Functions that the trace
	 * knows are counted in the result, and told again.
	 */
	CONTROL_NAMES,
};

#define CONTROL_OBJECT_RULES UINT32_MAX
#define CONTROL_TYPE_PROBE   255

enum { CONTROL_GIVE_BACK = 1, CONTROL_ALL_WRITTEN = 2 };

/*
 * At the beginning of the room, as many as the argument of CONTROL_ENABLE says: indexes of objects (format/index.h),
 * for functions of kind entry. Whoever can write here is believed: he may write code as well.
 */
struct control_index {
	uint32_t object; /* its number */
	uint32_t zero;
	uint64_t offset, size; /* of the index, in the room; offset: a multiple of 8 */
};

/*
 * One place in the text that changes. The tool writes them in this order; addresses ascend, but for CONTROL_PROBES:
 * there those that belong together follow each other (`chained`), and ascend only among what is taken away alone, and
 * among what is set.
 *
 * size 0: nothing changes; it is a guard of those that are chained to it: none of them is written while a thread stands
 * at inside_low <= rip < inside_high, or anything may return there. That is the stub of a former probe, whose end leads
 * into bytes that are written now. One that nothing is chained to asks whether its stub is empty, as
 * CONTROL_ALL_WRITTEN says of all.
 */
struct control_patch {
	uint64_t address;
	/*
	 * A thread at inside_low <= rip < inside_high must go on at resume, before the bytes change. resume 0: it
	 * stands between instructions that are displaced, and must go on in their copy, at inside[rip - inside_low]
	 * from its beginning; where that is 0, and where anything else may return there, the bytes don't change
	 * (tool/ctl/position.h).
	 */
	uint64_t inside_low, inside_high;
	uint64_t resume;
	uint64_t copy; /* resume 0: its address */
	uint8_t size;	    /* of bytes and expected */
	uint8_t expected[16]; /* what must be there now */
	uint8_t bytes[16];
	uint8_t type;	    /* enum sled_type, or CONTROL_TYPE_PROBE */
	uint8_t on;
	uint16_t inside[4];
	/*
	 * With the one before it, it is written as a whole or not at all, as far as anything stands in their bytes; and
	 * it is left where that one could not be written.
	 */
	uint8_t chained;
};

struct control_result {
	uint32_t functions; /* that the rules match */
	uint32_t changed, already; /* sites */
	uint32_t refused[64]; /* functions, by enum trace_reason */
	uint32_t again; /* of CONTROL_PROBES: when all is written, it is to be asked again, with argument 0 */
	/* One bit for each of the first 64 rules. */
	uint64_t rule_library;	/* an object that is loaded is of the library that it names */
	uint64_t rule_sites;	/* and has functions of the rule's kinds that can be switched */
	uint64_t rule_function; /* and one has that name; or an object that was loaded before has one */
};
_Static_assert(TRACE_REASON_COUNT <= 64, "one place per reason");

struct control_request {
	uint32_t op;
	/* answer: 0 or -errno; the tool sets -EINPROGRESS before. -ECANCELED: nothing is recorded, see `why` */
	int32_t error;
	uint64_t argument;
	struct control_result result;
	uint64_t patches;     /* answer: address of struct control_patch[patch_count] */
	uint64_t patch_count;
	uint64_t pages;	      /* answer of CONTROL_WRITTEN: pages given back */
	uint64_t room;	      /* answer of CONTROL_ROOM: its address */
	char text[CONTROL_TEXT];
};

/*
 * Read by the tool from the process's memory; addresses in the process. One build of tool and module: `version` must be
 * the same.
 */
struct control_block {
	uint64_t magic;	  /* CONTROL_MAGIC */
	uint32_t running; /* a thread is in control_entry, or one was when this process was forked */
	uint32_t ready;	  /* 0: xaudit did not start here */
	char version[32];
	void (*entry)(void);
	const char *entry_end;
	uint8_t *stack_top;
	uint64_t stack_size;
	struct control_request *request;
	/* For status. The data that these point to never moves. */
	struct object **objects; /* heads of lists of audit/model/object.h */
	struct load **loads;
	const uint32_t *state;	 /* enum process_state */
	const char *folder;	 /* of this process's family; empty: none yet */
	struct trace_head *const *head; /* of this process; *head NULL: none yet */
	const uint64_t *epoch;	 /* the count of runtime/process/epoch.h */
	const enum trace_mode *mode;
	const int *recording; /* 0: stopped */
	const char *why; /* why nothing is recorded, as process_why() says; "": no such reason */
	void (*wait)(void); /* remote_wait */
	const uint32_t *calm; /* not 0: nothing is on, nor will be by itself; then CONTROL_DISABLE changes nothing */
	const char *const *values; /* RULES of format/plan.h by which values are recorded now; *values NULL: none */
	struct rules_name *const *names; /* of functions, the first that matches counts (audit/match/match.h) */
};

_Static_assert(offsetof(struct control_block, running) == CONTROL_BLOCK_RUNNING, "where control_entry looks for it");

extern struct control_block xaudit_control __attribute__((visibility("default")));

struct control_options {
	const char *version;
	struct object **objects;
	struct load **loads;
	/* any process of the same user may control this one: tells the kernel (Yama), in forked children too */
	int any;
	/* the part of a request that concerns sites. Called by control_run() with the process lock held */
	int (*change)(struct control_request *request);
	const uint32_t *calm; /* as in the block */
	const char *const *values;
	struct rules_name *const *names;
};

/* la_version, when all is in order. */
void control_init(const struct control_options *options);

/* Called when a process, perhaps a forked one, makes its folder: tells the kernel again. */
void control_permit(void);

#endif
