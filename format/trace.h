/* SPDX-License-Identifier: MIT */
/*
 * The format of a trace folder: everything that the traced process writes and the tool reads.
 *
 *	DIR/			one trace; may hold many processes
 *	  record		text, written by `xaudit record` alone: "key: value" lines (see RECORD below)
 *	  p<pid>[.<n>]/		one family: the program that process <pid> executed, and the processes forked from it;
 *				.<n> when the name was taken, after an exec or by a new process
 *	    meta		all data of the family except t<n>, in places (see PLACES below)
 *	    t<n>[.<p>]		in mode stream, full chunks of thread record n of the process whose head is place p
 *				(of the first process, at place 0, without .<p>): at multiples of 4096, in no certain
 *				order (stream.h)
 *	    labels		return labels, for profilers alone (labels.h); readers of traces pass over it
 *
 * A chunk may be in meta and in t<n>; it is then one chunk, not two. In t<n> its words may be dense ones (dense.h): its
 * version there is TRACE_CHUNK_DENSE.
 *
 * Everything is little endian and naturally aligned. meta is a shared mapping while a process of the family lives, so
 * what a process wrote is still there after it was killed. After the written part, files are sparse or zero.
 *
 * Writers: heads and records are written under the process lock (runtime/process/process.h); their reader believes the
 * first trace_head.used bytes (release store there, acquire load in the reader). Chunks and counters are written by the
 * thread that owns the record, and by signal handlers on that thread; by no other thread.
 *
 * PLACES. meta is an array of places of head.place_size bytes each, a power of two: twice the chunk. They are taken in
 * ascending order, by all processes of the family; chunks' may be given back. Place 0 begins with the head of the first
 * process. Each place has a word, TRACE_PLACE(), that tells what it is used for and by which process; 0: not used yet,
 * or a process is just taking it, or was killed while it did. The words are written last (release), when the place
 * holds what the reader must find there. They lie together for each block of head.block places, in the block itself
 * (format/places.h): so the file is little larger than what is in it, however many places there may be.
 *	TRACE_PLACE_HEAD	the head of a process and its first records, in the lower half; number: its pid. In the
 *				upper half there may be a chunk of any thread record of that process, or a run of its
 *				counters: what the head there says. Such a place is never given back
 *	TRACE_PLACE_RECORDS	more records: what trace_head.extent tells
 *	TRACE_PLACE_CHUNK	one chunk, in the upper half of the place, always of thread record `number`. The thread
 *				fills the same place again and again; places are not in order of time: the chunks' `seq`
 *				tells the order
 *	TRACE_PLACE_COUNTS	counters of thread record `number`: at the first of several places struct
 *				trace_counts, then one of 8 bytes per function id from id 0 on, trace_counts.size
 *				bytes with the head. A record may have several such runs: the reader adds them up. All
 *				places of a run have words of this type; the run begins at the place that holds the
 *				magic number. One that lies beside a head takes the half place, and has no word
 *	TRACE_PLACE_DIRECTORY	words and what is for publishing, of a block that is not the first; or nothing
 *
 * PUBLISHING. `xaudit record` may write full chunks to t<n> instead of the threads. Each place has a struct
 * trace_handover, which lie beside the words (format/places.h). A thread that has ended a chunk gives it the
 * number that it will have in t<n> (trace_chunk.copied; stream.h), with room for all of it behind the last one's, then
 * says so (`full`, release; then it adds 1 to head.handed, for readers that look now and then). `record` writes the
 * chunk there, its head last; then it tells how many bytes it made of the words (trace_chunk.dense, in meta; 0: they
 * are not dense), and writes `drained`. `full` and `drained` are the chunk's seq + 1. A thread that has not the time to
 * wait takes `full` back, gives the chunk another number, and writes it there: so each room in t<n> has one writer, and
 * a chunk may be in t<n> twice. `record` reads the number, then `full` again. What a thread does not need of the last
 * room, where it wrote the chunk itself, goes to the next chunk: such a file has no holes. A chunk that has a number
 * may be missing in t<n>, for now or for ever: the head at its place in t<n> tells.
 *
 * GIVING BACK. `xaudit record` may give back places of chunks whose process is gone (tool/record/drain/reclaim.h): it
 * makes the words for publishing 0, then the word of the directory TRACE_PLACE(TRACE_PLACE_FREE, 0, 0), names the
 * place in head.free, and adds 1 to head.given. Any thread takes it by exchanging that word for 0, begins a chunk, and
 * sets the word. So the chunk may be another one's than the word told a moment ago: it names its process and thread.
 *
 * LOST EVENTS. head.lost is their number, head.lost_by their number for each cause. trace_chunk.lost tells where they
 * were lost, as far as that is known; head.lost includes these events. head.lost lacks those of TRACE_LOST_GIVEN, which
 * `xaudit record` alone counts.
 *
 * Records. The records of a process are a stream of bytes: first the head and what follows it (records begin at
 * head_size), then the rest of the lower half of the head's place, then the places that `extent` lists, in that order.
 * Positions (`used`, `parent_used`) count in that stream; a record may lie across two extents. Where parent_used is not
 * 0, the records of a forked child begin with its parent's up to parent_used, without notes and changes: what was known
 * at the fork. The parent may itself have a parent.
 *
 * Reading events. An event is one 64-bit word: the low 32 bits are the low half of the clock, the high 32 bits are
 * type<<28 | id. Whole times follow from the chunk's `clock` and then, event by event, from the *signed* 32-bit
 * difference to the previous event's time; the writer inserts a TRACE_SYNC before any event that would be 2^31 ticks or
 * more away. A word of type TRACE_HOLE is no event, whatever its other bits: skip it. Times may step back a little
 * where a signal handler interrupted the recorder: take the maximum. After a word of TRACE_CONTROL come its payload
 * words. A first payload word that is 0, or a hole whose low half is TRACE_TOKEN, was not written: its writer was
 * killed, or interrupted and never resumed. A word of TRACE_VALUED has a payload, too, which is whole: until it is,
 * TRACE_RESERVED stands there; or, where it has TRACE_VALUED_LATE, the chunk's token in its payload's first word.
 *
 * Each stack has its own open calls, whichever threads run on it (coroutines, handlers of signals): an end belongs to a
 * call on the stack where the event is. Stacks have numbers from 1 on. A number stands for one stack in one process: a
 * later stack in the same memory has another number. trace_chunk.stack is the number of the stack on which a chunk
 * begins.
 */
