/* SPDX-License-Identifier: MIT */
/*
 * Return labels of their own, one for each return address: for profilers that walk a program's stack from outside.
 *
 * They find our return label (tramp.h) where the address of the caller should be, and can't look into the mirror: the
 * kernel by way of frame pointers sees one function less, and perf, which unwinds from a copy of the stack later, loses
 * all callers. So, where the rules ask for it, the slot of an open call holds a label that belongs to the return
 * address, in a file that is mapped where the label lies: a profiler notes the mapping, and reads from the file what
 * the label stands for.
 *
 * The file is `labels` in the family's folder (format/labels.h): a table of return addresses A, and for each, at one
 * distance,
 *
 *		call *-24(%rsp)	to the body, so that the processor's prediction of returns stays right
 *	label:	jmp	tramp_labels_back	which goes on in the trampoline of the clock that is used
 *
 * found by hashing A: at most LABELS_PROBES entries from there on are looked at. An entry is taken by one compare and
 * exchange of its address, and never given back: its meaning never changes, so readers need no order, and whoever finds
 * A there may use the label. Nothing else is ever written. All that share the mapping (threads, forked children,
 * vfork's) share the entries: an entry knows an address, not what lies there. Where no entry is to be had a call gets
 * the label of tramp.h, and is counted.
 *
 * The file is mapped twice, both times over .bss of this module: to be read and executed, privately; and, shared,
 * head and addresses alone, to be written. A forked child that gave up rights may make its shared mapping longer
 * (mremap), and so write all of the file. So the code that is executed is no page of the file: each process's pages
 * of it were written to when they were mapped, which made them its own, or its parent's at the fork; the code in the
 * file is for perf alone. The addresses are the file's, and never believed: one that is wrong there has profilers
 * show a wrong caller, for where a label lies follows from the entry's number, which is checked, and the call itself
 * returns by the mirror.
 * Unwinders of the program and gdb find the module's unwind information for tramp_labels[], and go by the mirror as
 * ever. perf takes the first address where a file is mapped for the place of its ELF image, so the mapping that is
 * executed comes first, goes on over the sections behind the table, and nothing of the file is mapped below.
 *
 * Trampolines of a set of their own (tramp_intercept.S), which is used from then on, look an entry up in the first
 * mapping; what they don't find there labels_make() adds through the other.
 */
#ifndef XAUDIT_X86_64_LABELS_H
#define XAUDIT_X86_64_LABELS_H

#include "format/labels.h"

#define LABELS_PROBES 8

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#include "x86_64/tramp.h" /* tramp_return_tsc */

/* Where the addresses are, and their labels. */
extern struct labels_entry tramp_labels[LABELS_ENTRIES];
extern uint8_t tramp_labels_code[LABELS_TABLE];

/* Where each label goes on. */
void tramp_labels_back(void);

/* Is the word a label that was given to some call, or may be? */
static inline bool labels_has(uint64_t word)
{
	return word - (uint64_t)(uintptr_t)tramp_labels_code < LABELS_TABLE;
}

/* Is the word a return label of ours, of any kind? */
static inline bool labels_is_any(uint64_t word)
{
	return word == (uint64_t)(uintptr_t)tramp_return_tsc || word == (uint64_t)(uintptr_t)tramp_return_mono ||
	       word == (uint64_t)(uintptr_t)tramp_return_coarse || labels_has(word);
}

/* The place of the mappings takes no memory before, of programs either that lock all they have. Once, at start. */
void labels_keep_place(void);

/*
 * Fills an empty file and maps it; descriptor and name may go then. Returns 0 or -errno: then all is as before. No
 * other thread does the same.
 */
long labels_map(int fd);

/*
 * Takes the shared mapping out of the process's memory; what was executed stays. Where labels_map() comes again, calls
 * that are open keep their labels, and these their meaning. Process lock held; no other thread has open calls.
 */
void labels_leave(void);

/* Has labels_map() been done, here or in a process that this one was forked from, and not labels_leave() since? */
bool labels_are_mapped(void);

/* The entry of a return address, made if need be; NULL: there is none, and can't be. */
struct labels_entry *labels_make(uint64_t address);

/* The label of a return address, 0: it has none. */
uint64_t labels_find(uint64_t address);

#endif
#endif
