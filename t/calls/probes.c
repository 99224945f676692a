#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Stubs of probes (x86_64/probe.h): what damaged windows may do; and between any instructions, in any state of
 * registers, flags and stack, an event changes nothing. Handfuls of instructions run in place, and as a stub with
 * events between them, from the same state; then both are compared.
 */
#include "t/lib/tap.h"

#include <sys/mman.h>

#include "runtime/api/xaudit.h"
#include "runtime/event_values.h"
#include "runtime/handlers/handlers.h"
#include "runtime/process/thread.h"
#include "runtime/record/dispatch.h"
#include "t/lib/core.h"
#include "t/lib/probe_window.h"
#include "t/lib/random.h"
#include "t/lib/sanitizers.h"
#include "t/lib/values.h"

/* As of t/index/displace_run.S. */
struct machine {
	uint64_t reg[16];
	uint64_t flags, way, unused[6];
	uint8_t fx[512] __attribute__((aligned(64)));
	uint64_t header[8];
};

void displace_run(const struct machine *in, struct machine *out, const void *code);
void displace_through(void);

static uint64_t state = RANDOM_BEGIN;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)(random_number(&state) >> 20) % below;
}

/* ---- damaged windows ---- */

/* A whole window, of which every byte that is read is its own: a sanitizer sees others. */
static void make_whole(struct made_window *made, enum probe_way way)
{
	window_begin(made, 0x1000, way);
	window_event(made);
	window_code(made, "\x48\x89\xe5", 3);
	window_event(made);
	window_code(made, "\x48\x83\xec\x20", 4);
	window_end(made);
	if (way == PROBE_WAY_SHARED) {
		made->window.fixed = 2;
		made->window.originals = 8;
	} else if (way == PROBE_WAY_SHORT) {
		made->window.padding = -20;
	}
}

static bool is_whole(const struct made_window *made)
{
	return probe_check(&made->window, made, sizeof(*made));
}

/* Writes with a guard behind the room. Returns false: something was written beyond it. */
static bool write_guarded(const struct made_window *made, size_t room)
{
	static const struct probe_event events[PROBE_IN_WINDOW];
	uint8_t *out = malloc(room + 1), jump[8];

	out[room] = 0xa5;
	const size_t size = probe_write(&made->window, made, 0x10000000, 0x10004000, events, out, room);
	const bool good = out[room] == 0xa5 && size <= room;
	probe_jump(&made->window, 0x10000000, 0x10004000, jump);
	probe_padding(&made->window, 0x10000000, 0x10004000, jump);
	free(out);
	return good;
}

#define ROUNDS 200000

static void damaged(void)
{
	uint32_t taken = 0, refused = 0, wrong = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		/* In memory of its own size: what is read behind it, a sanitizer sees. */
		struct made_window *made = malloc(sizeof(*made));
		make_whole(made, (enum probe_way)(1 + round % 3));
		const size_t reach = draw(2) ? sizeof(made->window) : offsetof(struct made_window, code);
		for (uint32_t n = 1 + draw(3); n; n--)
			((uint8_t *)made)[draw((uint32_t)reach)] = (uint8_t)(draw(2) ? draw(256) : draw(8));
		if (is_whole(made)) {
			taken++;
			wrong += !write_guarded(made, draw(2) ? made->window.code_size : draw(PROBE_CODE_MAX));
		} else {
			refused++;
		}
		free(made);
	}
	ok(taken > ROUNDS / 10 && refused > ROUNDS / 10, "damaged windows: %u are taken, %u are refused", taken,
		refused);
	is_int(wrong, 0, "nothing is written beyond the room");
}

