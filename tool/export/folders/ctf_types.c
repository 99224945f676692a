/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/ctf_types.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/folders/ctf_metadata.h"
#include "tool/show/event_format.h"
#include "tool/show/event_text.h"
#include "tool/show/probe_text.h"
#include "tool/show/values.h"

/* ---- fields ---- */

/* Of one event. */
struct fields {
	FILE *form, *data;
	const char **name;
	uint32_t names;
};

static void take_field(void *user, const struct event_format_field *field)
{
	struct fields *fields = user;

	fields->name = memory_grow(fields->name, fields->names, sizeof(*fields->name));
	fields->name[fields->names++] = field->name;
	switch (field->is) {
	case EVENT_FORMAT_UNSIGNED:
		putc('u', fields->form);
		fwrite(&field->number, sizeof(field->number), 1, fields->data);
		break;
	case EVENT_FORMAT_SIGNED:
		putc('i', fields->form);
		fwrite(&field->integer, sizeof(field->integer), 1, fields->data);
		break;
	case EVENT_FORMAT_REAL:
		putc('r', fields->form);
		fwrite(&field->real, sizeof(field->real), 1, fields->data);
		break;
	case EVENT_FORMAT_TEXT:
		putc('s', fields->form);
		fwrite(field->text, 1, strnlen(field->text, field->size), fields->data);
		putc('\0', fields->data);
	}
}

static void take_whole(struct fields *fields, const struct xaudit_read_item *item)
{
	uint16_t size = (uint16_t)item->data_size;

	if (event_is_text(item->data, item->data_size)) {
		putc('t', fields->form);
		fwrite(item->data, 1, strnlen(item->data, size), fields->data);
		putc('\0', fields->data);
	} else {
		putc('b', fields->form);
		fwrite(&size, sizeof(size), 1, fields->data);
		fwrite(item->data, 1, size, fields->data);
	}
}

static void end_text(FILE *file)
{
	if (fclose(file))
		memory_failed();
}

/* ---- kinds ---- */

/* Takes the key, in which the form is behind the name's line, and the names. */
static uint32_t find(struct ctf_types *types, char *key, struct fields *fields)
{
	uint32_t hash = hash_text(0, key);
	uint32_t number = HASH_FIND(i, &types->by_key, hash, !strcmp(types->type[i].key, key));

	if (number != HASH_NONE) {
		free(key);
		free(fields->name);
		return number;
	}
	number = types->types++;
	types->type = memory_grow(types->type, number, sizeof(*types->type));
	types->type[number] = (struct ctf_type){ key, strchr(key, '\n') + 1, fields->name };
	memory_hash(&types->by_key, hash, number);
	return number;
}

struct ctf_custom ctf_custom(struct export *export, struct ctf_types *types, const struct xaudit_read_item *item)
{
	const struct event_format *format = event_format_find(&export->events, item->type, item->type_number);
	bool many = types->types >= CTF_TYPES_MOST;
	struct ctf_custom custom;
	struct fields fields = { 0 };
	char *form, *key;
	size_t size;

	fields.form = memory_need(open_memstream(&form, &size));
	fields.data = memory_need(open_memstream(&custom.data, &custom.size));
	if (!format || many ||
		event_format_each(format, item->data, item->data_size, take_field, &fields) == EVENT_FORMAT_SHORT) {
		rewind(fields.form);
		rewind(fields.data);
		fields.names = 0;
		take_whole(&fields, item);
	}
	end_text(fields.form);
	end_text(fields.data);
	FILE *file = memory_need(open_memstream(&key, &size));
	event_type(file, many ? "other" : item->type, item->type_number);
	fprintf(file, "\n%s", form);
	end_text(file);
	free(form);
	custom.type = find(types, key, &fields);
	return custom;
}

struct ctf_custom ctf_probe(struct ctf_types *types, const struct xaudit_read_item *item)
{
	bool many = types->types >= CTF_TYPES_MOST;
	char *place = probe_place_text(item->probe), *key;
	struct ctf_custom custom;
	struct fields fields = { .names = 2, .name = memory_zeroed(2, sizeof(*fields.name)) };
	size_t size;

	fields.name[0] = "at";
	fields.name[1] = "values";
	fields.data = memory_need(open_memstream(&custom.data, &custom.size));
	fprintf(fields.data, "%s%c", place, '\0');
	free(place);
	if (item->values)
		values_list(fields.data, item->values, UINT32_MAX);
	putc('\0', fields.data);
	end_text(fields.data);
	FILE *file = memory_need(open_memstream(&key, &size));
	fputs("probe:", file);
	tool_text(file, many ? "other" : item->probe->name);
	fputs("\nss", file);
	end_text(file);
	custom.type = find(types, key, &fields);
	return custom;
}

/* ---- metadata ---- */

struct naming {
	FILE *file;
	const char *form;
	unsigned number;
};

/* The names of fields are unique, which those that CTF can have may not be: they end with a number then. */
static void describe_field(struct naming *naming, const char *name, char form)
{
	const char *type = form == 'u' ? "uint64_t" : form == 'i' ? "int64_t" : form == 'r' ? "double_t" : "string";
	bool odd = false;

	fprintf(naming->file, " %s _", type);
	for (; *name; name++) {
		odd = odd || !isalnum((unsigned char)*name);
		putc(isalnum((unsigned char)*name) ? *name : '_', naming->file);
	}
	if (odd)
		fprintf(naming->file, "_%u", naming->number);
	naming->number++;
	putc(';', naming->file);
}

static void describe(FILE *file, const struct ctf_type *type)
{
	struct naming naming = { file, type->form, 1 };

	switch (*type->form) {
	case 't':
		fputs(" string _text;", file);
		return;
	case 'b':
		fputs(" uint16_t _size; hex8_t _data[_size];", file);
		return;
	}
	for (unsigned i = 0; type->form[i]; i++)
		describe_field(&naming, type->name[i], type->form[i]);
}

void ctf_types_describe(FILE *file, const struct ctf_types *types, uint32_t first)
{
	for (uint32_t i = 0; i < types->types; i++) {
		char *name = memory_format("xaudit:%.*s", (int)(types->type[i].form - 1 - types->type[i].key),
			types->type[i].key);

		fputs("event { name = ", file);
		ctf_quote(file, name);
		fprintf(file, "; id = %" PRIu32 "; stream_id = 0; fields := struct {", first + i);
		describe(file, &types->type[i]);
		fputs(" }; };\n", file);
		free(name);
	}
}

void ctf_types_free(struct ctf_types *types)
{
	for (uint32_t i = 0; i < types->types; i++) {
		free(types->type[i].key);
		free(types->type[i].name);
	}
	free(types->type);
	hash_free(&types->by_key);
}
