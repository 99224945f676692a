/* SPDX-License-Identifier: MIT */
/*
 * xaudit-read.h: reads what `xaudit record`, or the module alone, has recorded. Link with libxaudit-read
 * (pkg-config xaudit-read). xaudit-read(3) has examples.
 *
 *	struct xaudit_read_error error;
 *	struct xaudit_read_trace *trace = xaudit_read_open("xaudit.data", NULL, &error);
 *	struct xaudit_read_calls *calls = trace ? xaudit_read_calls(trace, NULL, &error) : NULL;
 *	struct xaudit_read_item item;
 *	while (calls && xaudit_read_next_call(calls, &item) == XAUDIT_READ_CALL)
 *		printf("%s %" PRIu64 "\n", item.call->function->name, item.call->self);
 *
 * A trace may be damaged, and it may grow while it is read. Nothing in it is believed before it is checked: all that
 * can be read is read, what can't be is counted and told by xaudit_read_damage(). Memory: for the functions, and the
 * open calls, of one process; it does not grow with the number of events.
 *
 * Times are rounded so that their sums are right: `self` of all calls of a function adds up to what `xaudit report`
 * says, and so does `total`; of a single call either may be 1 ns off. For sums over other calls there are `ticks`.
 *
 * Errors are values: no function prints, changes signals or ends the process. A trace, and all that was made of it, is
 * used by one thread at a time; different traces by different threads, also if both are of one folder. Nothing here is
 * async-signal-safe. Names are as the trace has them: they may hold any byte but NUL, so escape what you show.
 *
 * Pointers to structures are valid until what they were asked of is closed, if nothing else is said. Structures grow
 * at their end in later versions, but for errors, items, events and flat calls, which keep their size; those that a
 * caller fills in begin with `size`, which it sets to sizeof the structure, and all else that it does not use is 0.
 * Times are ns on CLOCK_MONOTONIC of the host that recorded, spans are ns.
 *
 * All since 0.1. Compilers take it as C89, with long long and <stdint.h>, and as C++98.
 */
#ifndef XAUDIT_READ_H
#define XAUDIT_READ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xaudit_read_trace;
struct xaudit_read_process;
struct xaudit_read_calls;
struct xaudit_read_events;
struct xaudit_read_profile;
struct xaudit_read_values;

#define XAUDIT_READ_UNKNOWN UINT64_MAX /* a number that is not known */

/* ---- errors ---- */

enum xaudit_read_why {
	XAUDIT_READ_OK,
	XAUDIT_READ_NO_FILE,	/* it can't be opened: number is an errno */
	XAUDIT_READ_NO_TRACE,	/* it can be opened, but it is no trace, and none is in it */
	XAUDIT_READ_NO_PROCESS, /* the trace has no such process */
	XAUDIT_READ_DAMAGED,	/* nothing of it can be read: file, offset and text tell of the first place */
	XAUDIT_READ_NO_MEMORY,
	XAUDIT_READ_USAGE	/* an option has an impossible value */
};

struct xaudit_read_error {
	int why;	 /* enum xaudit_read_why */
	int number;	 /* an errno, or 0 */
	uint64_t offset; /* in the file, or XAUDIT_READ_UNKNOWN */
	uint64_t more;	 /* of XAUDIT_READ_DAMAGED: how many places beside this one */
	char file[256];	 /* what it is about; its end, if it is longer */
	char text[1024]; /* one line for people, without "xaudit: " and newline, the file's name included */
};

/*
 * How many places of the trace could not be read so far; first, unless NULL: the first of them (why is
 * XAUDIT_READ_OK if there is none, XAUDIT_READ_NO_MEMORY if memory ran out: then the rest was not read).
 */
uint64_t xaudit_read_damage(const struct xaudit_read_trace *trace, struct xaudit_read_error *first);

/* ---- traces ---- */

/* The library's version: "0.1.0". */
const char *xaudit_read_version(void);

struct xaudit_read_options {
	size_t size;
	uint32_t pid; /* only the process of this number; 0: all */
	/* The path is a folder DIR/p123: opens the process whose head is at `place` there, and nothing beside it. */
	int alone;
	uint32_t place;
};

/*
 * Opens the trace in a folder (DIR, or one process of it: DIR/p123), or in a file of `xaudit pack`. options: NULL: all
 * 0. Returns NULL, and why, when there is nothing to read.
 */
struct xaudit_read_trace *xaudit_read_open(
	const char *path, const struct xaudit_read_options *options, struct xaudit_read_error *error);

