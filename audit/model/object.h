/* SPDX-License-Identifier: MIT */
/*
 * Objects and loads. An object is an identity: one file content under one section of the rules. Two files are one
 * object if device, inode, size and mtime are equal; or if one is a copy of the other: build-id, size and print
 * (image.h) are equal, and the bytes too, as long as the first file is still there. An object lives as long as the
 * process, with its function ids and site tables, so a reload continues both. A load is one mapping of it, from
 * la_objopen to la_objclose.
 *
 * Lists and fields are written with the process lock held (runtime/process/process.h), mostly inside ld.so's own lock;
 * at exit ld.so calls without its lock, from several threads. la_symbind64 may come at any time, from signal handlers
 * too.
 */
#ifndef XAUDIT_OBJECT_H
#define XAUDIT_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/index/frames.h"
#include "audit/index/index.h"
#include "audit/match/match.h"
#include "audit/model/probes.h"
#include "audit/site/site.h"
#include "runtime/process/epoch.h"
#include "runtime/values/plans.h"
#include "x86_64/stub.h"

/* A function that bindings call, by name. Lives as long as the object. */
struct bound_function {
	struct bound_function *next; /* in the object's bucket */
	struct bound_function *all;  /* in the object's list */
	const char *name;
	uint64_t offset;
	uint32_t hash; /* of name */
	uint32_t id;   /* 0: it was never on; the trace does not know its name */
	uint32_t kind; /* that asked for it first */
	uint8_t on;	    /* in loads to come */
	uint8_t entry_only; /* its return is not intercepted */
	uint8_t below;	    /* the rules' filter names it */
};

#define OBJECT_BUCKETS 512

/*
 * What is to be done with a function that has sleds or guards, in this and later loads. Whether it is on in a load, the
 * bytes of that load tell (audit/live/load_code.h).
 */
enum function_marks {
	FUNCTION_ON = 1,    /* on: selected by the rules, or asked for since */
	FUNCTION_READY = 2, /* made ready at load for being switched on */
	FUNCTION_ENTRY = 4, /* its return is not intercepted */
	FUNCTION_NAMED = 8, /* the trace knows its id and name */
	FUNCTION_BELOW = 16, /* the rules' filter names it */
	FUNCTION_XRAY = 32, /* the XRay interface has switched it, in some load; this does not count for later loads */
};

/* More about a function of kind entry. */
struct entry_function {
	const struct index_function *index; /* in object.index */
	uint32_t id;			    /* 0: none yet */
};

struct patch;

