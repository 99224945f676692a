/* SPDX-License-Identifier: MIT */
/*
 * The text of a load: what its sites are now, what they can become, and which of its pages are private because of that.
 *
 * A site's state is always read from its bytes (and, of displaced entries, the cell that its jump leads to). For loads
 * that are open (object.h), with the process lock held; for load_code_look() and other functions that only read,
 * ld.so's lock is enough in la_objopen. A stopped thread comes here (runtime/control.h): general registers only, no
 * libc (compiled as runtime/ is).
 */
#ifndef XAUDIT_AUDIT_LIVE_LOAD_CODE_H
#define XAUDIT_AUDIT_LIVE_LOAD_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/model/object.h"

/* Protection (PROT_*) and end of the executable segment that holds a link-time address; 0: none does. */
int load_code_segment(const struct load *load, uint64_t address, uint64_t *end);

/* Reserves addresses for the load's stubs, below the load. Returns TRACED, or NO_ROOM. */
enum trace_reason load_code_reserve(struct load *load);

/* Where the load's next block of displaced entries goes, if that is free: behind its stubs. */
uint64_t load_code_place(const struct load *load);

/*
 * Writes the stubs of the load and takes the ids of the object's functions, unless that was done before. Returns
 * TRACED, or NO_ROOM, PROTECTION or IDS_USED_UP.
 */
enum trace_reason load_code_stubs(struct load *load);

/* The patched bytes of sites.site[n], as sled_patched(); the stubs it needs must be there. 0: out of reach. */
size_t load_code_patched(const struct load *load, uint32_t n, uint8_t out[16], int *from);

/* The kept copy of the site's original bytes; NULL: none, since they are equal in all sites of its type. */
uint8_t *load_code_original(const struct object *object, uint32_t n);

/* sled_look() at site n of the load. */
unsigned load_code_look(const struct load *load, uint32_t n);

/* Are all sites of the function on? */
bool load_code_is_on(const struct load *load, uint32_t function);

/* Does the jump of a displaced entry stand at the function's beginning, on or off? */
bool load_code_is_displaced(const struct load *load, uint32_t function);

/*
 * The usable function that begins at this link-time address and whose sleds record calls; -1: none. Reads only the
 * object's tables.
 */
int64_t load_code_function_at(const struct object *object, uint64_t address);

/* The cell of a function; NULL: its kind has none, or the load. */
struct stub_cell *load_code_cell(const struct load *load, uint32_t function);

/* Fills in the cell of a function, where its kind has cells; before its site is switched on. */
void load_code_fill_cell(struct load *load, uint32_t function);

/*
 * Notes that these bytes of text were written to, or will be. Where there is no memory for the note, the pages are
 * never given back.
 */
void load_code_touch(struct load *load, uint64_t address, size_t size);

/* Counts the pages of the load's text, and writes the counts into the trace when they have changed. */
void load_code_count_pages(struct load *load);

/*
 * Gives back (MADV_DONTNEED) the touched pages whose bytes are the file's again: the kernel then maps the file's pages
 * instead, even while threads execute them. Only where a page is still mapped from the file with the object's name, at
 * its own offset: a program may have moved its text to memory without a file, where MADV_DONTNEED would give zeros.
 * Never for an object with text relocations. stopped: no other thread runs. Returns the number of pages.
 */
size_t load_code_give_back(struct load *load, bool stopped);

/*
 * Is the file of this descriptor the one that is mapped at address? Compares what the kernel tells of a mapping of
 * each, so it also works where stat gives other numbers. Takes the process lock.
 */
bool load_code_is_mapped_file(int fd, uint64_t address);

/*
 * Is the object's file still what is mapped at the address? For objects without a build-id, which would tell. Takes the
 * process lock.
 */
bool load_code_is_as_file(const struct object *object, uint64_t address);

/*
 * `merge = yes`: lets the kernel find pages that other processes patched in the same way. Says once where it does not
 * look for them.
 */
void load_code_merge(const struct load *load);

#endif