/* Opens what a running process records now. It is read as far as it reached when reading of each file began. */
struct xaudit_read_trace *xaudit_read_open_live(uint32_t pid, struct xaudit_read_error *error);

/*
 * Opens all processes of a folder DIR/p123 by descriptors, of DIR, which must stay open, and of that folder: nothing is
 * opened by path, so it does not matter who may put what there meanwhile. The path is for messages, and ends with the
 * folder's name.
 */
struct xaudit_read_trace *xaudit_read_open_family(
	int dir, int folder, const char *path, struct xaudit_read_error *error);

/*
 * May a path that is no folder be the name of a process: DIR/p124 of one that was forked, whose data are in another
 * one's folder? True, too, if there is no memory to find out, which opening it will tell.
 */
int xaudit_read_may_be_process(const char *path);

/* Closes it, and all that was made of it. NULL: nothing. */
void xaudit_read_close(struct xaudit_read_trace *trace);

struct xaudit_read_trace_info {
	const char *path;
	const char *version; /* of the xaudit that recorded; NULL: not recorded under `xaudit record` */
	const char *command; /* of `xaudit record`; NULL */
	const char *status;  /* how the command ended, in words; NULL */
	uint64_t start;	     /* the earliest start of a process: what times are shown relative to */
	uint64_t start_real; /* the same moment, ns since 1970; 0: not known */
	int packed;	     /* a file of `xaudit pack` */
	int sched;	     /* context switches were recorded: times on processors are known */
	int coarse;	     /* the clock was read for one event in so many, and their times are bounds; 0: for each */
	uint32_t processes;
};

const struct xaudit_read_trace_info *xaudit_read_trace_info(const struct xaudit_read_trace *trace);

/* ---- processes, objects, functions ---- */

/* Processes have numbers from 0 in the order of their start. NULL: there is none of that number. */
struct xaudit_read_process *xaudit_read_process(struct xaudit_read_trace *trace, uint32_t number);

struct xaudit_read_process_info {
	uint32_t pid, parent;
	const char *name; /* as in paths: "p123" */
	const char *exe, *command, *host; /* NULL: not recorded; the command is shell-quoted */
	uint64_t start, end; /* end: the last moment that it left in the trace */
	uint32_t threads; /* thread records */
	uint64_t lost;	  /* events that could not be recorded */
};

const struct xaudit_read_process_info *xaudit_read_process_info(struct xaudit_read_process *process);

struct xaudit_read_object {
	const char *path;     /* "[unknown]" for code without a file */
	const char *soname;   /* or empty */
	const char *build_id; /* in hex, or empty */
};

/* A function of a trace: processes that have the same one (name, path of the object) share it. */
struct xaudit_read_function {
	const struct xaudit_read_object *object;
	const char *name; /* its symbol, not demangled; or "library+0xoffset"; "[unknown]" */
	uint64_t offset;  /* link-time address in the object, as one of the processes has it */
	uint32_t number;  /* 0, 1, ... in this trace, in the order in which they were met */
	uint32_t kind;	  /* how it was traced: the number of a kind in xaudit.conf(5) */
	const char *aliases; /* its other names, as far as its index has them: each with its NUL, then an empty one */
};

/* How many functions were met so far, and one of them by number. */
uint32_t xaudit_read_functions(const struct xaudit_read_trace *trace);
const struct xaudit_read_function *xaudit_read_function(const struct xaudit_read_trace *trace, uint32_t number);

/*
 * A probe of a trace: an instruction of an object, in the midst of its functions; each time that a thread came there
 * was recorded, with values or without. Processes that have the same one (name, object, address) share it. It is none
 * of the functions above. Since 0.1.
 */
struct xaudit_read_probe {
	const char *name; /* not its alone: others, at other addresses, may have it, too */
	const struct xaudit_read_object *object;
	uint64_t offset;  /* link-time address in the object */
	uint32_t number;  /* 0, 1, ... in this trace, in the order in which they were met */
	uint32_t reserved;
};

/* How many probes were met so far, and one of them by number; NULL: there is none. */
uint32_t xaudit_read_probes(const struct xaudit_read_trace *trace);
const struct xaudit_read_probe *xaudit_read_probe(const struct xaudit_read_trace *trace, uint32_t number);

/* A thread of a process. */
struct xaudit_read_thread {
	struct xaudit_read_process *process;
	uint32_t tid;
	uint32_t number;  /* 0, 1, ... in this trace, in the order in which they were met */
	const char *name; /* the newest that is known, or empty. It may change as reading goes on */
};

