/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/position.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "tool/memory.h"
#include "tool/tool.h"
#include "x86_64/frame.h"
#include "x86_64/remote.h"

#define MOST_RANGES (1u << 14)
#define STACK_MAX   (64ull << 20) /* a coroutine's stack may lie in a mapping of any size */
/* The few instructions of a function's beginning; a string instruction of many rounds takes more. */
#define MOST_STEPS 64
#define PATIENCE   200000000ull /* ns, for one thread to come out: it may have to read a page from a disk */

struct inside {
	uint64_t low, high, resume;
	size_t patch;
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
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->inside[middle].high <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->count && s->inside[low].low <= pc ? &s->inside[low] : NULL;
}

/* ---- threads ---- */

static int say_ended(const struct search *s)
{
	tool_error("ctl", "process %d ended meanwhile", (int)s->world->process->pid);
	return -1;
}

/* A step's end, in place of a signal; or the kernel has made the frame of a handler. */
static bool is_step(pid_t tid, int signal)
{
	siginfo_t info;

	return signal == SIGTRAP && ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 &&
	       (info.si_code == TRAP_TRACE || info.si_code == TRAP_HWBKPT || info.si_code == SIGTRAP);
}

/*
 * Lets a thread take one step, or deliver a signal: *signal, 0 for none; afterwards the signal that came instead of the
 * step. Returns 0, or -1 after saying why: the thread runs, or is gone.
 */
static int step(struct search *s, struct ctl_thread *t, int *signal, uint64_t until)
{
	int came = 0;

	if (ptrace(PTRACE_SINGLESTEP, t->tid, 0, (long)*signal))
		return say_ended(s);
	*signal = 0;
	switch (ctl_await(t->tid, &came, until)) {
	case CTL_SIGNAL:
		if (came == SIGSTOP)
			s->world->pending_stop = came;
		else if (!is_step(t->tid, came))
			*signal = came;
		break;
	case CTL_STOP:
		break;
	case CTL_NONE:
		t->stopped = false;
		tool_error("ctl", "process %d: thread %d does not come out of code that was to change; nothing was "
				  "changed, try again",
			(int)s->world->process->pid, (int)t->tid);
		return -1;
	default:
		t->stopped = false;
		return say_ended(s);
	}
	return ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs) ? say_ended(s) : 0;
}

/*
 * Does it stand at an instruction that can be stepped over? A system call waits; pushf would leave the flag of single
 * steps on the stack.
 */
static bool may_step(const struct search *s, const struct ctl_thread *t)
{
	uint8_t code[2];

	if (remote_call(&t->regs) >= 0 || !remote_is_native(&t->regs) ||
		!ctl_read(s->world->process, remote_pc(&t->regs), code, sizeof(code)))
		return false;
	return !remote_pushes_flags(code);
}

/* Brings a thread out that stands between instructions which will be displaced. Returns 0 or -1, as step(). */
static int step_out(struct search *s, struct ctl_thread *t)
{
	uint64_t until = ctl_now() + PATIENCE;
	int signal = 0;

	for (unsigned steps = 0;; steps++) {
		const struct inside *inside = find_inside(s, remote_pc(&t->regs));
		/* What was taken has to be delivered, in any case. */
		if (!signal && (!inside || inside->resume))
			return 0;
		if (!signal && (steps >= MOST_STEPS || !may_step(s, t))) {
			s->left_out[inside->patch] = true;
			return 0;
		}
		if (step(s, t, &signal, until))
			return -1;
	}
}

static int move_threads(struct search *s)
{
	struct ctl_world *world = s->world;

	/* Before anybody is moved: a signal that comes makes a frame, which has to be seen. */
	for (size_t i = 0; s->strict_low < s->strict_high && i < world->threads; i++)
		if (step_out(s, &world->thread[i]))
			return -1;
	for (size_t i = 0; i < world->threads; i++) {
		struct ctl_thread *t = &world->thread[i];
		const struct inside *inside = find_inside(s, remote_pc(&t->regs));
		if (!inside || !inside->resume)
			continue;
		remote_set_pc(&t->regs, inside->resume);
		if (ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs))
			return say_ended(s);
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

/* Looks at the words from `at` on for signal frames, and for what may be the address of an instruction. */
static void scan_words(struct search *s, const uint64_t *word, size_t words, uint64_t at)
{
	const uint64_t low = s->strict_low, size = s->strict_high - s->strict_low;

	for (size_t i = 0; size && i < words; i++) {
		const struct inside *inside = word[i] - low < size ? find_inside(s, word[i]) : NULL;
		if (inside && !inside->resume)
			s->left_out[inside->patch] = true;
	}
	for (size_t i = 0; i + FRAME_WORDS <= words; i++) {
		const uint64_t *w = word + i;
		if (!frame_may_be(w) || !is_restorer(s, w[FRAME_RETURN]))
			continue;
		const struct inside *inside = find_inside(s, w[FRAME_PC]);
		if (inside && inside->resume &&
			ctl_write(s->world->process, at + 8 * (i + FRAME_PC), &inside->resume, 8))
			s->moved++;
		/* The handler ran on a stack of its own, perhaps. */
		add_stack(s, w[FRAME_SP]);
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
		scan_words(s, word, words, at);
		if (words == left)
			return;
		/* A frame may go beyond. */
		at += 8 * (words - FRAME_WORDS + 1);
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
		s.inside[s.count++] = (struct inside){ p->inside_low, p->inside_high, p->resume, i };
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
