/* SPDX-License-Identifier: MIT */
/*
 * Windows of probes in real libraries, run: a piece of work is done step by step first, which counts how often each
 * instruction of the library runs; then with probes at the instructions of all functions that ran, in batches. The
 * result must be the same, and each probe must have as many events as its instruction ran before. Wherever a step went
 * to by a jump, something must be known to lead.
 *
 *	windows_run.u			each library that is there, with its work
 *	windows_run.u LIBRARY		that one, or with a `/` in its name what windows_odd.c is compiled to
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "t/index/windows_work.h"
#include "t/lib/tap.h"
#include "tool/base/memory.h"
#include "tool/index/decode.h"
#include "tool/index/facts.h"
#include "tool/probe/window_body.h"
#include "tool/probe/windows.h"
#include "x86_64/probe.h"

#define TRAP_FLAG 0x100
#define PAGE	  4096u
#define STUB_ROOM 1024 /* of one stub */
#define FAR	  (64u << 20) /* stubs lie so far below the library */
#define SPREAD	  5	/* batches of every fifth instruction */

void windows_gate(void);
uint64_t *windows_counts, *windows_resumes;

/* The library, and what its instructions did. */
static struct {
	uint64_t load, low, size;
	uint32_t *steps; /* of the byte at low + i: how often an instruction began there */
	bool *repeats;
	bool *arrived; /* somebody came there from elsewhere than the instruction before it */
	uint64_t last;
} run;

static struct image image;
static struct facts facts;

/* ---- step by step ---- */

static void step(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uint64_t at = (uint64_t)uc->uc_mcontext.gregs[REG_RIP] - run.load - run.low;

	(void)sig;
	(void)info;
	/* rep: a step is one round of it. */
	if (at < run.size && !(at == run.last && run.repeats[at])) {
		const uint8_t *last = (const uint8_t *)(uintptr_t)(run.load + run.low + run.last);
		struct insn insn;
		run.steps[at]++;
		if (run.last >= run.size || !insn_decode(last, 15, 0, &insn) || run.last + insn.length != at)
			run.arrived[at] = true;
	}
	run.last = at;
}

static void switch_steps(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)info;
	if (sig == SIGUSR1)
		uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	else
		uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/*
 * The work, each time on the same stack: libcrypto has AES go by another way where its stack and its tables lie in the
 * same lines of the cache.
 */
static struct {
	ucontext_t here, there;
	const struct work *work;
	void *handle;
	uint64_t result;
} worked;

static void on_stack(void)
{
	worked.result = worked.work->run(worked.handle);
}

static uint64_t do_work(const struct work *work, void *handle)
{
	static uint8_t stack[1 << 20] __attribute__((aligned(4096)));

	worked.work = work;
	worked.handle = handle;
	if (getcontext(&worked.there))
		abort();
	worked.there.uc_stack.ss_sp = stack;
	worked.there.uc_stack.ss_size = sizeof(stack);
	worked.there.uc_link = &worked.here;
	makecontext(&worked.there, on_stack, 0);
	if (swapcontext(&worked.here, &worked.there))
		abort();
	return worked.result;
}

static uint64_t stepped(const struct work *work, void *handle)
{
	raise(SIGUSR1);
	uint64_t result = do_work(work, handle);
	raise(SIGUSR2);
	return result;
}

/* ---- windows in memory ---- */

/* A window as it is placed. */
struct placed {
	const struct window *window;
	uint8_t *stub;
	void *own; /* a mapping of its own; NULL: none */
	size_t own_size;
};

/* The window in a plan of nothing else. */
static struct plan_window *plan_of(const struct window *window)
{
	static struct {
		uint8_t head[16];
		struct plan_window window;
		struct probe_fixup fixup[PROBE_FIXUPS_MAX];
		uint8_t code[PROBE_CODE_MAX];
	} plan;

	plan.window = window->plan;
	memcpy(plan.fixup, window->fixup, sizeof(plan.fixup));
	memcpy(plan.code, window->code, sizeof(plan.code));
	plan.window.code = (uint32_t)((uint8_t *)plan.code - (uint8_t *)&plan);
	plan.window.fixups = (uint32_t)((uint8_t *)plan.fixup - (uint8_t *)&plan);
	plan.window.first = 0;
	return probe_check(&plan.window, &plan, sizeof(plan)) ? &plan.window : NULL;
}

static const void *block_of(const struct plan_window *window)
{
	return (const uint8_t *)window - 16;
}

