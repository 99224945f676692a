/* SPDX-License-Identifier: MIT */
/*
 * Plans that are damaged in ways that follow from numbers (format/plan.h): what the module gets from a helper, or from
 * a file of the cache, and copies before it checks it. One that it refuses is as good as none; of one that it takes all
 * functions are bound, and their code runs on registers that lead anywhere; stubs of its windows are made, and jumps to
 * them. It must touch no memory but the plan's, what the registers lead to and may be read, and the bytes that it was
 * told there would be: each of these ends where memory does, to the byte in a build with sanitizers.
 *
 *	plan_fuzz.u			some rounds, as a test
 *	plan_fuzz.u SECONDS SEED	as many as fit in this time
 *	plan_fuzz.u ROUND		one again, in this process
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <err.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/identity.h"
#include "runtime/process/process.h"
#include "runtime/values/plans.h"
#include "t/fuzz/rounds.h"
#include "t/lib/core.h"
#include "t/lib/sanitizers.h"
#include "x86_64/contract.h"
#include "x86_64/probe.h"

#define ROUNDS	    20000
#define MORE_ROUNDS 400000 /* with XAUDIT_ALL */
#define BATCH	    1000
#define PAGE	    4096u
#define MOST	    16384u /* bytes of a plan */
#define FUNCTIONS   7u
#define IDS	    64u
#define WINDOWS	    3u
#define PROBES	    4u /* two in the first window, none that is refused but the last one */

/* Plans stay for as long as the process lives, in memory that the sanitizer does not look through. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:abort_on_error=1";
}

/* ---- a plan ---- */

static struct {
	_Alignas(8) uint8_t bytes[MOST];
	uint32_t size;
} made;

#define WORDS(...) { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* Ends of calls, with all operations among them. */
static const struct {
	uint8_t code[48];
	uint32_t size, values;
} parts[] = {
	{ WORDS(VALUES_END), 0 },
	{ WORDS(VALUES_PUT_NONE, VALUES_END), 1 },
	{ WORDS(VALUES_REGISTER, VALUES_RDI, VALUES_PUT, 8, VALUES_END), 1 },
	{ WORDS(VALUES_REGISTER, VALUES_RSI, VALUES_PUT_TEXT, 64, 0, VALUES_END), 1 },
	{ WORDS(VALUES_REGISTER, VALUES_RAX, VALUES_PUT, 4, VALUES_PUT_NONE, VALUES_PUT_NAME, VALUES_END), 3 },
	{ WORDS(VALUES_REGISTER, VALUES_RDI, VALUES_READ, 8, VALUES_READ, 4, VALUES_KEEP, 7, VALUES_BYTE, 3,
		  VALUES_HALF, 1, 2, 3, 4, VALUES_ADD, VALUES_WORD, 1, 2, 3, 4, 5, 6, 7, 8, VALUES_SUBTRACT,
		  VALUES_SHIFT_LEFT, 63, VALUES_SIGNED, 2, VALUES_UNSIGNED, 4, VALUES_NOT, VALUES_PUT, 1,
		  VALUES_END), 1 },
	{ WORDS(VALUES_KEPT_WORD, 7, VALUES_STACK, 3, VALUES_LESS, VALUES_UNLESS, VALUES_REGISTER, VALUES_RDX,
		  VALUES_REGISTER, VALUES_RCX, VALUES_PUT_BYTES, 0, 2, VALUES_FLOAT, 7, VALUES_WIDEN, VALUES_PUT, 8,
		  VALUES_END), 2 },
	{ WORDS(VALUES_BASE, VALUES_TASK, VALUES_TASK_CALLS, VALUES_MULTIPLY, VALUES_PUT, 2, VALUES_REGISTER, VALUES_R8,
		  VALUES_VARIABLE, VALUES_READ, 1, VALUES_PUT, 1, VALUES_TASK, VALUES_TASK_CPU, VALUES_PUT, 4,
		  VALUES_END), 3 },
};

#define PARTS (sizeof(parts) / sizeof(*parts))

static void *take(uint32_t size, uint32_t align)
{
	made.size = (made.size + align - 1) & -align;
	void *at = made.bytes + made.size;
	made.size += size;
	return at;
}

static uint32_t position(const void *at)
{
	return (uint32_t)((const uint8_t *)at - made.bytes);
}

