/* SPDX-License-Identifier: MIT */
/*
 * Stubs: our few instructions near an object's code. Two kinds of pages:
 *
 * Sled stubs of one load: one mapping within reach of the object's text, at a constant distance from its load address
 * where that is free, so that patched text is the same in every process. It starts with the XRay stubs; then one stub
 * per patchable function; then the cells of these. Event sleds have a stub each, between the XRay stubs and those of
 * patchable functions.
 * Stubs of displaced entries: blocks within reach of the text, too. The entry stubs come first, then room for copies
 * that are too long to lie in theirs, then the cells. Some stubs must be nearer: blocks of stubs alone.
 * Binding stubs: blocks anywhere, for the PLT kinds: a binding only needs an address. The first lie in the module
 * itself.
 *
 * A stub of the intercepting kinds has no data of its own: its words lie in a cell.
 *
 *		jmp	*cell.target(%rip)	where bindings come in: to `rest` (on) or to the body (off)
 *	rest:	push	cell.word(%rip)		stack at the trampoline:	 0 body
 *		push	cell.body(%rip)						 8 word
 *		jmp	*cell.gate(%rip)					16 return address A (slot S)
 *
 * Patchable sleds jump to the rest directly: they are switched in the text. A binding is switched by one aligned store
 * to its cell's target, while threads come through: each goes one way or the other. The words that the way to `rest`
 * needs (word, gate) are in place before (release; pairs with the load by the jmp, and x86 keeps its order with the
 * loads after it).
 *
 * An entry stub is one line of the cache, with the out-of-line copy in it (displace.h), so that a function that is off
 * takes only the jumps here and back: each jump costs a cycle, and an indirect one also an entry among the targets that
 * the processor remembers. Flags are not kept, on or off; there is no carry (tramp_pieces.h).
 *
 *		cmpq	$0,cell.target(%rip)	not 0: on (then it is the address of `rest`)
 *		jne	rest
 *	copy:	the first instructions, and a jump to those that follow; or a jump to the copy, where it is too long
 *	rest:	as above; the body is the copy
 *
 * It is switched by one store as a binding is, while threads come through (release; pairs with the load by cmpq, and
 * x86 keeps its order with the loads at `rest`).
 *
 * Words of calls without a PLT: code reads them in place of the object's own words, which lie within reach, too. Each
 * has a jump of 8 bytes by that own word, where it leads until it is known what it shall lead to.
 *
 * An event sled jumps to its stub, in the middle of a function, which goes on after the sled with everything as it was:
 *
 *		lea	-128(%rsp),%rsp		the red zone			stack at the trampoline:	 0
 *														return
 *														into
 *														the
 *														stub
 *		push	resume(%rip)		after the sled						 8 size
 *		push	data; push size		typed: type, data, size					16 data
 *		call	*gate(%rip)									24 type, if
 *													typed; then
 *													resume
 *		lea	152(%rsp),%rsp		typed: 160						then the red
 *													zone
 *		jmp	resume
 *
 * The arguments are pushed from the registers that the sled names. `resume` lies after the stub's code; the trampoline
 * names it to unwinders.
 *
 * So code pages are written once, before any thread can reach them, and become read+execute (from a file in memory if
 * the system refuses that otherwise: pages.h); a cell is filled later by plain stores, before its stub's address is
 * published (release: by the code that publishes that address). No page is ever writable and executable.
 *
 * A thread that executes a stub is, seen from the program, inside the object: it has not left the call instruction or
 * the sled, and goes on in the object. So a stub may be freed when the object's text is gone (runtime keeps this
 * promise).
 */
#ifndef XAUDIT_STUB_H
#define XAUDIT_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_SIZE 32 /* of a cell stub: 24 bytes of code; two to a cache line */

#define STUB_REST 6 /* its `rest` is behind the jump through the target */

/* An entry stub: where its copy is, and its `rest`. */
#define STUB_ENTRY_SIZE 64
#define STUB_ENTRY_COPY 10
#define STUB_ENTRY_REST 46
#define STUB_ENTRY_ROOM (STUB_ENTRY_REST - STUB_ENTRY_COPY) /* bytes for a copy */

#define STUB_FIXED 1024 /* stubs of the module itself */

#define STUB_RED_ZONE 128

/* What the stub of an event sled does. */
struct stub_event {
	uint64_t resume;   /* address after the sled */
	uint8_t arguments; /* 2: custom; 3: typed */
	uint8_t source[3]; /* general registers that hold them, by number; not rsp */
};

struct stub_cell {
	uint64_t word; /* TRACE_WORD(TRACE_ENTRY, id), upper half zero */
	uint64_t body; /* where the function goes on */
	uint64_t gate; /* address of a gate (tramp.h) */
	uint64_t target; /* of bindings: stub_rest() or body; of displaced entries: stub_entry_rest() or 0 */
};

/* Stubs and cells of one mapping. */
struct stub_pages {
	uint8_t *start; /* NULL: none */
	size_t size;	/* 0: stubs of the module itself, which stay */
	size_t code_size;	/* the first part, read+execute; then cells, read+write */
	uint32_t stubs, used;	/* of the cell kind, or entry stubs; stubs is 0 until they are written */
	uint32_t reserved;	/* how many there are to be */
	uint32_t events;	/* stubs of event sleds */
	int xray;		/* XRay stubs come first */
	int written;		/* 0: the place is reserved */
};

