/* SPDX-License-Identifier: MIT */
/*
 * A trace folder as its readers see it: processes, their meta, and the clock. The format is format/trace.h.
 *
 * A trace may be damaged, and it may grow while it is read. So nothing in a file is believed before it is checked:
 * whatever can be read is read, and the rest is remembered as damage (tool/read/error.h). Files are read with pread,
 * never mapped: a file that shrinks meanwhile is a short read, not a SIGBUS.
 *
 * One thread; nothing here is thread-safe or async-signal-safe. Running out of memory ends the command (memory.h).
 */
#ifndef XAUDIT_TOOL_READ_FOLDER_H
#define XAUDIT_TOOL_READ_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/clock.h"
#include "tool/read/error.h"
#include "tool/read/file.h"

struct read_function {
	uint32_t id;
	uint32_t object; /* number of the object in the process */
	uint32_t kind;	 /* enum trace_kind, or any number in a damaged trace */
	const char *name; /* empty: unknown */
	uint64_t offset;  /* link-time address */
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
	uint32_t kinds; /* mask that the rules ask for */
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

/* What there is of a thread record: events in files, of their own; chunks in meta, of version 1 r<n>; counters. */
enum { FILE_EVENTS = 1, FILE_RING = 2, FILE_COUNTS = 4 };

struct read_folder;
struct read_family;

/* One process. */
struct read_process {
	struct read_folder *folder;
	struct read_family *family; /* what file it is in */
	uint32_t place;	       /* of its head */
	bool bad;	       /* it can't be read */
	bool selected;	       /* tool/record/after.c: something is traced in it */
	/*
	 * How people call it: "p123", the name of its folder; of a forked one "p<pid>" where that is nobody else's, or
	 * "p<folder>/<place>". And DIR/name.
	 */
	char *name, *path;
	struct trace_head head;
	uint64_t lost_told; /* of head.lost, those that a merge has told where they were lost */
	struct read_clock clock;
	unsigned threads; /* thread records: 0 ... threads-1, with gaps in a damaged folder */
	uint8_t *files;	  /* of each, mask of FILE_... */

	/*
	 * What read_process_load() reads; of a forked process only what it has said itself, or said anew. What it shares
	 * with others is in `base`, which nobody changes: read_process_object() and such look there, too.
	 */
	bool loaded;
	struct read_process *base; /* NULL: none */
	struct read_process *parent; /* read_process_parent() */
	bool parent_known;
	uint64_t parsed; /* how much of its records was taken */
	struct read_object **object; /* by number; may hold NULL */
	uint32_t objects;
	struct read_function *function;
	uint32_t functions, functions_room;
	uint32_t *slot; /* hash of function ids: index + 1 into function[] */
	uint32_t slot_mask;
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

	struct read_load **load; /* by number of the object, the newest first; kept by the merge */
	uint32_t loads_room;

	/* Where its children have nothing of its records: notes and changes in a row. Kept by tool/read/names.c. */
	struct own_records {
		uint64_t begin, end;
	} *own;
	uint32_t owns;
	uint64_t owns_known; /* up to there */