/* How many threads were met so far, and one of them by number; NULL: there is none. */
uint32_t xaudit_read_threads(const struct xaudit_read_trace *trace);
const struct xaudit_read_thread *xaudit_read_thread(const struct xaudit_read_trace *trace, uint32_t number);

/* ---- calls ---- */

enum xaudit_read_end {
	XAUDIT_READ_RETURNED = 1,
	XAUDIT_READ_JUMPED,  /* its last act was a jump to another function */
	XAUDIT_READ_UNWOUND, /* by an exception, longjmp, the end of its thread */
	XAUDIT_READ_CUT,     /* a call around it ended; so it did, then or before */
	XAUDIT_READ_NO_END,  /* not known when: still open at the end, or where events were lost */
	XAUDIT_READ_OFF,     /* not known when: recording of functions was switched off while it was open */
	XAUDIT_READ_POINT    /* only its entry is recorded: it is a XAUDIT_READ_CALL, without XAUDIT_READ_ENTER */
};

/* A call. */
struct xaudit_read_call {
	struct xaudit_read_call *parent; /* the call around it, of traced functions on its stack; NULL: none */
	const struct xaudit_read_function *function;
	struct xaudit_read_process *process;
	uint32_t tid;	    /* the thread that began it */
	uint32_t stack;	    /* number of its stack in the process; 0: its thread's only one */
	uint32_t depth;	    /* 0: no parent */
	uint32_t recursion; /* how many calls of this function are open around it, on its stack */
	uint64_t start;
	/* The rest is known when the call is over. */
	uint64_t end;	    /* XAUDIT_READ_UNKNOWN: not known */
	uint32_t how;	    /* enum xaudit_read_end; 0: it is open */
	uint32_t reserved;
	uint64_t self;	    /* its time less that of the calls that it made; 0 if its end is not known */
	uint64_t children;  /* the time of these; 0 if it made none */
	/*
	 * What it adds to the `total` of its function: its time, or 0 for a recursive call; if its time is not known,
	 * that of the calls of its function in it. The sum over all calls counts no moment of a stack twice. Calls that
	 * the options leave out are not looked at: a call is recursive if it is in another one that is not left out.
	 */
	uint64_t total;
	/* Of its time, and of `self`, on processors; XAUDIT_READ_UNKNOWN: not known, or not recorded */
	uint64_t cpu, cpu_self;
	/* The caller's, first 0: of the parent too, so what is known of a call may be kept in the calls around it. */
	uint64_t user[2];
	uint64_t id; /* its number among those that this cursor came to: 0, 1, ... in the order in which they began */
	/*
	 * Times that are not rounded, for sums over any choice of the cursor's calls: xaudit_read_calls_ns() makes ns
	 * of a sum. Of calls that xaudit_read_events() tells of: 0.
	 */
	struct xaudit_read_ticks {
		uint64_t self, children, total; /* as above */
		uint64_t cpu, cpu_self;		/* as above; XAUDIT_READ_UNKNOWN, too */
	} ticks;
	/*
	 * Its values, as they were recorded when it began and when it ended: see xaudit-read-values.h. NULL: it has
	 * none, or they were not asked for. As long valid as the call.
	 */
	const struct xaudit_read_values *entered, *ended;
	/*
	 * The request that it belongs to, as text for people, in which nothing can steer a terminal; NULL: none, or
	 * they were not asked for. As long valid as the call.
	 */
	const char *request;
};

enum xaudit_read_what {
	XAUDIT_READ_END = 0, /* there is nothing more, or no memory: xaudit_read_damage() */
	XAUDIT_READ_CALL,    /* a call is over, or is given up: how tells. Calls in it came before */
	XAUDIT_READ_ENTER,   /* a call begins */
	XAUDIT_READ_CUSTOM,  /* an event of the program's own */
	XAUDIT_READ_LOST,    /* `count` events were lost here; tid 0: it is not known where in the process */
	XAUDIT_READ_GONE,    /* of a ring, `count` buffers were overwritten here; 0: not known how many */
	XAUDIT_READ_COUNTED, /* `count` calls of `function` were only counted (after all other items of a process) */
	XAUDIT_READ_PROBE,   /* the thread came to `probe` */
	XAUDIT_READ_PROBES_COUNTED /* `probe` was only counted, `count` times; where COUNTED is */
};

