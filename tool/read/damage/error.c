/* SPDX-License-Identifier: MIT */
#include "tool/read/damage/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"

void read_damage_add(struct read_damage *damage, const char *dir, const char *name, uint64_t offset, const char *what)
{
	char at[32] = "";

	if (damage->no_memory)
		return;
	if (damage->first) {
		damage->more++;
		return;
	}
	if (offset != READ_DAMAGE_NOWHERE)
		snprintf(at, sizeof(at), ": offset %" PRIu64, offset);
	damage->offset = offset;
	damage->file = read_memory_format(damage, "%s%s%s", dir, name ? "/" : "", name ? name : "");
	if (damage->file)
		damage->first = read_memory_format(damage, "%s%s: %s", damage->file, at, what);
}

void read_damage_move(struct read_damage *damage, struct read_damage *from)
{
	if (damage->no_memory || !from->first) {
		damage->no_memory |= from->no_memory;
		read_damage_free(from);
		return;
	}
	if (damage->first) {
		damage->more += from->more + 1;
		damage->no_memory = from->no_memory;
		read_damage_free(from);
		return;
	}
	*damage = *from;
	*from = (struct read_damage){ 0 };
}

void read_damage_free(struct read_damage *damage)
{
	free(damage->first);
	free(damage->file);
	*damage = (struct read_damage){ 0 };
}

void read_error_free(struct read_error *error)
{
	free(error->name);
	free(error->folder);
	read_damage_free(&error->damage);
	*error = (struct read_error){ 0 };
}
