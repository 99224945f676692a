/* SPDX-License-Identifier: MIT */
/*
 * Runs the code that finds the values of a call (format/values.h), in the thread that calls.
 *
 * Memory. The thread's own stack above its stack pointer (of another stack that it runs on, the page there), and the
 * segments of the object that is called, with copies of its variables in the program, are read directly: these stay as
 * long as the call. All else the kernel is
 * asked to copy (process_vm_readv of the process itself, about 1.2 us), which bears that another thread unmaps it at
 * that moment, and that it never was there. Under a filter of system calls it is not asked. Where the code says so
 * (TRUST), a text or bytes are read directly, too: it says that only of what the function reads itself, and if the
 * rules ask for that. No handler of signals is ours. Memory that blocks its reader (userfaultfd) blocks the thread, as
 * it would the function that is called.
 *
 * values_check(): once, when code is loaded; it may come from another user's file. What it accepts does in
 * values_evaluate() nothing but what is said here, whatever the registers and the memory hold: each step reads within
 * the code, and stays within the machine's stack and the bytes that it was told there would be; only where facts.trusts
 * is set it may read what is not there.
 *
 * Any thread, async-signal-safe, no lock, no libc, general registers only. Nothing is kept between calls.
 */
#ifndef XAUDIT_RUNTIME_VALUES_EVALUATE_H
#define XAUDIT_RUNTIME_VALUES_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/values.h"

struct tramp_registers;

/* What code does. */
struct values_facts {
	uint32_t values; /* how many it puts */
	uint32_t most;	 /* bytes that values_evaluate() writes */
	uint32_t kept;	 /* bits: places that it keeps words in, or takes them from */
	bool floats;	 /* it needs vector registers */
	bool memory;	 /* it reads memory */
	bool calls;	 /* it needs the number of open calls */
	bool keeps, takes;
	bool conditions; /* it may leave the call out */
	uint32_t callers; /* it wants so many in a backtrace; 0: none */
	uint8_t sample;	 /* enum values_sample, with RELAYS perhaps: only samples are recorded; 0: all */
	uint64_t interval; /* of these */
	bool trusts;	 /* it reads what registers point to as it is: it may do so only if the rules say so */
};

/* Is this code whole, and within all bounds? Then *facts is filled in. */
bool values_check(const uint8_t *code, size_t size, struct values_facts *facts);

struct values_segment {
	uint64_t low, high;
};

/* A variable that is elsewhere: so many bytes, from an address of the object's file, lie at another one in memory. */
struct values_copy {
	uint64_t from, size, to;
};

/* A call, at its entry or its end. */
struct values_call {
	const struct tramp_registers *registers;
	const uint64_t *floats; /* the lower halves of vector registers 0 to 7; NULL: they were not saved */
	uint64_t arguments;	/* where those on the stack begin */
	uint64_t stack_low, stack_high; /* what may be read of the stack */
	const struct values_segment *segment;
	uint32_t segments;
	const struct values_copy *copy;
	uint32_t copies;
	uint32_t calls; /* that are open on the stack, this one included */
	uint64_t base;	    /* what to add to addresses of its object, if has_base: else the load is not known */
	bool has_base;
	/* Walks to its callers, at most so many: returns the key of the chain (format/chain.h); 0: none. NULL: as 0 */
	uint64_t (*walk)(struct values_call *call, uint32_t most);
	uint64_t sample;	    /* the interval, if it is a sample */
	uint64_t errno_at;	    /* address of the thread's errno; 0: not known */
	uint64_t kept[VALUES_KEPT]; /* in at an end, out at an entry */
	uint32_t lost;		    /* bits: words of `kept` that have no value; in and out as these */
	bool unconditional;	    /* conditions do not leave it out */
};

/* The first of the bytes that values_evaluate() writes: what follows begins with the states, or has none. */
#define VALUES_WRITTEN 1
#define VALUES_FLAWED  2

/*
 * Runs code that values_check() has accepted. out: room for facts.most bytes. Returns how many bytes were written: one
 * of the two above, then the payload of the event (format/values.h). 0: the call is to be left out.
 */
size_t values_evaluate(const uint8_t *code, struct values_call *call, uint8_t *out);

/* The double that equals the float with these bits. */
uint64_t values_widen(uint32_t f);

#endif
