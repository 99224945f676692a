/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* CPU_COUNT in thread.h */
#include "tool/index/facts_decode.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/thread.h"
#include "tool/index/body.h"

#define RANGES_OF_JOB 8	     /* so that no thread waits long for the others at the end */
#define JOBS_MOST     64

/* A range of the code, and what decoding it finds. */
struct part {
	struct reading *reading;
	size_t code;	  /* begins in this piece of the image's, */
	uint64_t address; /* here; */
	size_t function;  /* and this is the first function from there on */
	struct findings found;
	struct calls calls;
	struct words words;
	size_t instructions;
	uint64_t decoded;
	struct body *body; /* the thread's */
};

/* What threads share. */
struct work {
	struct part *part; /* the last one begins at the end of the code */
	size_t parts, next;
};

/* Behind an endbr64 is a beginning, too. */
static bool is_beginning(const struct image_function *function, uint64_t target)
{
	return target == function->address || target == function->address + function->skip;
}

/* A jump of function i that leaves it. */
static void leaves(struct part *part, uint32_t i, uint64_t target, bool conditional)
{
	const struct image *image = part->reading->image;
	size_t to = image_before(image, target);

	if (to >= image->functions || target >= image->function[to].end)
		return;
	APPEND(part->found.leave, part->found.leaves,
		(struct leave){ i, (uint32_t)to, conditional && target == image->function[to].address });
	if (is_beginning(&image->function[to], target))
		APPEND(part->found.leap, part->found.leaps, (struct leap){ i, (uint32_t)to, false });
}

/* Function i takes an address in the code. */
static void points(struct part *part, uint32_t i, uint64_t target)
{
	const struct image *image = part->reading->image;
	const struct image_function *function = i < image->functions ? &image->function[i] : NULL;

	facts_mark(part->reading->facts, part->reading->facts->pointed, target);
	if (!function)
		return;
	if (target < function->address || target >= function->end) {
		size_t to = image_before(image, target);
		if (to >= image->functions || target >= image->function[to].end ||
			is_beginning(&image->function[to], target))
			return;
	}
	APPEND(part->found.base, part->found.bases, (struct base){ target, i });
}

/* Function i ends with a jump to where the word at this address says. */
static void jumps_by(struct part *part, uint32_t i, uint64_t address)
{
	uint32_t to = asks_at(&part->reading->bound, address);

	if (to == ASKS_IT)
		part->reading->asks[i] = true;
	else if (to != ASKS_NONE && to != i)
		APPEND(part->found.leap, part->found.leaps, (struct leap){ i, to, true });
}

