/* SPDX-License-Identifier: MIT */
/*
 * The format of an index: what the analysis of one ELF file found, for whoever writes into its code. `xaudit index`
 * makes it; it is mapped read-only and shared, and never written again: a new one takes its name.
 *
 * An index is one flat file, of the machine that made it (little endian, no alignment beyond 8):
 *
 *	struct index_head	who it is about; where the parts lie
 *	sums			of blocks: 64 bits each
 *	parts			each an array of entries, at an offset that is a multiple of 8
 *
 * Parts that a reader does not know are none of its business. Parts whose numbers have a meaning to come are empty.
 * Addresses are link-time addresses (add the load address). Names end in a zero byte; offset 0 of the names is an empty
 * one, "no name".
 *
 * Damage is found by checksums. That of the head covers the head, and by way of it the sums; what follows is divided
 * into blocks of INDEX_BLOCK bytes, from a multiple of that on. There is a sum for each block, so that a reader who
 * needs little of a large index looks at little of it. Against somebody who wants to do harm they are no help:
 * templates become code, so an index is trusted as code is (audit/index/index.h says whose is).
 *
 * In a folder it has the name BUILD_ID-CONTENT.index, or, of a file without a build-id, CONTENT.index, all hexadecimal:
 * CONTENT is a hash of the file's segments, so only what is the same in memory shares an index, whatever build-ids say.
 *
 * To hash a file takes longer than a start may, so that is done once, by who makes the index; a stamp stands beside it
 * then: DEVICE-INODE-SIZE-MODIFIED-CHANGED.stamp, a file whose one line is the index's name. It speaks of the one
 * file of which all of this is true, and which nobody has written to since, as a write sets the time of change, which
 * no user can set. A file that has no stamp has no index, until somebody has hashed it. What a stamp names need not be
 * there, or lies in another of the folders (audit/index/index.h).
 */
#ifndef XAUDIT_FORMAT_INDEX_H
#define XAUDIT_FORMAT_INDEX_H

#include <stdint.h>

#define INDEX_MAGIC   0x7865646e69647561u /* "audindex" */
#define INDEX_VERSION 16		   /* of format and analysis: what another one made is made again */
#define INDEX_SUFFIX  ".index"
#define INDEX_STAMP   ".stamp"

#define INDEX_BUILD_ID_MAX 32
#define INDEX_CONTENT	   16 /* bytes of the hash (tool/index/content.h) */
#define INDEX_BLOCK	   4096 /* bytes that have a sum; the last block may be shorter */

/* Parts, by number: a reader relies on these. */
#define INDEX_PARTS(X)                                                                                       \
	X(0, FUNCTIONS)	 /* struct index_function, by address, each address once */                          \
	X(1, TEMPLATES)	 /* struct index_template with what follows it, each at a multiple of 4 */            \
	X(2, NAMES)	 /* bytes: "", then names as strcmp() has them, each once, then lists of aliases */   \
	X(3, CALLS)	 /* struct index_call, by function, then by address; those of no function are last */ \
	X(4, PROBES)	 /* later: places in the middle of functions */                                      \
	X(5, PLACES)	 /* later: branch targets, by which any place can be judged */                       \
	X(6, FRAMES)	 /* struct index_frame (frames.h), by address: how to go up to a caller */           \
	X(7, ORDER)	 /* struct index_order: each name of each function, by name, then by address */       \
	X(8, WORDS)	 /* struct index_word, by address */                                                   \
	X(9, WORD_CALLS) /* uint64_t: where a call's displacement is; by word, then by address */

enum index_part_number {
#define X(number, NAME) INDEX_##NAME = number,
	INDEX_PARTS(X)
#undef X
	INDEX_PART_COUNT
};

struct index_part {
	uint64_t offset; /* in the file */
	uint64_t size;	 /* bytes: a multiple of `entry` */
	uint32_t entry;	 /* bytes of an entry; 1: of any length */
	uint32_t zero;
};

