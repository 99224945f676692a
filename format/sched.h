/* SPDX-License-Identifier: MIT */
/*
 * The format of DIR/sched of a trace: when its threads were on processors, as the kernel told `xaudit record --sched`,
 * which alone writes it. Its readers are tool/read/sched/.
 *
 * A head, then records of head.record_size bytes, up to the end of the file. All is little endian. The file grows at
 * its end; but a SCHED_KNOWN that is the last record is replaced by what follows, and a SCHED_TOTAL is written again in
 * its place. A last record that is not whole was being written.
 *
 * Records of one thread are in the order of time; those of different threads nearly so.
 *
 * A thread is on a processor from a SCHED_IN to the next SCHED_OUT or SCHED_PREEMPTED. Before its first record, after
 * SCHED_BEGIN or head.start, it is in the state that this record ends. Its state is not known
 *	- before head.start, and after the last SCHED_KNOWN of the file;
 *	- between the two times of any SCHED_LOST, whatever the thread;
 *	- between two records that can't follow each other, as two SCHED_IN.
 * After SCHED_EXIT there is no such thread, until SCHED_BEGIN.
 *
 * Where the kernel refuses, there are no switches (head.what): what each thread ran in all is told by SCHED_TOTAL.
 */
#ifndef XAUDIT_FORMAT_SCHED_H
#define XAUDIT_FORMAT_SCHED_H

#include <stdint.h>

#define SCHED_NAME    "sched" /* of the file in DIR */
#define SCHED_MAGIC   "xaudit\0s" /* 8 bytes at its start */
#define SCHED_VERSION 1

/* What a file has. */
enum sched_holds {
	SCHED_NOTHING = 0, /* `xaudit record` was ended before it began */
	SCHED_SWITCHES = 1,
	SCHED_TOTALS = 2, /* the kernel refused the switches: head.error */
};

struct sched_head {
	uint8_t magic[8];
	uint32_t version;
	uint32_t head_size; /* the first record is here */
	uint32_t record_size;
	uint32_t holds;	  /* enum sched_holds */
	uint32_t clock;	  /* of times: enum trace_clock (format/trace.h) */
	uint32_t error;	  /* an errno: why there are only totals; or, of switches, why some could not be written; 0 */
	int32_t paranoid; /* kernel.perf_event_paranoid; SCHED_PARANOID_UNKNOWN: that can't be read */
	uint32_t processors;
	uint64_t start; /* what threads did is known from then on */
	uint64_t reserved;
};
_Static_assert(sizeof(struct sched_head) == 56, "part of the format");

#define SCHED_PARANOID_UNKNOWN INT32_MIN

enum sched_what {
	SCHED_IN = 1,	     /* the thread got a processor */
	SCHED_OUT = 2,	     /* it gave it up, to wait for something */
	SCHED_PREEMPTED = 3, /* it had to give it up, though it could go on */
	SCHED_BEGIN = 4,     /* a thread begins: it waits for a processor */
	SCHED_EXIT = 5,
	SCHED_LOST = 6,	 /* switches were lost, of any thread, at `since` or later, before or at `time` */
	SCHED_KNOWN = 7, /* all that was before `time`, and was not lost, stands before this record */
	SCHED_TOTAL = 8, /* `time` is no moment, but how many ns the thread has run; tid 0: its process, all threads */
};

struct sched_record {
	uint64_t time; /* by head.clock */
	union {
		struct {
			uint32_t pid, tid; /* as `xaudit record` sees them */
		};
		uint64_t since; /* of SCHED_LOST */
	};
	uint16_t what;	    /* enum sched_what; others are skipped */
	uint16_t processor; /* of the first three */
	uint32_t count;	    /* of SCHED_LOST: how many; 0: not known */
};
_Static_assert(sizeof(struct sched_record) == 24, "part of the format");

#endif
