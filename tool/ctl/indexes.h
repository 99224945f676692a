/* SPDX-License-Identifier: MIT */
/*
 * The indexes (format/index.h) that a running process needs for functions of kinds entry, fentry and mcount. A process
 * that was not told at its start to trace such functions has looked for none, and may find none where it is: it has
 * other folders, another root, a filter. So the command brings them along: it takes what is kept, or looks through the
 * file and keeps the result, as `xaudit index` does, all before the process is stopped; and writes them into memory
 * that the module makes there (CONTROL_ROOM). Whose they are is no question then: who may trace a process may change
 * its code.
 *
 * Only rules that name such a kind get any, for libraries that they name, and only those that the module has none of
 * yet.
 *
 * One thread. What was found is kept for further processes: workers of a server have the same libraries.
 */
#ifndef XAUDIT_TOOL_CTL_INDEXES_H
#define XAUDIT_TOOL_CTL_INDEXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_request;
struct ctl_process;
struct ctl_world;

struct ctl_index {
	uint32_t object; /* its number in the process */
	const void *bytes; /* kept by indexes.c */
	size_t size;
};

struct ctl_indexes {
	struct ctl_index *index;
	size_t count;
};

struct load;
struct object;

/* Calls the function for each object that is loaded and may be traced; of several loads, for each. */
typedef void ctl_object_function(void *context, const struct ctl_process *process, const struct object *object,
	const struct load *load);
void ctl_each_object(const struct ctl_process *process, ctl_object_function *function, void *context);

/* Is there one for the object of that number? */
bool ctl_indexes_have(const struct ctl_indexes *indexes, uint32_t object);
void ctl_indexes_add(struct ctl_indexes *indexes, uint32_t object, const void *bytes, size_t size);

/*
 * Finds those that the rules need in this process. Says in one line each for which library there is none, and why; the
 * module counts its functions as refused then.
 */
void ctl_indexes_find(
	struct ctl_indexes *indexes, const struct ctl_process *process, char *const *rule, size_t rules);

/*
 * Makes those of all its objects that are not kept, of ld.so and the module, too, for the module to find there; says so
 * where one can't be made.
 */
void ctl_indexes_keep(const struct ctl_process *process);

void ctl_indexes_free(struct ctl_indexes *indexes);

/*
 * Writes them into the process, all threads stopped, and says so in the request (CONTROL_ENABLE), which is to be called
 * next. As ctl_call().
 */
int ctl_indexes_give(const struct ctl_indexes *indexes, struct ctl_world *world, struct control_request *request);

/*
 * Takes a rule apart: [KIND[,KIND]...:]FUNCGLOB[@LIBGLOB]. Returns the mask of the kinds that it names, 0 for none;
 * *library: the pattern, NULL for none. An unknown kind is left out. Pure.
 */
unsigned ctl_rule_kinds(const char *rule, const char **library);

#endif
