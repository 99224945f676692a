/* SPDX-License-Identifier: MIT */
/*
 * CSV output, as RFC 4180 has it: a row of heads, then one row for each of what is shown, all with the same number of
 * fields; rows end in CR and LF. Times are whole numbers of ns, shares are parts of 1. What is not known is an empty
 * field without quotes; an empty text has quotes.
 *
 * Texts of traced programs keep all their characters, line ends and control characters too, as a reader of CSV takes
 * them; but each byte that is no UTF-8 becomes U+FFFD, as in JSON. On a terminal, what would steer it becomes '?'. A
 * spreadsheet may take a text that begins with = for a formula: names of functions do not, but values of calls may.
 *
 * Errors are left in the stream (ferror). One thread.
 */
#ifndef XAUDIT_TOOL_BASE_CSV_H
#define XAUDIT_TOOL_BASE_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv {
	FILE *to;
	bool terminal;
	bool some;     /* the row has a field */
};

/* terminal: it goes to one. */
struct csv csv_begin(FILE *to, bool terminal);

/* Heads: words, with commas in between. More fields may follow them in the row. */
void csv_heads(struct csv *csv, const char *heads);

/* A field; NULL: it is not known. */
void csv_text(struct csv *csv, const char *text);
void csv_number(struct csv *csv, uint64_t number);

/* The same: a number of millionths; whether there is a number at all. */
void csv_share(struct csv *csv, uint64_t millionths);
void csv_known(struct csv *csv, bool known, uint64_t number);

/* The row is over. */
void csv_end(struct csv *csv);

#endif