/* One thing after the other is wrong with a whole window. */
static void refused(void)
{
#define WRONG(way, what, change)                                                                                       \
	do {                                                                                                           \
		make_whole(&made, way);                                                                                \
		bool before = is_whole(&made);                                                                         \
		change;                                                                                                \
		ok(before && !is_whole(&made), "refused: %s", what);                                                   \
	} while (0)
	static struct made_window made;
	struct plan_window *w = &made.window;

	WRONG(PROBE_WAY_JUMP, "code beyond the plan", w->code = sizeof(made) - w->code_size + 1);
	WRONG(PROBE_WAY_JUMP, "no code", w->code_size = 0);
	WRONG(PROBE_WAY_JUMP, "code at the position that stands for none", w->code = 0);
	WRONG(PROBE_WAY_JUMP, "fixups beyond the plan", w->fixups = sizeof(made) - 4);
	WRONG(PROBE_WAY_JUMP, "fixups that are not aligned", w->fixups++);
	WRONG(PROBE_WAY_JUMP, "too many fixups", w->fixup_count = PROBE_FIXUPS_MAX + 1);
	WRONG(PROBE_WAY_JUMP, "a fixup beyond the code", made.fixup[0].at = w->code_size - 3);
	WRONG(PROBE_WAY_JUMP, "an address beyond the code", made.fixup[8].at = w->code_size - 7);
	WRONG(PROBE_WAY_JUMP, "a distance from beyond the code", made.fixup[6].end = w->code_size + 1);
	WRONG(PROBE_WAY_JUMP, "an unknown fixup", made.fixup[0].fix = 7);
	WRONG(PROBE_WAY_JUMP, "a probe that is not the window's", made.fixup[2].target = 2);
	WRONG(PROBE_WAY_JUMP, "one before its first", made.fixup[7].target = -1);
	WRONG(PROBE_WAY_JUMP, "no probe", w->probes = 0);
	WRONG(PROBE_WAY_JUMP, "too many probes", w->probes = PROBE_IN_WINDOW + 1);
	WRONG(PROBE_WAY_JUMP, "numbers of probes that are too large", w->first = UINT32_MAX - 1);
	WRONG(PROBE_WAY_JUMP, "an unknown way", w->way = PROBE_WAYS);
	WRONG(PROBE_WAY_JUMP, "a jump over bytes that are not compared", (w->length = 4, w->originals = 4));
	WRONG(PROBE_WAY_JUMP, "bytes that are not compared", w->originals = 6);
	WRONG(PROBE_WAY_JUMP, "more compared than there are", w->originals = PROBE_ORIGINAL + 1);
	WRONG(PROBE_WAY_JUMP, "a place beyond the code", w->inside[3] = w->code_size);
	WRONG(PROBE_WAY_SHARED, "more shared than a distance has", w->fixed = 5);
	WRONG(PROBE_WAY_SHARED, "shared bytes that are not compared", w->prefix = 4);
	WRONG(PROBE_WAY_SHARED, "more prefixes than there is room for",
		(w->prefix = 20, w->originals = 24, w->length = 24));
	WRONG(PROBE_WAY_SHORT, "padding out of reach", w->padding = 130);
	WRONG(PROBE_WAY_SHORT, "padding out of reach before it", w->padding = -127);
	WRONG(PROBE_WAY_SHORT, "padding out of all reach", w->padding = INT32_MIN);
	WRONG(PROBE_WAY_SHORT, "padding in what is displaced", w->padding = 6);
	WRONG(PROBE_WAY_SHORT, "padding that ends in it", w->padding = -4);
}

#define BASE 0x555500000000ull

