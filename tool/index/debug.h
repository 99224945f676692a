/* SPDX-License-Identifier: MIT */
/*
 * The debug file of a file, by build-id below /usr/lib/debug, or by debuglink, as libdwfl finds it; but the file tells
 * where it is, and may be somebody else's. So nothing is opened but regular files. The file's build-id, or, if it has
 * none, the link's checksum, must be that of the debug file. An index that follows its names has jumps written at the
 * addresses that it gives. So it is believed only if it is this user's or root's (own_file.h), and it is looked for
 * beside the file's real path alone.
 */
#ifndef XAUDIT_TOOL_INDEX_DEBUG_H
#define XAUDIT_TOOL_INDEX_DEBUG_H

#include <elfutils/libdwfl.h>

/*
 * dwfl_begin(); and from here on libdwfl asks no server for debug files, for which it would wait. What this process
 * executes afterwards asks none either.
 */
Dwfl *debug_begin(const Dwfl_Callbacks *callbacks);

/*
 * A file, with its debug file if it has one, at the addresses that it was linked for, plus the bias that libdwfl tells.
 * It is found and checked as above; fd stays the caller's. Returns NULL if it can't be. dwfl_end() ends it.
 */
Dwfl *debug_open(int fd, const char *path, Dwfl_Module **module);

/* As find_debuginfo of Dwfl_Callbacks. */
int debug_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file, const char *link,
	GElf_Word crc, char **found);

#endif
