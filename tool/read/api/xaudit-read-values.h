/* SPDX-License-Identifier: MIT */
/*
 * xaudit-read-values.h: the part of xaudit-read.h, which includes it, that tells with what functions were called, and
 * what came back. What is said there holds here, too.
 *
 *	struct xaudit_read_value value[XAUDIT_READ_VALUES];
 *	uint32_t values = xaudit_read_values(call->entered, value, XAUDIT_READ_VALUES);
 *	for (uint32_t i = 0; i < values; i++)
 *		if (value[i].type == XAUDIT_READ_VALUE_TEXT && value[i].state == XAUDIT_READ_VALUE_WHOLE)
 *			fwrite(value[i].text, 1, value[i].size, file);
 */
#ifndef XAUDIT_READ_VALUES_H
#define XAUDIT_READ_VALUES_H

#include "xaudit-read.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was recorded with one event: of a call when it began, or when it ended. */
struct xaudit_read_values;

#define XAUDIT_READ_VALUES 32 /* there are no more with one event */

enum xaudit_read_value_type {
	XAUDIT_READ_VALUE_SIGNED = 1, /* `integer`; and `number`, which has the same bits */
	XAUDIT_READ_VALUE_UNSIGNED,   /* `number` */
	XAUDIT_READ_VALUE_HEX,	      /* a number that people read in hex */
	XAUDIT_READ_VALUE_POINTER,    /* a number that is an address */
	XAUDIT_READ_VALUE_FLOAT,      /* `real` */
	XAUDIT_READ_VALUE_DOUBLE,
	XAUDIT_READ_VALUE_TEXT,	      /* `text` */
	XAUDIT_READ_VALUE_BYTES,      /* likewise */
	XAUDIT_READ_VALUE_ERRNO,      /* a number: of an error */
	XAUDIT_READ_VALUE_NONE,	      /* of an argument that is GONE */
	/* `text` has the bytes of structures; `words` is "SIZE;NAME,OFFSET,TYPE,SIZE,MARKS,1=WORD;...", or SIZE[] */
	XAUDIT_READ_VALUE_STRUCTS,
	XAUDIT_READ_VALUE_STACK /* a backtrace, see xaudit-read-frames.h; `number` is 0 where there is none */
};

enum xaudit_read_value_state {
	XAUDIT_READ_VALUE_WHOLE,
	XAUDIT_READ_VALUE_CUT,	 /* of a text, or bytes, this is only the beginning */
	XAUDIT_READ_VALUE_FAULT, /* it lies where there is no memory, or none that may be read */
	XAUDIT_READ_VALUE_UNREAD, /* it was not read, as a filter of system calls might kill for that */
	XAUDIT_READ_VALUE_NULL,	 /* it lies at the address 0 */
	XAUDIT_READ_VALUE_DAMAGED, /* the trace is damaged there */
	XAUDIT_READ_VALUE_ABSENT, /* an argument that other ones say was not passed, as open()'s mode often is */
	XAUDIT_READ_VALUE_GONE /* an argument that the compiler has optimised out: it is nowhere */
};

/* What it is in its call. */
enum xaudit_read_value_role {
	XAUDIT_READ_VALUE_NAMED,    /* something else that was asked for, by `name` */
	XAUDIT_READ_VALUE_ARGUMENT, /* `place` tells which. Of an end: what the function has written there */
	XAUDIT_READ_VALUE_RESULT,
	XAUDIT_READ_VALUE_ERROR,    /* errno: it counts where the result says that the function has failed */
	XAUDIT_READ_VALUE_REQUEST   /* the call begins a request, and this is which one */
};

/* Bits of `marks`. */
enum xaudit_read_value_mark {
	XAUDIT_READ_VALUE_FD = 1,    /* a descriptor */
	XAUDIT_READ_VALUE_OCTAL = 2, /* a number that people read in octal */
	XAUDIT_READ_VALUE_FLAGS = 4, /* `words` are of bits */
	XAUDIT_READ_VALUE_OUT = 8,   /* the function has written it */
	XAUDIT_READ_VALUE_MORE = 16, /* the last argument of which anything is known, but not the last one */
	XAUDIT_READ_VALUE_BESIDE = 32 /* OUT, and what the call began with counts, too */
};

struct xaudit_read_value {
	const char *name;  /* or empty */
	const char *words; /* names of its numbers, as "1=O_WRONLY,64=O_CREAT"; or empty */
	int type;	   /* enum xaudit_read_value_type */
	int state;	   /* enum xaudit_read_value_state; if not WHOLE or CUT, it has no value */
	int role;	   /* enum xaudit_read_value_role */
	uint32_t place;	   /* of an argument: 0 is the first */
	uint32_t marks;
	uint32_t size;	   /* bytes: of the number, as the function has it; of the text */
	uint64_t number;
	int64_t integer;
	double real;
	const char *text;  /* nothing follows it. As long valid as what xaudit_read_values() was given */
	uint64_t reserved[2];
};

/* Writes up to `room` values, in the order of their recording. Returns how many there are; of NULL: 0. */
uint32_t xaudit_read_values(const struct xaudit_read_values *values, struct xaudit_read_value *to, uint32_t room);

/*
 * A copy, for who needs values longer: until the trace is closed, or its process, of a cursor, is over. NULL: no
 * memory. It is freed by the caller; NULL: nothing. Since 0.1.
 */
struct xaudit_read_values *xaudit_read_values_copy(const struct xaudit_read_values *values);
void xaudit_read_values_free(struct xaudit_read_values *copy);

/* Does the result, in what was recorded when a call ended, say that the function has failed? 0: no, or not known. */
int xaudit_read_values_failed(const struct xaudit_read_values *ended);

/*
 * Texts for people, in which nothing can steer a terminal: like snprintf(), they write at most `room` bytes, a NUL at
 * the end, and return how many there would be without it. Any argument may be NULL where nothing is known.
 *
 * A value: -1, 0x7f01, NULL, O_RDWR|O_CREAT, "a text\n", "its beginning"..., (fault), (not read), <optimized out>.
 */
size_t xaudit_read_value_text(const struct xaudit_read_value *value, char *to, size_t room);

/*
 * The arguments of a call, with brackets, and behind them other values that were found when it began: ("/etc/hosts",
 * O_RDONLY) tid=7. Where it has ended, those that the function has written are shown in their places.
 */
size_t xaudit_read_arguments_text(const struct xaudit_read_values *entered, const struct xaudit_read_values *ended,
	char *to, size_t room);

/*
 * What came back, with the sign before it, and behind it other values that were found when it ended: " = -1 ENOENT (No
 * such file or directory)", " = (tail call)", " = (unwound)"; " = ?" where that is not known. how: enum
 * xaudit_read_end, or 0 for a call that is open: of that, and of one that has returned without its result, there is
 * no " = ".
 */
size_t xaudit_read_result_text(const struct xaudit_read_values *ended, int how, char *to, size_t room);

/* All of that, behind the name of the function. */
size_t xaudit_read_call_text(const struct xaudit_read_call *call, char *to, size_t room);

#ifdef __cplusplus
}
#endif

#endif
