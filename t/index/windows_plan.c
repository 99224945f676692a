/* SPDX-License-Identifier: MIT */
/* Windows of several addresses (tool/probe/windows.h), of functions in this program (windows_forms.S). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "t/lib/tap.h"
#include "tool/index/facts.h"
#include "tool/probe/windows.h"
#include "x86_64/probe.h"

#define MOST 8

static struct image image;
static struct facts facts;

static uint64_t address_of(const char *name)
{
	for (size_t i = 0; i < image.functions; i++)
		if (image.function[i].name && !strcmp(image.function[i].name, name))
			return image.function[i].address;
	ok(0, "there is a function %s", name);
	return 0;
}

/* The addresses `from` + offset[0], ... up to the first 0 behind the first one. */
static void make(struct windows *windows, uint64_t from, const unsigned *offset)
{
	uint64_t address[MOST];
	size_t count = 0;

	do
		address[count] = from + offset[count];
	while (++count < MOST && offset[count]);
	windows_make(windows, &image, &facts, address, count);
}

static void together(void)
{
	uint64_t plain = address_of("plain");
	static const uint8_t call[PROBE_CALL_SIZE] = PROBE_CALL;
	struct windows windows;

	make(&windows, plain, (unsigned[MOST]){ 0, 5, 6, 7, 9, 11 });
	ok(windows.count == 2 && windows.window[0].plan.address == plain && windows.window[1].plan.address == plain + 7,
		"six addresses of twelve bytes lie in two windows (%zu)", windows.count);
	ok(!windows.place[0].window && !windows.place[1].window && !windows.place[2].window &&
			windows.place[3].window == 1 && windows.place[4].window == 1 && windows.place[5].window == 1,
		"each address has its window");
	const struct window *last = &windows.window[1];
	ok(last->addresses == 3 && last->address[0] == 3 && last->address[2] == 5 && last->plan.probes == 3,
		"which knows its addresses");
	ok(last->plan.way == PROBE_WAY_JUMP && last->plan.length == 5 && last->plan.originals == 5 && !last->plan.calls,
		"and what it displaces");
	ok(!memcmp(last->code, call, PROBE_CALL_LOW) && !memcmp(last->code + PROBE_CALL_SIZE, "\x31\xc9", 2) &&
			!memcmp(last->code + PROBE_CALL_SIZE + 2, call, PROBE_CALL_LOW) &&
			last->code[3 * PROBE_CALL_SIZE + 4] == 0xc3,
		"each instruction stands behind a call of the gate");
	ok(!last->plan.inside[0] && last->plan.inside[1] == PROBE_CALL_SIZE + 2 && !last->plan.inside[2] &&
			last->plan.inside[3] == 2 * (PROBE_CALL_SIZE + 2),
		"a thread between them goes on before the next one's");
	unsigned kinds[PROBE_FIX_GATE + 1] = { 0 };
	for (unsigned i = 0; i < last->plan.fixup_count; i++) {
		const struct probe_fixup *fixup = &last->fixup[i];
		kinds[fixup->fix]++;
		if (fixup->fix == PROBE_FIX_WORD && fixup->target == 2)
			ok(fixup->at == 2 * (PROBE_CALL_SIZE + 2) + PROBE_CALL_WORD, "the third word's place");
		if (fixup->fix == PROBE_FIX_GATE)
			ok(fixup->at % 8 == 0 && fixup->at + 8u <= last->plan.code_size, "gate %d is aligned",
				fixup->target);
	}
	ok(kinds[PROBE_FIX_LOW] == 3 && kinds[PROBE_FIX_HIGH] == 3 && kinds[PROBE_FIX_WORD] == 3 &&
			kinds[PROBE_FIX_GATE] == 3 && !kinds[PROBE_FIX_NEAR],
		"four fixups for each, and none where a return ends it");
	windows_free(&windows);
}

