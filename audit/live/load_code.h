/* SPDX-License-Identifier: MIT */
/*
 * The text of a load: what its sites are now, what they can become, and which of its pages are private because of that.
 *
 * A site's state is read from its bytes, always. Of a load that is open (object.h), process lock held, but for
 * load_code_look() and what else only reads: in la_objopen ld.so's lock does for these. Compiled as runtime/ is: a
 * stopped thread comes here (runtime/control.h), general registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_LOAD_CODE_H
#define XAUDIT_AUDIT_LIVE_LOAD_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "audit/object.h"

/* Protection (PROT_*) and end of the executable segment that holds a link-time address; 0: none does. */
int load_code_segment(const struct load *load, uint64_t address, uint64_t *end);

/* Keeps the place of the load's stubs, below it. Returns TRACED, or NO_ROOM. */
enum trace_reason load_code_reserve(struct load *load);

/*
 * Has the stubs of the load written and the ids of the object's functions taken, if they are not. Returns TRACED, or
 * NO_ROOM, PROTECTION or IDS_USED_UP.
 */
enum trace_reason load_code_stubs(struct load *load);

/* The patched bytes of sites.site[n], as sled_patched(); the stubs it needs must be there. 0: out of reach. */
size_t load_code_patched(const struct load *load, uint32_t n, uint8_t out[16], int *from);

/* What is kept of the site's own bytes; NULL: nothing, they are the same in all sites of its type. */
uint8_t *load_code_original(const struct object *object, uint32_t n);

/* sled_look() at it. */
unsigned load_code_look(const struct load *load, uint32_t n);

/* Are all sites of the function on? */
int load_code_is_on(const struct load *load, uint32_t function);

/*
 * The usable function with sleds that tell of calls which begins at this link-time address; -1: none. Reads the
 * object's tables alone.
 */
int64_t load_code_function_at(const struct object *object, uint64_t address);

/* Fills in the cell of a function, where its kind has cells; before its site is switched on. */
void load_code_fill_cell(struct load *load, uint32_t function);

/*
 * Notes that these bytes of text were written to, or will be. Without memory for that, the pages are never given back.
 */
void load_code_touch(struct load *load, uint64_t address, size_t size);

/* Counts the pages of the load's text, and tells the trace when they are others than before. */
void load_code_count_pages(struct load *load);

/*
 * Gives back (MADV_DONTNEED) the touched pages whose bytes are the file's again: the kernel maps the file's own then,
 * in its place and while threads execute them. Only where that very page still is mapped from the file that has the
 * object's name, and from its place there: a program may have moved its text to memory without a file, where this would
 * give zeros. Never of an object with text relocations. Returns how many.
 */
size_t load_code_give_back(struct load *load);

/*
 * Is the file behind fd the one that is mapped at address? Asked of the kernel about a mapping of each: so it works
 * where stat tells other numbers.
 */
int load_code_is_mapped_file(int fd, uint64_t address);

/*
 * `merge = yes`: lets the kernel find pages that other processes patched in the same way. Says once where it does not
 * look for them.
 */
void load_code_merge(const struct load *load);

#endif
