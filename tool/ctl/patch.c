/* SPDX-License-Identifier: MIT */
/*
 * Changes code of a stopped process. First everything that stands within bytes that change is moved out of them:
 * threads, and the places that signal handlers will return to. Such a move changes nothing for the program (the bytes
 * are NOPs, or do the same as those at the new place), so it does no harm if we are killed after it.
 *
 * Then one write per page: the kernel completes it even if we are killed. A site across two pages takes several, each
 * of which leaves a site that works.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "tool/ctl/ctl.h"
#include "tool/memory.h"
#include "tool/tool.h"
#include "x86_64/frame.h"
#include "x86_64/remote.h"
#include "x86_64/sled.h"

#define PAGE	  4096ull
#define MOST_RANGES (1u << 14)
#define STACK_MAX (64ull << 20) /* a coroutine's stack may lie in a mapping of any size */

/* ---- positions ---- */

struct inside {
	uint64_t low, high, resume;
};

/* What is looked for, and where. */
struct search {
	struct ctl_world *world;
	struct inside *inside;
	size_t count;
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

/* A stack is used from here on: notes what of it has not been looked at. */
static void add_stack(struct search *s, uint64_t sp)
{
	/* A thread on its way back from a handler has popped the first word of the frame. */
	sp = (sp - 8) & ~7ull;
	const struct ctl_mapping *m = ctl_mapping(s->world->process, sp);

	if (!m || !m->readable)
		return;
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

/* Looks at the words from at on for signal frames. */
static void scan_words(struct search *s, const uint64_t *word, size_t words, uint64_t at)
{
	for (size_t i = 0; i + FRAME_WORDS <= words; i++) {
		const uint64_t *w = word + i;
		if (!frame_may_be(w) || !is_restorer(s, w[FRAME_RETURN]))
			continue;
		const struct inside *inside = find_inside(s, w[FRAME_PC]);
		if (inside && ctl_write(s->world->process, at + 8 * (i + FRAME_PC), &inside->resume, 8))
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

	while (at + 8 * FRAME_WORDS <= range.high) {
		size_t words = (range.high - at) / 8 < WORDS ? (range.high - at) / 8 : WORDS;
		if (!ctl_read(s->world->process, at, word, 8 * words))
			return;
		scan_words(s, word, words, at);
		at += 8 * (words - FRAME_WORDS + 1);
	}
}

static int by_sp(const void *a, const void *b)
{
	uint64_t x = remote_sp(&((const struct ctl_thread *)a)->regs);
	uint64_t y = remote_sp(&((const struct ctl_thread *)b)->regs);

	return (x < y) - (x > y);
}

static int move_all(struct search *s)
{
	struct ctl_world *world = s->world;

	/* Highest stack pointers first, so that stacks in one mapping are looked at once. */
	qsort(world->thread, world->threads, sizeof(*world->thread), by_sp);
	for (size_t i = 0; i < world->threads; i++) {
		struct ctl_thread *t = &world->thread[i];
		const struct inside *inside = find_inside(s, remote_pc(&t->regs));
		if (inside) {
			remote_set_pc(&t->regs, inside->resume);
			if (ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs)) {
				tool_error("ctl", "process %d ended meanwhile", (int)world->process->pid);
				return -1;
			}
			s->moved++;
		}
		add_stack(s, remote_sp(&t->regs));
	}
	/* The list grows while frames on other stacks are found. */
	for (size_t i = 0; i < s->ranges; i++)
		scan_stack(s, s->range[i]);
	if (s->endless || ctl_limit_reached()) {
		tool_error("ctl", "process %d: its stacks have no end; nothing was changed", (int)world->process->pid);
		return -1;
	}
	return 0;
}

static int move_out(
	struct ctl_world *world, const struct control_patch *patch, size_t count, struct ctl_written *written)
{
	struct search s = { .world = world };
	int r = 0;

	s.inside = memory_zeroed(count ? count : 1, sizeof(*s.inside));
	for (size_t i = 0; i < count; i++)
		if (patch[i].inside_low < patch[i].inside_high)
			s.inside[s.count++] =
				(struct inside){ patch[i].inside_low, patch[i].inside_high, patch[i].resume };
	qsort(s.inside, s.count, sizeof(*s.inside), by_low);
	if (s.count)
		r = move_all(&s);
	written->moved = s.moved;
	free(s.inside);
	free(s.range);
	return r;
}

/* ---- writing ---- */

#define WORD sizeof(long)

/* One page, as it is and as it shall be. */
struct page {
	uint64_t at; /* ~0: none */
	uint8_t bytes[PAGE];
	size_t low, high; /* what has changed */
	bool readable;
};

/*
 * Writes code within one page. If it takes several steps (by ptrace), the bytes are written from the low end on, or
 * from the high one; up to a word is one step.
 */
static bool write_code(struct ctl_world *world, uint64_t address, const uint8_t *bytes, size_t size, bool low_first,
	struct ctl_written *written)
{
	if (world->process->writable) {
		written->writes++;
		return ctl_write(world->process, address, bytes, size);
	}
	for (size_t done = 0; done < size;) {
		size_t step = size - done < WORD ? size - done : WORD, from = low_first ? done : size - done - step;
		uint64_t at = address + from;
		size_t shift = (at & (PAGE - 1)) > PAGE - WORD ? (at & (PAGE - 1)) - (PAGE - WORD) : 0;
		uint8_t word[WORD];
		long value;
		if (!ctl_read(world->process, at - shift, word, WORD))
			return false;
		memcpy(word + shift, bytes + from, step);
		memcpy(&value, word, WORD);
		written->writes++;
		if (ptrace(PTRACE_POKETEXT, world->thread[0].tid, at - shift, value))
			return false;
		done += step;
	}
	return true;
}

static bool flush(struct ctl_world *world, struct page *page, struct ctl_written *written)
{
	if (page->at == ~0ull || page->low >= page->high)
		return true;
	return write_code(world, page->at + page->low, page->bytes + page->low, page->high - page->low, true, written);
}

/* By ptrace, a word is all that can be written at once: that of the page at offset. */
static bool poke(struct ctl_world *world, struct page *page, size_t offset, struct ctl_written *written)
{
	long value;

	if (offset > PAGE - WORD)
		offset = PAGE - WORD;
	memcpy(&value, page->bytes + offset, WORD);
	page->low = PAGE;
	page->high = 0;
	written->writes++;
	return ptrace(PTRACE_POKETEXT, world->thread[0].tid, page->at + offset, value) == 0;
}

static void turn_to(struct ctl_world *world, struct page *page, uint64_t at)
{
	page->at = at;
	page->low = PAGE;
	page->high = 0;
	page->readable = ctl_read(world->process, at, page->bytes, PAGE);
}

/* Where in the bytes of a patch the two are that decide: while a site is off, no thread comes beyond them. */
static size_t head_of(const struct control_patch *p)
{
	size_t head = sled_head((enum sled_type)p->type);

	return head < p->size ? head : 0;
}

/* Five bytes of NOPs and their jump, of which `first` can be written at once. */
static int write_guarded(struct ctl_world *world, const struct control_patch *p, size_t first, const uint8_t now[32],
	struct ctl_written *written)
{
	/* Off, it is NOPs: a jump over all of them first. How long they are tell the bytes when it is off. */
	uint8_t off[32], guard[SLED_HOT_JUMP_SIZE];

	memcpy(off, now, sizeof(off));
	if (!p->on)
		memcpy(off, p->bytes, p->size);
	size_t length = sled_room(off, 16, SLED_JUMP_SIZE);
	if (first < sizeof(guard) || !length) {
		written->refused_straddle++;
		return 0;
	}
	sled_skip(length, guard);
	return write_code(world, p->address, guard, sizeof(guard), true, written) &&
			       write_code(
				       world, p->address + first, p->bytes + first, p->size - first, true, written) &&
			       write_code(world, p->address, p->bytes, first, true, written)
		       ? 1
		       : -1;
}

/*
 * A site that can't be written at once: across two pages (`first` bytes of it on the first one), or longer than a word.
 * Returns 1 when it was written, 0 when it is refused, -1 when it failed.
 */
static int write_in_parts(
	struct ctl_world *world, const struct control_patch *p, size_t first, struct ctl_written *written)
{
	size_t head = head_of(p);
	uint8_t now[32];
	bool part[2] = { memcmp(p->expected, p->bytes, first) != 0,
		memcmp(p->expected + first, p->bytes + first, p->size - first) != 0 };

	if (!ctl_read(world->process, p->address, now, sizeof(now)) || memcmp(now, p->expected, p->size)) {
		written->refused_bytes++;
		return 0;
	}
	if (sled_is_jump(p->type) && part[0] && part[1])
		return write_guarded(world, p, first, now, written);
	if (!sled_is_jump(p->type) && head < first && head + SLED_HEAD_SIZE > first) {
		written->refused_straddle++;
		return 0;
	}
	/* What switches it on comes last, what switches it off first. */
	bool low_first = (head < first) != (p->on != 0);
	for (int i = 0; i < 2; i++) {
		int n = (i == 0) == low_first ? 0 : 1;
		size_t from = n ? first : 0, size = n ? p->size - first : first;
		if (part[n] && !write_code(world, p->address + from, p->bytes + from, size, low_first, written))
			return -1;
	}
	return 1;
}

static int write_all(
	struct ctl_world *world, const struct control_patch *patch, size_t count, struct ctl_written *written)
{
	static struct page page;

	page = (struct page){ .at = ~0ull };
	for (size_t i = 0; i < count; i++) {
		const struct control_patch *p = &patch[i];
		uint64_t at = p->address & ~(PAGE - 1);
		size_t offset = p->address - at;
		if (!p->size || p->size > sizeof(p->bytes)) {
			written->refused_bytes++;
			continue;
		}
		if (at != page.at) {
			if (!flush(world, &page, written))
				return -1;
			turn_to(world, &page, at);
		}
		bool straddles = offset + p->size > PAGE;
		if (straddles || (!world->process->writable && p->size > WORD)) {
			if (!flush(world, &page, written))
				return -1;
			int r = write_in_parts(world, p, straddles ? PAGE - offset : WORD, written);
			if (r < 0)
				return -1;
			written->sites += (size_t)r;
			page.at = ~0ull;
			continue;
		}
		if (!page.readable || memcmp(page.bytes + offset, p->expected, p->size)) {
			written->refused_bytes++;
			continue;
		}
		memcpy(page.bytes + offset, p->bytes, p->size);
		page.low = offset < page.low ? offset : page.low;
		page.high = offset + p->size > page.high ? offset + p->size : page.high;
		written->sites++;
		if (!world->process->writable && !poke(world, &page, offset, written))
			return -1;
	}
	return flush(world, &page, written) ? 0 : -1;
}

int ctl_patch(struct ctl_world *world, const struct control_patch *patch, size_t count, struct ctl_written *written)
{
	if (move_out(world, patch, count, written))
		return -1;
	if (write_all(world, patch, count, written) == 0)
		return 0;
	tool_error("ctl", "process %d: its code can't be written: some sites may have changed, others not",
		(int)world->process->pid);
	return -1;
}
