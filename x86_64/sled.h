/* SPDX-License-Identifier: MIT */
/*
 * Sleds: the bytes that compilers leave in functions, and what we write over them. Pure functions on bytes: no memory
 * is patched here (that is patch.h), so any thread may call them at any time.
 *
 * XRay sleds (11 bytes, 2-byte aligned), the same in clang 14 to 22:
 *	entry, log-args entry, tail	eb 09 + 9-byte nop		<->	41 ba id32  e8 rel32
 *	exit				c3 + 10-byte nop		<->	41 ba id32  e9 rel32
 * After an unpatch only the first two bytes (exit: one) are as before; such a sled is valid too.
 *
 * Event sleds (custom 17 bytes, typed 22; 2-byte aligned) lie in the middle of a function, where registers, flags and
 * the red zone are in use:
 *	A	eb 0f / eb 14		jmp to their end	<->	66 90, a NOP
 *	A+2	push of each argument register, rdi, rsi (typed: rdx), or a 4-byte NOP where the value is in it already;
 *		mov of each pushed one; call; pops			<->	e9 rel32, jmp to the sled's own stub
 * The compiler's bytes after the head never run: its pushes overwrite the red zone of leaf functions (clang before
 * 17), its call may find the stack misaligned, and its movs are in an order that loses values. They are read
 * only for the registers of the arguments. Sleds of another form are left alone: clang before 17 writes a third mov at
 * times, and the jmp leads into the call.
 * Patchable entries: `jmp rel32` (e9) over five bytes of NOPs; or, where fewer than five follow the entry, a two-byte
 * `jmp` (eb) to a `jmp rel32` in the five bytes of NOPs before the entry, which no thread executes.
 * Displaced entries (format/index.h): the same two forms over the function's own first instructions, which run
 * elsewhere. The jump leads to a stub whose cell says whether the function is on (x86_64/stub.h). Behind the jump a
 * call may be written (enum index_call_in), which is not the sled's: of it nothing is known here.
 * Guards (xaudit.h): `jmp rel32` to the guarded code of the same function over one NOP of five bytes, 0f 1f 44 00 00.
 *
 * A patch covers whole instructions: five NOPs of one byte, or one NOP that may be longer than the patch (clang's
 * 8-byte NOP). The function's body goes on after the last instruction that is covered (struct site, `length`), never in
 * its middle.
 */
#ifndef XAUDIT_SLED_H
#define XAUDIT_SLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h" /* enum trace_reason */

enum sled_type {
	SLED_XRAY_ENTRY,   /* kinds 0 and 3 of the map */
	SLED_XRAY_EXIT,	   /* kind 1 */
	SLED_XRAY_TAIL,	   /* kind 2 */
	SLED_XRAY_CUSTOM,  /* kind 4 */
	SLED_XRAY_TYPED,   /* kind 5 */
	SLED_PATCHABLE,	   /* jmp rel32 at the site's address */
	SLED_PATCHABLE_HOT, /* jmp -7 at the site's address, jmp rel32 five bytes before it */
	SLED_PATCHABLE_HOT_CET, /* a hot site with an endbr64: jmp -11 at the site, jmp rel32 nine bytes before it */
	SLED_GUARD,	   /* jmp rel32 at the site's address */
	SLED_ENTRY,	   /* over instructions that were displaced: jmp rel32 at the site's address */
	SLED_ENTRY_PADDING, /* the same, as SLED_PATCHABLE_HOT */
	SLED_ENTRY_PADDING_CET, /* the same, as SLED_PATCHABLE_HOT_CET */
	SLED_TYPES
};

#define SLED_XRAY_SIZE	   11
#define SLED_CUSTOM_SIZE   17
#define SLED_TYPED_SIZE	   22
#define SLED_EVENT_PATCH   7 /* bytes of an event sled that change */
#define SLED_JUMP_SIZE	   5 /* jmp rel32 */
#define SLED_HOT_JUMP_SIZE 2 /* jmp rel8 */
#define SLED_HEAD_SIZE	   2 /* bytes at most that decide: they are stored last, or first (sled_head()) */
#define SLED_ENDBR64_SIZE  4
#define SLED_ORIGINAL_SIZE \
	8 /* what is kept of a patchable site's own bytes: seven of them at most; of an event sled's: five */

/*
 * Are these the bytes of an unpatched (or unpatched again) XRay sled? p: the sled; size: bytes readable from p, at
 * least up to the end of the instruction after it. Returns TRACE_REASON_TRACED, SLED_BYTES, CONDITIONAL_TAIL (a tail
 * sled before a conditional jump) or EVENT_SLED (an event sled that must be left alone, for any reason).
 */
enum trace_reason sled_check_xray(enum sled_type type, uint64_t address, const uint8_t *p, size_t size);

/* The arguments that an event sled passes on. */
struct sled_event {
	uint8_t arguments;		 /* 2: data, size; 3: type, data, size */
	/* of each: number of the general register that holds it when the sled begins; never 4, rsp */
	uint8_t source[3];
	uint8_t bytes[SLED_ORIGINAL_SIZE]; /* its own, from A+2 on: sled_file()'s `original` */
};

/* Reads an unpatched event sled. Returns 1, or 0 when it has another form; then *event is undefined. */
int sled_read_event(enum sled_type type, const uint8_t *p, size_t size, struct sled_event *event);

