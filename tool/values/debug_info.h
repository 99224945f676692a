/* SPDX-License-Identifier: MIT */
/*
 * What debug information says of the functions of a file: DWARF of the file or of its debug file, as libdwfl has found
 * it. Of parameters it has names, types, and where each is when the function begins: that is asked first, and where it
 * does not tell, the ABI does; but of a function that a compiler has changed (`name.isra.0`, or one that is not
 * exported), a parameter whose place is not told is gone.
 *
 * Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_VALUES_DEBUG_INFO_H
#define XAUDIT_TOOL_VALUES_DEBUG_INFO_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct contexts_list;
struct contexts_wish;
struct debug_info;
struct values_path;
struct values_word;
struct values_wrong;

/* module: NULL: nothing is known. Parts are read when they are asked for. */
struct debug_info *debug_info_new(Dwfl_Module *module);
void debug_info_free(struct debug_info *info);

/* All that is known, for who reads lines; NULL: nothing. *delta: from its addresses to those of the file. */
Dwarf *debug_info_dwarf(struct debug_info *info, uint64_t *delta);

/*
 * Fills an empty list, as contexts_of() does; its strings belong to the debug information. address: of the function, as
 * its file was linked; name: its symbol, or NULL. Returns false: it is not known.
 */
bool debug_info_contexts(struct debug_info *info, uint64_t address, const char *name, const struct contexts_wish *wish,
	struct contexts_list *list);

/* As values_follow() of expression.h; its context is a struct debug_info. */
bool debug_info_follow(void *context, const struct values_word *word, const char *text, size_t length,
	struct values_path *path, struct values_wrong *wrong);

#endif
