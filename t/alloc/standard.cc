// SPDX-License-Identifier: MIT
// What the standard library of C++ allocates: texts, lists, trees, shared objects; and exceptions, unless there is an
// argument: under xaudit ld.so allocates a block for libstdc++'s variables of a thread then, which it does not else.
#include <list>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

static std::map<std::string, std::vector<int>> all;
static std::shared_ptr<std::string> *kept;

static void fill(int n)
{
	std::ostringstream name;
	name << "a name that is too long to be kept in place " << n;
	for (int i = 0; i < n % 50; i++)
		all[name.str()].push_back(i);
}

static int fail(int n)
{
	try {
		throw std::runtime_error("number " + std::to_string(n) + " has failed, which is told at length");
	} catch (const std::exception &e) {
		return *e.what();
	}
}

int main(int argc, char **)
{
	std::list<std::unique_ptr<std::string>> list;

	for (int i = 0; i < 300; i++) {
		fill(i);
		list.push_back(std::make_unique<std::string>(static_cast<size_t>(i), 'x'));
		if (i % 3 == 0)
			list.pop_front();
		if (argc < 2 && fail(i) != 'n')
			return 1;
	}
	kept = new std::shared_ptr<std::string>(std::make_shared<std::string>(1000, 'y'));
}
