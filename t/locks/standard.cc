// SPDX-License-Identifier: MIT
//
// Locks of C++'s standard library, in known numbers: a writer holds a shared_mutex 20 ms while three readers wait, a
// consumer waits for a condition_variable, and a timed mutex is tried in vain.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

std::shared_mutex table;
std::mutex basket;
std::condition_variable filled;
std::timed_mutex slow;
std::recursive_mutex again;

static std::atomic<int> step;
static bool full;

static void await(int wanted)
{
	while (step < wanted)
		std::this_thread::sleep_for(1ms);
}

static void write_table()
{
	std::unique_lock<std::shared_mutex> lock(table);
	step++;
	await(4);
	std::this_thread::sleep_for(20ms);
}

static void read_table()
{
	await(1);
	step++;
	std::shared_lock<std::shared_mutex> lock(table);
}

static void consume()
{
	std::unique_lock<std::mutex> lock(basket);
	step++;
	filled.wait(lock, [] { return full; });
}

static void produce()
{
	await(5);
	std::this_thread::sleep_for(10ms);
	{
		std::lock_guard<std::mutex> lock(basket);
		full = true;
	}
	filled.notify_one();
}

int main()
{
	std::vector<std::thread> threads;

	threads.emplace_back(write_table);
	for (int i = 0; i < 3; i++)
		threads.emplace_back(read_table);
	for (auto &thread : threads)
		thread.join();
	threads.clear();
	threads.emplace_back(consume);
	threads.emplace_back(produce);
	for (auto &thread : threads)
		thread.join();
	{
		std::lock_guard<std::timed_mutex> lock(slow);
		std::thread([] { slow.try_lock_for(5ms); }).join();
	}
	for (int i = 0; i < 7; i++) {
		std::lock_guard<std::recursive_mutex> outer(again);
		std::lock_guard<std::recursive_mutex> inner(again);
	}
	// Both at once, in either order: no inversion.
	for (int i = 0; i < 3; i++) {
		std::scoped_lock forth(basket, again);
	}
	for (int i = 0; i < 3; i++) {
		std::scoped_lock back(again, basket);
	}
}