static uint8_t *in_text(uint64_t address)
{
	return (uint8_t *)(uintptr_t)(run.load + address);
}

/* Memory at this place, if it is free. */
static void *map(uintptr_t at, size_t size)
{
	return mmap((void *)at, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* Where the jump's distance allows it: a mapping of its own. */
static bool map_shared(struct placed *placed)
{
	const struct plan_window *plan = &placed->window->plan;
	int64_t low, high, end = (int64_t)(run.load + plan->address + plan->prefix + PROBE_JUMP_SIZE);

	probe_range(plan, &low, &high);
	for (unsigned n = 0; n < 64; n++) {
		int64_t at = end + low + (high - low) / 64 * n;
		uintptr_t page = (uintptr_t)at & ~(uintptr_t)(PAGE - 1);
		placed->own_size = 2 * PAGE;
		void *mapped = at < PAGE ? MAP_FAILED : map(page, 2 * PAGE);
		if (mapped == MAP_FAILED)
			continue;
		placed->own = mapped;
		placed->stub = (uint8_t *)(uintptr_t)at;
		return true;
	}
	return false;
}

/* Writes the window, its probes by these numbers. */
static bool place(struct placed *placed, const struct windows *windows, uint32_t number, uint8_t *stub)
{
	struct probe_event event[PROBE_IN_WINDOW];
	uint8_t jump[8], padding[8];
	size_t n, padded = 0;

	placed->window = &windows->window[number];
	placed->stub = stub;
	for (; placed->window->plan.way == PROBE_WAY_SHARED && !map_shared(placed);
		placed->window = &windows->window[placed->window->plan.other])
		if (placed->window->plan.other == PROBE_NONE)
			return false;
	const struct window *window = placed->window;
	for (unsigned i = 0; i < window->addresses; i++)
		event[i] = (struct probe_event){ window->address[i], (uintptr_t)windows_gate };
	const struct plan_window *plan = plan_of(window);
	uint8_t *at = in_text(window->plan.address);
	if (!plan || memcmp(at, plan->original, plan->originals) ||
		!probe_write(plan, block_of(plan), run.load, (uintptr_t)placed->stub, event, placed->stub,
			STUB_ROOM)) {
		ok(false, "a window at %" PRIx64 " can be made (way %u)", window->plan.address, window->plan.way);
		return false;
	}
	if (plan->way == PROBE_WAY_SHORT) {
		padded = probe_padding(plan, run.load, (uintptr_t)placed->stub, padding);
		memcpy(at + plan->padding, padding, padded);
	}
	n = probe_jump(plan, run.load, (uintptr_t)placed->stub, jump);
	if (!n || (plan->way == PROBE_WAY_SHORT && !padded)) {
		ok(false, "a window at %" PRIx64 " is reached", window->plan.address);
		return false;
	}
	memcpy(at, jump, n);
	return true;
}

static void take_away(const struct placed *placed)
{
	const struct plan_window *plan = &placed->window->plan;

	memcpy(in_text(plan->address), plan->original, probe_written(plan));
	if (plan->way == PROBE_WAY_SHORT)
		memcpy(in_text(plan->address) + plan->padding, plan->padding_original, PROBE_JUMP_SIZE);
}

/* ---- a batch ---- */

static struct {
	size_t probes, windows, events, ways[PROBE_WAYS], wrong_counts, wrong_resumes, wrong_results;
} sum;

static void show(const char *what, uint64_t address, uint64_t is, uint64_t expected)
{
	if (sum.wrong_counts + sum.wrong_resumes <= 20)
		printf("# %s at 0x%" PRIx64 ": %" PRIu64 ", not %" PRIu64 "\n", what, address, is, expected);
}

/* Probes at these addresses; of those that are had, done[address - low] is set. */
static void batch(const struct work *work, void *handle, uint64_t result, const uint64_t *address, size_t count,
	bool *done)
{
	struct windows windows;
	size_t own = 0;

	windows_make(&windows, &image, &facts, address, count);
	struct placed *placed = memory_zeroed(windows.count + 1, sizeof(*placed));
	bool *is = memory_zeroed(windows.count + 1, sizeof(*is));
	size_t room = (windows.count + 1) * STUB_ROOM;
	uint8_t *stubs = MAP_FAILED;
	for (uint64_t far = FAR; stubs == MAP_FAILED && far < 8 * FAR; far += FAR / 4)
		stubs = map((run.load - far - room) & ~(uint64_t)(PAGE - 1), room);
	if (stubs == MAP_FAILED) {
		ok(false, "there is memory for stubs: %s", strerror(errno));
		return;
	}
	windows_counts = memory_zeroed(count + 1, sizeof(*windows_counts));
	windows_resumes = memory_zeroed(count + 1, sizeof(*windows_resumes));
	for (size_t i = 0; i < count; i++) {
		uint32_t number = windows.place[i].window;
		if (number == PROBE_NONE || windows.window[number].address[0] != i)
			continue;
		is[number] = place(&placed[own], &windows, number, stubs + STUB_ROOM * (size_t)number);
		if (!is[number])
			continue;
		sum.windows++;
		sum.ways[placed[own++].window->plan.way]++;
	}
	sum.wrong_results += do_work(work, handle) != result;
	for (size_t n = 0; n < own; n++)
		take_away(&placed[n]);
	for (size_t n = 0; n < own; n++)
		if (placed[n].own)
			munmap(placed[n].own, placed[n].own_size);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = address[i] - run.low;
		if (windows.place[i].window == PROBE_NONE || !is[windows.place[i].window])
			continue;
		done[at] = true;
		sum.probes++;
		sum.events += windows_counts[i];
		if (windows_counts[i] != run.steps[at]) {
			sum.wrong_counts++;
			show("events", address[i], windows_counts[i], run.steps[at]);
		}
		if (windows_counts[i] && windows_resumes[i] != run.load + address[i] + 1) {
			sum.wrong_resumes++;
			show("resume", address[i], windows_resumes[i] - run.load, address[i] + 1);
		}
	}
	munmap(stubs, room);
	free(windows_counts);
	free(windows_resumes);
	free(placed);
	free(is);
	windows_free(&windows);
}

/* ---- a library ---- */

/* All instructions of functions that ran. */
struct places {
	uint64_t *address;
	uint8_t *way; /* of each, alone; 0: refused */
	size_t count;
};

static void take(void *context, uint64_t address, unsigned length, const struct window *window,
	const struct window_place *place)
{
	struct places *places = context;

	(void)length;
	(void)place;
	places->address = memory_grow(places->address, places->count, sizeof(*places->address));
	places->way = memory_grow(places->way, places->count, sizeof(*places->way));
	places->way[places->count] = window ? window->plan.way : 0;
	places->address[places->count++] = address;
}

static bool ran(const struct image_function *function)
{
	for (uint64_t at = function->address; at < function->end; at++)
		if (run.steps[at - run.low])
			return true;
	return false;
}

static void find_places(struct places *places)
{
	for (size_t i = 0; i < image.functions; i++)
		if (!image_section(&image, image.function[i].address)->plt && ran(&image.function[i]))
			windows_each(&image, &facts, i, take, places);
}

/*
 * Whoever came somewhere did so by what is known to lead there: else a window might have bytes of a jump there. What is
 * refused is in no window, and where jumps are computed, each instruction has one of its own.
 */
static size_t count_unknown(void)
{
	struct window_bodies bodies;
	size_t unknown = 0;

	window_bodies_begin(&bodies, &image, &facts);
	for (uint64_t at = 0; at < run.size; at++) {
		size_t function = run.arrived[at] ? image_before(&image, run.low + at) : image.functions;
		if (function >= image.functions || image_section(&image, run.low + at)->plt ||
			image.function[function].computed)
			continue;
		const struct window_body *body = window_body(&bodies, function);
		size_t insn = window_insn(body, run.low + at);
		if (insn && (insn >= body->insns || !(body->insn[insn].marks & (WINDOW_LED | WINDOW_RETURN) ||
							    body->insn[insn].refusal))) {
			printf("# nobody is known to lead to 0x%" PRIx64 "\n", run.low + at);
			unknown++;
		}
	}
	window_bodies_free(&bodies);
	return unknown;
}

static void find_repeats(void)
{
	for (size_t c = 0; c < image.codes; c++)
		for (uint64_t i = 0; i < image.code[c].size; i++) {
			const uint8_t *p = image.code[c].bytes + i;
			run.repeats[image.code[c].address + i - run.low] = *p == 0xf2 || *p == 0xf3;
		}
}

static void batches(const struct work *work, void *handle, uint64_t result, const struct places *places)
{
	uint64_t *address = memory_zeroed(places->count + 1, sizeof(*address));
	bool *done = memory_zeroed(run.size + 1, sizeof(*done));
	size_t left[PROBE_WAYS] = { 0 }, had = 0, count = 0;

	batch(work, handle, result, places->address, places->count, done);
	for (size_t n = 0; n < SPREAD; n++) {
		count = 0;
		for (size_t i = n; i < places->count; i += SPREAD)
			address[count++] = places->address[i];
		batch(work, handle, result, address, count, done);
	}
	/* What had a neighbour in its way each time. */
	for (size_t before = 0; count && count != before;) {
		before = count;
		count = 0;
		for (size_t i = 0; i < places->count; i++)
			if (places->way[i] && !done[places->address[i] - run.low])
				address[count++] = places->address[i];
		batch(work, handle, result, address, count, done);
	}
	for (size_t i = 0; i < places->count; i++) {
		had += run.steps[places->address[i] - run.low] != 0;
		left[places->way[i]] += !done[places->address[i] - run.low];
	}
	printf("# %s: %zu instructions in functions that ran, %zu of them ran, %zu are refused; %zu probes in %zu "
	       "windows (jump %zu, shared %zu, short %zu), %zu events\n",
		work->library, places->count, had, left[0], sum.probes, sum.windows, sum.ways[PROBE_WAY_JUMP],
		sum.ways[PROBE_WAY_SHARED], sum.ways[PROBE_WAY_SHORT], sum.events);
	ok(had > 200 && sum.events > 5 * had, "%s: probes have events", work->library);
	ok(left[0] * 50 <= places->count, "%s: 98 of 100 instructions can have a probe", work->library);
	is_int((long)left[PROBE_WAY_JUMP], 0, "%s: each that can have one by a jump had it", work->library);
	is_int((long)left[PROBE_WAY_SHORT], 0, "%s: each that can have one by a short jump had it", work->library);
	printf("# of those that can have one by a jump that shares bytes, memory was taken for %zu\n",
		left[PROBE_WAY_SHARED]);
	is_int((long)sum.wrong_results, 0, "%s: the work's result is the same", work->library);
	is_int((long)sum.wrong_counts, 0, "%s: each has as many events as its instruction ran", work->library);
	is_int((long)sum.wrong_resumes, 0, "%s: and its own address", work->library);
	free(address);
	free(done);
}

static void unprotect(void)
{
	for (size_t s = 0; s < image.file.segments; s++) {
		const ElfW(Phdr) *segment = &image.file.segment[s];
		uint64_t from = segment->p_vaddr & ~(uint64_t)(PAGE - 1);
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
			mprotect(in_text(from), segment->p_vaddr + segment->p_memsz - from,
				PROT_READ | PROT_WRITE | PROT_EXEC))
			ok(false, "code can be written: %s", strerror(errno));
	}
}