/* Who a file is, and which of its contents is meant. */
struct index_identity {
	uint32_t build_id_len; /* 0: none, or longer than we keep */
	uint32_t zero;
	uint8_t build_id[INDEX_BUILD_ID_MAX];
	uint64_t device, inode, size;
	uint64_t modified, changed; /* its mtime and ctime, ns since 1970 */
};

struct index_head {
	uint64_t magic;
	uint32_t version;
	uint32_t head_size;
	uint64_t file_size;
	uint64_t checksum; /* index_sum() of the head, with 0 here */
	struct index_identity identity; /* of the file that was read */
	uint8_t content[INDEX_CONTENT];
	/* The segments of code: address of the first byte and behind the last, of memory as of the file. */
	uint64_t code_low, code_high;
	uint32_t flags; /* enum index_flags */
	uint32_t parts; /* INDEX_PART_COUNT of who wrote it, at most as many as fit into head_size */
	uint64_t blocks; /* offset of the first one, a multiple of INDEX_BLOCK: parts lie from here on */
	uint64_t sums;	 /* index_sum() of the sums, which lie behind the head */
	struct index_part part[INDEX_PART_COUNT];
};

enum index_flags {
	INDEX_NO_SYMBOLS = 1,	/* neither .symtab nor a debug file: names of exported functions alone */
	INDEX_NO_FRAMES = 2,	/* no unwind information: functions without a name are not known */
	INDEX_ALL_REFUSED = 4,	/* the dynamic linker: nothing of it may be written to */
	INDEX_RELOCATED = 8,	/* the loader changes bytes of its code, so that what is here is not what runs */
};

/*
 * Why a function's entry is not to be written to; the order is that in which reasons are looked for, so a function has
 * the first that applies. Numbers are part of the format.
 */
#define INDEX_REASONS(X)                                                                                     \
	X(0, USABLE, "usable")                                                                               \
	X(1, LOADER, "the dynamic linker itself")                                                            \
	X(2, RESOLVER, "an IFUNC resolver, or called by one: it runs before its object is relocated")        \
	X(3, SIGNAL_FRAME, "the kernel's return from a signal")                                              \
	X(4, START, "nobody calls it: there is no return address where functions have theirs")              \
	X(5, STACK, "it goes to another stack")                                                              \
	X(6, UNDECODABLE, "bytes that are no instructions we know")                                          \
	X(7, LOOP, "it jumps to its own beginning, which would count as a call")                             \
	X(8, BRANCH, "a branch or a pointer, or data that looks like one, leads into the bytes displaced")    \
	X(9, OVERLAP, "another function begins in the bytes that would be displaced")                       \
	X(10, SHORT, "too short, and no room before it")                                                     \
	X(11, CALL, "a call among the first instructions that is not the last of those displaced")          \
	X(12, INSTRUCTION, "an instruction at its beginning that can't run elsewhere")                       \
	X(13, TARGET, "an instruction at its beginning reaches too far")                                     \
	X(14, RUNTIME, "its language's runtime copies or reads it, or has it run on stacks with little room") \
	X(15, JUDGED, "its language's runtime judges faults by the instruction pointer, which would be another")

enum index_reason {
#define X(number, NAME, phrase) INDEX_REASON_##NAME = number,
	INDEX_REASONS(X)
#undef X
	INDEX_REASON_COUNT
};

/* How the jump is written. */
enum index_form {
	INDEX_FORM_NONE,	/* refused */
	INDEX_FORM_JUMP,	/* jmp rel32 at the site */
	INDEX_FORM_PADDING,	/* jmp rel32 in the five bytes before the function, a jmp of two bytes at the site */
};

