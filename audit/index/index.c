/* SPDX-License-Identifier: MIT */
#include "audit/index/index.h"

#include <errno.h>
#include <stdbool.h>

#include "format/frames.h"
#include "x86_64/displace.h"
#include "x86_64/sys.h" /* sys_same */

#define LENGTH_MAX 20 /* of displaced instructions: four bytes and one of fifteen, and one more */
#define LONGEST	   (sizeof(struct index_template) + INDEX_FIXUPS_MAX * sizeof(struct index_fixup) + INDEX_TEMPLATE_MAX)

/* Where a part lies, and how many entries it has. */
static size_t part_of(const struct index_head *head, enum index_part_number number, size_t entry, size_t *count)
{
	*count = 0;
	if (number >= head->parts || head->part[number].entry != entry)
		return 0;
	*count = head->part[number].size / entry;
	return head->part[number].offset;
}

/* The parts lie in blocks. */
static bool parts_fit(const struct index_head *head)
{
	for (unsigned i = 0; i < head->parts; i++) {
		const struct index_part *part = &head->part[i];
		if (part->offset % 8 || part->size % 8 || part->offset > head->file_size ||
			part->size > head->file_size - part->offset)
			return false;
		if (part->size && (part->offset < head->blocks || !part->entry || part->size % part->entry))
			return false;
	}
	return true;
}

/* The sums lie between the head and the blocks. */
static bool sums_fit(const struct index_head *head)
{
	uint64_t from = head->blocks;

	return from % INDEX_BLOCK == 0 && from <= head->file_size && from >= head->head_size &&
	       head->file_size % 8 == 0 && index_blocks(head) <= (from - head->head_size) / 8;
}

/* Word 0 of `seen` is for damage, bits from word 1 on are for blocks that are sound. */
static uint64_t *word_of(const struct index *index, size_t block)
{
	return &index->seen[1 + block / 64];
}

void index_spoil(const struct index *index)
{
	/* relaxed: a note; it orders nothing */
	if (index->seen)
		__atomic_store_n(index->seen, 1, __ATOMIC_RELAXED);
}

int index_damaged(const struct index *index)
{
	/* relaxed: asked by the thread that got no answer, or about nothing in particular */
	return index->seen && __atomic_load_n(index->seen, __ATOMIC_RELAXED);
}

static bool block_has_sum(const struct index *index, size_t block)
{
	const uint8_t *bytes = (const uint8_t *)index->head;
	const uint64_t *sums = (const void *)(bytes + index->head->head_size);
	size_t at = index->head->blocks + block * INDEX_BLOCK, left = index->size - at;

	return index_sum(bytes + at, left < INDEX_BLOCK ? left : INDEX_BLOCK) == sums[block];
}

/* index_bytes() where it is not known that the bytes are good. */
static __attribute__((noinline)) const void *look_at_bytes(const struct index *index, size_t at, size_t size)
{
	size_t first = index->head->blocks;

	for (size_t block = (at - first) / INDEX_BLOCK; first + block * INDEX_BLOCK < at + size; block++) {
		uint64_t bit = (uint64_t)1 << block % 64;
		/* relaxed: the bytes that a bit speaks of never change (index.h) */
		if (__atomic_load_n(word_of(index, block), __ATOMIC_RELAXED) & bit)
			continue;
		if (!block_has_sum(index, block)) {
			index_spoil(index);
			return NULL;
		}
		/* relaxed: as above */
		__atomic_fetch_or(word_of(index, block), bit, __ATOMIC_RELAXED);
	}
	return (const uint8_t *)index->head + at;
}

/* This is asked several times for each site: mostly of one block, which was looked at before. */
const void *index_bytes(const struct index *index, size_t at, size_t size)
{
	size_t first = index->head->blocks, block = (at - first) / INDEX_BLOCK;

	/* relaxed: as in look_at_bytes() */
	if (!index->seen || (at + size <= first + (block + 1) * INDEX_BLOCK &&
				    __atomic_load_n(word_of(index, block), __ATOMIC_RELAXED) >> block % 64 & 1))
		return (const uint8_t *)index->head + at;
	return look_at_bytes(index, at, size);
}

