/* SPDX-License-Identifier: MIT */
/*
 * Stubs of probes (format/probe.h): how code in the middle of a function makes an event, and what a window's template
 * becomes at its place. The command writes probe_call[] into templates; the module fills templates in.
 *
 * The stub of a window, for each of its instructions; the first part once for each probe that is there, or not at all:
 *
 *		lea	-128(%rsp),%rsp		the red zone
 *		push	$LOW			RESUME's lower half, extended
 *		movl	$HIGH,4(%rsp)		its upper half
 *		push	$WORD			TRACE_WORD(TRACE_PROBE, id), extended
 *		call	*GATE(%rip)		8 bytes at the code's end
 *		push	$0			over the return into the stub
 *		lea	152(%rsp),%rsp
 *		the instruction, or what does the same here
 *
 *	stack at the gate: 0 return into the stub, 8 word, 16 RESUME, 24 the red zone, 152 the function's own
 *
 * and at its end a jump to what follows in place. RESUME is the probe's address + 1: unwinders look one byte before
 * what they take for a return address, so they find the rules that hold before the instruction. Nothing in this
 * changes flags, and the gates keep them, with all registers. Nothing of the stub is data that changes: what becomes
 * another event has another stub. The return address does not stay on the stack: `xaudit ctl` would take it for that of
 * a thread that is still in the trampoline (tool/ctl/position.h), for as long as frames that are made later lie there
 * and have no use for that word.
 *
 * Pure functions on bytes, as displace.h's: a template comes out of a file, and whatever it says, nothing is read
 * beyond it, nothing is written beyond `room`. General registers only, no libc.
 */
#ifndef XAUDIT_X86_64_PROBE_H
#define XAUDIT_X86_64_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/probe.h"

#define PROBE_CALL_SIZE 39
#define PROBE_CALL_LOW	 6  /* where the four constants are, in these bytes */
#define PROBE_CALL_HIGH	 14
#define PROBE_CALL_WORD	 19
#define PROBE_CALL_GATE	 25 /* distance to GATE, from the byte PROBE_CALL_GATE + 4 */

#define PROBE_CALL                                                                                                     \
	{ 0x48, 0x8d, 0x64, 0x24, 0x80, 0x68, 0, 0, 0, 0, 0xc7, 0x44, 0x24, 0x04, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xff,  \
		0x15, 0, 0, 0, 0, 0x6a, 0, 0x48, 0x8d, 0xa4, 0x24, 0x98, 0, 0, 0 }

/* What a probe of a window gets. */
struct probe_event {
	uint32_t word; /* TRACE_WORD(TRACE_PROBE, id), perhaps with TRAMP_WORD_VALUES */
	uint64_t gate; /* address of a gate (tramp.h): tramp_gate_probe */
};

/* Is the window within all bounds of its plan, of so many bytes, and its template within the format's? */
bool probe_check(const struct plan_window *window, const void *plan, size_t size);

/*
 * Makes the stub of a window that probe_check() took. load: load address; at: where it will run, a place that
 * probe_range() allows; event: of each of its probes. Returns the number of bytes, or 0: no room, or a target is more
 * than 2 GiB away.
 */
size_t probe_write(const struct plan_window *window, const void *plan, uint64_t load, uint64_t at,
	const struct probe_event *event, uint8_t *out, size_t room);

/*
 * The bytes that are written at the window's address so that its jump leads to `stub` (SHORT: to the padding): `out`
 * has room for 8. Returns their number; 0: out of reach, or the file's own bytes don't lead there.
 */
size_t probe_jump(const struct plan_window *window, uint64_t load, uint64_t stub, uint8_t out[8]);

/* SHORT: those in the padding, PROBE_JUMP_SIZE of them. Returns their number; 0: out of reach, or no padding. */
size_t probe_padding(const struct plan_window *window, uint64_t load, uint64_t stub, uint8_t out[8]);

/*
 * What a thread is about to do that was stopped in a stub: it makes an event, or comes from one. code: the
 * PROBE_CALL_SIZE bytes before its instruction pointer, and as many from there on. Returns the address of the
 * function's instruction that it is before, and *below: how far its stack pointer is below the function's; 0: the
 * bytes don't tell.
 */
uint64_t probe_interrupted(const uint8_t code[2 * PROBE_CALL_SIZE], uint32_t *below);

#endif
