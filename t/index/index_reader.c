/* SPDX-License-Identifier: MIT */
/*
 * Reading an index: what is whole is read, what is damaged is refused and never read beyond its end (a page without
 * access follows it).
 */
#define _GNU_SOURCE
#include "audit/index/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/index/frames.h"
#include "audit/index/walk.h"
#include "t/lib/random.h"
#include "t/lib/tap.h"
#include "x86_64/displace.h"

#define FUNCTIONS 4
#define ORDERED	  6
#define CALLS	  4
#define FRAMES	  5
#define BLOCKS	  3	      /* the last one is short */
#define ROOM	  (5 * 4096u) /* of the mapping */
#define LONG	  5000	      /* of a name, which goes from the second block on into the third */

#define TEMPLATE  36	      /* bytes of each of its templates */

/* An index of four functions: a jump, one by way of its padding, a refused one without a name, one with a long name. */
struct sample {
	struct index_head head;
	uint64_t sum[BLOCKS];
	uint8_t unused[INDEX_BLOCK - sizeof(struct index_head) - BLOCKS * 8];
	struct index_function function[FUNCTIONS];
	struct index_order order[ORDERED];
	struct index_call call[CALLS];
	struct {
		struct index_template head;
		struct index_fixup fixup[2];
		uint8_t bytes[12];
	} template[2];
	uint8_t more_templates[2800];
	char names[LONG + 56];
	struct index_frame frame[FRAMES];
};

static void seal(struct sample *sample)
{
	for (int i = 0; i < BLOCKS; i++) {
		size_t at = (size_t)(i + 1) * INDEX_BLOCK, left = sizeof(*sample) - at;
		sample->sum[i] = index_sum((uint8_t *)sample + at, left < INDEX_BLOCK ? left : INDEX_BLOCK);
	}
	sample->head.sums = index_sum(sample->sum, sizeof(sample->sum));
	sample->head.checksum = 0;
	sample->head.checksum = index_sum(&sample->head, sizeof(sample->head));
}

static void set_part(struct sample *sample, int number, void *at, size_t size, uint32_t entry)
{
	sample->head.part[number] = (struct index_part){
		.offset = (uint64_t)((uint8_t *)at - (uint8_t *)sample), .size = size, .entry = entry
	};
}

/* alias, first, first (of another function), firstly, long..., second */
enum { ALIAS = 1, FIRST = 7, FIRSTLY = 13, LONG_NAME = 21, SECOND = LONG_NAME + LONG + 1 };