#ifndef XAUDIT_FORMAT_TRACE_H
#define XAUDIT_FORMAT_TRACE_H

#include <stdint.h> /* uint64_t */

#include "format/ask.h"
#include "format/chain.h"
#include "format/reasons.h"
#include "format/valued.h"

#define TRACE_MAGIC   "xaudit\0\1" /* 8 bytes at the start of meta */
#define TRACE_VERSION 4 /* 3: of a chunk alone, TRACE_CHUNK_DENSE. To older readers a TRACE_PROBE is a word of damage */

/* ---- events ---- */

enum trace_type {
	TRACE_HOLE = 0,
	TRACE_ENTRY = 1,    /* id: the function that was called */
	TRACE_EXIT = 2,	    /* id: the function that returned */
	TRACE_TAIL = 3,	    /* id: the function that ended by jumping to another one */
	/*
	 * id: a function that ended without returning: throw, longjmp, thread exit. A call that a signal handler jumped
	 * out of while its entry or its end was being recorded has this end although the entry is missing, or another
	 * end is there already
	 */
	TRACE_UNWIND = 4,
	TRACE_POINT = 5,    /* id: a function that was called; its return is not intercepted (no end will follow) */
	TRACE_PROBE = 6, /* id: a probe (format/probe.h) that the thread came to: no call begins or ends */
	TRACE_ENTRY_KEPT = 7, /* read as TRACE_ENTRY (runtime/record/filter.c says what it is for) */
	TRACE_STACK = 8,      /* no event; id: number of the stack that the events which follow are on */
	/* an event of one of the types above, with values; id: TRACE_VALUED_ID(); its payload: format/values.h */
	TRACE_VALUED = 9,
	TRACE_CONTROL = 15, /* id: subtype | payload words << 8; unknown subtypes are skipped by that count */
};

