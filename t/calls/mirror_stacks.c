#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* Open calls: stacks of signal handlers, of coroutines, in the heap, and stacks that grow. */
#include "t/lib/tap.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "t/lib/flow_coroutines.h"

/* ---- signal stacks ---- */

static sigjmp_buf signal_env;
static volatile int leave_handler;

static void on_signal(int signal)
{
	(void)signal;
	expect(F(2)(5), 2 * 6);
	if (leave_handler)
		siglongjmp(signal_env, 1);
}

static long call_3_twice(long x)
{
	return 2 * F(3)(x);
}

static long raise_then_call(long x)
{
	raise(SIGUSR1);
	return KEEP(F(4)(x));
}

extern const char raise_then_tail[];
uint64_t tail_target_4;

__asm__("	.text\n"
	"raise_then_tail:\n"
	"	push %rdi\n"
	"	mov $10, %edi\n" /* SIGUSR1 */
	"	call raise@plt\n"
	"	pop %rdi\n"
	"	jmp *tail_target_4(%rip)\n");

static uint8_t *map_stack(size_t size)
{
	/* With an inaccessible page below: else adjacent stacks would become one mapping. */
	uint8_t *p = mmap(NULL, size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + 4096, size, PROT_READ | PROT_WRITE))
		_exit(98);
	return p + 4096;
}

static void use_signal_stack(void)
{
	stack_t stack = {.ss_sp = map_stack(65536), .ss_size = 65536};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	f[1] = core_traced(TRAMP_INTERCEPT, 1, raise_then_call);
	f[2] = core_traced(TRAMP_INTERCEPT, 2, call_3_twice);
	f[3] = core_traced(TRAMP_INTERCEPT, 3, leaf);
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
}

static int signal_stack(void *argument)
{
	(void)argument;
	start();
	use_signal_stack();
	expect(F(1)(5), 6);
	expect(F(1)(5), 6);
	return 0;
}

/* The handler's stack is the last one that the recorder saw when a tail call comes. */
static int signal_stack_tail(void *argument)
{
	(void)argument;
	start();
	use_signal_stack();
	f[1].cell->body = (uint64_t)(uintptr_t)raise_then_tail;
	tail_target_4 = f[4].call;
	expect(F(1)(5), 6);
	f[4].cell->gate = (uint64_t)(uintptr_t)tramp_gate_point;
	expect(F(1)(5), 6);
	return 0;
}

static int signal_stack_first(void *argument)
{
	(void)argument;
	start();
	use_signal_stack();
	raise(SIGUSR1); /* the first event is the handler's */
	expect(F(1)(5), 6);
	return 0;
}

static long leave_by_jump(long x)
{
	siglongjmp(signal_env, (int)x);
}

/* The handler's calls are left open on its stack: they end when the stack is used again, at the latest. */
static int signal_stack_left(void *argument)
{
	(void)argument;
	start();
	use_signal_stack();
	f[3].cell->body = (uint64_t)(uintptr_t)leave_by_jump;
	if (!sigsetjmp(signal_env, 1))
		F(1)(5);
	expect(F(4)(1), 2);
	f[3].cell->body = (uint64_t)(uintptr_t)leaf;
	expect(F(1)(5), 6);
	return 0;
}

static void test_signal_stacks(void)
{
	struct reading reading;
	int ends[10] = {0};

	check(signal_stack, "a handler on its own stack", "E1 E2 E3 X3 X2 E4 X4 X1 E1 E2 E3 X3 X2 E4 X4 X1");
	check(signal_stack_tail, "a tail call after a handler on its own stack",
		"E1 E2 E3 X3 X2 T1 E4 X4 E1 E2 E3 X3 X2 P4 X1");
	check(signal_stack_first, "a handler with the first event", "E2 E3 X3 X2 E1 E2 E3 X3 X2 E4 X4 X1");
	reading = run(signal_stack_left, "a handler that is left by siglongjmp");
	for (size_t i = 0; i < reading.count; i++)
		ends[reading.event[i].id] += reading.event[i].type == TRACE_ENTRY ? 1 : -1;
	ok(reading.count == 16 && !ends[1] && !ends[2] && !ends[3] && !ends[4],
		"a handler that is left by siglongjmp: each call ends once: %s", as_text(&reading));
	core_forget(&reading);
}

