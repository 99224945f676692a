/* SPDX-License-Identifier: MIT */
/*
 * Values that people ask for, in words, and the code that finds them (format/values.h).
 *
 *	contexts	context,context...	a comma within brackets divides nothing
 *	context		arg1 ... arg6, and further ones on the stack; farg1 ... farg8: a double
 *			ret, fret: what came back; ret2, fret2: the second half of a structure; errno
 *			tid, cpu, comm, calls (traced ones that are open)
 *			regs, reg:NAME
 *			backtrace, backtrace:N: the callers, N at most (format/chain.h)
 *			sample:BYTES:FUNCTION: of calls that give and free memory as this function does, only samples,
 *			one in so many bytes (runtime/values/sample.h); BYTES may end with k, M or G
 *			TYPE:NAME:EXPRESSION
 *			out:CONTEXT	found when the call ends, as what the function has written to memory
 *	type		int8 ... int64, uint8 ... uint64, int, long, hex, ptr, float, double, string, ustring,
 *			bytes:SIZE, text:SIZE (bytes that are text), where SIZE is a number or an expression;
 *			array:BYTES*SIZE: so many structures of so many bytes; with ?ret behind it, if ret is above 0
 *			stdstring, oldstring, cxxstring: a std::string at that address, of libstdc++, of its ABI
 *			before C++11, and of libc++
 *	expression	argN, fargN, ret, fret, errno, tid, cpu, calls, %REGISTER; a parameter's name, if it is known
 *			+OFFSET(expression), -OFFSET(expression): the memory at that address; &OFFSET(expression): the
 *			address itself
 *			NUMBER, SYMBOL: the variable that lies at that address; within brackets the address itself
 *			expression>>BITS: shifted right
 *			argN->MEMBER.MEMBER[N]: of a structure whose type is known; that is a context, too
 *	condition	(condition.h) expression OP NUMBER, or TYPE:expression OP NUMBER, joined by &&; OP is
 *			== != < <= > >=
 *
 * At a probe (enum values_at) all is found there: arg1 ... arg6 are what the registers of arguments hold then, ret and
 * fret are for returns, and out, sample and further arguments are for calls.
 *
 * What needs ret, fret or errno is found when the call ends, all else when it begins; arguments of an expression of the
 * first kind are kept from the beginning. Memory is read with the size of the type, addresses as 8 bytes. An argument,
 * or what came back, has its own type where that is known; else it is a number of 8 bytes, with its sign.
 *
 * Functions keep nothing, and allocate nothing.
 */
#ifndef XAUDIT_TOOL_VALUES_EXPRESSION_H
#define XAUDIT_TOOL_VALUES_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/values.h"

#define VALUES_NAME 48 /* of a value, with its NUL */

struct prototype_names;

struct values_value {
	char name[VALUES_NAME];
	enum values_type type;
	uint8_t size; /* of a number; else 0 */
	/* For the layout; whoever asks by words leaves zeros there, but for a result and errno. */
	uint8_t role, place, marks;
	const struct prototype_names *names;
	const char *words; /* of structures, as trace_value.words; NULL */
	const char *when;
};

/* Code, and the values that it puts. */
struct values_program {
	uint8_t code[VALUES_CODE];
	size_t size;
	struct values_value value[VALUES_MOST];
	uint32_t values;
	uint32_t most; /* bytes of the values, without their states */
};

/* A word of the entry that the end needs. */
struct values_kept {
	uint8_t op, operand; /* that push it */
};

/* What is recorded of a function's calls. */
struct values_asked {
	struct values_program entry, end;
	struct values_program entry_if, end_if; /* conditions: they put nothing */
	struct values_kept kept[VALUES_KEPT];
	uint32_t keeps;
};

/* Why a text was not taken: "A 'B' C", where B is the part that is wrong. */
struct values_wrong {
	const char *before, *after;
	char part[64];
	bool too_much; /* nothing is wrong with it, but it is more than there may be */
	bool unknown;  /* it names what another function, or another object, may have */
};