enum trace_control {
	TRACE_SYNC = 1,	  /* 1 word: the whole clock */
	TRACE_THREAD = 2, /* 1 word: tid; the events that follow are of this thread, which starts with no open calls */
	TRACE_CRASH = 3,  /* 1 word: number of the signal that is about to end the process */
	/*
	 * 1 + n words: type << 32 | size in bytes, then so many bytes, padded. Its first word is written last. If more
	 * words come behind these, the first one is the key of a backtrace, and the others, if there are any, tell this
	 * chunk what that is (chain.h).
	 */
	TRACE_CUSTOM = 4,
	/*
	 * 1 word: calls << 32 | number. What seemed to be one stack was two: the innermost `calls` of its open calls
	 * stay on it; the calls around them, and the events that follow, belong to the stack with this number. With
	 * TRACE_PART_OUTER, `calls` are those that belong to it, the outermost ones: another thread was on the stack
	 * meanwhile, and how many are open inside of them depends on the moment.
	 */
	TRACE_PART = 5,
	/* n words: no event; TRACE_RESERVED: one with values is being written there, or its writer never came back */
	TRACE_RESERVED = 6,
	TRACE_GIVEN_UP = 7,
};

#define TRACE_PART_OUTER 0x80000000u /* in the payload of TRACE_PART */

/* Types of custom events; from TRACE_TYPE_FIRST on they are registered by name (TRACE_REC_EVENT_TYPE). */
enum trace_event_type {
	TRACE_TYPE_UNTYPED = 0,
	TRACE_TYPE_MARK = 1, /* a text for users */
	TRACE_TYPE_REQUEST = 2, /* a request begins on the stack, for calls that begin there from now on: a text */
	TRACE_TYPE_REQUEST_NUMBER = 3, /* the same: a number of 8 bytes */
	TRACE_TYPE_REQUEST_END = 4, /* the newest one is over, as it is with the call in which it began */
	TRACE_TYPE_FIRST = 16,
};

#define TRACE_CUSTOM_MAX 4096 /* bytes of data */
/* Words of a custom event, most, with a backtrace, but without its own first word. */
#define TRACE_CUSTOM_WORDS (1 + TRACE_CUSTOM_MAX / 8 + 1 + CHAIN_MOST + 1)

#define TRACE_ID_BITS	    28
#define TRACE_STACK_BITS    21 /* of a stack's number: the memory; bits above: which of its stacks, one after another */
#define TRACE_ID_MASK	    ((1u << TRACE_ID_BITS) - 1)
#define TRACE_WORD(type, id) ((uint32_t)(type) << TRACE_ID_BITS | (uint32_t)(id))
#define TRACE_EVENT(type, id, clock) ((uint64_t)TRACE_WORD(type, id) << 32 | (uint32_t)(clock))
#define TRACE_TYPE_OF(event)	      ((uint32_t)((event) >> (32 + TRACE_ID_BITS)))
#define TRACE_ID_OF(event)	      ((uint32_t)((event) >> 32) & TRACE_ID_MASK)
#define TRACE_CONTROL_ID(subtype, words) ((uint32_t)(subtype) | (uint32_t)(words) << 8)
#define TRACE_CONTROL_SUBTYPE(id)     ((id) & 0xff)
#define TRACE_CONTROL_WORDS(id)	      ((id) >> 8)

/* Words that follow this one as its payload. They may not be there yet. */
#define TRACE_PAYLOAD_OF(event)                                                                    \
	(TRACE_TYPE_OF(event) == TRACE_CONTROL	? TRACE_CONTROL_WORDS(TRACE_ID_OF(event))          \
		: TRACE_TYPE_OF(event) == TRACE_VALUED ? TRACE_VALUED_WORDS(TRACE_ID_OF(event)) : 0)

#define TRACE_CHUNK_DENSE 3 /* trace_chunk.version of a chunk of dense words, in t<n>; all else is as in other chunks */
#define TRACE_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define TRACE_CHUNK_MIN	  (64ul << 10)
#define TRACE_CHUNK_MAX	  (1ul << 30)

