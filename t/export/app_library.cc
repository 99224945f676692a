// SPDX-License-Identifier: MIT
// The library of t/export/app.cc: small functions, which take some time.
#include "t/export/app.h"

#include <cstring>
#include <stdexcept>
#include <unistd.h>

#define NOINLINE __attribute__((noipa))

// Code that no compiler takes out, so that nothing is a tail call.
static volatile int spent;
static NOINLINE void spend(int n) __attribute__((patchable_function_entry(0, 0)));
static void spend(int n)
{
	for (int i = 0; i < n; i++)
		spent = spent + i;
}

int shop_greet(const char *name)
{
	spend(10);
	return name ? static_cast<int>(strlen(name)) : -1;
}

long shop_measure(int number, double real, unsigned char small, unsigned long large)
{
	spend(10);
	return number + static_cast<long>(real) + small + static_cast<long>(large & 1);
}

// t/export/app.sh writes other names over these, as long as these are.
#define ODD(name, number) \
	extern "C" { \
	static NOINLINE void name##_##number() \
	{ \
		spend(10 + number % 10); \
	} \
	}
ODD(odd_name_of_a_function, 100)
ODD(odd_name_of_a_function, 101)
ODD(odd_name_of_a_function, 102)
ODD(odd_name_of_a_function, 103)
ODD(odd_name_of_a_function, 104)
ODD(odd_name_of_a_function, 105)
ODD(odd_name_of_a_function, 106)
ODD(odd_name_of_a_function, 107)
ODD(odd_name_of_a_function, 108)
ODD(odd_name_of_a_function, 109)

namespace shop {

template <typename T> NOINLINE int tree<T>::walk(int depth)
{
	spend(5);
	return depth ? walk(depth - 1) + walk(depth - 1) + 1 : 1;
}

int walk(int depth)
{
	int nodes = tree<std::map<std::string, std::vector<std::pair<int, const char *>>>>::walk(depth);

	spend(5);
	return nodes;
}

NOINLINE void dig(int depth)
{
	spend(5);
	if (!depth)
		throw std::runtime_error("rock");
	dig(depth - 1);
	spend(5);
}

NOINLINE int attempt(int depth)
{
	try {
		dig(depth);
	} catch (const std::runtime_error &) {
		spend(5);
		return 1;
	}
	return 0;
}

NOINLINE int leaf(int number)
{
	spend(10);
	return number + 1;
}

NOINLINE void work(int number)
{
	spend(10);
	leaf(number);
	leaf(number);
	spend(10);
}

NOINLINE int spawn(int number)
{
	spend(number);
	pid_t child = fork();
	spend(number);
	return child;
}

NOINLINE void child(int number)
{
	for (int i = 0; i < 7; i++)
		leaf(number);
	spend(5);
}

NOINLINE void co_step(function *yield)
{
	spend(10);
	yield();
	spend(10);
	yield();
	spend(10);
}

NOINLINE void co_body(function *yield, int steps)
{
	for (int i = 0; i < steps; i++)
		co_step(yield);
	spend(5);
}

NOINLINE void resume(function *go)
{
	spend(5);
	go();
	spend(5);
}

NOINLINE void take(const void *data, size_t size, int type)
{
	spend(5);
	xaudit_typed_event(type, data, size);
	spend(5);
}

NOINLINE void stay(function *wait)
{
	wait();
	spend(5);
}

void call_odd_names()
{
	odd_name_of_a_function_100();
	odd_name_of_a_function_101();
	odd_name_of_a_function_102();
	odd_name_of_a_function_103();
	odd_name_of_a_function_104();
	odd_name_of_a_function_105();
	odd_name_of_a_function_106();
	odd_name_of_a_function_107();
	odd_name_of_a_function_108();
	odd_name_of_a_function_109();
	spend(5);
}

}
