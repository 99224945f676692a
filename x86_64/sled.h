/* SPDX-License-Identifier: MIT */
/*
 * Sleds: the bytes that compilers leave in functions, and what we write over them. Pure functions on bytes: no memory is
 * patched here (that is patch.h), so any thread may call them at any time.
 *
 * XRay sleds (11 bytes, 2-byte aligned), the same in clang 14 to 22:
 *	entry, log-args entry, tail	eb 09 + 9-byte nop		<->	41 ba id32  e8 rel32
 *	exit				c3 + 10-byte nop		<->	41 ba id32  e9 rel32
 * After an unpatch only the first two bytes (exit: one) are as before; such a sled is valid too.
 * Patchable entries: `jmp rel32` (e9) over five bytes of NOPs; or, where fewer than five follow the entry, a two-byte `jmp`
 * (eb) at the entry to a `jmp rel32` in the NOPs before it. The caller passes all bytes of NOPs that it knows.
 */
#ifndef XAUDIT_SLED_H
#define XAUDIT_SLED_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/trace.h" /* enum trace_reason */

enum sled_type {
	SLED_XRAY_ENTRY,   /* kinds 0 and 3 of the map */
	SLED_XRAY_EXIT,	   /* kind 1 */
	SLED_XRAY_TAIL,	   /* kind 2 */
	SLED_XRAY_CUSTOM,  /* kind 4: recognised, not used yet */
	SLED_XRAY_TYPED,   /* kind 5: recognised, not used yet */
	SLED_PATCHABLE,	   /* jmp rel32 at the site's address */
	SLED_PATCHABLE_HOT, /* jmp -7 at the site's address, jmp rel32 five bytes before it */
};

#define SLED_XRAY_SIZE 11

/*
 * Are these the bytes of an unpatched (or unpatched again) XRay sled? p: the sled; size: bytes readable from p, at least up to the end of
 * the instruction after it. Returns TRACE_REASON_TRACED, SLED_BYTES, CONDITIONAL_TAIL (a tail sled before a conditional jump) or EVENT_SLED.
 */
enum trace_reason sled_check_xray(enum sled_type type, uint64_t address, const uint8_t *p, size_t size);

/* Number of bytes of NOP instructions at p (whole instructions, one-byte and multi-byte forms of gcc and clang); 0: none. */
size_t sled_nops(const uint8_t *p, size_t size);

/* Is there an endbr64 at p? */
int sled_is_endbr64(const uint8_t *p, size_t size);

/*
 * Writes the patched bytes of a site into out (16 bytes) and their number and place: *from is added to the site's address (it
 * is negative for SLED_PATCHABLE_HOT). index: the function's index in its object (xray: what goes into r10d). rel: the stub's address minus the
 * site's address. Returns the number of bytes, or 0 when the stub is out of reach.
 */
size_t sled_patched(enum sled_type type, uint32_t index, int64_t rel, uint8_t out[16], int *from);

/* Where the function's body goes on after a patched entry: bytes after the site's address (patchable kinds). */
static inline size_t sled_resume(enum sled_type type)
{
	return type == SLED_PATCHABLE ? 5 : 2;
}

#endif
