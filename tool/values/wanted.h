/* SPDX-License-Identifier: MIT */
/*
 * RULES (format/plan.h): what is to be recorded, of which functions. What is wrong there is said as it is read, in one
 * line each, and left out: "xaudit: WHERE: what".
 *
 *	context = CONTEXT CONTEXT...	contexts of expression.h, with commas or blanks between them; and
 *		args, args:contents, args:depth=N	all arguments, by the function's prototype; with what is in
 *							buffers; with N levels of structures
 *		retval					what comes back, and why it failed
 *	if = CONDITION			expression.h
 *	every = N			one call of a thread in so many
 *	longer = TIME			calls that are not shorter
 *	secret = NAME NAME...		patterns of parameters that are never recorded
 *	then = ACTION			action.h: what is done besides
 *	trust = arguments, no		texts and bytes that it reads itself are read as they are; the last rule counts
 *	request = CONTEXT		its calls begin requests, which this value names
 *
 * Of a probe: at (a place), context, if, every, then. What may be asked there depends on the place, so their contexts
 * and conditions are only divided here: tool/probe/asked.h checks them.
 *
 * Memory that runs out ends the command. One thread.
 */
#ifndef XAUDIT_TOOL_VALUES_WANTED_H
#define XAUDIT_TOOL_VALUES_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/match/match.h"
#include "tool/values/expression.h"

struct prototypes;

enum wanted_key {
	WANTED_CONTEXT,
	WANTED_ARGUMENTS,
	WANTED_RESULT,
	WANTED_IF,
	WANTED_EVERY,
	WANTED_LONGER,
	WANTED_SECRET,
	WANTED_REQUEST,
	WANTED_TRUST,
	WANTED_THEN,
	/* Of probes alone. */
	WANTED_AT,
	WANTED_NONE, /* no values, though the place has some by itself */
};

struct wanted_rule {
	const char *where; /* for messages; empty: there are none */
	struct rules_pattern pattern; /* of a probe: its name */
	uint32_t probe; /* 1 + number of the probe that it is of; 0: of functions */
	enum wanted_key key;
	char *value;	 /* of CONTEXT, IF, SECRET, REQUEST, AT, THEN */
	uint64_t number; /* of EVERY, LONGER; of ARGUMENTS the depth; of TRUST 1: arguments */
	bool contents;	 /* of ARGUMENTS */
	bool told;	 /* something was wrong with it already */
	/* For whoever makes plans: it was right of a function; of others what it names is not known. */
	bool right, unknown;
	struct values_wrong wrong;
};

/*
 * Rules of functions come first, in the order of the text; then those of one probe after another, of each its places
 * before all else.
 */
struct wanted {
	struct wanted_rule *rule;
	size_t rules;
	size_t of_functions; /* rules that are of no probe */
	uint32_t probes;
	const char *probe; /* name of the last one; NULL */
	char **line; /* of prototypes; with their places */
	const char **line_where;
	size_t lines;
	char *text;
};

/* Returns false if something was wrong; *wanted has the rest. */
bool wanted_read(struct wanted *wanted, const char *text);
void wanted_free(struct wanted *wanted);

/* The rules of a probe: at ... others - 1 are its places, others ... end - 1 the rest. */
struct wanted_probe {
	size_t at, others, end;
};

/* Goes to the next probe, from zeros to the first one. Returns false: there is none. */
bool wanted_next(const struct wanted *wanted, struct wanted_probe *probe);

/*
 * As values_ask(), of the value that names a request: it is one, and found when the function begins. asked: without
 * values of an end so far.
 */
bool wanted_ask_request(struct values_asked *asked, const char *context, const struct values_known *known,
	struct values_wrong *wrong);

/* May it be the name of a parameter, of a function that is not known yet, and nothing else? */
bool wanted_may_be_parameter(const char *word);

/*
 * What every function may have, as far as nobody knows which it is: any symbol, members of any type, and names of
 * parameters.
 */
extern const struct values_known wanted_anything;

/* A time, as in 500ns, 10us, 1.5ms or 2s. Returns false: it is none. */
bool wanted_time(const char *text, uint64_t *ns);

/* Says what is wrong with a rule, once. */
void wanted_wrong(struct wanted_rule *rule, const struct values_wrong *wrong);

/*
 * The prototypes of ltrace's files, of the table that comes with xaudit, and of the rules: later ones count. *own: how
 * many texts are not of the rules (struct prototype.text). *wrong becomes true after a line about one that is wrong.
 */
struct prototypes *wanted_prototypes(const struct wanted *wanted, unsigned *own, bool *wrong);

/* What wanted_prototypes() makes of no rules, as one text that differs if that does; to be freed. */
char *wanted_sources(void);

/* Is all of it as it should be? Else that was said. */
bool wanted_check(const char *text);

#endif
