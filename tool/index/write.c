/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/index/write.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/thread.h"
#include "tool/base/whole.h"
#include "tool/index/entry.h"
#include "tool/index/frames.h"
#include "tool/index/own_file.h"
#include "tool/index/unwind.h"

/* Bytes that grow; offsets stay good. */
struct bytes {
	uint8_t *at;
	size_t size, room;
};

/* bytes: NULL for zeros. */
static size_t append(struct bytes *to, const void *bytes, size_t n, size_t align)
{
	size_t from = (to->size + align - 1) & ~(align - 1);

	if (from + n > to->room) {
		size_t room = 2 * to->room + n + 4096;
		to->at = memory_resize(to->at, room, 1);
		memset(to->at + to->room, 0, room - to->room);
		to->room = room;
	}
	if (bytes && n)
		memcpy(to->at + from, bytes, n);
	to->size = from + n;
	return from;
}

static uint32_t put_template(struct bytes *templates, const struct template *from)
{
	struct index_template head = {
		.size = from->size, .fixups = from->fixups, .call = from->call, .meets = from->meets
	};

	memcpy(head.inside, from->inside, sizeof(head.inside));
	size_t at = append(templates, &head, sizeof(head), 4);

	append(templates, from->fixup, from->fixups * sizeof(*from->fixup), 4);
	append(templates, from->bytes, from->size, 1);
	append(templates, NULL, 0, 4);
	return (uint32_t)at;
}

static uint32_t put_templates(struct bytes *templates, const struct entry *from)
{
	uint32_t at = put_template(templates, &from->template);

	if (from->template.meets)
		put_template(templates, &from->other);
	return at;
}

static void put_part(struct bytes *file, struct index_head *head, unsigned number, struct bytes *from, uint32_t entry)
{
	struct index_part *part = &head->part[number];

	append(from, NULL, 0, 8);
	part->offset = append(file, from->at, from->size, 8);
	part->size = from->size;
	part->entry = entry;
	free(from->at);
}

/* The parts while they are made. */
struct parts {
	struct bytes functions, templates, names, order, calls, words, word_calls, frames;
};

/* Calls from *c on that belong to function i of the image, which has this number in the index. */
static void judge_calls(struct entries *entries, size_t i, uint32_t number, size_t *c, struct parts *to)
{
	const struct calls *calls = &entries->facts->calls;

	for (bool first = true; *c < calls->count && calls->call[*c].function == i; ++*c, first = false) {
		const struct call *from = &calls->call[*c];
		struct index_call call = { .address = from->address,
			.function = number,
			.callee = from->callee,
			.length = from->length,
			.flags = (uint8_t)((from->nop ? INDEX_CALL_NOP : 0) | (first ? 0 : INDEX_CALL_ALONE)) };
		size_t size;
		memcpy(call.bytes, image_code_at(entries->image, from->address, &size), from->length);
		if (first && number != INDEX_NO_FUNCTION) {
			struct entry entry;
			entry_judge_call(entries, i, from, &entry);
			if (entry.function.reason == INDEX_REASON_USABLE)
				entry.function.template = put_templates(&to->templates, &entry);
			call.site = entry.function;
		} else {
			call.flags |= INDEX_CALL_ALONE;
		}
		append(&to->calls, &call, sizeof(call), 8);
	}
}

/* Returns the numbers that functions of the image have in the index; INDEX_NO_FUNCTION: none. */
static uint32_t *judge(const struct image *image, const struct facts *facts, struct parts *to)
{
	struct entries entries = { .image = image, .facts = facts };
	uint32_t *number = memory_zeroed(image->functions + 1, sizeof(*number)), count = 0;
	size_t c = 0;

	for (size_t i = 0; i < image->functions; i++) {
		struct entry entry;
		number[i] = INDEX_NO_FUNCTION;
		if (image->function[i].piece)
			continue;
		number[i] = count++;
		entry_judge(&entries, i, &entry);
		if (entry.function.reason == INDEX_REASON_USABLE)
			entry.function.template = put_templates(&to->templates, &entry);
		append(&to->functions, &entry.function, sizeof(entry.function), 8);
		judge_calls(&entries, i, number[i], &c, to);
		entry_done(&entries);
	}
	judge_calls(&entries, CALLS_NO_FUNCTION, INDEX_NO_FUNCTION, &c, to);
	return number;
}

struct named {
	const char *name;
	uint32_t function;
	bool best;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int names = strcmp(x->name, y->name);

	return names ? names : (x->function > y->function) - (x->function < y->function);
}

