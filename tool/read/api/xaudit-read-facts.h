/* SPDX-License-Identifier: MIT */
/*
 * xaudit-read-facts.h: the part of xaudit-read.h, which includes it, that tells what was recorded, what was not, and
 * why. What is said there holds here, too.
 */
#ifndef XAUDIT_READ_FACTS_H
#define XAUDIT_READ_FACTS_H

#include "xaudit-read.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a process, as far as its trace and this system tell. */
enum xaudit_read_state {
	XAUDIT_READ_STATE_ENDED = 1, /* by exit() */
	XAUDIT_READ_STATE_RUNNING,   /* still, the same program */
	XAUDIT_READ_STATE_EXECUTED,  /* another program, in the same process */
	XAUDIT_READ_STATE_GONE,      /* killed, or by _exit(); or it executed an untraced program, which is gone */
	XAUDIT_READ_STATE_LEFT       /* it gave up rights, and goes on as another process of the trace */
};

int xaudit_read_process_state(struct xaudit_read_process *process);

/* Is there a process of its number now that may still write (no zombie)? It may be another one. */
int xaudit_read_process_alive(struct xaudit_read_process *process);

/*
 * Were functions chosen in it, or in the process that forked it, so that calls could be recorded? Quick: its records
 * are read only as far as that takes.
 */
int xaudit_read_process_chosen(struct xaudit_read_process *process);

/* What is known of a process before its records are read. Numbers have the meaning that xaudit-trace(5) tells. */
struct xaudit_read_head {
	const char *name;    /* as of its info */
	const char *folder;  /* path of the folder that its data are in: its own, or an ancestor's */
	uint32_t place;	     /* of its head there; 0: the folder is its own */
	int forked;	     /* by a process that was traced: calls that were open there return in both */
	uint32_t version;    /* of the format */
	uint32_t pid, parent;
	uint32_t threads;    /* thread records */
	int exited;	     /* it has ended by exit() */
	int off;	     /* xaudit has switched itself off; a note says why */
	int recording;	     /* 0: stopped */
	uint32_t mode;	     /* xaudit_read_mode_word() */
	uint32_t overflow;   /* 1: events are dropped where the disk is too slow */
	uint64_t ring_bytes; /* of the ring, per thread; 0: there was none */
	uint64_t ring_chunk_bytes;
	uint32_t coarse;     /* up to so many events of a thread share a reading of the clock; 0: none do */
	uint32_t lost_error; /* an errno: why a file could not be made or grown; EFBIG: size limit; 0: all could */
	uint32_t record_error; /* an errno: why `xaudit record` could not help with a file; 0: it could */
	int clock_tsc;	     /* the clock of its events is the processor's; 0: CLOCK_MONOTONIC */
	int clock_known;     /* 0: the rate is not, and a tick is taken for 1 ns */
	int clock_fresh;     /* one of the pairs was taken now */
	uint32_t clock_pairs; /* moments that were read on both clocks, which give the rate */
	double clock_hz;
	double clock_ppm;    /* estimated error of the rate, in millionths */
	uint64_t lost;	     /* events that could not be recorded */
	uint64_t taken_back; /* calls that the rules left out afterwards, for their time */
	uint64_t no_return;  /* calls whose return could not be intercepted for want of memory */
	uint64_t records_lost; /* of names and loads */
};

/* Valid until it is asked for again. */
const struct xaudit_read_head *xaudit_read_process_head(struct xaudit_read_process *process);

/* Programs of one name that the process, or another one of its family, executed, and that were not traced. */
struct xaudit_read_executed {
	const char *name; /* last component of the path, up to 47 bytes of it; "": various others */
	uint64_t count;	  /* how many of that name */
	/* 1: by their environment; 2: they get other rights; 3: not run by glibc's dynamic linker; 0: various */
	uint32_t why;
	const char *word; /* for why: "environment", "rights", "static"; "": various */
};

/* number: from 0 on; NULL: there are no more. Valid until it is called again. Told once for a family. */
const struct xaudit_read_executed *xaudit_read_process_executed(
	struct xaudit_read_process *process, uint32_t number);

/* Reads the head again: it changes while the process runs. Returns 0 if it can't be read. */
int xaudit_read_process_again(struct xaudit_read_process *process);

