#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* The table of return labels: what it holds, who finds what in it at the same moment, and when it is full. */
#include "t/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/core.h"
#include "x86_64/labels.h"

#define THREADS 4
#define SHARED	3000 /* addresses that all threads ask for */
#define OWN	1000 /* and that each asks for alone */
#define BASE	0x7f1234560000ull

static struct labels_entry *found[THREADS][SHARED + OWN];

/* Prime to the number of addresses: each thread comes by another way. */
static const unsigned step[THREADS] = { 1, 7, 11, 3989 };

static uint64_t address_of(unsigned thread, unsigned n)
{
	return BASE + 5ull * (n < SHARED ? n : SHARED + thread * OWN + n - SHARED);
}

static void *ask(void *number)
{
	unsigned thread = (unsigned)(uintptr_t)number;

	for (unsigned i = 0, n = 0; i < SHARED + OWN; i++, n = (n + step[thread]) % (SHARED + OWN))
		found[thread][n] = labels_make(address_of(thread, n));
	return NULL;
}

static unsigned first_of(uint64_t address)
{
	return (unsigned)(address * LABELS_HASH >> (LABELS_SHIFT + 4)) & (LABELS_HASHED - 1);
}

static unsigned used(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LABELS_ENTRIES; i++)
		n += tramp_labels[i].address != LABELS_FREE;
	return n;
}

/* Entries whose code is not a call and a jump to where labels go on. */
static unsigned wrong_code(void)
{
	static const uint8_t call[] = { 0xff, 0x54, 0x24, 0xe8, 0xe9 };
	unsigned n = 0;

	for (unsigned i = 0; i < LABELS_ENTRIES; i++) {
		const uint8_t *code = tramp_labels_code + i * LABELS_ENTRY;
		int32_t to;
		memcpy(&to, code + 5, sizeof(to));
		n += memcmp(code, call, sizeof(call)) ||
		     (uintptr_t)code + 9 + (uintptr_t)(intptr_t)to != (uintptr_t)tramp_labels_back;
	}
	return n;
}

static int open_new(const char *name, int flags)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", core_folder(), name);
	int fd = open(path, O_CREAT | O_EXCL | O_CLOEXEC | flags, 0600);
	if (fd < 0)
		bail("no file");
	return fd;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
}

static struct labels_head head_of(int fd)
{
	struct labels_head head;

	if (pread(fd, &head, sizeof(head), LABELS_HEAD_AT) != sizeof(head))
		bail("no head");
	return head;
}

static void check_threads(int fd)
{
	static struct labels_entry table[LABELS_ENTRIES];
	pthread_t thread[THREADS];
	unsigned none = 0, other = 0, wrong = 0, unfound = 0;

	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(thread + i, NULL, ask, (void *)(uintptr_t)i))
			bail("no thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < THREADS; i++)
		for (unsigned n = 0; n < SHARED + OWN; n++) {
			const struct labels_entry *entry = found[i][n];
			if (!entry) {
				none++;
				continue;
			}
			other += n < SHARED && entry != found[0][n];
			wrong += entry->address != address_of(i, n);
			unfound += labels_find(address_of(i, n)) != (uint64_t)(uintptr_t)entry + LABELS_LABEL;
		}
	is_int(none, 0, "threads that ask at the same time: each gets an entry for each address");
	is_int(other, 0, "and the same one for the same address");
	is_int(wrong, 0, "which holds the address");
	is_int(unfound, 0, "and is found again");
	is_int(used(), SHARED + THREADS * OWN, "no entry is taken for nothing");
	is_int(pread(fd, table, sizeof(table), LABELS_AT), LABELS_TABLE, "the file has the table");
	ok(!memcmp(table, tramp_labels, sizeof(table)), "as it is in memory");
	is_int(wrong_code(), 0, "the code of all entries is what it was");
	is_int((long long)head_of(fd).missed, 0, "nothing was missed");
}

/* Addresses that begin at the same entry. Returns how many got one of the n. */
static unsigned take_all_of(unsigned entry, unsigned n)
{
	unsigned taken = 0;

	for (uint64_t address = 0x5500000000ull; n; address++)
		if (first_of(address) == entry) {
			taken += labels_make(address) != NULL;
			n--;
		}
	return taken;
}

static int child(void *argument)
{
	const struct labels_entry *entry = labels_make(0x1111);

	(void)argument;
	return !entry || entry->address != 0x1111;
}

static void check_full(int fd)
{
	unsigned last = LABELS_HASHED - 1;
	unsigned before = (unsigned)head_of(fd).missed;

	is_int(take_all_of(last, LABELS_PROBES + 3), LABELS_PROBES,
		"of addresses that begin at the last entry as many have a label as are looked at");
	is_int((long long)head_of(fd).missed - before, 3, "the others are counted");
	ok(!labels_make(LABELS_FREE), "what stands for a free entry has none");
	ok(!labels_find(LABELS_FREE), "and is not found");
	is_int((long long)head_of(fd).missed - before, 4, "and is counted");
	is_int(core_child(child, NULL, 20), 0, "a forked child takes an entry");
	ok(labels_find(0x1111) != 0, "which its parent finds");
}

/* An address that begins at the entry, other than those of take_all_of(). */
static uint64_t address_at(unsigned entry)
{
	uint64_t address = 0x6600000000ull;

	while (first_of(address) != entry)
		address++;
	return address;
}

static void check_zero(void)
{
	uint64_t other = address_at(first_of(0));
	const struct labels_entry *zero = labels_make(0), *second = labels_make(other);

	ok(zero && second && zero != second, "the address 0, which coroutines begin with, has an entry of its own");
	is_int((long long)labels_find(0), zero ? (long long)(uintptr_t)zero + LABELS_LABEL : -1, "and is found");
}