/* Low half of the words that a chunk holds where no event is: no custom event has that size. */
#define TRACE_TOKEN 0xffffffffu

/* Start of each chunk. Suffices to decode the chunk alone. */
struct trace_chunk {
	uint32_t magic;
	uint16_t version;
	uint16_t head_size; /* of this struct: events begin here */
	uint64_t seq;	    /* 0, 1, ... of this thread record */
	uint32_t pid, tid;  /* of the thread that began it; TRACE_THREAD may change the tid */
	uint64_t clock;	    /* whole clock when it was begun */
	uint64_t size;	    /* of the chunk, header and slack included */
	/* where the events end, from the chunk's start; 0: not finished, read to the end, skip zeros */
	uint64_t used;
	uint64_t lost;	    /* events of this thread that were lost right before this chunk */
	char comm[16];	    /* name of the thread, or empty; read again when it ends */
	uint64_t token;	    /* a hole: no event was written there */
	uint64_t copied;    /* in meta: 0, or its number in t<n> (stream.h). In t<n>: 0 */
	uint32_t mode;	    /* enum trace_mode, when it was begun */
	uint32_t process;   /* place of its process's head */
	uint32_t thread;    /* its thread record */
	/* number of the stack that its first events are on; 0: not known, probably the thread's own */
	uint32_t stack;
	/* bytes after the head, where its words are dense: `used` is as if they were not. In meta: see PUBLISHING */
	uint64_t dense;
	uint8_t reserved[16];
};
_Static_assert(sizeof(struct trace_chunk) == 128, "part of the format");

/* ---- counters ---- */

#define TRACE_COUNTS_MAGIC 0x53544e43u /* "CNTS" */

/* Counters of 8 bytes follow, one per function id, from id 0 on, as many as there is room for. */
struct trace_counts {
	uint32_t magic;
	uint16_t version;
	uint16_t head_size; /* of this struct */
	uint32_t pid, tid;  /* tid 0: of several threads, one after another */
	uint64_t clock;	    /* when it was begun */
	char comm[16];
	uint64_t size; /* bytes, with this head */
	uint32_t process, thread; /* place of its process's head; its thread record */
	uint8_t reserved[8];
};
_Static_assert(sizeof(struct trace_counts) == 64, "part of the format");

/* ---- meta ---- */

/* One moment on all clocks. Two of them convert ticks to times. */
struct trace_pair {
	uint64_t ticks; /* the clock of events */
	uint64_t mono;	/* CLOCK_MONOTONIC, ns */
	uint64_t real;	/* CLOCK_REALTIME, ns */
};

enum trace_clock { TRACE_CLOCK_TSC = 1, TRACE_CLOCK_MONOTONIC = 2 /* ticks are ns */ };

enum trace_flags {
	TRACE_EXITED = 1, /* the process ended by exit(): everything was written */
	TRACE_OFF = 2,	  /* xaudit switched itself off; a TRACE_TEXT_NOTE says why */
	/* Forked by a process that was traced; also where the records are all its own, and parent_used is 0. */
	TRACE_FORKED = 4,
	TRACE_LEFT = 8, /* it was about to give up rights, and goes on as another process, in a family of its own */
	TRACE_CRASHED = 16, /* an event TRACE_CRASH tells how it ended */
	TRACE_MARKED = 32, /* its memory has a mapping of its head's first page alone, which its children have not */
};

#define TRACE_HEAD_SIZE 4096

/* ---- places ---- */

enum trace_place {
	TRACE_PLACE_HEAD = 1,
	TRACE_PLACE_RECORDS = 2,
	TRACE_PLACE_CHUNK = 3,
	TRACE_PLACE_COUNTS = 4,
	TRACE_PLACE_DIRECTORY = 5,
	TRACE_PLACE_FREE = 6, /* was given back: see GIVING BACK */
};

/* A word of the directory. process: place of the owner's head, which takes 28 bits. */
#define TRACE_PLACE(what, process, number)                                                                             \
	((uint64_t)(what) << 60 | (uint64_t)(process) << 32 | (uint32_t)(number))
#define TRACE_PLACE_MAX (1u << 28)