static void reached(void)
{
	static struct made_window made;
	static const struct probe_event events[PROBE_IN_WINDOW] = { { .word = 0x60000011, .gate = 0x7fff12345678 },
		{ .word = 0xe0000012, .gate = 0x7fff12345678 } };
	uint8_t out[PROBE_CODE_MAX], jump[8];
	uint64_t word;

	make_whole(&made, PROBE_WAY_JUMP);
	const unsigned size = made.window.code_size;
	is_int((long long)probe_write(&made.window, &made, BASE, BASE + 0x9000, events, out, size), size,
		"a stub is as long as its template");
	is_int((long long)probe_write(&made.window, &made, BASE, BASE + 0x9000, events, out, size - 1), 0,
		"it is not written where there is no room");
	memcpy(&word, out + made.call[1] + PROBE_CALL_WORD, 4);
	is_int((long long)(uint32_t)word, 0xe0000012, "it has the event's word");
	memcpy(&word, out + size - 8, 8);
	is_int((long long)word, 0x7fff12345678, "and the gate");
	memcpy(&word, out + made.call[1] + PROBE_CALL_LOW, 4);
	is_int((long long)(uint32_t)word, 0x1004, "and where the function goes on: the lower half");
	memcpy(&word, out + made.call[1] + PROBE_CALL_HIGH, 4);
	is_int((long long)(uint32_t)word, 0x5555, "and the upper one");
	/* The jump back ends behind two calls, 7 bytes and its own 5. */
	const uint64_t end = BASE + 0x1007 + (1ull << 31) - (2 * PROBE_CALL_SIZE + 7 + 5);
	ok(probe_write(&made.window, &made, BASE, end, events, out, size), "2 GiB above is within reach");
	ok(!probe_write(&made.window, &made, BASE, end + 1, events, out, size), "and no byte more");
	is_int((long long)probe_jump(&made.window, BASE, BASE + 0x9000, jump), 5, "a jump has 5 bytes");
	ok(!memcmp(jump, "\xe9\xfb\x7f\0\0", 5), "and leads to the stub");
	is_int((long long)probe_jump(&made.window, BASE, BASE + 0x1005 + 0x80000000, jump), 0,
		"unless that is too far");
	make_whole(&made, PROBE_WAY_SHORT);
	is_int((long long)probe_jump(&made.window, BASE, BASE + 0x9000, jump), 2, "a short one has 2");
	ok(!memcmp(jump, "\xeb\xea", 2), "and leads to the padding");
	is_int((long long)probe_padding(&made.window, BASE, BASE + 0x9000, jump), 5, "from where one of 5 goes on");
	ok(!memcmp(jump, "\xe9\x0f\x80\0\0", 5), "to the stub");
	is_int((long long)probe_padding(&made.window, BASE, BASE + (1ull << 40), jump), 0, "unless that is too far");
	make_whole(&made, PROBE_WAY_SHARED);
	made.window.prefix = 1;
	memcpy(made.window.original, "\x48\x89\xe5\x48\xf0\x34", 6);
	const uint64_t to = BASE + 0x1006 + 0x34f01234;
	is_int((long long)probe_jump(&made.window, BASE, to, jump), 4,
		"one that shares 2 bytes, with a prefix, writes 4");
	ok(!memcmp(jump, "\x2e\xe9\x34\x12", 4), "and leads to the stub by those that are there");
	is_int((long long)probe_jump(&made.window, BASE, to + 0x10000, jump), 0, "to no other place");
	is_int((long long)probe_padding(&made.window, BASE, to, jump), 0, "and has no padding");
	int64_t low, high;
	probe_range(&made.window, &low, &high);
	ok(low == 0x34f00000 && high == 0x34f0ffff, "as the format says where it may lie");
}

/* ---- events change nothing ---- */

/* Instructions that ask for registers, flags, the red zone, the direction and vector registers, or change them. */
#define INSTRUCTION(bytes, moves, deep) { bytes, sizeof(bytes) - 1, moves, deep }

