/* SPDX-License-Identifier: MIT */
/*
 * Looking for calls that have not returned in another process's memory, by a clock of the test: each is found once, not
 * before its time, and within a tenth of that behind it; what has ended, is another stack's, or began in another
 * process, is not. Then the memory is forged: lists without an end, counts of any size, addresses that lead anywhere.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/trace.h"
#include "runtime/values/running.h"
#include "runtime/values/side.h"
#include "t/lib/tap.h"
#include "tool/base/now.h"
#include "tool/record/asked/running.h"
#include "x86_64/contract.h"
#include "x86_64/mirror.h"

#define MS     1000000ull
#define S      (1000 * MS)
#define STACKS 4
#define SLOT   0x7c0000000000ull /* the uppermost of the first stack */
#define APART  0x10000ull	 /* from one stack to the next */
#define CALLS  8		 /* on each, at most: 8 bytes apart, downwards */

/* What the process has, and the test writes: at the same address in both. */
static struct memory {
	struct running_block block;
	struct side *first;
	uint32_t generation;
	struct stack stack[STACKS];
} *memory;
static struct side *side[STACKS];
static int mirrors; /* the file of the mirrors, whose addresses no compiler's checks know */
static struct trace_head head;
static pid_t process;

static uint32_t told, last;

static void due(const char *family, uint32_t place, uint32_t numbers)
{
	told += !strcmp(family, "p1") && place == head.process;
	last |= numbers;
}

static uint64_t slot_of(int stack, int call)
{
	return SLOT + (uint64_t)stack * APART - 8 * (uint64_t)call;
}

static void write_mirror(uint64_t slot, uint32_t word)
{
	struct mirror_entry entry = { .address = 1, .word = word, .link = 1 };

	if (pwrite(mirrors, &entry, sizeof(entry), (off_t)(2 * (slot - SLOT) + (1 << 20))) != sizeof(entry))
		exit(3);
}

/* Calls from the outermost on; rows: which actions they are for. */
static void open_call(int stack, uint32_t rows, uint64_t clock)
{
	struct side *s = side[stack];
	const uint32_t n = s->head.used;
	const uint64_t slot = slot_of(stack, (int)n);

	s->entry[n] = (struct side_entry){
		.slot = slot, .clock = clock, .running = rows, .generation = memory->generation };
	write_mirror(slot, TRACE_WORD(TRACE_ENTRY, 7) | (uint32_t)TRAMP_WORD_VALUES);
	memory->stack[stack].hot.top = slot;
	s->head.used = n + 1;
}

static void end_call(int stack)
{
	struct side *s = side[stack];

	s->head.used--;
	memory->stack[stack].hot.top = slot_of(stack, (int)s->head.used - 1);
}

static void clear(void)
{
	memset(memory, 0, sizeof(*memory));
	memory->block = (struct running_block){ .magic = RUNNING_MAGIC, .side_size = sizeof(struct side),
		.entry_size = sizeof(struct side_entry), .stack_size = sizeof(struct stack), .first = &memory->first,
		.generation = &memory->generation };
	memory->generation = 5;
	memory->first = side[0];
	for (int i = 0; i < STACKS; i++) {
		memset(&side[i]->head, 0, sizeof(side[i]->head));
		side[i]->head = (struct side_head){ .stack = 10 + (uint32_t)i, .owner = &memory->stack[i],
			.next = i + 1 < STACKS ? side[i + 1] : NULL };
		memory->stack[i] = (struct stack){ .number = 10 + (uint32_t)i, .low = slot_of(i, CALLS),
			.high = slot_of(i, 0) + 8, .hot.top = slot_of(i, 0) + 8 };
	}
}

/* Looks at each time that it is told, up to that one. Returns the time of the next look. */
static uint64_t run(uint64_t *now, uint64_t until)
{
	uint64_t next = running_look(*now, due);

	while (next <= until) {
		*now = next;
		next = running_look(*now, due);
	}
	*now = until;
	return next;
}