static int by_function(const void *a, const void *b)
{
	const struct index_order *x = a, *y = b;

	return x->function != y->function ? (x->function > y->function) - (x->function < y->function)
					  : (x->name > y->name) - (x->name < y->name);
}

/* Of each function that has more than one name, the list of those that are not the best one. */
static void put_aliases(struct parts *to)
{
	size_t count = to->order.size / sizeof(struct index_order);
	struct index_order *order = memory_zeroed(count + 1, sizeof(*order));
	struct index_function *functions = (void *)to->functions.at;

	if (count)
		memcpy(order, to->order.at, to->order.size);
	qsort(order, count, sizeof(*order), by_function);
	for (size_t i = 0; i < count; i++) {
		struct index_function *function = &functions[order[i].function];
		bool last = i + 1 == count || order[i + 1].function != order[i].function;
		if (order[i].name != function->name) {
			/* What is appended may move what is copied. */
			char *name = memory_text((char *)to->names.at + order[i].name,
				strlen((char *)to->names.at + order[i].name));
			size_t at = append(&to->names, name, strlen(name) + 1, 1);
			if (!function->aliases)
				function->aliases = (uint32_t)at;
			free(name);
		}
		if (last && function->aliases)
			append(&to->names, "", 1, 1);
	}
	free(order);
}

/* Names, each once, and by them the functions that have them. */
static void put_names(const struct image *image, const uint32_t *number, struct parts *to)
{
	struct named *named = memory_zeroed(image->functions + image->aliases + 1, sizeof(*named));
	size_t count = 0;

	for (size_t i = 0; i < image->functions; i++)
		if (number[i] != INDEX_NO_FUNCTION && image->function[i].name && *image->function[i].name)
			named[count++] = (struct named){ image->function[i].name, number[i], true };
	for (size_t i = 0; i < image->aliases; i++)
		if (number[image->alias[i].function] != INDEX_NO_FUNCTION && *image->alias[i].name)
			named[count++] =
				(struct named){ image->alias[i].name, number[image->alias[i].function], false };
	qsort(named, count, sizeof(*named), by_name);
	append(&to->names, "", 1, 1);
	for (size_t i = 0; i < count; i++) {
		struct index_order order = { .function = named[i].function };
		/* The same name again: of another function, or from another table. */
		bool again = i && !strcmp(named[i - 1].name, named[i].name);
		order.name = again ? ((struct index_order *)(void *)(to->order.at + to->order.size))[-1].name
				   : (uint32_t)append(&to->names, named[i].name, strlen(named[i].name) + 1, 1);
		if (named[i].best)
			((struct index_function *)(void *)to->functions.at)[order.function].name = order.name;
		if (!again || named[i - 1].function != order.function)
			append(&to->order, &order, sizeof(order), 8);
	}
	free(named);
	put_aliases(to);
	const struct index_function *functions = (void *)to->functions.at;
	struct index_call *calls = (void *)to->calls.at;
	for (size_t i = 0; i < to->calls.size / sizeof(*calls); i++)
		if (calls[i].function != INDEX_NO_FUNCTION) {
			calls[i].site.name = functions[calls[i].function].name;
			calls[i].site.aliases = functions[calls[i].function].aliases;
		}
}

static void put_words(const struct words *words, struct parts *to)
{
	if (words->count)
		append(&to->words, words->word, words->count * sizeof(*words->word), 8);
	for (size_t i = 0; i < words->calls; i++)
		append(&to->word_calls, &words->call[i].address, sizeof(words->call[i].address), 8);
}

static void put_frames(const struct image *image, struct parts *to)
{
	size_t count;
	struct index_frame *frames = unwind_make(image, &count);

	if (count)
		append(&to->frames, frames, count * sizeof(*frames), 8);
	free(frames);
}

/* Room for the head and a sum of each block of so many bytes. */
static size_t blocks_from(size_t bytes)
{
	size_t size = sizeof(struct index_head) + (bytes / INDEX_BLOCK + 1) * 8;

	return (size + INDEX_BLOCK - 1) / INDEX_BLOCK * INDEX_BLOCK;
}