struct object {
	struct object *next;
	uint32_t number;
	uint32_t flags; /* enum trace_object_flags */
	const struct rules_section *section; /* NULL: no section names it */
	const char *path, *soname;	     /* soname may be NULL */
	const char *file;		     /* what to open in its place, as path is no file's; or NULL */
	uint64_t dev, ino, size, mtime_ns, ctime_ns;
	uint64_t print; /* image_print() */
	uint8_t unbound;   /* a load of it is or was */
	uint8_t by_loader; /* it is the program, and /proc/self/exe is ld.so (object_program) */
	uint8_t build_id[64];
	uint32_t build_id_len;
	/* Compile-time sites. */
	struct site_set sites;
	uint8_t *marks;	      /* per function of sites: enum function_marks; NULL: no function can be used */
	uint8_t *counted;     /* per function: the reason under which it is counted */
	uint32_t *by_address; /* indices of sites.site of the functions that can be used, in order of address */
	uint32_t usable;      /* how many */
	uint32_t *functions;  /* indices of these functions, of kinds that raise events, in order of their address */
	uint32_t usable_functions;
	/* per kind: the original bytes of its sites; NULL: equal in all sites of a type, or in sites.event */
	uint8_t (*original[TRACE_KIND_COUNT])[SLED_ORIGINAL_SIZE];
	uint32_t base[TRACE_KIND_COUNT]; /* per kind: id of its first function; 0: no ids yet, or in `entries` */
	/* Functions of kind cyg by address (audit/live/cyg.c): 2^n words, half of them and more 0; NULL: not made */
	uint64_t *told;
	uint32_t told_mask;
	/* Functions of kind entry (audit/live/entry.h). */
	struct index index; /* stays mapped; head NULL: none was looked for, or there is none */
	struct entry_function *entries; /* one for each */
	uint32_t *spare_by_address, *spare_functions; /* where by_address and functions are merged anew */
	/* What is to hold for all of this when functions were added; whole: entry_settle() has not seen to it yet. */
	struct {
		uint32_t *by_address, *functions;
		uint32_t usable, usable_functions, all; /* all: sites.functions */
		int whole;
	} then;
	uint32_t room_functions, room_sites; /* what all these arrays have room for; 0: for what they hold */
	/* The index by which calls without a PLT are found (audit/prepare/got_calls.h). ld.so's lock. */
	struct index words;
	bool words_asked;
	struct values_set *values; /* of its functions' calls (audit/live/values.h) */
	bool values_asked;	  /* the plan of these was. ld.so's lock */
	/* Its probes (audit/live/probe.h); NULL: none. Their ids; NULL: none yet. */
	struct object_probes *probes;
	struct object_known *known_probes;
	/* How to go up from its code (audit/live/backtraces.h): a copy of an index's part, for good. Lock */
	struct index_frames frames;
	bool frames_asked; /* whether there is one was. Lock */
	uint32_t refused; /* enum trace_reason: why no site of it can be used after all; TRACED: they can */
	uint32_t xray_now; /* load.xray of the load that events of this object bear (xray.h) */
	/* Bindings. */
	struct bound_function **buckets; /* OBJECT_BUCKETS, or NULL */
	struct bound_function *bound;	 /* all, newest first */
	uint32_t counts[TRACE_KIND_COUNT][TRACE_REASON_COUNT];
	uint32_t counts_told; /* their sum when the trace was told last */
	uint32_t text_pages, site_pages, patched_pages; /* as TRACE_REC_PAGES tells */
	/* 1: sites, marks ... are filled in, or never will be; 0: not yet, or a thread is at it, or was at the fork */
	int scanned;
};

enum load_state { LOAD_FREE, LOAD_OPEN, LOAD_CLOSED, LOAD_DOOMED, LOAD_RETIRED };

/* The stub of one bound function in one load. */
struct binding {
	struct binding *next;
	struct bound_function *function; /* NULL: raises no event */
	uint64_t body, stub;
	uint64_t rest; /* what the cell's target is when it is on */
	struct stub_cell *cell;
};

/* A block of binding stubs. */
struct stub_block {
	struct stub_block *next;
	struct stub_pages pages;
};

/* A block of stubs of displaced entries: of `count` functions of kind entry, from `first` on among them. */
struct entry_block {
	struct entry_block *next;
	uint32_t first, count;
	struct stub_pages pages;
	/* Stubs of those that need them nearer (audit/live/entry_copy.h), near[0 ... near_count) from `first` on. */
	struct stub_pages near_pages;
	uint32_t *near, near_count;
};

/* A word by which the object calls a function of another one. */
struct got_word {
	uint32_t hash; /* object_hash() of the function's name */
	uint32_t next; /* the next one in its bucket, its number + 1; 0: none */
	const char *name;
	uint64_t own; /* the word's link-time address */
	/* In la_objopen alone: where its calls have their displacements. */
	const uint64_t *call;
	const Elf64_Rela *relocation;
	uint32_t calls;
	bool left; /* ld.so has not asked for it yet */
};