struct xaudit_read_item {
	int what; /* enum xaudit_read_what */
	uint32_t tid;
	struct xaudit_read_process *process;
	struct xaudit_read_call *call; /* of ENTER and CALL; of CUSTOM and PROBE the innermost open one, or NULL */
	const struct xaudit_read_function *function; /* of ENTER, CALL, COUNTED */
	const char *thread;   /* name of the thread `tid`; empty: not known. Until the next xaudit_read_next_call() */
	uint64_t time;	      /* of CALL: when it was over or, if that is not known, where it was given up */
	uint64_t count;	      /* of LOST, GONE, COUNTED, PROBES_COUNTED */
	const char *type;     /* of CUSTOM: its name; NULL: it has none */
	uint32_t type_number; /* of CUSTOM, in its process */
	uint32_t data_size;
	const void *data;     /* of CUSTOM: until the next call of xaudit_read_next_call() */
	/* Of PROBE, PROBES_COUNTED. Its values, if it has some, and they are asked for: until the next item; or NULL */
	const struct xaudit_read_probe *probe;
	const struct xaudit_read_values *values;
	uint64_t reserved[2]; /* 0 */
};

struct xaudit_read_calls_options {
	size_t size;
	int enters; /* XAUDIT_READ_ENTER too */
	int customs; /* XAUDIT_READ_CUSTOM too */
	int losses; /* XAUDIT_READ_LOST and XAUDIT_READ_GONE too */
	int counted; /* XAUDIT_READ_COUNTED too */
	uint32_t tid; /* only calls that this thread began; 0: of all */
	/*
	 * Only calls with from <= start, and start < to (0: no end); their times are whole. What comes before is passed
	 * over quickly; nothing is made of it but the calls that are open at `from`, as parents. What comes behind
	 * `to` is not read once none of these calls is open, unless customs, losses, sums or probes are asked for.
	 */
	uint64_t from, to;
	struct xaudit_read_process *process; /* only of this process; NULL: of all */
	int values; /* values of calls, too */
	int requests; /* which requests calls belong to, too */
	int sums; /* xaudit_read_calls_sums() shall be of all in the end, `to` or not */
	int probes; /* XAUDIT_READ_PROBE too; with `counted` XAUDIT_READ_PROBES_COUNTED, too. Since 0.1 */
};

/*
 * Goes through all calls: process by process, thread record by thread record; within one in the order of time. (Where
 * threads go on with each other's calls, so that order is needed between them, in the order of changes of stacks.)
 * Several may be open at once. NULL: no memory, or a wrong option.
 */
struct xaudit_read_calls *xaudit_read_calls(struct xaudit_read_trace *trace,
	const struct xaudit_read_calls_options *options, struct xaudit_read_error *error);

/*
 * The next item. Returns item->what. A call's pointer is valid until the call after its XAUDIT_READ_CALL; that of a
 * parent as long as it is open.
 */
int xaudit_read_next_call(struct xaudit_read_calls *calls, struct xaudit_read_item *item);

/*
 * The same without pointers, many at a time: for languages in which each access costs. Without gaps, its size is
 * sizeof(struct xaudit_read_flat), and it will not change.
 */
struct xaudit_read_flat {
	uint64_t id, parent;  /* parent: id of the call around it; XAUDIT_READ_UNKNOWN: none */
	uint64_t start, end;  /* as of struct xaudit_read_call, and so is the rest */
	uint64_t self, total, cpu;
	uint64_t count;	      /* 1; of calls that were only counted (how: 0, id and times: not known) their number */
	uint32_t function, process; /* numbers: xaudit_read_function(), xaudit_read_process() */
	uint32_t tid, stack, depth, how;
};

/*
 * The next calls that are over, and those that were only counted if the options ask for them; other items are passed
 * over. Returns how many were written to `to`, at most `room`; 0: there is nothing more, or no room.
 */
size_t xaudit_read_next_flat(struct xaudit_read_calls *calls, struct xaudit_read_flat *to, size_t room);

/* What is known so far, of all that was read, of what the calls leave out, whatever the options ask for. */
struct xaudit_read_sums {
	uint64_t lost;	      /* events that could not be recorded */
	uint64_t unfinished;  /* calls: how was XAUDIT_READ_NO_END */
	uint64_t off;	      /* ... XAUDIT_READ_OFF */
	uint64_t points;      /* ... XAUDIT_READ_POINT */
	uint64_t counted;     /* calls that were only counted (if the options ask for them) */
	uint64_t orphans;     /* ends of calls that began before the trace, or whose beginning was lost */
	uint64_t inherited;   /* ends, in forked processes, of calls that their parents began */
	uint64_t overwritten; /* buffers of rings that newer ones have overwritten */
	uint64_t customs;     /* events of the program's own */
	uint64_t custom_unfinished; /* ... that were begun, but not finished */
	uint64_t crashes;
	int signal;	      /* of the last crash */
	int reserved;
	uint64_t probes;      /* how often threads came to probes, without what was only counted */
};