static void make(struct sample *sample)
{
	*sample = (struct sample){
		.head = { .magic = INDEX_MAGIC,
			.version = INDEX_VERSION,
			.head_size = sizeof(struct index_head),
			.file_size = sizeof(*sample),
			.code_low = 0x1000,
			.code_high = 0x2000,
			.parts = INDEX_PART_COUNT,
			.blocks = INDEX_BLOCK,
			.identity = { .build_id_len = 4, .build_id = { 0xab, 1, 2, 0xef }, .inode = 7 } },
		.function = { { .address = 0x1000,
				      .size = 40,
				      .name = FIRST,
				      .template = 0,
				      .form = INDEX_FORM_JUMP,
				      .skip = 4,
				      .length = 6,
				      .originals = 6,
				      .original = { 0x48 } },
			{ .address = 0x1100,
				.size = 3,
				.name = SECOND,
				.template = TEMPLATE,
				.form = INDEX_FORM_PADDING,
				.length = 3,
				.originals = 8 },
			{ .address = 0x1200, .size = 0, .reason = INDEX_REASON_SHORT, .flags = INDEX_NAMELESS },
			{ .address = 0x1300, .size = 1, .name = LONG_NAME, .reason = INDEX_REASON_SHORT } },
		.order = { { ALIAS, 1 }, { FIRST, 0 }, { FIRST, 3 }, { FIRSTLY, 3 }, { LONG_NAME, 3 }, { SECOND, 1 } },
		/* Two of function 0, one of function 3, one of none. */
		.call = { { .site = { .address = 0x1000,
				    .template = TEMPLATE,
				    .form = INDEX_FORM_JUMP,
				    .skip = 4,
				    .length = 6,
				    .originals = 6 },
				  .address = 0x1004,
				  .callee = INDEX_FENTRY,
				  .length = 6 },
			{ .address = 0x1010, .callee = INDEX_FENTRY, .length = 6, .flags = INDEX_CALL_ALONE },
			{ .address = 0x1304, .function = 3, .callee = INDEX_MCOUNT, .length = 5 },
			{ .address = 0x1ffb,
				.function = INDEX_NO_FUNCTION,
				.callee = INDEX_MCOUNT,
				.length = 5,
				.flags = INDEX_CALL_ALONE | INDEX_CALL_NOP } },
		/* 48 8d 05 rel32; e9 rel32 */
		.template = { { { .size = 12, .fixups = 2 },
				      { { .at = 3, .end = 7, .fix = INDEX_FIX_NEAR, .target = 0x500 },
					      { .at = 8, .end = 12, .fix = INDEX_FIX_NEAR, .target = 10 } },
				      { 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xe9 } },
			{ { .size = 10, .fixups = 1 },
				{ { .at = 2, .end = 10, .fix = INDEX_FIX_ADDRESS, .target = 3 } }, { 0 } } },
		.names = "\0alias\0first\0firstly",
	};
	memset(sample->names + LONG_NAME, 'l', LONG);
	strcpy(sample->names + SECOND, "second");
	set_part(sample, INDEX_FUNCTIONS, sample->function, sizeof(sample->function), sizeof(*sample->function));
	set_part(sample, INDEX_ORDER, sample->order, sizeof(sample->order), sizeof(*sample->order));
	set_part(sample, INDEX_CALLS, sample->call, sizeof(sample->call), sizeof(*sample->call));
	set_part(sample, INDEX_TEMPLATES, sample->template, sizeof(sample->template) + sizeof(sample->more_templates),
		1);
	set_part(sample, INDEX_NAMES, sample->names, sizeof(sample->names), 1);
	static const struct index_frame frame[FRAMES] = { { 0x10, FRAME_RULE(FRAME_RSP, 1, 0) },
		{ 0x14, FRAME_RULE(FRAME_RSP, 2, 2) }, { 0x20, FRAME_RULE(FRAME_RBP, 2, 2) },
		{ 0x21, FRAME_RULE(FRAME_NONE, FRAME_GAP, 0) },
		{ 0xfff, FRAME_RULE(FRAME_INDIRECT, 1, FRAME_RBP_AT_RBP) } };
	memcpy(sample->frame, frame, sizeof(frame));
	set_part(sample, INDEX_FRAMES, sample->frame, sizeof(sample->frame), sizeof(*sample->frame));
	seal(sample);
}

/* Of damage, the bytes that are not damaged. */
static const struct sample *sound;

/* Is what was answered from *from on what it would be without damage? */
static int as_made(const struct index *index, const void *from, size_t size)
{
	size_t at = (size_t)((const uint8_t *)from - (const uint8_t *)index->head);

	return !sound || (at + size <= sizeof(*sound) && !memcmp((const uint8_t *)sound + at, from, size));
}

/* Walks over what a pattern could mean; returns how many, -1: damaged, less: wrong. */
static int walk_over(const struct index *index, const char *pattern)
{
	struct index_walk walk;
	size_t number;
	const char *name;
	int r, n = 0;

	index_match(index, pattern, &walk);
	while ((r = index_next(index, &walk, &number, &name)) > 0) {
		/* A forged one may say that it has more names and functions. */
		const size_t most = sound ? 2 * ORDERED : 2 * ORDERED + index->ordered + index->functions;
		if (number >= index->functions || (name && !as_made(index, name, strlen(name) + 1)) || (size_t)n > most)
			return -1000;
		n++;
	}
	return r ? -1 : n;
}

static const char *const patterns[] = { "*", "first", "first*", "f?rst", "secon[d]", "alias", "l*", "", "none",
	"zzz*", "?*" };
static const int meant[] = { 4, 2, 3, 3, 1, 1, 1, 0, 0, 0, 6 };
#define PATTERNS (sizeof(patterns) / sizeof(*patterns))