/* What its records tell. */
struct xaudit_read_facts {
	const char *module;	   /* version of libxaudit.so; NULL: not recorded */
	const char *rules;	   /* where the rules came from; NULL: not recorded */
	const char *const *note;   /* what xaudit said on stderr about the recording */
	uint32_t notes;
	uint32_t objects, changes; /* see below */
	uint64_t loads, unloads;   /* of objects */
	uint32_t probes;	   /* see below. Since 0.1 */
	uint32_t reserved;
};

/*
 * Reads its records, as far as they reach now, and keeps them until the trace is closed. Valid until the facts are
 * asked for again. NULL: no memory.
 */
const struct xaudit_read_facts *xaudit_read_process_facts(struct xaudit_read_process *process);

/* How many functions of an object could be traced, or why not: one of these for each kind and reason that occurs. */
struct xaudit_read_sites {
	uint32_t kind;	 /* xaudit_read_kind_word() */
	uint32_t reason; /* xaudit_read_reason_phrase(); 0: traced */
	uint32_t count;
};

enum xaudit_read_role { XAUDIT_READ_PROGRAM = 1, XAUDIT_READ_LOADER = 2, XAUDIT_READ_VDSO = 4 };

/* An object as one process had it. */
struct xaudit_read_process_object {
	const char *path;     /* as of struct xaudit_read_object */
	const char *soname;   /* or empty */
	const char *build_id; /* in hex, or empty */
	uint32_t role;	      /* mask of enum xaudit_read_role; 0: a library */
	uint32_t kinds;	      /* mask of 1 << kind: those that the rules ask for */
	const struct xaudit_read_sites *site;
	uint32_t sites;
	int has_pages; /* the rest is known: */
	uint32_t text_pages, site_pages; /* of its code; of these, with sites */
	uint32_t patched_pages;		 /* of these, changed: so private to the process */
};

/* One of facts.objects. Valid until the facts are asked for again. NULL: there is none of that number. */
const struct xaudit_read_process_object *xaudit_read_process_object(
	struct xaudit_read_process *process, uint32_t number);

/* Something about the recording changed while the process ran. */
struct xaudit_read_change {
	uint64_t time;
	uint64_t after; /* how long after the start of the process */
	uint32_t what;	/* its number */
	uint32_t tid;	/* the thread that did or noticed it */
	const char *word; /* for people: "throttled"; "changed" for an unknown number */
	const char *text; /* or empty */
	uint64_t value;
	const struct xaudit_read_function *function; /* that was throttled: it is only counted from here on. Or NULL */
};

/* One of facts.probes, whether a thread came there or not, as xaudit_read_process_object(). Since 0.1. */
const struct xaudit_read_probe *xaudit_read_process_probe(struct xaudit_read_process *process, uint32_t number);

/* One of facts.changes, as xaudit_read_process_object(). */
const struct xaudit_read_change *xaudit_read_process_change(struct xaudit_read_process *process, uint32_t number);

#define XAUDIT_READ_CAUSES 16

/* What is in the thread records of a process, or in one of them. */
struct xaudit_read_amounts {
	size_t size;
	uint64_t threads;     /* that have events, or counters */
	uint64_t events;      /* calls and ends of calls */
	uint64_t custom, custom_bytes; /* events of the program's own, and their data */
	uint64_t unfinished;  /* of the program's own, that were begun only */
	uint64_t counted;     /* calls without time, by counters */
	uint64_t lost;	      /* events; of a single thread record 0, since only the sum is known */
	uint64_t lost_by[XAUDIT_READ_CAUSES]; /* by cause: xaudit_read_lost_phrase() */
	uint64_t overwritten; /* buffers of rings */
	uint64_t disk;	      /* bytes that events and counters take */
	uint64_t crashes;
	uint64_t first, last; /* times of the first and the last event; first is XAUDIT_READ_UNKNOWN: there are none */
	int signal;	      /* of the last crash */
	int estimated;	      /* events and custom ones: not all was read */
	uint64_t chunks;      /* buffers of a thread that events are stored in */
	uint32_t tid;	      /* the last thread that wrote the (last) record; 0: there are no events */
	char thread[16];      /* its name, or empty */
	uint64_t probes;      /* how often threads came to probes. Since 0.1 */
};

