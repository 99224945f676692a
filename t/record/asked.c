/* SPDX-License-Identifier: MIT */
/*
 * Heads of traces that a hostile program has written ask for snapshots (tool/record/asked/asked.h): nothing is made but
 * new folders beside the trace, by plain names; there are as many as were asked for, one in a time, and a most; each
 * look takes a time that has an end, whatever stands there.
 */
#define _GNU_SOURCE
#include "t/lib/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/places.h"
#include "format/trace.h"
#include "t/lib/core.h"
#include "tool/record/asked/asked.h"

#define CHUNK TRACE_CHUNK_MIN
#define PLACE (2 * CHUNK)
#define FAMILY "p77"

static char trace[4096]; /* the folder of the trace; beside it lies what is made */
static int folder = -1, meta = -1;
static uint64_t clock_ns = 1000000000; /* the time that is told */

/* ---- forging ---- */

/* The head of a process at its place, which the directory names. `places`: in the file. */
static struct trace_head head_of(uint32_t process, uint32_t places)
{
	struct trace_head head = { .version = TRACE_VERSION, .head_size = TRACE_HEAD_SIZE };

	memcpy(head.magic, TRACE_MAGIC, sizeof(head.magic));
	head.used = TRACE_HEAD_SIZE;
	head.chunk_size = head.ring_chunk = CHUNK;
	head.place_size = PLACE;
	head.process = process;
	head.pid = 77 + process;
	head.directory = PLACE;
	head.block = TRACE_PLACE_MAX;
	head.places = head.places_end = head.places_max = places;
	return head;
}

static void put(const void *bytes, size_t size, uint64_t at)
{
	if (pwrite(meta, bytes, size, (off_t)at) != (ssize_t)size)
		exit(3);
}

static void put_head(const struct trace_head *head)
{
	put(head, sizeof(*head), head->process * (uint64_t)PLACE);
}

static void name_place(uint32_t place, uint64_t word)
{
	put(&word, sizeof(word), PLACE + 8ull * place);
}

/* A new family of so many processes; the directory takes places 1 to `behind` - 1, the other heads are behind. */
static void begin(uint32_t processes, uint32_t behind)
{
	int family;

	if (meta >= 0)
		close(meta);
	mkdirat(folder, FAMILY, 0700);
	family = openat(folder, FAMILY, O_RDONLY | O_DIRECTORY);
	unlinkat(family, "meta", 0);
	meta = openat(family, "meta", O_RDWR | O_CREAT | O_EXCL, 0600);
	close(family);
	if (meta < 0)
		exit(4);
	for (uint32_t i = 0; i < processes; i++) {
		struct trace_head head = head_of(i ? behind + i - 1 : 0, behind + processes - 1);
		put_head(&head);
		name_place(head.process, TRACE_PLACE(TRACE_PLACE_HEAD, head.process, head.pid));
	}
	for (uint32_t i = 1; i < behind; i++)
		name_place(i, TRACE_PLACE(TRACE_PLACE_DIRECTORY, 0, 0));
}

/* The first process's row. */
static void ask(unsigned row, const char name[TRACE_ASK_NAME], uint64_t at_most, uint32_t asked)
{
	struct trace_ask wanted = { .at_most = at_most, .asked = asked };

	memcpy(wanted.name, name, sizeof(wanted.name));
	put(&wanted, sizeof(wanted), offsetof(struct trace_head, ask) + row * sizeof(wanted));
}

static void ask_for(const char *name, uint32_t asked)
{
	char padded[TRACE_ASK_NAME] = "";

	strncpy(padded, name, sizeof(padded) - 1);
	ask(0, padded, 0, asked);
}

/* ---- looking ---- */

static unsigned made(void)
{
	const char *last;

	return asked_made(&last);
}

static uint64_t look(void)
{
	return asked_look(FAMILY, clock_ns);
}

/* Looks until nothing is left to be done, `most` times at most. Returns how many were made. */
static unsigned look_all(unsigned most)
{
	const unsigned before = made();

	clock_ns += ASKED_PAUSE;
	for (uint64_t again; (again = look()) && most; most--)
		clock_ns = again;
	return made() - before;
}

