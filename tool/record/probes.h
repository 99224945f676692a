/* SPDX-License-Identifier: MIT */
/*
 * The options about probes, and about functions by their places:
 *
 *	--probe [NAME=]PLACE		a place of xaudit-probes(7); NAME, by default the place's text, names its events
 *	--function [NAME=]FUNCTION	SYMBOL[@LIB], or an address or SYMBOL+OFFSET at which a function begins: as -F
 *	--context NAME:CONTEXTS		of that probe or function
 *	--context CONTEXTS		of those that are named before it on the line
 *	--then NAME:ACTION		an action (tool/values/action.h) of that probe or function
 *	--then ACTION			of those that are named before it on the line
 *
 * They become sections [probe NAME] and patterns of functions. One thread.
 */
#ifndef XAUDIT_TOOL_RECORD_PROBES_H
#define XAUDIT_TOOL_RECORD_PROBES_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/base/options.h"
#include "tool/record/record.h"

struct record_objects;
struct rules;

/* Rows of --probe, --function, --context and --then. Each returns false after a line on stderr. */
bool record_probes_take(const struct options_given *given);
bool record_probes_take_function(const struct options_given *given);
bool record_probes_take_context(const struct options_given *given);
bool record_probes_take_then(const struct options_given *given);

/*
 * Finds the functions of --function that are named by addresses, and adds all of them to `functions`, of which *options
 * gets a list of its own. Returns false after a line: there is none.
 */
bool record_probes_functions(struct record_options *options, const struct record_objects *objects);

/* Does nothing else say what is to be traced? found: the configuration's rules. */
bool record_probes_alone(const struct record_options *options, const struct rules *found);

/*
 * Does each context belong to a probe, where nothing else is traced? Returns false after a line: one names something
 * else, which would record nothing.
 */
bool record_probes_named(const struct record_options *options, const struct rules *found);

/* Writes the sections of the probes. Returns false after a line about one that is wrong. */
bool record_probes_put(FILE *to, const struct record_options *options);

void record_probes_free(struct record_options *options);

#endif