	/* Of a base alone: whose records up to where they are, and how many have it. */
	struct read_process *of;
	uint64_t of_used;
	uint32_t users;
	/* Its records of loads and unloads, one after another. */
	uint8_t *loading;
	size_t loading_size;
};

struct read_folder {
	const char *path;
	char *own_path; /* the same, if it is ours to free */
	int fd;
	struct read_family **family; /* that have processes in it */
	unsigned families;
	struct read_process **process; /* in the order of their start */
	unsigned processes;
	char *version, *command, *status; /* from DIR/record; NULL: not there */
	struct trace_pair pair[4];	  /* the clock lines of DIR/record */
	unsigned pairs;
	bool record; /* DIR/record is there */
	struct read_damage damage;
};

/* The versions of the format that are read. */
#define TRACE_READS(version) ((version) == 1 || (version) == 2)

/* Whether boot_id, of a head, is that of the running system. */
bool read_trace_is_of_this_boot(const char *boot_id);

/*
 * Opens the trace folder `path`, or of it the one process that `path` names: DIR/p<pid>[.<n>], a folder, for the
 * process that made it, or a name that people are shown of a forked process (struct read_process). Reads DIR/record and the
 * heads; processes other than `pid` are left out unless pid is 0. Also sets the clocks. Returns NULL when there is
 * nothing to read, and why: *error is to be freed in any case.
 */
struct read_folder *read_folder_open(const char *path, uint32_t pid, struct read_error *error);
void read_folder_close(struct read_folder *folder);

/*
 * The same of one process alone, without what DIR/record says; of a folder DIR/p<pid> the process whose head is at
 * `place`.
 */
struct read_folder *read_folder_open_process(const char *path, uint32_t place, struct read_error *error);

/* Whether a path that is no folder may be the name of a process: there is such a trace. */
bool read_folder_may_be_process(const char *path);

/* The same of all processes of a folder DIR/p<pid>. */
struct read_folder *read_folder_open_family(const char *path, struct read_error *error);

/* For tool/read/family.c: never NULL, but perhaps `bad`. */
struct read_process *read_process_open(struct read_family *family, uint32_t place);
/* Finds its thread records. Returns false, after noting damage, if they can't be. */
bool read_process_begin(struct read_process *process);
void read_process_close(struct read_process *process);

/* Takes note of thread records that came meanwhile. Returns false, and errno, if the folder can't be read. */
bool read_process_list_files(struct read_process *process);

/* Reads the head again: counters, mode and pairs change while the process runs. Returns false if it can't be read. */
bool read_process_read_head(struct read_process *process);

/* Who forked it, where they share records; NULL: nobody, or that is damaged, which is noted. */
struct read_process *read_process_parent(struct read_process *process);

/* Where the head is in the file. */
uint64_t read_process_offset(const struct read_process *process);

/*
 * Where position `pos` of its records is in the file, and how many bytes of them follow it there. Returns false where
 * the head tells of none.
 */
bool read_process_locate(const struct read_process *process, uint64_t pos, uint64_t *offset, uint64_t *room);

/* Notes damage in meta, or, file not NULL, in that file beside it. */
void read_process_damage(const struct read_process *process, const char *file, uint64_t offset, const char *what);

/*
 * Reads the objects and functions of the process: at first all, later what was added to meta meanwhile. Returns whether
 * there was anything new.
 */
bool read_process_load(struct read_process *process);

/* Frees what read_process_load() read. */
void read_process_unload(struct read_process *process);

/* Numbers of functions, from 0 on: what is known later has higher ones. */
uint32_t read_process_functions(const struct read_process *process);
uint32_t read_process_function_index(const struct read_process *process, const struct read_function *function);
const struct read_function *read_process_function_at(const struct read_process *process, uint32_t index);

/* Numbers of objects are less than that. */
uint32_t read_process_objects(const struct read_process *process);

/* The newest load of an object that is in force where the merge is, or NULL. */
struct read_load *read_process_load_of(const struct read_process *process, const struct read_object *object);

/* The function of an id; NULL: meta does not name it. The pointer is valid until the next read_process_load(). */
const struct read_function *read_process_function(const struct read_process *process, uint32_t id);

/* The same; reads what was added to meta meanwhile if it must, so a running process's new names are found. */
const struct read_function *read_process_function_now(struct read_process *process, uint32_t id);

/* The object of that number, or NULL. */
struct read_object *read_process_object(const struct read_process *process, uint32_t number);

/*
 * Name of a type of custom events, that of meta or a fixed one; NULL: it has none. Reads what was added to meta
 * meanwhile if it must. Valid until the next read_process_load().
 */
const char *read_process_type_now(struct read_process *process, uint32_t type);

/* Path of an object's file, for rows and JSON; "[unknown]" for NULL. */
const char *read_object_path(const struct read_object *object);

/*
 * What a change is, in a few words, for people ("throttled"); value and text are shown beside it. "changed" for an
 * unknown one.
 */
const char *read_change_word(uint32_t what);

/* Word of an enum trace_mode: "stream", "ring", "count"; "?" for another number. */
const char *read_mode_word(uint64_t mode);

/* Last component of a path. */
const char *read_path_base(const char *path);

/*
 * Name of a function: its symbol, or "library+0xoffset", which is written to buf; "[unknown]" for NULL. Names are not
 * demangled.
 */
const char *read_function_name(const struct read_process *process, const struct read_function *function, char *buf, size_t size);

#endif