static const struct {
	const char *bytes;
	unsigned size;
	int moves; /* the stack pointer */
	bool deep; /* it reads what would not be the red zone's had the stack pointer been higher before */
} instructions[] = {
	INSTRUCTION("\x90", 0, false), /* nop */
	INSTRUCTION("\xf5", 0, false), /* cmc */
	INSTRUCTION("\x9f", 0, false), /* lahf */
	INSTRUCTION("\xfd", 0, false), /* std */
	INSTRUCTION("\xfc", 0, false), /* cld */
	INSTRUCTION("\x48\x11\xd8", 0, false), /* adc %rbx,%rax */
	INSTRUCTION("\x48\x83\xd8\x07", 0, false), /* sbb $7,%rax */
	INSTRUCTION("\x48\xd1\xd2", 0, false), /* rcl %rdx */
	INSTRUCTION("\x0f\x90\xc1", 0, false), /* seto %cl */
	INSTRUCTION("\x48\x89\x44\x24\xf8", 0, false), /* mov %rax,-8(%rsp) */
	INSTRUCTION("\x48\x8b\x4c\x24\x80", 0, true), /* mov -128(%rsp),%rcx */
	INSTRUCTION("\x48\x11\x5c\x24\x90", 0, true), /* adc %rbx,-112(%rsp) */
	INSTRUCTION("\x49\xff\xc2", 0, false), /* inc %r10 */
	INSTRUCTION("\x4d\x13\x1c\x24", 0, false), /* adc (%r12),%r11 */
	INSTRUCTION("\x48\x01\xe0", 0, false), /* add %rsp,%rax */
	INSTRUCTION("\xaa", 0, false), /* stosb */
	INSTRUCTION("\x66\x0f\xfe\xc1", 0, false), /* paddd %xmm1,%xmm0 */
	INSTRUCTION("\xd9\xe8\xd9\xee\xde\xd9", 0, false), /* fld1; fldz; fcompp */
	INSTRUCTION("\xd9\xe8\xd9\xe8\xde\xd9", 0, false), /* fld1; fld1; fcompp */
	INSTRUCTION("\xdf\xe0", 0, false), /* fnstsw %ax */
	INSTRUCTION("\xd9\xe8", 0, false), /* fld1 */
	INSTRUCTION("\xdd\x5c\x24\xf0", 0, false), /* fstpl -16(%rsp) */
	INSTRUCTION("\x48\x0f\x6e\xcb", 0, false), /* movq %rbx,%mm1 */
	INSTRUCTION("\x48\x0f\x7e\xca", 0, false), /* movq %mm1,%rdx */
	INSTRUCTION("\x50", -8, false), /* push %rax */
	INSTRUCTION("\x5e", 8, false), /* pop %rsi */
	INSTRUCTION("\x9c", -8, false), /* pushf */
	INSTRUCTION("\x0f\x4c\xd6", 0, false), /* cmovl %esi,%edx */
	INSTRUCTION("\x48\x8d\x64\x24\xf3", -13, false), /* lea -13(%rsp),%rsp */
};

#define AREA 131072

struct place {
	uint8_t *function, *stub; /* pages within reach of each other */
	uint8_t *area; /* on the thread's stack, above the test's own frames */
};

static uint8_t pattern[AREA], after[AREA];

/* jmp *0(%rip), and the address. */
static void put_exit(uint8_t *at)
{
	uint64_t to = (uint64_t)(uintptr_t)displace_through;

	memcpy(at, "\xff\x25\0\0\0\0", 6);
	memcpy(at + 6, &to, 8);
}

static void draw_state(struct machine *in, const struct place *place)
{
	*in = (struct machine){ .flags = (random_number(&state) & 0x8d5) | (draw(3) ? 0 : 0x400) | 2, .header = { 3 } };
	for (int i = 0; i < 16; i++)
		in->reg[i] = draw(4) ? random_number(&state) : draw(3) - 1ull;
	in->reg[4] = (uint64_t)place->area + AREA / 2 + draw(64);
	in->reg[7] = (uint64_t)place->area + AREA / 2 + 1024 + draw(64);
	in->reg[12] = (uint64_t)place->area + AREA / 2 + 512 + draw(64);
	for (size_t i = 32; i < 416; i++)
		in->fx[i] = (uint8_t)draw(256);
	memcpy(in->fx, "\x7f\x03", 2);
	memcpy(in->fx + 24, "\x80\x1f\0\0", 4);
	memset(in->fx + 32, 0, 128);
}

static void run_in(const struct place *place, const struct machine *in, struct machine *out)
{
	memcpy(place->area, pattern, AREA);
	*out = (struct machine){ 0 };
	displace_run(in, out, place->function);
}

static int highest; /* of the stack pointer in the last window, from where it began */