int index_attach(struct index *index, const void *bytes, size_t size, uint64_t *seen)
{
	const struct index_head *head = bytes;
	struct index_head copy;

	*index = (struct index){ 0 };
	if (size < offsetof(struct index_head, identity) || head->magic != INDEX_MAGIC)
		return -EBADMSG;
	if (head->version != INDEX_VERSION)
		return -EPROTO;
	if (size < sizeof(*head) || head->head_size != sizeof(*head) || head->file_size != size ||
		head->parts > INDEX_PART_COUNT || head->identity.build_id_len > INDEX_BUILD_ID_MAX)
		return -EBADMSG;
	sys_copy(&copy, head, sizeof(copy));
	copy.checksum = 0;
	if (index_sum(&copy, sizeof(copy)) != head->checksum || !sums_fit(head) || !parts_fit(head) ||
		index_sum(head + 1, index_blocks(head) * 8) != head->sums)
		return -EBADMSG;
	struct index to = { .head = head, .size = size, .seen = seen };
	for (size_t block = 0; !seen && block < index_blocks(head); block++)
		if (!block_has_sum(&to, block))
			return -EBADMSG;
	to.function = part_of(head, INDEX_FUNCTIONS, sizeof(struct index_function), &to.functions);
	to.template = part_of(head, INDEX_TEMPLATES, 1, &to.templates_size);
	to.name = part_of(head, INDEX_NAMES, 1, &to.names_size);
	to.call = part_of(head, INDEX_CALLS, sizeof(struct index_call), &to.calls);
	to.order = part_of(head, INDEX_ORDER, sizeof(struct index_order), &to.ordered);
	to.word = part_of(head, INDEX_WORDS, sizeof(struct index_word), &to.words);
	to.frame = part_of(head, INDEX_FRAMES, sizeof(struct index_frame), &to.frames);
	to.word_call = part_of(head, INDEX_WORD_CALLS, sizeof(uint64_t), &to.word_calls);
	*index = to;
	return 0;
}

const struct index_function *index_function(const struct index *index, size_t number)
{
	if (number >= index->functions)
		return NULL;
	return index_bytes(
		index, index->function + number * sizeof(struct index_function), sizeof(struct index_function));
}