/* X(number, NAME, "why events are lost, after the words `events were lost`"); below TRACE_LOST_ROOM */
#define TRACE_LOST_CAUSES(X)                                                                                           \
	X(0, OTHER, "for other reasons")                                                                               \
	X(1, DISK, "since the disk was full")                                                                          \
	X(2, FILE_SIZE, "since a file would have become larger than the process may make one (ulimit -f)")             \
	X(3, SIZE_LIMIT, "since the trace reached its size limit (size-limit)")                                        \
	X(4, DESCRIPTORS, "since no descriptor was free (ulimit -n)")                                                  \
	X(5, RIGHTS, "since the process could not open its files")                                                     \
	X(6, MEMORY, "since no memory was to be had")                                                                  \
	X(7, OVERFLOW, "since the disk was too slow (overflow = drop)")                                                \
	X(8, STRANGER, "since they were of processes that share another one's memory")                                 \
	X(9, CUSTOM, "since custom events were too long, too many types, or too deep inside of each other")   \
	X(10, FILTER, "since the program was under a filter of system calls (seccomp)")    \
	X(11, PLACES, "since the file of their family of processes had no place left") \
	X(12, GIVEN, "since another process needed their place (mode ring)") \
	X(13, SAMPLES, "since too many sampled blocks of memory were live")

enum trace_lost {
#define X(number, NAME, phrase) TRACE_LOST_##NAME = number,
	TRACE_LOST_CAUSES(X)
#undef X
	TRACE_LOST_COUNT
};
#define TRACE_LOST_ROOM 16
_Static_assert(TRACE_LOST_COUNT <= TRACE_LOST_ROOM, "part of the format");

/* Why a program that is executed will not have the module. */
enum trace_untraced {
	TRACE_UNTRACED_ENVIRONMENT = 1, /* LD_AUDIT does not name it in the environment that the program gets */
	TRACE_UNTRACED_RIGHTS = 2,	/* the program gets other rights: set-user-ID, set-group-ID, capabilities */
	TRACE_UNTRACED_STATIC = 3,	/* it is not run by glibc's dynamic linker for x86-64: static, say */
	TRACE_UNTRACED_NO_FILE = 4,	/* never written: there is no program */
};

#define TRACE_EXECUTED 24 /* programs that are counted by their name */

/* Programs of one name that were executed without the module. Taken by its key; the other words may come later. */
struct trace_executed {
	uint64_t key;	/* 0: not used */
	uint32_t count; /* calls that were about to execute it */
	uint32_t why;	/* enum trace_untraced */
	char name[48];	/* last component of its path, cut; ends with NUL */
};

enum trace_overflow {
	TRACE_OVERFLOW_WAIT = 0, /* a thread whose full chunks are not written yet writes one itself */
	TRACE_OVERFLOW_DROP = 1, /* its events are lost meanwhile, if `xaudit record` is writing */
};

#define TRACE_META_MIN (8 * 2 * TRACE_CHUNK_MIN) /* no family's file is made smaller: eight places */
#define TRACE_SIZE_PLACES UINT64_MAX
#define TRACE_FREE 256 /* places that are named at a time */
#define TRACE_EXTENTS 40 /* always enough: each extent may be larger than the one before */

/* Consecutive places. */
struct trace_extent {
	uint32_t first, places;
};

