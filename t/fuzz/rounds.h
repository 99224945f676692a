/* SPDX-License-Identifier: MIT */
/*
 * Rounds of fuzzing, each of which follows from its number: a trace is damaged, and read. Rounds run in processes of
 * their own, some in each; what crashes, hangs or takes much memory is told with the number of its round. One thread.
 */
#ifndef XAUDIT_T_FUZZ_ROUNDS_H
#define XAUDIT_T_FUZZ_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct fuzz {
	const char *const *script; /* names of traces */
	unsigned scripts;
	unsigned batch;	  /* rounds in a process */
	long most_memory; /* kB, of a process, with a sanitizer's */
	void (*make)(const char *script);
	void (*damage)(const char *script, uint64_t round);
	uint64_t (*read)(void);
	/* Undoes the damage; all: it is not known what was done, in a process that failed. NULL: damage() does. */
	void (*restore)(bool all);
};

/* Numbers that follow from the one that is given first. */
void fuzz_seed(uint64_t round);
uint64_t fuzz_number(uint64_t below);

/* Makes a folder for traces, in memory if there is room. */
void fuzz_folder(char folder[256]);

/* Rounds with the trace that was made. Returns how many were bad. */
unsigned fuzz_run(const struct fuzz *fuzz, const char *script, uint64_t first, uint64_t rounds);

/* Rounds with all traces, from this one on, as many as fit in this time. Returns the exit status. */
int fuzz_run_long(const struct fuzz *fuzz, uint64_t seconds, uint64_t first);

#endif