/*
 * Counts. most: about how many bytes of events are read, XAUDIT_READ_UNKNOWN: all; of what is left out events are
 * estimated by what was read, and what it has of the rest is missing. Returns 0 if there is no memory.
 */
int xaudit_read_process_amounts(
	struct xaudit_read_process *process, uint64_t most, struct xaudit_read_amounts *amounts);

/* The same for one thread record of the process: 0 ... info.threads - 1. */
int xaudit_read_record_amounts(
	struct xaudit_read_process *process, uint32_t record, uint64_t most, struct xaudit_read_amounts *amounts);

/* ---- how far a trace goes ---- */

/*
 * Does the trace know of a thread of this number? Reads the heads of its pieces; all events if these don't name it, and
 * then xaudit_read_threads() has all that there are.
 */
int xaudit_read_has_thread(struct xaudit_read_trace *trace, uint32_t tid);

/*
 * The latest moment that the trace tells of: of an event, or until when a process is known to have run. Quick if some
 * process ran to `enough` or longer: then it is a moment not before that. XAUDIT_READ_UNKNOWN: exact.
 */
uint64_t xaudit_read_last(struct xaudit_read_trace *trace, uint64_t enough);

/*
 * Are all processes of `part` in `whole`, too: from the same files, or from copies that have the same, packed or not?
 * A snapshot of a process that went on is no copy.
 */
int xaudit_read_is_part(const struct xaudit_read_trace *part, const struct xaudit_read_trace *whole);

/* ---- times on processors ---- */

enum xaudit_read_sched_holds {
	XAUDIT_READ_SCHED_NOTHING,  /* `xaudit record` was ended before it began */
	XAUDIT_READ_SCHED_SWITCHES, /* context switches of all threads: times on processors of calls are known */
	XAUDIT_READ_SCHED_TOTALS    /* what threads ran in all: the kernel refused the switches */
};

/* What `xaudit record --sched` recorded of when threads were on processors. */
struct xaudit_read_sched {
	size_t size;
	int holds; /* enum xaudit_read_sched_holds */
	int error; /* an errno: why switches were refused, or not all could be written; 0 */
	int cut;   /* `xaudit record` was killed, or is at work: nothing is known after the last switch */
	int paranoid_known;
	int32_t paranoid;    /* kernel.perf_event_paranoid where it recorded, if known */
	uint32_t reserved;
	uint64_t switches;   /* times that a thread left a processor */
	uint64_t preempted;  /* of these, those that it had to */
	uint64_t lost;	     /* switches that are missing, as far as known */
	uint64_t losses;     /* stretches of time in which some are */
};

/* Returns 0 if there is nothing of that. */
int xaudit_read_sched(struct xaudit_read_trace *trace, struct xaudit_read_sched *to);

/*
 * How long a process, or, tid not 0, one of its threads, was on processors in all, in ns. Returns 0 if that is not
 * known: then it was at least *ns.
 */
int xaudit_read_process_cpu(struct xaudit_read_process *process, uint32_t tid, uint64_t *ns);

/* The tids of those of its threads of which that is known; number: from 0 on. 0: there are no more. */
uint32_t xaudit_read_process_thread(struct xaudit_read_process *process, uint32_t number);

enum xaudit_read_run_state {
	XAUDIT_READ_RUN_ON = 1,	   /* on a processor */
	XAUDIT_READ_RUN_WAITS,	   /* on none: it had given it up; whether it could go on meanwhile is not known */
	XAUDIT_READ_RUN_PREEMPTED, /* on none, though it could go on: it lost it, or the thread has just begun */
	XAUDIT_READ_RUN_UNKNOWN
};

/* A thread was in one state from `from` to `to`. */
struct xaudit_read_run {
	uint64_t from, to;
	int state; /* enum xaudit_read_run_state */
	int reserved;
};

struct xaudit_read_runs;

/*
 * Goes through the states of one thread in the order of time. They follow each other without gaps, from the first
 * moment of which something is known to the last one, but for times when there was no thread of that number; two in a
 * row differ. Where no switches are recorded there is none. NULL: no memory. To be closed before the trace.
 */
struct xaudit_read_runs *xaudit_read_runs(
	struct xaudit_read_process *process, uint32_t tid, struct xaudit_read_error *error);