static void see(struct part *part, uint32_t i, const struct insn *insn)
{
	const struct reading *reading = part->reading;
	const struct image *image = reading->image;
	struct facts *facts = reading->facts;
	struct image_function *function = i < image->functions ? &image->function[i] : NULL;
	uint64_t slot;

	if (insn->flow == INSN_CALL || insn->flow == INSN_CALL_INDIRECT)
		calls_see(&part->calls, image, i, insn);
	words_see(&part->words, insn);
	if (insn->relative) {
		facts_mark(facts, insn->flow == INSN_CALL ? facts->called : facts->jumped, insn->target);
		/* Who calls what follows pops its address. */
		if (insn->flow == INSN_CALL && insn->target == insn->address + insn->length)
			points(part, i, insn->target);
		if (!function || insn->flow == INSN_CALL)
			return;
		if (reading->bound.count && (slot = calls_slot(image, insn->target)))
			jumps_by(part, i, slot);
		if (insn->target < function->address || insn->target >= function->end)
			leaves(part, i, insn->target, insn->flow != INSN_JUMP);
		else if (is_beginning(function, insn->target))
			APPEND(part->found.leap, part->found.leaps, (struct leap){ i, i, false });
		return;
	}
	if (insn->flow == INSN_JUMP_INDIRECT && function && (insn->rm != INSN_NO_REG || insn->base != INSN_RIP))
		reading->indirect[i] = true;
	if (insn->flow == INSN_JUMP_INDIRECT && function && insn->base == INSN_RIP)
		jumps_by(part, i, insn->target);
	if (insn->base == INSN_RIP && insn->memory) {
		if (facts_in_code(facts, insn->target))
			points(part, i, insn->target);
		/* Tables may lie in the code, too. */
		if (insn->map == 0 && insn->opcode == 0x8d)
			APPEND(part->found.table, part->found.tables,
				(struct table){ .address = insn->target, .function = i });
	}
	/* An absolute table of addresses, by index, for a jump. */
	if (image->fixed && insn->memory && insn->base == INSN_NO_REG && insn->index != INSN_NO_REG &&
		(insn->flow == INSN_JUMP_INDIRECT ||
			(insn->flow == INSN_NEXT && insn->map == 0 && insn->opcode == 0x8b)))
		APPEND(part->found.words, part->found.word_tables,
			(struct table){ .address = (uint64_t)(int64_t)insn->displacement, .function = i });
	/* An absolute table of distances, by index: movslq. */
	if (image->fixed && insn->memory && insn->base == INSN_NO_REG && insn->index != INSN_NO_REG &&
		insn->map == 0 && insn->opcode == 0x63)
		APPEND(part->found.table, part->found.tables,
			(struct table){ .address = (uint64_t)(int64_t)insn->displacement, .function = i });
	if (image->fixed && insn->has_immediate) {
		if (facts_in_code(facts, (uint64_t)insn->immediate))
			points(part, i, (uint64_t)insn->immediate);
		else if (insn->map == 0 && ((insn->opcode & 0xf8) == 0xb8 || insn->opcode == 0xc7))
			APPEND(part->found.table, part->found.tables,
				(struct table){ .address = (uint64_t)insn->immediate, .function = i });
	}
}

/* Decodes a piece of code that lies between two beginnings of functions. */
static void decode(struct part *part, uint32_t i, const uint8_t *p, uint64_t from, uint64_t to)
{
	const struct reading *reading = part->reading;
	struct image_function *function = i < reading->image->functions ? &reading->image->function[i] : NULL;
	uint64_t address = from;

	if (function) {
		body_begin(part->body, function->frame, address, function->end);
		function->start = !body_is_function(part->body) || address == reading->image->file.header->e_entry;
	}
	while (address < to) {
		struct insn insn;
		if (!insn_decode(p + (address - from), to - address, address, &insn)) {
			if (function && address < function->end)
				function->undecodable = true;
			address++;
			continue;
		}
		/* What is behind its end is padding, or code that nobody told us of. */
		bool own = function && address < function->end;
		see(part, own ? i : UINT32_MAX, &insn);
		part->instructions++;
		address += insn.length;
		if (!own)
			continue;
		body_see(part->body, &insn);
		/* A call that stands last does not come back. */
		function->closed = address == function->end &&
				   (insn_ends(&insn) || insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT);
	}
	part->decoded += to - from;
	if (!function)
		return;
	body_end(part->body);
	function->stack = part->body->stack;
	function->reads_return = part->body->reads_return;
}

/*
 * The next piece of code without a beginning of a function in it: from *address to the returned one. *i: the first
 * function that begins at *address or behind it. *own: which one it is of, or UINT32_MAX.
 */
static uint64_t next_piece(const struct image *image, const struct image_code *code, uint64_t address, size_t *i,
	uint32_t *own)
{
	uint64_t end = code->address + code->size;
	bool starts = *i < image->functions && image->function[*i].address == address;

	*own = starts ? (uint32_t)(*i)++ : UINT32_MAX;
	return *i < image->functions && image->function[*i].address < end ? image->function[*i].address : end;
}

/* The first function that begins in this piece of the image's, or behind it. */
static size_t first_in(const struct image *image, size_t code, size_t i)
{
	while (i < image->functions && image->function[i].address < image->code[code].address)
		i++;
	return i;
}

static void decode_part(struct part *part, const struct part *next)
{
	const struct image *image = part->reading->image;
	uint64_t address = part->address;
	size_t i = part->function;

	for (size_t c = part->code; c < image->codes && c <= next->code; c++) {
		const struct image_code *code = &image->code[c];
		uint64_t end = c == next->code ? next->address : code->address + code->size;
		if (c != part->code) {
			address = code->address;
			i = first_in(image, c, i);
		}
		while (address < end) {
			uint32_t own;
			uint64_t to = next_piece(image, code, address, &i, &own);
			decode(part, own, code->bytes + (address - code->address), address, to);
			address = to;
		}
	}
}

