/* SPDX-License-Identifier: MIT */
/*
 * Packs a folder into a file that appears as a whole, for `xaudit pack` and other commands. One thread calls; messages
 * are one line on stderr each. If there is no memory, that is an error like others.
 */
#ifndef XAUDIT_TOOL_PACK_PACK_FOLDER_H
#define XAUDIT_TOOL_PACK_PACK_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct pack_order {
	const char *command; /* who speaks: "pack" */
	const char *folder, *file; /* paths, for messages; file NULL: to standard output, if `replace` is not set */
	int fd; /* of the folder */
	unsigned jobs; /* 0: as many as there are processors */
	int level; /* 0: the usual one */
	bool ours; /* DIR/record is locked by the caller itself */
	bool replace; /* a packed trace at `file` becomes file.old; else that is refused */
	bool no_values; /* without values of calls (bare.h) */
	bool check;   /* all of it is read again before it counts */
	uint64_t data, packed; /* results: bytes of the folder's files, of the file */
};

/*
 * Packs the folder: the file is complete, and on the disk, or not there. Returns 0, or -1 after one line on stderr:
 * then what was written to standard output is of no use.
 */
int pack_folder(struct pack_order *order);

#endif