static void add_part(struct plan_part *part, size_t which)
{
	static const char names[] = "\0value\0" "1=one,2/3=two";
	uint32_t values = parts[which].values, size = parts[which].size;
	uint32_t bytes = (uint32_t)(sizeof(struct trace_layout) + values * sizeof(struct trace_value) + sizeof(names));

	if (values) {
		struct trace_layout *layout = take(bytes, 8);
		layout->head = (struct trace_record){ TRACE_REC_LAYOUT, bytes };
		layout->count = values;
		layout->names_size = sizeof(names);
		for (uint32_t i = 0; i < values; i++)
			layout->value[i] = (struct trace_value){
				.name = 1, .words = i % 2 ? 7 : 0, .type = VALUES_TYPE_HEX, .size = 8
			};
		memcpy(&layout->value[values], names, sizeof(names));
		part->layout = position(layout);
		part->bytes = bytes;
	}
	/* Code comes last: where the last function's ends, the plan does. */
	memcpy(made.bytes + (part->code = position(take(size, 1))), parts[which].code, size);
	part->size = size;
}

static uint32_t add_text(const char *text)
{
	return position(strcpy(take((uint32_t)strlen(text) + 1, 1), text));
}

/* Of each way one, and the `other` one of the first; two probes in the first, one in the second. */
static void add_windows(struct plan_head *head)
{
	struct plan_window *window = take(WINDOWS * sizeof(*window), 8);
	struct plan_probe *probe = take(PROBES * sizeof(*probe), 8);
	struct plan_action *action = take(sizeof(*action), 8);

	head->windows = WINDOWS;
	head->window = position(window);
	head->probes = PROBES;
	head->probe = position(probe);
	head->actions = 1;
	head->action = position(action);
	*action = (struct plan_action){ .what = PLAN_ACTION_MARK, .text = add_text("mark"), .next = PROBE_NONE };
	for (uint32_t i = 0; i < PROBES; i++)
		probe[i] = (struct plan_probe){
			.address = 0x1000 + (i < 2 ? 3 * i : 32 * (i - 1)),
			.name = add_text("p"),
			.at = add_text("f+3"),
			.nearest_at = i % 2 ? add_text("f") : 0,
			.window = i < 2 ? 0 : 1,
			.function = fuzz_number(2) ? PROBE_NONE : FUNCTIONS - 1,
			.action = i ? PROBE_NONE : 0,
		};
	probe[PROBES - 1].window = PROBE_NONE;
	probe[PROBES - 1].refusal = PROBE_BRANCH;
	for (uint32_t i = 0; i < WINDOWS; i++) {
		struct probe_fixup *fixup = take(6 * sizeof(*fixup), 4);
		const uint16_t size = (uint16_t)(64 + 8 * fuzz_number(8));
		struct plan_window *w = &window[i];
		*w = (struct plan_window){ .address = 0x1000 + (i == 1 ? 32 : 0), .fixups = position(fixup),
			.code_size = size, .fixup_count = 6, .way = (uint8_t)(1 + (i ? 2 * i : fuzz_number(2))),
			.length = 6, .padding = 32, .originals = 8, .other = i ? PROBE_NONE : 2,
			.first = i == 1 ? 2 : 0, .probes = i == 1 ? 1 : 2, .inside = { 0, 0, 12, 0 } };
		if (w->way > PROBE_WAY_ENTRY)
			w->way = PROBE_WAY_ENTRY;
		if (w->way == PROBE_WAY_SHARED) {
			w->length = 4;
			w->fixed = 1;
		}
		for (uint8_t k = 0; k < 6; k++)
			fixup[k] = (struct probe_fixup){ .at = (uint16_t)(8 * k), .end = (uint16_t)(8 * k + 4),
				.fix = (uint8_t)(k + 1), .target = k < 4 ? (int32_t)fuzz_number(64) : 0 };
		w->code = position(memset(take(size, 1), 0x90, size));
	}
}

