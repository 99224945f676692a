/* SPDX-License-Identifier: MIT */
#include "tool/probe/window_body.h"

#include <stdlib.h>

#include "format/probe.h"
#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/index/copy.h"
#include "tool/index/decode.h"
#include "tool/index/facts.h"
#include "tool/index/frames.h"
#include "tool/index/runtimes.h"

void window_bodies_begin(struct window_bodies *bodies, const struct image *image, const struct facts *facts)
{
	*bodies = (struct window_bodies){ .image = image, .facts = facts };
	bodies->body = memory_zeroed(image->functions + 1, sizeof(struct window_body *));
	rseq_read(&bodies->rseq, image);
}

void window_bodies_free(struct window_bodies *bodies)
{
	for (size_t i = 0; i < bodies->image->functions; i++) {
		if (!bodies->body[i])
			continue;
		free(bodies->body[i]->insn);
		free(bodies->body[i]->run);
		free(bodies->body[i]);
	}
	free(bodies->body);
	rseq_free(&bodies->rseq);
}

unsigned window_whole(const struct image *image, size_t i, uint64_t address)
{
	const struct image_function *function = &image->function[i];
	const struct image_function *owner =
		function->piece && function->owner ? &image->function[function->owner - 1] : function;

	if (image->loader)
		return PROBE_LOADER;
	if (function->resolver || owner->resolver)
		return PROBE_RESOLVER;
	if (function->frame && function->frame->signal)
		return PROBE_SIGNAL_FRAME;
	if (image->foreign || address - image->copied < image->copied_end - image->copied)
		return PROBE_RUNTIME;
	if (image_is_compiled(image, address))
		return PROBE_JUDGED;
	/* What the file has there is not what runs: ld.so writes to it. */
	return image->relocated ? PROBE_OTHER_BYTES : PROBE_USABLE;
}

/* syscall, sysenter and int $0x80. */
static bool is_system_call(const struct insn *insn)
{
	return insn_is(insn, 1, 0x05) || insn_is(insn, 1, 0x34) ||
	       (insn_is(insn, 0, 0xcd) && (insn->immediate & 0xff) == 0x80);
}

/* What a function's decoding keeps between its instructions. */
struct decoding {
	struct window_bodies *bodies;
	struct window_body *body;
	struct copy copy; /* for copy_may_fault() alone */
	bool lost;	  /* something could not be decoded, since nothing led anywhere */
	bool unreached;	  /* what is before it does not go on there, and nothing leads there */
	bool doubtful;	  /* nor was it padding: it may be data */
	bool returns; /* a call is before it */
};

static bool leads(const struct window_bodies *bodies, uint64_t address)
{
	return facts_led_to(bodies->facts, address) || rseq_aborts(&bodies->rseq, address);
}

/* Branches come between the bytes of what is meant as two instructions: one without its prefix, say. */
static bool led_within(const struct window_bodies *bodies, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		if (facts_bit(bodies->facts, bodies->facts->jumped, from) ||
			facts_bit(bodies->facts, bodies->facts->called, from))
			return true;
	return false;
}

static bool led_anywhere(const struct window_bodies *bodies, uint64_t from, uint64_t to)
{
	while (from < to)
		if (leads(bodies, from++))
			return true;
	return false;
}

static unsigned refusal_of(struct decoding *decoding, const struct insn *insn)
{
	struct window_bodies *bodies = decoding->bodies;
	uint64_t end = insn->address + insn->length;
	bool faults = copy_may_fault(&decoding->copy, insn) && bodies->image->judges;
	int64_t distance = (int64_t)(insn->target - insn->address);

	if (faults)
		return PROBE_JUDGED;
	if (rseq_holds(&bodies->rseq, insn->address, end))
		return PROBE_RSEQ;
	if (is_system_call(insn))
		return PROBE_SYSTEM_CALL;
	if (copy_refuses(insn))
		return PROBE_INSTRUCTION;
	/* With room for the window's beginning, which distances are counted from. */
	if ((insn->relative || insn->base == INSN_RIP) && distance != (int32_t)distance)
		return PROBE_TARGET;
	return led_within(bodies, insn->address + 1, end) ? PROBE_BRANCH : PROBE_USABLE;
}

static void add(struct window_body *body, uint64_t address, unsigned length, unsigned refusal, unsigned marks)
{
	body->insn = memory_grow(body->insn, body->insns, sizeof(*body->insn));
	body->insn[body->insns++] = (struct window_insn){ .at = (uint32_t)(address - body->address),
		.length = (uint8_t)length,
		.refusal = (uint8_t)refusal,
		.marks = (uint8_t)marks };
}

