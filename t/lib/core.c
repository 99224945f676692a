#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
#include "t/lib/core.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/places.h"
#include "format/stream.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/record/chunk.h"
#include "runtime/record/dispatch.h"
#include "runtime/record/recorder.h"
#include "runtime/start.h"
#include "t/lib/core_words.h"
#include "t/lib/plain.h"

static void fail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(255);
}

/* ---- folder, children ---- */

static char folder[64];
static pid_t owner;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int remove_inner(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return ftw->level ? remove_one(path, st, type, ftw) : 0;
}

void core_empty(void)
{
	nftw(folder, remove_inner, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
	if (getpid() == owner)
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *core_folder(void)
{
	if (!owner) {
		owner = getpid();
		strcpy(folder, "/tmp/xaudit-core.XXXXXX");
		if (!mkdtemp(folder))
			fail("mkdtemp");
		atexit(remove_folder);
	}
	return folder;
}

void *core_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

uint64_t core_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int core_child(int (*scenario)(void *argument), void *argument, unsigned seconds)
{
	uint64_t end = core_now_ns() + seconds * 1000000000ull;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid)
		_exit(scenario(argument));
	for (;;) {
		pid_t r = waitpid(pid, &status, WNOHANG);
		if (r < 0)
			fail("waitpid");
		if (r == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
		if (core_now_ns() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return 2000;
		}
		usleep(1000);
	}
}

/* ---- recording ---- */

/* Slow paths must not use vector registers, but the sanitizers' clock_gettime does. */
static int get_time(clockid_t clock, struct timespec *time)
{
#if defined(XAUDIT_ASAN) || defined(XAUDIT_TSAN)
	return (int)syscall(SYS_clock_gettime, clock, time);
#else
	return clock_gettime(clock, time);
#endif
}

static void describe_nothing(void)
{
}

int core_coarse;

void core_start(const char *where, uint64_t chunk_size, enum trace_clock clock)
{
	const struct process_options options = {
		.output = where,
		.chunk_size = chunk_init(chunk_size, CORE_RING_CHUNKS * chunk_size),
		.version = "test",
		.source = "test",
		.describe = describe_nothing,
	};

	clock_init(clock, get_time);
	if (process_init(&options))
		fail("process_init");
	start_parts();
	if (core_coarse)
		dispatch_coarse();
	dispatch_use(DISPATCH_RECORD, clock);
}

int core_stubs(struct stub_pages *pages, uint64_t wanted, uint64_t text_low, uint64_t text_high, uint32_t xray_base,
	uint32_t functions)
{
	int r = stub_reserve(pages, wanted, text_low, text_high, xray_base != 0, 0, functions);

	if (!r && (r = stub_write(pages, xray_base, NULL, NULL)))
		stub_unmap(pages);
	return r;
}

struct traced core_traced(enum tramp_event event, uint32_t id, const void *body)
{
	static void (*const gates[])(void) = {
		[TRAMP_INTERCEPT] = tramp_gate_intercept,
		[TRAMP_POINT] = tramp_gate_point,
		[TRAMP_LANDED] = tramp_gate_landed,
		[TRAMP_JUMP] = tramp_gate_jump,
		[TRAMP_CALLER] = tramp_gate_caller,
		[TRAMP_CFA] = tramp_gate_cfa,
		[TRAMP_PRCTL] = tramp_gate_prctl,
		[TRAMP_SYSCALL] = tramp_gate_syscall,
		[TRAMP_LIMIT] = tramp_gate_limit,
		[TRAMP_LOCK] = tramp_gate_lock,
	};
	static struct stub_pages pages;

	if (pages.used == pages.stubs && stub_map_block(&pages, 100))
		fail("stub_map_block");
	uint32_t n = pages.used++;
	struct traced traced = {stub_address(&pages, n), stub_cell(&pages, n)};
	traced.cell->word = TRACE_WORD(TRACE_ENTRY, id);
	traced.cell->body = (uint64_t)(uintptr_t)body;
	traced.cell->gate = (uint64_t)(uintptr_t)gates[event];
	return traced;
}

/* ---- reading ---- */

/* A file, mapped. */
struct mapped {
	char *start;
	size_t size;
};

static struct mapped map_file(const char *path)
{
	struct stat st;
	struct mapped file = { NULL, 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return file;
	if (!fstat(fd, &st) && st.st_size) {
		file.size = (size_t)st.st_size;
		file.start = mmap(NULL, file.size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (file.start == MAP_FAILED)
			fail("mmap");
		madvise(file.start, file.size, MADV_RANDOM);
	}
	close(fd);
	return file;
}

static void unmap_file(struct mapped *file)
{
	if (file->size)
		munmap(file->start, file->size);
	*file = (struct mapped){ NULL, 0 };
}

/* Whether there is anything of t<n> that readers should take for a chunk, right or wrong. */
static int has_magic(const struct mapped *file, uint64_t at)
{
	return at + sizeof(struct trace_chunk) <= file->size && ((const struct trace_chunk *)(file->start + at))->magic;
}

/* Where the next chunk of t<n> may begin. */
static uint64_t behind(const struct mapped *file, uint64_t at, uint64_t chunk_size)
{
	const struct trace_chunk *chunk = (const struct trace_chunk *)(file->start + at);

	return at + (stream_is_chunk(chunk, chunk_size) ? stream_whole(stream_bytes(chunk)) : STREAM_UNIT);
}

/* t<n> mapped as if all of its words were plain, and chunks lay at multiples of their size. */
static struct mapped map_stream(const char *path, uint64_t chunk_size)
{
	struct mapped file = map_file(path), plain = { 0 };
	uint64_t chunks = 0;

	for (uint64_t at = 0; at < file.size; at = behind(&file, at, chunk_size))
		chunks += has_magic(&file, at) != 0;
	if (!chunks) {
		unmap_file(&file);
		return plain;
	}
	plain.size = chunks * chunk_size;
	plain.start = mmap(NULL, plain.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (plain.start == MAP_FAILED)
		fail("mmap");
	chunks = 0;
	for (uint64_t at = 0; at < file.size; at = behind(&file, at, chunk_size)) {
		if (!has_magic(&file, at))
			continue;
		struct trace_chunk *chunk = (struct trace_chunk *)(plain.start + chunks++ * chunk_size);
		const char *codes = file.start + at + sizeof(*chunk);
		/* Not what follows it. */
		const struct trace_chunk *here = (const struct trace_chunk *)(file.start + at);
		uint64_t bytes = stream_is_chunk(here, chunk_size) ? stream_bytes(here) : chunk_size;
		memcpy(chunk, here, file.size - at < bytes ? file.size - at : bytes);
		if (chunk->magic == TRACE_CHUNK_MAGIC && chunk->version == TRACE_CHUNK_DENSE &&
			chunk->used <= chunk_size && at + sizeof(*chunk) + chunk->dense <= file.size)
			plain_words(chunk, (const uint16_t *)codes, (const uint16_t *)(codes + chunk->dense));
	}
	unmap_file(&file);
	return plain;
}

/* The head of a process, in the file of its family. */
struct process_file {
	struct mapped meta;
	char folder[400]; /* of the family */
	uint32_t place;
	const struct trace_head *head, *first;
};

static uint64_t word_of(const struct process_file *file, uint32_t place)
{
	const struct trace_directory directory = trace_directory_of(file->first);

	return *(const uint64_t *)(file->meta.start + trace_word_at(&directory, place));
}

static void *place_of(const struct process_file *file, uint32_t place)
{
	return file->meta.start + place * file->first->place_size;
}

static const struct trace_chunk *chunk_of(const struct process_file *file, uint32_t place, uint64_t chunk_size)
{
	return (const struct trace_chunk *)((const char *)place_of(file, place) + chunk_size);
}

/* Looks for the head of the process in one family. */
static int find_head(struct process_file *file, pid_t pid)
{
	file->first = (const struct trace_head *)file->meta.start;
	if (!file->meta.size || memcmp(file->first->magic, TRACE_MAGIC, sizeof(file->first->magic)) ||
		file->first->version != TRACE_VERSION)
		return 0;
	for (uint32_t i = 0; i < file->first->places; i++) {
		uint64_t word = word_of(file, i);
		if (word != TRACE_PLACE(TRACE_PLACE_HEAD, i, pid))
			continue;
		file->place = i;
		file->head = place_of(file, i);
		return file->head->process == i;
	}
	return 0;
}

/* Looks for the process in all families. Returns whether it was found. */
static int find_process(struct process_file *file, const char *where, pid_t pid)
{
	DIR *dir = opendir(where);
	struct dirent *entry;
	int found = 0;

	while (dir && !found && (entry = readdir(dir))) {
		char path[440];
		if (*entry->d_name != 'p')
			continue;
		snprintf(file->folder, sizeof(file->folder), "%s/%s", where, entry->d_name);
		snprintf(path, sizeof(path), "%s/meta", file->folder);
		file->meta = map_file(path);
		found = find_head(file, pid);
		if (!found)
			unmap_file(&file->meta);
	}
	if (dir)
		closedir(dir);
	return found;
}

struct chunk_list {
	const struct trace_chunk *chunk[65536];
	size_t count;
};

static void list_chunk(struct chunk_list *list, const struct trace_chunk *chunk, uint64_t chunk_size, int in_file,
	struct reading *reading)
{
	if (!chunk->magic)
		return;
	if (chunk->magic != TRACE_CHUNK_MAGIC || chunk->version != TRACE_VERSION || chunk->size != chunk_size ||
		chunk->head_size != sizeof(*chunk) || chunk->used > chunk->size ||
		(in_file && (!chunk->used || chunk->copied)))
		reading->damage = "a chunk's header";
	else if (list->count < sizeof(list->chunk) / sizeof(*list->chunk))
		list->chunk[list->count++] = chunk;
}

/* By number. */
static int by_seq(const void *a, const void *b)
{
	const struct trace_chunk *x = *(const struct trace_chunk *const *)a, *y = *(const struct trace_chunk *const *)b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return 0;
}

static void stream_path(char path[440], const struct process_file *file, unsigned n)
{
	int length = snprintf(path, 440, "%s/t%u", file->folder, n);

	if (file->place)
		snprintf(path + length, 440 - (size_t)length, ".%u", file->place);
}

static void list_all(struct chunk_list *list, const struct process_file *file, const struct mapped *stream, unsigned n,
	uint64_t chunk_size, struct reading *reading)
{
	list->count = 0;
	for (uint64_t at = 0; at + sizeof(struct trace_chunk) <= stream->size; at += chunk_size)
		list_chunk(list, (const struct trace_chunk *)(stream->start + at), chunk_size, 1, reading);
	for (uint32_t i = 0; i < file->first->places; i++)
		if (word_of(file, i) == TRACE_PLACE(TRACE_PLACE_CHUNK, file->place, n) ||
			(i == file->place && chunk_of(file, i, chunk_size)->magic != TRACE_COUNTS_MAGIC &&
				chunk_of(file, i, chunk_size)->thread == n))
			list_chunk(list, chunk_of(file, i, chunk_size), chunk_size, 0, reading);
	qsort(list->chunk, list->count, sizeof(*list->chunk), by_seq);
}

int core_read(const char *where, pid_t pid, unsigned n, uint64_t chunk_size, struct reading *reading)
{
	static struct chunk_list list;
	struct process_file file;
	char path[440];
	uint64_t next = 0;

	memset(reading, 0, sizeof(*reading));
	if (!find_process(&file, where, pid))
		return -1;
	stream_path(path, &file, n);
	struct mapped stream = map_stream(path, chunk_size);
	list_all(&list, &file, &stream, n, chunk_size, reading);
	reading->lost = file.head->lost;
	for (int i = 0; i < TRACE_LOST_COUNT; i++)
		reading->lost_by[i] = file.head->lost_by[i];
	for (size_t i = 0; i < list.count; i++) {
		const struct trace_chunk *chunk = list.chunk[i];
		if (i && chunk->seq == list.chunk[i - 1]->seq)
			continue;
		if (chunk->seq != next)
			reading->damage = "a chunk is missing";
		next = chunk->seq + 1;
		reading->chunks++;
		core_read_words(reading, chunk);
	}
	unmap_file(&stream);
	unmap_file(&file.meta);
	return list.count ? 0 : -1;
}

const struct trace_chunk *core_chunk(
	const char *where, pid_t pid, unsigned n, uint64_t chunk_size, uint64_t seq, enum core_where in)
{
	static struct chunk_list list;
	static struct reading ignored;
	static char copy[1 << 20];
	struct process_file file;
	char path[440];
	const struct trace_chunk *found = NULL;

	if (!find_process(&file, where, pid) || chunk_size > sizeof(copy))
		return NULL;
	stream_path(path, &file, n);
	struct mapped stream = map_stream(path, chunk_size);
	list_all(&list, &file, &stream, n, chunk_size, &ignored);
	for (size_t i = 0; i < list.count && !found; i++) {
		const char *at = (const char *)list.chunk[i];
		int in_file = stream.size && at >= stream.start && at < stream.start + stream.size;
		if (list.chunk[i]->seq != seq || in_file != (in == CORE_IN_FILE))
			continue;
		uint64_t size = chunk_size;
		/* The last chunk of a file ends where its events end. */
		if (in_file && (uint64_t)(stream.start + stream.size - at) < size)
			size = (uint64_t)(stream.start + stream.size - at);
		memset(copy, 0, chunk_size);
		memcpy(copy, at, size);
		found = (const struct trace_chunk *)copy;
	}
	unmap_file(&stream);
	unmap_file(&file.meta);
	return found;
}

/* Adds the counter of a run up. */
static void add_count(long long *sum, const struct trace_counts *counts, uint32_t id)
{
	*sum = *sum < 0 ? 0 : *sum;
	if (id < (counts->size - sizeof(*counts)) / 8)
		*sum += (long long)((const uint64_t *)(counts + 1))[id];
}

long long core_count(const char *where, pid_t pid, unsigned n, uint32_t id)
{
	struct process_file file;
	long long sum = -1;

	if (!find_process(&file, where, pid))
		return -1;
	const struct trace_counts *beside = (const void *)chunk_of(&file, file.place, file.first->place_size / 2);
	if (beside->magic == TRACE_COUNTS_MAGIC && beside->process == file.place && beside->thread == n)
		add_count(&sum, beside, id);
	for (uint32_t i = 0; i < file.first->places; i++) {
		const struct trace_counts *counts = place_of(&file, i);
		if (word_of(&file, i) != TRACE_PLACE(TRACE_PLACE_COUNTS, file.place, n) ||
			counts->magic != TRACE_COUNTS_MAGIC)
			continue;
		add_count(&sum, counts, id);
		i += (uint32_t)(counts->size / file.first->place_size) - 1;
	}
	unmap_file(&file.meta);
	return sum;
}

void core_forget(struct reading *reading)
{
	free(reading->event);
	memset(reading, 0, sizeof(*reading));
}

int core_read_head(const char *where, pid_t pid, struct trace_head *head)
{
	struct process_file file;

	if (!find_process(&file, where, pid))
		return -1;
	*head = *file.head;
	unmap_file(&file.meta);
	return 0;
}

const char *core_protection(uint64_t address)
{
	static char found[8];
	char line[512], protection[8];
	FILE *maps = fopen("/proc/self/maps", "re");

	if (!maps)
		fail("/proc/self/maps");
	found[0] = '\0';
	while (fgets(line, sizeof(line), maps)) {
		unsigned long low, high;
		if (sscanf(line, "%lx-%lx %7s", &low, &high, protection) == 3 && address >= low && address < high)
			strcpy(found, protection);
	}
	fclose(maps);
	return found;
}
