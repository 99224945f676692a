/* SPDX-License-Identifier: MIT */
/*
 * Functions as windows are planned in them (windows.h): their instructions, what leads between these, and which bytes
 * between and in functions are nobody's. Memory that runs out ends the command. One thread.
 *
 * A function reaches up to where the next one begins. It is decoded once, when it is asked for, and stays so. What
 * follows something that can't be decoded is refused, too, up to the next place that something leads to: nobody knows
 * where instructions begin there. Behind a jump or a return there may be data, up to such a place.
 *
 * Nobody's are nops and int3 behind a jump, a return or a last call, as far as nothing leads to them.
 */
#ifndef XAUDIT_TOOL_PROBE_WINDOW_BODY_H
#define XAUDIT_TOOL_PROBE_WINDOW_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/probe/rseq.h"

struct facts;
struct image;

enum window_mark {
	WINDOW_LED = 1,	   /* something leads to its beginning */
	WINDOW_RETURN = 2, /* a call returns there */
	WINDOW_CALL = 4,   /* it is one */
	WINDOW_CLOSED = 8, /* it does not go on behind itself */
	WINDOW_FREE = 16,  /* padding that is nobody's */
};

struct window_insn {
	uint32_t at; /* from the function's beginning */
	uint8_t length;
	uint8_t refusal; /* enum probe_refusal */
	uint8_t marks;
};

struct window_body {
	uint64_t address;
	uint32_t size; /* of its instructions */
	uint32_t free; /* bytes that are nobody's, behind it */
	bool computed; /* jumps in it may lead anywhere in it */
	struct window_insn *insn;
	size_t insns;
	struct window_run { /* bytes that are nobody's, in it and behind it: those of a jump or more */
		uint32_t at, size;
	} *run;
	size_t runs;
};

struct window_bodies {
	const struct image *image;
	const struct facts *facts;
	struct rseq rseq;
	struct window_body **body; /* by function; NULL: not decoded yet */
};

void window_bodies_begin(struct window_bodies *bodies, const struct image *image, const struct facts *facts);
void window_bodies_free(struct window_bodies *bodies);

const struct window_body *window_body(struct window_bodies *bodies, size_t function);

/* The instruction that holds the address, in a function that begins at it or before; body->insns: none. */
size_t window_insn(const struct window_body *body, uint64_t address);

/* Why there is no probe in a function at all, or at this address of it, whatever stands there. */
unsigned window_whole(const struct image *image, size_t function, uint64_t address);

#endif
