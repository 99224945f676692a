/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/position.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "runtime/base/search.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/ctl/process.h"
#include "tool/ctl/world.h"
#include "x86_64/frame.h"
#include "x86_64/remote.h"

#define MOST_RANGES (1u << 14)
#define STACK_MAX   (64ull << 20) /* a coroutine's stack may lie in a mapping of any size */

struct inside {
	uint64_t low, high;
	const struct control_patch *patch;
	size_t number; /* of the patch */
};

/* What is looked for, and where. */
struct search {
	struct ctl_world *world;
	bool *left_out;
	struct inside *inside; /* by address */
	size_t count;
	uint64_t strict_low, strict_high; /* all of those without `resume` lie between */
	uint64_t known_restorer; /* what the last signal frame returned to */
	struct range {
		uint64_t low, high;
	} *range; /* of stacks: from a stack pointer to the end of its mapping */
	size_t ranges, room;
	size_t moved;
	bool endless;
};

static int by_low(const void *a, const void *b)
{
	const struct inside *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static const struct inside *find_inside(const struct search *s, uint64_t pc)
{
	size_t low = SEARCH(i, 0, s->count, s->inside[i].high <= pc);

	return low < s->count && s->inside[low].low <= pc ? &s->inside[low] : NULL;
}

/* Where what stands at pc goes on; 0: nowhere. */
static uint64_t resume_of(const struct inside *inside, uint64_t pc)
{
	const struct control_patch *p = inside->patch;
	uint64_t n = pc - inside->low;

	if (p->resume)
		return p->resume;
	return p->copy && n < sizeof(p->inside) / sizeof(*p->inside) && p->inside[n] ? p->copy + p->inside[n] : 0;
}

/*
 * May a word with that address mean that something goes on there? Of a probe's window it is known where instructions
 * begin. Others are left on stacks by trampolines: what unwinders find there is an address behind the first byte of
 * one.
 */
static bool may_go_on(const struct inside *inside, uint64_t pc)
{
	const struct control_patch *p = inside->patch;

	return !p->resume && (p->type != CONTROL_TYPE_PROBE || !p->copy || resume_of(inside, pc));
}

/* Something stands at pc, and can't leave. */
static void leave_out(struct search *s, const struct inside *inside, uint64_t pc)
{
	/* The stub of a former probe may guard several jumps. */
	for (; inside < s->inside + s->count && inside->low <= pc; inside++)
		if (pc < inside->high)
			s->left_out[inside->number] = true;
}

/*
 * As resume_of(), when all is written: what goes may give back a place that lies between instructions of what comes. If
 * it can't go on from there, that is left out, and the place is right.
 */
static uint64_t final_of(struct search *s, const struct inside *inside, uint64_t pc)
{
	const uint64_t resume = resume_of(inside, pc);
	const struct inside *next =
		resume && inside->patch->type == CONTROL_TYPE_PROBE ? find_inside(s, resume) : NULL;

	if (!next || next == inside)
		return resume;
	const uint64_t further = resume_of(next, resume);
	if (!further)
		leave_out(s, next, resume);
	return further ? further : resume;
}

/* ---- threads ---- */

static int move_threads(struct search *s)
{
	struct ctl_world *world = s->world;

	for (size_t i = 0; i < world->threads; i++) {
		struct ctl_thread *t = &world->thread[i];
		const uint64_t pc = remote_pc(&t->regs), again = pc - REMOTE_CALL_SIZE;
		const struct inside *inside = find_inside(s, pc);
		/* To make a system call again, the kernel goes back by the length of that instruction. */
		const bool waits = remote_call(&t->regs) >= 0;
		const struct inside *behind = waits ? find_inside(s, again) : NULL;
		if (behind && !behind->patch->resume)
			leave_out(s, behind, again);
		if (!inside)
			continue;
		uint64_t resume = final_of(s, inside, pc);
		if (!resume || (waits && !inside->patch->resume) || !remote_is_native(&t->regs)) {
			leave_out(s, inside, pc);
			continue;
		}
		remote_set_pc(&t->regs, resume);
		if (ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs)) {
			ctl_say_ended(world->process->pid);
			return -1;
		}
		s->moved++;
	}
	return 0;
}

/* ---- stacks ---- */

/* A stack is used from here on: notes what of it has not been looked at. */
static void add_stack(struct search *s, uint64_t sp)
{
	sp &= ~7ull;
	const struct ctl_mapping *m = ctl_mapping(s->world->process, sp - 8);

	if (!m || !m->readable)
		return;
	/*
	 * Below are the first word of a frame, which a thread on its way back from a handler has popped, and the red
	 * zone; but below that what we wrote there ourselves (struct control_frame), with the thread's own position.
	 */
	sp = sp - m->start > REMOTE_RED_ZONE ? sp - REMOTE_RED_ZONE : m->start;
	for (size_t i = 0; i < s->ranges; i++) {
		if (sp >= s->range[i].high || s->range[i].high > m->end || s->range[i].low < m->start)
			continue;
		if (sp >= s->range[i].low)
			return;
	}
	uint64_t high = m->end - sp > STACK_MAX ? sp + STACK_MAX : m->end;
	/* Of stacks that lie in one mapping: only up to the part that was looked at already. */
	for (size_t i = 0; i < s->ranges; i++)
		if (s->range[i].low > sp && s->range[i].low < high)
			high = s->range[i].low;
	if (s->ranges == MOST_RANGES) {
		s->endless = true;
		return;
	}
	if (s->ranges == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->range = memory_resize(s->range, s->room, sizeof(*s->range));
	}
	s->range[s->ranges++] = (struct range){ sp, high };
}

