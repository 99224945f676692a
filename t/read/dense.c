/* SPDX-License-Identifier: MIT */
/*
 * Dense words: what a thread makes of a chunk's words is what a reader makes words of, in pieces of any size on both
 * sides; how many codes there are is known; and damage ends a chunk, not its reader.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/trace.h"
#include "runtime/files/dense.h"
#include "t/lib/tap.h"
#include "tool/read/events/dense.h"

#define WORDS 20000
#define CODES (5 * WORDS)
#define CLOCK 0x12345f0000000ull
#define LOW   ((uint32_t)CLOCK)

static char dir[] = "/tmp/xaudit-dense-XXXXXX";
static struct read_files files;
static struct read_file *file;
static uint64_t word[WORDS], back[WORDS];
static uint16_t *code; /* before a page that can't be written */
static struct trace_chunk head = { .version = TRACE_CHUNK_DENSE, .head_size = sizeof(head), .clock = CLOCK,
	.size = sizeof(head) + CODES * sizeof(uint16_t) };

static uint32_t seed = 1;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 8) * below >> 24);
}

static uint64_t event(enum trace_type type, uint32_t id, uint32_t low)
{
	return TRACE_EVENT(type, id, low);
}

/* Codes of the first `count` words, made in pieces of up to that many codes and as many more as may be. */
static size_t pack(size_t count, size_t piece)
{
	struct dense dense;
	const uint64_t *from = word;
	uint16_t *to = code;

	dense_begin(&dense, CLOCK);
	while (from < word + count) {
		uint16_t part[CODES + DENSE_SLACK + 1], *end;
		size_t size = piece < CODES ? piece : CODES;
		end = dense_add(&dense, &from, word + count, part, part + size);
		if (end > part + size + DENSE_SLACK || from > word + count)
			return 0;
		memcpy(to, part, (size_t)(end - part) * sizeof(*to));
		to += end - part;
	}
	return (size_t)(to - code);
}

/* The file has these codes behind the head. */
static void put(size_t codes)
{
	int fd = openat(files.at, "p1/t0", O_WRONLY | O_TRUNC | O_CLOEXEC);

	head.dense = codes * sizeof(*code);
	head.seq++;
	if (fd < 0 || write(fd, &head, sizeof(head)) != sizeof(head) ||
		write(fd, code, codes * sizeof(*code)) != (ssize_t)(codes * sizeof(*code)))
		exit(1);
	close(fd);
}

static size_t read_words(struct read_dense **dense, uint64_t first, uint64_t *to, size_t count, int *error)
{
	return read_dense_words(dense, file, 0, &head, first, to, count, error);
}

/* Are the first `count` words read again as they were, by turns of up to `most`? */
static int reads(size_t count, size_t most)
{
	struct read_dense *dense = NULL;
	size_t done = 0, part;
	int error;

	memset(back, 0, sizeof(back));
	for (; done < count; done += part) {
		size_t want = most == 1 ? 1 : 1 + any((uint32_t)most);
		want = want < count - done ? want : count - done;
		part = read_words(&dense, done, back + done, want, &error);
		if (part != want || error)
			break;
	}
	/* And nothing comes after them. */
	int more = done == count && read_words(&dense, count, back, 1, &error);
	read_dense_free(dense);
	return done == count && !more && !memcmp(word, back, count * 8);
}

static int same(size_t count)
{
	static const size_t pieces[] = { 1, 7, 300, CODES };
	static const size_t turns[] = { 1, 2, 5, 1000, WORDS };
	static uint16_t whole[CODES];
	size_t all = pack(count, CODES);
	int right = 1;

	memcpy(whole, code, all * sizeof(*code));
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		size_t codes = pack(count, pieces[i]);
		if (codes != all || memcmp(code, whole, all * sizeof(*code))) {
			diag("pieces of %zu codes are others", pieces[i]);
			return 0;
		}
		put(codes);
		for (size_t k = 0; k < sizeof(turns) / sizeof(*turns) && right; k++) {
			right = codes && reads(count, turns[k]);
			if (!right)
				diag("pieces of %zu codes, turns of %zu words", pieces[i], turns[k]);
		}
	}
	return right;
}

