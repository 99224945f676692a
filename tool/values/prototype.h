/* SPDX-License-Identifier: MIT */
/*
 * Prototypes: what functions take and give back, read from texts in C's own syntax, with attributes for what C does not
 * say. A text has declarations, each ended by a semicolon:
 *
 *	typedef unsigned long size_t;			typedef struct _IO_FILE FILE;
 *	[[flags]] enum open_flags { O_WRONLY [[mask(3)]] = 1, O_CREAT = 0x40 };	names of values, or of bits
 *	[[fails(-1)]] int open(const char *path, [[names(open_flags)]] int flags, ..., [[if(flags, O_CREAT)]] int mode);
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
 *	array(SIZE)	of a pointer to a structure: it points to so many; SIZE as of bytes
 *	reads		the function itself reads all of the text, or of the bytes: not only its beginning, nor has it
 *			the kernel read it
 *	if(NAME, VALUE...)	of one behind the dots: it is passed only where the parameter NAME has one of these
 *			values, or, if it has flags, all bits of one; unless(NAME, VALUE...): where it has not. Those
 *			that follow each other with one name are in one place
 * Behind the name of a value, of flags: mask(NUMBER): it is the value of these bits together.
 *
 * A structure whose members are told, `struct pollfd { [[fd]] int fd; [[names(events)]] short events; };`, is recorded
 * where a parameter points to it. Members are numbers and pointers, or a union of such. Before it `[[packed]]`: they
 * have no gaps; before a member `[[out]]`: the function writes it.
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
#define PROTOTYPE_OPTIONAL   8	/* behind the dots, most */
#define PROTOTYPE_VALUES     8	/* in a condition, most */
#define PROTOTYPE_MEMBERS    16 /* of a structure, most */

/* Bits of `marks`. */
enum prototype_mark {
	PROTOTYPE_OUT = 1,
	PROTOTYPE_SECRET = 2,
	PROTOTYPE_FD = 4,
	PROTOTYPE_OCTAL = 8,
	PROTOTYPE_READS = 16,
};

struct prototype_name {
	const char *word;
	uint64_t value;
	uint64_t mask; /* of flags: the word is of these bits; 0: of those that are set in `value` */
};

/* An enum, or flags. */
struct prototype_names {
	const char *name;
	bool are_flags;
	struct prototype_name *list;
	size_t count;
};

struct prototype_member {
	const char *name; /* of one of a union: "data.u32" */
	enum values_type type;
	uint8_t size;
	uint8_t marks;
	uint16_t offset;
	const struct prototype_names *names;
};

/* A structure whose members are known. */
struct prototype_struct {
	const char *name;
	struct prototype_member member[PROTOTYPE_MEMBERS];
	uint32_t members;
	uint16_t size, align;
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
	const struct prototype_struct *of; /* what it points to, if that has members; NULL */
	const char *array; /* how many of them: SIZE; NULL: one */
	const struct prototype_names *names;
};

/*
 * A parameter behind the dots: it is passed only where another one has one of these values, or all bits of one; or only
 * where it has not.
 */
struct prototype_optional {
	struct prototype_value value;
	uint8_t place;	 /* as if it were before the dots: several may be in one */
	uint8_t depends; /* number of the other parameter */
	bool has_bits, is_not;
	uint8_t values;
	int64_t is[PROTOTYPE_VALUES];
};

struct prototype {
	const char *name;
	const char *libraries; /* names with a blank behind each; NULL: of any */
	unsigned text;	       /* which text has it, from 1 on */
	struct prototype_value result, parameter[PROTOTYPE_PARAMETERS];
	uint32_t parameters;
	bool more;	/* of any number and type, unless there are optional ones */
	struct prototype_optional optional[PROTOTYPE_OPTIONAL];
	uint32_t optionals;
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