struct trace_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t head_size;	 /* the first record is here: TRACE_HEAD_SIZE, or behind the first block's directory */
	uint64_t used;		 /* bytes of the file that hold whole records, this head included */
	uint64_t chunk_size;	 /* half of place_size */
	uint32_t pid, ppid;
	uint32_t clock;		 /* enum trace_clock */
	uint32_t flags;		 /* enum trace_flags */
	struct trace_pair first; /* at start */
	uint32_t last_seq;	 /* odd while `last` is being written; read again then */
	uint32_t threads;	 /* thread records of this process: 0 ... threads-1 */
	struct trace_pair last;	 /* refreshed about once a second by running threads, at callbacks and at exit */
	uint64_t lost; /* events */
	uint64_t no_mirror; /* calls whose return could not be intercepted for want of a mirror; they are TRACE_POINT */
	uint64_t meta_lost;	 /* records that did not fit into meta (disk full) */
	char boot_id[40]; /* /proc/sys/kernel/random/boot_id, or empty. In the same boot a reader may read the clock */
	uint64_t ring_chunk;	 /* as chunk_size */
	uint64_t ring_size;	 /* bytes of each thread's chunks in mode ring; 0: that mode was never on */
	uint32_t mode;		 /* enum trace_mode, now */
	uint32_t recording;	 /* 0: stopped */
	uint64_t stream_bytes;	 /* of all t<n> together */
	uint64_t taken_back;	 /* calls that left nothing: shorter than the rules' time, or of no known time */
	uint32_t lost_error; /* errno of the last file that could not be made or grown; EFBIG: size limit; 0: none */
	uint32_t coarse;     /* up to so many events share the clock's reading before them; 0: none do */
	uint32_t record_error; /* errno of the last file that `xaudit record` could not give; 0: none (broker.h) */
	uint32_t process;    /* the place of this head */
	uint64_t place_size; /* the same in all heads of a family */
	uint32_t parent;     /* if parent_used is not 0: place of the head of the process that forked this one */
	uint32_t extents;
	uint64_t parent_used; /* the parent's records up to there count for this process, too; 0: none do */
	struct trace_extent extent[TRACE_EXTENTS]; /* `extents` of them; released before `used` reaches them */
	/* Of place 0 alone; the others have 0. */
	uint64_t directory;   /* where the words begin, in the file: words of format/places.h */
	uint32_t places_max;  /* that there may be */
	uint32_t places_end;  /* that the file is large enough for; grows */
	uint32_t places;      /* taken up to now, by all: where they end */
	uint32_t refused;     /* processes that had found no place for a head; what they lost is counted here */
	uint64_t handover;    /* as directory, of struct trace_handover; 0: there are none */
	uint64_t handed;      /* chunks that were published, by all; grows */
	uint64_t drain_beat;  /* CLOCK_MONOTONIC, ns: `xaudit record` was at work then. It alone writes this */
	uint64_t lost_by[TRACE_LOST_ROOM]; /* of all heads again: by enum trace_lost; the sum is `lost`, no GIVEN */
	uint32_t overflow;		   /* enum trace_overflow */
	uint32_t moved; /* not 0: threads went on with calls that others had begun; 0: each stack is one thread's */
	/* Of place 0: bytes of the file; a shorter one was cut off. TRACE_SIZE_PLACES: places_end places. 0: unknown */
	uint64_t size;
	int64_t time_offset; /* ns, by TRACE_CLOCK_MONOTONIC: what the process's time namespace adds to that clock */
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid: whose numbers pid and ppid are; 0: not known */
	/* Of place 0: how often a place was given back (by `xaudit record` alone), taken again, and few were left */
	uint64_t given, taken_again, short_of;
	uint32_t free[TRACE_FREE]; /* places that were given back, and may be taken by now; 0: none */
	/* Of place 0, by all processes: programs that they executed, and which won't be traced; the others' number */
	struct trace_executed executed[TRACE_EXECUTED];
	uint64_t executed_others;
	uint64_t places_likely; /* of place 0: that the file might have by the limits when it was made; 0: unknown */
	uint32_t block;		/* of place 0: of the directory: see format/places.h */
	uint32_t beside;	/* of place 0: how many chunks and runs of counters were begun beside heads; grows */
	struct trace_ask ask[TRACE_ASKS]; /* of all heads: snapshots that the process asks for */
	uint32_t asked, zero; /* of place 0: how often one was asked for, by all processes; grows, and wraps */
	uint64_t copy_beat; /* of place 0: as drain_beat, of `xaudit ctl watch`; at first that of family_beat() */
	uint64_t running; /* of all: address, in the process, of a struct running_block (runtime/values/running.h); 0 */
};
_Static_assert(sizeof(struct trace_head) <= TRACE_HEAD_SIZE, "part of the format");

enum trace_mode { TRACE_MODE_STREAM = 0, TRACE_MODE_RING = 1, TRACE_MODE_COUNT = 2 };