static void test_known(void)
{
	uint32_t low = LOW;

	for (size_t i = 0; i < 1000; i++)
		word[i] = event(i % 2 ? TRACE_EXIT : TRACE_ENTRY, 7, low += 50);
	/* Two plain ones, one code for each until it is looked for a run, and then one for two. */
	is_int((long long)pack(1000, CODES), 5 + 5 + 30 + 2 + 968 / 2, "a hot loop: half a code for a word");
	ok(same(1000), "a hot loop is read as it was");

	for (size_t i = 0; i < 1000; i++)
		word[i] = event(i % 2 ? TRACE_EXIT : TRACE_ENTRY, (uint32_t)(i % 6 / 2), low += 95);
	is_int((long long)pack(1000, CODES), 6 * 5 + 994, "three functions in turn: one code for a word");
	ok(same(1000), "they are read as they were");

	low = LOW;
	uint32_t later[] = { 0, 95, 96, 255, 256, 0xffff, 0x10000, 0x17ffff, 0x180000, 0x7fffffff, 0xffffff00 };
	size_t many = sizeof(later) / sizeof(*later);
	word[0] = event(TRACE_ENTRY, 1, low);
	for (size_t i = 0; i < many; i++)
		word[1 + i] = event(TRACE_ENTRY, 1, low += later[i]);
	is_int((long long)pack(1 + many, CODES), 5 + 2 * 1 + 6 * 2 + 3 * 5,
		"one, two or five codes, by the time between");
	ok(same(1 + many), "all of them are read as they were");

	low = 0xfffff000;
	for (size_t i = 0; i < 4000; i++)
		word[i] = event(i % 2 ? TRACE_EXIT : TRACE_ENTRY, 7, low += 3);
	ok(same(4000), "the low half of the clock may begin anew in a run");

	/* Just then another loop begins: a difference of whole words would take the clock's carry for the next id. */
	for (size_t change = 1998; change < 2004; change++)
		for (uint32_t begin = 2000; begin < 2002; begin++) {
			low = 0u - (begin + 1) * 3;
			for (size_t i = 0; i < 4000; i++)
				word[i] = event(i % 2 ? TRACE_EXIT : TRACE_ENTRY, i < change ? 7 : 8, low += 3);
			ok(same(4000), "another loop from word %zu on, a new low half from %u on", change, begin);
		}

	for (size_t i = 0; i < WORDS; i++)
		word[i] = (uint64_t)any(1 << 24) << 40 ^ (uint64_t)any(1 << 24) << 20 ^ any(1 << 24);
	for (size_t i = 0; i < WORDS; i++)
		if (word[i] >> 60 == TRACE_CONTROL)
			word[i] ^= 1ull << 63;
	ok(pack(WORDS, CODES) > WORDS * 4, "words that nothing tells of take more than they do");
	ok(same(WORDS), "they are read as they were");
}

/* Control events of all sizes among others. */
static void test_payload(void)
{
	uint32_t low = LOW;
	size_t at = 0, end = WORDS - 600;

	while (at < end) {
		uint32_t payload = any(520);
		word[at++] = event(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CUSTOM, payload), low += any(100));
		for (uint32_t i = 0; i < payload; i++)
			word[at++] = (uint64_t)any(1 << 24) << 40 ^ any(1 << 24);
		for (uint32_t i = any(100); i && at < end; i--)
			word[at++] = event(i % 2 ? TRACE_EXIT : TRACE_ENTRY, i / 50, low += any(300));
	}
	ok(same(at), "custom events are read as they were");
	ok(same(at - 5), "one that is cut off, too");
	word[0] = event(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_SYNC, 1), LOW);
	word[1] = 0x1234567890abcdefull;
	for (size_t i = 2; i < 12; i++)
		word[i] = event(TRACE_ENTRY, 3, LOW + 10 * (uint32_t)i);
	is_int((long long)pack(12, CODES), 1 + 2 * 4 + 5 + 9,
		"after a payload the times go on from the control word's");
	ok(same(12), "and are read as they were");
}

/* Events with values: as control events, and one after another of the same layout. */
static void test_values(void)
{
	uint32_t low = LOW;
	size_t at = 0, end = WORDS - 600;

	/* Three words with the values of one layout, between a call and its return. */
	for (size_t i = 0; i < 1200; i += 6) {
		word[i] = event(TRACE_ENTRY, 7, low += 40);
		word[i + 1] = event(TRACE_VALUED, TRACE_VALUED_ID(3, 3), low += 40);
		for (size_t k = 0; k < 3; k++)
			word[i + 2 + k] = (uint64_t)any(1 << 24) << 40 ^ any(1 << 24);
		word[i + 5] = event(TRACE_EXIT, 7, low += 40);
	}
	is_int((long long)pack(1200, CODES), 200 * (1 + 17 + 1) + 2 * 4,
		"values take what they do, and a code for the event; those around them one each");
	ok(same(1200), "they are read as they were");
	while (at < end) {
		uint32_t payload = any(256), flawed = any(2) ? TRACE_VALUED_FLAWED : 0;
		word[at++] = event(TRACE_VALUED, TRACE_VALUED_ID(1 + any(3), payload) | flawed, low += any(100));
		for (uint32_t i = 0; i < payload; i++)
			word[at++] = any(3) ? UINT64_MAX : any(2) ? 0 : (uint64_t)any(1 << 24) << 40;
		for (uint32_t i = any(100); i && at < end; i--)
			word[at++] = event(i % 2 ? TRACE_EXIT : TRACE_ENTRY, i / 50, low += any(300));
	}
	ok(same(at), "values of all sizes are read as they were");
	ok(same(at - 5), "also where the last one is cut off");
}

