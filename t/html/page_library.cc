// SPDX-License-Identifier: MIT
//
// libshop.so: what a server might do. Names of namespaces, templates and operators, recursion, an exception through
// traced functions, and one call in a hundred that waits.
#include "page_library.h"

#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>

namespace shop {

static void work(unsigned loops)
{
	for (volatile unsigned i = 0; i < loops; i = i + 1)
		;
}

template <typename Key> unsigned Cache<Key>::lookup(const Key &key)
{
	work(150);
	return static_cast<unsigned>(key.size()) % 4;
}
template struct Cache<std::string>;

unsigned Database::query(const char *table, int id)
{
	work(600 + 40 * static_cast<unsigned>(table[0] % 8));
	if (id % 100 == 37)
		std::this_thread::sleep_for(std::chrono::milliseconds(4));
	return static_cast<unsigned>(id) & 7;
}

unsigned Page::render_node(unsigned depth)
{
	work(60);
	return depth == 0 ? 1 : render_node(depth - 1) + (depth > 2 ? render_node(depth - 2) : 0);
}

unsigned Page::render(int id)
{
	work(200);
	return render_node(3 + static_cast<unsigned>(id) % 3);
}

void validate(int id)
{
	work(80);
	if (id % 10 == 9)
		throw std::invalid_argument("no such article");
}

unsigned compress(unsigned bytes)
{
	work(900 + bytes);
	return bytes / 2;
}

unsigned Server::handle(const char *path, int id)
{
	Cache<std::string> cache;
	Database database;
	Page page;
	unsigned sum = 0;

	try {
		validate(id);
	} catch (const std::invalid_argument &) {
		return 404;
	}
	for (unsigned i = 0; i < 3; i++)
		sum += cache.lookup(path + i);
	if (sum % 3 != 0 || id % 4 == 1)
		sum += database.query(path, id);
	return sum + compress(page.render(id));
}

} // namespace shop
