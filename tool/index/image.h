/* SPDX-License-Identifier: MIT */
/*
 * The file that is analysed: its code, its identity, and its functions by name. One thread makes it; while others
 * decode its code, facts_decode.h says who writes what.
 *
 * It may be damaged in any way: all its bytes are asked for by way of audit/site/elf_file.h, which checks bounds.
 */
#ifndef XAUDIT_TOOL_INDEX_IMAGE_H
#define XAUDIT_TOOL_INDEX_IMAGE_H

#include <pthread.h> /* pthread_t */
#include <stdbool.h>

#include "audit/site/elf_file.h"
#include "format/index.h"

/* A section of code, or where there are no sections, a segment. */
struct image_code {
	uint64_t address, size;
	const uint8_t *bytes;
	bool plt; /* stubs of the linker's: no functions */
};

struct image_function {
	uint64_t address;
	uint64_t end;	  /* of its size; or where the next one begins, or the code ends */
	uint64_t size;	  /* as the file says; 0: unknown */
	const char *name; /* NULL: only unwind information knows it, so far */
	const struct frame *frame; /* the FDE that it begins in; NULL: none */
	uint32_t owner;	  /* of a piece: 1 + index of the function that jumps to it; 0: not known */
	uint8_t rank;	  /* of its name, internal */
	uint8_t skip;	  /* 4: it begins with an endbr64; else 0 */
	bool exported;
	bool never;	  /* one of its names is on the list of those that are never intercepted */
	bool resolver;
	bool piece;	  /* part of another function */
	/* What decoding tells (facts.h). */
	bool loops, undecodable, stack, reads_return;
	bool computed;	  /* it may jump to places of its own that nothing tells (facts.h) */
	bool asks;	  /* it jumps to what asks who called it (asks_caller.h) */
	bool start;	  /* nobody calls it */
	bool conditional; /* somebody else's conditional branch leads to its beginning */
	bool closed; /* its last instruction does not go on behind it */
};

/* Another name of a function. */
struct image_alias {
	const char *name;
	uint32_t function; /* index */
};

/* Where code of a language begins or ends. */
struct image_bound {
	uint64_t address;
	int depth; /* 1: begins, -1: ends; when all names are read: how many have begun, and not ended */
};

struct image {
	struct site_file file;
	struct index_identity identity;
	uint8_t content[INDEX_CONTENT]; /* content.h; after image_hash_end() */
	bool hashed, hashes; /* it was begun, or known; by a thread, which is not over */
	pthread_t hasher;
	struct image_code *code; /* by address; they don't overlap */
	size_t codes;
	uint64_t low, high; /* of segments of code, in memory */
	bool fixed;	    /* a program at addresses of its own choice: no relocations */
	bool loader;
	bool relocated;	    /* relocations lie in its code (facts.h) */
	bool symbols;	    /* .symtab of its own or of a debug file */
	bool walks;	    /* a runtime that finds its way up a stack by return addresses (tool/index/runtimes.c) */
	bool foreign;	    /* a runtime reads its functions, or runs them on stacks with little room */
	bool judges;	    /* a runtime knows faults in some of its functions by the instruction pointer */
	bool compiled;	    /* and in all of them, or stacks that overflow; else in what lies between bounds */
	bool ocaml, units;  /* it holds OCaml; with bounds of its units */
	bool cancels;	    /* it is the library that cancels threads */
	struct image_bound *bound; /* by address, when names are read */
	size_t bounds;
	uint64_t copied;    /* from here on lies code that is copied before it runs; 0: nowhere */
	uint64_t copied_end;
	uint64_t name_bytes; /* of the names copied so far */
	struct image_function *function; /* by address, each once */
	size_t functions;
	struct image_alias *alias; /* unsorted; some say what is known already */
	size_t aliases;
	uint64_t *label; /* what symbols that are no functions name in the code; unsorted */
	size_t labels;
	struct frames *frames;
};

/* Who a file is. */
struct image_name {
	struct index_identity identity;
	char *soname; /* the caller frees it; NULL: none */
	bool symbols; /* it has a .symtab */
	uint8_t content[INDEX_CONTENT]; /* of image_identify_content() alone */
};

/*
 * Returns 0, or -errno; -ENOEXEC: no x86-64 program or library. path: for debug files beside it. known: of
 * image_identify_content(), which need not be found out again then; or NULL.
 */
int image_open(struct image *image, int fd, const char *path, const struct image_name *known);

/* Hashes the content, if that is not known; beside: by a thread of its own, if there can be one. */
void image_hash(struct image *image, bool beside);
void image_hash_end(struct image *image);

void image_close(struct image *image);

/* That, and nothing else. Returns as image_open(). */
int image_identify(int fd, struct image_name *name);

/*
 * The same with the hash of the content. It waits until the file's time of change has passed, so that whoever changes
 * the file from now on sets another one: up to 10 ms as a rule, and a second where file systems count in seconds.
 */
int image_identify_content(int fd, struct image_name *name);

/* Is the file still the one that was identified, and has nobody changed it? */
bool image_is_still(int fd, const struct index_identity *identity);

/* The code at an address, from it to the end of its section: NULL: none. */
const uint8_t *image_code_at(const struct image *image, uint64_t address, size_t *size);
const struct image_code *image_section(const struct image *image, uint64_t address);

/* Index of the last function that begins at or before the address; image->functions: none. */
size_t image_before(const struct image *image, uint64_t address);

/* The function that begins there, or NULL. */
struct image_function *image_at(const struct image *image, uint64_t address);

/*
 * Calls slot() for each word that ld.so fills with the address of a symbol: at rela->r_offset. name: NULL: the symbol's
 * is not to be had.
 */
typedef void image_slot(void *arg, const Elf64_Rela *rela, const Elf64_Sym *symbol, const char *name);
void image_slots(const struct image *image, image_slot *slot, void *arg);

#endif