/* Asks everything of an index that was taken. Returns how many functions can be used, less than 0: what is wrong. */
static int use(const struct index *index)
{
	uint8_t copy[INDEX_TEMPLATE_MAX];
	uint64_t site, from;
	int usable = 0, lost = 0;

	for (size_t i = 0; i < index->functions; i++) {
		const struct index_function *function = index_function(index, i);
		if (!function) {
			lost++;
			continue;
		}
		const char *name = index_name(index, function);
		const struct index_template *template = index_template(index, function);
		lost += (function->name && !name) || (!function->reason && !template);
		if (name && (strlen(name) > index->names_size || !as_made(index, name, strlen(name) + 1)))
			usable = -1000;
		if (template && displace_copy(template, 0x10000, function->address, 0x20000, copy, sizeof(copy)) >
					INDEX_TEMPLATE_MAX)
			usable = -1000;
		if (!as_made(index, function, sizeof(*function)) ||
			(template && !as_made(index, template, displace_template_size(template, 4096))))
			usable = -1000;
		usable += index_site(index, function, &site, &from) && template;
		index_at(index, function->address, NULL);
		index_reason_phrase(function->reason);
	}
	for (size_t i = 0; i < index->calls; i++) {
		const struct index_call *call = index_call(index, i);
		lost += !call;
		if (call && (!as_made(index, call, sizeof(*call)) || call->length > sizeof(call->bytes)))
			usable = -1000;
		if (call && index_site(index, &call->site, &site, &from))
			index_template(index, &call->site);
		const struct index_call *first = call ? index_call_of(index, call->function, NULL) : NULL;
		if (first && first->function != call->function)
			usable = -1000;
	}
	struct index_frames frames;
	int checked = index_frames_check(index, &frames);
	lost += checked == -EBADMSG;
	if (checked ? frames.count != 0 : !as_made(index, frames.frame, frames.count * sizeof(*frames.frame)))
		usable = -1000;
	/* Each entry is looked at by one of these. */
	for (size_t i = 0; i < frames.count; i++)
		index_frames_rule(&frames, index->head->code_low + frames.frame[i].from);
	index_frames_rule(&frames, index->head->code_low - 1);
	index_frames_rule(&frames, UINT64_MAX);
	for (size_t i = 0; i < PATTERNS; i++) {
		int n = walk_over(index, patterns[i]);
		lost += n == -1;
		if (n < -1 || (sound && n >= 0 && n != meant[i]))
			usable = -1000;
	}
	/* What is lost is said to be damaged. */
	if (lost && index->seen && !index_damaged(index))
		usable = -1000;
	return usable;
}

static uint64_t state = RANDOM_BEGIN;

static uint64_t draw(void)
{
	return random_number(&state);
}

static uint64_t seen[1 + ROOM / INDEX_BLOCK];

/* Takes it; lazy: blocks are summed when they are looked at. */
static int attach(struct index *index, const void *bytes, size_t size, int lazy)
{
	memset(seen, 0, sizeof(seen));
	return index_attach(index, bytes, size, lazy ? seen : NULL);
}

static void found(const struct index *index)
{
	static const char *const names[][4] = { { "first", "first" }, { "first", "first", "firstly" } };
	static const size_t numbers[] = { 0, 3, 3 };
	struct index_walk walk;
	const char *name;
	size_t number, at, bad = 0;

	for (size_t i = 0; i < PATTERNS; i++)
		is_int(walk_over(index, patterns[i]), meant[i], "%s", patterns[i]);
	for (at = 0, index_match(index, "first", &walk); index_next(index, &walk, &number, &name) > 0; at++)
		bad += number != numbers[at] || strcmp(name, names[0][at]);
	for (at = 0, index_match(index, "first*", &walk); index_next(index, &walk, &number, &name) > 0; at++)
		bad += number != numbers[at] || strcmp(name, names[1][at]);
	is_int((long long)bad, 0, "by name, then by address");
	index_match(index, "alias", &walk);
	is_int(index_next(index, &walk, &number, &name), 1, "another name finds the function, too");
	is_int((long long)number, 1, "which is the second");
	is_str(index_name(index, index_function(index, number)), "second", "and whose best name is another");
	for (at = bad = 0, index_match(index, "*", &walk); index_next(index, &walk, &number, &name) > 0; at++)
		bad += number != at || (at == 2) != !name;
	is_int((long long)bad, 0, "a star alone is all functions by address, those without a name, too");
	index_match(index, "long", &walk);
	is_int(index_next(index, &walk, &number, &name), 0, "the beginning of a name is no name");
}

