/* SPDX-License-Identifier: MIT */
/*
 * Packing a trace folder, which no process may change meanwhile.
 *
 * Threads: each takes the next block, reads and packs it, waits until all before it are written, and writes it. Under
 * pack_work.lock are which block is next, and the file; one condition tells that a block was written. There is no order
 * in which it could stop: who has the oldest block waits for nobody.
 *
 * Errors are values; nothing here prints. Links, and files that are none, are left out; so is DIR/index, of which only
 * a process that runs has use.
 */
#ifndef XAUDIT_TOOL_PACK_WRITE_H
#define XAUDIT_TOOL_PACK_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack_source;

#define PACK_JOBS_MOST 256

struct pack_write {
	int folder, to; /* the trace, and the file, which is empty */
	bool stream;	/* `to` may be a pipe: it is written from where it is on, without seeking */
	unsigned jobs;	/* threads, from 1 to PACK_JOBS_MOST */
	int level;	/* of zstd */
	bool ours;	/* DIR/record is locked by the caller itself */
	/* Told after each block, by one thread at a time: bytes that were packed, and of all. NULL: nothing */
	void (*progress)(uint64_t done, uint64_t all);
	/* results */
	uint64_t files, data, packed; /* data: bytes of the files that are in no hole; packed: bytes of the file */
	int error;    /* an errno, or 0 */
	char *at;     /* which file it is about; NULL: the packed one */
	bool changed; /* the error is that a file is not what it was a moment ago, or is being written */
	/* for sources.c and write.c */
	struct pack_source *source;
	size_t sources, left_out;
	uint32_t block; /* bytes of content of a block */
};

/* Returns 0, or -1 and the error. Then what is in the file is of no use. pack_write_free() in both cases. */
int pack_write(struct pack_write *write);
void pack_write_free(struct pack_write *write);

/* Notes an error. Returns -1. name: NULL: it is about the packed file. */
int pack_failed(struct pack_write *write, int error, const char *name);

#endif
