/* SPDX-License-Identifier: MIT */
/*
 * Objects and loads. An object is an identity: one file content (build-id; else device, inode, size, mtime) under one section of
 * the rules; it lives as long as the process, with its function ids and site tables, so a reload continues both. A load is one mapping of it,
 * from la_objopen to la_objclose.
 *
 * Cookies are pointers to struct load. They are not to be believed: ld.so hands us raw link_map pointers for objects that it
 * never announced, and cookies of loads already closed. object_load() checks them. The memory of a load is used again for a later
 * load, never given back.
 *
 * Life of a load: OPEN -> CLOSED (la_objclose; its code may still run) -> DOOMED (LA_ACT_DELETE) -> RETIRED (LA_ACT_CONSISTENT: the text
 * is gone, nothing new can come to its stubs) -> FREE (runtime/epoch.h: nobody who announced before can be looking at what belonged to it). Stubs and
 * bindings are freed in the last step, by whoever passes through a callback or the recorder's change of chunks. At exit nothing is retired.
 *
 * Lists and fields are written with the process lock held (runtime/process.h), mostly inside ld.so's own lock; at exit ld.so calls without its
 * lock, from several threads. la_symbind64 may come at any time, from signal handlers too.
 */
#ifndef XAUDIT_OBJECT_H
#define XAUDIT_OBJECT_H

#include <link.h>
#include <stdint.h>

#include "audit/image.h"
#include "audit/rules.h"
#include "audit/site.h"
#include "runtime/epoch.h"
#include "x86_64/stub.h"

/* A function that bindings call, by name. Lives as long as the object. */
struct bound_function {
	struct bound_function *next; /* in the object's bucket */
	struct bound_function *all;  /* in the object's list */
	const char *name;
	uint64_t offset;
	uint32_t id;
	uint32_t kind; /* that selected it first */
};

#define OBJECT_BUCKETS 256

enum selected { SELECTED_NOT, SELECTED_WHOLE, SELECTED_ENTRY /* its return is not intercepted */ };

struct object {
	struct object *next;
	uint32_t number;
	uint32_t flags; /* enum trace_object_flags */
	const struct rules_section *section; /* NULL: nothing asked for */
	const char *path, *soname;	     /* soname may be NULL */
	uint64_t dev, ino, size, mtime_ns;
	uint8_t build_id[64];
	uint32_t build_id_len;
	/* Compile-time sites. */
	struct site_set sites;
	uint8_t *selected;    /* per function of sites: enum selected */
	uint32_t *by_address; /* indices of sites.site in order of address, selected ones only */
	uint32_t planned;     /* how many */
	uint64_t *traced;     /* addresses of selected functions, ascending */
	uint32_t traced_count;
	uint32_t xray_base, patchable_base; /* first ids; 0: none */
	/* Bindings. */
	struct bound_function **buckets; /* OBJECT_BUCKETS, or NULL */
	struct bound_function *bound;	 /* all, newest first */
	uint32_t counts[TRACE_KIND_COUNT][TRACE_REASON_COUNT];
	uint32_t counts_told; /* their sum when the trace was told last */
	int scanned; /* sites, selected ... are filled in, or never will be */
};

enum load_state { LOAD_FREE, LOAD_OPEN, LOAD_CLOSED, LOAD_DOOMED, LOAD_RETIRED };

/* The stub of one bound function in one load. */
struct binding {
	struct binding *next;
	const struct bound_function *function;
	uint64_t body, stub;
};

/* A block of binding stubs. */
struct stub_block {
	struct stub_block *next;
	struct stub_pages pages;
};

struct load {
	struct epoch_item retired; /* first: how the epoch knows it */
	uint64_t magic; /* LOAD_MAGIC */
	struct load *next; /* all loads ever, free ones too */
	enum load_state state;
	struct object *object;
	uint32_t number;
	uint32_t tid; /* that loaded it */
	uint64_t clock;
	uint64_t base, start, end;
	int64_t namespace;
	const struct link_map *map;
	int unwinder_checked;
	struct stub_pages stubs; /* of the sleds */
	struct stub_block *blocks; /* of the bindings, newest first */
	struct binding **bindings; /* OBJECT_BUCKETS, or NULL */
	struct arena arena;	   /* of bindings and blocks: freed with the load */
};

#define LOAD_MAGIC 0x64616f6c74696478ull

extern struct object *objects;
extern struct load *loads;

/* Has any function been selected yet? A process without makes no trace folder (but under `xaudit record`, which tells why). Lock held. */
extern int object_selected;

/*
 * A new load of the object that map describes: finds or makes the identity, notes both in the trace. main: the program. NULL: no memory. Takes the
 * process lock. Sites are not looked at (prepare.h).
 */
struct load *object_open(const struct link_map *map, int64_t namespace, const struct image *image, const struct rules *rules,
	uint32_t flags);

/* The load behind a cookie, or NULL when it is none of ours. Any context. */
struct load *object_load(uintptr_t cookie);

/* la_objclose: the load is closed, the trace says so. Takes the lock. */
void object_close(struct load *load);

/* LA_ACT_DELETE: what is closed will be unmapped before the next LA_ACT_CONSISTENT. Takes the lock. */
void object_doom(void);

/* LA_ACT_CONSISTENT: retires loads whose text is gone, and frees what nobody can see any more. Takes the lock. */
void object_retire(void);

/* How many identities there are; their numbers are 1 ... this. Lock held. */
extern uint32_t object_count;

/* Takes n function ids; returns the first, or 0 when they are used up. Lock held. */
uint32_t object_take_ids(uint32_t n);

/* Hash of a function name. */
uint32_t object_hash(const char *name);

#endif
