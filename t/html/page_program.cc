// SPDX-License-Identifier: MIT
//
// page_program THREADS REQUESTS: so many threads serve so many requests each by libshop.so (page_library.cc), each in a
// request of its own; a custom event "batch" tells each 50th, a mark the first slow one.
#include "page_library.h"

#include <cstdint>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <vector>

#include <xaudit.h>

static int batch;

static void serve(int thread, int requests)
{
	static const char *const paths[] = { "/articles", "/basket", "/search?q=<b>tea</b>", "/login" };
	static const char *const names[] = { "front", "basket", "search", "login", "more" };
	shop::Server server;

	pthread_setname_np(pthread_self(), names[thread % 5]);
	for (int i = 0; i < requests; i++) {
		uint32_t number = static_cast<uint32_t>(i);
		if (i % 50 == 0)
			xaudit_typed_event(batch, &number, sizeof(number));
		if (i == 37 && thread == 0)
			xaudit_mark("the slow one");
		xaudit_request_number(static_cast<uint64_t>(thread) * 100000 + number);
		server.handle(paths[(i + thread) % 4], i);
		xaudit_request_end();
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	batch = xaudit_register_type("batch");
	std::vector<std::thread> threads;
	for (int t = 0; t < atoi(argv[1]); t++)
		threads.emplace_back(serve, t, atoi(argv[2]));
	for (std::thread &t : threads)
		t.join();
}