static void frames(struct sample *sample)
{
	static const uint64_t at[] = { 0, 0xfff, 0x1000, 0x100f, 0x1010, 0x1013, 0x1014, 0x1020, 0x1021, 0x1ffe, 0x1fff,
		0x100000ffe, 0x100000fff, 0x100001000, UINT64_MAX };
	/* Index of the entry; FRAMES: none. */
	static const int of[] = { FRAMES, FRAMES, FRAMES, FRAMES, 0, 0, 1, 2, 3, 3, 4, 4, 4, FRAMES, FRAMES };
	struct index index;
	struct index_frames frames;

	make(sample);
	attach(&index, sample, sizeof(*sample), 1);
	is_int(index_frames_check(&index, &frames), 0, "an index has frames");
	is_int((long long)seen[1], 4, "of which the block was looked at");
	ok(frames.frame == sample->frame && frames.count == FRAMES && frames.low == 0x1000,
		"they are those of the file");
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
		is_int(index_frames_rule(&frames, at[i]), of[i] == FRAMES ? 0 : sample->frame[of[i]].rule,
			"the rule of %llx", (unsigned long long)at[i]);
	for (frames.count = 1; frames.count <= FRAMES; frames.count++)
		is_int(index_frames_rule(&frames, 0x2000), sample->frame[frames.count - 1].rule,
			"the last one of %zu", frames.count);
	sample->frame[FRAMES - 1].rule ^= 1;
	attach(&index, sample, sizeof(*sample), 1);
	is_int(index_frames_check(&index, &frames), -EBADMSG, "where one is damaged, there are none");
	ok(!frames.count && index_damaged(&index), "and it is told");
	is_int(index_frames_rule(&frames, 0x1010), 0, "nothing is known then");
	make(sample);
	sample->head.part[INDEX_FRAMES].size = 0;
	seal(sample);
	attach(&index, sample, sizeof(*sample), 1);
	is_int(index_frames_check(&index, &frames), -ENOENT, "an index may have none");
}

static void whole(struct sample *sample)
{
	struct index index;
	uint8_t copy[INDEX_TEMPLATE_MAX];
	uint64_t site, from;
	size_t number;

	make(sample);
	is_int(attach(&index, sample, sizeof(*sample), 1), 0, "a whole index is taken");
	is_int((long long)index.functions, FUNCTIONS, "four functions");
	is_int((long long)seen[1], 0, "nothing but its head was looked at");
	const struct index_function *first = index_function(&index, 0), *second = index_function(&index, 1);
	ok(first == sample->function && second == first + 1, "functions by number");
	is_int((long long)seen[1], 1, "the first block was");
	is_str(index_name(&index, second), "second", "a name");
	is_int((long long)seen[1], 5, "and the third");
	ok(!index_function(&index, FUNCTIONS), "there is no fifth");
	ok(!index_name(&index, index_function(&index, 2)), "no name");
	is_int((long long)strlen(index_name(&index, index_function(&index, 3))), LONG, "a name in two blocks");
	is_int((long long)seen[1], 7, "which were both looked at");
	is_int(use(&index), 2, "two can be used");
	ok(!index_damaged(&index), "nothing is damaged");
	ok(index_at(&index, 0x1100, &number) == second && number == 1, "found by its address");
	ok(!index_at(&index, 0x1101, NULL), "no function begins there");
	ok(index_before(&index, 0x1101, NULL) == second, "but before it");
	ok(!index_before(&index, 0xfff, NULL), "none is before the first");
	found(&index);
	const struct index_call *call = index_call_of(&index, 0, &number);
	ok(call == sample->call && number == 0 && index_call(&index, 1) == call + 1, "calls of a function");
	ok(index_template(&index, &call->site) && index_site(&index, &call->site, &site, &from) && site == 0x1004,
		"and how it is seen by them");
	ok(index_call_of(&index, 3, &number) == call + 2 && number == 2, "another's");
	ok(!index_call_of(&index, 1, NULL) && !index_call(&index, CALLS), "one has none");
	index_site(&index, first, &site, &from);
	ok(site == 0x1004 && from == 0x1004, "the site is behind the endbr64");
	index_site(&index, second, &site, &from);
	ok(site == 0x1100 && from == 0x10fb, "padding is before it");
	const struct index_template *template = index_template(&index, first);
	is_int((long long)displace_copy(template, 0x400000, 0x1000, 0x500000, copy, sizeof(copy)), 12,
		"a copy is made");
	/* 0x400000 + 0x1000 + 0x500 - 0x500007 and + 10 - 0x50000c */
	static const uint8_t expected[] = { 0x48, 0x8d, 0x05, 0xf9, 0x14, 0xf0, 0xff, 0xe9, 0xfe, 0x0f, 0xf0, 0xff };
	ok(!memcmp(copy, expected, sizeof(expected)), "with its operands for that place");
	is_int((long long)displace_copy(template, 0x400000, 0x1000, 0x500000, copy, 11), 0, "or none where room lacks");
	is_int((long long)displace_copy(template, 0x400000, 0x1000, 0x80401508, copy, sizeof(copy)), 0,
		"or a target is 2 GiB and a byte away");
	template = index_template(&index, second);
	is_int((long long)displace_copy(template, 0x123400000000, 0x1100, 0x500000, copy, sizeof(copy)), 10,
		"an address may be any");
	uint64_t address;
	memcpy(&address, copy + 2, 8);
	is_int((long long)address, 0x123400001103, "and is whole");
}

