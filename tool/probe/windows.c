/* SPDX-License-Identifier: MIT */
#include "tool/probe/windows.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/index/entry.h"
#include "tool/index/facts.h"
#include "tool/index/image.h"
#include "tool/probe/window_code.h"

#define NEAREST_MOST 1000 /* instructions that are looked at in each direction */

/* What is being made, from the last address to the first. */
struct making {
	struct windows *to;
	struct window_bodies bodies;
	struct window_taken taken;
	const uint64_t *address;
	size_t addresses;
	struct window_choice *choice; /* of each window so far */
	size_t others;		      /* that SHARED ones will have */
};

/* Where an address is. */
struct where {
	size_t function, insn;
	const struct window_body *body; /* NULL: in no function */
};

static unsigned find(struct window_bodies *bodies, uint64_t address, struct where *where)
{
	const struct image *image = bodies->image;
	size_t function = image_before(image, address);

	*where = (struct where){ 0 };
	if (!image_section(image, address))
		return PROBE_NO_CODE;
	if (function >= image->functions)
		return PROBE_NO_INSTRUCTION;
	const struct window_body *body = window_body(bodies, function);
	size_t insn = window_insn(body, address);
	if (insn >= body->insns)
		return PROBE_NO_INSTRUCTION;
	*where = (struct where){ function, insn, body };
	if (body->address + body->insn[insn].at != address)
		return PROBE_NO_INSTRUCTION;
	if (body->insn[insn].refusal == PROBE_UNDECODABLE)
		return PROBE_UNDECODABLE;
	return window_whole(image, function, address);
}

/* Would it do alone? */
static bool would_do(struct window_bodies *bodies, const struct where *where, size_t insn)
{
	static const struct window_taken none;
	struct window_choice choice;
	uint64_t address = where->body->address + where->body->insn[insn].at;

	return !(where->body->insn[insn].marks & WINDOW_FREE) &&
	       window_whole(bodies->image, where->function, address) == PROBE_USABLE &&
	       window_choose(bodies, &none, where->function, insn, &choice) == PROBE_USABLE;
}

static uint64_t nearest(struct window_bodies *bodies, const struct where *where, uint64_t address)
{
	const struct window_body *body = where->body;
	/* Within an instruction, its own beginning is the nearest place. */
	size_t first = body && body->address + body->insn[where->insn].at == address;

	for (size_t n = first; body && n < NEAREST_MOST; n++) {
		size_t below = where->insn - n, above = where->insn + n;
		if (below >= body->insns && above >= body->insns)
			break;
		if (below < body->insns && would_do(bodies, where, below))
			return body->address + body->insn[below].at;
		if (above < body->insns && would_do(bodies, where, above))
			return body->address + body->insn[above].at;
	}
	return 0;
}

static uint64_t first_of(const struct window_choice *choice)
{
	return choice->body->address + choice->body->insn[choice->first].at;
}

/* How many windows do the same by other bytes? */
static unsigned others_of(const struct window_choice *choice)
{
	return choice->prefixes ? (unsigned)__builtin_popcount(choice->prefixes) - 1 : 0;
}

/* All windows but the last of those so far stay: this one, with the addresses of which it has so many. */
static unsigned put(struct making *making, const struct window_choice *choice, const uint32_t *which, unsigned count,
	bool instead)
{
	struct windows *to = making->to;
	size_t at = instead ? to->count - 1 : to->count, others = making->others;
	struct window made;

	if (instead)
		others -= others_of(&making->choice[at]);
	unsigned refusal = window_make(&made, making->bodies.image, choice, making->address, which, count);
	if (refusal == PROBE_USABLE && at + 1 + others + others_of(choice) > PROBE_WINDOWS_MAX)
		refusal = PROBE_MANY;
	if (refusal != PROBE_USABLE)
		return refusal;
	if (!instead) {
		to->window = memory_grow(to->window, at, sizeof(*to->window));
		making->choice = memory_grow(making->choice, at, sizeof(*making->choice));
		to->count++;
	}
	to->window[at] = made;
	making->choice[at] = *choice;
	making->others = others + others_of(choice);
	window_take(&making->taken, choice);
	for (unsigned n = 0; n < count; n++)
		to->place[which[n]] = (struct window_place){ .window = (uint32_t)at };
	return PROBE_USABLE;
}

/*
 * Addresses from `low` up to `high` that lie in what was chosen, those that are none of instructions left out. Returns
 * how many, or more than there may be. *next: the first one in front of it.
 */
static unsigned collect(struct making *making, const struct window_choice *choice, size_t high, uint32_t *which,
	size_t *next)
{
	uint32_t found[PROBE_IN_WINDOW];
	unsigned count = 0;
	size_t i = high + 1;

	while (i && making->address[i - 1] >= first_of(choice)) {
		size_t insn = window_insn(choice->body, making->address[--i]);
		uint64_t begins = choice->body->address + choice->body->insn[insn].at;
		if (begins != making->address[i]) {
			making->to->place[i].nearest = begins;
			continue;
		}
		if (count == PROBE_IN_WINDOW)
			return count + 1;
		found[count++] = (uint32_t)i;
	}
	*next = i;
	for (unsigned n = 0; n < count; n++)
		which[n] = found[count - 1 - n];
	return count;
}