/*
 * Where a symbol lies in the function's object: its link-time address. Returns false: there is none, or nobody knows.
 */
typedef bool values_symbol(void *context, const char *name, uint64_t *address);

/* A word of the call whose type is known: an argument, or what came back. */
struct values_word {
	const char *name; /* by which it can be called, too; NULL */
	uint8_t op, operand; /* that push it, as parser_push() has them */
	enum values_type type;
	uint8_t size; /* 0: it is an address of text or bytes */
	uint64_t about; /* whoever says so knows more by that; 0: no */
};

/* What a path of members leads to, as ->next->name: code that pushes it, where its beginning is pushed already. */
struct values_path {
	uint8_t code[96];
	size_t size;
	struct values_word is; /* its type */
};

/*
 * Makes that of the first `length` bytes of a text, behind a word; NULL: behind something else. Returns false: it leads
 * to nothing, and *wrong tells why, or stays as it is: no type is known.
 */
typedef bool values_follow(void *context, const struct values_word *word, const char *text, size_t length,
	struct values_path *path, struct values_wrong *wrong);

/* Where values are found. What comes back is known at a return alone, what a call ends with at none of the others. */
enum values_at {
	VALUES_AT_CALL,	  /* at both ends of a call */
	VALUES_AT_PROBE,  /* at an instruction anywhere: no end follows */
	VALUES_AT_RETURN, /* at an instruction that returns */
	VALUES_AT_USDT,	  /* at a probe of the program's own, which has arguments of its own */
};

/* An argument of a program's own probe: code that pushes it, and its type (operand.h). */
struct values_operand {
	uint8_t code[96];
	size_t size; /* 0: it can't be had */
	struct values_word is;
};

/* What is known of the function. Zeros: nothing. */
struct values_known {
	values_symbol *look; /* NULL: no symbol is known */
	void *context;
	values_follow *follow; /* NULL: no members are known */
	void *follow_context;
	const struct values_word *word;
	size_t words;
	enum values_at at;
	const struct values_operand *operand; /* at USDT: arg1 and further ones; NULL: not known yet */
	unsigned operands;
	bool trusts; /* texts and bytes are read as they are */
	bool any; /* of what function is not known yet: what has a name may be of any type */
	bool has_malloc; /* its object defines malloc */
	bool relays; /* it is of the C library, whose realloc and others go on as malloc (VALUES_SAMPLE_RELAYS) */
};

/*
 * An interval of samples at the beginning of a text: a number of bytes from 1 to VALUES_SAMPLE_MOST, with k, M or G
 * behind it perhaps. Returns how long it is; 0: there is none, or it is too large.
 */
size_t values_interval(const char *text, size_t length, uint64_t *bytes);

/* Adds contexts. asked: zeros at first. Returns false, and *wrong, if the text is wrong; then *asked is undefined. */
bool values_ask(struct values_asked *asked, const char *contexts, const struct values_known *known,
	struct values_wrong *wrong);

/* A value that needs no call to be found. */
struct values_fixed {
	enum values_type type; /* NONE: it is nowhere; TEXT: the text at an address */
	uint8_t size;	       /* of a number */
	bool is_address;       /* of the function's object, as in its file */
	uint64_t number;
};

/* Adds that at the entry, by this name; as values_ask(). */
bool values_ask_fixed(struct values_asked *asked, const char *name, const struct values_fixed *fixed,
	struct values_wrong *wrong);

/* The first context of a text; *length: of it. Returns what follows its comma, or NULL: it is the last. */
const char *values_first(const char *contexts, size_t *length);

/*
 * Completes the code of entry and end. Returns false if it is too much: *wrong says of what. Afterwards `entry` and
 * `end` are code that the module takes; end.size 0: there is nothing to do at the end.
 */
bool values_complete(struct values_asked *asked, struct values_wrong *wrong);

struct parser;

/* Adds a parser's code to one of the programs of *asked (parser.h). Returns false: it is too much. */
bool values_add(struct values_asked *asked, struct values_program *to, struct parser *p);

#endif
