/* SPDX-License-Identifier: MIT */
/*
 * One process of a trace: its head, where its records are in the file, and which thread records it has. The content of
 * its records is kept here, too; tool/read/process_load.h reads it, tool/read/names.h looks it up. A process belongs to
 * its family, which opens it once. One thread (tool/read/folder.h).
 */
#ifndef XAUDIT_TOOL_READ_PROCESS_H
#define XAUDIT_TOOL_READ_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/base/hash.h"
#include "tool/read/clock.h"
#include "tool/read/family.h"

struct read_function {
	uint32_t id;
	uint32_t object; /* number of the object in the process */
	uint32_t kind;	 /* enum trace_kind, or any number in a damaged trace */
	const char *name; /* empty: unknown */
	uint64_t offset;  /* link-time address */
	uint64_t size;	  /* 0: not known */
	const char *aliases; /* its other names, each with its NUL, then an empty one */
};

/* A mapping of an object that is in force at the time that a merge has come to. */
struct read_load {
	struct read_load *next;
	uint32_t number; /* of the load */
	uint64_t base;
};

struct read_object {
	uint32_t number;
	uint32_t flags; /* enum trace_object_flags */
	uint32_t kinds; /* mask of kinds that the rules ask for */
	char *path;
	char *soname;
	char *build_id; /* in hex, or empty */
	struct trace_site_count *site; /* of the last TRACE_REC_SITES */
	uint32_t sites;
	bool has_pages;	   /* there was a TRACE_REC_PAGES: */
	uint32_t text_pages, site_pages, patched_pages;
};

/* Something about the recording changed while the process ran. */
struct read_change {
	uint32_t what; /* enum trace_change_what, or any number */
	uint32_t tid;
	uint64_t clock; /* ticks */
	uint64_t value;
	char *text; /* may be empty */
};

/* A type of custom events that was registered. */
struct read_type_name {
	uint32_t type;
	char *name;
};

/* What a thread record has: events in a file of its own; chunks in meta; counters. */
enum { READ_FILE_EVENTS = 1, READ_FILE_PLACES = 2, READ_FILE_COUNTS = 4 };

/* One process. */
struct read_process {
	struct read_family *family; /* the family whose file it is in */
	uint32_t place;	       /* of its head */
	bool bad;	       /* it can't be read */
	bool chosen;	       /* its records tell of functions, as far as was looked */
	/*
	 * The name that people are shown: "p123", the name of its folder; for a forked process "p<pid>" if no other
	 * process has that name, else "p<folder>/<place>". And DIR/name.
	 */
	char *name, *path;
	struct trace_head head;
	struct read_clock clock;
	unsigned threads; /* thread records: 0 ... threads-1, with gaps in a damaged folder */
	uint8_t *files;	  /* for each, mask of FILE_... */

	/*
	 * What read_process_load() reads; for a forked process only the content of its own records. What it shares with
	 * others is in `base`, which is never changed: read_process_object() and such look there, too.
	 */
	bool loaded;
	struct read_process *base; /* NULL: none */
	struct read_process *parent; /* read_process_parent() */
	bool parent_known;
	uint64_t parsed; /* how much of its records was read */
	struct read_object **object; /* by number; may hold NULL */
	uint32_t objects;
	struct read_function *function;
	uint32_t functions, functions_room;
	struct hash by_id; /* of function[]: the hash is the id */
	char **names; /* the blobs that function names point into */
	uint32_t blobs;
	uint64_t loads, unloads;
	char *exe, *command, *host, *config, *module; /* NULL: not recorded; the command is shell-quoted */
	char **note;
	uint32_t notes;
	struct read_change *change; /* in the order of meta */
	uint32_t changes;
	struct read_type_name *type; /* of custom events, in the order of their numbers */
	uint32_t types;
	struct read_layout **layout; /* of values of calls, by number; may hold NULL. They stay where they are */
	uint32_t layouts;

	/* Parts of its records that its children don't have: notes and changes in a row. By tool/read/inherited.c. */
	struct read_own {
		uint64_t begin, end;
	} *own;
	uint32_t owns;
	uint64_t owns_known; /* up to there */

	/* Only in a base: the process whose records it has, up to which position, and how many processes use it. */
	struct read_process *of;
	uint64_t of_used;
	uint32_t users;
	/* Only in a base: the records of loads and unloads, one after another. */
	uint8_t *loading;
	size_t loading_size;
};

/* The process whose head is at that place, opened once. NULL: it can't be read, which is noted. */
struct read_process *read_process_at(struct read_family *family, uint32_t place);

/* Finds its thread records. Returns false, after noting damage, if they can't be. */
bool read_process_begin(struct read_process *process);

/* Finds thread records that are new since the last time. Returns false, and errno, if the folder can't be read. */
bool read_process_list_files(struct read_process *process);

/* Reads the head again: counters, mode and pairs change while the process runs. Returns false if it can't be read. */
bool read_process_read_head(struct read_process *process);

/* Was it forked by a process that was traced? Then calls that are open in that one at the fork return in both. */
static inline bool read_process_is_forked(const struct read_process *process)
{
	return process->head.parent_used || process->head.flags & TRACE_FORKED;
}

/* Bytes of events in the files of a process; those in meta are few, or also there. */
uint64_t read_process_event_bytes(const struct read_process *process);

/* The process that forked it, if they share records; NULL: there is none, or it is damaged, which is noted. */
struct read_process *read_process_parent(struct read_process *process);

/* Where the head is in the file. */
uint64_t read_process_offset(const struct read_process *process);

/*
 * Where position `pos` of its records is in the file, and how many bytes of them follow there. Returns false if the
 * head knows no such position.
 */
bool read_process_locate(const struct read_process *process, uint64_t pos, uint64_t *offset, uint64_t *room);

/* Notes damage in meta, or, file not NULL, in that file beside it. */
void read_process_damage(const struct read_process *process, const char *file, uint64_t offset, const char *what);

/* Does the directory at this moment name the thread record for the place of meta where that position is? */
bool read_process_has(const struct read_process *process, uint32_t number, uint64_t at);

#endif