const struct xaudit_read_sums *xaudit_read_calls_sums(const struct xaudit_read_calls *calls);

/* A time, or a sum of times, of this cursor's calls (struct xaudit_read_ticks) in ns, rounded. */
uint64_t xaudit_read_calls_ns(const struct xaudit_read_calls *calls, uint64_t ticks);

/* How far it came: bytes of events that were read, and of all. For a progress bar. */
void xaudit_read_calls_done(struct xaudit_read_calls *calls, uint64_t *done, uint64_t *all);
void xaudit_read_calls_close(struct xaudit_read_calls *calls);

/* ---- profiles ---- */

/* What a row is about. By process: each program that one of them executed has a row of its own. */
enum xaudit_read_by {
	XAUDIT_READ_BY_FUNCTION,
	XAUDIT_READ_BY_LIBRARY,
	XAUDIT_READ_BY_THREAD,
	XAUDIT_READ_BY_PROCESS
};

struct xaudit_read_profile_options {
	size_t size;
	int by;	   /* enum xaudit_read_by */
	int apart; /* each process has rows of its own; else they are added up over all */
	uint32_t pid, tid; /* only calls of this process, of this thread; 0: all */
	/*
	 * Only calls that began then: ns after the start of their trace, before `to` (0: no end); their times are
	 * whole. With this or a tid, calls that were only counted are left out: nothing tells when they began.
	 */
	uint64_t from, to;
	uint32_t jobs; /* threads that read: 0 and 1: only the caller's; XAUDIT_READ_ALL_CPUS: one per processor */
	/* Called now and then, in the caller's thread: bytes of events that were read, and of all. NULL: nothing. */
	void (*progress)(void *user, uint64_t done, uint64_t all);
	void *user;
};

#define XAUDIT_READ_ALL_CPUS UINT32_MAX

/* All calls of a function, a library or a thread. Of several traces, functions and libraries of one name are one. */
struct xaudit_read_row {
	const char *name;    /* of the function, or of the thread (NULL: not known); else NULL */
	const char *library; /* path, by function or library; else NULL */
	uint32_t trace, pid; /* number of the trace, and process, by thread, process or if these are apart; else 0 */
	uint32_t tid;	     /* by thread; else 0 */
	uint32_t number;     /* of the row in the profile */
	uint64_t calls;	     /* that began, also those without an end */
	uint64_t counted;    /* of these, those that were only counted */
	uint64_t timed;	     /* of these, those whose times are known: the rest is about them */
	uint64_t total;	     /* their times, where a call in one of the same row adds nothing */
	uint64_t self;	     /* their times, less those of traced calls in them */
	uint64_t sum;	     /* their times, all added up */
	uint64_t min, max;   /* 0 if there are none */
	double variance;     /* of these times: the square of their standard deviation, which is within 1 %; ns^2 */
	uint64_t max_start;  /* when the first that took `max` began, ns on CLOCK_MONOTONIC; and whose it was: */
	uint32_t max_trace, max_pid, max_tid;
	uint32_t process;    /* by process: its number in the trace, for xaudit_read_process(); else 0 */
	uint64_t throttled;	  /* since then its calls are only counted, ns on CLOCK_MONOTONIC; 0: they are not */
	uint64_t throttled_after; /* the same after the start of its process */
	/* On processors, of `total` and of `self`; XAUDIT_READ_UNKNOWN: not recorded, or not known of some call. */
	uint64_t cpu, cpu_self;
	uint64_t cpu_unknown; /* how many of the timed calls these are */
	const char *aliases;  /* of a function: its other names, each with its NUL, then an empty one; else empty */
};