/* Each bit of the head, the sums and the parts. */
static void flipped(struct sample *sample)
{
	static struct sample before;
	struct index index;
	int taken = 0, eager = 0, wrong = 0, untold = 0;

	make(&before);
	sound = &before;
	for (size_t bit = 0; bit < 8 * sizeof(*sample); bit++) {
		if (bit / 8 >= offsetof(struct sample, unused) && bit / 8 < offsetof(struct sample, function))
			continue;
		memcpy(sample, &before, sizeof(*sample));
		((uint8_t *)sample)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		eager += !attach(&index, sample, sizeof(*sample), 0);
		if (attach(&index, sample, sizeof(*sample), 1))
			continue;
		taken += bit / 8 < offsetof(struct sample, unused);
		wrong += use(&index) < 0;
		untold += !index_damaged(&index);
	}
	sound = NULL;
	is_int(taken, 0, "no bit of the head can change unnoticed");
	is_int(eager, 0, "nor one of a part, where all is looked at");
	is_int(wrong, 0, "nor one of what is used");
	is_int(untold, 0, "and it is told");
	int short_ones = 0;
	for (size_t size = 0; size < sizeof(*sample); size++) {
		make(sample);
		/* To the end of the mapping, so that a byte beyond it faults. */
		uint8_t *end = (uint8_t *)sample + sizeof(*sample), *at = end - size;
		if ((uintptr_t)at % 8)
			continue;
		memmove(at, sample, size);
		short_ones += !attach(&index, at, size, 1);
	}
	is_int(short_ones, 0, "no part of an index is an index");
	make(sample);
	sample->head.version++;
	is_int(attach(&index, sample, sizeof(*sample), 1), -EPROTO, "another version is told from damage");
}

/* Damage that has the right sums. */
static void forged(struct sample *sample)
{
	int taken = 0, bad = 0;

	for (int round = 0; round < 100000; round++) {
		struct index index;
		make(sample);
		for (uint64_t n = draw() % 4 + 1; n; n--) {
			size_t at = draw() % sizeof(*sample);
			uint64_t where = draw() % 3;
			if (where == 0) /* where numbers are */
				at = offsetof(struct sample, head.blocks) +
				     draw() % (sizeof(sample->head) - offsetof(struct index_head, blocks));
			else if (where == 1)
				at = offsetof(struct sample, function) +
				     draw() % (offsetof(struct sample, more_templates) -
						      offsetof(struct sample, function));
			((uint8_t *)sample)[at] = (uint8_t)(draw() % 3 ? draw() : draw() % 2 ? 0xff : 0);
		}
		seal(sample);
		if (attach(&index, sample, sizeof(*sample), (int)(draw() % 2)))
			continue;
		taken++;
		bad += use(&index) < 0;
	}
	ok(taken > 1000, "many forged ones are taken for whole");
	is_int(bad, 0, "and nothing of them leads out of the index");
}

/*
 * Zeros behind the head, to the end of the mapping: parts that don't fit into the head would all be sound ones without
 * bytes, and looking at them would go on behind the index.
 */
static void many_parts(uint8_t *end)
{
	struct index_head *head = (void *)(end - INDEX_BLOCK);
	struct index index;

	memset(head, 0, INDEX_BLOCK);
	*head = (struct index_head){ .magic = INDEX_MAGIC, .version = INDEX_VERSION, .head_size = sizeof(*head),
		.file_size = INDEX_BLOCK, .blocks = INDEX_BLOCK, .sums = index_sum(NULL, 0) };
	for (uint32_t more = 0; more < 3; more++) {
		head->parts = INDEX_PART_COUNT + more;
		head->checksum = 0;
		head->checksum = index_sum(head, sizeof(*head));
		is_int(attach(&index, head, INDEX_BLOCK, 1), more ? -EBADMSG : 0,
			"an index of %u parts is %s", head->parts, more ? "refused: they don't fit" : "taken");
	}
}

int main(void)
{
	uint8_t *p = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + ROOM, 4096, PROT_NONE))
		bail("no memory");
	_Static_assert(sizeof(struct sample) % 8 == 0 && sizeof(struct sample) <= ROOM, "it ends where the page ends");
	_Static_assert(offsetof(struct sample, function) == INDEX_BLOCK, "blocks begin there");
	_Static_assert((sizeof(struct sample) - 1) / INDEX_BLOCK == BLOCKS, "this many");
	struct sample *sample = (void *)(p + ROOM - sizeof(struct sample));
	whole(sample);
	frames(sample);
	flipped(sample);
	forged(sample);
	many_parts(p + ROOM);
	return done_testing();
}
