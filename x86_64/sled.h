/* SPDX-License-Identifier: MIT */
/*
 * Sleds: the bytes that compilers leave in functions, and what we write over them. Pure functions on bytes: no memory
 * is patched here (that is patch.h), so any thread may call them at any time.
 *
 * XRay sleds (11 bytes, 2-byte aligned), the same in clang 14 to 22:
 *	entry, log-args entry, tail	eb 09 + 9-byte nop		<->	41 ba id32  e8 rel32
 *	exit				c3 + 10-byte nop		<->	41 ba id32  e9 rel32
 * After an unpatch only the first two bytes (exit: one) are as before; such a sled is valid too.
 * Patchable entries: `jmp rel32` (e9) over five bytes of NOPs; or, where fewer than five follow the entry, a two-byte
 * `jmp` (eb) to a `jmp rel32` in the five bytes of NOPs before the entry, which nobody executes.
 *
 * A patch covers whole instructions: five NOPs of one byte, or one NOP that may be longer than the patch (clang's
 * 8-byte NOP). The function's body goes on behind the last instruction that is covered (struct site, `length`), never
 * in its middle.
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
	SLED_PATCHABLE_HOT_CET, /* the same around an endbr64: jmp -11 at the site, jmp rel32 nine bytes before it */
};

#define SLED_XRAY_SIZE	   11
#define SLED_JUMP_SIZE	   5 /* jmp rel32 */
#define SLED_HOT_JUMP_SIZE 2 /* jmp rel8 */
#define SLED_ENDBR64_SIZE  4

/*
 * Are these the bytes of an unpatched (or unpatched again) XRay sled? p: the sled; size: bytes readable from p, at
 * least up to the end of the instruction after it. Returns TRACE_REASON_TRACED, SLED_BYTES, CONDITIONAL_TAIL (a tail
 * sled before a conditional jump) or EVENT_SLED.
 */
enum trace_reason sled_check_xray(enum sled_type type, uint64_t address, const uint8_t *p, size_t size);

/* Length of the NOP instruction at p (all forms of gcc, clang and gas); 0: none, or not whole within size. */
size_t sled_nop(const uint8_t *p, size_t size);

/* Number of bytes of NOP instructions at p, whole ones; 0: none. */
size_t sled_nops(const uint8_t *p, size_t size);

/*
 * Bytes that a patch of `need` bytes at p covers: `need` NOPs of one byte, or one NOP of at least so many; 0: no room
 * there. A mixture is no room, although it is NOPs: compilers write the NOPs of a patchable entry in these two ways
 * (clang's longest NOPs come first), so what differs belongs to the body, and a loop of the body may jump to it.
 */
size_t sled_room(const uint8_t *p, size_t size, size_t need);

/* Is there an endbr64 at p? */
int sled_is_endbr64(const uint8_t *p, size_t size);

/*
 * Writes the patched bytes of a site into out (16 bytes) and their number and place: *from is added to the site's
 * address (it is negative for the two hot types). index: the function's index in its object (xray: what goes into
 * r10d). rel: the stub's address minus the site's address. Returns the number of bytes, or 0 when the stub is out of
 * reach or the type has no patch (custom and typed events).
 */
size_t sled_patched(enum sled_type type, uint32_t index, int64_t rel, uint8_t out[16], int *from);

#endif
