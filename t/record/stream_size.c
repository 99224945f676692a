#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * What trace_head.stream_bytes tells, by which size-limit ends a trace: what the chunks in t<n> take there, and whole
 * ones that may come there, whichever mode they were begun in, and whoever wrote them. And what a thread writes in
 * vain, to find out that dense words would take too much.
 */
#include "t/lib/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/rules/defaults.h"
#include "format/stream.h"
#include "runtime/files/pool.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "runtime/record/chunk.h"
#include "runtime/record/recorder.h"
#include "t/lib/core.h"
#include "x86_64/sys.h"

#define SIZE TRACE_CHUNK_MIN

/* Results of the scenarios. */
struct told {
	uint64_t bytes;		/* as the head has it */
	uint64_t there, chunks; /* in t0 */
	uint64_t begun;		/* chunks of mode stream that are not in t0, or count as if they were not */
};

static struct told *told;
static struct thread *thread;

static void next_chunk(enum trace_mode mode)
{
	static const uint64_t all = ~0ull;
	uint64_t before;

	/* Calls of one function, and of so many that dense words of them are not worth it. */
	for (uint32_t i = 0; i < 2000; i++)
		recorder_write(thread, NULL, TRACE_WORD(TRACE_POINT, thread->next_chunk % 2 ? 1 : i * i));
	sys_set_signals(&all, &before);
	if (chunk_next(thread, mode, clock_now(), 0))
		_exit(90);
	sys_set_signals(&before, NULL);
}

static void begin(void)
{
	core_start(core_folder(), SIZE, TRACE_CLOCK_TSC);
	thread = thread_get();
	recorder_write(thread, NULL, TRACE_WORD(TRACE_POINT, 1));
}

static int end(void)
{
	struct trace_chunk chunk;
	char path[128];
	uint64_t at, bytes;

	snprintf(path, sizeof(path), "%s/p%d/t0", core_folder(), getpid());
	int fd = open(path, O_RDONLY);
	for (at = 0; pread(fd, &chunk, sizeof(chunk), (off_t)at) == sizeof(chunk); at += bytes) {
		bytes = STREAM_UNIT;
		if (!stream_is_chunk(&chunk, SIZE))
			continue;
		bytes = stream_whole(stream_bytes(&chunk));
		told->there += chunk.version == TRACE_CHUNK_DENSE ? sizeof(chunk) + chunk.dense : SIZE;
		told->chunks++;
	}
	close(fd);
	told->bytes = process_head()->stream_bytes;
	return 0;
}

static int stream(void *argument)
{
	(void)argument;
	begin();
	for (int i = 0; i < 20; i++)
		next_chunk(TRACE_MODE_STREAM);
	told->begun = 1;
	return end();
}

/* A flight recorder, which the stream takes over. */
static int from_ring(void *argument)
{
	(void)argument;
	begin();
	for (int i = 0; i < 20; i++)
		next_chunk(TRACE_MODE_RING);
	for (int i = 0; i < 20; i++)
		next_chunk(TRACE_MODE_STREAM);
	told->begun = 1;
	return end();
}

/* `xaudit record` writes what the flight recorder had, as it is: the file has its chunks, with nothing in them. */
static int others_write(void *argument)
{
	(void)argument;
	begin();
	for (int i = 0; i < 20; i++)
		next_chunk(TRACE_MODE_RING);
	for (uint64_t beat = 1; beat < 20; beat++) {
		process_head()->drain_beat = beat;
		next_chunk(TRACE_MODE_STREAM);
		for (uint32_t i = 0; i < thread->made; i++) {
			uint32_t place = (thread->many ? thread->many : thread_kept(thread)->few)[i].number;
			struct trace_handover *handover = pool_handover(place);
			struct trace_chunk *from = (void *)((uint8_t *)pool_address(place) + SIZE);
			if (handover->full == handover->drained || from->seq != handover->full - 1)
				continue;
			struct trace_chunk chunk = *from;
			char path[128];
			snprintf(path, sizeof(path), "%s/p%d/t0", core_folder(), getpid());
			int fd = open(path, O_RDWR | O_CREAT, 0600);
			from->dense = chunk.dense = chunk.seq % 2 ? 0 : 1000;
			chunk.version = chunk.dense ? TRACE_CHUNK_DENSE : TRACE_VERSION;
			if (pwrite(fd, &chunk, sizeof(chunk), (off_t)stream_at(chunk.copied)) != sizeof(chunk))
				_exit(91);
			close(fd);
			handover->drained = handover->full;
		}
	}
	/* Those that are still in their places count as they were begun. */
	for (uint32_t i = 0; i < thread->made; i++) {
		uint32_t place = (thread->many ? thread->many : thread_kept(thread)->few)[i].number;
		const struct trace_chunk *chunk = (void *)((uint8_t *)pool_address(place) + SIZE);
		told->begun += chunk->mode == TRACE_MODE_STREAM;
		if (chunk->copied) {
			told->there -= chunk->dense ? sizeof(*chunk) + chunk->dense : SIZE;
			told->chunks--;
		}
	}
	return end();
}

/* Bytes that the process has written, and one more, as the kernel counts them; 0: it does not. */
static uint64_t written(void)
{
	char text[512] = "";
	int fd = open("/proc/self/io", O_RDONLY);
	const char *at = read(fd, text, sizeof(text) - 1) > 0 ? strstr(text, "wchar: ") : NULL;

	close(fd);
	return at ? 1 + strtoull(at + 7, NULL, 10) : 0;
}

#define LARGE DEFAULTS_BUFFER

/* Calls of ever other functions, in a chunk of the usual size. */
static int others(void *argument)
{
	(void)argument;
	core_start(core_folder(), LARGE, TRACE_CLOCK_TSC);
	thread = thread_get();
	recorder_write(thread, NULL, TRACE_WORD(TRACE_POINT, 1));
	uint64_t seq = thread->next_chunk, before = written();
	for (uint32_t i = 1; thread->next_chunk == seq; i++)
		recorder_write(thread, NULL, TRACE_WORD(TRACE_POINT, i));
	told->bytes = before ? written() - before : 0;
	return 0;
}

static void run(int (*scenario)(void *), const char *what, uint64_t chunks)
{
	memset(told, 0, sizeof(*told));
	is_int(core_child(scenario, NULL, 60), 0, "%s: the program runs to its end", what);
	is_int((long long)told->chunks, (long long)chunks, "%s: so many chunks are in t0", what);
	is_int((long long)told->bytes, (long long)(told->there + told->begun * SIZE),
		"%s: the head tells what they take, and what may come", what);
}

int main(void)
{
	core_folder();
	told = core_shared(sizeof(*told));
	run(stream, "a stream", 20);
	/* The first one, the flight recorder's last one, and of the stream all but the last. */
	run(from_ring, "a flight recorder that becomes a stream", 1 + 1 + 19);
	/* The first one, the flight recorder's eight, and of the stream all but two; seven have their places still. */
	run(others_write, "a flight recorder that somebody else writes", 1 + 8 + 18 - 7);
	memset(told, 0, sizeof(*told));
	is_int(core_child(others, NULL, 60), 0, "calls of ever other functions: the program runs to its end");
	if (told->bytes)
		/* Its words, two heads, and as many zeros for the chunk after it. */
		ok(told->bytes > 2 * LARGE - 8 && told->bytes < 2 * LARGE + LARGE / 16,
			"of dense words that would take too much none are written (%llu bytes)",
			(unsigned long long)told->bytes);
	else
		skip(1, "the kernel does not tell");
	return done_testing();
}
