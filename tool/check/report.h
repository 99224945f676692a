/* SPDX-License-Identifier: MIT */
/* Findings: each is told once, when it is found, and counted when it is found again. */
#ifndef XAUDIT_TOOL_CHECK_REPORT_H
#define XAUDIT_TOOL_CHECK_REPORT_H

#include <stddef.h>
#include <stdio.h>

struct check_finding;

/* Reports the finding, or counts it if it was reported before. Takes it. */
void check_found(struct check_finding *finding);

extern struct check_finding *check_findings; /* those that were told, in that order */

/* How many findings there are. */
struct check_sums {
	unsigned errors, others, possible;
};

/* A form of the report. */
struct check_form {
	void (*finding)(FILE *to, const struct check_finding *finding); /* when it is found; NULL: all at the end */
	/* At the end. note: sentences about what was not looked at. The findings are in check_findings. */
	void (*end)(FILE *to, const char **note, size_t notes, const struct check_sums *sums);
};

/* Opens the file, or stream, that the report goes to. 0, or -1 after one line on stderr. */
int check_report_open(const struct check_form *form);
/* Writes the rest of the report. Returns the number of errors, or -1, after one line, if it could not be written. */
int check_report_close(void);

#endif
