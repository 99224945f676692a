// SPDX-License-Identifier: MIT
// Allocates by all functions that there are, once each, and frees all; and leaves 1000 blocks of 24 bytes.
#include <cstdlib>
#include <new>

struct small {
	int number[10];
};

static void *volatile kept;

__attribute__((noinline)) static void leak()
{
	kept = malloc(24);
}

int main(int argc, char **)
{
	small *volatile one = new small;
	delete one;
	small *volatile five = new small[5];
	delete[] five;
	small *volatile quiet = new (std::nothrow) small;
	operator delete(quiet, std::nothrow);
	void *volatile block = reallocarray(nullptr, 3, 7);
	block = reallocarray(block, 30, 7);
	/* It fails: the block lives on. Without, for valgrind, which counts it, if there is an argument. */
	if (argc < 2)
		free(realloc(block, static_cast<size_t>(1) << 62));
	free(block);
	block = calloc(3, 5);
	free(block);
	void *aligned;
	if (posix_memalign(&aligned, 64, 100))
		return 1;
	free(aligned);
	block = aligned_alloc(64, 128);
	free(block);
	for (int i = 0; i < 1000; i++)
		leak();
}