static void library(const struct work *work)
{
	void *handle = work->alone ? dlmopen(LM_ID_NEWLM, work->library, RTLD_NOW | RTLD_LOCAL)
				   : dlopen(work->library, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;
	struct places places = { 0 };

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map)) {
		printf("# %s: %s\n", work->library, dlerror());
		return;
	}
	int fd = open(map->l_name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || image_open(&image, fd, map->l_name, NULL)) {
		ok(false, "%s can be read", map->l_name);
		return;
	}
	facts_read(&facts, &image, 1);
	memset(&sum, 0, sizeof(sum));
	run.load = map->l_addr;
	run.low = facts.low;
	run.size = facts.size;
	run.steps = memory_zeroed(run.size + 1, sizeof(*run.steps));
	run.repeats = memory_zeroed(run.size + 1, sizeof(*run.repeats));
	run.arrived = memory_zeroed(run.size + 1, sizeof(*run.arrived));
	find_repeats();
	do_work(work, handle);
	uint64_t result = do_work(work, handle);
	ok(stepped(work, handle) == result, "%s: the work has the same result step by step", work->library);
	is_int((long)count_unknown(), 0, "%s: wherever somebody jumped or returned to is known", work->library);
	find_places(&places);
	unprotect();
	batches(work, handle, result, &places);
	free(places.address);
	free(places.way);
	free(run.steps);
	free(run.repeats);
	free(run.arrived);
	facts_free(&facts);
	image_close(&image);
	close(fd);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
	action.sa_sigaction = switch_steps;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	if (argc > 1 && strchr(argv[1], '/'))
		library(&(struct work){ argv[1], false, work_odd });
	for (const struct work *work = works; work->library; work++)
		if (argc < 2 || !strcmp(argv[1], work->library))
			library(work);
	return done_testing();
}
