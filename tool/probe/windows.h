/* SPDX-License-Identifier: MIT */
/*
 * Plans windows (format/probe.h): how instructions anywhere in a file get a jump to a stub of ours.
 *
 * For each address the ways are tried in this order; the first that goes is taken:
 *  1. a window of one instruction of five bytes or more: nothing can lead into it
 *  2. JUMP from the address on, over as many whole instructions as five bytes take
 *  3. JUMP from an instruction before it on
 *  4. SHORT, to padding within reach
 *  5. SHARED, with its `other` ones: more prefixes, other places for the stub
 * For 2 to 4 no branch may lead between the instructions, as far as all code of the file tells (facts.h); where a
 * function jumps to addresses that can't be told, none of them goes in it. No call returns between them, so one is the
 * last. Addresses that lie in one window share it. Windows are made from the last address to the first, since the bytes
 * that a jump shares are those of what follows: bytes that another window writes, or expects in the file, are not for
 * this one.
 *
 * Pure; one thread. Memory that runs out ends the command.
 */
#ifndef XAUDIT_TOOL_INDEX_WINDOWS_H
#define XAUDIT_TOOL_INDEX_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/probe.h"

struct facts;
struct image;

struct window {
	struct plan_window plan; /* but for positions, and numbers of probes */
	uint8_t code[PROBE_CODE_MAX];
	struct probe_fixup fixup[PROBE_FIXUPS_MAX];
	uint32_t address[PROBE_IN_WINDOW]; /* which of those that were asked for lie in it, in their order */
	uint32_t addresses;
};

/* What became of one address. */
struct window_place {
	uint32_t window; /* PROBE_NONE: refused */
	uint32_t refusal; /* enum probe_refusal */
	uint64_t nearest; /* where refused: the nearest address of the same function that would do alone; 0: none */
};

struct windows {
	struct window *window; /* in ascending order of address, `other` ones behind all of them */
	size_t count;
	struct window_place *place; /* of each address that was asked for */
};

/*
 * address: in ascending order; one that is there several times has so many probes, in that order. image and facts:
 * image_read() and facts_read() of the file. Each window is independent of run-time addresses: whether the memory is
 * free that SHARED ones need, only the process knows.
 */
void windows_make(struct windows *to, const struct image *image, const struct facts *facts, const uint64_t *address,
	size_t count);
void windows_free(struct windows *windows);

/* How many instructions of the file, each taken alone, can be had by each way; and of the others why not. */
struct windows_coverage {
	uint64_t instructions; /* of functions, decoded from their beginnings; no padding */
	uint64_t by_way[PROBE_WAYS]; /* by enum probe_way */
	uint64_t single;	     /* of those by JUMP: windows of one instruction */
	uint64_t before;	     /* of those by JUMP: that begin before the instruction */
	uint64_t refused[PROBE_REFUSAL_COUNT];
};

void windows_cover(const struct image *image, const struct facts *facts, struct windows_coverage *to);

/* The instructions of one function (by number), each taken alone: for `xaudit list FILE SYMBOL`. */
typedef void windows_function(void *context, uint64_t address, unsigned length, const struct window *window,
	const struct window_place *place);
void windows_each(const struct image *image, const struct facts *facts, size_t function, windows_function *tell,
	void *context);

#endif
