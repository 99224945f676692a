/* SPDX-License-Identifier: MIT */
/* What `xaudit list` found out about a file. Between tool/show/list*.c; one thread. */
#ifndef XAUDIT_TOOL_SHOW_LIST_H
#define XAUDIT_TOOL_SHOW_LIST_H

#include <stdbool.h>

#include "audit/match/kinds.h"
#include "audit/site/site.h"
#include "tool/index/file_index.h"

/* One function of the file. */
struct list_row {
	uint64_t address, size;
	const char *name; /* NULL: unknown */
	unsigned kinds;	  /* mask of 1 << enum trace_kind that can trace it */
	/* Why a kind can't: enum trace_reason, of entry enum index_reason; 0: no site, or usable. */
	uint8_t refused[TRACE_KIND_COUNT];
};

struct list {
	const char *file;
	int colour; /* in the table */
	int json;   /* not the table */
	bool verbose;
	bool usdt; /* the file's own probes alone */
	struct site_set set;
	struct index_had had; /* index.head NULL: the file can't be analysed */
	struct list_row *row; /* by address */
	size_t rows;
	size_t sites[TRACE_KIND_COUNT];	    /* that can be used */
	size_t functions[TRACE_KIND_COUNT]; /* that they trace */
	/* Calls without a PLT, by these words; and what reads such words otherwise, or is one in the data. */
	struct list_words {
		size_t words, calls, loads, data;
	} words;
};

/* The words of its kinds, separated by commas; to has LIST_KINDS_ROOM bytes. */
#define LIST_KINDS_ROOM (sizeof(TRACE_KIND_WORDS))
void list_kinds(const struct list_row *row, char *to);

/* Why a kind can't trace it. */
const char *list_reason(int kind, unsigned reason);

/* Escape sequences, or nothing. */
const char *list_bold(const struct list *list);
const char *list_yellow(const struct list *list);
const char *list_plain(const struct list *list);

#endif
