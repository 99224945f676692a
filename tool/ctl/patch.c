/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/patch.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/ctl/position.h"
#include "tool/ctl/process.h"
#include "tool/ctl/world.h"
#include "x86_64/sled.h"

#define PAGE 4096ull
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
 * A jump of a probe over instructions of the file, or these again: written in parts, neither would be whole in between.
 * Returns whether one of the two parts stays as it is, so that the other one is written at once.
 */
static bool is_in_one_part(const struct control_patch *p, const bool part[2])
{
	return p->type != CONTROL_TYPE_PROBE || !part[0] || !part[1];
}

/* Is there a call behind the jump of a displaced entry? */
static bool calls(const struct control_patch *p)
{
	return sled_row(p->type)->displaces && p->size > sled_row(p->type)->size;
}

/* Where a site that is longer than a word is divided: that call is written together with the head. */
static size_t division(const struct control_patch *p)
{
	return calls(p) && head_of(p) ? head_of(p) : WORD;
}

/*
 * Written in two parts, the second one by several steps if it is longer than a word: are there instructions of a
 * displaced entry in between that are neither those of before nor the jump with the call behind it?
 */
static bool is_torn(const struct ctl_world *world, const struct control_patch *p, size_t first, const bool part[2])
{
	size_t head = head_of(p);

	if (!sled_row(p->type)->displaces)
		return false;
	if (part[0] && part[1] && (!head || (calls(p) && first > head)))
		return true;
	return calls(p) && !world->process->writable && p->size - first > WORD;
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
	if (!is_in_one_part(p, part) || is_torn(world, p, first, part)) {
		written->refused_straddle++;
		return 0;
	}
	if (sled_is_jump(p->type) && part[0] && part[1])
		return write_guarded(world, p, first, now, written);
	if (p->type != CONTROL_TYPE_PROBE && !sled_is_jump(p->type) && head < first && head + SLED_HEAD_SIZE > first) {
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

/* Writes one patch, into the page if it lies in one. Returns as write_in_parts(). */
static int write_patch(
	struct ctl_world *world, struct page *page, const struct control_patch *p, struct ctl_written *written)
{
	uint64_t at = p->address & ~(PAGE - 1);
	size_t offset = p->address - at;
	bool straddles = offset + p->size > PAGE;

	if (!p->size || p->size > sizeof(p->bytes)) {
		written->refused_bytes++;
		return 0;
	}
	if (at != page->at) {
		if (!flush(world, page, written))
			return -1;
		turn_to(world, page, at);
	}
	if (straddles || (!world->process->writable && p->size > WORD)) {
		if (!flush(world, page, written))
			return -1;
		page->at = ~0ull;
		return write_in_parts(world, p, straddles ? PAGE - offset : division(p), written);
	}
	if (!page->readable || memcmp(page->bytes + offset, p->expected, p->size)) {
		written->refused_bytes++;
		return 0;
	}
	memcpy(page->bytes + offset, p->bytes, p->size);
	page->low = offset < page->low ? offset : page->low;
	page->high = offset + p->size > page->high ? offset + p->size : page->high;
	return !world->process->writable && !poke(world, page, offset, written) ? -1 : 1;
}

static bool is_guard(const struct control_patch *p)
{
	return p->type == CONTROL_TYPE_PROBE && !p->size;
}

/* left_out: of each patch. */
static int write_all(struct ctl_world *world, const struct control_patch *patch, size_t count, const bool *left_out,
	struct ctl_written *written)
{
	static struct page page;
	bool broken = false; /* of those that are chained, one before was not written */

	page = (struct page){ .at = ~0ull };
	for (size_t i = 0; i < count; i++) {
		broken = broken && patch[i].chained;
		if (is_guard(&patch[i])) {
			written->guarded += left_out[i];
			continue;
		}
		written->refused_position += left_out[i];
		if (left_out[i] || broken)
			continue;
		int r = write_patch(world, &page, &patch[i], written);
		if (r < 0)
			return -1;
		broken = !r;
		written->sites += (size_t)r;
	}
	return flush(world, &page, written) ? 0 : -1;
}

/* Of those that are chained all are left out, or none. */
static void join_chains(const struct control_patch *patch, size_t count, bool *left_out)
{
	for (size_t i = 1; i < count; i++)
		left_out[i] |= patch[i].chained && left_out[i - 1];
	for (size_t i = count; i > 1; i--)
		left_out[i - 2] |= patch[i - 1].chained && left_out[i - 1];
}

int ctl_patch(struct ctl_world *world, const struct control_patch *patch, size_t count, struct ctl_written *written)
{
	bool *left_out = memory_zeroed(count ? count : 1, sizeof(*left_out));
	int r = position_clear(world, patch, count, left_out, &written->moved);

	join_chains(patch, count, left_out);
	if (r == 0 && (r = write_all(world, patch, count, left_out, written)))
		tool_error("ctl", "process %d: its code can't be written: some sites may have changed, others not",
			(int)world->process->pid);
	free(left_out);
	return r ? -1 : 0;
}