static void make_plan(void)
{
	memset(&made, 0, sizeof(made));
	struct plan_head *head = take(sizeof(*head) + FUNCTIONS * sizeof(head->function[0]), 8);
	memcpy(head->magic, PLAN_MAGIC, sizeof(head->magic));
	head->version = PLAN_VERSION;
	head->count = FUNCTIONS;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct plan_function *f = &head->function[i];
		char *name = take(4, 1);
		name[0] = 'f';
		name[1] = (char)('0' + i);
		f->name = position(name);
		f->offset = 16 * i;
		f->every = fuzz_number(4) ? 0 : (uint32_t)fuzz_number(3);
		f->longer = fuzz_number(4) ? 0 : fuzz_number(1000);
		bool end = fuzz_number(2);
		add_part(end ? &f->end : &f->entry, fuzz_number(PARTS));
		add_part(end ? &f->entry : &f->end, fuzz_number(PARTS));
		f->action = PROBE_NONE;
	}
	if (fuzz_number(2)) {
		head->function[FUNCTIONS - 1].flags = PLAN_PROBE;
		add_windows(head);
	}
	head->size = made.size;
}

/* ---- damage ---- */

static uint64_t any_number(unsigned bytes)
{
	static const uint64_t edges[] = { 0, 1, 7, 8, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff, UINT64_MAX - 7,
		UINT64_MAX };

	switch (fuzz_number(4)) {
	case 0:
		return edges[fuzz_number(sizeof(edges) / sizeof(*edges))];
	case 1:
		return made.size - fuzz_number(48) + 8;
	case 2:
		return fuzz_number(made.size + 64);
	default:
		return fuzz_number(bytes == 8 ? UINT64_MAX : 1ull << 8 * bytes);
	}
}

/* A number of a window, a probe, a fixup or an action. */
static void damage_window(struct plan_head *head)
{
	const uint32_t from[] = { head->window, head->probe, head->action, head->windows };
	const uint32_t sizes[] = { WINDOWS * sizeof(struct plan_window), PROBES * sizeof(struct plan_probe),
		sizeof(struct plan_action) };
	const size_t which = fuzz_number(3);
	const uint32_t at = from[which] + (uint32_t)fuzz_number(sizes[which]);

	if (at >= made.size - 4)
		return;
	if (fuzz_number(2)) {
		made.bytes[at] = (uint8_t)fuzz_number(fuzz_number(2) ? 8 : 256);
	} else {
		uint32_t number = (uint32_t)any_number(4);
		memcpy(made.bytes + (at & ~3u), &number, sizeof(number));
	}
}

static void damage_place(void)
{
	uint32_t at = (uint32_t)fuzz_number(made.size);
	struct plan_head *head = (struct plan_head *)(void *)made.bytes;
	struct plan_function *f = &head->function[fuzz_number(FUNCTIONS)];
	struct plan_part *part = fuzz_number(2) ? &f->entry : &f->end;
	uint32_t *const words[] = { &part->code, &part->size, &part->layout, &part->bytes, &f->name, &head->count,
		&head->probes, &head->windows, &head->actions, &head->probe, &head->window, &head->action };

	if (head->windows == WINDOWS && fuzz_number(2)) {
		damage_window(head);
		return;
	}
	switch (fuzz_number(8)) {
	case 0:
		made.bytes[at] ^= (uint8_t)(1u << fuzz_number(8));
		break;
	case 1:
		made.bytes[at] = (uint8_t)fuzz_number(256);
		break;
	case 2:
		for (uint32_t n = (uint32_t)fuzz_number(32); n-- && at < made.size;)
			made.bytes[at++] = (uint8_t)fuzz_number(256);
		break;
	case 3: { /* a number of a layout, or of anything else */
		uint32_t number = (uint32_t)any_number(4);
		memcpy(made.bytes + (at & ~3u), &number, sizeof(number));
		break;
	}
	case 4: /* operations: code that is accepted more often than random bytes are */
		if (part->size && part->code < made.size)
			made.bytes[part->code + fuzz_number(made.size - part->code)] =
				(uint8_t)fuzz_number(VALUES_OPERATIONS + 2);
		break;
	case 5: /* one end has another one's code, so that just the layouts do not fit */
		part->code = f->entry.code;
		part->size = f->entry.size;
		break;
	default:
		*words[fuzz_number(sizeof(words) / sizeof(*words))] = (uint32_t)any_number(4);
		break;
	}
}

