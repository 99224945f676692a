/* SPDX-License-Identifier: MIT */
/*
 * What formats of calls in time (chrome, perfetto) tell of a call, a custom event or a probe beside its name: arguments
 * with keys, one after the other. A text of the program is the bytes that it had; what is not known is a text as
 * `xaudit replay` has it, such as "(fault)", and so are numbers that have names. One thread.
 */
#ifndef XAUDIT_TOOL_EXPORT_TIME_ARGS_H
#define XAUDIT_TOOL_EXPORT_TIME_ARGS_H

#include "tool/export/format.h"

enum args_is {
	ARGS_TEXT,     /* any bytes, in UTF-8 mostly */
	ARGS_NULL,     /* a pointer that is NULL */
	ARGS_SIGNED,   /* `integer` */
	ARGS_UNSIGNED, /* `number` */
	ARGS_POINTER,  /* `number` */
	ARGS_REAL,     /* `real`, which is finite, with so many digits */
	ARGS_STACK     /* a backtrace */
};

struct args_one {
	const char *key;
	enum args_is is;
	double real;
	int digits;
	uint64_t number;
	int64_t integer;
	const char *text; /* a zero follows */
	size_t size;
	const struct xaudit_read_stack *stack; /* NULL: it has no frames */
};

/* Who is told. What it is given is valid until it returns. */
struct args_to {
	void *user;
	void (*take)(void *user, const struct args_one *one);
};

/* A call's. begin: what is known when it begins; end: what its end adds. */
void args_call(const struct export_call *call, bool begin, bool end, const struct args_to *to);

/* A custom event's: its data, decoded if its format is known. */
void args_custom(const struct export *export, const struct xaudit_read_item *item, const struct args_to *to);

/* A probe's: where it is, and its values. */
void args_probe(const struct xaudit_read_item *item, const struct args_to *to);

/* Does the call begin a request, on its track? Calls within one of the same request don't repeat it. */
bool args_request_is_new(const struct export_call *call);

#endif
