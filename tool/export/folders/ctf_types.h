/* SPDX-License-Identifier: MIT */
/*
 * Custom events as CTF has them: one kind of event per type and form of its data, which is text, bytes, or fields (of
 * --event-format); and probes, one kind per name. Zeroed memory has none.
 */
#ifndef XAUDIT_TOOL_EXPORT_FOLDERS_CTF_TYPES_H
#define XAUDIT_TOOL_EXPORT_FOLDERS_CTF_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/base/hash.h"
#include "tool/export/format.h"

#define CTF_TYPES_MOST 60000 /* all further ones are one */

struct ctf_types {
	struct ctf_type {
		char *key; /* its name, a line's end, and a letter for each field: t text, b bytes; or s u i r */
		const char *form; /* these, in it */
		const char **name; /* of its fields */
	} *type;
	uint32_t types;
	struct hash by_key;
};

/* What is written of an event: the number of its kind, from 0 on, and its fields, as the caller frees them. */
struct ctf_custom {
	uint32_t type;
	char *data;
	size_t size;
};

struct ctf_custom ctf_custom(struct export *export, struct ctf_types *types, const struct xaudit_read_item *item);

/* The same of a thread that came to a probe: the fields are where that is, and its values as text. */
struct ctf_custom ctf_probe(struct ctf_types *types, const struct xaudit_read_item *item);

/* Writes the kinds' parts of the metadata; `first` is the number of the first one. */
void ctf_types_describe(FILE *file, const struct ctf_types *types, uint32_t first);

void ctf_types_free(struct ctf_types *types);

#endif
