#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Which stack a call lies on: with coroutines' stacks in frames, adjacent without a guard page, and at ever new
 * addresses; and where threads share a page.
 */
#include "t/lib/tap.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "t/lib/flow_coroutines.h"

/* ---- coroutines ---- */

static uint8_t *map(size_t size, void *at)
{
	uint8_t *p = mmap(
		at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	if (p == MAP_FAILED)
		_exit(98);
	return p;
}

static void start_all(void)
{
	start();
	for (uint32_t n = 5; n < 9; n++)
		f[n] = core_traced(TRAMP_INTERCEPT, n, leaf);
}

/* All turns of one coroutine, whose caller makes calls of its own meanwhile. */
static long resume_once(long n)
{
	resume((int)n);
	return n;
}

static __attribute__((noinline)) long frame_of_stack(long x)
{
	uint8_t stack[12288];

	make_coroutine(0, 0, stack, sizeof(stack));
	for (int i = 0; i < 5; i++)
		expect(F(7)(0), 0);
	return x;
}

static int in_frame(void *argument)
{
	(void)argument;
	start_all();
	f[6] = core_traced(TRAMP_INTERCEPT, 6, frame_of_stack);
	f[7] = core_traced(TRAMP_INTERCEPT, 7, resume_once);
	expect(F(6)(1), 1);
	expect(F(6)(2), 2);
	return 0;
}

static __attribute__((noinline)) long frame_of_two(long x)
{
	uint8_t stack[2][12288];

	make_coroutine(0, 0, stack[0], sizeof(stack[0]));
	make_coroutine(1, 1, stack[1], sizeof(stack[1]));
	/* The first turns have no traced call around them. */
	resume(0);
	resume(1);
	for (int i = 0; i < 4; i++) {
		expect(F(7)(0), 0);
		expect(F(7)(1), 1);
	}
	return x;
}

static int two_in_frame(void *argument)
{
	(void)argument;
	start_all();
	f[6] = core_traced(TRAMP_INTERCEPT, 6, frame_of_two);
	f[7] = core_traced(TRAMP_INTERCEPT, 7, resume_once);
	expect(F(6)(1), 1);
	expect(F(5)(1), 2);
	return 0;
}

/* Stacks in one piece, in an order that puts the next one above as well as below. */
static void side_by_side(uint8_t *memory, size_t size)
{
	static const int order[COROUTINES] = {2, 1, 3, 0};

	for (int n = 0; n < COROUTINES; n++)
		make_coroutine(n, (uint32_t)n, memory + size * (size_t)n, size);
	for (int turn = 0; turn < 5; turn++)
		for (int i = 0; i < COROUTINES; i++)
			resume(order[turn % 2 ? i : COROUTINES - 1 - i]);
	expect(F(5)(1), 2);
}

#define SIDE_BY_SIDE "E0 E3 E1 E2 E2 E1 E3 E0 X2 X1 X3 X0 X0 X3 X1 X2 E5 X5"

static int large_ones(void *argument)
{
	(void)argument;
	start_all();
	side_by_side(map(COROUTINES * 65536, NULL), 65536);
	return 0;
}

static int small_ones(void *argument)
{
	(void)argument;
	start_all();
	side_by_side(map(COROUTINES * 12288, NULL), 12288);
	return 0;
}

static int static_ones(void *argument)
{
	static uint8_t memory[COROUTINES * 20000 + 24];

	(void)argument;
	start_all();
	side_by_side(memory + 24, 20000);
	return 0;
}

static int heap_ones(void *argument)
{
	(void)argument;
	start_all();
	for (int i = 0; i < 3; i++) {
		uint8_t *memory = malloc(COROUTINES * 16000);
		side_by_side(memory, 16000);
		free(memory);
	}
	return 0;
}

static int too_low(void *argument)
{
	(void)argument;
	start_all();
	make_coroutine(0, 0, map(65536, (void *)0x10000000), 65536);
	for (int i = 0; i < 5; i++)
		resume(0);
	expect(F(5)(1), 2);
	return 0;
}

static void test_coroutines(void)
{
	struct trace_head head;

	check(in_frame, "a stack in its caller's frame",
		"E6 E7 E0 X7 E7 E0 X7 E7 X7 E7 X0 X7 E7 X0 X7 X6 E6 E7 E0 X7 E7 E0 X7 E7 X7 E7 X0 X7 E7 X0 X7 X6");
	check(two_in_frame, "two stacks in their caller's frame",
		"E6 E0 E1 E7 E0 X7 E7 E1 X7 E7 X7 E7 X7 E7 X0 X7 E7 X1 X7 E7 X0 X7 E7 X1 X7 X6 E5 X5");
	check(large_ones, "stacks of 64 KiB side by side", SIDE_BY_SIDE);
	check(small_ones, "stacks of 12 KiB side by side", SIDE_BY_SIDE);
	check(static_ones, "stacks in static data that share pages", SIDE_BY_SIDE);
	check(heap_ones, "stacks in the heap, three times", SIDE_BY_SIDE " " SIDE_BY_SIDE " " SIDE_BY_SIDE);
	check(too_low, "a stack whose mirror would lie below address 0", "P0 P0 E5 X5");
	ok(!core_read_head(core_folder(), outcome->pid, &head) && head.no_mirror == 2,
		"a stack whose mirror would lie below address 0: the two calls are counted");
}

/* ---- signals ---- */

static void on_signal(int signal)
{
	(void)signal;
	expect(F(2)(5), 2 * 6);
}

static long call_5_twice(long x)
{
	return 2 * F(5)(x);
}

static long raise_twice(long x)
{
	raise(SIGUSR1);
	expect(F(8)(x), x + 1);
	raise(SIGUSR1);
	return KEEP(F(8)(x));
}

static __attribute__((noinline)) long frame_of_signal_stack(long x)
{
	uint8_t memory[16384];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)}, none = {.ss_flags = SS_DISABLE};

	sigaltstack(&stack, NULL);
	for (int i = 0; i < 3; i++)
		expect(F(1)(x), x + 1);
	sigaltstack(&none, NULL);
	return F(8)(x);
}