static void damage(const char *script, uint64_t round)
{
	struct plan_head *head = (struct plan_head *)(void *)made.bytes;

	(void)script;
	fuzz_seed(round);
	make_plan();
	for (uint64_t n = fuzz_number(5); n; n--)
		damage_place();
	switch (fuzz_number(8)) {
	case 0: /* cut off, and says so */
		made.size = (uint32_t)fuzz_number(made.size + 1);
		head->size = made.size;
		break;
	case 1: /* cut off */
		made.size = (uint32_t)fuzz_number(made.size + 1);
		break;
	case 2:
		head->size = any_number(8);
		break;
	case 3: /* nothing but noise behind a head */
		for (uint32_t i = sizeof(*head); i < made.size && !fuzz_number(4); i++)
			made.bytes[i] = (uint8_t)fuzz_number(256);
		break;
	default:
		break;
	}
}

/* ---- memory that ends ---- */

static uint8_t *map(size_t pages)
{
	uint8_t *at = mmap(NULL, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED || mprotect(at + PAGE, pages * PAGE, PROT_READ | PROT_WRITE))
		err(1, "mmap");
	return at + PAGE;
}

/* So many bytes behind which there is nothing: the module keeps them for as long as it lives. */
static void *at_the_end(size_t size)
{
	if (WITH_ASAN)
		return malloc(size);
	return map(MOST / PAGE) + MOST - (size + 7) / 8 * 8;
}

/* ---- a plan is taken ---- */

static struct {
	uint8_t *data;	      /* a page that is read directly, before one that is not there */
	uint8_t *out, *limit; /* what is written ends at the limit */
	struct tramp_registers registers;
	uint64_t floats[8];
	struct values_segment segment;
	struct values_copy copy;
	bool begun;
} run;

static uint64_t any_address(void)
{
	switch (fuzz_number(6)) {
	case 0:
		return fuzz_number(UINT64_MAX);
	case 1:
		return fuzz_number(PAGE);
	case 2:
		return -fuzz_number(64);
	default:
		return (uint64_t)(uintptr_t)run.data + fuzz_number(2 * PAGE);
	}
}

static void begin(void)
{
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	run.data = map(1);
	run.out = map(1);
	run.limit = run.out + PAGE;
	for (unsigned i = 0; i < PAGE; i++)
		run.data[i] = (uint8_t)(fuzz_number(4) ? fuzz_number(256) : 0);
	run.segment.low = (uint64_t)(uintptr_t)run.data;
	run.segment.high = run.segment.low + PAGE;
	run.copy = (struct values_copy){ 16, 64, run.segment.high - 64 };
	run.begun = true;
}

static uint64_t windows_written;

/* Runs what was accepted. Returns how many times; ends the process where it does what it must not. */
static uint64_t run_part(const struct values_part *part)
{
	uint64_t *r = &run.registers.rax;
	struct values_call call = { .registers = &run.registers, .floats = fuzz_number(2) ? run.floats : NULL,
		.segment = &run.segment, .segments = 1, .copy = &run.copy, .copies = (uint32_t)fuzz_number(2),
		.base = any_address(), .has_base = fuzz_number(2), .arguments = run.segment.high - fuzz_number(64),
		.lost = (uint32_t)fuzz_number(256), .unconditional = fuzz_number(2) };

	if (!part->code)
		return 0;
	if (part->facts.most > VALUES_RECORDED || part->facts.values > VALUES_MOST || part->facts.trusts)
		abort();
	for (int i = 0; i < VALUES_REGISTERS; i++)
		r[i] = any_address();
	for (unsigned i = 0; i < 8; i++)
		run.floats[i] = any_address();
	/* In an ASan build, too: what is behind the limit is not there. */
	size_t size = values_evaluate(part->code, &call, run.limit - part->facts.most);
	if (size > part->facts.most)
		abort();
	return 1;
}

/* Reads a text to its end. */
static void read_text(const struct plan_head *plan, uint32_t at)
{
	if (strlen((const char *)plan + at) >= plan->size)
		abort();
}