/* Several at one address, as they were asked for; one window has so many, and no more. */
static void at_once(void)
{
	static const uint8_t call[PROBE_CALL_SIZE] = PROBE_CALL;
	const uint64_t plain = address_of("plain");
	const uint64_t five[] = { plain, plain, plain, plain + 5, plain + 5, plain + 6 };
	const uint64_t pairs[] = { plain + 6, plain + 6, plain + 7, plain + 7, plain + 9 };
	uint64_t many[PROBE_IN_WINDOW + 2];
	struct windows windows;
	size_t good = 0;

	windows_make(&windows, &image, &facts, five, 6);
	const struct window *w = &windows.window[0];
	for (uint32_t i = 0; i < 5; i++)
		good += w->address[i] == i && !windows.place[i].window;
	ok(w->plan.address == plain && w->addresses == 5 && w->plan.probes == 5 && good == 5,
		"three probes at one address, and two at the next, are five of one window, in their order");
	const uint8_t *second = w->code + 3 * PROBE_CALL_SIZE + 5;
	ok(!memcmp(w->code, call, PROBE_CALL_LOW) && !memcmp(w->code + PROBE_CALL_SIZE, call, PROBE_CALL_LOW) &&
			!memcmp(w->code + 2 * PROBE_CALL_SIZE, call, PROBE_CALL_LOW) && second[-5] == 0xb8 &&
			!memcmp(second, call, PROBE_CALL_LOW) &&
			!memcmp(second + PROBE_CALL_SIZE, call, PROBE_CALL_LOW) &&
			second[2 * PROBE_CALL_SIZE] == 0x53,
		"it calls the gate as often before each instruction");
	size_t first = 0, next = 0;
	for (unsigned i = 0; i < w->plan.fixup_count; i++) {
		first += w->fixup[i].fix == PROBE_FIX_LOW && w->fixup[i].target == 1;
		next += w->fixup[i].fix == PROBE_FIX_LOW && w->fixup[i].target == 6;
	}
	ok(first == 3 && next == 2, "and they are at that instruction");
	windows_free(&windows);

	windows_make(&windows, &image, &facts, pairs, 5);
	w = &windows.window[1];
	ok(w->plan.address == plain + 7 && w->addresses == 3 && !w->plan.inside[0] &&
			w->plan.inside[1] == 2 * PROBE_CALL_SIZE + 2 && !w->plan.inside[2] &&
			w->plan.inside[3] == 3 * PROBE_CALL_SIZE + 4,
		"a thread behind an instruction goes on behind all of its events, before the next one's");
	windows_free(&windows);

	for (size_t i = 0; i < PROBE_IN_WINDOW + 2; i++)
		many[i] = plain;
	windows_make(&windows, &image, &facts, many, PROBE_IN_WINDOW + 2);
	good = 0;
	for (size_t i = 0; i < PROBE_IN_WINDOW; i++)
		good += windows.place[i].window == 0;
	ok(good == PROBE_IN_WINDOW && windows.place[PROBE_IN_WINDOW].refusal == PROBE_MANY &&
			windows.place[PROBE_IN_WINDOW + 1].refusal == PROBE_MANY,
		"so many have room, and those that were asked for last are refused");
	is_int((long long)(windows.place[PROBE_IN_WINDOW].nearest - plain), 5, "with the next place");
	windows_free(&windows);
}

/* What is refused, and what is near. */
static void refused(const char *name, unsigned at, unsigned why, unsigned nearest)
{
	uint64_t from = address_of(name);
	struct windows windows;

	make(&windows, from, (unsigned[MOST]){ at });
	ok(!windows.count && windows.place[0].window == PROBE_NONE && windows.place[0].refusal == why,
		"%s+%u is refused (%u)", name, at, windows.place[0].refusal);
	ok(windows.place[0].nearest == from + nearest, "the nearest to %s+%u is told", name, at);
	windows_free(&windows);
}