/* The next one. 0: there are no more. */
int xaudit_read_next_run(struct xaudit_read_runs *runs, struct xaudit_read_run *run);

/* NULL: nothing. */
void xaudit_read_runs_close(struct xaudit_read_runs *runs);

/* ---- what is called now ---- */

struct xaudit_read_follow;

/*
 * Follows the thread records of a process as they grow, from their end on. live: it runs on this machine, so calls that
 * are open get time up to each look; else only up to the last event. If a thread writes faster than this reads, only a
 * sample of its newest events is seen. NULL: no memory.
 */
struct xaudit_read_follow *xaudit_read_follow(
	struct xaudit_read_process *process, int live, struct xaudit_read_error *error);

struct xaudit_read_look {
	uint64_t events;  /* that were read */
	uint64_t counted; /* calls without time, by counters */
	uint64_t skipped; /* parts of thread records that were not read */
	double scale;	  /* so much more there was of events, calls and self times; 1: all was read */
	uint64_t lost;	  /* events that could not be recorded, since it is followed */
	uint32_t threads; /* thread records */
	uint32_t rows;
};

/*
 * Reads what came since the last look, for about `most` ns; and the process's head again. Valid until the next look.
 * NULL: no memory.
 */
const struct xaudit_read_look *xaudit_read_follow_look(struct xaudit_read_follow *follow, int live, uint64_t most);

/* A function, or a probe, since the last look; many have only zeros. */
struct xaudit_read_follow_row {
	const struct xaudit_read_function *function;
	uint64_t calls;	  /* by events */
	uint64_t counted; /* by counters, without time */
	uint64_t self;	  /* while it was the innermost traced function that ran; also of calls that are still open */
	/*
	 * NULL; or it is no function, and so often threads came to this probe: `events`, and `counted` where that was
	 * only counted. Since 0.1
	 */
	const struct xaudit_read_probe *probe;
	uint64_t events;
};

/* One of look.rows. Valid until the next look. NULL: none of that number, or no memory. */
const struct xaudit_read_follow_row *xaudit_read_follow_row(struct xaudit_read_follow *follow, uint32_t number);

void xaudit_read_follow_close(struct xaudit_read_follow *follow); /* NULL: nothing */

/* ---- words ---- */

/* An object in a process, for a time, and how many calls of its functions began then. */
struct xaudit_read_stay {
	struct xaudit_read_process *process;
	const struct xaudit_read_object *object;
	uint64_t from, to; /* from <= moment < to; to XAUDIT_READ_UNKNOWN: no end */
	uint64_t calls;	   /* they are added */
};

struct xaudit_read_stays_options {
	size_t size;
	uint32_t tid;	   /* only calls of this thread; 0: of all */
	uint64_t from, to; /* only calls that began then; to 0: no end */
	/* Told at the end of each process: calls that were in no stay. NULL: nothing. */
	void (*other)(void *user, struct xaudit_read_process *process, const struct xaudit_read_object *object,
		uint64_t calls);
	/* Called now and then: bytes of events that were read, and of all. NULL: nothing. */
	void (*progress)(void *user, uint64_t done, uint64_t all);
	void *user;
};

/*
 * Counts calls, all that are recorded one by one, in these stays; of several of an object at once the last one in the
 * list has a call. In the list, those of an object in a process stand in the order of `from`. Several times faster than
 * going through calls. Returns 0 if there is no memory, or the options have no size.
 */
int xaudit_read_stays(struct xaudit_read_trace *trace, struct xaudit_read_stay *stays, size_t count,
	const struct xaudit_read_stays_options *options);

/* Words for the numbers above. NULL: the format has no such number. */
const char *xaudit_read_state_word(int state);		 /* "ended", "running", "executed", "gone", "left" */
const char *xaudit_read_mode_word(uint64_t mode);	 /* "stream", "ring", "count"; never NULL: "?" */
const char *xaudit_read_kind_word(uint32_t kind);	 /* "xray" and so on, as in xaudit.conf(5) */
const char *xaudit_read_reason_phrase(uint32_t reason);	 /* "not selected by the rules" */
const char *xaudit_read_lost_phrase(uint32_t cause);	 /* "since the disk was full" */

#ifdef __cplusplus
}
#endif

#endif
