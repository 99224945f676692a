/* SPDX-License-Identifier: MIT */
/*
 * For tests of the recording core (x86_64/, runtime/) that run it in their own process: functions whose calls are
 * recorded, and an independent reader of the recording.
 *
 * A process can record only once, and not stop. So each scenario runs in a forked child, which reports its results in
 * memory that it shares with its parent.
 */
#ifndef XAUDIT_T_LIB_CORE_H
#define XAUDIT_T_LIB_CORE_H

#include "config.h" /* XAUDIT_TSAN */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h> /* pid_t */

#include "format/trace.h"
#include "x86_64/stub.h"
#include "x86_64/contract.h"

/* ThreadSanitizer reserves the addresses where mirrors of stacks would lie, so with it no return is intercepted. */
#ifdef XAUDIT_TSAN
#define CORE_HAS_MIRROR 0
#else
#define CORE_HAS_MIRROR 1
#endif

/* An empty folder of this test. It is removed when the process that made the first call exits. */
const char *core_folder(void);

/* Removes the folder's contents. */
void core_empty(void);

/* Memory of zeros that forked children share. */
void *core_shared(size_t size);

/*
 * Runs scenario(argument) in a child for `seconds` at most. Returns its exit status, 1000 + signal when it was killed,
 * 2000 when it took too long.
 */
int core_child(int (*scenario)(void *argument), void *argument, unsigned seconds);

/* As with the rules' clock = coarse, from core_start() on. */
extern int core_coarse;

/* Directs the dispatch table to the recorder and has the first event make the folder FOLDER/p<pid>. */
void core_start(const char *folder, uint64_t chunk_size, enum trace_clock clock);

/* A function whose calls through `call` raise an event. */
struct traced {
	uint64_t call; /* address */
	struct stub_cell *cell;
};

/* body: the function; id: of its events. */
struct traced core_traced(enum tramp_event event, uint32_t id, const void *body);

/*
 * Sled stubs of a load at text_low..text_high, as stub_reserve() and stub_write() make them; xray_base 0: no XRay
 * stubs. Returns 0, or a negative errno: nothing is mapped.
 */
int core_stubs(struct stub_pages *pages, uint64_t wanted, uint64_t text_low, uint64_t text_high, uint32_t xray_base,
	uint32_t functions);

/* Calls it with a given type: CALL(long (*)(long), function)(5). */
#define CALL(type, function) ((__typeof__(type))(uintptr_t)(function).call)

/* Number of chunks of a thread's flight recorder, after core_start(). */
#define CORE_RING_CHUNKS 8

#define CORE_VALUES 10

/* What events with these layouts are: TRACE_WORD(). */
extern uint32_t core_layouts[64];

/* An event as read back; control events other than TRACE_THREAD and TRACE_SYNC never get here. */
struct event {
	uint32_t type, id;
	uint32_t tid;
	uint64_t clock;
	uint32_t stack; /* its number; 0: not known */
	/* Of an event with values: its layout, and its payload, cut; type and id are those of core_layouts. */
	uint32_t layout, words;
	int flawed;
	uint64_t value[CORE_VALUES];
};

/* All events of one thread record, in the order of its chunks, of which none may be missing. */
struct reading {
	struct event *event; /* entries, exits, tails, unwinds and points, in order */
	size_t count;
	uint64_t chunks, syncs, threads; /* chunks, and control events */
	uint64_t holes;			 /* words without an event in finished chunks */
	uint64_t given_up;		 /* events with values that are none after all */
	uint64_t lost; /* by the process */
	uint64_t lost_by[TRACE_LOST_COUNT];
	const char *damage; /* how the chunk violates the format, or NULL */
};

/* Reads thread record n of a process, in any family. Returns 0, or -1 when it has no events. */
int core_read(const char *folder, pid_t pid, unsigned n, uint64_t chunk_size, struct reading *reading);
void core_forget(struct reading *reading);

/* A copy of one chunk, valid until the next call; NULL: it is not there. */
enum core_where { CORE_IN_FILE /* t<n> */, CORE_IN_PLACE /* in meta */ };
const struct trace_chunk *core_chunk(
	const char *folder, pid_t pid, unsigned n, uint64_t chunk_size, uint64_t seq, enum core_where in);

/* Calls of function id that thread record n has counted; -1: it has no counters. */
long long core_count(const char *folder, pid_t pid, unsigned n, uint32_t id);

/* Reads the whole head of the process. Returns 0 or -1. */
int core_read_head(const char *folder, pid_t pid, struct trace_head *head);

/* Protection of the mapping at an address, from /proc/self/maps, as "r-xp"; "" when nothing is mapped there. */
const char *core_protection(uint64_t address);

uint64_t core_now_ns(void);

#endif
