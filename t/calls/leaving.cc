/* SPDX-License-Identifier: MIT */
/*
 * leaving WHAT: recurses through a traced function, leaves some of its calls without returning, calls on, and so on,
 * so that only one tree of calls is right. The library of t/calls/leaving.t has f_down() and f_leaf().
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" {
void f_down(int depth, void (*function)(int));
void f_leaf(void);
}

static jmp_buf env;

static void at_last(int)
{
}

/* Each goes down to 0 through f_down(), which calls what it is given. */
static void by_longjmp(int depth)
{
	if (depth == 0)
		longjmp(env, 1);
	f_down(depth - 1, by_longjmp);
	f_leaf();
}

static void by_throw(int depth)
{
	if (depth == 0)
		throw 1;
	f_down(depth - 1, by_throw);
	f_leaf();
}

/* Of calls 3, 2, 1, 0 the second one stops the exception or the jump, calls, and goes down again, quietly. */
static void catch_on_the_way(int depth)
{
	if (depth > 2) {
		f_down(depth - 1, catch_on_the_way);
		f_leaf();
		return;
	}
	try {
		f_down(1, by_throw);
	} catch (int) {
		f_leaf();
		f_down(0, at_last);
	}
}

static void jump_on_the_way(int depth)
{
	if (depth > 2) {
		f_down(depth - 1, jump_on_the_way);
		f_leaf();
	} else if (!setjmp(env)) {
		f_down(1, by_longjmp);
	} else {
		f_leaf();
		f_down(0, at_last);
	}
}

static void exit_thread(int depth)
{
	if (depth == 0)
		pthread_exit(nullptr);
	f_down(depth - 1, exit_thread);
}

static void exit_process(int depth)
{
	if (depth == 0)
		exit(6);
	f_down(depth - 1, exit_process);
}

static int ready[2], never[2];

static void wait_to_be_cancelled(int depth)
{
	char c = 0;

	if (depth)
		f_down(depth - 1, wait_to_be_cancelled);
	else if (write(ready[1], &c, 1) != 1 || read(never[0], &c, 1) != 1)
		std::puts("not cancelled");
}

static void *in_thread(void *function)
{
	f_leaf();
	f_down(2, reinterpret_cast<void (*)(int)>(function));
	return nullptr;
}

static void run_thread(void (*function)(int), bool cancel)
{
	pthread_t thread;
	char c;

	pthread_create(&thread, nullptr, in_thread, reinterpret_cast<void *>(function));
	if (cancel && read(ready[0], &c, 1) == 1)
		pthread_cancel(thread);
	pthread_join(thread, nullptr);
}

/* ---- coroutines ---- */

static ucontext_t here, there;
static char static_stack[256 << 10];

static void yield(int depth)
{
	if (depth) {
		f_down(depth - 1, yield);
		return;
	}
	f_leaf();
	swapcontext(&there, &here);
	f_leaf();
}

static void coroutine(void)
{
	f_down(2, yield);
	f_down(1, yield);
}

static void *resume(void *)
{
	f_leaf();
	swapcontext(&here, &there);
	return nullptr;
}

static void on_stack(void *stack, bool migrate)
{
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(static_stack);
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		if (migrate && i == 1) {
			pthread_create(&thread, nullptr, resume, nullptr);
			pthread_join(thread, nullptr);
		} else {
			resume(nullptr);
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	alarm(60);
	if (pipe(ready) || pipe(never))
		return 3;
	f_leaf();
	if (!std::strcmp(what, "longjmp")) {
		if (!setjmp(env))
			f_down(2, by_longjmp);
	} else if (!std::strcmp(what, "throw")) {
		try {
			f_down(2, by_throw);
		} catch (int) {
		}
	} else if (!std::strcmp(what, "throw-on-the-way")) {
		f_down(3, catch_on_the_way);
	} else if (!std::strcmp(what, "longjmp-on-the-way")) {
		f_down(3, jump_on_the_way);
	} else if (!std::strcmp(what, "pthread_exit")) {
		run_thread(exit_thread, false);
	} else if (!std::strcmp(what, "pthread_cancel")) {
		run_thread(wait_to_be_cancelled, true);
	} else if (!std::strcmp(what, "exit")) {
		f_down(2, exit_process);
	} else if (!std::strcmp(what, "static-stack")) {
		on_stack(static_stack, false);
	} else if (!std::strcmp(what, "heap-stack")) {
		on_stack(std::malloc(sizeof(static_stack)), false);
	} else if (!std::strcmp(what, "brk-stack")) {
		on_stack(sbrk(sizeof(static_stack)), false);
	} else if (!std::strcmp(what, "thread-stack")) {
		on_stack(static_stack, true);
	} else {
		return 2;
	}
	f_down(7, at_last);
	std::puts("done");
	return 5;
}