/* Address i in one window with those of the window behind it, which was in its way. */
static unsigned join(struct making *making, const struct where *where, size_t i, size_t *next)
{
	struct windows *to = making->to;
	uint32_t which[2 * PROBE_IN_WINDOW];
	struct window_choice choice, last;
	const struct window *behind;

	if (!to->count)
		return PROBE_NEIGHBOUR;
	behind = &to->window[to->count - 1];
	last = making->choice[to->count - 1];
	if (last.body != where->body || last.way == PROBE_WAY_SHORT)
		return PROBE_NEIGHBOUR;
	window_give(&making->taken, &last);
	for (size_t first = where->insn; first < where->body->insns; first--) {
		if (window_join(&making->taken, where->body, first, last.last, &choice) == PROBE_USABLE) {
			unsigned count = collect(making, &choice, i, which, next);
			for (unsigned n = 0; count <= PROBE_IN_WINDOW && n < behind->addresses; n++)
				which[count + n] = behind->address[n];
			count += behind->addresses;
			if (put(making, &choice, which, count, true) == PROBE_USABLE)
				return PROBE_USABLE;
		}
		if (where->body->insn[where->insn].at - where->body->insn[first].at >= PROBE_JUMP_SIZE)
			break;
	}
	window_take(&making->taken, &last);
	return PROBE_NEIGHBOUR;
}

/* Do both addresses lie in what the function's entry displaces? Then one window can be in the place of its copy. */
static bool share_entry(struct making *making, const struct where *where, uint64_t a, uint64_t b)
{
	const struct image *image = making->bodies.image;
	struct entries entries = { .image = image, .facts = making->bodies.facts };
	struct entry entry;

	/* No entry displaces more. */
	if (b - where->body->address >= PROBE_ORIGINAL || image->function[where->function].piece)
		return false;
	entry_judge(&entries, where->function, &entry);
	const uint64_t site = entry.function.address + entry.function.skip;
	return entry.function.reason == INDEX_REASON_USABLE && a >= site && b < site + entry.function.length;
}

/* Returns the first address in front of those that have their window, or are refused, now. */
static size_t place(struct making *making, size_t i)
{
	struct window_place *to = &making->to->place[i];
	struct window_choice choice;
	uint32_t which[PROBE_IN_WINDOW];
	struct where where;
	size_t next = i;
	unsigned refusal = find(&making->bodies, making->address[i], &where);

	/* The file as a whole, or all of the function: there is no place nearby either. */
	bool whole = refusal >= PROBE_LOADER;
	if (refusal == PROBE_USABLE && i + 1 < making->addresses &&
		share_entry(making, &where, making->address[i], making->address[i + 1]) &&
		!where.body->insn[where.insn].refusal && join(making, &where, i, &next) == PROBE_USABLE)
		return next;
	if (refusal == PROBE_USABLE)
		refusal = window_choose(&making->bodies, &making->taken, where.function, where.insn, &choice);
	if (refusal == PROBE_USABLE) {
		unsigned count = collect(making, &choice, i, which, &next);
		refusal = count > PROBE_IN_WINDOW ? PROBE_MANY : put(making, &choice, which, count, false);
	}
	if (refusal == PROBE_NEIGHBOUR)
		refusal = join(making, &where, i, &next);
	if (refusal == PROBE_USABLE)
		return next;
	*to = (struct window_place){ .window = PROBE_NONE, .refusal = refusal };
	if (!whole)
		to->nearest = nearest(&making->bodies, &where, making->address[i]);
	return i;
}

/*
 * The same in the place of a displaced entry's copy, for a process in which the function's jump stands (ENTRY). Returns
 * false: some of its probes are not in what the entry displaces.
 */
static bool make_in_entry(struct making *making, struct window *to, const struct window *of)
{
	const struct image *image = making->bodies.image;
	const size_t function = image_before(image, of->plan.address);
	struct entries entries = { .image = image, .facts = making->bodies.facts };
	struct entry entry;

	if (function >= image->functions || image->function[function].piece)
		return false;
	entry_judge(&entries, function, &entry);
	/* Where a call is written behind the jump it comes back to that place. */
	if (entry.function.reason != INDEX_REASON_USABLE || entry.template.call)
		return false;
	const uint64_t site = entry.function.address + entry.function.skip, end = site + entry.function.length;
	for (unsigned n = 0; n < of->addresses; n++)
		if (making->address[of->address[n]] < site || making->address[of->address[n]] >= end)
			return false;
	const struct window_body *body = window_body(&making->bodies, function);
	struct window_choice choice = { .body = body, .way = PROBE_WAY_ENTRY, .length = entry.function.length };
	choice.first = (uint32_t)window_insn(body, site);
	choice.last = (uint32_t)window_insn(body, end - 1);
	if (choice.last >= body->insns || body->address + body->insn[choice.first].at != site ||
		body->address + body->insn[choice.last].at + body->insn[choice.last].length != end)
		return false;
	for (uint32_t i = choice.first; i <= choice.last; i++)
		if (body->insn[i].refusal)
			return false;
	return window_make(to, image, &choice, making->address, of->address, of->addresses) == PROBE_USABLE &&
	       to->addresses == of->addresses;
}