/* ---- coroutines ---- */

static int coroutines(void *argument)
{
	(void)argument;
	start();
	for (int n = 0; n < COROUTINES; n++)
		make_coroutine(n, (uint32_t)n, map_stack(65536), 65536);
	for (int round = 0; round < 5; round++)
		for (int n = 0; n < COROUTINES; n++)
			resume(round % 2 ? n : COROUTINES - 1 - n);
	return 0;
}

static void *resume_thrice(void *argument)
{
	(void)argument;
	outcome->result[0] = (long)gettid();
	for (int i = 0; i < 3; i++)
		resume(0);
	return NULL;
}

/* A call begins in one thread and ends in another. */
static int migration(void *argument)
{
	pthread_t thread;

	(void)argument;
	start();
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	make_coroutine(0, 1, map_stack(65536), 65536);
	F(4)(1);
	resume(0);
	resume(0);
	F(4)(1);
	if (pthread_create(&thread, NULL, resume_thrice, NULL) || pthread_join(thread, NULL))
		return 1;
	F(4)(1);
	return 0;
}

static int heap_stack(void *argument)
{
	void *stack = sbrk(65536 + 4096);

	(void)argument;
	start();
	f[4] = core_traced(TRAMP_INTERCEPT, 4, leaf);
	expect(F(4)(1), 2);
	make_coroutine(0, 1, (void *)(((uintptr_t)stack + 4095) & ~4095ul), 65536);
	for (int i = 0; i < 5; i++) {
		resume(0);
		expect(F(4)(1), 2);
	}
	return 0;
}

static void test_coroutines(void)
{
	struct reading reading;
	struct trace_head head;

	check(coroutines, "four coroutines", "E3 E2 E1 E0 E0 E1 E2 E3 X0 X1 X2 X3 X3 X2 X1 X0");
	check(migration, "a coroutine that moves to another thread", "E4 X4 E1 E1 E4 X4 E4 X4");
	if (core_read(core_folder(), outcome->pid, 1, FLOW_CHUNK, &reading))
		memset(&reading, 0, sizeof(reading));
	is_str(as_text(&reading), "X1 X1", "a coroutine that moves to another thread: its calls end there");
	core_forget(&reading);
	check(heap_stack, "a coroutine on a stack in the heap", "E4 X4 E1 E4 X4 E1 E4 X4 E4 X4 X1 E4 X4 X1 E4 X4");
	ok(!core_read_head(core_folder(), outcome->pid, &head) && head.no_mirror == 0,
		"a coroutine on a stack in the heap: it has a mirror");
}

/* ---- a stack that grows ---- */

static size_t frame_size;

static long grow(long n)
{
	volatile char frame[frame_size];

	frame[0] = frame[frame_size - 1] = (char)n;
	long r = n ? F(1)(n - 1) + 1 : 0;
	return r + frame[0] - (char)n;
}

static int growing(void *argument)
{
	struct rlimit limit;

	(void)argument;
	getrlimit(RLIMIT_STACK, &limit);
	/* Three quarters of the stack's size limit. */
	frame_size = (limit.rlim_cur > 8ul << 20 ? 8ul << 20 : limit.rlim_cur) * 3 / 4 / 100;
	start();
	f[1] = core_traced(TRAMP_INTERCEPT, 1, grow);
	expect(F(1)(0), 0);
	expect(F(1)(99), 99);
	expect(F(1)(99), 99);
	return 0;
}

static void test_growing(void)
{
	struct reading reading = run(growing, "a stack that grows by 6 MiB");
	size_t wrong = 0;

	is_int((long long)reading.count, 402, "a stack that grows by 6 MiB: all events are there");
	for (size_t i = 2; i < reading.count; i++)
		wrong += reading.event[i].type != ((i - 2) / 100 % 2 ? TRACE_EXIT : TRACE_ENTRY);
	is_int((long long)wrong, 0, "a stack that grows by 6 MiB: all entries, then all exits");
	core_forget(&reading);
}

int main(void)
{
	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer keeps the addresses of mirrors for itself");
	core_folder();
	test_signal_stacks();
	test_coroutines();
	test_growing();
	return done_testing();
}
