/* SPDX-License-Identifier: MIT */
#include "tool/index/entry.h"

#include <string.h>

#include "tool/index/decode.h"
#include "tool/index/frames.h"
#include "tool/index/runtimes.h"

/* One way to write to function i. */
struct way {
	enum index_form form;
	enum index_reason reason;
	unsigned need, covered;
	uint64_t without; /* what the copy leaves out, or 0 */
	struct template template, other; /* as struct entry's */
};

/* NOPs and int3 alone, up to `to` exactly, or (over) beyond it. */
static bool is_padding(const struct image *image, uint64_t from, uint64_t to, bool over)
{
	while (from < to) {
		struct insn insn;
		size_t size;
		const uint8_t *p = image_code_at(image, from, &size);
		if (!p || !insn_decode(p, size, from, &insn) || !insn.nop || insn.segment)
			return false;
		from += insn.length;
	}
	return over || from == to;
}

static bool led_between(const struct facts *facts, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		if (facts_led_to(facts, from))
			return true;
	return false;
}

/* Are the five bytes before function i nobody's? */
static bool has_padding(const struct entries *entries, size_t i)
{
	const struct image *image = entries->image;
	uint64_t address = image->function[i].address, from = address - INDEX_JUMP;
	const struct image_function *last = i ? &image->function[i - 1] : NULL;

	if (!last || !last->closed || last->end > from || from < entries->taken ||
		image_section(image, last->address) != image_section(image, address))
		return false;
	return is_padding(image, last->end, address, false) && !led_between(entries->facts, from, address);
}

/* Bytes behind a last instruction may be written to as well, where they are padding that nobody comes to. */
static enum index_reason room_behind(const struct entries *entries, size_t i, uint64_t from, uint64_t to)
{
	const struct image *image = entries->image;
	const struct image_code *code = image_section(image, image->function[i].address);

	if (to > code->address + code->size || (i + 1 < image->functions && image->function[i + 1].address < to))
		return INDEX_REASON_SHORT;
	return is_padding(image, from, to, true) ? INDEX_REASON_USABLE : INDEX_REASON_SHORT;
}

/* Bytes of what is written before the site. */
static unsigned before(const struct image_function *function, const struct way *way)
{
	return way->form == INDEX_FORM_PADDING ? INDEX_JUMP + function->skip : 0;
}

/* Makes the templates, a call in place where that goes. */
static void make(const struct image_function *function, const uint8_t *p, struct way *way)
{
	const uint64_t site = function->address + function->skip;
	const size_t room = function->end - site;

	way->reason = template_make(
		&way->template, p, room, site, function->address, way->need, way->without, true);
	if (way->reason != INDEX_REASON_USABLE || !way->template.call)
		return;
	enum index_reason reason = template_make(
		&way->other, p, room, site, function->address, way->need, way->without, false);
	if (before(function, way) + way->template.length > INDEX_WRITTEN_MAX) {
		way->template = way->other;
		way->reason = reason;
	} else if (reason != INDEX_REASON_USABLE && way->template.meets) {
		way->reason = reason;
	}
}

static void try(const struct entries *entries, size_t i, struct way *way)
{
	const struct image_function *function = &entries->image->function[i];
	uint64_t site = function->address + function->skip;
	size_t size;
	const uint8_t *p = image_code_at(entries->image, site, &size);

	way->reason = INDEX_REASON_SHORT;
	if (!p || site >= function->end || (way->form == INDEX_FORM_PADDING && !has_padding(entries, i)))
		return;
	make(function, p, way);
	way->covered = way->template.length > way->need ? way->template.length : way->need;
	if (way->reason == INDEX_REASON_SHORT && function->size > function->end - function->address)
		way->reason = INDEX_REASON_OVERLAP;
	if (way->reason != INDEX_REASON_USABLE)
		return;
	if (led_between(entries->facts, site + 1, site + way->covered))
		way->reason = INDEX_REASON_BRANCH;
	else if (way->template.length < way->need)
		way->reason = room_behind(entries, i, site + way->template.length, site + way->need);
}

