/* SPDX-License-Identifier: MIT */
#include "tool/show/calls/probe_rows.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

static bool is_same(const struct xaudit_read_probe *a, const struct xaudit_read_probe *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->object->path, b->object->path);
}

uint32_t probe_rows_number(struct probe_rows *rows, const struct xaudit_read_probe *probe)
{
	uint32_t *known = memory_number(&rows->of_probe, &rows->probes, probe->number);

	if (*known)
		return PROBE_ROWS_FIRST + *known - 1;
	uint32_t hash = hash_text(hash_text(0, probe->name), probe->object->path);
	uint32_t row = HASH_FIND(i, &rows->by_name, hash, is_same(rows->row[i], probe));
	if (row == HASH_NONE) {
		row = rows->rows++;
		rows->row = memory_grow(rows->row, row, sizeof(*rows->row));
		rows->row[row] = probe;
		memory_hash(&rows->by_name, hash, row);
	}
	*known = row + 1;
	return PROBE_ROWS_FIRST + row;
}

void probe_rows_next(struct probe_rows *rows)
{
	rows->probes = 0;
}

void probe_rows_free(struct probe_rows *rows)
{
	free(rows->row);
	free(rows->of_probe);
	hash_free(&rows->by_name);
	*rows = (struct probe_rows){ 0 };
}
