#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Custom events that are read while they are being written, word by word and slowly, in places that are filled once and
 * in a flight recorder, by xaudit dump and from a snapshot: each is shown whole or not at all, none is missing, and
 * none is taken for damage.
 *
 * Event i has size_of(i) bytes, all of them 'a' + i % 26, and a time of 1000 + i.
 */
#include "t/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h> /* offsetof */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/trace.h"
#include "runtime/snapshot/copy.h"

#define CHUNK	TRACE_CHUNK_MIN
#define CHUNKS	512u
#define PLACES	16u
#define FIRST	2u /* place of the first chunk */
#define ROUNDS	25
#define SECONDS 120

static char dir[] = "/tmp/reader_live.XXXXXX";
static const char *xaudit;

static uint32_t size_of(uint64_t i)
{
	return i % 5 ? (uint32_t)(i * 37 % 600) + 1 : (uint32_t)(i * 7919 % TRACE_CUSTOM_MAX) + 1;
}

/* ---- writing ---- */

static void *map_file(const char *name, uint64_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/p1/%s", dir, name);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		exit(1);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? exit(1), NULL : p;
}

/* A family of one process: head and directory, then the chunks. Returns the file. */
static char *make_meta(bool ring, unsigned places)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/p1", dir);
	mkdir(path, 0777);
	struct trace_type_name name = { .head = { TRACE_REC_EVENT_TYPE, 32 }, .type = TRACE_TYPE_FIRST, .length = 7 };
	char *meta = map_file("meta", (FIRST + places) * 2ul * CHUNK);
	uint64_t *word = (void *)(meta + 2 * CHUNK);
	memcpy(meta + TRACE_HEAD_SIZE, &name, sizeof(name));
	memcpy(meta + TRACE_HEAD_SIZE + offsetof(struct trace_type_name, name), "letters", 7);
	struct trace_head head = { .version = TRACE_VERSION,
		.head_size = TRACE_HEAD_SIZE,
		.used = TRACE_HEAD_SIZE + 32,
		.chunk_size = CHUNK,
		.pid = 1,
		.clock = TRACE_CLOCK_MONOTONIC,
		.threads = 1,
		.recording = 1,
		.mode = ring,
		.ring_chunk = CHUNK,
		.ring_size = ring ? PLACES * CHUNK : 0,
		.place_size = 2 * CHUNK,
		.directory = 2 * CHUNK,
		.block = TRACE_PLACE_MAX,
		.places_max = 2 * CHUNK / 8,
		.places_end = FIRST + places,
		.places = FIRST + places };
	memcpy(head.magic, TRACE_MAGIC, sizeof(head.magic));
	memcpy(meta, &head, sizeof(head));
	word[0] = TRACE_PLACE(TRACE_PLACE_HEAD, 0, 1);
	word[1] = TRACE_PLACE(TRACE_PLACE_DIRECTORY, 0, 0);
	for (unsigned i = 0; i < places; i++)
		word[FIRST + i] = TRACE_PLACE(i ? TRACE_PLACE_CHUNK : TRACE_PLACE_DIRECTORY, 0, 0);
	return meta;
}

static void store(void *at, uint64_t word)
{
	/* release: in program order, as the recorder writes */
	__atomic_store_n((uint64_t *)at, word, __ATOMIC_RELEASE);
}

/* As the recorder does it (runtime/record/chunk.h). */
static struct trace_chunk *begin_chunk(char *at, uint64_t seq, uint64_t clock)
{
	struct trace_chunk *chunk = (void *)at;
	struct trace_chunk head = { .magic = TRACE_CHUNK_MAGIC, .version = TRACE_VERSION, .head_size = sizeof(head),
		.seq = seq, .pid = 1, .tid = 1, .clock = clock, .size = CHUNK, .token = seq << 32 | TRACE_TOKEN };

	store(chunk, 0); /* the magic: the place counts as empty until the head is complete */
	for (uint64_t word = 1; word < CHUNK / 8; word++)
		store((uint64_t *)(void *)at + word,
			word < sizeof(head) / 8 ? ((uint64_t *)(void *)&head)[word] : head.token);
	store(chunk, ((uint64_t *)(void *)&head)[0]);
	return chunk;
}

/* The first chunk lies beside the head, and so does each that comes in turn there. */
static struct trace_chunk *begin_in(char *file, uint64_t n, uint64_t seq, uint64_t clock)
{
	struct trace_head *head = (void *)file;
	struct trace_chunk *chunk = begin_chunk(file + (2 * (n ? FIRST + n : 0) + 1) * CHUNK, seq, clock);

	if (!n)
		__atomic_store_n(&head->beside, 1, __ATOMIC_RELEASE); /* as store() */
	return chunk;
}

