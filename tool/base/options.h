/* SPDX-License-Identifier: MIT */
/*
 * The options of a command, as rows of a table: the arguments of getopt_long(), the list of --help and the messages
 * about wrong options are made from it. Each command takes -V and --version, too, without a row. One thread.
 *
 * A command has its rows, a struct that they write to, and
 *
 *	int first = options_take(&syntax, &own, argc, argv);
 *	if (first <= 0)
 *		return first ? TOOL_USAGE : TOOL_OK;
 */
#ifndef XAUDIT_TOOL_OPTIONS_H
#define XAUDIT_TOOL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options_given;

struct options_row {
	char letter;	   /* 0: none */
	const char *word;  /* without the dashes; NULL: a letter alone */
	const char *value; /* what --help calls its value; NULL: it takes no value */
	const char *help;  /* NULL: not listed. It is wrapped, and begins at the column of the syntax */
	/* Stores the option. Returns false after one line on stderr. NULL: this is --help. */
	bool (*take)(const struct options_given *given);
	size_t at;	     /* where in the context, for take */
	const char *allowed; /* what the value may be, as messages say it: "table or json", "stream, ring, count" */
	const char *wrong;   /* message, as in struct options_wording; NULL: the one there */
	uint32_t most;	     /* the highest value, for options_number() */
};

/* A number that is a macro, as a part of a help: so help says what holds. */
#define OPTIONS_NUMBER(macro)	 OPTIONS_NUMBER_OF(macro)
#define OPTIONS_NUMBER_OF(number) #number

#define OPTIONS_HELP { .letter = 'h', .word = "help", .help = "this text" }

#define OPTIONS_COLOR(place)                                                    \
	{ 0, "color", "WHEN", "always, never, or auto: on a terminal (default)", \
		.take = options_color, .at = (place), .allowed = "always, never or auto" }

/*
 * Texts with %c, the command; %v, the value; %a, the allowed values; %o, the option as it was written, or, in `wrong`,
 * its word; %l, its letter, or %o if it has no letter.
 */
struct options_wording {
	const char *no_value; /* it needs a value, and is the last argument */
	const char *unknown;
	const char *letter; /* a letter that is not known, or belongs to the word of `excess`; NULL: as others */
	const char *excess; /* a word with a value that it does not take; NULL: as options_wording has it */
	const char *wrong;  /* a value that is not allowed */
};

/* The messages for a syntax that has no others. */
extern const struct options_wording options_wording;

struct options_syntax {
	const char *command;		/* for messages: "record" */
	const struct options_row *rows; /* ends with a row of zeros */
	const char *head, *tail;	/* of --help, before and after the options; tail NULL: nothing */
	void (*more)(void);		/* prints what is between the options and the tail; NULL: nothing */
	unsigned column;		/* where the texts of --help begin */
	bool prose;			/* lines of its output may not be cut (tool/show/term/term.h) */
	bool aligned;			/* a word without a letter is listed below those with one */
	bool in_front;			/* the first argument ends the options: the rest is another command's */
	const struct options_wording *wording; /* NULL: options_wording */
};

/* An option that was given. */
struct options_given {
	const struct options_syntax *syntax;
	const struct options_row *row;
	const char *value; /* NULL: it takes no value */
	void *context;
};

/*
 * Takes the options. Returns the index of the first argument in argv, which is reordered if arguments may stand before
 * options; 0 when help or the version was given; -1 after one line on stderr.
 */
int options_take(const struct options_syntax *syntax, void *context, int argc, char **argv);

/* Prints what --help does. */
void options_help(const struct options_syntax *syntax);

/* ---- for rows ---- */

/*
 * Each stores at `at`: a bool, which becomes true; a const char *; an int, the index among the allowed words; a
 * uint32_t, from 1 to most; a uint64_t, ns, of a time such as 1.5 (seconds), 10ms, 3us or 5ns; an int, what
 * tool_colour() returns for standard output.
 */
bool options_flag(const struct options_given *given);
bool options_text(const struct options_given *given);
bool options_word(const struct options_given *given);
bool options_number(const struct options_given *given);
bool options_span(const struct options_given *given);
bool options_span_end(const struct options_given *given); /* as options_span(), but above 0, which means none */
bool options_color(const struct options_given *given);

#define OPTIONS_SPAN	 "a time in seconds, or with a unit: s, ms, us or ns"
#define OPTIONS_SPAN_END "a time above 0, in seconds, or with a unit: s, ms, us or ns"

/* Says that the value is not allowed, in the row's words or in these. Returns false. */
bool options_wrong(const struct options_given *given, const char *allowed);
bool options_wrong_as(const struct options_given *given, const char *text, const char *allowed);

/* The number in a text, from 1 to most. Returns false if it is no such number. */
bool options_digits(const char *text, uint32_t most, uint32_t *number);

/* The index of value in a list such as "always, never or auto"; -1: it is not there. */
int options_index(const char *words, const char *value);

#endif
