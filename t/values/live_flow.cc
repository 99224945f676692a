// SPDX-License-Identifier: MIT
//
// live_flow WHAT: calls that nest, stay open, and are left, and whose values tell of each other (live_flow.awk). Ends
// with the number of calls of each function that it made, and of those that were left.
//
//	fork		forks in the middle of calls; parent and child go on
//	threads [N]	eight at once, each N times as long as without N
//	coroutines	calls that stay open while others are made on other stacks
//	leave		longjmp and exceptions, through several calls
//	tail		functions that end by a jump to another one
//	signals N	a timer's handler makes calls, too, until it came so often
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" {
// Calls during(in), if that is not NULL, and writes 2 * in; returns in.
int v_swap(int in, long *out, void (*during)(int));
// Returns the sum.
long v_quick(int in, long more);
// Returns its argument; the text is the number.
int v_number(int in, const char *text);
// Jumps to v_number(), or to next(), with in + 1.
int v_tail(int in, const char *text, int (*next)(int, const char *));
}

static void fail(const char *what)
{
	perror(what);
	_exit(3);
}

static void number(int in)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", in);
	if (v_number(in, text) != in || v_quick(in, 5) != in + 5l)
		fail("v_number");
}

static void swap(int in, void (*during)(int))
{
	long out = 0;

	if (v_swap(in, &out, during) != in || out != 2l * in)
		fail("v_swap");
}

static void deeper(int in)
{
	if (in % 8)
		swap(in + 1, deeper);
	number(in);
}

// ---- fork ----

static int is_child;

static void forks(int in)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	is_child |= !pid;
	for (int i = 0; i < 100; i++)
		number(in + i);
	if (pid && waitpid(pid, nullptr, 0) != pid)
		fail("waitpid");
}

static void fork_twice(int in)
{
	swap(in + 1, forks);
	swap(in + 2, deeper);
	swap(in + 3, forks);
}

// ---- threads ----

static int times = 1;

static void *thread(void *argument)
{
	const int from = (int)(long)argument * 1000000;

	for (int i = 0; i < 304 * times; i++)
		swap(from + i, deeper);
	return nullptr;
}

static void threads(int n)
{
	pthread_t id[8];

	times = n;
	for (long i = 0; i < 8; i++)
		if (pthread_create(&id[i], nullptr, thread, (void *)i))
			fail("pthread_create");
	for (pthread_t i : id)
		pthread_join(i, nullptr);
}

// ---- coroutines ----

constexpr int COROUTINES = 6, ROUNDS = 50;
static ucontext_t home, coroutine[COROUTINES];
static int current;

static void away(int)
{
	swapcontext(&coroutine[current], &home);
}

static void in_away(int in)
{
	swap(in + 1, away);
	number(in);
}

static void run_coroutine()
{
	for (int i = 0; i < ROUNDS; i++)
		swap(1000 * current + i, in_away);
}

// Stacks: on the heap, side by side without a guard page in between, and in this frame.
static void coroutines()
{
	const size_t size = 32 << 10;
	alignas(64) char frame[2][32 << 10];
	char *side = (char *)mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *stacks[COROUTINES] = { (char *)malloc(size), (char *)malloc(size), side, side + size, frame[0],
		frame[1] };

	if (side == MAP_FAILED)
		fail("mmap");
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = stacks[i];
		coroutine[i].uc_stack.ss_size = size;
		coroutine[i].uc_link = &home;
		makecontext(&coroutine[i], run_coroutine, 0);
	}
	// Each goes away once in each of its rounds.
	for (int round = 0; round <= ROUNDS; round++)
		for (current = 0; current < COROUTINES; current++) {
			swapcontext(&home, &coroutine[current]);
			number(round);
		}
	munmap(side, 2 * size);
}

// ---- calls that are left ----

static jmp_buf env;

static void jumps(int in)
{
	if (in % 4)
		swap(in + 1, jumps);
	longjmp(env, 1);
}

static void throws(int in)
{
	if (in % 4)
		swap(in + 1, throws);
	throw in;
}

static void leave(int)
{
	for (int i = 0; i < 100; i++) {
		if (!setjmp(env))
			swap(4 * i + 1, jumps);
		number(i);
		try {
			swap(4 * i + 1, throws);
		} catch (int) {
			number(i);
		}
	}
}

// ---- jumps to others ----

static void tail(int)
{
	for (int i = 0; i < 100; i++)
		if (v_tail(i, "1", v_number) != i + 1)
			fail("v_tail");
}

// ---- handlers ----

static volatile sig_atomic_t handled;

static void on_alarm(int)
{
	handled = handled + 1;
	swap(500000, deeper);
	number(handled);
}

static void handlers(int most)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = {};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, nullptr);
	while (handled < most)
		swap(1, deeper);
	setitimer(ITIMER_REAL, &never, nullptr);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "fork"))
		swap(1, fork_twice);
	else if (!strcmp(what, "threads"))
		threads(argc > 2 ? atoi(argv[2]) : 1);
	else if (!strcmp(what, "coroutines"))
		coroutines();
	else if (!strcmp(what, "leave"))
		swap(1, leave);
	else if (!strcmp(what, "tail"))
		swap(1, tail);
	else if (!strcmp(what, "signals"))
		handlers(argc > 2 ? atoi(argv[2]) : 0);
	else
		return 2;
	return 0;
}
