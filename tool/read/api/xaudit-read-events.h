/* SPDX-License-Identifier: MIT */
/*
 * xaudit-read-events.h: the part of xaudit-read.h, which includes it, that gives events in the order of time. What is
 * said there holds here, too.
 */
#ifndef XAUDIT_READ_EVENTS_H
#define XAUDIT_READ_EVENTS_H

#include "xaudit-read.h"

#ifdef __cplusplus
extern "C" {
#endif

struct xaudit_read_change;
struct xaudit_read_values;

enum xaudit_read_event_what {
	XAUDIT_READ_EVENT_END = 0, /* there is nothing more, or no memory: xaudit_read_damage() */
	XAUDIT_READ_EVENT_ENTRY,   /* a call begins: `call` */
	XAUDIT_READ_EVENT_EXIT,	   /* a call returned. Of EXIT to UNWIND, `ends` calls end: see there */
	XAUDIT_READ_EVENT_TAIL,	   /* ... ended with a jump to another function */
	XAUDIT_READ_EVENT_UNWIND,  /* ... was unwound */
	XAUDIT_READ_EVENT_POINT,   /* a call of which only the entry is recorded */
	XAUDIT_READ_EVENT_CUSTOM,  /* an event of the program's own */
	XAUDIT_READ_EVENT_LOAD,	   /* `object` is loaded at `address` */
	XAUDIT_READ_EVENT_UNLOAD,
	XAUDIT_READ_EVENT_CHANGE,  /* something about the recording changed: `change` */
	XAUDIT_READ_EVENT_LOST,	   /* `count` events were lost here; tid 0: it is not known where in the process */
	XAUDIT_READ_EVENT_GONE,	   /* of a ring, `count` buffers were overwritten here; 0: not known */
	XAUDIT_READ_EVENT_CRASH,   /* the process was about to end by `signal` */
	XAUDIT_READ_EVENT_THREAD,  /* what follows in this record is of thread `tid`, on a stack without number */
	XAUDIT_READ_EVENT_STACK,   /* what follows in this record is on `stack`, no more on stack `before` */
	XAUDIT_READ_EVENT_PART,	   /* as STACK, and so are all but the `count` innermost of the calls that are open */
	XAUDIT_READ_EVENT_UNFINISHED, /* `count` calls have no end: `call` and those around it, all of a stack */
	XAUDIT_READ_EVENT_LOADER,  /* if asked for: ld.so mapped, or unmapped, objects; see `own` */
	XAUDIT_READ_EVENT_PROBE	   /* if asked for: the thread came to `probe`, at `address` */
};

struct xaudit_read_event {
	int what; /* enum xaudit_read_event_what */
	uint32_t tid;
	struct xaudit_read_process *process;
	uint64_t time;
	/*
	 * Of ENTRY: the call that begins. Of EXIT, TAIL, UNWIND: the innermost call that ends by it; `ends` is their
	 * number, the others are those around it (parent), and all but the last are XAUDIT_READ_CUT; 0: the call is not
	 * in the trace. Of others the innermost call that is open on the thread's stack; NULL: none. Of a call, total,
	 * recursion and cpu are 0, and no calls are XAUDIT_READ_OFF.
	 */
	struct xaudit_read_call *call;
	uint32_t ends;
	uint32_t depth;	 /* how many calls are open on its stack, without those that begin here, with those that end */
	uint32_t record; /* number of the thread record in its process; UINT32_MAX: of none */
	uint32_t stack;	 /* number of the stack that it is on; 0: not known */
	uint32_t before;
	int first;	 /* of STACK: it is the first that is told of its thread in this record */
	uint32_t load;	 /* of LOAD and UNLOAD: a number that only these two share, in the process; from 1 on */
	int signal;
	const struct xaudit_read_function *function; /* of ENTRY to POINT */
	/* of ENTRY to POINT, LOAD, UNLOAD, PROBE; of a function throttled */
	const struct xaudit_read_object *object;
	uint64_t address; /* of the function, the object, or the probe; XAUDIT_READ_UNKNOWN */
	uint64_t count;
	const struct xaudit_read_change *change; /* see xaudit-read-facts.h. Until the next event */
	const char *type;     /* of CUSTOM: its name; NULL: it has none. Until the next event */
	uint32_t type_number; /* in its process */
	uint32_t data_size;
	const void *data;     /* of CUSTOM, a zero follows. Until the next event */
	/*
	 * Of LOADER, which comes when a dlopen or dlclose has done that work, after the loads or unloads: it took
	 * `count` ns, of them xaudit itself `own`. Constructors and destructors are not in it, and, with glibc up to
	 * 2.40, neither is relocation.
	 */
	uint64_t own;
	int unmaps; /* of LOADER: unmapped; 0: mapped */
	int inherited; /* of LOAD and UNLOAD: seen by a process that this one was forked from; `tid` is of that */
	/*
	 * Of ENTRY to POINT, and PROBE: the values that this event has. Until the next event; those of `call` as long
	 * as that. Of CUSTOM: its backtrace, if it has one, is the only value; xaudit_read_stack() gives it
	 */
	const struct xaudit_read_values *values;
	const struct xaudit_read_probe *probe; /* of PROBE */
};

struct xaudit_read_events_options {
	size_t size;
	/* A call whose end comes next in its record is told as a whole by its ENTRY: `end` and `how` are known then. */
	int leaves;
	struct xaudit_read_process *process; /* only of this process; NULL: of all */
	int loader; /* XAUDIT_READ_EVENT_LOADER too */
	int loads; /* what threads recorded is not read: loads, unloads, and the like */
	/*
	 * Only events of this moment and later ones; 0: of all. The way there takes some ns for an event. What is open
	 * then is known, and told as `call` and by `parent`; self and children of calls that began before are 0.
	 */
	uint64_t from;
	/*
	 * Only what is not before the last so many calls began, for each thread by itself; 0: all. It may be more: of a
	 * thread record that several threads had one after another, or where many began at one moment.
	 */
	uint32_t tail;
	int probes; /* XAUDIT_READ_EVENT_PROBE too. Since 0.1 */
};

/*
 * Goes through all events in the order of time, over all processes and threads. Of events at one moment, loads come
 * before others and unloads after them. Memory: for each thread record; for the functions of all processes. NULL: no
 * memory, or a wrong option.
 */
struct xaudit_read_events *xaudit_read_events(struct xaudit_read_trace *trace,
	const struct xaudit_read_events_options *options, struct xaudit_read_error *error);

/* The next event. Returns event->what. A call is valid until the event after that with which it ends. */
int xaudit_read_next_event(struct xaudit_read_events *events, struct xaudit_read_event *event);
void xaudit_read_events_close(struct xaudit_read_events *events);

#ifdef __cplusplus
}
#endif

#endif