static void test_mixed(void)
{
	int right = 1;

	for (int round = 0; round < 30 && right; round++) {
		uint32_t low = LOW, ids = 1 + any(round % 3 ? 40 : 4000), longest = 1 + any(round % 2 ? 300 : 1 << 22);
		size_t count = 1 + any(WORDS - 100), at = 0;
		while (at < count) {
			uint32_t id = any(ids), pairs = any(8) ? 1 : 1 + any(40);
			for (; pairs && at < count; pairs--) {
				word[at++] = event(TRACE_ENTRY, id, low += any(longest));
				if (at < count)
					word[at++] = event(TRACE_EXIT, id, low += any(200));
			}
		}
		right = same(count);
	}
	ok(right, "30 mixtures of loops and other calls are read as they were");
}

/* Any word at any time; forwards and back, of one chunk and another. */
static void test_places(void)
{
	struct read_dense *dense = NULL;
	uint32_t low = LOW;
	int right = 1, error;

	for (size_t i = 0; i < WORDS; i++)
		word[i] = event(i % 2 ? TRACE_EXIT : TRACE_ENTRY, (uint32_t)(i / 3000), low += 40);
	put(pack(WORDS, CODES));
	for (int i = 0; i < 300 && right; i++) {
		uint64_t first = any(WORDS), want = any(50), there = WORDS - first < want ? WORDS - first : want;
		right = read_words(&dense, first, back, want, &error) == there && !error &&
			!memcmp(back, word + first, there * 8);
	}
	ok(right, "words are found wherever reading goes on");
	read_words(&dense, 500, back, 3, &error);
	word[503] ^= 1ull << 40;
	put(pack(WORDS, CODES));
	is_int((long long)read_words(&dense, 503, back, 2, &error), 2, "another chunk in that place");
	ok(!memcmp(back, word + 503, 16), "is not read with the state of the one before");
	ok(read_words(&dense, WORDS, back, 1, NULL) == 0, "an error need not be asked for");
	read_dense_free(dense);
	read_dense_free(NULL);
}

static void test_damage(void)
{
	struct read_dense *dense = NULL;
	uint32_t low = LOW;
	int error;

	for (size_t i = 0; i < 1000; i++)
		word[i] = event(i % 2 ? TRACE_EXIT : TRACE_ENTRY, 7, low += 95);
	size_t codes = pack(1000, CODES), all = 0;
	code[15] = DENSE_CODE(121, 0);
	put(codes);
	is_int((long long)read_words(&dense, 0, back, 1000, &error), 7, "a kind that there is not ends the words");
	is_int(error, 0, "and is no error of the file");
	is_int((long long)read_words(&dense, 7, back, 1000, &error), 0, "nor are there more of them behind it");
	code[15] = DENSE_CODE(DENSE_RUN, 1);
	put(codes);
	is_int((long long)read_words(&dense, 0, back, 1000, &error), 7, "so does a run with a place");
	code[15] = DENSE_CODE(0, dense_place(TRACE_WORD(TRACE_EXIT, 7)));
	for (size_t cut = 1; cut < 60; cut++) {
		put(codes - cut);
		all += read_words(&dense, 0, back, 1000, &error);
	}
	/* Each code that is missing has two words. */
	is_int((long long)all, 59 * 1000 - 59 * 60, "for codes that are missing words are, and no others");
	put(codes);
	head.dense += 1000;
	head.seq++;
	is_int((long long)read_words(&dense, 0, back, 1200, &error), 1000, "a file may end before its codes");
	head.dense = UINT64_MAX;
	head.seq++;
	is_int((long long)read_words(&dense, 0, back, 1200, &error), 1000, "wherever these should end");
	read_dense_free(dense);

	int most = 1;
	for (int round = 0; round < 2000; round++) {
		size_t random = 1 + any(400);
		for (size_t i = 0; i < random; i++)
			code[i] = (uint16_t)any(1 << 16);
		dense = NULL;
		put(random);
		most &= read_words(&dense, 0, back, WORDS, &error) <= WORDS && !error;
		read_dense_free(dense);
	}
	ok(most, "2000 times codes of any kind: words, or none");
}

int main(void)
{
	const char *why;
	long page = sysconf(_SC_PAGESIZE);
	size_t size = (CODES * sizeof(*code) / (size_t)page + 1) * (size_t)page;
	char *room = mmap(NULL, size + (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	files.at = mkdtemp(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (room == MAP_FAILED || mprotect(room + size, (size_t)page, PROT_NONE) || files.at < 0 ||
		mkdirat(files.at, "p1", 0700) || mknodat(files.at, "p1/t0", S_IFREG | 0600, 0))
		return 1;
	code = (uint16_t *)(void *)(room + size) - CODES;
	file = read_file_open(&files, "p1", "t0", NULL, &why);
	if (!file)
		return 1;
	test_known();
	test_payload();
	test_values();
	test_mixed();
	test_places();
	test_damage();
	read_file_close(file);
	unlinkat(files.at, "p1/t0", 0);
	unlinkat(files.at, "p1", AT_REMOVEDIR);
	rmdir(dir);
	return done_testing();
}
