// SPDX-License-Identifier: MIT
//
// A correct program that takes two mutexes in memory in both orders, which are other mutexes each time: nothing tells
// of the end of a std::mutex.
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

struct Node {
	std::mutex lock;
};

static char *space;

static void hand_over_hand(int first, int second)
{
	Node *one = new (space + 64 * first) Node, *two = new (space + 64 * second) Node;

	{
		std::lock_guard<std::mutex> outer(one->lock);
		std::lock_guard<std::mutex> inner(two->lock);
	}
	one->~Node();
	two->~Node();
}

int main()
{
	space = static_cast<char *>(std::malloc(128));
	std::thread([] { hand_over_hand(0, 1); }).join();
	std::thread([] { hand_over_hand(1, 0); }).join();
	std::free(space);
}
