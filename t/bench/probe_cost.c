/* SPDX-License-Identifier: MIT */
/*
 * probe_cost: prints what a probe in the middle of a loop adds to each of its rounds, and what one reading of the TSC
 * there adds: lines "probe NAME NS", the best of some hundred runs of 1 000 rounds. The ways take turns. The recorder
 * writes to a flight recorder. Bind it to one CPU.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "runtime/record/dispatch.h"
#include "runtime/record/recorder.h"
#include "t/lib/core.h"
#include "t/lib/probe_window.h"
#include "t/lib/values.h"

#define CALLS  1000
#define ROUNDS 2000

enum way { EMPTY, TSC, BARE, REGISTERS, FOUND, BOUND, COUNTED, OFF, AWAY, WAYS };

static const char *const names[] = { "nothing", "one TSC read", "a bare probe", "with two registers",
	"with values by C: two registers, 4 bytes", "left out by a condition", "counted", "with recording stopped",
	"taken away: the file's bytes" };

/* mov %rdi,%rcx; 1: five bytes of NOP; dec %rcx; jnz 1b; ret */
static const uint8_t loop[] = { 0x48, 0x89, 0xf9, 0x0f, 0x1f, 0x44, 0, 0, 0x48, 0xff, 0xc9, 0x75, 0xf6, 0xc3 };
#define SITE 3

static uint64_t code[WAYS];

static int make_way(enum way way, uint8_t *at, uint8_t *stub, uint32_t word)
{
	const struct probe_event event = { .word = word, .gate = (uint64_t)(uintptr_t)tramp_gate_probe };
	struct made_window window;

	code[way] = (uint64_t)(uintptr_t)at;
	memcpy(at, loop, sizeof(loop));
	if (way == TSC)
		memcpy(at + SITE, "\x0f\x31\x0f\x1f", 5); /* rdtsc, and 3 bytes of NOP */
	if (way <= TSC)
		return 1;
	window_begin(&window, code[way] + SITE, PROBE_WAY_JUMP);
	window_event(&window);
	window_code(&window, loop + SITE, PROBE_JUMP_SIZE);
	window_end(&window);
	if (!probe_write(&window.window, &window, 0, (uint64_t)(uintptr_t)stub, &event, stub, PROBE_CODE_MAX) ||
		!probe_jump(&window.window, 0, (uint64_t)(uintptr_t)stub, at + SITE))
		return 0;
	if (way == AWAY)
		memcpy(at + SITE, window.window.original, PROBE_JUMP_SIZE);
	return 1;
}

static int make(void)
{
	uint8_t *p = mmap(NULL, WAYS * 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int good = p != MAP_FAILED;

	begin_plan(3);
	for (int i = 0; i < 3; i++)
		made.head.function[i].flags = PLAN_PROBE;
	made.head.function[0].entry = PART(2, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_PUT, 8);
	made.head.function[1].entry =
		PART(3, ARGUMENT1, VALUES_PUT, 8, ARGUMENT2, VALUES_PUT, 8, VALUES_REGISTER, VALUES_RBX, VALUES_PUT, 4);
	/* rdi is the number of rounds. */
	made.head.function[2].entry = PART(1, ARGUMENT1, VALUES_BYTE, 5, VALUES_EQUAL, VALUES_UNLESS, ARGUMENT2,
		VALUES_PUT, 8);
	end_plan();
	for (uint32_t i = 0; i < 3; i++)
		bind_values(i, false);
	for (int way = 0; good && way < WAYS; way++) {
		uint32_t id = way == REGISTERS ? 1 : way == FOUND ? 2 : way == BOUND ? 3 : 4;
		good = make_way((enum way)way, p + 8192 * way, p + 8192 * way + 4096,
			TRACE_WORD(TRACE_PROBE, id) | (id < 4 ? TRAMP_WORD_VALUES : 0));
	}
	return good;
}

static double run(enum way way)
{
	uint64_t before;

	dispatch_use(way == COUNTED ? DISPATCH_COUNT : way == OFF ? DISPATCH_IDLE : DISPATCH_RECORD, TRACE_CLOCK_TSC);
	before = core_now_ns();
	((void (*)(long, long))(uintptr_t)code[way])(CALLS, 1);
	return (double)(core_now_ns() - before) / CALLS;
}

int main(void)
{
	double best[WAYS] = { 0 };

	core_start(core_folder(), 1ul << 20, TRACE_CLOCK_TSC);
	recorder_init(&(struct recorder_options){ .mode = TRACE_MODE_RING });
	if (!make()) {
		printf("this system makes no memory executable\n");
		return 1;
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int way = 0; way < WAYS; way++) {
			double took = run((enum way)way);
			if (!round || took < best[way])
				best[way] = took;
		}
	for (int way = TSC; way < WAYS; way++)
		printf("probe %-40s %.2f\n", names[way], best[way] - best[EMPTY]);
	return 0;
}