/* How much lies beside the trace that is no folder, or has no plain name with a number. */
static unsigned strangers(void)
{
	DIR *dir = opendir(core_folder());
	unsigned n = 0;

	for (struct dirent *e; dir && (e = readdir(dir));) {
		const char *p = e->d_name;
		if (!strcmp(p, ".") || !strcmp(p, "..") || !strcmp(p, "d"))
			continue;
		while (*p > ' ' && *p <= '~')
			p++;
		struct stat st;
		bool good = !*p && e->d_name[0] != '.' && strpbrk(e->d_name, "0123456789") &&
			    !fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
		n += !good;
		if (!good)
			diag("a stranger: %s", e->d_name);
	}
	if (dir)
		closedir(dir);
	return n;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the tests ---- */

static void test_names(void)
{
	static const char *const bad[] = { "../out", "/tmp/out", "..", ".", ".out", "a/b", "a/../../b", "a b", "a\tb",
		"a\nb", "a\x1b[2Jb", "\x7f", "\xc3\xa4", " ", "\x01" };
	char endless[TRACE_ASK_NAME];

	begin(1, 2);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ask_for(bad[i], i + 1);
		if (look_all(10))
			diag("made: %u", i);
	}
	memset(endless, 'e', sizeof(endless));
	ask(0, endless, 0, 100);
	is_int(look_all(10) + made(), 0, "no snapshot has a name that leads elsewhere, is hidden, or no text");
	ask_for("", 1);
	is_int(look_all(10), 1, "the usual name");
	ask_for("slow", 2);
	is_int(look_all(10), 1, "a plain name");
	ask_for("a%n-%n%d%s%%n", 3);
	is_int(look_all(10), 1, "a name with numbers in it, and what looks like a format");
	is_int(strangers(), 0, "all lie beside the trace, as new folders");
	char path[5000];
	snprintf(path, sizeof(path), "%s/slow.1/p77/meta", core_folder());
	is_int(access(path, R_OK), 0, "a snapshot has the process");
}

static void test_counts(void)
{
	begin(1, 2);
	ask_for("count", 1000000);
	is_int(look_all(10), 1, "of a million at once one is made");
	ask_for("count", 5);
	is_int(look_all(10), 1, "so is one where the number falls");
	is_int(look_all(10), 0, "none where it stays");
	ask_for("count", UINT32_MAX);
	is_int(look_all(10), 1, "one where it jumps");
	unsigned before = made();
	for (uint32_t i = 1; i <= 50; i++) {
		ask_for("count", i);
		look();
		clock_ns += ASKED_PAUSE / 10;
	}
	ok(made() - before >= 4 && made() - before <= 6, "one in a pause: %u in five pauses", made() - before);
	begin(1, 2);
	char name[TRACE_ASK_NAME] = "limited";
	ask(0, name, UINT64_MAX, 1);
	ask(1, name, 0, 1);
	before = look_all(10);
	ask(0, name, UINT64_MAX, 2);
	is_int(before + look_all(10), 2, "a limit without an end allows the first one alone");
	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "many%u", i);
		ask(2, name, 0, i + 1);
		look_all(10);
	}
	char path[5000];
	snprintf(path, sizeof(path), "%s/many20.1", core_folder());
	const int early = access(path, F_OK);
	snprintf(path, sizeof(path), "%s/many99.1", core_folder());
	ok(!early && access(path, F_OK), "a program has some names, not any number of them");
	is_int(strangers(), 0, "and nothing lies anywhere else");
}

static void test_processes(void)
{
	const uint32_t processes = 1100;
	struct trace_ask wanted = { .name = "count", .asked = 1 };

	begin(processes, 2);
	for (uint32_t i = 0; i < processes; i++)
		if (i % 2)
			put(&wanted, sizeof(wanted), (1 + i) * (uint64_t)PLACE + offsetof(struct trace_head, ask));
	is_int(look_all(2 * processes), processes / 2, "each of 550 processes that ask has one");
	is_int(look_all(2 * processes), 0, "and no second one, though 550 others do not ask");
}

