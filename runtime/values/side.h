/* SPDX-License-Identifier: MIT */
/*
 * What a stack knows of its calls with values: how many there were of some functions; and what the end of a call needs
 * from its entry: when the call began, where its entry was written, and values that were
 * kept. A list for each stack (x86_64/mirror.h), of the calls there that need it, the innermost last. An entry belongs
 * to the call whose slot it has; entries of calls that were left lie below later slots, and are dropped then.
 *
 * The thread that runs on the stack owns its list, and handlers on it: they drop what is deeper than they are, and
 * leave the rest. Where another thread parts a stack from its own, entries of the calls there are lost. Memory comes
 * with the first entry; where there is none, ends know nothing of their entries. A forked child goes on with its copy.
 *
 * On the thread itself, async-signal-safe, no lock, no libc. Lists are never freed, and others may read their memory
 * (running.h): so who looks from outside finds all lists from side_first() on, each with the stack that it is of.
 */
#ifndef XAUDIT_RUNTIME_VALUES_SIDE_H
#define XAUDIT_RUNTIME_VALUES_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/values.h"
#include "runtime/record/recorder_words.h"
#include "runtime/values/sample.h"
#include "x86_64/mirror.h"

struct values_function;

struct side_entry {
	uint64_t slot;
	uint64_t clock; /* whole, when it began */
	struct recorder_place place;
	const struct values_function *function; /* by which values were kept */
	struct sample_call sample;
	uint32_t lost; /* as struct values_call */
	uint32_t due;  /* bits: which actions at the end are due by what is known at the entry, in their order */
	uint32_t running;    /* bits 1 << number of ask.h: which snapshots are due if it does not end. Relaxed */
	uint32_t generation; /* where there are such: of the process in which it began (runtime/base/identity.h) */
	uint64_t kept[VALUES_KEPT];
};

/* Functions whose calls a stack can count, most. */
#define SIDE_COUNTS 2048

struct side_head {
	uint32_t stack; /* number of the stack that it is of: another one in the same memory begins anew */
	uint32_t used;
	struct stack *owner; /* that stack; relaxed */
	struct side *next;   /* of all lists */
};

struct side {
	struct side_head head;
	uint32_t count[SIDE_COUNTS];
	struct side_entry entry[];
};

#define SIDE_BYTES (1ul << 20) /* of a list: address space, of which pages are used as the list grows */
#define SIDE_MOST  ((uint32_t)((SIDE_BYTES - sizeof(struct side)) / sizeof(struct side_entry)))

/* Where the first list is found, which leads to the others; NULL there: none was needed yet. */
struct side *const *side_first(void);

/* Counts a call of the function with this number on the stack: how many came before it. UINT32_MAX: it is not known. */
uint32_t side_count(struct stack *stack, uint32_t number);

/* Adds an entry for the call that just began at entry->slot. Without memory it does nothing. */
void side_push(struct stack *stack, const struct side_entry *entry);

/* Takes the entry of the call that ends at the slot. Returns false: there is none. */
bool side_pop(struct stack *stack, uint64_t slot, struct side_entry *entry);

/* The same, but it stays: before the call ends, also when calls further in are open. */
bool side_peek(struct stack *stack, uint64_t slot, struct side_entry *entry);

/*
 * One stack was parted into these two, which the calling thread runs on: each has the entries of its own calls from now
 * on. Signals blocked.
 */
void side_share(struct stack *a, struct stack *b);

#endif