enum trace_record_type {
	TRACE_REC_TEXT = 1,
	TRACE_REC_OBJECT = 2,
	TRACE_REC_FUNCTIONS = 3,
	TRACE_REC_LOAD = 4,
	TRACE_REC_UNLOAD = 5,
	TRACE_REC_SITES = 6,
	TRACE_REC_CHANGE = 7,
	TRACE_REC_PAGES = 8,
	TRACE_REC_EVENT_TYPE = 9,
	TRACE_REC_LOADER = 10,
	TRACE_REC_ALIASES = 11,
	TRACE_REC_LAYOUT = 12, /* struct trace_layout, of format/values.h */
	TRACE_REC_NOTHING = 13, /* zeros: a layout that `xaudit pack --no-values` left out */
};

/* Before each record. Readers skip types they do not know. */
struct trace_record {
	uint32_t type;
	uint32_t size; /* with this header and padding; a multiple of 8 */
};

enum trace_text_what {
	TRACE_TEXT_EXE = 1,	/* path of the program */
	TRACE_TEXT_COMMAND = 2, /* argv, each word ended by a NUL */
	TRACE_TEXT_HOST = 3,	/* "nodename sysname release machine" */
	TRACE_TEXT_CONFIG = 4,	/* where the rules came from */
	TRACE_TEXT_NOTE = 5,	/* a message printed on stderr, without "xaudit: " and newline */
	TRACE_TEXT_MODULE = 6,	/* version of libxaudit.so */
};

struct trace_text {
	struct trace_record head;
	uint32_t what;	 /* enum trace_text_what */
	uint32_t length; /* of text, without padding */
	char text[];
};

enum trace_object_flags {
	TRACE_OBJECT_PROGRAM = 1, /* the main executable */
	TRACE_OBJECT_LOADER = 2,  /* ld.so: never touched */
	TRACE_OBJECT_VDSO = 4,	  /* never touched */
};

/* One identity: one file content, whatever its address. Written when it is first seen. */
struct trace_object {
	struct trace_record head;
	uint32_t object; /* number of the identity in this process folder, from 1 */
	uint32_t flags;	 /* enum trace_object_flags */
	uint64_t dev, ino, size, mtime_ns;
	uint32_t kinds;	       /* mask of 1 << enum trace_kind that the rules ask for */
	uint32_t build_id_len; /* 0: has none */
	uint8_t build_id[64];
	uint32_t path_len;
	uint32_t soname_len;
	char names[]; /* path, then soname; no NULs */
};

/* Names of function ids. May come at any time before the first event that uses them, in any number of records. */
struct trace_function {
	uint32_t id;
	uint32_t name;	 /* offset in the names; the string there ends with NUL; empty: unknown, print object+offset */
	uint64_t offset; /* link-time address in the object */
	uint64_t size;	 /* 0: unknown */
};

struct trace_functions {
	struct trace_record head;
	uint32_t object;
	uint32_t kind;	     /* enum trace_kind of the sites that raise these ids; TRACE_KIND_PROBE: they are probes */
	uint32_t count;	     /* of functions */
	uint32_t names_size; /* bytes of the names, which follow the array */
	struct trace_function function[];
};

/* Other names of functions whose ids were told before. A name may be that of several functions. */
struct trace_alias {
	uint32_t id;
	uint32_t names; /* offset in the names: each there ends with NUL, and an empty one ends the list */
};

struct trace_aliases {
	struct trace_record head;
	uint32_t count;	     /* of lists */
	uint32_t names_size; /* bytes of the names, which follow the array */
	struct trace_alias alias[];
};

/* An object was mapped. */
struct trace_load {
	struct trace_record head;
	uint32_t load; /* number of the load in this process folder, from 1 */
	uint32_t object;
	uint64_t clock;
	uint64_t base; /* load address: what to add to link-time addresses */
	uint64_t start, end;
	int64_t namespace; /* Lmid_t */
	uint32_t tid;
	uint32_t reserved;
};

struct trace_unload {
	struct trace_record head;
	uint32_t load;
	uint32_t tid;
	uint64_t clock;
};

/*
 * ld.so mapped objects, or unmapped some, for one dlopen or dlclose: from LA_ACT_ADD, or LA_ACT_DELETE, until it said
 * that all was done (LA_ACT_CONSISTENT). The loads come before this record, and so do unloads, which may be earlier.
 */
