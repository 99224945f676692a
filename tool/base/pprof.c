/* SPDX-License-Identifier: MIT */
#include "tool/base/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"

#define RANGE 40 /* bits of a library's addresses */
#define PIECE 65536 /* that is written at once */

/* Fields of the messages. */
enum { PROFILE_SAMPLE = 2, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_FILE = 5, MAPPING_BUILD_ID, MAPPING_HAS_FUNCTIONS };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

uint32_t pprof_string(struct pprof *pprof, const char *text)
{
	uint32_t hash = hash_text(0, text);
	uint32_t found = HASH_FIND(i, &pprof->by_string, hash, !strcmp(pprof->string[i], text));

	if (found != HASH_NONE)
		return found;
	pprof->string = memory_grow(pprof->string, pprof->strings, sizeof(*pprof->string));
	pprof->string[pprof->strings] = memory_text(text, strlen(text));
	memory_hash(&pprof->by_string, hash, pprof->strings);
	return pprof->strings++;
}

void pprof_begin(struct pprof *pprof, FILE *to)
{
	*pprof = (struct pprof){ .gzip = gzip_begin(to) };
	pprof_string(pprof, ""); /* number 0 */
}

/* ---- the profile ---- */

void pprof_type(struct pprof *pprof, enum pprof_field field, const char *type, const char *unit)
{
	proto_number(&pprof->message, TYPE_TYPE, pprof_string(pprof, type));
	proto_number(&pprof->message, TYPE_UNIT, pprof_string(pprof, unit));
	proto_message(&pprof->all, field, &pprof->message);
}

void pprof_number(struct pprof *pprof, enum pprof_field field, uint64_t number)
{
	proto_number(&pprof->all, field, number);
}

/* ---- where ---- */

uint32_t pprof_library(struct pprof *pprof, const char *path, const char *build_id)
{
	struct proto *to = &pprof->message;
	uint32_t hash = hash_text(0, path);
	uint32_t found = HASH_FIND(i, &pprof->by_library, hash, !strcmp(pprof->library[i], path));

	if (!*path)
		return 0;
	if (found != HASH_NONE)
		return found + 1;
	pprof->library = memory_grow(pprof->library, pprof->libraries, sizeof(*pprof->library));
	memory_hash(&pprof->by_library, hash, pprof->libraries);
	pprof->library[pprof->libraries++] = memory_text(path, strlen(path));
	uint64_t id = pprof->libraries;
	proto_number(to, MAPPING_ID, id);
	proto_number(to, MAPPING_START, id << RANGE);
	proto_number(to, MAPPING_LIMIT, (id + 1) << RANGE);
	proto_number(to, MAPPING_FILE, pprof_string(pprof, path));
	if (*build_id)
		proto_number(to, MAPPING_BUILD_ID, pprof_string(pprof, build_id));
	proto_number(to, MAPPING_HAS_FUNCTIONS, 1);
	proto_message(&pprof->all, PROFILE_MAPPING, to);
	return pprof->libraries;
}

uint32_t pprof_function(
	struct pprof *pprof, const char *name, const char *shown, const char *library, const char *file)
{
	struct pprof_function one = { pprof_string(pprof, name), pprof_string(pprof, library),
		pprof_string(pprof, file) };
	struct proto *to = &pprof->message;
	uint32_t hash = hash_key((uint64_t)one.name << 32 | one.library, one.file);
	uint32_t found = HASH_FIND(i, &pprof->by_function, hash,
		pprof->function[i].name == one.name && pprof->function[i].library == one.library &&
			pprof->function[i].file == one.file);

	if (found != HASH_NONE)
		return found + 1;
	pprof->function = memory_grow(pprof->function, pprof->functions, sizeof(*pprof->function));
	pprof->function[pprof->functions] = one;
	memory_hash(&pprof->by_function, hash, pprof->functions++);
	proto_number(to, FUNCTION_ID, pprof->functions);
	proto_number(to, FUNCTION_NAME, pprof_string(pprof, shown));
	proto_number(to, FUNCTION_SYSTEM_NAME, one.name);
	proto_number(to, FUNCTION_FILE, one.file);
	proto_message(&pprof->all, PROFILE_FUNCTION, to);
	return pprof->functions;
}

void pprof_location(struct pprof *pprof, const struct pprof_place *place)
{
	struct proto *to = &pprof->message;

	proto_number(to, LOCATION_ID, place->id);
	if (place->library)
		proto_number(to, LOCATION_MAPPING, place->library);
	if (place->has_offset)
		proto_number(to, LOCATION_ADDRESS, ((uint64_t)place->library << RANGE) + place->offset);
	if (place->function) {
		proto_number(&pprof->inner, LINE_FUNCTION, place->function);
		if (place->line)
			proto_number(&pprof->inner, LINE_LINE, place->line);
		proto_message(to, LOCATION_LINE, &pprof->inner);
	}
	proto_message(&pprof->all, PROFILE_LOCATION, to);
}

/* ---- what ---- */

void pprof_sample_place(struct pprof *pprof, uint64_t id)
{
	proto_packed(&pprof->locations, id);
}

void pprof_sample_value(struct pprof *pprof, uint64_t value)
{
	proto_packed(&pprof->values, value);
}

void pprof_sample_label(struct pprof *pprof, const char *key, const char *text)
{
	proto_number(&pprof->inner, LABEL_KEY, pprof_string(pprof, key));
	proto_number(&pprof->inner, LABEL_TEXT, pprof_string(pprof, text));
	proto_message(&pprof->labels, SAMPLE_LABEL, &pprof->inner);
}

void pprof_sample_number(struct pprof *pprof, const char *key, uint64_t number)
{
	proto_number(&pprof->inner, LABEL_KEY, pprof_string(pprof, key));
	proto_number(&pprof->inner, LABEL_NUMBER, number);
	proto_message(&pprof->labels, SAMPLE_LABEL, &pprof->inner);
}

static void write_all(struct pprof *pprof)
{
	gzip_put(pprof->gzip, pprof->all.byte, pprof->all.size);
	pprof->all.size = 0;
}

void pprof_sample_end(struct pprof *pprof)
{
	proto_message(&pprof->message, SAMPLE_LOCATIONS, &pprof->locations);
	proto_message(&pprof->message, SAMPLE_VALUES, &pprof->values);
	proto_append(&pprof->message, &pprof->labels);
	proto_message(&pprof->all, PROFILE_SAMPLE, &pprof->message);
	if (pprof->all.size >= PIECE)
		write_all(pprof);
}

/* ---- the end ---- */

void pprof_end(struct pprof *pprof)
{
	/* Texts are told behind all that names them, by numbers. */
	for (uint32_t i = 0; i < pprof->strings; i++) {
		proto_text(&pprof->all, PROFILE_STRING, pprof->string[i], strlen(pprof->string[i]));
		free(pprof->string[i]);
	}
	write_all(pprof);
	gzip_end(pprof->gzip);
	for (uint32_t i = 0; i < pprof->libraries; i++)
		free(pprof->library[i]);
	free(pprof->string);
	free(pprof->library);
	free(pprof->function);
	hash_free(&pprof->by_string);
	hash_free(&pprof->by_library);
	hash_free(&pprof->by_function);
	proto_free(&pprof->all);
	proto_free(&pprof->message);
	proto_free(&pprof->inner);
	proto_free(&pprof->locations);
	proto_free(&pprof->values);
	proto_free(&pprof->labels);
}
