/* SPDX-License-Identifier: MIT */
/*
 * walks throw|frames|signals|coroutines COUNT: calls point(), which calls crc32() of zlib, in many situations: while
 * exceptions unwind, in frames of all kinds, in handlers of signals that came in anywhere, on other stacks.
 */
#include <alloca.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include <algorithm>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

/* Of zlib, whose header may not be there. */
extern "C" unsigned long crc32(unsigned long before, const unsigned char *bytes, unsigned size);

#define NOINLINE __attribute__((noinline))
#define STAYS asm volatile("" : : : "memory") /* behind a call: it is no jump then */

static volatile unsigned long sum;

static NOINLINE void point()
{
	sum = sum + crc32(0, reinterpret_cast<const unsigned char *>("abc"), 3);
	STAYS;
}

/* ---- exceptions ---- */

struct Guard {
	NOINLINE ~Guard()
	{
		point();
	}
};

static NOINLINE void fall(int n)
{
	Guard guard;

	if (!n)
		throw std::string("end");
	if (n % 3 == 0) {
		try {
			fall(n - 1);
		} catch (int) {
			point();
		}
	} else if (n % 3 == 1) {
		try {
			fall(n - 1);
		} catch (const std::string &) {
			point();
			if (n > 6)
				throw n;
			throw;
		} catch (int) {
			point();
			throw std::string("again");
		}
	} else {
		fall(n - 1);
	}
	point();
}

static void throws(int count)
{
	for (int i = 0; i < count; i++) {
		try {
			fall(i % 14);
		} catch (...) {
			point();
		}
	}
}

/* ---- frames ---- */

static NOINLINE void of_any_size(int n)
{
	char *room = static_cast<char *>(alloca(static_cast<size_t>(n) * 16 + 1));
	asm volatile("" : : "r"(room) : "memory");
	point();
	STAYS;
}

static NOINLINE void aligned(int n)
{
	alignas(128) volatile char room[128];
	room[n] = 1;
	point();
	STAYS;
}

static NOINLINE void aligned_of_any_size(int n)
{
	alignas(128) volatile char room[128];
	room[n] = 1;
	of_any_size(n);
	char *more = static_cast<char *>(alloca(static_cast<size_t>(n) * 16 + 1));
	asm volatile("" : : "r"(more) : "memory");
	point();
	STAYS;
}

/* Its rule does not fit where a thread keeps rules. */
static NOINLINE void large(int n)
{
	volatile char room[40000];
	room[n] = 1;
	point();
	STAYS;
}

static NOINLINE void many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	point();
	sum = sum + static_cast<unsigned long>(a + b + c + d + e + f + g + h);
	STAYS;
}

static NOINLINE int nested(int n, const std::function<int(int)> &function)
{
	if (!n)
		return function(n);
	int result = nested(n - 1, [&](int k) {
		point();
		return function(k) + 1;
	});
	return result + 1;
}

static int compare(const void *a, const void *b)
{
	point();
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

struct Base {
	virtual void go(int n)
	{
		point();
		if (n)
			go(n - 1);
		STAYS;
	}
	virtual ~Base()
	{
		point();
	}
};

struct Derived : Base {
	void go(int n) override
	{
		Base::go(n);
		STAYS;
	}
	~Derived() override
	{
		point();
	}
};

static void frames(int count)
{
	for (int i = 0; i < count; i++) {
		of_any_size(i % 7);
		aligned(i % 100);
		aligned_of_any_size(i % 5);
		large(i % 100);
		many(1, 2, 3, 4, 5, 6, 7, 8);
		nested(i % 8, [](int k) {
			point();
			return k;
		});
		int numbers[6] = { 5, 2, 4, 1, 3, 0 };
		qsort(numbers, 6, sizeof(*numbers), compare);
		std::vector<int> more{ 4, 2, 3, 1 };
		std::sort(more.begin(), more.end(), [](int a, int b) {
			point();
			return a < b;
		});
		Base *object = new Derived;
		object->go(i % 4);
		delete object;
	}
}

/* ---- signals, at any instruction of what runs ---- */

static volatile sig_atomic_t left;

static void arm()
{
	static unsigned random;
	struct itimerval time = {};

	random = random * 1103515245u + 12345;
	time.it_value.tv_usec = 1 + static_cast<int>(random >> 16) % 40;
	setitimer(ITIMER_VIRTUAL, &time, nullptr);
}

static void handler(int)
{
	point();
	left = left - 1;
	arm();
}

static NOINLINE unsigned work(unsigned n)
{
	unsigned result = n;

	for (unsigned i = 0; i < n % 9; i++)
		result = result * 31 + work(n / 2);
	return result + static_cast<unsigned>(snprintf(nullptr, 0, "%u %f", n, 1.5));
}

static void signals(int count)
{
	struct sigaction action = {};
	stack_t stack = {};

	stack.ss_size = 65536;
	stack.ss_sp = std::malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
	for (int part = 0; part < 2; part++) {
		left = count;
		action.sa_handler = handler;
		action.sa_flags = part ? SA_RESTART | SA_ONSTACK : SA_RESTART;
		sigaction(SIGVTALRM, &action, nullptr);
		arm();
		for (unsigned i = 0; left > 0; i++)
			sum = sum + work(i % 30);
	}
}

/* ---- coroutines ---- */

static ucontext_t scheduler, other[4];
static int to_go;

static NOINLINE void turns(int k, int n)
{
	point();
	if (n)
		turns(k, n - 1);
	swapcontext(&other[k], &scheduler);
	point();
}

static void body(int k)
{
	while (to_go)
		turns(k, k * 3);
}

struct Task {
	struct promise_type {
		Task get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::abort();
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static Task steps(int n)
{
	for (int i = 0; i < n; i++) {
		point();
		co_await std::suspend_always{};
		point();
	}
}

static void coroutines(int count)
{
	to_go = count;
	for (int k = 0; k < 4; k++) {
		getcontext(&other[k]);
		other[k].uc_stack.ss_size = 65536;
		other[k].uc_stack.ss_sp = std::malloc(other[k].uc_stack.ss_size);
		other[k].uc_link = &scheduler;
		makecontext(&other[k], reinterpret_cast<void (*)()>(body), 1, k);
	}
	Task task = steps(count);
	for (; to_go > 0; to_go--) {
		for (int k = 0; k < 4; k++)
			swapcontext(&scheduler, &other[k]);
		if (!task.handle.done())
			task.handle.resume();
		point();
	}
	task.handle.destroy();
}

int main(int argc, char **argv)
{
	const std::string what = argc == 3 ? argv[1] : "";
	const int count = argc == 3 ? std::atoi(argv[2]) : 0;

	if (what == "throw")
		throws(count);
	else if (what == "frames")
		frames(count);
	else if (what == "signals")
		signals(count);
	else if (what == "coroutines")
		coroutines(count);
	else
		return 2;
	std::printf("%lu\n", sum);
	return 0;
}