/* One thread of several. */
static void *decode_parts(void *argument)
{
	struct work *work = argument;
	struct body *body = memory_zeroed(1, sizeof(*body));

	for (;;) {
		/* Relaxed: a number that no two get; what it stands for was made before the threads. */
		size_t n = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
		if (n >= work->parts)
			break;
		work->part[n].body = body;
		decode_part(&work->part[n], &work->part[n + 1]);
	}
	free(body);
	return NULL;
}

/* Divides the code into ranges of so many bytes, or a little more. Returns how many; the last one is the end. */
static size_t divide(struct reading *reading, struct part *part, size_t room, uint64_t size)
{
	const struct image *image = reading->image;
	size_t count = 0, i = 0;
	uint64_t since = size; /* bytes of the last range */

	for (size_t c = 0; c < image->codes; c++) {
		const struct image_code *code = &image->code[c];
		uint64_t address = code->address;
		i = first_in(image, c, i);
		while (address < code->address + code->size) {
			if (since >= size && count < room) {
				part[count++] = (struct part){ .reading = reading, .code = c, .address = address,
					.function = i };
				since = 0;
			}
			uint32_t own;
			uint64_t to = next_piece(image, code, address, &i, &own);
			since += to - address;
			address = to;
		}
	}
	part[count] = (struct part){ .reading = reading, .code = image->codes };
	return count;
}

#define JOIN(to, from, array, count)                                                                       \
	do {                                                                                               \
		size_t own = sizeof(*(to)->array);                                                         \
		(to)->array = memory_resize((to)->array, (to)->count + (from)->count + 1, own);            \
		if ((from)->count)                                                                         \
			memcpy((to)->array + (to)->count, (from)->array, (from)->count * own);             \
		(to)->count += (from)->count;                                                              \
		free((from)->array);                                                                       \
	} while (0)

/* Puts what a range's decoding has found behind what those before it have. */
static void join(struct reading *reading, struct part *part)
{
	struct image_function *function = reading->image->function;
	struct facts *facts = reading->facts;

	JOIN(&reading->found, &part->found, table, tables);
	JOIN(&reading->found, &part->found, words, word_tables);
	JOIN(&reading->found, &part->found, base, bases);
	JOIN(&reading->found, &part->found, leap, leaps);
	for (size_t l = 0; l < part->found.leaves; l++) {
		const struct leave *leave = &part->found.leave[l];
		if (!function[leave->to].owner)
			function[leave->to].owner = leave->from + 1;
		function[leave->to].conditional |= leave->conditional;
	}
	free(part->found.leave);
	calls_join(&facts->calls, &part->calls);
	words_join(&facts->words, &part->words);
	facts->instructions += part->instructions;
	facts->decoded += part->decoded;
}

void facts_decode(struct reading *reading, unsigned jobs)
{
	pthread_t thread[JOBS_MOST];
	size_t room = jobs > 1 ? (size_t)jobs * RANGES_OF_JOB : 1;
	struct work work = { .part = memory_zeroed(room + 1, sizeof(*work.part)) };
	uint64_t size = 0;
	unsigned threads = 0;

	for (size_t c = 0; c < reading->image->codes; c++)
		size += reading->image->code[c].size;
	work.parts = divide(reading, work.part, room, size / room + 1);
	for (size_t n = 0; n < work.parts; n++) {
		calls_part(&work.part[n].calls, &reading->facts->calls);
		words_part(&work.part[n].words, &reading->facts->words);
	}
	/* Where there can't be as many, there are fewer. */
	while (threads + 1 < jobs && threads < JOBS_MOST && threads + 1 < work.parts &&
		!tool_thread(&thread[threads], decode_parts, &work))
		threads++;
	decode_parts(&work);
	while (threads)
		pthread_join(thread[--threads], NULL);
	for (size_t n = 0; n < work.parts; n++)
		join(reading, &work.part[n]);
	free(work.part);
}