static void put_all(struct bytes *file, struct index_head *head, struct parts *from)
{
	/* The ends of parts are filled up. */
	size_t bytes = from->functions.size + from->templates.size + from->names.size + from->order.size +
		       from->calls.size + from->words.size + from->word_calls.size + from->frames.size +
		       INDEX_PART_COUNT * 8;

	head->blocks = blocks_from(bytes);
	append(file, NULL, head->blocks, 8);
	put_part(file, head, INDEX_FUNCTIONS, &from->functions, sizeof(struct index_function));
	put_part(file, head, INDEX_ORDER, &from->order, sizeof(struct index_order));
	put_part(file, head, INDEX_CALLS, &from->calls, sizeof(struct index_call));
	put_part(file, head, INDEX_TEMPLATES, &from->templates, 1);
	put_part(file, head, INDEX_NAMES, &from->names, 1);
	put_part(file, head, INDEX_WORDS, &from->words, sizeof(struct index_word));
	put_part(file, head, INDEX_WORD_CALLS, &from->word_calls, sizeof(uint64_t));
	put_part(file, head, INDEX_FRAMES, &from->frames, sizeof(struct index_frame));
	head->file_size = file->size;
	uint64_t *sums = (void *)(file->at + sizeof(*head));
	for (uint64_t block = 0; block < index_blocks(head); block++) {
		size_t at = head->blocks + block * INDEX_BLOCK, left = file->size - at;
		sums[block] = index_sum(file->at + at, left < INDEX_BLOCK ? left : INDEX_BLOCK);
	}
	head->sums = index_sum(sums, index_blocks(head) * 8);
	head->checksum = index_sum(head, sizeof(*head));
	memcpy(file->at, head, sizeof(*head));
}

void index_made_for(struct index_made *made, const struct index_identity *identity)
{
	struct index_head *head = made->bytes;

	head->identity = *identity;
	head->checksum = 0;
	head->checksum = index_sum(head, sizeof(*head));
}

#define MOST_JOBS   8		   /* without an order; each needs memory, and a program may be waiting */
#define CODE_OF_JOB (512u << 10) /* bytes, 15 ms: what is smaller is not divided */

static unsigned ordered, processors; /* 0: it was not said */

void index_jobs(unsigned jobs)
{
	ordered = jobs;
}

void index_processors(unsigned count)
{
	processors = count;
}

unsigned index_jobs_for(const struct image *image)
{
	unsigned jobs = processors ? processors : tool_processors();
	uint64_t code = 0;

	if (ordered)
		return ordered > INDEX_JOBS ? INDEX_JOBS : ordered;
	for (size_t c = 0; c < image->codes; c++)
		code += image->code[c].size;
	jobs = jobs > MOST_JOBS ? MOST_JOBS : jobs;
	return jobs > code / CODE_OF_JOB ? 1 + (unsigned)(code / CODE_OF_JOB) : jobs;
}

int index_facts(struct image *image, struct facts *facts, int fd, const char *path)
{
	int r = image_open(image, fd, path, NULL);

	if (!r)
		facts_read(facts, image, index_jobs_for(image));
	return r;
}

int index_make(struct index_made *made, int fd, const char *path, const struct image_name *known)
{
	struct bytes file = { 0 };
	struct parts parts = { 0 };
	struct image image;
	struct facts facts;
	struct index_head head = {
		.magic = INDEX_MAGIC, .version = INDEX_VERSION, .head_size = sizeof(head), .parts = INDEX_PART_COUNT
	};
	int r = image_open(&image, fd, path, known);

	*made = (struct index_made){ 0 };
	if (r)
		return r;
	unsigned jobs = index_jobs_for(&image);
	image_hash(&image, jobs > 1);
	facts_read(&facts, &image, jobs);
	uint32_t *number = judge(&image, &facts, &parts);
	put_names(&image, number, &parts);
	put_words(&facts.words, &parts);
	put_frames(&image, &parts);
	free(number);
	image_hash_end(&image);
	head.identity = image.identity;
	memcpy(head.content, image.content, sizeof(head.content));
	head.code_low = image.low;
	head.code_high = image.high;
	head.flags = (image.symbols ? 0 : INDEX_NO_SYMBOLS) | (image.frames->count ? 0 : INDEX_NO_FRAMES) |
		     (image.loader ? INDEX_ALL_REFUSED : 0) | (image.relocated ? INDEX_RELOCATED : 0);
	put_all(&file, &head, &parts);
	*made = (struct index_made){ .bytes = file.at,
		.size = file.size,
		.instructions = facts.instructions,
		.decoded = facts.decoded,
		.foreign = !own_is(fd),
		.changed = !image_is_still(fd, &head.identity) };
	facts_free(&facts);
	image_close(&image);
	return 0;
}

int index_write(int fd, const struct index_made *made)
{
	return -whole_write(fd, made->bytes, made->size, WHOLE_NEXT);
}
