/* SPDX-License-Identifier: MIT */
#include "tool/read/inherited.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"
#include "tool/read/meta.h"
#include "tool/read/names.h"

#define BASES_KEPT 8 /* that no process uses at the moment: the next one may */

/* Finds which of the process's records up to `used` are for itself alone. */
static void find_own(struct read_process *process, uint64_t used)
{
	uint64_t known = process->owns_known ? process->owns_known : process->head.head_size;
	const struct trace_record *record;
	struct read_meta meta;

	if (used <= known)
		return;
	read_meta_begin_own(&meta, process, known, used);
	while ((record = read_meta_next(&meta, false))) {
		struct read_own *last = process->owns ? &process->own[process->owns - 1] : NULL;

		if (!read_meta_is_own(record))
			continue;
		if (last && last->end == meta.at) {
			last->end = meta.pos;
			continue;
		}
		if (!read_memory_grow(process->family->damage, &process->own, process->owns, sizeof(*process->own)))
			break;
		process->own[process->owns++] = (struct read_own){ meta.at, meta.pos };
	}
	process->owns_known = meta.pos;
	read_meta_end(&meta);
}

/* The lowest position up to which a child has the same records as up to `used`. */
static uint64_t without_own(struct read_process *process, uint64_t used)
{
	uint32_t low = 0, high;

	find_own(process, used);
	for (high = process->owns; low < high;) {
		uint32_t middle = low + (high - low) / 2;
		if (process->own[middle].end < used)
			low = middle + 1;
		else
			high = middle;
	}
	return low < process->owns && process->own[low].begin < used ? process->own[low].begin : used;
}

/*
 * Finds, or reads, what a process has from its parent, in the form of a process. If the parent has no records for its
 * children, they have what the parent has from its own parent.
 */
static struct read_process *find_base(struct read_process *process)
{
	struct read_family *family = process->family;
	struct read_process *of = read_process_parent(process), *base, *next;
	uint64_t used = process->head.parent_used;
	struct read_meta meta;

	if (!of)
		return NULL;
	while ((used = without_own(of, used)) == of->head.head_size && (next = read_process_parent(of))) {
		used = of->head.parent_used;
		of = next;
	}
	for (uint32_t i = family->bases; i-- > 0;) {
		base = family->base[i];
		if (base->of != of || base->of_used != used)
			continue;
		memmove(&family->base[i], &family->base[i + 1], (family->bases - i - 1) * sizeof(*family->base));
		family->base[family->bases - 1] = base;
		return base;
	}
	if (!read_memory_resize(family->damage, &family->base, family->bases + 1ul, sizeof(*family->base)))
		return NULL;
	base = read_memory_zeroed(family->damage, 1, sizeof(*base));
	if (!base)
		return NULL;
	base->family = family;
	base->place = of->place;
	base->of = of;
	base->of_used = used;
	read_meta_begin_inherited(&meta, of, used);
	read_names_take(base, &meta);
	read_meta_end(&meta);
	family->base[family->bases++] = base;
	return base;
}

static void close_base(struct read_process *base)
{
	read_names_free(base);
	free(base);
}

void read_inherited_close(struct read_family *family)
{
	for (uint32_t i = 0; i < family->bases; i++)
		close_base(family->base[i]);
	family->bases = 0;
}

void read_inherited_leave(struct read_process *process)
{
	struct read_family *family = process->family;
	uint32_t unused = 0;

	if (!process->base)
		return;
	process->base->users--;
	process->base = NULL;
	for (uint32_t i = family->bases; i-- > 0;) {
		struct read_process *base = family->base[i];
		if (base->users || ++unused <= BASES_KEPT)
			continue;
		close_base(base);
		memmove(&family->base[i], &family->base[i + 1], (--family->bases - i) * sizeof(*family->base));
	}
}

static void take_text_of(struct read_damage *damage, char **to, const char *from)
{
	if (!*to)
		*to = from ? read_memory_text(damage, from, strlen(from)) : NULL;
}

void read_inherited_take(struct read_process *process)
{
	struct read_process *base = find_base(process);
	struct read_damage *damage = process->family->damage;

	process->base = base;
	if (!base)
		return;
	base->users++;
	process->loads = base->loads;
	process->unloads = base->unloads;
	take_text_of(damage, &process->exe, base->exe);
	take_text_of(damage, &process->command, base->command);
	take_text_of(damage, &process->host, base->host);
	take_text_of(damage, &process->config, base->config);
	take_text_of(damage, &process->module, base->module);
}