/*
 * Reserves addresses for the sled stubs of a load: a mapping that no thread can access, for XRay stubs (xray not 0),
 * stubs of `events` event sleds (then xray is not 0) and `functions` cell stubs. text_low..text_high: what must be
 * within reach. Tries `wanted` first (an address, page aligned), then anywhere within ±2 GiB. So what is written into
 * the text later depends on the file alone, in every process. Returns 0, or -ENOMEM: there is no room. Caller holds
 * ld.so's lock; no thread can run the object.
 */
int stub_reserve(struct stub_pages *pages, uint64_t wanted, uint64_t text_low, uint64_t text_high, int xray,
	uint32_t events, uint32_t functions);

/*
 * Writes the stubs into a reserved place; any thread, lock held. xray_base: the first function id. event(arg, n, to)
 * tells about event sled n < events; NULL where there are none. Returns 0, -ENOMEM, or -EACCES (no permission to
 * execute): it is reserved as before.
 */
int stub_write(struct stub_pages *pages, uint32_t xray_base,
	void (*event)(const void *arg, uint32_t n, struct stub_event *to), const void *arg);

/* Size of the mapping. */
size_t stub_size(int xray, uint32_t events, uint32_t functions);

/*
 * Maps a block of `count` cell stubs anywhere, each on (its target is its rest). Returns 0, -ENOMEM or -EACCES, as
 * stub_write().
 */
int stub_map_block(struct stub_pages *pages, uint32_t count);

/*
 * stub_map_block() with stubs of the module itself, which are never taken twice: no system call. Returns 0, or -ENOMEM
 * when fewer are left. Process lock held.
 */
int stub_take_block(struct stub_pages *pages, uint32_t count);

/*
 * Maps a block of `count` entry stubs and `room` bytes for long copies behind them, at `wanted` (page aligned), or,
 * where that is taken, anywhere within reach of text_low..text_high. Returns where the long copies go, which the caller
 * writes, with those within the stubs and with the cells; or NULL: no room. Process lock held, until
 * stub_finish_copies().
 */
uint8_t *stub_map_copies(struct stub_pages *pages, uint64_t wanted, uint64_t text_low, uint64_t text_high,
	uint32_t count, size_t room);

/*
 * Maps room for `count` entry stubs at `at` (page aligned), without cells; where that is taken, nowhere. Each is for
 * stub_write_entry(), with a cell of another block, and then comes stub_finish_copies(). Returns 1, or 0. Process lock
 * held.
 */
int stub_map_near(struct stub_pages *pages, uint64_t at, uint64_t text_low, uint64_t text_high, uint32_t count);
void stub_write_entry(const struct stub_pages *pages, uint32_t n, const struct stub_cell *cell);

/* Bytes of such a mapping. */
size_t stub_near_size(uint32_t count);

/* Makes stubs and copies executable. Returns 0, or -EACCES: then they are unmapped. */
int stub_finish_copies(struct stub_pages *pages);

/* Does the address lie in a stub of the module itself? Any context. */
bool stub_is_fixed(uint64_t address);

/* Address of the XRay stub for a type of sled: 0 entry, 1 exit, 2 tail. */
uint64_t stub_xray(const struct stub_pages *pages, int sled);

/* Address of the stub of event sled n. */
uint64_t stub_event(const struct stub_pages *pages, uint32_t n);

/* Addresses of cell stub n: where bindings come in, and its rest; and its cell. */
uint64_t stub_address(const struct stub_pages *pages, uint32_t n);
uint64_t stub_rest(const struct stub_pages *pages, uint32_t n);
struct stub_cell *stub_cell(const struct stub_pages *pages, uint32_t n);

/* Address of entry stub n, where its site jumps to; and of its `rest`. */
uint64_t stub_entry(const struct stub_pages *pages, uint32_t n);
static inline uint64_t stub_entry_rest(uint64_t stub)
{
	return stub + STUB_ENTRY_REST;
}

/* Is a displaced entry with this cell on? */
static inline bool stub_entry_is_on(uint64_t body, uint64_t target)
{
	return body && target;
}

/* The rest of the cell stub at this address. */
static inline uint64_t stub_rest_of(uint64_t stub)
{
	return stub + STUB_REST;
}

/* The cell of stub n, of pages that begin at `start`, maybe another process's. */
static inline uint64_t stub_cell_at(uint64_t start, size_t code_size, uint64_t n)
{
	return start + code_size + n * sizeof(struct stub_cell);
}

/* That of the stub at address `stub`, in a block of binding stubs: these begin where the block does. */
static inline uint64_t stub_cell_of(uint64_t start, size_t code_size, uint64_t stub)
{
	return stub_cell_at(start, code_size, (stub - start) / STUB_SIZE);
}

/*
 * Maps `count` words within reach of low..high, which an object's code shall read in place of its own, each with a jump
 * by one of those: stub_write_word() says by which, and has our word lead to the jump. Then comes stub_finish_copies().
 * Returns 0 or -ENOMEM.
 */
int stub_map_words(struct stub_pages *pages, uint64_t low, uint64_t high, uint32_t count);
void stub_write_word(const struct stub_pages *pages, uint32_t n, uint64_t own);

/* Address of our word n. */
uint64_t stub_word(const struct stub_pages *pages, uint32_t n);

/* Gives the mapping back. No thread may be able to reach a stub any more (see above). */
void stub_unmap(struct stub_pages *pages);

#endif
