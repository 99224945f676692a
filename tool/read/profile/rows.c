/* SPDX-License-Identifier: MIT */
#include "tool/read/profile/rows.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"

#define ROOM_FIRST 64

static uint32_t hash_of(const struct read_row_key *key)
{
	return hash_key((uint64_t)key->trace << 32 | key->pid,
		hash_text(hash_text(key->tid ^ key->process, key->name), key->library));
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same(const struct read_row_key *a, const struct read_row_key *b)
{
	return a->trace == b->trace && a->pid == b->pid && a->tid == b->tid && a->process == b->process &&
	       same_text(a->library, b->library) && same_text(a->name, b->name);
}

/* As reallocarray() of list, a pointer to a pointer, for memory that begins where a cache line does. */
static bool resize(struct read_damage *damage, void *list, size_t used, size_t room, size_t size)
{
	void *old, *new = aligned_alloc(64, (room * size + 63) / 64 * 64);

	if (!new) {
		damage->no_memory = true;
		return false;
	}
	memcpy(&old, list, sizeof(old));
	if (used)
		memcpy(new, old, used * size);
	free(old);
	memcpy(list, &new, sizeof(new));
	return true;
}

static bool grow(struct read_rows *rows, struct read_damage *damage)
{
	uint32_t room = rows->room ? rows->room * 2 : ROOM_FIRST;

	if (!resize(damage, &rows->row, rows->rows, room, sizeof(*rows->row)) ||
		!resize(damage, &rows->open, rows->rows, room, sizeof(*rows->open)))
		return false;
	rows->room = room;
	return true;
}

bool read_rows_open(struct read_rows *rows, struct read_damage *damage)
{
	*rows = (struct read_rows){ 0 };
	if (!grow(rows, damage)) {
		read_rows_close(rows);
		return false;
	}
	rows->row[0] = (struct read_row){ .min = UINT64_MAX };
	rows->open[0] = 0;
	rows->rows = 1;
	return true;
}

void read_rows_close(struct read_rows *rows)
{
	for (uint32_t i = 0; i < rows->rows; i++) {
		struct read_row *row = &rows->row[i];
		free((char *)row->key.name);
		free((char *)row->key.library);
		free(row->aliases);
		free(row->thread);
	}
	free(rows->row);
	free(rows->open);
	hash_free(&rows->by_key);
	read_histogram_pool_free(&rows->pool);
	*rows = (struct read_rows){ 0 };
}

uint32_t read_rows_find(struct read_rows *rows, struct read_damage *damage, const struct read_row_key *key)
{
	uint32_t hash = hash_of(key), i = HASH_FIND(at, &rows->by_key, hash, same(&rows->row[at].key, key));
	char *name = NULL, *library = NULL;

	if (i != HASH_NONE)
		return i;
	if (rows->rows == rows->room && !grow(rows, damage))
		return 0;
	if ((key->name && !(name = read_memory_text(damage, key->name, strlen(key->name)))) ||
		(key->library && !(library = read_memory_text(damage, key->library, strlen(key->library)))) ||
		!read_memory_hash(damage, &rows->by_key, hash, rows->rows)) {
		free(name);
		free(library);
		return 0;
	}
	i = rows->rows++;
	rows->row[i] = (struct read_row){
		.min = UINT64_MAX,
		.key = *key,
	};
	rows->row[i].key.name = name;
	rows->row[i].key.library = library;
	rows->open[i] = 0;
	return i;
}

static void add(struct read_row *to, struct read_row *from)
{
	to->self += from->self;
	to->sum += from->sum;
	to->recursive += from->recursive;
	to->given += from->given;
	to->untimed += from->untimed;
	to->counted += from->counted;
	to->on += from->on;
	to->on_self += from->on_self;
	to->on_unknown += from->on_unknown;
	to->min = from->min < to->min ? from->min : to->min;
	/* Of equal ones, that of the earlier task. */
	if (from->max > to->max || (from->max == to->max && from->max_task < to->max_task)) {
		to->max = from->max;
		to->max_task = from->max_task;
		to->max_trace = from->max_trace;
		to->max_pid = from->max_pid;
		to->max_tid = from->max_tid;
		to->max_start = from->max_start;
	}
	if (from->aliases && !to->aliases) {
		to->aliases = from->aliases;
		from->aliases = NULL;
	}
	if (from->throttled && (!to->throttled || from->throttled_task < to->throttled_task)) {
		to->throttled = from->throttled;
		to->throttled_after = from->throttled_after;
		to->throttled_task = from->throttled_task;
	}
	if (from->thread && (!to->thread || from->thread_task > to->thread_task)) {
		char *other = to->thread;
		to->thread = from->thread;
		to->thread_task = from->thread_task;
		from->thread = other;
	}
}

void read_rows_merge(struct read_rows *to, struct read_rows *from, struct read_damage *damage)
{
	for (uint32_t i = 1; i < from->rows; i++) {
		uint32_t row = read_rows_find(to, damage, &from->row[i].key);
		if (!row)
			return;
		add(&to->row[row], &from->row[i]);
		if (!read_histogram_merge(&to->pool, &to->row[row].time, &from->pool, &from->row[i].time))
			damage->no_memory = true;
	}
}