static int signal_stack_in_frame(void *argument)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	(void)argument;
	start_all();
	sigaction(SIGUSR1, &action, NULL);
	f[1] = core_traced(TRAMP_INTERCEPT, 1, raise_twice);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, call_5_twice);
	f[6] = core_traced(TRAMP_INTERCEPT, 6, frame_of_signal_stack);
	expect(F(6)(1), 2);
	return 0;
}

/* ---- threads ---- */

static void *resume_thrice(void *argument)
{
	for (int i = 0; i < 3; i++)
		resume(0);
	return argument;
}

static void *resume_twice(void *argument)
{
	resume(0);
	resume(0);
	return argument;
}

static void run_thread(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL) || pthread_join(thread, NULL))
		_exit(97);
}

/* The thread that began the calls is gone when another thread ends them. */
static int outlived(void *argument)
{
	(void)argument;
	start_all();
	expect(F(5)(1), 2);
	make_coroutine(0, 0, map(65536, NULL), 65536);
	run_thread(resume_twice);
	for (int i = 0; i < 3; i++)
		resume(0);
	return 0;
}

static int resumed_by_child(void *argument)
{
	int status;

	(void)argument;
	start_all();
	make_coroutine(0, 0, map(65536, NULL), 65536);
	resume(0);
	resume(0);
	pid_t pid = fork();
	resume_thrice(NULL);
	if (!pid)
		_exit(outcome->wrong);
	outcome->result[0] = pid;
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	return 0;
}

#define THREADS	   4
#define NEIGHBOURS 20000

static pthread_barrier_t barrier;

static long down(long n)
{
	volatile char frame[400];

	frame[0] = (char)n;
	return n ? F(9)(n - 1) + frame[0] - (char)n + 1 : 0;
}

static void *go_down(void *argument)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < NEIGHBOURS / 10; i++)
		expect(F(9)(9), 9);
	return argument;
}