/* Numbers of actions that were due since the last time, and how often it was told. */
static uint32_t take(uint32_t *times)
{
	const uint32_t numbers = last;

	if (times)
		*times = told;
	told = last = 0;
	return numbers;
}

static void begin(void)
{
	const uint64_t around = (uint64_t)(uintptr_t)mirror_entry(SLOT) - (1 << 20);

	mirrors = memfd_create("mirrors", MFD_CLOEXEC);
	/* The thread sanitizer has taken all that it does not use: it has no say in where mirrors are. */
	if (mirrors < 0 || ftruncate(mirrors, 4 << 20) < 0 ||
		syscall(SYS_mmap, around, 4 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, mirrors, 0) == -1)
		exit(2);
	memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < STACKS; i++)
		side[i] = mmap(NULL, SIDE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	process = fork();
	if (!process) {
		for (;;)
			pause();
	}
	head = (struct trace_head){ .pid = (uint32_t)process, .process = 3,
		.running = (uint64_t)(uintptr_t)&memory->block };
}

static void test_times(uint64_t *now)
{
	uint32_t times;

	clear();
	memory->block.row[0].longer = 10 * S;
	memory->block.row[2].longer = 30 * S;
	ok(running_look(*now, due) == UINT64_MAX, "nobody is watched, and there is no look");
	running_add("p1", &head, 3);
	uint64_t next = run(now, *now + 2 * S);
	ok(next - *now <= 500 * MS, "looks come 20 times in the shortest time, at least");
	open_call(0, 5, 100);
	run(now, *now + 9999 * MS);
	is_int(take(NULL), 0, "none before its time");
	run(now, *now + 1001 * MS);
	is_int(take(&times), 1, "one within a tenth of the time");
	is_int(times, 1, "it is told once");
	run(now, *now + 18999 * MS);
	is_int(take(NULL), 0, "and no more,");
	run(now, *now + 3001 * MS);
	is_int(take(NULL), 4, "but for the other action, at its time");
	run(now, *now + 200 * S);
	is_int(take(NULL), 0, "which is done once, too");
	open_call(0, 1, 200);
	open_call(1, 1, 100);
	run(now, *now + 11 * S);
	is_int(take(&times), 1, "a call in the call, and one of another stack:");
	is_int(times, 1, "both are told together");
	end_call(0);
	for (uint64_t i = 0; i < 100; i++) {
		open_call(0, 1, 1000 + i);
		run(now, *now + 3 * S);
		end_call(0);
	}
	is_int(take(NULL), 0, "a hundred calls in one slot, none of which takes so long");
	open_call(0, 1, 5000);
	run(now, *now + 11 * S);
	side[0]->head.used--;
	run(now, *now + 150 * MS);
	side[0]->head.used++;
	run(now, *now + 22 * S);
	is_int(take(&times), 1, "a call that a look has missed: once,");
	is_int(times, 1, "not twice");
	memory->block.row[0].longer = 0;
	open_call(2, 1, 1);
	run(now, *now + 100 * S);
	is_int(take(NULL), 0, "an action that is none of these");
}

static void test_counts(uint64_t *now)
{
	uint32_t times, sum = 0;

	clear();
	memory->block.row[1] = (struct running_row){ .longer = 10 * S, .every = 3 };
	memory->block.row[3] = (struct running_row){ .longer = 10 * S, .once = 1 };
	for (uint64_t i = 0; i < 9; i++) {
		open_call(0, 10, 9000 + i);
		run(now, *now + 11 * S);
		const uint32_t numbers = take(&times);
		sum += (numbers & 2 ? 1 : 0) + (numbers & 8 ? 100 : 0);
		end_call(0);
		run(now, *now + 1 * S);
	}
	is_int(sum, 103, "of nine calls each third; and the first alone");
}

