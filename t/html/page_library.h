// SPDX-License-Identifier: MIT
//
// libshop.so, for t/html: see page_library.cc.
#pragma once
#include <string>

namespace shop {

template <typename Key> struct Cache {
	unsigned lookup(const Key &key);
};

struct Database {
	unsigned query(const char *table, int id);
};

struct Page {
	unsigned render_node(unsigned depth);
	unsigned render(int id);
};

struct Server {
	unsigned handle(const char *path, int id);
};

void validate(int id);
unsigned compress(unsigned bytes);

} // namespace shop
