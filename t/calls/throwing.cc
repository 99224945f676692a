/* SPDX-License-Identifier: MIT */
/*
 * A plugin that throws through its host and lets the host throw through it; throwing_host.cc opens it. Each
 * returns what tells that all destructors ran.
 */
#include <cstdio>
#include <stdexcept>
#include <string>

struct Counter {
	int &n;
	explicit Counter(int &counter) : n(counter)
	{
	}
	~Counter()
	{
		n++;
	}
};

extern "C" {
int plugin_throw(int depth, int *destroyed);
int plugin_call(int (*host)(void *, int *), void *argument, int *destroyed);
int plugin_catch(int (*host)(void *, int *), void *argument, int *destroyed);

int plugin_throw(int depth, int *destroyed)
{
	Counter counter(*destroyed);
	if (depth > 0)
		return plugin_throw(depth - 1, destroyed) + 1;
	throw std::runtime_error("from the plugin");
}

int plugin_call(int (*host)(void *, int *), void *argument, int *destroyed)
{
	Counter counter(*destroyed);
	return host(argument, destroyed) + 1;
}

int plugin_catch(int (*host)(void *, int *), void *argument, int *destroyed)
{
	Counter counter(*destroyed);
	try {
		return host(argument, destroyed);
	} catch (const std::string &text) {
		std::printf("plugin caught %s, %d destroyed\n", text.c_str(), *destroyed);
		throw std::logic_error("out of a handler");
	}
}
}