enum index_function_flags {
	INDEX_EXPORTED = 1,	    /* other objects can bind to it */
	INDEX_NAMELESS = 2,	    /* known by unwind information and a call or pointer to it alone */
	/* It reads or moves its own return address, or its file does so on stacks: its return can't be intercepted. */
	INDEX_ENTRY_ALONE = 4,
	INDEX_DISPLACES_CALL = 8,   /* a copy of it may do so: not where a shadow stack is on */
	INDEX_CLOSED = 16,	    /* its out-of-line copy does not go on behind the site */
	INDEX_NEVER_INTERCEPT = 32, /* one of its names says so (audit/bind/nointercept.h): as ENTRY_ALONE */
	INDEX_ENDS_IN_CALL = 64,    /* the last one of its displaced instructions is a call */
	/*
	 * It jumps to what asks its return address who called it (dlopen, dlsym), or to one of its file that does: as
	 * ENTRY_ALONE where ld.so was not told to bind that to ours.
	 */
	INDEX_ASKS = 128,
	INDEX_FAULTS = 256, /* one of its displaced instructions may fault, with the copy's address */
};

#define INDEX_JUMP	   5 /* bytes of jmp rel32 */
#define INDEX_SHORT_JUMP   2 /* of jmp rel8 */
#define INDEX_ORIGINAL_MAX 24
#define INDEX_WRITTEN_MAX  16 /* bytes that are written, in a row, where a call is among them */

/*
 * One function. Its site lies at address + skip (behind an endbr64, which stays). What is written are the bytes
 *	JUMP	[site, site + 5)
 *	PADDING	[address - 5, address) and [site, site + 2)
 * and, where the template says so, the last ones of [site, site + length), which are a call then (enum index_call_in);
 * and what must be in memory before is original[0 ... originals), which begins at site (JUMP) or at address - 5
 * (PADDING): the padding, an endbr64, the displaced instructions. An out-of-line copy runs the instructions of [site,
 * site + length) and goes on at site + length.
 */
struct index_function {
	uint64_t address;
	uint32_t size;	   /* 0: unknown */
	uint32_t name;	   /* the best of its names, as offset; 0: none */
	uint32_t template; /* offset in the templates; of usable ones */
	uint8_t reason;	   /* enum index_reason */
	uint8_t form;	   /* enum index_form */
	uint16_t flags;	   /* enum index_function_flags */
	uint8_t skip;	   /* 0 or 4 */
	uint8_t length;	   /* bytes of displaced instructions, whole ones */
	uint8_t originals;
	uint8_t zero;
	uint32_t aliases; /* its other names, as offset: each with its NUL, then an empty one; 0: none */
	uint8_t original[INDEX_ORIGINAL_MAX];
};

/* Whom a compiler lets functions call at their beginning (-pg). */
#define INDEX_CALLEES(X)          \
	X(1, FENTRY, "__fentry__") \
	X(2, MCOUNT, "mcount")

enum index_callee {
#define X(number, NAME, word) INDEX_##NAME = number,
	INDEX_CALLEES(X)
#undef X
	INDEX_CALLEE_COUNT
};

enum index_call_flags {
	INDEX_CALL_NOP = 1,  /* there is a NOP in its place already */
	INDEX_CALL_ALONE = 2, /* the beginning of no function, or not the first call of one: its `site` says nothing */
};

#define INDEX_NO_FUNCTION UINT32_MAX

/*
 * A call of __fentry__ or mcount, or the NOP of its length in its place. `site` is how the entry of its function is
 * seen by way of it: as if the function was another one whose first instructions are the same without that call. So the
 * out-of-line copy of a call of __fentry__, which is the first instruction, is a jump to what follows it; that of a
 * function that calls mcount later has no call, or leads to it.
 */
struct index_call {
	struct index_function site;
	uint64_t address;
	uint32_t function; /* by number; INDEX_NO_FUNCTION */
	uint8_t callee;	   /* enum index_callee */
	uint8_t length;	   /* 5 or 6 */
	uint8_t flags;	   /* enum index_call_flags */
	uint8_t zero;
	uint8_t bytes[8]; /* which stand there, `length` of them */
};

/*
 * A word that ld.so fills with the address of a function, which no PLT slot is. Code calls that by `call *word(%rip)`,
 * or jumps there; or it loads the word, as data does that holds it (R_X86_64_64).
 */
struct index_word {
	uint64_t address;
	uint32_t first, calls; /* its calls, in INDEX_WORD_CALLS: of 6 bytes or more, the last 4 of them displacement */
	uint32_t loads;	       /* instructions that read it otherwise */
	uint32_t flags;	       /* enum index_word_flags */
};