/* What the rows leave out, or can't tell, over all. */
struct xaudit_read_profile_info {
	uint64_t lost;	      /* events that could not be recorded */
	uint64_t unfinished;  /* calls without an end */
	uint64_t orphans;     /* ends of calls whose begin is not in the trace */
	uint64_t inherited;   /* ends, in a forked process, of calls that its parent began */
	uint64_t points;      /* calls whose end is not recorded */
	uint64_t counted;     /* calls that were only counted */
	uint64_t no_end;      /* calls without time, since recording of functions was switched off in them */
	uint64_t overwritten; /* chunks that were overwritten by newer ones */
	uint64_t customs_unfinished; /* events of the program's own that were begun, but not finished */
	uint64_t crashes;     /* processes that ended by a signal */
	int signal;	      /* of the last of them */
	uint32_t rows, customs;
	int sched;	      /* context switches were recorded, in all traces */
	uint64_t cpu_unknown; /* calls of which it is not known how long they were on processors */
	uint64_t valued;      /* calls, ends of calls, and probes, that have values */
	uint32_t probes;      /* rows of probes */
	uint32_t reserved;
};

/* Events of the program's own, of one type. */
struct xaudit_read_custom {
	const char *type; /* its name, or NULL */
	uint32_t number;  /* of a type without a name */
	uint64_t count, bytes;
};

/* All probes of one name in one library. Since 0.1. */
struct xaudit_read_probe_row {
	const char *name;
	const char *library; /* path */
	uint64_t count;	     /* how often threads came there, also if that was only counted */
	uint64_t counted;    /* of these, those that were only counted */
	uint64_t valued;     /* of these, those that have values */
	/* The first and the last of those that were not only counted, ns after the start of their trace; 0: none */
	uint64_t first, last;
};

/* Calls whose times lie from `low` to `high` ns. */
struct xaudit_read_bucket {
	uint64_t low, high, count;
};

/*
 * Counts all calls of these traces, which must be different ones, and stay open. Memory: for the functions, for each of
 * the jobs; not for the calls. Returns NULL, and why, if there is no memory, or if an option is wrong. What can't be
 * read is left out: xaudit_read_damage(). Rows come in the order of `total`, the highest first.
 */
struct xaudit_read_profile *xaudit_read_profile(struct xaudit_read_trace *const *traces, size_t count,
	const struct xaudit_read_profile_options *options, struct xaudit_read_error *error);
void xaudit_read_profile_close(struct xaudit_read_profile *profile);

const struct xaudit_read_profile_info *xaudit_read_profile_info(const struct xaudit_read_profile *profile);

/* By number, from 0 on. NULL: there is none. Types of events, and probes, come with the most frequent first. */
const struct xaudit_read_row *xaudit_read_profile_row(const struct xaudit_read_profile *profile, uint32_t number);
const struct xaudit_read_custom *xaudit_read_profile_custom(
	const struct xaudit_read_profile *profile, uint32_t number);
const struct xaudit_read_probe_row *xaudit_read_profile_probe(
	const struct xaudit_read_profile *profile, uint32_t number);

/*
 * The shortest time that at least `percent` of a row's timed calls don't exceed: true within 0.8 %, whatever the times
 * are, since they are counted in buckets whose width is at most 1/64 of their lowest time; never below min or above
 * max, which 0 and 100 percent are.
 */
uint64_t xaudit_read_profile_percentile(
	const struct xaudit_read_profile *profile, const struct xaudit_read_row *row, double percent);

/*
 * These buckets, as far as calls fell in them, with the shortest times first: writes up to `room` of them, and returns
 * how many there are.
 */
size_t xaudit_read_profile_buckets(const struct xaudit_read_profile *profile, const struct xaudit_read_row *row,
	struct xaudit_read_bucket *to, size_t room);

/* ---- sketches ---- */

/*
 * Times, or other values, of which the caller wants percentiles as a profile has them. Memory: 2 KiB, and more if they
 * differ by many powers of two, or are many.
 */
struct xaudit_read_sketch;

/* NULL: no memory. */
struct xaudit_read_sketch *xaudit_read_sketch(void);

/* Returns 0, or -1 if there is no memory: then the value is not counted. */
int xaudit_read_sketch_add(struct xaudit_read_sketch *sketch, uint64_t value);

/* As for profiles. 0: there is no value. */
uint64_t xaudit_read_sketch_percentile(const struct xaudit_read_sketch *sketch, double percent);
size_t xaudit_read_sketch_buckets(
	const struct xaudit_read_sketch *sketch, struct xaudit_read_bucket *to, size_t room);

/* NULL: nothing. */
void xaudit_read_sketch_close(struct xaudit_read_sketch *sketch);

#ifdef __cplusplus
}
#endif

#include "xaudit-read-events.h" /* events in the order of time */
#include "xaudit-read-frames.h" /* who called: backtraces */
#include "xaudit-read-facts.h" /* what was recorded, what was not, and why */
#include "xaudit-read-values.h" /* with what functions were called, and what came back */

#endif