/* A number of looks, with what is wrong with the head. */
static void test_heads(void)
{
	struct trace_head head;
	struct trace_ask wanted = { .name = "head", .asked = 1 };
	unsigned n = 0;
	double began = seconds();

	for (unsigned i = 0; i < 12; i++) {
		begin(1, 2);
		head = head_of(0, 2);
		head.ask[0] = wanted;
		head.ask[0].asked = 1000 + i;
		switch (i) {
		case 0:
			head.process = 1; /* it is another's */
			break;
		case 1:
			head.place_size = 3 * CHUNK;
			break;
		case 2:
			head.place_size = 0;
			break;
		case 3:
			head.directory = UINT64_MAX & ~7ull;
			break;
		case 4:
			head.block = 3;
			break;
		case 5:
			head.block = 0;
			break;
		case 6:
			head.places = 0;
			break;
		case 7:
			head.directory = 1;
			break;
		case 8:
			head.place_size = 1ull << 63;
			break;
		case 9: /* far more places than there are, in a hole */
			head.places = head.places_max = UINT32_MAX;
			head.directory = 1ull << 40;
			break;
		case 10: /* in blocks of one */
			head.places = head.places_max = UINT32_MAX;
			head.block = 1;
			head.directory = 1ull << 40;
			break;
		default:
			head.version++;
		}
		put(&head, sizeof(head), 0);
		/* What is asked for by a head that is none, or that no word of the directory names. */
		n += look_all(3);
	}
	/* A version that is not ours is seen when it is copied. */
	is_int(n, 0, "heads that make no sense have no snapshots");
	ok(seconds() - began < 20, "and are soon looked through: %.1f s", seconds() - began);
}

/* A process that stores anything to its head while that is looked at. */
static void test_changing(void)
{
	const unsigned before = made();
	uint64_t random = 88172645463325252ull;

	begin(3, 2);
	pid_t pid = fork();
	if (!pid) {
		for (;;) {
			uint8_t bytes[64];
			for (unsigned i = 0; i < sizeof(bytes); i++) {
				random ^= random << 13;
				random ^= random >> 7;
				random ^= random << 17;
				bytes[i] = (uint8_t)(random >> 32);
			}
			/* Mostly the rows; at times anything, and then a whole head again. */
			uint64_t at = random % 16 ? offsetof(struct trace_head, ask) + random % 320 : random % 4096;
			put(bytes, 1 + random % sizeof(bytes), at);
			if (!(random % 32)) {
				struct trace_head head = head_of(0, 4);
				head.ask[random % 8].asked = (uint32_t)random;
				put_head(&head);
			}
		}
	}
	const double began = seconds();
	unsigned looks = 0;
	/* On a busy machine one look may take long. */
	for (double took = 0; took < 3 || (looks <= 50 && took < 60); took = seconds() - began, looks++) {
		look();
		clock_ns += ASKED_PAUSE;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ok(looks > 50 && made() - before <= looks, "%u snapshots in %u looks at a head that changes all the time",
		made() - before, looks);
	is_int(strangers(), 0, "lie where snapshots lie");
}

/* The last one: nothing is made after it. */
static void test_most(void)
{
	begin(1, 2);
	for (uint32_t i = 1; i <= ASKED_MOST + 100; i++) {
		ask_for("count", i);
		look();
		clock_ns += ASKED_PAUSE;
	}
	ok(made() <= ASKED_MOST, "%u are made in all, and no more", made());
	unsigned before = made();
	ask_for("", 77);
	is_int(look_all(10) + made() - before, 0, "not by another name either");
	is_int(strangers(), 0, "and all lie beside the trace");
}

int main(void)
{
	snprintf(trace, sizeof(trace), "%s/d", core_folder());
	mkdir(trace, 0700);
	folder = open(trace, O_RDONLY | O_DIRECTORY);
	asked_begin(folder, trace, "test");
	test_names();
	test_counts();
	test_processes();
	test_heads();
	test_changing();
	test_most();
	return done_testing();
}
