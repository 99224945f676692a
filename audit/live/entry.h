/* SPDX-License-Identifier: MIT */
/*
 * Functions of kind entry: nothing in the file was prepared for them. An index (format/index.h) tells what their first
 * instructions are and how these run elsewhere; a jump stands in their place.
 *
 * Which functions. An index may have a hundred thousand, so those alone become functions and sites of the object's set
 * that somebody wants: rules at load, requests while the process runs. They are the set's last range, which grows, once
 * or often: entry_add(). Numbers of functions and sites stay; arrays move, and what they held stays readable at the old
 * place; counts grow after what they count is there. What shall hold then is noted first, by one store, and then done
 * by entry_settle(), which a child that is forked in the middle does once more. So it finds the range as it was, or
 * longer by functions that nobody has switched on. The index stays mapped as long as the object, since names and
 * templates lie there.
 *
 * A load has a block of stubs and copies (x86_64/stub.h), or several (entry_copy.h), for each time that the range had
 * grown when functions were wanted there: entry_stubs(). A cell's body is the copy; 0: the function can't be used in
 * this load, nothing jumps to its stub, and `target` is the reason.
 *
 * What is on is told by the text and the cell alone:
 *	the file's bytes			off; nothing of it is private memory
 *	the jump, cell.target = 0		off, ready: from inside it is switched by one store (entry_turn())
 *	the jump, cell.target = the rest	on
 * The jump is written at load, when nothing runs there, or by `xaudit ctl`, which stops all threads; never from inside,
 * since threads may stand between the instructions that it covers. `xaudit ctl` takes it away again, but where there is
 * a call of ours behind it (entry_stays()).
 *
 * All functions: process lock held, unless they say otherwise. Threads of the program and stopped ones come here:
 * general registers only, no libc (compiled as runtime/ is).
 */
#ifndef XAUDIT_AUDIT_LIVE_ENTRY_H
#define XAUDIT_AUDIT_LIVE_ENTRY_H

#include <stdbool.h>

#include "audit/model/object.h"

/* What is wanted of the functions of object.index: a bit for each, by number. One with none of them stays out. */
struct entry_wish {
	uint64_t *selected; /* by the rules, or to be added for other reasons */
	uint64_t *on;
	uint64_t *ready;
	uint64_t *below;    /* the rules' filter names it; says nothing about wanting */
	uint64_t *all;	    /* of kinds fentry and mcount: their functions, which are added in any case; else NULL */
	size_t words;	    /* of each */
	unsigned kind;	    /* enum trace_kind */
};

/*
 * Gives an index to an object that has none, and has not been scanned by halves: none of its functions is in the set.
 * Returns 1, or 0 when it can't take it.
 */
int entry_take(struct object *object, const struct index *index);

/* Bits of 0, but for `all`, in the arena. Returns 0 or -ENOMEM. */
int entry_wish_begin(struct entry_wish *wish, const struct object *object, unsigned kind, struct arena *arena);

/*
 * Sets the bits of functions of which the pattern means one of the names, or clears them (value 0); only: where not
 * NULL, only those that have a bit there. Damage of the index cuts it short (index_damaged()).
 */
void entry_wish_mark(const struct object *object, const struct rules_pattern *pattern, int value, uint64_t *bits,
	const uint64_t *only);

/*
 * Ends what a thread that added functions had begun when this process was forked. To be called before the set's range
 * or its lists are looked at: for a request, and when the object is loaded.
 */
void entry_settle(struct object *object);

/*
 * Adds those functions to the object's set that are wanted and can be used, unless they are in it. counts, an element
 * for each reason: adds up those that are wanted, under TRACED (on), DISABLED (selected), NOT_SELECTED, or why they
 * can't be used. Functions that have sites of another kind stay with these and are not counted. Returns the number of
 * functions added, or -ENOMEM: then none was, and nothing was counted. No load of the object may be in la_objopen on
 * another thread.
 */
int64_t entry_add(struct object *object, const struct entry_wish *wish, uint32_t counts[TRACE_REASON_COUNT]);

/*
 * Makes stubs and copies, and takes ids, for the functions of kind entry of this load that have none. Returns TRACED,
 * or NO_ROOM, PROTECTION or IDS_USED_UP: then none got any.
 */
enum trace_reason entry_stubs(struct load *load);

/* Does a site of the object's set need one of these bytes (link-time addresses)? */
bool entry_is_covered(const struct object *object, uint64_t from, uint64_t end);

/*
 * Are the bytes of the function's first instructions in memory those that the index has, and in one segment? Then its
 * jump may be written.
 */
bool entry_is_as_expected(const struct load *load, const struct index_function *function);

/* Frees a load's stubs and copies: its text is gone (x86_64/stub.h). */
void entry_free(struct load *load);

/* Is it of kind entry itself? */
static inline bool entry_is(const struct object *object, uint32_t function)
{
	return object->sites.function[function].kind == TRACE_KIND_ENTRY;
}

/* The number in the index of one of kind entry itself. */
size_t entry_number(const struct object *object, uint32_t function);

/* What is known of it besides, and of those of the other kinds that an index tells of. */
static inline struct entry_function *entry_of(const struct object *object, uint32_t function)
{
	return &object->entries[function - object->sites.of[TRACE_KIND_ENTRY].function];
}

#endif
