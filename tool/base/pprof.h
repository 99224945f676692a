/* SPDX-License-Identifier: MIT */
/*
 * A profile of pprof (profile.proto) that is being made. Each library has a range of addresses of its own, in which its
 * places are where they were linked. Libraries, functions and texts are told once, however often they are asked for:
 * memory is that of these, since the rest is written, compressed by gzip, as it comes. Errors are left in the stream
 * (ferror). One thread.
 */
#ifndef XAUDIT_TOOL_BASE_PPROF_H
#define XAUDIT_TOOL_BASE_PPROF_H

#include <stdio.h>

#include "tool/base/gzip.h"
#include "tool/base/hash.h"
#include "tool/base/proto.h"

/* Fields of the profile that are a type with its unit; and those that are numbers. */
enum pprof_field { PPROF_SAMPLE_TYPE = 1, PPROF_TIME = 9, PPROF_DURATION, PPROF_PERIOD_TYPE, PPROF_PERIOD,
	PPROF_COMMENT, PPROF_DEFAULT_TYPE };

struct pprof {
	struct gzip *gzip;
	struct proto all; /* what is not written yet */
	/* For the message at hand: */
	struct proto message, inner, locations, values, labels;
	char **string;
	uint32_t strings;
	struct hash by_string;
	char **library;
	uint32_t libraries;
	struct hash by_library;
	struct pprof_function {
		uint32_t name, library, file; /* texts */
	} *function;
	uint32_t functions;
	struct hash by_function;
};

void pprof_begin(struct pprof *pprof, FILE *to);

/* The number of a text. */
uint32_t pprof_string(struct pprof *pprof, const char *text);

void pprof_type(struct pprof *pprof, enum pprof_field field, const char *type, const char *unit);
void pprof_number(struct pprof *pprof, enum pprof_field field, uint64_t number);

/* The number of a library, from 1 on; of an empty path 0: none. build_id: in hex, or empty. */
uint32_t pprof_library(struct pprof *pprof, const char *path, const char *build_id);

/* The number of a function, from 1 on. shown: its name for people; file: where its source is, or empty. */
uint32_t pprof_function(
	struct pprof *pprof, const char *name, const char *shown, const char *library, const char *file);

/* A place. id: the caller's, from 1 on; library and function: 0: none; offset: in the library, if has_offset. */
struct pprof_place {
	uint64_t id;
	uint32_t library, function, line;
	int has_offset;
	uint64_t offset;
};
void pprof_location(struct pprof *pprof, const struct pprof_place *place);

/* A sample is what is told of it, up to its end: places, the innermost first; values, one of each type; labels. */
void pprof_sample_place(struct pprof *pprof, uint64_t id);
void pprof_sample_value(struct pprof *pprof, uint64_t value);
void pprof_sample_label(struct pprof *pprof, const char *key, const char *text); /* of text */
void pprof_sample_number(struct pprof *pprof, const char *key, uint64_t number); /* of a number */
void pprof_sample_end(struct pprof *pprof);

/* Writes the rest, and frees its memory. */
void pprof_end(struct pprof *pprof);

#endif