const struct index_function *index_before(const struct index *index, uint64_t address, size_t *number)
{
	const struct index_function *found = NULL, *function;
	size_t low = 0, high = index->functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		function = index_function(index, middle);
		if (!function)
			return NULL;
		if (function->address <= address) {
			found = function;
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (found && number)
		*number = low - 1;
	return found;
}

const struct index_function *index_at(const struct index *index, uint64_t address, size_t *number)
{
	const struct index_function *function = index_before(index, address, number);

	return function && function->address == address ? function : NULL;
}

const char *index_text(const struct index *index, uint32_t offset)
{
	/* It ends where a block ends, or before, or goes on into the next one. */
	for (size_t at = offset; at < index->names_size;) {
		size_t from = index->name + at, size = INDEX_BLOCK - from % INDEX_BLOCK;
		if (size > index->names_size - at)
			size = index->names_size - at;
		const char *p = index_bytes(index, from, size);
		if (!p)
			return NULL;
		for (size_t i = 0; i < size; i++)
			if (!p[i])
				return (const char *)index->head + index->name + offset;
		at += size;
	}
	index_spoil(index);
	return NULL;
}

const char *index_name(const struct index *index, const struct index_function *function)
{
	return function->name ? index_text(index, function->name) : NULL;
}

const char *index_alias(const struct index *index, const struct index_function *function, const char *before)
{
	const char *names = (const char *)index->head + index->name, *name;

	if (!function->aliases)
		return NULL;
	name = index_text(index, before ? (uint32_t)(before - names + sys_length(before) + 1) : function->aliases);
	return name && *name ? name : NULL;
}

const struct index_word *index_word(const struct index *index, size_t number)
{
	if (number >= index->words)
		return NULL;
	return index_bytes(index, index->word + number * sizeof(struct index_word), sizeof(struct index_word));
}

const uint64_t *index_word_calls(const struct index *index, const struct index_word *word)
{
	if (!word->calls || word->first > index->word_calls || word->calls > index->word_calls - word->first)
		return NULL;
	return index_bytes(index, index->word_call + word->first * sizeof(uint64_t), word->calls * sizeof(uint64_t));
}

/* The template at this offset; NULL: damaged. */
static const struct index_template *template_at(const struct index *index, size_t at, size_t *size)
{
	size_t left = index->templates_size;

	if (at % 4 == 0 && at < left) {
		/* The longest one, so that its head may be believed. */
		left -= at;
		const void *p = index_bytes(index, index->template + at, left < LONGEST ? left : LONGEST);
		if (!p)
			return NULL;
		*size = displace_template_size(p, left < LONGEST ? left : LONGEST);
		if (*size)
			return p;
	}
	index_spoil(index);
	return NULL;
}

const struct index_template *index_template(const struct index *index, const struct index_function *function)
{
	size_t size;

	return function->reason == INDEX_REASON_USABLE ? template_at(index, function->template, &size) : NULL;
}

const struct index_template *index_template_other(const struct index *index, const struct index_function *function)
{
	size_t size;
	const struct index_template *first =
		function->reason == INDEX_REASON_USABLE ? template_at(index, function->template, &size) : NULL;

	return first && first->meets ? template_at(index, function->template + size, &size) : NULL;
}

int index_site(const struct index *index, const struct index_function *function, uint64_t *site, uint64_t *from)
{
	unsigned before = function->form == INDEX_FORM_PADDING ? INDEX_JUMP : 0;
	unsigned jump = function->form == INDEX_FORM_PADDING ? INDEX_SHORT_JUMP : INDEX_JUMP;
	uint64_t low = index->head->code_low, high = index->head->code_high;

	if (function->reason != INDEX_REASON_USABLE ||
		(function->form != INDEX_FORM_JUMP && function->form != INDEX_FORM_PADDING) ||
		(function->skip != 0 && function->skip != 4) || !function->length || function->length > LENGTH_MAX)
		return 0;
	unsigned skipped = before ? function->skip : 0;
	unsigned covered = function->length > jump ? function->length : jump;
	if (function->originals != before + skipped + covered || function->originals > INDEX_ORIGINAL_MAX)
		return 0;
	if (low > high || function->address < low || function->address - low < before || function->address > high ||
		high - function->address < function->skip + covered)
		return 0;
	*site = function->address + function->skip;
	*from = before ? function->address - before : *site;
	return 1;
}

const struct index_call *index_call(const struct index *index, size_t number)
{
	uint64_t low = index->head->code_low, high = index->head->code_high;

	if (number >= index->calls)
		return NULL;
	const struct index_call *call =
		index_bytes(index, index->call + number * sizeof(struct index_call), sizeof(struct index_call));
	if (!call)
		return NULL;
	if (call->length >= 5 && call->length <= 6 && call->callee && call->callee < INDEX_CALLEE_COUNT &&
		low <= call->address && call->address <= high && high - call->address >= call->length)
		return call;
	index_spoil(index);
	return NULL;
}

const struct index_call *index_call_of(const struct index *index, size_t function, size_t *number)
{
	const struct index_call *found = NULL, *call;
	size_t low = 0, high = index->calls;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		call = index_call(index, middle);
		if (!call)
			return NULL;
		if (call->function >= function) {
			found = call;
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	if (!found || found->function != function)
		return NULL;
	if (number)
		*number = low;
	return found;
}

int index_same_file(const struct index_identity *a, const struct index_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size && a->modified == b->modified &&
	       a->changed == b->changed && index_same_build(a, b);
}

int index_same_build(const struct index_identity *a, const struct index_identity *b)
{
	return a->build_id_len == b->build_id_len && a->build_id_len <= INDEX_BUILD_ID_MAX &&
	       sys_same(a->build_id, b->build_id, a->build_id_len);
}

const char *index_reason_phrase(unsigned reason)
{
	static const char *const phrase[] = {
#define X(number, NAME, phrase) [number] = phrase,
		INDEX_REASONS(X)
#undef X
	};

	return reason < INDEX_REASON_COUNT ? phrase[reason] : "unknown";
}