struct load {
	struct epoch_item retired; /* first: how the epoch knows it */
	uint64_t magic; /* LOAD_MAGIC */
	struct load *next; /* all loads ever, free ones too */
	struct load *gone; /* the next load that object_retire() is just retiring */
	enum load_state state;
	struct object *object;
	uint32_t number;
	uint32_t tid; /* that loaded it */
	uint64_t clock;
	uint64_t base, start, end;
	int64_t namespace;
	const struct link_map *map;
	int unwinder_checked;
	/* process_serial() while it is in la_objopen; another process's: a fork left its thread there for good. Lock */
	uint32_t preparing;
	int textrel;
	int pinned; /* one of its handlers has called dlclose: it stays loaded */
	int asked; /* la_symbind64 is called for its bindings */
	int erased; /* its calls of a profiler are NOPs (audit/live/entry_calls.h) */
	int unbound; /* or for none that its unwinder would need: nothing was selected then (audit/live/unwinder.h) */
	uint32_t waiting; /* so many of its words wait for their libc (audit/bind/no_plt.h) */
	/*
	 * index of its symbol dlclose, which these relocations in its memory bind; 0: none, or all are replaced
	 * (audit/live/dlclose.h)
	 */
	uint32_t closes;
	const Elf64_Rela *close_relocation[2];
	uint64_t close_relocations[2];
	uint32_t xray; /* its number for the XRay interface (xray.h) + 1; 0: none */
	const Elf64_Phdr *phdr; /* in the object's memory */
	unsigned phnum;
	struct stub_pages stubs; /* of the sleds */
	/* one bit per page from start on: pages of text that were written to and not given back since; NULL: none */
	uint8_t *touched;
	struct stub_block *blocks; /* of the bindings, newest first */
	struct entry_block *entries; /* newest first */
	struct binding **bindings; /* OBJECT_BUCKETS, or NULL */
	int known; /* stubs were made for what bindings into earlier loads called */
	/* Number of the load that was bound to it at once; how many bindings have come from there, up to 2. Lock */
	uint32_t ahead, ahead_bindings;
	uint32_t ahead_stubs; /* so many stubs are about to be made for it. Lock */
	/*
	 * Its calls without a PLT (audit/prepare/got_calls.h), and our words of the same numbers. The first one of each
	 * bucket, of which there are 2^n, by hash: its number + 1; 0: none.
	 */
	struct got_word *got;
	uint32_t *got_buckets;
	uint32_t got_words, got_bucket_count;
	struct stub_pages words;
	/* In la_objopen alone. */
	struct arena got_calls;
	struct patch *got_patch, *got_spare;
	struct load_probes *probes; /* windows (audit/live/probe.h); NULL: none */
	uint32_t backtraces; /* number of its code (runtime/values/backtrace.h) + 1; 0: it is not known there. Lock */
	struct values_place place; /* where its variables are */
	struct values_place bare; /* in its stead: nothing is read directly (values_hide()) */
	int hidden; /* some of its memory was made unreadable */
	struct values_copy *copy; /* those of which the program has a copy (audit/prepare/copies.h) */
	uint32_t copies;
	struct cyg *cyg; /* where its calls of __cyg_profile_func_enter() lead to (audit/live/cyg.h); NULL: not to us */
	struct arena arena;	   /* of bindings and blocks: freed with the load */
};

#define LOAD_MAGIC 0x64616f6c74696478ull

extern struct object *objects;
extern struct load *loads;

/*
 * Has any function been selected yet? If not, the process makes no trace folder (except under `xaudit record`, which
 * tells why). Lock held.
 */
extern int object_selected;

/*
 * Writes up to 16 bytes into a table of the load that nobody uses yet: in la_objopen. The page's protection is
 * restored. Returns 0 or -errno.
 */
int object_write(const struct load *load, const void *at, const void *bytes, size_t size);

/* The same for several places of one segment, in ascending order. */
int object_write_all(const struct load *load, const struct patch *patch, size_t count);

/* What object_open() was told; NULL before. */
extern const struct rules *object_rules;

/* How many identities there are; their numbers are 1 ... this. Lock held. */
extern uint32_t object_count;

/*
 * The path of the program when it was started as `ld.so PROGRAM`, so that /proc/self/exe is ld.so; else NULL. Set in
 * la_version.
 */
extern const char *object_program;

/* What to open to read the object's file. */
static inline const char *object_file(const struct object *object)
{
	if (object->file)
		return object->file;
	return object->flags & TRACE_OBJECT_PROGRAM && !object->by_loader ? "/proc/self/exe" : object->path;
}

/* What an index of its file must say of itself (format/index.h). */
static inline void object_identity(const struct object *object, struct index_identity *to)
{
	*to = (struct index_identity){
		.device = object->dev, .inode = object->ino, .size = object->size,
		.modified = object->mtime_ns, .changed = object->ctime_ns,
	};
	if (object->build_id_len > sizeof(to->build_id))
		return;
	to->build_id_len = object->build_id_len;
	for (uint32_t i = 0; i < object->build_id_len; i++)
		to->build_id[i] = object->build_id[i];
}

/* Takes from its file what identifies that. Returns 0: it can't be asked for. */
int object_stat(struct object *object);

/* Hash of a function name. */
uint32_t object_hash(const char *name);

#endif
