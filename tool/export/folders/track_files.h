/* SPDX-License-Identifier: MIT */
/*
 * Files of a format's folder that are written at once, one per track, however many there are: each is open for the
 * moment in which its buffer is written, and the tracks that were written last have buffers. What is written of a file
 * at once is a piece.
 *
 * One thread. When a file can't be written, export->failed is set after a line, and the rest is dropped.
 */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_TRACK_FILES_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_TRACK_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/export/format.h"

#define TRACK_FILES_PIECE (64u << 10) /* bytes at most */
#define TRACK_FILES_OPEN  256	      /* have a buffer */

/* Zeroed memory with a name is one. */
struct track_file {
	char *name;
	void *user; /* of who writes */
	/* tool/export/folders/track_files.c's: */
	uint8_t *buffer; /* NULL: it has none now */
	size_t used;
	bool made; /* the file is there */
	struct track_file *newer, *older;
};

struct track_files {
	struct export *export;
	/* Before a piece is written, which is not empty; it may change what is in it. NULL: nothing. */
	void (*before)(struct export *export, struct track_file *file);
	struct track_file *newest, *oldest;
	unsigned open;
};

/*
 * Room for `size` bytes, at most TRACK_FILES_PIECE, behind what was written to the file: they are taken as written. The
 * bytes do not lie in one piece with those before them if file->used is `size` then.
 */
uint8_t *track_files_room(struct track_files *files, struct track_file *file, size_t size);

/* The piece that is begun ends here. */
void track_files_flush(struct track_files *files, struct track_file *file);

/* Writes all that is left. */
void track_files_end(struct track_files *files);

#endif