static void test_others(uint64_t *now)
{
	clear();
	memory->block.row[0].longer = 100 * MS;
	open_call(0, 1, 20000);
	side[0]->entry[0].generation = 4;
	open_call(1, 1, 20001);
	memory->stack[1].number++;
	open_call(2, 1, 20002);
	write_mirror(slot_of(2, 0), TRACE_WORD(TRACE_ENTRY, 7));
	open_call(3, 1, 20003);
	memory->stack[3].hot.top = slot_of(3, 0) + 8;
	run(now, *now + 2 * S);
	is_int(take(NULL), 0, "a parent's call, one of an earlier stack, and those that are not open any more");
	clear();
	memory->block.row[0].longer = 100 * MS;
	open_call(0, 1, 20010);
	memory->stack[0].freed = 1;
	open_call(1, 1, 20011);
	memory->stack[1].native = 12345;
	memory->stack[1].tid = 1;
	open_call(2, 1, 20012);
	memory->stack[2].native = 12345;
	memory->stack[2].runner = memory;
	memory->stack[2].tid = (uint32_t)getpid();
	run(now, *now + 2 * S);
	is_int(take(NULL), 0, "nor one of a stack that is gone, or of a thread that is");
	memory->stack[2].tid = (uint32_t)process;
	end_call(2);
	open_call(2, 1, 20013);
	run(now, *now + 2 * S);
	is_int(take(NULL), 1, "but one of a thread that is there");
	clear();
	memory->block.row[0].longer = 100 * MS;
	memory->generation = 0;
	open_call(0, 1, 20020);
	run(now, *now + 2 * S);
	is_int(take(NULL), 0, "none of a child that has not begun");
}

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* It is another process's place from now on: who was left for good is not watched again. */
static void watch_again(void)
{
	head.process++;
	running_add("p1", &head, head.process);
}

static void test_forged(uint64_t *now)
{
	uint64_t state = 1, most = 0;

	for (int round = 0; round < 100; round++) {
		clear();
		memory->block.row[0].longer = 5 * MS;
		for (int i = 0; i < STACKS; i++)
			for (int k = 0; k < 3; k++)
				open_call(i, 1, random_number(&state));
		for (int i = 0; i < 4; i++) {
			struct side_head *h = &side[random_number(&state) % STACKS]->head;
			struct stack *stack = &memory->stack[random_number(&state) % STACKS];
			uint64_t wrong = random_number(&state) >> random_number(&state) % 64;
			switch (random_number(&state) % 8) {
			case 0: h->used = (uint32_t)wrong; break;
			case 1: h->next = side[0]; break;
			case 2: h->next = (struct side *)(uintptr_t)wrong; break;
			case 3: h->owner = (struct stack *)(uintptr_t)wrong; break;
			case 4: stack->hot.top = wrong; break;
			case 5: stack->high = wrong; break;
			case 6: memory->first = (struct side *)(uintptr_t)wrong; break;
			default: memory->block.first = (struct side *const *)(uintptr_t)wrong;
			}
		}
		const uint64_t began = tool_now();
		uint64_t next = running_look(*now, due);
		const uint64_t took = tool_now() - began;
		most = took > most ? took : most;
		*now = next == UINT64_MAX ? *now + 1 * S : next;
		if (next == UINT64_MAX)
			watch_again();
	}
	ok(most < 30 * S, "forged lists: no look is without an end (the longest took %llu ms)",
		(unsigned long long)(most / MS));
	clear();
	memory->block.row[0].longer = 100 * MS;
	open_call(0, 1, 30000);
	take(NULL);
	watch_again();
	run(now, *now + 10 * S);
	is_int(take(NULL), 1, "and afterwards all is as before");
	memory->block.magic++;
	run(now, *now + 10 * S);
	ok(running_look(*now, due) == UINT64_MAX, "what is no such block is left");
	memory->block.magic--;
	watch_again();
	run(now, *now + 1 * S);
	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
	run(now, *now + 10 * S);
	ok(running_look(*now, due) == UINT64_MAX, "a process that is gone is left, too");
}

int main(void)
{
	uint64_t now = 1000 * S;

	begin();
	running_begin("test");
	test_times(&now);
	test_counts(&now);
	test_others(&now);
	test_forged(&now);
	return done_testing();
}