static bool is_restorer(struct search *s, uint64_t address)
{
	uint8_t code[FRAME_RESTORER_SIZE];

	if (address && address == s->known_restorer)
		return true;
	const struct ctl_mapping *m = ctl_mapping(s->world->process, address);
	if (!m || !m->executable || !ctl_read(s->world->process, address, code, sizeof(code)))
		return false;
	if (!frame_is_restorer(code))
		return false;
	s->known_restorer = address;
	return true;
}

/* What a handler interrupted goes on elsewhere, if it can. w: its frame, which lies at `at`. */
static void move_frame(struct search *s, uint64_t *w, uint64_t at)
{
	const struct inside *inside = find_inside(s, w[FRAME_PC]);
	uint64_t resume = inside ? final_of(s, inside, w[FRAME_PC]) : 0;

	if (!resume || !ctl_write(s->world->process, at + 8 * FRAME_PC, &resume, 8))
		return;
	w[FRAME_PC] = resume;
	s->moved++;
}

/*
 * Looks at the words from `at` on for signal frames, and at the first `plain` of them for what else may be the address
 * of an instruction.
 */
static void scan_words(struct search *s, uint64_t *word, size_t words, size_t plain, uint64_t at)
{
	const uint64_t low = s->strict_low, size = s->strict_high - s->strict_low;

	for (size_t i = 0; i + FRAME_WORDS <= words; i++) {
		uint64_t *w = word + i;
		if (!frame_may_be(w) || !is_restorer(s, w[FRAME_RETURN]))
			continue;
		move_frame(s, w, at + 8 * i);
		if (i + FRAME_FAULT < words)
			w[FRAME_FAULT] = 0;
		/* The handler ran on a stack of its own, perhaps. */
		add_stack(s, w[FRAME_SP]);
	}
	for (size_t i = 0; size && i < plain; i++) {
		const struct inside *inside = word[i] - low < size ? find_inside(s, word[i]) : NULL;
		if (inside && may_go_on(inside, word[i]))
			leave_out(s, inside, word[i]);
	}
}

static void scan_stack(struct search *s, struct range range)
{
	enum { WORDS = 8192 };
	static uint64_t word[WORDS];
	uint64_t at = range.low;

	for (;;) {
		size_t left = (range.high - at) / 8, words = left < WORDS ? left : WORDS;
		if (!words || !ctl_read(s->world->process, at, word, 8 * words))
			return;
		/* A frame may go beyond; its words are looked at when it was seen as one. */
		size_t step = words == left ? words : words - FRAME_WORDS + 1;
		scan_words(s, word, words, step, at);
		if (words == left)
			return;
		at += 8 * step;
	}
}

static int by_sp(const void *a, const void *b)
{
	uint64_t x = remote_sp(&((const struct ctl_thread *)a)->regs);
	uint64_t y = remote_sp(&((const struct ctl_thread *)b)->regs);

	return (x < y) - (x > y);
}

static int scan_stacks(struct search *s)
{
	struct ctl_world *world = s->world;

	/* Highest stack pointers first, so that stacks in one mapping are looked at once. */
	qsort(world->thread, world->threads, sizeof(*world->thread), by_sp);
	for (size_t i = 0; i < world->threads; i++)
		add_stack(s, remote_sp(&world->thread[i].regs));
	/* The list grows while frames on other stacks are found. */
	for (size_t i = 0; i < s->ranges; i++)
		scan_stack(s, s->range[i]);
	if (s->endless || ctl_limit_reached()) {
		tool_error("ctl", "process %d: its stacks have no end; nothing was changed", (int)world->process->pid);
		return -1;
	}
	return 0;
}

/* ---- all ---- */

int position_clear(struct ctl_world *world, const struct control_patch *patch, size_t count, bool *left_out,
	size_t *moved)
{
	struct search s = { .world = world, .left_out = left_out, .strict_low = ~0ull };
	int r = 0;

	s.inside = memory_zeroed(count ? count : 1, sizeof(*s.inside));
	for (size_t i = 0; i < count; i++) {
		const struct control_patch *p = &patch[i];
		if (p->inside_low >= p->inside_high)
			continue;
		s.inside[s.count++] = (struct inside){ p->inside_low, p->inside_high, p, i };
		if (p->resume)
			continue;
		s.strict_low = p->inside_low < s.strict_low ? p->inside_low : s.strict_low;
		s.strict_high = p->inside_high > s.strict_high ? p->inside_high : s.strict_high;
	}
	if (!s.strict_high)
		s.strict_low = 0;
	qsort(s.inside, s.count, sizeof(*s.inside), by_low);
	if (s.count)
		r = move_threads(&s);
	if (s.count && r == 0)
		r = scan_stacks(&s);
	*moved = s.moved;
	free(s.inside);
	free(s.range);
	return r;
}
