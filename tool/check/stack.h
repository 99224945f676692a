/* SPDX-License-Identifier: MIT */
/*
 * Stacks and names, by libdwfl. Libraries that a process has unloaded are reported to libdwfl at their old places:
 * nothing else lies there, as the module keeps the range reserved. So stacks that lead through unloaded code can be
 * unwound and named.
 */
#ifndef XAUDIT_TOOL_CHECK_STACK_H
#define XAUDIT_TOOL_CHECK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_process;
struct check_snapshot;
struct check_unload;

struct check_frame {
	uint64_t address, sp;
	bool exact;	 /* see check_name() */
	char *function;	 /* NULL: unknown */
	uint64_t offset; /* in it; without a function, in the object: an address of its file */
	char *file;	 /* source; NULL: unknown */
	int line;
	char *object; /* path; NULL: none */
};

struct check_stack {
	struct check_frame *frame;
	size_t count;
};

struct check_names;

/*
 * Names in a process as it is now, and in libraries that it unloaded: hit (may be NULL) and the last few. Never NULL.
 */
struct check_names *check_names_begin(struct check_process *process, const struct check_unload *hit);
void check_names_end(struct check_names *names);

/* The stack of a snapshot, as far as it can be unwound: addresses alone. Then adds the names, once. */
void check_unwind(struct check_names *names, struct check_snapshot *snapshot, struct check_stack *stack);
void check_stack_name(struct check_names *names, struct check_stack *stack);

/* Names what lies at an address. exact: the address of an instruction that is executed, not a return address. */
void check_name(struct check_names *names, uint64_t address, bool exact, struct check_frame *frame);
/* Names data of the object that is loaded at `load`: its zeroed data is no mapping of the file. */
void check_name_data(struct check_names *names, uint64_t load, uint64_t address, struct check_frame *frame);

/* The first frame that is not in the loader, libc or the module: the code that asked for the unload. NULL: none. */
const struct check_frame *check_stack_culprit(const struct check_stack *stack);

/* Drops the frames before the one that check_stack_culprit() returns. */
void check_stack_trim(struct check_stack *stack);

void check_stack_free(struct check_stack *stack);
void check_frame_free(struct check_frame *frame);

/* The last part of a path. */
const char *check_base(const char *path);

#endif
