/* SPDX-License-Identifier: MIT */
/*
 * A folder DIR/p<pid>[.<n>] of a trace: of version 2 a family of processes that share one file, of version 1 one
 * process. Whose each place of the file is, is read from its directory (PLACES in format/trace.h) once for all, and
 * only what was added when it is looked at again. A word of the directory that says what can't be is damage, and no
 * place.
 *
 * One thread.
 */
#ifndef XAUDIT_TOOL_READ_FAMILY_H
#define XAUDIT_TOOL_READ_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/error.h"
#include "tool/read/file.h"

struct read_folder;
struct read_process;

/* A place, or a file t<n>[.<p>]. */
struct read_family_place {
	uint32_t process; /* place of its process's head */
	uint32_t number;  /* of the thread record; of a head, the pid */
	uint32_t place;	  /* 0 of a file */
	uint8_t what;	  /* enum trace_place; 0: a file */
};

#define FAMILY_FILE 0

/* Sorted by process, what, number, place. */
struct read_family_list {
	struct read_family_place *place;
	uint32_t count, room;
};

struct read_family {
	struct read_files *at;	    /* the trace folder's */
	struct read_damage *damage; /* the same */
	struct read_folder *folder; /* for who opened it */
	char *name, *path;     /* p<pid>[.<n>], DIR/name */
	struct read_file *meta;
	struct trace_head head; /* as it was when it was opened; of place 0 */
	uint64_t place_size;   /* 0: version 1 */
	struct read_family_list places, files;
	uint32_t end;	       /* the words of the directory before it were read ... */
	uint32_t first_zero;   /* ... and those before this one are somebody's */
	bool files_listed;
	struct read_process **process; /* by place, those that were opened (tool/read/process.h) */
	uint32_t processes;
	/* what forked processes share (tool/read/base.h); the one that was used last at the end */
	struct read_process **base;
	uint32_t bases;
};

/*
 * Opens the folder dir/name and reads the directory. NULL: there is nothing that can be read, which is noted as damage
 * where it is some. Its processes are opened one by one: read_process_at().
 */
struct read_family *read_family_open(
	struct read_files *at, struct read_damage *damage, const char *dir, const char *name);

/* Frees it. What was opened of it must be closed before, but for `meta`. */
void read_family_close(struct read_family *family);

/* Reads what was added to the directory. A process that ended needs no second look. */
void read_family_look(struct read_family *family);

/* As read_file_open(), of one of its files. Want of memory is remembered, and is no *why. */
struct read_file *read_family_open_file(
	const struct read_family *family, const char *name, struct stat *st, const char **why);

/* Lists the folder's files again. Returns false, and errno, if it can't be read. */
bool read_family_list_files(struct read_family *family);

/* Places or files of that kind that a process has. NULL: none. */
const struct read_family_place *read_family_of_process(
	const struct read_family *family, uint32_t process, uint8_t what, uint32_t *count);

/* The same of one of its thread records. */
const struct read_family_place *read_family_of_record(
	const struct read_family *family, uint32_t process, uint8_t what, uint32_t number, uint32_t *count);

/* Notes damage in one of its files; file NULL: of the folder. */
void read_family_damage(const struct read_family *family, const char *file, uint64_t offset, const char *what);

/* "t<n>" or "t<n>.<p>". */
#define FAMILY_NAME_SIZE 32
void read_family_file_name(char name[FAMILY_NAME_SIZE], char kind, uint32_t number, uint32_t process);

#endif
