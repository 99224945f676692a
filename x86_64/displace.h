/* SPDX-License-Identifier: MIT */
/*
 * Out-of-line copies: the first instructions of a function, made to run elsewhere. A template (format/index.h) has the
 * bytes, and what depends on where the object lies and on where the copy will run.
 *
 * Pure functions on bytes, as sled.h's: any thread, any time. A template comes out of a file: whatever it says, nothing
 * is read beyond it, nothing is written beyond `room`. That the copy does what the function did is the promise of who
 * made the template.
 *
 * What such a copy is like (tool/index/template.h makes it): registers, flags and stack are at each of its
 * instructions what they were in place. Branches and operands relative to the instruction pointer are made anew. A
 * call, which is the last displaced instruction, leaves the original return address on the stack: no callee ever sees
 * an address of a copy, so exceptions, backtraces and unloading don't know of it. It is made by the copy (which has an
 * address of its own there for two instructions) or by a call in place, behind the jump (enum index_call_in): such a
 * copy is of no use while its call is not written.
 */
#ifndef XAUDIT_X86_64_DISPLACE_H
#define XAUDIT_X86_64_DISPLACE_H

#include <stddef.h>
#include <stdint.h>

#include "format/index.h"

/* Bytes of a whole template that begins at p, `left` readable; 0: damaged. */
size_t displace_template_size(const void *p, size_t left);

/*
 * Makes the copy of a template that displace_template_size() took. load: load address of the object; function: the
 * link-time address of the function; at: where the copy will run; out: where it is written now, `room` bytes.
 * Returns the number of bytes, or 0: no room, or a target is more than 2 GiB away from the copy.
 */
size_t displace_copy(
	const struct index_template *from, uint64_t load, uint64_t function, uint64_t at, uint8_t *out, size_t room);

#define DISPLACE_CALL_MAX 4

/* The call that is written into the last bytes of the displaced instructions. Returns their number; 0: none. */
size_t displace_call(enum index_call_in call, uint8_t out[DISPLACE_CALL_MAX]);

#endif
