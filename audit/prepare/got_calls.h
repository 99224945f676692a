/* SPDX-License-Identifier: MIT */
/*
 * Calls without a PLT: objects that were built with -fno-plt, as Rust's are, call other objects' functions by
 *
 *		call *word(%rip)	or	jmp *word(%rip)
 *
 * where ld.so fills the word, which it asks no auditor about. Code may take a function's address out of that word, too,
 * so the word keeps it, and pointers stay equal. What is changed are these instructions, which the object's index lists
 * (format/index.h): each reads a word of ours, near the object, which has the address of the stub that bind() gives, or
 * of the function. Calls are switched by the stub's cell, as bindings are.
 *
 *	la_objopen	got_calls_open(): our words lead to a jump that reads the object's own word, so that the object
 *			runs right whatever comes. The type of the words' relocations becomes JUMP_SLOT in memory, which
 *			has ld.so store the same address, and tell la_symbind64.
 *			got_calls_write(): the instructions are changed
 *	relocation	la_symbind64 > got_calls_take(): our word gets the address to bind; ld.so's keeps its own
 *	retired		the pages are freed with the load's stubs (audit/live/retired.h)
 *
 * An object is looked through if it has more such words than PLT slots, or if its index is looked for anyway. Others
 * have a few such words, for functions whose address they take: if they call these, too, the linker makes a stub of its
 * PLT that jumps by the word (.plt.got), and that is found without an index. Words are left alone if
 * audit/bind/no_plt.h or audit/live/dlclose.h needs them, or if the program has its own PLT stub stand for the
 * function; so is that of __cxa_finalize(), which each object calls once. ld.so tells of words from glibc 2.35 on;
 * before that, they are as they were. It tells other auditors of them, too.
 */
#ifndef XAUDIT_AUDIT_PREPARE_GOT_CALLS_H
#define XAUDIT_AUDIT_PREPARE_GOT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/model/object.h"
#include "audit/prepare/image.h"

/*
 * In la_objopen, before no_plt_open(); ld.so's lock, without the process lock, which it takes. wanted: the rules may
 * select what the object calls.
 */
void got_calls_open(struct load *load, const struct image *image, bool wanted);

/* After prepare(), which compares what is in memory with the index. The same locks. */
void got_calls_write(struct load *load);

/*
 * In la_symbind64 of the load: is ld.so asking for the word of this function, which it has just filled with the value?
 * Then *number is the word's, and got_calls_set() gets the address to bind; *hash is object_hash() of the name. Under
 * ld.so's lock if it is; any thread else.
 */
bool got_calls_take(struct load *load, const char *name, uint64_t value, unsigned flags, uint32_t *number,
	uint32_t *hash);

/* From here on, the word's calls go to the address. */
void got_calls_set(const struct load *load, uint32_t number, uint64_t address);

#endif
