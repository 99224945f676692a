/* SPDX-License-Identifier: MIT */
#include "audit/index/index.h"

#include "x86_64/displace.h"
#include "x86_64/sys.h" /* sys_same */

#define LENGTH_MAX 20 /* of displaced instructions: four bytes and one of fifteen, and one more */

/* Bytes and entries of a part; 0 when there is none. */
static const void *part_of(const struct index_head *head, enum index_part_number number, size_t entry, size_t *count)
{
	*count = 0;
	if (number >= head->parts || head->part[number].entry != entry)
		return NULL;
	*count = head->part[number].size / entry;
	return *count ? (const uint8_t *)head + head->part[number].offset : NULL;
}

/* The parts lie in the file, and don't overlap the head. */
static int parts_fit(const struct index_head *head)
{
	for (unsigned i = 0; i < head->parts; i++) {
		const struct index_part *part = &head->part[i];
		if (part->offset % 8 || part->size % 8 || part->offset > head->file_size ||
			part->size > head->file_size - part->offset)
			return 0;
		if (part->size && (part->offset < head->head_size || !part->entry || part->size % part->entry))
			return 0;
	}
	return 1;
}

int index_attach(struct index *index, const void *bytes, size_t size)
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
	if (index_sum(&copy, sizeof(copy)) != head->checksum || !parts_fit(head))
		return -EBADMSG;
	index->head = head;
	index->size = size;
	index->function = part_of(head, INDEX_FUNCTIONS, sizeof(*index->function), &index->functions);
	index->templates = part_of(head, INDEX_TEMPLATES, 1, &index->templates_size);
	index->names = part_of(head, INDEX_NAMES, 1, &index->names_size);
	if (index->names && index->names[index->names_size - 1])
		index->names_size = 0;
	return 0;
}

int index_sound(const struct index *index, enum index_part_number number)
{
	const struct index_part *part = &index->head->part[number];

	if (number >= index->head->parts || !part->size)
		return 1;
	return index_sum((const uint8_t *)index->head + part->offset, part->size) == part->checksum;
}

const struct index_function *index_before(const struct index *index, uint64_t address)
{
	size_t low = 0, high = index->functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (index->function[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &index->function[low - 1] : NULL;
}

const struct index_function *index_at(const struct index *index, uint64_t address)
{
	const struct index_function *function = index_before(index, address);

	return function && function->address == address ? function : NULL;
}

const char *index_name(const struct index *index, const struct index_function *function)
{
	/* The last byte is 0, so each name ends. */
	return function->name && function->name < index->names_size ? index->names + function->name : NULL;
}

const struct index_template *index_template(const struct index *index, const struct index_function *function)
{
	const uint8_t *p = index->templates + function->template;

	if (function->reason != INDEX_REASON_USABLE || function->template % 4 ||
		function->template >= index->templates_size ||
		!displace_template_size(p, index->templates_size - function->template))
		return NULL;
	return (const void *)p;
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

int index_same_file(const struct index_identity *a, const struct index_identity *b)
{
	if (a->build_id_len || b->build_id_len)
		return a->build_id_len == b->build_id_len && a->build_id_len <= INDEX_BUILD_ID_MAX &&
		       sys_same(a->build_id, b->build_id, a->build_id_len);
	return a->device == b->device && a->inode == b->inode && a->size == b->size && a->seconds == b->seconds &&
	       a->nanoseconds == b->nanoseconds;
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
