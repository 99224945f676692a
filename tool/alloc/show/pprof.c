/* SPDX-License-Identifier: MIT */
#include "tool/alloc/show/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "tool/alloc/show/view.h"
#include "tool/base/memory.h"
#include "tool/base/proto.h"
#include "tool/show/term/names.h"

#define RANGE 40 /* bits of a library's addresses */

/* Fields of the messages. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
	PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE, PROFILE_PERIOD, PROFILE_DEFAULT_TYPE = 14 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

struct profile {
	const struct alloc_view *view;
	struct proto all, message, inner;
	char **string;
	uint32_t strings;
	struct hash by_string;
	const char **library;
	uint32_t libraries;
	struct hash by_library;
	struct function {
		const char *name, *library, *file;
	} *function;
	uint32_t functions;
	struct hash by_function;
	bool *located; /* frames whose location is written */
};

static uint32_t string_of(struct profile *profile, const char *text)
{
	uint32_t hash = hash_text(0, text);
	uint32_t found = HASH_FIND(i, &profile->by_string, hash, !strcmp(profile->string[i], text));

	if (found != HASH_NONE)
		return found;
	profile->string = memory_grow(profile->string, profile->strings, sizeof(*profile->string));
	profile->string[profile->strings] = memory_text(text, strlen(text));
	memory_hash(&profile->by_string, hash, profile->strings);
	return profile->strings++;
}

/* Texts are told behind all that names them, by numbers. */
static void put_strings(struct profile *profile)
{
	for (uint32_t i = 0; i < profile->strings; i++)
		proto_bytes(&profile->all, PROFILE_STRING, profile->string[i], strlen(profile->string[i]));
}

/* ---- where ---- */

/* From 1 on; 0: none. */
static uint32_t mapping_of(struct profile *profile, const char *library)
{
	struct proto *to = &profile->message;
	uint32_t hash = hash_text(0, library);
	uint32_t found = HASH_FIND(i, &profile->by_library, hash, !strcmp(profile->library[i], library));

	if (!*library)
		return 0;
	if (found != HASH_NONE)
		return found + 1;
	profile->library = memory_grow(profile->library, profile->libraries, sizeof(*profile->library));
	memory_hash(&profile->by_library, hash, profile->libraries);
	profile->library[profile->libraries++] = library;
	uint64_t id = profile->libraries;
	proto_number(to, MAPPING_ID, id);
	proto_number(to, MAPPING_START, id << RANGE);
	proto_number(to, MAPPING_LIMIT, (id + 1) << RANGE);
	proto_number(to, MAPPING_FILE, string_of(profile, library));
	proto_number(to, MAPPING_HAS_FUNCTIONS, 1);
	proto_message(&profile->all, PROFILE_MAPPING, to);
	return profile->libraries;
}

/* From 1 on. */
static uint32_t function_of(struct profile *profile, const struct alloc_frame *frame)
{
	struct proto *to = &profile->message;
	uint32_t hash = hash_text(hash_text(hash_text(0, frame->name), frame->library), frame->file);
	uint32_t found = HASH_FIND(i, &profile->by_function, hash,
		!strcmp(profile->function[i].name, frame->name) &&
			!strcmp(profile->function[i].library, frame->library) &&
			!strcmp(profile->function[i].file, frame->file));

	if (found != HASH_NONE)
		return found + 1;
	profile->function = memory_grow(profile->function, profile->functions, sizeof(*profile->function));
	profile->function[profile->functions] = (struct function){ frame->name, frame->library, frame->file };
	memory_hash(&profile->by_function, hash, profile->functions);
	profile->functions++;
	proto_number(to, FUNCTION_ID, profile->functions);
	proto_number(to, FUNCTION_NAME, string_of(profile, names_full(frame->name)));
	proto_number(to, FUNCTION_SYSTEM_NAME, string_of(profile, frame->name));
	proto_number(to, FUNCTION_FILE, string_of(profile, frame->file));
	proto_message(&profile->all, PROFILE_FUNCTION, to);
	return profile->functions;
}

