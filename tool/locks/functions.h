/* SPDX-License-Identifier: MIT */
/* The functions by which locks are seen: what each does, and what is recorded of it. Pure functions. */
#ifndef XAUDIT_TOOL_LOCKS_FUNCTIONS_H
#define XAUDIT_TOOL_LOCKS_FUNCTIONS_H

#include <stdbool.h>

#include "tool/locks/model.h"

struct locks_function {
	const char *name;
	enum locks_kind kind;
	enum locks_act act;
};

/* Ends with a row without a name. Each has the lock as its first argument; those that wait, the mutex as the second. */
extern const struct locks_function locks_functions[];

/* The row for a function of that name, or with one of these aliases (xaudit_read_function.aliases); NULL. */
const struct locks_function *locks_function(const char *name, const char *aliases);

/* Its thread is about to end when it returns. */
#define LOCKS_THREAD_ENDS "__call_tls_dtors"

/* Functions of libc that may take long, to tell what the holder of a lock does; ends with NULL. */
extern const char *const locks_slow_functions[];

/* The function's context, but for the backtrace; of those that lock, or wait, `*stack` becomes true. */
const char *locks_context(const struct locks_function *function, bool *stack);

#endif