/* Makes the stubs of windows that were accepted, as large as they say, and jumps there. */
static void write_windows(const struct plan_head *plan)
{
	const struct plan_window *window = (const void *)((const uint8_t *)plan + plan->window);
	const struct plan_probe *probe = (const void *)((const uint8_t *)plan + plan->probe);
	const struct probe_event event[PROBE_IN_WINDOW] = { { 0 } };
	uint8_t bytes[8];

	for (uint32_t i = 0; i < plan->probes; i++) {
		read_text(plan, probe[i].name);
		read_text(plan, probe[i].at);
		if (probe[i].nearest_at)
			read_text(plan, probe[i].nearest_at);
		if (probe[i].window != PROBE_NONE && probe[i].window >= plan->windows)
			abort();
	}
	for (uint32_t i = 0; i < plan->windows; i++) {
		const struct plan_window *w = &window[i];
		const uint64_t base = any_address() & ~0xfffull, stub = base + fuzz_number(1ull << 32);
		int64_t low, high;
		if (!w->probes || w->probes > PROBE_IN_WINDOW || w->first + w->probes > plan->probes)
			abort();
		if (probe_write(w, plan, base, stub, event, run.limit - w->code_size, w->code_size) > w->code_size ||
			probe_jump(w, base, stub, bytes) > sizeof(bytes) ||
			probe_padding(w, base, stub, bytes) > sizeof(bytes))
			abort();
		probe_range(w, &low, &high);
	}
	windows_written += plan->windows;
}

static uint64_t read_plan(void)
{
	static uint32_t id;
	struct values_set *sets = NULL;
	struct process_held held;
	uint64_t runs = 0;

	if (!run.begun)
		begin();
	void *bytes = at_the_end(made.size);
	if (!bytes)
		err(1, "malloc");
	memcpy(bytes, made.bytes, made.size);
	process_lock(&held);
	if (!values_take(&sets, bytes, made.size, false)) {
		const struct plan_head *head = bytes;
		write_windows(head);
		for (uint32_t i = 0; i < head->count; i++) {
			const struct plan_function *f = &head->function[i];
			const char *name = (const char *)bytes + f->name;
			uint32_t by_offset = ++id % IDS + 1, by_name = ++id % IDS + 1;
			values_bind(sets, f->offset, NULL, by_offset, fuzz_number(2));
			values_bind(sets, f->offset + 1, name, by_name, fuzz_number(2));
			/* What is not bound for the ends of calls is run, too. */
			if (!sets->function[i].is_off)
				runs += run_part(&sets->function[i].entry) + run_part(&sets->function[i].end);
		}
		if (!fuzz_number(200))
			values_describe();
	}
	process_unlock(&held);
	return runs;
}

static void make_none(const char *script)
{
	(void)script;
}

/* Of 200 plans half have windows, of which each is written. */
static int count_windows(void *unused)
{
	(void)unused;
	for (uint64_t round = 0; round < 200; round++) {
		fuzz_seed(round);
		make_plan();
		read_plan();
	}
	return (int)(windows_written / WINDOWS);
}

/* Of how many of 200 plans code is run. */
static int count_run(void *damaged)
{
	int taken = 0;

	for (uint64_t round = 0; round < 200; round++) {
		if (damaged)
			damage("", round);
		else
			make_plan();
		taken += read_plan() > 0;
	}
	return taken;
}

int main(int argc, char **argv)
{
	static const char *const script = "plan";
	static const struct fuzz fuzz = { .script = &script, .scripts = 1, .batch = BATCH, .most_memory = 400 << 10,
		.make = make_none, .damage = damage, .read = read_plan };
	uint64_t rounds = getenv("XAUDIT_ALL") && *getenv("XAUDIT_ALL") ? MORE_ROUNDS : ROUNDS;

	identity_init(NULL);
	core_folder(); /* this process removes it, whatever becomes of others */
	if (argc > 2)
		return fuzz_run_long(&fuzz, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
	if (argc > 1) {
		damage(script, strtoull(argv[1], NULL, 10));
		printf("%llu ends of calls were run\n", (unsigned long long)read_plan());
		return 0;
	}
	is_int(core_child(count_run, NULL, 60), 200, "plans are taken");
	int taken = core_child(count_run, &rounds, 60);
	ok(taken >= 40 && taken <= 180, "of 200 damaged ones some are, as far as they go: %d", taken);
	taken = core_child(count_windows, NULL, 60);
	ok(taken >= 80 && taken <= 120, "of 200 plans about half have windows, which are written: %d", taken);
	is_int(fuzz_run(&fuzz, script, 0, rounds), 0, "%llu do no harm", (unsigned long long)rounds);
	return done_testing();
}
