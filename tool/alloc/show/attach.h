/* SPDX-License-Identifier: MIT */
/*
 * `xaudit alloc` of a process that runs under xaudit: has the functions of functions.h recorded there, as `xaudit ctl`
 * does, adds up what comes from then on, and switches them off again. One thread, beside that of follow.h.
 */
#ifndef XAUDIT_TOOL_ALLOC_SHOW_ATTACH_H
#define XAUDIT_TOOL_ALLOC_SHOW_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

struct alloc_account_book;

struct alloc_attach {
	uint32_t pid, backtrace; /* callers, at most */
	bool maps;		 /* mappings, too */
	uint64_t sample;	 /* samples, one in so many bytes; 0: all */
	uint64_t time;		 /* so many ns; 0: until the process ends, or a signal comes */
};

/* Returns when all is in the book; or false after a line on stderr. */
bool alloc_attach(const struct alloc_attach *attach, struct alloc_account_book *book);

#endif