/* What all sites of a type have in common. A new type whose bytes are like those of another is a row of sled.c. */
struct sled_row {
	const char *word; /* of tables for people */
	uint8_t size;	  /* bytes that a patch changes; 0: there is no such type */
	uint8_t before;	  /* how many of them lie before the site's address; the head is after these */
	uint8_t length;	  /* of the instructions that a patch covers; 0: each site's own */
	uint8_t is_event; /* in the middle of a function, with a stub of its own */
	uint8_t is_jump;  /* a jump of five bytes at its address when patched; by a short jump where threads run */
	uint8_t keeps;	  /* its own bytes differ from site to site and are kept (sled_keep) */
	uint8_t displaces; /* over any instructions, which are kept; the jump's stub tells whether it is on */
	uint8_t as_is;	  /* ready as the file has it, at an even address: needs no look before it is switched on */
	uint8_t resume;	  /* of these: where a thread in the middle goes on when the site is switched off */
	/* Bytes: first ones of the head when it is on, and when it is ready (keeps: NOPs of one byte joined). */
	uint8_t on[2], on_size;
	uint8_t off[SLED_JUMP_SIZE], off_size;
	uint8_t opcode, branch; /* of the jump or call to the stub, and where it is in the patch */
	const uint8_t *rest;	/* what the file has after `off`; NULL: nothing, or what was kept */
};

/* Never NULL: for a number that is no type, a row of zeros. */
const struct sled_row *sled_row(enum sled_type type);

static inline bool sled_is_event(enum sled_type type)
{
	return sled_row(type)->is_event;
}

/* Is its patch a jump of five bytes at its address, by way of a short jump where threads run? */
static inline bool sled_is_jump(enum sled_type type)
{
	return sled_row(type)->is_jump;
}

/* Length of a type of XRay sled. */
static inline uint16_t sled_xray_size(enum sled_type type)
{
	return sled_row(type)->length;
}

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

/* Is there the NOP of a guard at p? */
bool sled_is_guard(const uint8_t *p, size_t size);

/* Is there an endbr64 at p? */
bool sled_is_endbr64(const uint8_t *p, size_t size);

/*
 * Writes the patched bytes of a site into out (16 bytes) and their number and place: *from is added to the site's
 * address (it is negative for the two hot types). index: the function's index in its object (xray, but not events: what
 * goes into r10d). rel: the stub's address (of a guard: the guarded code's) minus the site's address. Returns the
 * number of bytes, or 0 when the stub is out of reach.
 */
size_t sled_patched(enum sled_type type, uint32_t index, int64_t rel, uint8_t out[16], int *from);

/*
 * States of a site. Its bytes are
 *	on	what sled_patched() tells
 *	off	calls go past us; this and nothing more where a batch from outside was cut off
 *	ready	off, and one whole instruction where a patch begins: it can be switched on while threads run
 *	file	the file's own
 * Of a displaced entry the bytes alone tell only whether the jump is there (on, here) or not (file).
 * The file's own bytes are ready, too, but for NOPs of one byte, which are joined at load (`prepare`): five of them to
 * one of five bytes, two (hot sites) to one of two. An XRay sled that was on and is off keeps its other bytes: ready,
 * not file.
 */
enum sled_state {
	SLED_IS_ON = 1,
	SLED_IS_OFF = 2,
	SLED_IS_READY = 4, /* with OFF */
	SLED_IS_FILE = 8,  /* with OFF */
};

/*
 * Keeps the own bytes of a patchable site: p points to it, unpatched. The bytes of XRay sleds and guards are always the
 * same, so nothing is kept; those of event sleds are kept by sled_read_event().
 */
void sled_keep(enum sled_type type, const uint8_t *p, uint8_t original[SLED_ORIGINAL_SIZE]);

/*
 * The bytes that make a site ready, whatever it is now, and their number; at the site's address. original: of patchable
 * sites and events. For XRay sleds it is the head: 2 bytes, 1 of an exit.
 */
size_t sled_ready(enum sled_type type, const uint8_t *original, uint8_t out[16]);

/* All the file's own bytes, number and place as sled_patched() tells. */
size_t sled_file(enum sled_type type, const uint8_t *original, uint8_t out[16], int *from);

/*
 * What a site's bytes are now, p pointing to it: a sum of enum sled_state, or 0: nothing we know. patched: what
 * sled_patched() made, from its `from` on; NULL when there are no stubs yet. length: struct site's.
 */
unsigned sled_look(
	enum sled_type type, const uint8_t *p, size_t length, const uint8_t *original, const uint8_t *patched);

/* Is a site with these two bytes at its address on? For code that sees no more of it. */
bool sled_is_on(enum sled_type type, const uint8_t two[2]);

/*
 * Are the bytes at p those that a file has there, a site of this type that was never patched? address: the site's,
 * link-time; size: bytes readable from p on. Bytes before the site must be readable where the type has such.
 */
bool sled_is_own(enum sled_type type, uint64_t address, const uint8_t *p, size_t size);

/* Where the two bytes that are stored last are, in the bytes of sled_patched() and sled_file(). */
static inline size_t sled_head(enum sled_type type)
{
	return sled_row(type)->before;
}

/*
 * The short jump over the `length` bytes of NOPs that a jump covers: it is there while their other bytes change, of a
 * site whose bytes can't be stored at once.
 */
static inline void sled_skip(size_t length, uint8_t out[SLED_HOT_JUMP_SIZE])
{
	out[0] = 0xeb;
	out[1] = (uint8_t)(length - SLED_HOT_JUMP_SIZE);
}

/*
 * Where a thread may stand in the middle of a site's bytes, which must be moved when they change with all threads
 * stopped: low <= distance of its instruction pointer from the site's address < high; it goes on at `resume` (distance,
 * too). on: they become the patched bytes, else the file's. Returns 0 when there is no such place.
 */
int sled_inside(enum sled_type type, size_t length, int on, int *low, int *high, int *resume);

#endif