/* A window of random instructions, with an event or several before some of them. Returns how many. */
static uint32_t draw_window(struct made_window *made, const struct place *place)
{
	int sp = highest = 0;

	window_begin(made, 0, PROBE_WAY_JUMP);
	while (made->window.length < PROBE_JUMP_SIZE || (made->window.length < 12 && draw(2))) {
		const uint32_t which = draw(sizeof(instructions) / sizeof(*instructions));
		if (instructions[which].deep && sp < highest)
			continue;
		while (made->window.probes < PROBE_IN_WINDOW && draw(2))
			window_event(made);
		sp += instructions[which].moves;
		highest = sp > highest ? sp : highest;
		window_code(made, instructions[which].bytes, instructions[which].size);
	}
	if (!made->window.probes)
		return 0;
	window_end(made);
	memcpy(place->function, made->window.original, made->window.length);
	put_exit(place->function + made->window.length);
	return made->window.probes;
}

/* As the module would. Returns whether it can. */
static bool patch(const struct made_window *made, const struct place *place, uint32_t flags, uint32_t id)
{
	const uint64_t at = (uint64_t)(uintptr_t)place->function, stub = (uint64_t)(uintptr_t)place->stub;
	struct probe_event event[PROBE_IN_WINDOW];

	for (uint32_t i = 0; i < made->window.probes; i++)
		event[i] = (struct probe_event){ .word = TRACE_WORD(TRACE_PROBE, id + i) | flags,
			.gate = (uint64_t)(uintptr_t)tramp_gate_probe };
	if (!is_whole(made) || !probe_write(&made->window, made, at, stub, event, place->stub, PROBE_CODE_MAX))
		return false;
	memset(place->function, 0xcc, made->window.length);
	return probe_jump(&made->window, at, stub, place->function) == PROBE_JUMP_SIZE;
}

enum set { TSC, MONO, COARSE, COUNT, IDLE, VALUES, VALUES_QUICK, VALUES_ONE, VALUES_MANY, HANDLED, SETS };

static const char *const names[] = { "with the TSC", "with CLOCK_MONOTONIC", "with a coarse clock", "counted",
	"with nothing recorded", "with values that C finds", "with two registers",
	"with one register", "with three", "with a handler" };

#define CASES 3000

static struct results {
	pid_t pid;
	uint64_t rbx[CASES], rsp[CASES], rdi[CASES]; /* before each window. None of its instructions changes rbx */
	uint32_t events, registers, flags, vectors, memory, broken, told, told_wrong;
} *results;

static uint64_t told_rsp;

static uint64_t told_function; /* address */

/* Of each event: are registers, address and values those of the function? And it spoils what a handler may. */
static void told(const struct handlers_event *event, void *argument)
{
	static struct xaudit_values values;
	const struct tramp_registers *r = event->registers;

	(void)argument;
	values.size = sizeof(values);
	results->told++;
	results->told_wrong += event->type != HANDLERS_PROBE || r->rsp - told_rsp + 4096 > 8192 ||
			       event->address - told_function >= PROBE_ORIGINAL || !event->id ||
			       event->id > PROBE_IN_WINDOW || event->caller;
	results->told_wrong += handlers_values(event, &values) != 3 || values.value[0].number != r->rbx ||
			       values.value[1].number != r->rsp || values.value[2].number != r->rdi;
	__asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm9, %%xmm9" : : : "xmm0", "xmm9");
}

static bool has_values(enum set set)
{
	return set >= VALUES;
}

static void make_probe_values(enum set set)
{
	begin_plan(PROBE_IN_WINDOW);
	for (uint32_t i = 0; i < PROBE_IN_WINDOW; i++) {
		made.head.function[i].flags = PLAN_PROBE;
		made.head.function[i].entry =
			set == VALUES_QUICK  ? PART(2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_PUT, 8)
			: set == VALUES_ONE  ? PART(1, ARGUMENT1, VALUES_PUT, 8)
			: set == VALUES_MANY ? PART(3, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_PUT, 4,
						       VALUES_REGISTER, VALUES_RCX, VALUES_PUT, 4)
					     : PART(3, VALUES_REGISTER, VALUES_RBX, VALUES_PUT, 8, VALUES_REGISTER,
						      VALUES_RSP, VALUES_PUT, 8, ARGUMENT1, VALUES_PUT, 8);
		struct trace_layout *layout = (void *)(made.bytes + made.head.function[i].entry.layout);
		for (uint32_t n = 0; n < layout->count; n++)
			layout->value[n] = (struct trace_value){ .type = VALUES_TYPE_UNSIGNED, .size = 8 };
	}
	end_plan();
	for (uint32_t i = 0; i < PROBE_IN_WINDOW; i++)
		bind_values(i, false);
}

