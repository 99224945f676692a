/* SPDX-License-Identifier: MIT */
/*
 * Prototypes: what functions take and give back, read from texts in C's own syntax, with attributes for what C does not
 * say. A text has declarations, each ended by a semicolon:
 *
 *	typedef unsigned long size_t;			typedef struct _IO_FILE FILE;
 *	[[flags]] enum open_flags { O_WRONLY = 1 };	names of values, or of bits
 *	[[fails(-1)]] int open(const char *path, [[names(open_flags)]] int flags, ...);
 *
 * Attributes of a function: fails(NUMBER): what it gives back when it fails, and errno tells why; null: the same of a
 * pointer. Of a parameter, or (before the function) of what comes back:
 *	out		it points to a value that the function writes: that is read when the call ends
 *	bytes(SIZE)	it points to so many bytes; SIZE is a number, `ret`, or another parameter's name
 *	text		it points to a text, as `const char *` does without that
 *	address		it is shown as an address, also if it is a `const char *`
 *	secret		what it points to is never read
 *	names(ENUM)	an enum or flags
 *	hex, octal	how a number is shown
 *	fd		it is a descriptor
 *
 * `[[library(NAME, NAME)]];` alone says whose functions follow, to the end of the text or the next of these: libraries
 * called NAME.so, NAME.so.*, NAME-*.so; `any`: of any. Before the first of these they are of any.
 *
 * A structure or union that is no pointer, and long double, are not known, so a function that takes or gives one is
 * refused: where its other parameters are would be a guess.
 *
 * Memory that runs out ends the command (tool/base/memory.h). One thread.
 */
#ifndef XAUDIT_TOOL_VALUES_PROTOTYPE_H
#define XAUDIT_TOOL_VALUES_PROTOTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/values.h"

#define PROTOTYPE_PARAMETERS 16 /* most */

/* Bits of `marks`. */
enum prototype_mark {
	PROTOTYPE_OUT = 1,
	PROTOTYPE_SECRET = 2,
	PROTOTYPE_FD = 4,
	PROTOTYPE_OCTAL = 8,
};

struct prototype_name {
	const char *word;
	uint64_t value;
};

/* An enum, or flags. */
struct prototype_names {
	const char *name;
	bool are_flags;
	struct prototype_name *list;
	size_t count;
};

/* A parameter, or what comes back. */
struct prototype_value {
	const char *name; /* NULL: it has none */
	enum values_type type; /* 0: void */
	uint8_t size;	       /* of a number */
	uint8_t marks;
	/* What it points to, if that is recorded when the call ends (OUT); as type and size. */
	enum values_type to_type;
	uint8_t to_size;
	const char *bytes; /* SIZE; NULL: it has none */
	const struct prototype_names *names;
};

struct prototype {
	const char *name;
	const char *libraries; /* names with a blank behind each; NULL: of any */
	unsigned text;	       /* which text has it, from 1 on */
	struct prototype_value result, parameter[PROTOTYPE_PARAMETERS];
	uint32_t parameters;
	bool more;	/* of any number and type */
	bool has_fails; /* `fails` is known */
	int64_t fails;
};

struct prototypes;

struct prototypes *prototypes_new(void);
void prototypes_free(struct prototypes *of);

/* Where reading stopped, and why: "A 'B' C", as in expression.h. */
struct prototypes_wrong {
	uint32_t line; /* from 1 on */
	const char *before, *after;
	char part[64];
};

/*
 * Adds the declarations of a text. A later declaration of a function or an enum replaces an earlier one. Returns false
 * at the first that is wrong; those before it are taken.
 */
bool prototypes_read(struct prototypes *of, const char *text, struct prototypes_wrong *wrong);

/* NULL: it has none. Valid until more is read. */
const struct prototype *prototypes_find(const struct prototypes *of, const char *function);
/* How many texts were read. */
unsigned prototypes_texts(const struct prototypes *of);
/* All: NULL behind the last one. */
const struct prototype *prototypes_at(const struct prototypes *of, size_t number);

#endif
