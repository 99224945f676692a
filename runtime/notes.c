/* SPDX-License-Identifier: MIT */
#include "runtime/notes.h"

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/files/stderr.h"
#include "runtime/process/process.h"
#include "x86_64/sys.h"

#define NOTES_MOST 80u /* what says them has limits of its own */

struct note {
	struct note *next;
	char *line;
};

/* Oldest first, for as long as the process lives. Lock, all. */
static struct arena memory;
static struct note *first, *last;
static uint32_t count;

/* Where there is no memory for it, a folder that is made later lacks the line. */
static void keep(const char *line)
{
	struct note *one = count < NOTES_MOST ? arena_alloc(&memory, sizeof(*one)) : NULL;

	if (!one || !(one->line = arena_string(&memory, line, sys_length(line))))
		return;
	if (last)
		last->next = one;
	else
		first = one;
	last = one;
	count++;
}

void notes_say(const char *line)
{
	process_note(line, stderr_is_users());
	keep(line);
}

void notes_describe(void)
{
	for (const struct note *one = first; one; one = one->next)
		process_note(one->line, false);
}