/* Why no form will do. */
static enum index_reason whole(const struct image *image, const struct image_function *function)
{
	if (image->loader)
		return INDEX_REASON_LOADER;
	if (image->foreign || function->address - image->copied < image->copied_end - image->copied)
		return INDEX_REASON_RUNTIME;
	if (image_is_compiled(image, function->address))
		return INDEX_REASON_JUDGED;
	if (function->resolver)
		return INDEX_REASON_RESOLVER;
	if (function->frame && function->frame->signal)
		return INDEX_REASON_SIGNAL_FRAME;
	if (function->start)
		return INDEX_REASON_START;
	if (function->stack)
		return INDEX_REASON_STACK;
	if (function->undecodable)
		return INDEX_REASON_UNDECODABLE;
	return function->loops ? INDEX_REASON_LOOP : INDEX_REASON_USABLE;
}

static void take(
	struct entries *entries, const struct image_function *function, const struct way *way, struct entry *to)
{
	struct index_function *entry = &to->function;
	uint64_t site = function->address + function->skip;
	uint64_t from = site - before(function, way);
	size_t size;

	to->template = way->template;
	to->other = way->other;
	entry->form = (uint8_t)way->form;
	entry->length = way->template.length;
	entry->originals = (uint8_t)(site + way->covered - from);
	memcpy(entry->original, image_code_at(entries->image, from, &size), entry->originals);
	if (way->template.calls)
		entry->flags |= INDEX_ENDS_IN_CALL;
	if (way->template.calls && (!way->template.call || way->template.meets))
		entry->flags |= INDEX_DISPLACES_CALL;
	if (way->template.closed)
		entry->flags |= INDEX_CLOSED;
	if (way->template.faults)
		entry->flags |= INDEX_FAULTS;
	if (site + way->covered > entries->next)
		entries->next = site + way->covered;
}

static void begin(const struct image *image, const struct image_function *function, struct entry *to)
{
	struct index_function *entry = &to->function;

	*to = (struct entry){ 0 };
	entry->address = function->address;
	entry->size = (uint32_t)function->size;
	entry->skip = function->skip;
	entry->flags = (uint16_t)((function->exported ? INDEX_EXPORTED : 0) | (function->name ? 0 : INDEX_NAMELESS) |
				  (function->reads_return || image->walks ? INDEX_ENTRY_ALONE : 0) |
				  (function->never ? INDEX_NEVER_INTERCEPT : 0) | (function->asks ? INDEX_ASKS : 0));
}

static void judge(struct entries *entries, size_t i, uint64_t without, struct entry *to)
{
	const struct image_function *function = &entries->image->function[i];
	struct way jump = { .form = INDEX_FORM_JUMP, .need = INDEX_JUMP, .without = without };
	struct way padding = { .form = INDEX_FORM_PADDING, .need = INDEX_SHORT_JUMP, .without = without };
	struct way *way;

	if (to->function.reason != INDEX_REASON_USABLE)
		return;
	try(entries, i, &jump);
	way = &jump;
	if (jump.reason != INDEX_REASON_USABLE || jump.template.calls || jump.template.faults) {
		try(entries, i, &padding);
		/* What the shorter one does not spare it costs a jump more. */
		if (padding.reason == INDEX_REASON_USABLE &&
			(jump.reason != INDEX_REASON_USABLE || jump.template.calls || !padding.template.faults))
			way = &padding;
	}
	if (way->reason == INDEX_REASON_USABLE && way->template.faults && entries->image->judges)
		way->reason = INDEX_REASON_JUDGED;
	if (way->reason == INDEX_REASON_USABLE)
		take(entries, function, way, to);
	else
		to->function.reason = (uint8_t)way->reason;
}

void entry_judge(struct entries *entries, size_t i, struct entry *to)
{
	begin(entries->image, &entries->image->function[i], to);
	to->function.reason = (uint8_t)whole(entries->image, &entries->image->function[i]);
	judge(entries, i, 0, to);
}

void entry_judge_call(struct entries *entries, size_t i, const struct call *call, struct entry *to)
{
	const struct image_function *function = &entries->image->function[i];
	enum index_reason reason = whole(entries->image, function);

	begin(entries->image, function, to);
	/* Who jumps to its own beginning calls again, as its compiler has it. Nothing branches into a single call. */
	if (reason == INDEX_REASON_LOOP ||
		(reason == INDEX_REASON_UNDECODABLE && call->address == function->address + function->skip))
		reason = INDEX_REASON_USABLE;
	to->function.reason = (uint8_t)reason;
	judge(entries, i, call->address, to);
}

void entry_done(struct entries *entries)
{
	entries->taken = entries->next;
}