/* Stacks that begin and end in the middle of pages. */
static int neighbours(void *argument)
{
	size_t size = 24576 + 2048;
	uint8_t *memory = map(THREADS * size, NULL);
	pthread_t thread[THREADS];
	pthread_attr_t attributes;

	(void)argument;
	start_all();
	f[9] = core_traced(TRAMP_INTERCEPT, 9, down);
	pthread_barrier_init(&barrier, NULL, THREADS);
	pthread_attr_init(&attributes);
	for (size_t i = 0; i < THREADS; i++) {
		if (pthread_attr_setstack(&attributes, memory + i * size, size) ||
			pthread_create(&thread[i], &attributes, go_down, NULL))
			return 97;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void test_threads(void)
{
	struct reading reading;
	size_t events = 0, wrong = 0, ends = 0;

	check(outlived, "a coroutine whose first thread ended", "E5 X5 X0 X0");
	if (core_read(core_folder(), outcome->pid, 1, FLOW_CHUNK, &reading))
		memset(&reading, 0, sizeof(reading));
	is_str(as_text(&reading), "E0 E0", "a coroutine whose first thread ended: that thread ended none of its calls");
	core_forget(&reading);
	check(resumed_by_child, "a coroutine that goes on in a forked child, too", "E0 E0 X0 X0");
	if (core_read(core_folder(), (pid_t)outcome->result[0], 0, FLOW_CHUNK, &reading))
		memset(&reading, 0, sizeof(reading));
	is_str(as_text(&reading), "X0 X0",
		"a coroutine that goes on in a forked child, too: its calls end there as well");
	core_forget(&reading);

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(neighbours, NULL, 60), 0, "threads on neighbouring stacks: the program runs to its end");
	is_int(outcome->wrong, 0, "threads on neighbouring stacks: results are right");
	for (unsigned n = 0; n < THREADS; n++) {
		long depth = 0;
		if (core_read(core_folder(), outcome->pid, n, FLOW_CHUNK, &reading))
			memset(&reading, 0, sizeof(reading));
		for (size_t i = 0; i < reading.count; i++) {
			depth += reading.event[i].type == TRACE_ENTRY ? 1 : -1;
			wrong += depth < 0 || depth > 10 || reading.event[i].type > TRACE_EXIT;
			ends += !depth;
		}
		events += reading.count + (n ? 0 : reading.lost);
		core_forget(&reading);
	}
	is_int((long long)events, 2ll * THREADS * NEIGHBOURS, "threads on neighbouring stacks: all events are there");
	is_int((long long)wrong, 0, "threads on neighbouring stacks: entries and exits nest, none is unwound");
	is_int((long long)ends, THREADS * NEIGHBOURS / 10,
		"threads on neighbouring stacks: each round ends all its calls");
}

/* ---- memory ---- */

static long memory_mapped(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld", &pages) != 1)
		_exit(96);
	fclose(file);
	return pages / 256; /* MiB */
}

#define STACKS 3000

/* Each stack at an address that was never used; unmapped afterwards, or protected and kept. */
static int ever_new(void *argument)
{
	size_t size = 1ul << 20;

	start_all();
	/* An address where no other code maps anything, AddressSanitizer included. */
	uint8_t *place = (uint8_t *)0x500000000000;
	expect(F(5)(1), 2); /* the first event maps the trace */
	long before = memory_mapped();
	for (size_t i = 0; i < STACKS; i++) {
		make_coroutine(0, 0, map(65536, place + i * size), 65536);
		f[0].cell->body = (uint64_t)(uintptr_t)leaf;
		f[0].cell->gate = (uint64_t)(uintptr_t)tramp_gate_point;
		resume(0);
		if (argument ? mprotect(place + i * size, 65536, PROT_NONE) : munmap(place + i * size, 65536))
			return 93;
	}
	outcome->result[0] = memory_mapped() - before;
	return 0;
}

static int mapped_again(void *argument)
{
	(void)argument;
	start_all();
	uint8_t *memory = map(65536, NULL);
	for (int i = 0; i < 3; i++) {
		make_coroutine(0, 0, memory, 65536);
		resume(0);
		resume(0);
		expect(F(5)(1), 2);
		if (mmap(memory, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
			memory)
			return 94;
	}
	return 0;
}

/* Opening a file kills. */
static int without_files(void *argument)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};

	(void)argument;
	start_all();
	expect(F(5)(1), 2);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 95;
	side_by_side(map(COROUTINES * 65536, NULL), 65536);
	return 0;
}

static void test_memory(void)
{
	for (int kept = 0; kept < 2; kept++) {
		static const char *const what[] = {"unmapped", "protected"};
		outcome = core_shared(sizeof(*outcome));
		is_int(core_child(ever_new, kept ? outcome : NULL, 60), 0,
			"3000 stacks at ever new addresses, %s: the program runs to its end", what[kept]);
		ok(outcome->result[0] < 400,
			"3000 stacks at ever new addresses, %s: of their mirrors' 6000 MiB %ld are left", what[kept],
			outcome->result[0]);
	}
	check(mapped_again, "a stack that is replaced under open calls, three times",
		"E0 E0 E5 X5 U0 U0 E0 E0 E5 X5 U0 U0 E0 E0 E5 X5");
	check(without_files, "stacks where no file can be opened", "E5 X5 " SIDE_BY_SIDE);
}

int main(void)
{
	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
	core_folder();
	test_coroutines();
	check(signal_stack_in_frame, "a handler on a stack in a frame that it interrupts",
		"E6 E1 E2 E5 X5 X2 E8 X8 E2 E5 X5 X2 E8 X8 X1 E1 E2 E5 X5 X2 E8 X8 E2 E5 X5 X2 E8 X8 X1 "
		"E1 E2 E5 X5 X2 E8 X8 E2 E5 X5 X2 E8 X8 X1 E8 X8 X6");
	test_threads();
	test_memory();
	return done_testing();
}