static void shared(void)
{
	uint64_t branches = address_of("branches");
	struct windows windows;

	make(&windows, branches, (unsigned[MOST]){ 0 });
	ok(windows.count == 2 && windows.window[0].plan.way == PROBE_WAY_SHARED && windows.window[0].plan.fixed == 3 &&
			windows.window[0].plan.other == 1,
		"two bytes share three with what follows");
	ok(windows.window[1].plan.prefix == 1 && windows.window[1].plan.fixed == 4 &&
			windows.window[1].plan.other == PROBE_NONE,
		"or four, with a prefix");
	ok(probe_written(&windows.window[0].plan) == 2 && probe_written(&windows.window[1].plan) == 2,
		"and never write more");
	windows_free(&windows);
	make(&windows, branches, (unsigned[MOST]){ 0, 2 });
	ok(windows.place[0].refusal == PROBE_NEIGHBOUR && windows.place[1].window == 0,
		"what the next one writes can't be shared");
	windows_free(&windows);
}

static void padding(void)
{
	uint64_t near = address_of("near");
	struct windows windows;

	make(&windows, near, (unsigned[MOST]){ 0 });
	const struct plan_window *plan = &windows.window[0].plan;
	ok(windows.count == 1 && plan->way == PROBE_WAY_SHORT && plan->padding == 10, "padding is found (%d)",
		plan->padding);
	ok(!memcmp(plan->padding_original, "\x66\x0f\x1f\x04\x00", PROBE_JUMP_SIZE), "and compared");
	windows_free(&windows);
	/* The last one's jump needs some of it, and the rest has no room for another. */
	make(&windows, near, (unsigned[MOST]){ 0, 2, 4, 6, 8 });
	ok(windows.place[4].window != PROBE_NONE && windows.window[windows.place[4].window].plan.length == 2 &&
			windows.window[windows.place[4].window].plan.originals == 5,
		"a jump at the end has padding behind it in its window");
	ok(windows.place[1].window == windows.place[3].window && windows.place[1].window != windows.place[4].window,
		"what is before it has another one");
	ok(windows.place[0].refusal == PROBE_NEIGHBOUR, "and the first has nothing left");
	windows_free(&windows);
}

/* Of all instructions of this program no two windows have a byte in common. */
static void apart(void)
{
	uint8_t *owner = calloc(facts.size + 64, 1);
	uint64_t *address = calloc(facts.size, sizeof(*address));
	struct windows windows;
	size_t count = 0, placed = 0, twice = 0;

	for (size_t i = 0; i < image.functions; i++)
		for (uint64_t at = image.function[i].address; at < image.function[i].end && count < facts.size; at++)
			if (!count || at > address[count - 1])
				address[count++] = at;
	windows_make(&windows, &image, &facts, address, count);
	for (size_t i = 0; i < count; i++)
		placed += windows.place[i].window != PROBE_NONE;
	for (size_t w = 0; w < windows.count; w++) {
		const struct plan_window *plan = &windows.window[w].plan;
		/* What a displaced entry takes is not the window's. */
		bool other = plan->way == PROBE_WAY_ENTRY;
		other |= plan->way == PROBE_WAY_SHARED && plan->prefix && w && windows.window[w].addresses &&
			 windows.place[windows.window[w].address[0]].window != w;
		for (unsigned i = 0; !other && i < plan->originals; i++)
			twice += owner[plan->address - facts.low + i]++ != 0;
		for (unsigned i = 0; plan->way == PROBE_WAY_SHORT && i < PROBE_JUMP_SIZE; i++)
			twice += owner[plan->address - facts.low + (uint64_t)(int64_t)plan->padding + i]++ != 0;
	}
	ok(placed > 10000, "places of this program (%zu of %zu bytes)", placed, count);
	ok(!twice, "no byte is in two windows (%zu)", twice);
	windows_free(&windows);
	free(owner);
	free(address);
}

int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || image_open(&image, fd, "/proc/self/exe", NULL))
		return !ok(0, "this program can be read");
	facts_read(&facts, &image, 1);
	together();
	at_once();
	refused("plain", 1, PROBE_NO_INSTRUCTION, 0);
	refused("waits", 5, PROBE_SYSTEM_CALL, 0);
	refused("locks", 11, PROBE_BRANCH, 9);
	refused("restarts", 10, PROBE_RSEQ, 15);
	refused("restarts", 23, PROBE_UNDECODABLE, 25);
	shared();
	padding();
	apart();
	facts_free(&facts);
	image_close(&image);
	close(fd);
	return done_testing();
}
