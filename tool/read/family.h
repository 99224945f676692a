/* SPDX-License-Identifier: MIT */
/*
 * A folder DIR/p<pid>[.<n>] of a trace: a family of processes that share one file. The file's directory (PLACES in
 * format/trace.h) tells which process each place belongs to. It is read once, and later only what was added to it, or
 * all of it when places were given back. A word of the directory with an impossible value is damage, and its place is
 * left out. The place of a head occurs twice among the places where it has a chunk or counters, too, which are in its
 * upper half.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_READ_FAMILY_H
#define XAUDIT_TOOL_READ_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/places.h"
#include "format/trace.h"
#include "tool/read/damage/error.h"
#include "tool/read/trace_file.h"

struct read_folder;
struct read_process;

/* A place, or a file t<n>[.<p>]. */
struct read_family_place {
	uint32_t process; /* place of its process's head */
	uint32_t number;  /* of the thread record; of a head, the pid */
	uint32_t place;	  /* 0 for a file */
	uint8_t what;	  /* enum trace_place; 0: a file */
};

#define READ_FAMILY_FILE 0

/* Where the chunk, or the counters, of a place begin. */
static inline uint64_t read_family_half(const struct read_family_place *place, uint64_t place_size)
{
	bool upper = place->what == TRACE_PLACE_CHUNK || place->place == place->process;

	return place->place * place_size + (upper ? place_size / 2 : 0);
}

/* Sorted by process, what, number, place. */
struct read_family_list {
	struct read_family_place *place;
	uint32_t count, room;
};

struct read_family {
	struct read_files *at;	    /* the trace folder's, or the folder's own */
	struct read_damage *damage; /* the trace folder's */
	struct read_folder *folder; /* for the code that opened it */
	char *name, *path;     /* p<pid>[.<n>], DIR/name */
	const char *under;     /* where its files lie in `at`: name, or "." if `at` has the folder itself */
	struct read_file *meta;
	struct trace_head head; /* of place 0, as it was when the folder was opened */
	uint64_t place_size;   /* 0: the head was not begun, or is wrong */
	struct trace_directory directory;
	struct read_family_list places, files;
	uint32_t end;	       /* words of the directory before this index were read ... */
	uint32_t first_zero;   /* ... and those before this one are all in use, and not given back */
	uint64_t given;	       /* how often a place had been given back, before they were read */
	uint32_t beside;       /* and how many chunks and runs of counters had been begun beside heads; */
	bool beside_begins;    /* one was being begun anew, so whose it is could not be told */
	bool files_listed;
	struct read_process **process; /* by place, the processes that were opened (tool/read/process.h) */
	uint32_t processes;
	/* what forked processes share (tool/read/inherited.h); the most recently used is last */
	struct read_process **base;
	uint32_t bases;
};

/*
 * Opens the folder dir/name and reads the directory. itself: `at` has that folder, not the trace folder. NULL: nothing
 * can be read; damage, if that is the reason, is noted. Processes are opened one by one: read_process_at().
 */
struct read_family *read_family_open(
	struct read_files *at, struct read_damage *damage, const char *dir, const char *name, bool itself);

/* Frees the family. Its files must be closed before, but for `meta`. */
void read_family_close(struct read_family *family);

/* Reads what was added to the directory. A process that ended needs no second look. */
void read_family_look(struct read_family *family);

/* As read_file_open(), for one of its files. If memory runs out that is remembered as damage, and *why is not set. */
struct read_file *read_family_open_file(
	const struct read_family *family, const char *name, struct stat *st, const char **why);

/* Lists the folder's files again. Returns false, and errno, if it can't be read. */
bool read_family_list_files(struct read_family *family);

/* Does the place's word say so at this moment? The chunk beside a head stays the same thread's for ever. */
bool read_family_has(const struct read_family *family, uint32_t place, uint8_t what, uint32_t process, uint32_t number);

/* The places, or files, of that kind that a process has. NULL: it has none. */
const struct read_family_place *read_family_of_process(
	const struct read_family *family, uint32_t process, uint8_t what, uint32_t *count);

/* The places, or files, of that kind that one of its thread records has. NULL: it has none. */
const struct read_family_place *read_family_of_record(
	const struct read_family *family, uint32_t process, uint8_t what, uint32_t number, uint32_t *count);

/* Notes damage in one of its files; file NULL: in the folder. */
void read_family_damage(const struct read_family *family, const char *file, uint64_t offset, const char *what);

/* "t<n>" or "t<n>.<p>". */
#define READ_FAMILY_NAME_SIZE 32
void read_family_file_name(char name[READ_FAMILY_NAME_SIZE], char kind, uint32_t number, uint32_t process);

#endif