enum index_word_flags {
	INDEX_WORD_DATA = 1, /* a word of data, not of the GOT */
	INDEX_WORD_WEAK = 2, /* there may be no such function, which is what some of the code asks */
};

/* A function has an entry for each of its names (aliases): it is found by any of them. */
struct index_order {
	uint32_t name;	   /* offset in the names */
	uint32_t function; /* by number */
};

/* What stands at an offset of a template, to be filled in for a load and a place (x86_64/displace.h). */
enum index_fix {
	INDEX_FIX_NEAR = 1,	/* 32 bits: load + target less the address of byte `end` of the copy */
	INDEX_FIX_ADDRESS = 2,	/* 64 bits: load + target */
};

struct index_fixup {
	uint8_t at, end;
	uint8_t fix; /* enum index_fix */
	uint8_t zero;
	int32_t target; /* a link-time address, less the function's */
};

/*
 * How a call among the displaced instructions, which is the last one of them, is made. Its return address is that in
 * place in any case; but what the processor predicts is the address behind a call that it has seen. So where there is
 * room behind the jump, a call is written there that ends where the function's own does; the copy goes on at it.
 */
enum index_call_in {
	INDEX_CALL_IN_COPY,  /* none, or by the copy, which changes the return address: not predicted */
	INDEX_CALL_BY_STACK, /* ff 54 24 f8, call *-8(%rsp): the copy has put the target there */
	INDEX_CALL_BY_RAX,   /* ff d0, call *%rax: leads to the copy's end, which sets rax as it was */
};

#define INDEX_CALL_FIRST   0xff /* byte of either */
#define INDEX_TEMPLATE_MAX 80 /* bytes of a copy */
#define INDEX_FIXUPS_MAX   8

/* An out-of-line copy: `fixups` of struct index_fixup follow, then `size` bytes, then zeros up to a multiple of 4. */
struct index_template {
	uint8_t size;
	uint8_t fixups;
	uint8_t call; /* enum index_call_in */
	/*
	 * 1: the call's first byte is the last one of the jump, which must be INDEX_CALL_FIRST by itself; another
	 * template follows, for where it is not.
	 */
	uint8_t meets;
	/*
	 * Where in the copy the instruction begins that in place begins 1 ... 4 bytes behind the site; 0: none does. A
	 * thread that stands at the one can go on at the other.
	 */
	uint8_t inside[INDEX_JUMP - 1];
};

/* How many blocks, and so how many sums, follow. */
static inline uint64_t index_blocks(const struct index_head *head)
{
	return (head->file_size - head->blocks + INDEX_BLOCK - 1) / INDEX_BLOCK;
}

/*
 * Sum of bytes; size is a multiple of 8. Four lanes, since a multiplication takes three cycles to be done with and one
 * to begin: memory is the limit. Inline, and without libc: the module checks by it what the command wrote.
 */
static inline uint64_t index_sum(const void *bytes, uint64_t size)
{
	typedef uint64_t word __attribute__((aligned(1), may_alias));
	const word *p = bytes;
	uint64_t a = 1, b = 2, c = 3, d = 4, n = size / sizeof(*p);

	for (; n >= 4; n -= 4, p += 4) {
		a = (a ^ p[0]) * 0x9e3779b97f4a7c15u;
		b = (b ^ p[1]) * 0xc2b2ae3d27d4eb4fu;
		c = (c ^ p[2]) * 0x165667b19e3779f9u;
		d = (d ^ p[3]) * 0xd6e8feb86659fd93u;
		/* A difference in the upper bits would stay there. */
		a ^= a >> 29;
		b ^= b >> 31;
		c ^= c >> 30;
		d ^= d >> 28;
	}
	for (; n; n--, p++) {
		a = (a ^ *p) * 0x9e3779b97f4a7c15u;
		a ^= a >> 29;
	}
	a ^= b * 3 ^ c * 5 ^ d * 7 ^ size;
	return (a ^ a >> 32) * 0x9e3779b97f4a7c15u;
}

#endif
