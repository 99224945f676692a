/* SPDX-License-Identifier: MIT */
/*
 * Calls that a compiler puts at the beginning of functions for a profiler (-pg): of __fentry__, before anything else;
 * of mcount, behind the frame's making. A part of the code is seen by one thread.
 *
 * Called directly, by way of the PLT, or of the GOT (call *mcount@GOTPCREL(%rip)), and found by decoding; besides, by
 * the section __mcount_loc (-mrecord-mcount), where a call may be of another name, or a NOP (-mnop-mcount). NOPs that
 * no section tells of are known by their place, in programs at fixed addresses, where alone compilers make them: five
 * bytes at the entry, or behind instructions there that make a frame with rbp.
 */
#ifndef XAUDIT_TOOL_INDEX_CALLS_H
#define XAUDIT_TOOL_INDEX_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/index/image.h"

struct insn;

#define CALLS_NO_FUNCTION UINT32_MAX
#define CALLS_SECTION	  "__mcount_loc"

struct call {
	uint64_t address;
	uint32_t function; /* index of the image's, no piece; CALLS_NO_FUNCTION */
	uint8_t callee;	   /* enum index_callee */
	uint8_t length;
	uint8_t source; /* internal; of two the one that knows more */
	bool nop;
};

/* Where one of those called is: its code, or (slot) the word that holds its address. */
struct callee {
	uint64_t address;
	uint8_t callee;
	bool slot;
};

struct calls {
	struct callee *callee;
	size_t callees;
	struct call *call; /* after calls_end(): by function, then by address, each once */
	size_t count;
};

/* The section of this name: true, or false: there is none. */
bool calls_section(struct image *image, const char *name, Elf64_Shdr *section);

/* Finds whom they call. */
void calls_begin(struct calls *calls, const struct image *image);

/* Any call in the code of function i (UINT32_MAX: of none). */
void calls_see(struct calls *calls, const struct image *image, uint32_t i, const struct insn *insn);

/*
 * For a thread that sees a part of the code: the same callees, and no calls yet; and the calls that it has seen then.
 * Parts are joined in the order of the code, and freed. The callees stay those of `calls`.
 */
void calls_part(struct calls *part, const struct calls *calls);
void calls_join(struct calls *calls, struct calls *part);

/* The word that a stub of the PLT at this address jumps by; 0: there is no such stub. */
uint64_t calls_slot(const struct image *image, uint64_t address);

/* Adds what sections and places tell; pieces of functions are known now. */
void calls_end(struct calls *calls, struct image *image);
void calls_free(struct calls *calls);

#endif