static void write_events(char *file, unsigned places, bool again)
{
	struct trace_chunk *chunk = NULL;
	uint64_t seq = 0, pos = 0;

	for (uint64_t i = 0;; i++) {
		uint64_t words = 1 + (size_of(i) + 7) / 8;
		if (!chunk || pos + 8 * (1 + words) > CHUNK) {
			if (chunk)
				store(&chunk->used, pos);
			if (seq == places && !again)
				return;
			chunk = begin_in(file, seq % places, seq, 1000 + i);
			seq++;
			pos = sizeof(*chunk);
		}
		uint64_t *at = (void *)((char *)chunk + pos);
		uint64_t data = 0x0101010101010101u * (uint64_t)('a' + i % 26);
		store(at, TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CUSTOM, words), 1000 + i));
		for (uint64_t word = 2; word <= words; word++) {
			store(at + word, data);
			for (int wait = 0; wait < 10; wait++)
				__builtin_ia32_pause();
		}
		store(at + 1, (uint64_t)TRACE_TYPE_FIRST << 32 | size_of(i));
		pos += 8 * (1 + words);
	}
}

static pid_t start_writer(bool ring)
{
	unsigned places = ring ? PLACES : CHUNKS;
	char *file = make_meta(ring, places);
	pid_t pid = fork();
	if (pid)
		return pid;
	alarm(SECONDS);
	write_events(file, places, ring);
	_exit(0);
}

/* ---- reading ---- */

struct seen {
	uint64_t events, first, wrong, missing;
	int status;
	char line[200]; /* the first wrong line */
};

static void look_at(struct seen *seen, const char *line, uint64_t *next)
{
	static char text[TRACE_CUSTOM_MAX + 1];
	unsigned long long time;
	unsigned size;

	if (strstr(line, "  gap ")) {
		*next = UINT64_MAX;
		return;
	}
	bool good = sscanf(line, "0.%9llu 1 custom - letters \"%4096[a-z]\" %u bytes", &time, text, &size) == 3 &&
		    time >= 1000;
	uint64_t i = good ? time - 1000 : 0;
	good = good && size == size_of(i) && strlen(text) == size;
	for (unsigned at = 0; good && at < size; at++)
		good = text[at] == (char)('a' + i % 26);
	if (!good && !seen->wrong++)
		snprintf(seen->line, sizeof(seen->line), "%.190s", line);
	seen->missing += good && *next != UINT64_MAX && i != *next;
	seen->first = seen->events++ ? seen->first : i;
	*next = i + 1;
}

static struct seen read_trace(const char *path)
{
	static char line[3 * TRACE_CUSTOM_MAX + 200], command[512];
	struct seen seen = { 0 };
	uint64_t next = UINT64_MAX;

	snprintf(command, sizeof(command), "timeout 60 '%s' dump '%s' 2>&1", xaudit, path);
	FILE *file = popen(command, "r");
	while (file && fgets(line, sizeof(line), file))
		look_at(&seen, line, &next);
	seen.status = file ? pclose(file) : -1;
	return seen;
}

static void remove_folder(const char *path)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	if (system(command))
		printf("# can't remove %s\n", path);
}

/* snapshot: reads a snapshot that is made while events are written. */
static void check_reading(bool ring, bool snapshot)
{
	const char *what = snapshot ? "a snapshot of" : "reading";
	const char *file = ring ? "a flight recorder" : "a thread's chunks";
	uint64_t events = 0, wrong = 0, missing = 0, failed = 0, begun = 0;
	char copy[64], from[80], to[80];
	pid_t pid = start_writer(ring), ended = 0;

	snprintf(copy, sizeof(copy), "%s.copy", dir);
	snprintf(from, sizeof(from), "%s/p1", dir);
	snprintf(to, sizeof(to), "%s/p1", copy);
	for (int round = 0; round < ROUNDS && !ended; round++) {
		struct snapshot_copied copied;
		usleep(20000);
		/* Read once more, as it may have ended before the first look. */
		ended = waitpid(pid, NULL, WNOHANG);
		if (snapshot) {
			mkdir(copy, 0777);
			mkdir(to, 0777);
			int source = open(from, O_RDONLY | O_DIRECTORY), target = open(to, O_RDONLY | O_DIRECTORY);
			failed += snapshot_copy(source, target, 0, UINT32_MAX, NULL, &copied) != 0;
			close(source);
			close(target);
		}
		struct seen seen = read_trace(snapshot ? copy : dir);
		events += seen.events;
		wrong += seen.wrong;
		missing += seen.missing;
		failed += seen.status != 0;
		begun += !ring && seen.events && seen.first != 0;
		if (seen.wrong)
			printf("# round %d: %s\n", round, seen.line);
		if (snapshot)
			remove_folder(copy);
	}
	if (!ended) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	remove_folder(dir);
	mkdir(dir, 0777);
	printf("# %s %s: %llu events\n", what, file, (unsigned long long)events);
	ok(events > 1000, "%s %s that is being written shows its custom events", what, file);
	is_int((long long)wrong, 0, "%s %s: each is whole", what, file);
	is_int((long long)(missing + begun), 0, "%s %s: none is missing in between", what, file);
	is_int((long long)failed, 0, "%s %s: what is being written is no damage", what, file);
}

int main(void)
{
	xaudit = getenv("XAUDIT");
	if (!xaudit || !mkdtemp(dir)) {
		printf("Bail out! no xaudit, or no folder\n");
		return 1;
	}
	check_reading(false, false);
	check_reading(true, false);
	check_reading(false, true);
	check_reading(true, true);
	rmdir(dir);
	return done_testing();
}