/*
 * Instructions that use no memory, with events between them, while all memory must be aligned: 18 bytes, so that the
 * address behind them is.
 */
static void draw_aligned(struct made_window *made, const struct place *place, struct machine *in)
{
	static const char *const code[] = { "\x48\x11\xd8", "\xf5", "\x0f\x4c\xd6", "\x48\x01\xe0",
		"\x66\x66\x66\x66\x66\x66\x66\x90" }; /* adc %rbx,%rax; cmc; cmovl %esi,%edx; add %rsp,%rax; nop */

	highest = 0;
	window_begin(made, 0, PROBE_WAY_JUMP);
	for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++) {
		window_event(made);
		window_code(made, code[i], strlen(code[i]));
	}
	window_end(made);
	memcpy(place->function, made->window.original, made->window.length);
	put_exit(place->function + made->window.length);
	in->flags |= 0x40000;
	in->reg[4] &= -8ull;
}

static void compare(
	const struct place *place, const struct machine *in, const struct machine *placed, const struct machine *moved)
{
	/* What is below all red zones is nobody's. */
	const size_t from = (size_t)(in->reg[4] - (uint64_t)place->area) + (size_t)highest - 128;

	results->broken += placed->way != 1 || moved->way != 1;
	results->registers += memcmp(placed->reg, moved->reg, sizeof(placed->reg)) != 0;
	results->flags += ((placed->flags ^ moved->flags) & 0xfffffeff) != 0;
	/* Of x87 the words that rule it: its stack is empty, and what is in an empty register is nobody's. */
	results->vectors += memcmp(placed->fx, moved->fx, 6) || memcmp(placed->fx + 24, moved->fx + 24, 8) ||
			    memcmp(placed->fx + 160, moved->fx + 160, 256);
	results->memory += memcmp(after + from, place->area + from, AREA - from) != 0;
}

static void __attribute__((noinline)) run_cases(struct place *place, enum set set)
{
	static struct made_window window;
	static struct machine in, placed, moved;

	for (uint32_t n = 0; n < CASES; n++) {
		while (!draw_window(&window, place))
			;
		draw_state(&in, place);
		if (n % 16 == 5)
			draw_aligned(&window, place, &in);
		results->rbx[n] = in.reg[3];
		results->rsp[n] = in.reg[4];
		results->rdi[n] = in.reg[7];
		told_rsp = in.reg[4];
		run_in(place, &in, &placed);
		memcpy(after, place->area, AREA);
		if (!patch(&window, place, has_values(set) ? TRAMP_WORD_VALUES : 0, 1)) {
			results->broken++;
			continue;
		}
		results->events += window.window.probes;
		run_in(place, &in, &moved);
		compare(place, &in, &placed, &moved);
	}
}

static int cases(void *argument)
{
	const enum set set = *(const enum set *)argument;
	const enum trace_clock clock = set == MONO ? TRACE_CLOCK_MONOTONIC : TRACE_CLOCK_TSC;
	struct place place;
	uint8_t area[AREA];

	results->pid = getpid();
	state += set;
	for (size_t i = 0; i < AREA; i++)
		pattern[i] = (uint8_t)draw(256);
	place.area = area;
	place.function = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place.function == MAP_FAILED)
		return 77;
	place.stub = place.function + 4096;
	told_function = (uint64_t)(uintptr_t)place.function;
	core_coarse = set == COARSE;
	core_start(core_folder(), 4 * TRACE_CHUNK_MIN, clock);
	if (set == COUNT || set == IDLE)
		dispatch_use(set == COUNT ? DISPATCH_COUNT : DISPATCH_IDLE, clock);
	if (has_values(set))
		make_probe_values(set);
	if (set == HANDLED && handlers_set(HANDLERS_PROBE, told, NULL, 0))
		return 76;
	run_cases(&place, set);
	return 0;
}