/* As a debugger's breakpoint does. */
static void check_copied_page(void)
{
	unsigned free = 100;

	while (tramp_labels[free].address != LABELS_FREE)
		free++;
	uint8_t *page = (uint8_t *)((uintptr_t)(tramp_labels + free) & -4096ul);
	uint64_t address = address_at(free);
	if (mprotect(page, 4096, PROT_READ | PROT_WRITE))
		bail("no page");
	*(volatile uint8_t *)page = *page;
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		bail("no page");
	const struct labels_entry *entry = labels_make(address);
	ok(entry == tramp_labels + free && entry->address == LABELS_FREE, "an entry is made behind a copy of its page");
	is_int((long long)labels_find(address), (long long)(uintptr_t)entry + LABELS_LABEL, "and is found there");
}

/* Up to where the file is mapped to be written. */
static uint64_t shared(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[5000];
	uint64_t end = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from, to, offset;
		char protection[5];
		if (sscanf(line, "%lx-%lx %4s %lx", &from, &to, protection, &offset) == 4 && protection[1] == 'w' &&
			strstr(line, "/labels\n") && offset + (to - from) > end)
			end = offset + (to - from);
	}
	if (maps)
		fclose(maps);
	return end;
}

/* What a worker may do that was taken over: it makes its shared mapping longer, and writes all of the file. */
static int spoiler(void *argument)
{
	uint64_t table = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[5000], protection[5];
	unsigned long from;

	(void)argument;
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%*x %4s", &from, protection) == 2 && !strcmp(protection, "rw-s") &&
			strstr(line, "/labels\n"))
			table = from;
	if (!table)
		return 1;
	uint8_t *file = mremap((void *)(uintptr_t)table, LABELS_CODE_AT, LABELS_MAPPED, MREMAP_MAYMOVE);
	if (file == MAP_FAILED)
		return 2;
	memset(file, 0xcc, LABELS_MAPPED);
	/* Addresses, each in an entry where it does not belong. */
	for (unsigned i = 0; i < LABELS_ENTRIES; i++)
		((struct labels_entry *)(file + LABELS_AT))[i].address = address_of(0, i % 100);
	return 0;
}

static int is_entry(const struct labels_entry *entry)
{
	return entry >= tramp_labels && entry < tramp_labels + LABELS_ENTRIES &&
	       ((uintptr_t)entry - (uintptr_t)tramp_labels) % LABELS_ENTRY == 0;
}

static void check_spoiled(int fd)
{
	static const uint8_t stop[] = { 0xcc, 0xcc, 0xcc, 0xcc };
	uint8_t there[sizeof(stop)];
	unsigned wrong = 0;

	is_int(core_child(spoiler, NULL, 20), 0, "a forked child can write all of the file");
	ok(pread(fd, there, sizeof(there), LABELS_CODE_AT) == sizeof(there) && !memcmp(there, stop, sizeof(stop)),
		"and has written it");
	is_int(wrong_code(), 0, "nothing that its parent executes has changed");
	for (unsigned n = 0; n < SHARED; n++) {
		const struct labels_entry *entry = labels_make(address_of(0, n));
		uint64_t label = labels_find(address_of(0, n));
		wrong += (entry && !is_entry(entry)) || (label && !labels_has(label)) ||
			 (label && (label - (uint64_t)(uintptr_t)tramp_labels_code) % LABELS_ENTRY != 4);
	}
	is_int(wrong, 0, "and whatever stands in the table, each address has a label of the table's, or none");
}

int main(void)
{
	int fd = open_new("wrong", O_RDONLY);

	labels_keep_place();
	ok(!strcmp(core_protection((uint64_t)(uintptr_t)tramp_labels), "r--p") &&
			!strcmp(core_protection((uint64_t)(uintptr_t)tramp_labels + LABELS_MAPPED), "r--p"),
		"their place can't be written at first, so it is nothing that is locked in memory");
	ok(!labels_are_mapped() && !labels_make(BASE) && !labels_find(BASE), "without a file there are no labels");
	is_int(labels_map(fd), -EBADF, "a file that can't be written gives none");
	ok(!labels_are_mapped() && !labels_make(BASE) && !labels_find(BASE), "and nothing is changed");
	close(fd);
	fd = open_new("unmapped", O_WRONLY);
	is_int(labels_map(fd), -EACCES, "nor does one that can't be read");
	ok(!labels_are_mapped() && !labels_make(BASE), "and nothing is changed");
	close(fd);
	fd = open_new("labels", O_RDWR);
	is_int(labels_map(fd), 0, "a file is mapped");
	ok(labels_are_mapped() && !labels_find(BASE), "and has no labels at first");
	is_int(memcmp(head_of(fd).magic, LABELS_MAGIC, 8), 0, "its head says what it is");
	is_int((long long)size_of(fd), LABELS_MAPPED, "the file is as large as what is mapped, which may be read");
	ok(head_of(fd).address + LABELS_AT == (uint64_t)(uintptr_t)tramp_labels, "and where it lies");
	ok(!strcmp(core_protection((uint64_t)(uintptr_t)tramp_labels), "r-xp"),
		"it can't be written where it is executed");
	is_int((long long)shared(), LABELS_CODE_AT, "what processes share of it, writable, ends before the code");
	uint64_t code = (uint64_t)(uintptr_t)tramp_labels_code;
	ok(!labels_has(code - 1) && labels_has(code) && labels_has(code + LABELS_TABLE - 1) &&
			!labels_has(code + LABELS_TABLE),
		"a label is told by where it lies");
	check_threads(fd);
	check_full(fd);
	check_zero();
	check_copied_page();
	check_spoiled(fd);
	return done_testing();
}