/* Returns its length. */
static unsigned decode(struct decoding *decoding, const uint8_t *bytes, size_t room, uint64_t address)
{
	struct window_bodies *bodies = decoding->bodies;
	bool led = leads(bodies, address);
	unsigned marks = (led ? WINDOW_LED : 0) | (decoding->returns ? WINDOW_RETURN : 0);
	struct insn insn;

	decoding->lost &= !led;
	decoding->doubtful &= !led;
	decoding->returns = false;
	/* Data that looks like an instruction may seem to go on in the code behind it. */
	bool decoded = insn_decode(bytes, room, address, &insn);
	decoding->doubtful |= decoded && decoding->unreached && !led && !insn.nop;
	if (!decoded || (decoding->doubtful && led_anywhere(bodies, address + 1, address + insn.length))) {
		decoding->lost = true;
		add(decoding->body, address, 1, PROBE_UNDECODABLE, marks);
		return 1;
	}
	unsigned refusal = refusal_of(decoding, &insn);
	decoding->returns = insn.flow == INSN_CALL || insn.flow == INSN_CALL_INDIRECT;
	decoding->unreached &= !led && insn.nop && !insn.segment && !decoding->lost && !decoding->body->computed &&
			       !led_anywhere(bodies, address, address + insn.length);
	marks |= (decoding->returns ? WINDOW_CALL : 0) | (insn_ends(&insn) ? WINDOW_CLOSED : 0) |
		 (decoding->unreached ? WINDOW_FREE : 0);
	decoding->unreached |= insn_ends(&insn) && !decoding->lost;
	add(decoding->body, address, insn.length, decoding->lost ? PROBE_UNDECODABLE : refusal, marks);
	return insn.length;
}

/* Bytes behind a function that are nobody's. */
static uint32_t free_behind(const struct window_bodies *bodies, uint64_t from, uint64_t to)
{
	uint64_t address = from;

	while (address < to) {
		struct insn insn;
		size_t size;
		const uint8_t *p = image_code_at(bodies->image, address, &size);
		if (!p || !insn_decode(p, size, address, &insn) || !insn.nop || insn.segment ||
			address + insn.length > to || led_anywhere(bodies, address, address + insn.length))
			break;
		address += insn.length;
	}
	return (uint32_t)(address - from);
}

static void add_run(struct window_body *body, uint32_t at, uint32_t size)
{
	if (size < PROBE_JUMP_SIZE)
		return;
	body->run = memory_grow(body->run, body->runs, sizeof(*body->run));
	body->run[body->runs++] = (struct window_run){ at, size };
}

static void find_runs(struct window_body *body)
{
	uint32_t from = 0, to = 0;

	for (size_t i = 0; i < body->insns; i++) {
		const struct window_insn *insn = &body->insn[i];
		if (!(insn->marks & WINDOW_FREE))
			continue;
		if (insn->at != to) {
			add_run(body, from, to - from);
			from = insn->at;
		}
		to = insn->at + insn->length;
	}
	if (to != body->size) {
		add_run(body, from, to - from);
		from = body->size;
	}
	add_run(body, from, body->size + body->free - from);
}

const struct window_body *window_body(struct window_bodies *bodies, size_t i)
{
	const struct image *image = bodies->image;
	const struct image_function *function = &image->function[i];
	const struct image_code *code = image_section(image, function->address);
	struct window_body *body = bodies->body[i];
	uint64_t end = function->end, limit = code ? code->address + code->size : function->address;

	if (body)
		return body;
	body = bodies->body[i] = memory_zeroed(1, sizeof(*body));
	if (i + 1 < image->functions && image->function[i + 1].address < limit)
		limit = image->function[i + 1].address;
	if (end > limit)
		end = limit;
	if (end - function->address > INT32_MAX)
		end = function->address;
	body->address = function->address;
	body->computed = function->computed;
	struct decoding decoding = { .bodies = bodies, .body = body };
	uint64_t address = function->address;
	while (address < end) {
		const uint8_t *p = code->bytes + (address - code->address);
		address += decode(&decoding, p, end - address, address);
	}
	body->size = (uint32_t)(end - function->address);
	if (body->insns && end == function->end && (decoding.unreached || decoding.returns))
		body->free = free_behind(bodies, end, limit);
	find_runs(body);
	return body;
}

size_t window_insn(const struct window_body *body, uint64_t address)
{
	uint64_t at = address - body->address;
	size_t behind = SEARCH(i, 0, body->insns, body->insn[i].at <= at);

	return behind && at < body->size ? behind - 1 : body->insns;
}