/* Do so few bytes lie between them? Instructions change these two by little. */
static bool is_near(uint64_t a, uint64_t b)
{
	return a - b + 128 < 256;
}

/* Has an event of the case the right values? */
static bool check_values(enum set set, const struct event *event, uint32_t n)
{
	const uint64_t *v = event->value;

	if (!has_values(set))
		return true;
	if (set >= VALUES_QUICK && set <= VALUES_MANY)
		return n < CASES && is_near(v[0], results->rdi[n]);
	return n < CASES && v[0] == results->rbx[n] && is_near(v[1], results->rsp[n]) &&
	       is_near(v[2], results->rdi[n]);
}

/* Of the payload. */
static uint32_t words_of(enum set set)
{
	return set == VALUES_ONE ? 1 : set == VALUES || set == HANDLED ? 3 : 2;
}

/* Each event of a window has the next id; so many there were. */
static void check_trace(enum set set)
{
	struct reading reading;
	uint32_t there = 0, other = 0, wrong = 0, n = 0;

	for (uint32_t i = 1; i <= PROBE_IN_WINDOW; i++)
		core_layouts[i] = TRACE_WORD(TRACE_PROBE, i);
	if (core_read(core_folder(), results->pid, 0, 4 * TRACE_CHUNK_MIN, &reading))
		memset(&reading, 0, sizeof(reading));
	for (size_t i = 0; i < reading.count; i++) {
		const struct event *event = &reading.event[i];
		there++;
		n += event->id == 1;
		wrong += !check_values(set, event, n - 1);
		other += event->type != TRACE_PROBE || !event->id ||
			 (event->id != 1 && (!i || event->id != event[-1].id + 1)) ||
			 (event->layout != 0) != has_values(set) ||
			 (event->layout && event->words != words_of(set)) || event->flawed;
	}
	is_str(reading.damage, NULL, "%s: the file keeps to the format", names[set]);
	is_int(there, set == COUNT || set == IDLE ? 0 : results->events, "%s: all events are there", names[set]);
	is_int(other, 0, "%s: in their order", names[set]);
	is_int(wrong, 0, "%s: and their values are right", names[set]);
	core_forget(&reading);
}

static void run_set(enum set set)
{
	memset(results, 0, sizeof(*results));
	const int status = core_child(cases, &set, 60);
	if (status == 77) {
		skip(1, "this system makes no memory executable");
		return;
	}
	is_int(status, 0, "%s: the program runs to its end", names[set]);
	is_int(results->broken, 0, "%s: each of %d windows is run", names[set], CASES);
	is_int(results->registers, 0, "%s: registers stay", names[set]);
	is_int(results->flags, 0, "%s: flags stay", names[set]);
	is_int(results->vectors, 0, "%s: vector registers stay", names[set]);
	is_int(results->memory, 0, "%s: memory and red zone stay", names[set]);
	if (set == HANDLED)
		is_int(results->told_wrong + results->events - results->told, 0,
			"%s: it is told each of %u, with its registers, address and values", names[set],
			results->events);
	if (set == COUNT) {
		long long counted = 0;
		for (uint32_t i = 1; i <= PROBE_IN_WINDOW; i++)
			counted += core_count(core_folder(), results->pid, 0, i) > 0
					   ? core_count(core_folder(), results->pid, 0, i)
					   : 0;
		is_int(counted, results->events, "%s: all are", names[set]);
	} else if (set != IDLE) {
		check_trace(set);
	}
	core_empty();
}

int main(void)
{
	damaged();
	refused();
	reached();
	core_folder();
	results = core_shared(sizeof(*results));
	/* The sanitizers' runtimes use vector registers, and TSan's has the addresses of the mirrors of values. */
	for (enum set set = 0; set < SETS && !WITH_ASAN && !WITH_TSAN; set++)
		run_set(set);
	return done_testing();
}
