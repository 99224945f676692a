// SPDX-License-Identifier: MIT
//
// The program whose trace the tests of xaudit export read (t/export/app.sh, where the numbers are). It has all that a
// format may come across: exceptions, recursion, threads, a plugin that is loaded again and again, children, coroutines
// that two threads take turns on, events and requests of its own, texts of any bytes, and names that mean something to
// those who read a format. Argument 1: the plugin.
#include "t/export/app.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void call_with_texts()
{
	shop_greet("plain");
	shop_greet("\"quoted\", with a \\ and 'single' ones");
	shop_greet("gr\303\274\303\237e \346\227\245\346\234\254 \360\237\220\247");
	shop_greet("control \001\033[31m\t\n bytes\177");
	shop_greet("not \377\376 UTF-8, <b>&amp;</b> \342\200\256bidi");
	shop_greet(nullptr);
	shop_measure(-7, 1.5, static_cast<unsigned char>(200), 0xfedcba9876543210ul);
}

// ---- threads ----

static void *run_worker(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "wor\"ker; %d", static_cast<int>(reinterpret_cast<long>(number)));
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < 100; i++)
		shop::work(i);
	return nullptr;
}

static void run_threads()
{
	pthread_t thread[3];

	for (long i = 0; i < 3; i++)
		if (pthread_create(&thread[i], nullptr, run_worker, reinterpret_cast<void *>(i + 1)))
			fail("pthread_create");
	for (pthread_t &one : thread)
		pthread_join(one, nullptr);
}

// ---- a plugin ----

static void load_again(const char *path)
{
	for (int round = 0; round < 4; round++) {
		void *plugin = dlopen(path, RTLD_NOW);
		if (!plugin)
			fail(dlerror());
		auto apply = reinterpret_cast<int (*)(int)>(dlsym(plugin, "plugin_apply"));
		for (int i = 0; i < 5; i++)
			apply(i);
		dlclose(plugin);
	}
}

// ---- children ----

static void make_children()
{
	for (int i = 0; i < 2; i++) {
		pid_t child = shop::spawn(i); // returns in the child, too
		int status;

		if (child < 0)
			fail("fork");
		if (!child) {
			xaudit_mark("child");
			shop::child(i);
			exit(0);
		}
		if (waitpid(child, &status, 0) != child || status)
			fail("waitpid");
	}
}

// ---- coroutines: each turn is another thread's ----

#define COROUTINES 2
#define STEPS 10

struct coroutine {
	ucontext_t own, back;
	bool over;
	char stack[65536];
};
static coroutine coroutines[COROUTINES];
static coroutine *now; // whose turn it is
static sem_t turn[2];

static void yield()
{
	coroutine *self = now;

	swapcontext(&self->own, &self->back);
}

static void begin_coroutine()
{
	coroutine *self = now;

	shop::co_body(yield, STEPS);
	self->over = true;
	swapcontext(&self->own, &self->back);
}

static void *take_turns(void *which)
{
	long own = reinterpret_cast<long>(which);

	pthread_setname_np(pthread_self(), own ? "odd" : "even");
	for (bool over = false; !over;) {
		while (sem_wait(&turn[own]))
			;
		over = true;
		for (coroutine &one : coroutines) {
			if (one.over)
				continue;
			now = &one;
			shop::resume([] { swapcontext(&now->back, &now->own); });
			over = over && one.over;
		}
		sem_post(&turn[!own]);
	}
	return nullptr;
}

static void run_coroutines()
{
	pthread_t thread[2];

	for (coroutine &one : coroutines) {
		getcontext(&one.own);
		one.own.uc_stack.ss_sp = one.stack;
		one.own.uc_stack.ss_size = sizeof(one.stack);
		one.own.uc_link = nullptr;
		makecontext(&one.own, begin_coroutine, 0);
	}
	for (long i = 0; i < 2; i++)
		sem_init(&turn[i], 0, !i);
	for (long i = 0; i < 2; i++)
		if (pthread_create(&thread[i], nullptr, take_turns, reinterpret_cast<void *>(i)))
			fail("pthread_create");
	for (pthread_t &one : thread)
		pthread_join(one, nullptr);
}

// ---- events of its own ----

struct order {
	uint32_t number, amount;
	char what[8];
};

static void tell_events()
{
	static const unsigned char bytes[8] = { 0, 1, 2, 0xff, 0xfe, '"', '\\', '\n' };
	int type = xaudit_register_type("shop.order");
	order one = { 7, 1250, "te\"a" };

	xaudit_event(bytes, sizeof(bytes));
	for (int i = 0; i < 3; i++) {
		one.number = 7 + i;
		shop::take(&one, sizeof(one), type);
	}
	xaudit_request("order 7, \"blue\"");
	shop::work(1);
	shop::work(2);
	xaudit_request_end();
	xaudit_request_number(8);
	shop::work(3);
	xaudit_request_end();
}

// ---- a call that is still open when the program ends ----

static sem_t open_call;

static void *stay(void *)
{
	pthread_setname_np(pthread_self(), "stays");
	shop::stay([] {
		sem_post(&open_call);
		pause();
	});
	return nullptr;
}

static void leave_open()
{
	pthread_t thread;

	sem_init(&open_call, 0, 0);
	if (pthread_create(&thread, nullptr, stay, nullptr))
		fail("pthread_create");
	while (sem_wait(&open_call))
		;
}

// Some processors' clocks tick every 10 ns. No two events of a thread may have one time, since readers sort by it.
__attribute__((target("general-regs-only"))) static void wait_for_clock(const xaudit_handler_event *, void *)
{
	const unsigned long long start = __rdtsc();

	while (__rdtsc() - start < 200)
		;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	xaudit_set_handler(XAUDIT_HANDLE_ENTRY | XAUDIT_GENERAL, wait_for_clock, nullptr);
	xaudit_set_handler(XAUDIT_HANDLE_EXIT | XAUDIT_GENERAL, wait_for_clock, nullptr);
	xaudit_mark("begins: \"quotes\", \303\274, and a \001");
	call_with_texts();
	shop::walk(5);
	for (int i = 0; i < 20; i++)
		shop::attempt(3);
	run_threads();
	load_again(argv[1]);
	make_children();
	run_coroutines();
	tell_events();
	for (int i = 0; i < 3; i++)
		shop::call_odd_names();
	leave_open();
	xaudit_mark("ends");
	return 0;
}