/* A place is within the call that it is behind. */
static void put_location(struct profile *profile, uint32_t number)
{
	const struct alloc_frame *frame = &profile->view->book->tree.frame[number];
	uint64_t mapping = mapping_of(profile, frame->library);
	uint32_t function = *frame->name ? function_of(profile, frame) : 0;
	struct proto *to = &profile->message;

	profile->located[number] = true;
	proto_number(to, LOCATION_ID, number + 1);
	if (mapping)
		proto_number(to, LOCATION_MAPPING, mapping);
	if (frame->is != ALLOC_FRAME_TRACED)
		proto_number(to, LOCATION_ADDRESS,
			(mapping << RANGE) + frame->offset - (frame->is == ALLOC_FRAME_CALLER));
	if (function) {
		proto_number(&profile->inner, LINE_FUNCTION, function);
		if (frame->line)
			proto_number(&profile->inner, LINE_LINE, frame->line);
		proto_message(to, LOCATION_LINE, &profile->inner);
	}
	proto_message(&profile->all, PROFILE_LOCATION, to);
}

/* ---- what ---- */

static void put_type(struct profile *profile, unsigned field, const char *type, const char *unit)
{
	proto_number(&profile->message, TYPE_TYPE, string_of(profile, type));
	proto_number(&profile->message, TYPE_UNIT, string_of(profile, unit));
	proto_message(&profile->all, field, &profile->message);
}

static void put_sample(struct profile *profile, uint32_t at)
{
	const struct alloc_view *view = profile->view;
	const struct alloc_account *account = alloc_view_account(view, at);
	const uint64_t value[] = { account->all.blocks, account->all.bytes, account->left.blocks, account->left.bytes };

	for (uint32_t node = view->stack[at]; node; node = alloc_view_parent(view, node)) {
		uint32_t frame = view->book->tree.node[node].frame;
		if (view->book->tree.frame[frame].is != ALLOC_FRAME_END && !profile->located[frame])
			put_location(profile, frame);
	}
	for (uint32_t node = view->stack[at]; node; node = alloc_view_parent(view, node))
		if (alloc_view_frame(view, node)->is != ALLOC_FRAME_END)
			proto_packed(&profile->inner, view->book->tree.node[node].frame + 1ull);
	proto_message(&profile->message, SAMPLE_LOCATIONS, &profile->inner);
	for (size_t i = 0; i < sizeof(value) / sizeof(*value); i++)
		proto_packed(&profile->inner, value[i]);
	proto_message(&profile->message, SAMPLE_VALUES, &profile->inner);
	proto_message(&profile->all, PROFILE_SAMPLE, &profile->message);
}

static void close_profile(struct profile *profile)
{
	for (uint32_t i = 0; i < profile->strings; i++)
		free(profile->string[i]);
	free(profile->string);
	free(profile->library);
	free(profile->function);
	free(profile->located);
	hash_free(&profile->by_string);
	hash_free(&profile->by_library);
	hash_free(&profile->by_function);
	proto_free(&profile->all);
	proto_free(&profile->message);
	proto_free(&profile->inner);
}

void alloc_show_pprof(const struct alloc_view *view)
{
	const struct alloc_account_book *book = view->book;
	struct profile profile = { .view = view };

	profile.located = memory_zeroed(book->tree.frames, sizeof(*profile.located));
	string_of(&profile, ""); /* number 0 */
	put_type(&profile, PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
	put_type(&profile, PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
	put_type(&profile, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
	put_type(&profile, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
	for (uint32_t i = 0; i < view->stacks && (!view->most || i < view->most); i++)
		put_sample(&profile, i);
	proto_number(&profile.all, PROFILE_DURATION, book->end - book->begin);
	put_type(&profile, PROFILE_PERIOD_TYPE, "space", "bytes");
	proto_number(&profile.all, PROFILE_PERIOD, 1);
	proto_number(&profile.all, PROFILE_DEFAULT_TYPE, string_of(&profile, "alloc_space"));
	put_strings(&profile);
	proto_gzip(view->to, &profile.all);
	close_profile(&profile);
}
