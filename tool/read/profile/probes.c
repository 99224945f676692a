/* SPDX-License-Identifier: MIT */
#include "tool/read/profile/probes.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"
#include "tool/read/process_load.h"
#include "tool/read/shown_names.h"

/* ---- rows ---- */

/* The row of a name and a library; HASH_NONE: there is no memory. */
static uint32_t row_named(struct read_probes *p, struct read_damage *damage, const char *name, const char *library)
{
	uint32_t hash = hash_text(hash_text(0, library), name);
	uint32_t row = HASH_FIND(
		i, &p->by_name, hash, !strcmp(p->row[i].name, name) && !strcmp(p->row[i].library, library));

	if (row != HASH_NONE)
		return row;
	if (!read_memory_grow(damage, &p->row, p->rows, sizeof(*p->row)))
		return HASH_NONE;
	struct read_probe_row new = { .name = read_memory_text(damage, name, strlen(name)),
		.library = read_memory_text(damage, library, strlen(library)), .first = UINT64_MAX };
	if (!new.name || !new.library || !read_memory_hash(damage, &p->by_name, hash, p->rows)) {
		free(new.name);
		free(new.library);
		return HASH_NONE;
	}
	p->row[p->rows] = new;
	return p->rows++;
}

/* The row of an id of the process; HASH_NONE: there is no memory. *named: meta names it. */
static uint32_t row_of(struct read_probes *p, uint32_t id, bool *named)
{
	struct read_process *process = p->process;
	struct read_damage *damage = process->family->damage;
	uint32_t known = HASH_FIND(i, &p->by_id, id, p->id[i].id == id);
	char buf[320];

	*named = true;
	if (known != HASH_NONE)
		return p->id[known].row;
	const struct read_function *probe = read_process_function_now(process, id);
	*named = probe != NULL;
	uint32_t row = row_named(p, damage, read_function_name(process, probe, buf, sizeof(buf)),
		read_object_path(probe ? read_process_object(process, probe->object) : NULL));
	/* A name that is not known may still come. */
	if (row == HASH_NONE || !probe)
		return row;
	if (!read_memory_grow(damage, &p->id, p->ids, sizeof(*p->id)) ||
		!read_memory_hash(damage, &p->by_id, id, p->ids))
		return HASH_NONE;
	p->id[p->ids++] = (struct read_probe_id){ id, row };
	return row;
}

/* ---- counting ---- */

void read_probes_begin(struct read_probes *p, struct read_process *process, uint64_t start)
{
	hash_clear(&p->by_id);
	p->ids = 0;
	p->process = process;
	p->start = start;
}

static void span(struct read_probe_row *row, uint64_t first, uint64_t last)
{
	row->first = first < row->first ? first : row->first;
	row->last = last > row->last ? last : row->last;
}

bool read_probes_count(struct read_probes *p, uint32_t id, uint64_t ticks, bool valued)
{
	uint64_t ns = read_clock_time(&p->process->clock, ticks), after = ns > p->start ? ns - p->start : 0;
	bool named;
	uint32_t n = row_of(p, id, &named);

	if (n == HASH_NONE)
		return named;
	struct read_probe_row *row = &p->row[n];
	row->count++;
	row->valued += valued;
	span(row, after, after);
	return named;
}

void read_probes_add(struct read_probes *p, uint32_t id, uint64_t count)
{
	bool named;
	uint32_t n = row_of(p, id, &named);

	if (n == HASH_NONE)
		return;
	p->row[n].count += count;
	p->row[n].counted += count;
}

void read_probes_merge(struct read_probes *to, const struct read_probes *from, struct read_damage *damage)
{
	for (uint32_t i = 0; i < from->rows; i++) {
		const struct read_probe_row *other = &from->row[i];
		uint32_t n = row_named(to, damage, other->name, other->library);
		if (n == HASH_NONE)
			return;
		struct read_probe_row *row = &to->row[n];
		row->count += other->count;
		row->counted += other->counted;
		row->valued += other->valued;
		span(row, other->first, other->last);
	}
}

/* ---- all ---- */

static int by_count(const void *a, const void *b)
{
	const struct read_probe_row *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_name ? by_name : strcmp(x->library, y->library);
}

void read_probes_sort(struct read_probes *p)
{
	if (p->rows)
		qsort(p->row, p->rows, sizeof(*p->row), by_count);
}

void read_probes_free(struct read_probes *p)
{
	for (uint32_t i = 0; i < p->rows; i++) {
		free(p->row[i].name);
		free(p->row[i].library);
	}
	free(p->row);
	free(p->id);
	hash_free(&p->by_name);
	hash_free(&p->by_id);
	*p = (struct read_probes){ 0 };
}
