#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* Patching at load: the bytes, the runs of pages, their protections, and a refusal in the middle. */
#include "t/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t/lib/core.h"
#include "x86_64/patch.h"

#define PAGE  4096ul
#define PAGES 16
#define SIZE  (PAGES * PAGE)
#define RX    (PROT_READ | PROT_EXEC)

/* A file of PAGES pages; byte i is i * 7 + i / 256. Returns a descriptor open for reading and writing, and its path. */
static int make_file(char path[100])
{
	static unsigned n;
	static uint8_t bytes[SIZE];

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	snprintf(path, 100, "%s/text%u", core_folder(), n++);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, bytes, SIZE) != SIZE)
		bail("can't write %s", path);
	return fd;
}

static uint8_t original(size_t i)
{
	return (uint8_t)(i * 7 + i / 256);
}

static uint8_t *map_file(int fd, void *at, size_t size, int prot, int flags, size_t offset)
{
	void *p = mmap(at, size, prot, flags, fd, (off_t)offset);

	if (p == MAP_FAILED)
		bail("mmap: %s", strerror(errno));
	return p;
}

static struct patch make_patch(const uint8_t *text, size_t offset, uint8_t size, uint8_t seed)
{
	struct patch patch = {.address = (uint64_t)(uintptr_t)text + offset, .size = size};

	for (uint8_t i = 0; i < size; i++)
		patch.bytes[i] = (uint8_t) ~(original(offset + i) ^ seed);
	return patch;
}

/* Counts bytes of text that are not the file's nor, within a patch, the patch's. */
static size_t wrong_bytes(const uint8_t *text, const struct patch *patch, size_t count)
{
	size_t wrong = 0;

	for (size_t i = 0; i < SIZE; i++) {
		uint8_t expected = original(i);
		for (size_t j = 0; j < count; j++) {
			size_t at = (uint64_t)(uintptr_t)text + i - patch[j].address;
			if (at < patch[j].size)
				expected = patch[j].bytes[at];
		}
		wrong += text[i] != expected;
	}
	return wrong;
}

static int all_pages_are(const uint8_t *text, size_t from, size_t to, const char *protection)
{
	for (size_t page = from; page < to; page++)
		if (strcmp(core_protection((uint64_t)(uintptr_t)text + page * PAGE), protection) != 0)
			return 0;
	return 1;
}

static void test_runs(void)
{
	char path[100];
	int fd = make_file(path);
	uint8_t *text = map_file(fd, NULL, SIZE, RX, MAP_PRIVATE, 0);
	size_t done = 99;
	/*
	 * Pages 0, 1-2 (across their border), 3 full to its end: one run. Page 7 alone; 10 and 11 from its first byte.
	 */
	const struct patch patch[] = {
		make_patch(text, 0, 5, 1),
		make_patch(text, 17, 11, 2),
		make_patch(text, 2 * PAGE - 3, 11, 3),
		make_patch(text, 3 * PAGE + 100, 2, 4),
		make_patch(text, 4 * PAGE - 16, 16, 5),
		make_patch(text, 7 * PAGE + 2000, 7, 6),
		make_patch(text, 11 * PAGE - 5, 5, 7),
		make_patch(text, 11 * PAGE, 1, 8),
		make_patch(text, PAGES * PAGE - 11, 11, 9),
	};
	size_t count = sizeof(patch) / sizeof(*patch);

	is_int(patch_at_load(patch, count, RX, &done), 0, "patches on eight pages in four runs are written");
	is_int((long long)done, (long long)count, "and all are counted as done");
	is_int((long long)wrong_bytes(text, patch, count), 0, "each byte is the patch's inside and the file's outside");
	ok(all_pages_are(text, 0, PAGES, "r-xp"), "all pages have their protection again");

	/* Pages that were not written to still show the file's contents; the others are copies. */
	static const uint8_t mark = 0xaa;
	static const uint8_t touched[PAGES] = {
		[0] = 1, [1] = 1, [2] = 1, [3] = 1, [7] = 1, [10] = 1, [11] = 1, [15] = 1};
	int untouched = 0, copies = 0;
	for (size_t page = 0; page < PAGES; page++) {
		size_t at = page * PAGE + 1000;
		uint8_t was = original(at), other = was == mark ? 0x55 : mark;
		if (pwrite(fd, &other, 1, (off_t)at) != 1)
			bail("pwrite: %s", strerror(errno));
		untouched += !touched[page] && ((volatile uint8_t *)text)[at] == other;
		copies += touched[page] && ((volatile uint8_t *)text)[at] == was;
	}
	is_int(untouched, PAGES - 8, "pages between the runs are still the file's own");
	is_int(copies, 8, "the patched pages are private copies");

	is_int(patch_at_load(patch, 0, RX, &done), 0, "no patches are no error");
	is_int((long long)done, 0, "and none are done");
	is_int(patch_at_load(&patch[5], 1, PROT_READ, &done), 0, "text that is read only gets one");
	ok(all_pages_are(text, 7, 8, "r--p") && all_pages_are(text, 8, PAGES, "r-xp"),
		"and the protection that was given, on its page alone");
	munmap(text, SIZE);
	close(fd);
}