struct trace_loader {
	struct trace_record head;
	uint32_t unmaps; /* not 0: it unmapped */
	uint32_t tid;
	uint64_t begin, end; /* clock */
	uint64_t own;	     /* ticks of that in xaudit's callbacks, and in handlers that these called */
};

/* How many sites of an object could be used, or why not: one entry per (kind, reason). The last record counts. */
struct trace_site_count {
	uint16_t kind;	 /* enum trace_kind */
	uint16_t reason; /* enum trace_reason; 0: traced */
	uint32_t count;	 /* functions; of plt and calls: bindings; of EVENT_LEFT: sleds */
};

struct trace_sites {
	struct trace_record head;
	uint32_t object;
	uint32_t count;
	struct trace_site_count site[];
};

/* Something about the recording changed while the process ran. */
enum trace_change_what {
	TRACE_CHANGE_ENABLED = 1,  /* value: sites that changed; text: the rule */
	TRACE_CHANGE_DISABLED = 2, /* as for ENABLED */
	TRACE_CHANGE_STARTED = 3,
	TRACE_CHANGE_STOPPED = 4,
	TRACE_CHANGE_MODE = 5,	    /* value: enum trace_mode */
	TRACE_CHANGE_THROTTLED = 6, /* value: a function's id; from here on its calls are only counted */
	TRACE_CHANGE_SNAPSHOT = 7,  /* text: the folder that a snapshot went to */
	TRACE_CHANGE_FULL = 8,	    /* value: bytes; the trace has reached its size limit, nothing more is recorded */
};

struct trace_change {
	struct trace_record head;
	uint32_t what; /* enum trace_change_what */
	uint32_t tid;  /* of the thread that noticed or did it */
	uint64_t clock;
	uint64_t value;
	uint32_t length; /* of text, without padding */
	uint32_t reserved;
	char text[];
};

/* A type of custom events has this name. */
struct trace_type_name {
	struct trace_record head;
	uint32_t type;
	uint32_t length; /* of name, without padding */
	char name[];
};

/* Code pages of an object. A later record for the same object replaces the one before. */
struct trace_pages {
	struct trace_record head;
	uint32_t object;
	uint32_t text;	  /* pages of its executable segments */
	uint32_t sites;	  /* of these, pages that hold a usable site */
	/* of these, pages that were changed, in the load that was prepared last: each is private memory */
	uint32_t patched;
};

/* ---- kinds and reasons, by number in the format and by name for people ---- */

/* X(number, NAME, "word of configuration and reports") */
#define TRACE_KINDS(X)              \
	X(0, XRAY, "xray")          \
	X(1, PATCHABLE, "patchable") \
	X(2, PLT, "plt")            \
	X(3, CALLS, "calls")        \
	X(4, GUARD, "guard")        \
	X(5, ENTRY, "entry")        \
	X(6, CYG, "cyg")            \
	X(7, FENTRY, "fentry")      \
	X(8, MCOUNT, "mcount")
/* As messages list them. */
#define TRACE_KIND_WORDS "xray, patchable, plt, calls, guard, entry, cyg, fentry, mcount"
#define TRACE_KIND_WORD(number, NAME, word) word ", "
_Static_assert(sizeof(TRACE_KIND_WORDS ", ") == sizeof(TRACE_KINDS(TRACE_KIND_WORD)), "all of them");

enum trace_kind {
#define X(number, NAME, word) TRACE_KIND_##NAME = number,
	TRACE_KINDS(X)
#undef X
	TRACE_KIND_COUNT,
	TRACE_KIND_PROBE = 32, /* of probes (format/probe.h), which are no kind of sites */
};

/*
 * RECORD: lines of DIR/record, written by `xaudit record`; unknown keys are skipped.
 *	version: 0.1.0
 *	command: WORD WORD ...		(shell-quoted)
 *	clock: TICKS MONO REAL		(a struct trace_pair by TSC, once at start and once at the end)
 *	process: PID			(of the command, at the end)
 *	status: exit N | signal N	(at the end)
 */

#endif
