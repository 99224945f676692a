/* SPDX-License-Identifier: MIT */
/*
 * Calls whose values are recorded, from entry to end. The word of such a function has TRAMP_WORD_VALUES: so the
 * trampolines come to tramp_values_enter() and tramp_values_leave() (x86_64/contract.h) in place of recording the
 * event, and calls of other functions cost what they did. A call that needs nothing at its end has the plain word in
 * the mirror once its entry is recorded.
 *
 * A call that is left out (a condition, `every`) has TRAMP_WORD_SILENT in the mirror, and no events. What only the end
 * tells (a condition on results, `longer`, the rules' time) takes the entry back if that is the thread's last event;
 * else, but for the rules' time, makes it none where it lies, as long as its chunk is not ended; else the end is
 * recorded as of any call.
 *
 * Probes with values come to tramp_values_probe(): an event, no call, so nothing is kept for later. Values find the
 * registers as they are at the instruction, and arguments where they would be if it were a function's first one.
 *
 * On the thread itself, async-signal-safe, no lock, no libc.
 */
#ifndef XAUDIT_VALUES_CALLS_H
#define XAUDIT_VALUES_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/values.h"
#include "runtime/process/thread.h"

/* Distance of the thread's errno from its %fs base; 0: not known. Relaxed. */
extern int64_t values_errno __attribute__((visibility("hidden")));

/*
 * The open call at the slot, whose word has TRAMP_WORD_VALUES, ends without having returned, at this clock. Returns
 * true if it leaves no event: it had none, or was too short for the rules, and is taken back.
 */
bool values_end(struct thread *thread, struct stack *stack, uint64_t slot, uint32_t word, uint64_t clock);

/* An entry or an end of a call, or a probe, of which a handler of the program is told. */
struct values_asked {
	uint32_t id;
	bool is_end, is_xray, is_probe;
	const struct tramp_registers *registers; /* rsp: as struct handlers_event says */
	const void *vectors; /* what tramp_call_saved() has saved; NULL: the registers still have the program's */
};

/*
 * Its values, which the recorder finds when the handler has returned: out has room for VALUES_RECORDED bytes, and is
 * filled in as by values_evaluate(); *layout tells which values there are. Nothing is counted, kept or taken by that,
 * and a call that will be left out has values, too; but what its end needs of its entry has none. Returns how many
 * bytes were written; 0: it has no values.
 */
size_t values_ask(const struct values_asked *asked, const struct trace_layout **layout, uint8_t *out);

#endif