/*
 * Pages `from` to `to` are a shared mapping of a file that was opened for reading: the kernel refuses to make them
 * writable, even for root.
 */
static uint8_t *map_with_refusal(size_t from, size_t to)
{
	char path[100];
	int fd = make_file(path), read_only = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *text = map_file(fd, NULL, SIZE, RX, MAP_PRIVATE, 0);

	if (read_only < 0)
		bail("open: %s", strerror(errno));
	map_file(read_only, text + from * PAGE, (to - from) * PAGE, RX, MAP_SHARED | MAP_FIXED, from * PAGE);
	close(fd);
	close(read_only);
	return text;
}

static void test_refusal(void)
{
	uint8_t *text = map_with_refusal(6, 9);
	size_t done = 99;
	const struct patch patch[] = {
		make_patch(text, 100, 11, 1),
		make_patch(text, PAGE + 100, 11, 2),
		make_patch(text, 3 * PAGE + 100, 11, 3),
		make_patch(text, 6 * PAGE + 100, 11, 4),
		make_patch(text, 7 * PAGE + 100, 11, 5),
		make_patch(text, 12 * PAGE + 100, 11, 6),
	};

	is_int(patch_at_load(patch, 6, RX, &done), -EACCES, "a refused run gives the kernel's error");
	is_int((long long)done, 3, "the patches of the runs before it are done");
	is_int((long long)wrong_bytes(text, patch, 3), 0, "they alone are written");
	ok(all_pages_are(text, 0, 6, "r-xp") && all_pages_are(text, 6, 9, "r-xs") &&
			all_pages_are(text, 9, PAGES, "r-xp"),
		"no page has lost its protection");
	munmap(text, SIZE);

	/* The refusal comes in the middle of a run: the kernel has changed the pages before it. */
	text = map_with_refusal(5, 6);
	const struct patch run[] = {make_patch(text, 3 * PAGE + 100, 5, 1), make_patch(text, 4 * PAGE + 100, 5, 2),
		make_patch(text, 5 * PAGE + 100, 5, 3)};
	is_int(patch_at_load(run, 3, RX, &done), -EACCES,
		"a run that is refused in its middle gives the kernel's error");
	is_int((long long)done, 0, "none of it is done");
	is_int((long long)wrong_bytes(text, run, 0), 0, "nothing of it is written");
	ok(all_pages_are(text, 3, 5, "r-xp"), "its pages before the refusal are executable again");
	munmap(text, SIZE);

	/* After the end of the mapping. */
	text = map_with_refusal(5, 6);
	munmap(text + 8 * PAGE, PAGE);
	const struct patch hole[] = {make_patch(text, 8 * PAGE + 100, 5, 1)};
	is_int(patch_at_load(hole, 1, RX, &done), -ENOMEM,
		"a page that is not mapped gives the kernel's error, not a fault");
	munmap(text, SIZE);
}

/* The n-th of `count` patches before they are sorted. */
static size_t shuffled(unsigned way, size_t n, size_t count)
{
	switch (way) {
	case 0: return n;
	case 1: return count - 1 - n;
	default: return n * 1009 % count;
	}
}

/* By address, each with its bytes: patches that are in order, the other way round, and mixed. */
static void test_sort(void)
{
	enum { COUNT = 3000 };
	static const uint64_t first = 0x7ffff7f00000, steps[] = { 1, 16, 0x10101010 }; /* to the next one */
	static struct patch patch[COUNT], spare[COUNT];

	for (unsigned way = 0; way < 3; way++)
		for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++) {
			size_t right = 0;
			for (size_t i = 0; i < COUNT; i++) {
				size_t n = shuffled(way, i, COUNT);
				patch[i] = (struct patch){
					.address = first + n * steps[s], .size = 1, .bytes = { (uint8_t)(n % 251) } };
			}
			patch_sort(patch, spare, COUNT);
			for (size_t i = 0; i < COUNT; i++)
				right += patch[i].address == first + i * steps[s] && patch[i].size == 1 &&
					 patch[i].bytes[0] == i % 251;
			is_int((long long)right, COUNT, "3000 patches, way %u, %#llx apart, are sorted", way,
				(unsigned long long)steps[s]);
		}
	patch[0].address = patch[1].address = 5;
	patch[2].address = 4;
	patch_sort(patch, spare, 3);
	ok(patch[0].address == 4 && patch[1].address == 5 && patch[2].address == 5, "and some of one address");
}

int main(void)
{
	test_runs();
	test_sort();
	test_refusal();
	return done_testing();
}
