/* SPDX-License-Identifier: MIT */
#include "tool/show/report/nested.h"

#include <stdlib.h>

#include "tool/base/memory.h"

/* An open call; numbers, not pointers: whatever a trace says, they are inside of their arrays. */
struct nested_call {
	uint32_t row;	/* 0: it is free, and outer is the next free one */
	uint32_t outer; /* the next call of its row further out; 0: none */
	uint32_t place; /* of its row and stack */
	uint64_t inner; /* the time of the outermost calls of its row in it */
};

struct nested_row {
	const struct xaudit_read_process *process;
	uint64_t stack; /* its number, or its thread */
	uint32_t row;
	uint32_t innermost; /* 0: none is open */
};

/* The row of a stack, made if it is new. */
static uint32_t find(struct nested *nested, const struct nested_row *key)
{
	uint32_t hash = hash_key((uintptr_t)key->process ^ key->row, key->stack);
	uint32_t found = HASH_FIND(i, &nested->by_stack, hash,
		nested->row[i].row == key->row && nested->row[i].stack == key->stack &&
			nested->row[i].process == key->process);

	if (found != HASH_NONE)
		return found;
	nested->row = memory_grow(nested->row, nested->rows, sizeof(*nested->row));
	memory_hash(&nested->by_stack, hash, nested->rows);
	nested->row[nested->rows] = *key;
	return nested->rows++;
}

static uint32_t take(struct nested *nested)
{
	uint32_t call = nested->spare;

	if (call) {
		nested->spare = nested->call[call].outer;
		return call;
	}
	nested->call = memory_grow(nested->call, nested->calls + 1ul, sizeof(*nested->call));
	return ++nested->calls;
}

void nested_enter(struct nested *nested, struct xaudit_read_call *call, uint32_t row)
{
	struct nested_row key = { .process = call->process, .row = row };

	/* No number: the thread has one stack. */
	key.stack = call->stack ? call->stack : (uint64_t)call->tid << 32;
	uint32_t place = find(nested, &key), number = take(nested);

	nested->call[number] =
		(struct nested_call){ .row = row, .outer = nested->row[place].innermost, .place = place };
	nested->row[place].innermost = number;
	call->user[0] = number;
}

uint32_t nested_end(struct nested *nested, const struct xaudit_read_call *call, uint64_t time, uint64_t *total)
{
	uint32_t number = (uint32_t)call->user[0];

	*total = 0;
	if (!number)
		return 0;
	struct nested_call *nest = &nested->call[number];
	uint32_t row = nest->row;
	time = time == XAUDIT_READ_UNKNOWN ? nest->inner : time;
	if (nest->outer)
		nested->call[nest->outer].inner += time;
	else
		*total = time;
	if (nested->row[nest->place].innermost == number)
		nested->row[nest->place].innermost = nest->outer;
	*nest = (struct nested_call){ .outer = nested->spare };
	nested->spare = number;
	return row;
}

void nested_clear(struct nested *nested)
{
	free(nested->call);
	free(nested->row);
	hash_free(&nested->by_stack);
	*nested = (struct nested){ 0 };
}