/* From the first address to the last, then those that do the same by other bytes, or in a displaced entry. */
static void order(struct making *making, size_t count)
{
	struct windows *to = making->to;
	size_t windows = to->count, most = 2 * windows + making->others, next = windows;
	struct window *window = to->window = memory_resize(to->window, most + 1, sizeof(*window));

	for (size_t w = 0; w < windows / 2; w++) {
		const struct window kept = window[w];
		window[w] = window[windows - 1 - w];
		window[windows - 1 - w] = kept;
	}
	for (size_t w = 0; w < windows; w++) {
		const struct window_choice *choice = &making->choice[windows - 1 - w];
		size_t last = w;
		for (unsigned prefix = window[w].plan.prefix + 1; choice->prefixes >> prefix; prefix++) {
			window_make_other(&window[next], &window[w], making->bodies.image, prefix);
			window[next].plan.other = PROBE_NONE;
			window[last].plan.other = (uint32_t)next;
			last = next++;
		}
		if (next < PROBE_WINDOWS_MAX && make_in_entry(making, &window[next], &window[w]))
			window[last].plan.other = (uint32_t)next++;
	}
	to->count = next;
	for (size_t i = 0; i < count; i++)
		if (to->place[i].window != PROBE_NONE)
			to->place[i].window = (uint32_t)(windows - 1 - to->place[i].window);
}

void windows_make(struct windows *to, const struct image *image, const struct facts *facts, const uint64_t *address,
	size_t count)
{
	struct making making = { .to = to, .address = address, .addresses = count };

	*to = (struct windows){ 0 };
	to->place = memory_zeroed(count + 1, sizeof(*to->place));
	for (size_t i = 0; i < count; i++)
		to->place[i] = (struct window_place){ .window = PROBE_NONE, .refusal = PROBE_NO_INSTRUCTION };
	window_bodies_begin(&making.bodies, image, facts);
	making.taken.low = facts->low;
	making.taken.bit = memory_zeroed(facts->size / 64 + 2, sizeof(*making.taken.bit));
	for (size_t i = count; i;)
		i = place(&making, i - 1);
	order(&making, count);
	free(making.choice);
	free(making.taken.bit);
	window_bodies_free(&making.bodies);
}

void windows_free(struct windows *windows)
{
	free(windows->window);
	free(windows->place);
	*windows = (struct windows){ 0 };
}

/* ---- each alone ---- */

void windows_cover(const struct image *image, const struct facts *facts, struct windows_coverage *to)
{
	static const struct window_taken none;
	struct window_bodies bodies;

	*to = (struct windows_coverage){ 0 };
	window_bodies_begin(&bodies, image, facts);
	for (size_t f = 0; f < image->functions; f++) {
		const struct window_body *body = window_body(&bodies, f);
		for (size_t i = 0; i < body->insns; i++) {
			struct window_choice choice;
			unsigned why = body->insn[i].refusal;
			if (body->insn[i].marks & WINDOW_FREE)
				continue;
			to->instructions++;
			if (why != PROBE_UNDECODABLE) {
				why = window_whole(image, f, body->address + body->insn[i].at);
				if (why == PROBE_USABLE)
					why = window_choose(&bodies, &none, f, i, &choice);
			}
			to->refused[why] += why != PROBE_USABLE;
			if (why != PROBE_USABLE)
				continue;
			to->by_way[choice.way]++;
			to->single += choice.way == PROBE_WAY_JUMP && choice.first == choice.last;
			to->before += choice.way == PROBE_WAY_JUMP && choice.first < i;
		}
	}
	window_bodies_free(&bodies);
}

void windows_each(const struct image *image, const struct facts *facts, size_t function, windows_function *tell,
	void *context)
{
	static const struct window_taken none;
	struct window_bodies bodies;

	window_bodies_begin(&bodies, image, facts);
	const struct window_body *body = window_body(&bodies, function);
	for (size_t i = 0; i < body->insns; i++) {
		const uint64_t address = body->address + body->insn[i].at;
		const uint32_t which = 0;
		struct window_place place = { .window = PROBE_NONE };
		struct window_choice choice;
		struct window window;
		struct where where;
		place.refusal = find(&bodies, address, &where);
		if (place.refusal == PROBE_USABLE)
			place.refusal = window_choose(&bodies, &none, function, i, &choice);
		if (place.refusal == PROBE_USABLE)
			place.refusal = window_make(&window, image, &choice, &address, &which, 1);
		if (place.refusal == PROBE_USABLE)
			place.window = 0;
		tell(context, address, body->insn[i].length, place.refusal ? NULL : &window, &place);
	}
	window_bodies_free(&bodies);
}
