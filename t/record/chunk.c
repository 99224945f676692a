#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/*
 * Chunks: a writer that was interrupted before it stored an event, and goes on later, stores it only if nothing else is
 * in that place by then. Each scenario plays the interrupted writer by hand: it keeps the cursor and the token, lets
 * other things happen, and stores.
 */
#include "t/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/stream.h"
#include "runtime/files/pool.h"
#include "runtime/process/clock.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "runtime/record/chunk.h"
#include "runtime/record/recorder.h"
#include "t/lib/core.h"
#include "x86_64/sys.h"

#define WORD(id)  TRACE_WORD(TRACE_POINT, id)
#define EVENT(id) TRACE_EVENT(TRACE_POINT, id, (uint32_t)clock_now())

/* Results of the scenarios. */
struct told {
	pid_t pid;
	uint64_t value[8];
};

static struct told *told;
static struct thread *thread;

/* An event that is about to be stored. */
static struct {
	uint64_t at, token;
} pending;

static void interrupt(void)
{
	pending.at = thread->hot.cursor;
	pending.token = thread->hot.token;
}

/* The interrupted writer goes on. Returns whether its event is stored. */
static int come_back(uint32_t id)
{
	return chunk_store(pending.at, pending.token, EVENT(id)) == pending.token;
}

static void begin(void)
{
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	told->pid = getpid();
	thread = thread_get();
	recorder_write(thread, NULL, WORD(1));
}

static void next_chunk_at(enum trace_mode mode, uint64_t now)
{
	static const uint64_t all = ~0ull;
	uint64_t before;

	sys_set_signals(&all, &before);
	if (chunk_next(thread, mode, now, 7))
		_exit(90);
	sys_set_signals(&before, NULL);
}

static void next_chunk(enum trace_mode mode)
{
	next_chunk_at(mode, clock_now());
}

/* ---- one thread and its handlers ---- */

static int in_between(void *argument)
{
	(void)argument;
	begin();
	interrupt();
	recorder_write(thread, NULL, WORD(2));
	told->value[0] = (uint64_t)come_back(3);
	recorder_write(thread, NULL, WORD(4));
	return 0;
}

static int another_chunk(void *argument)
{
	(void)argument;
	begin();
	interrupt();
	next_chunk(TRACE_MODE_STREAM);
	told->value[0] = (uint64_t)come_back(2);
	/* With this change, the thread comes to its first place again. */
	next_chunk(TRACE_MODE_STREAM);
	told->value[1] = (uint64_t)thread->place;
	told->value[2] = (uint64_t)come_back(2);
	told->value[3] = thread->chunk->stack;
	recorder_write(thread, NULL, WORD(3));
	return 0;
}

/* The interrupted writer has stored its event, but not moved the cursor. */
static int not_moved(void *argument)
{
	(void)argument;
	begin();
	interrupt();
	told->value[0] = (uint64_t)come_back(2);
	recorder_write(thread, NULL, WORD(3));
	thread->hot.cursor += 8; /* now the writer goes on */
	recorder_write(thread, NULL, WORD(4));
	/* Another interrupted writer, right before the chunk is left. */
	interrupt();
	told->value[1] = (uint64_t)come_back(5);
	next_chunk(TRACE_MODE_STREAM);
	recorder_write(thread, NULL, WORD(6));
	return 0;
}

/*
 * The hole that is left when the cursor was moved twice: a writer that is still about to store there must not do so
 * later.
 */
static int hole(void *argument)
{
	(void)argument;
	begin();
	interrupt();
	uint64_t outer = pending.at;
	told->value[0] = (uint64_t)come_back(2);
	interrupt();
	pending.at = outer + 8;
	thread->hot.cursor = outer + 8;
	recorder_write(thread, NULL, WORD(3)); /* it is stored; the cursor is after it */
	thread->hot.cursor += 8;
	pending.at = thread->hot.cursor - 8; /* the hole */
	recorder_write(thread, NULL, WORD(4));
	thread->passed = 1;
	next_chunk(TRACE_MODE_STREAM);
	told->value[1] = (uint64_t)come_back(5);
	return 0;
}

/* ---- taking back ---- */

static int take_back(void *argument)
{
	(void)argument;
	begin();
	recorder_write(thread, NULL, TRACE_WORD(TRACE_ENTRY, 2));
	thread->taking = thread->hot.cursor - 8;
	uint64_t at = thread->taking, entry = *(uint64_t *)(uintptr_t)at;
	next_chunk(TRACE_MODE_STREAM);
	told->value[0] = chunk_store(at, entry, thread->hot.token) == entry;
	told->value[1] = thread->taking;
	return 0;
}

/* ---- custom events ---- */

/* A custom event is being written: all of it but its first word of data is stored. */
static uint64_t half_custom(uint64_t frame)
{
	uint64_t at = thread->hot.cursor;

	*(uint64_t *)(uintptr_t)at = 
		TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CUSTOM, 3), (uint32_t)clock_now());
	memset((void *)(uintptr_t)(at + 16), 'x', 16);
	thread->hot.cursor += 32;
	thread->custom[0].address = at;
	thread->custom[0].frame = frame;
	return at;
}

static int custom(void *argument)
{
	char here;

	(void)argument;
	begin();
	/* Written by a frame further out. */
	uint64_t at = half_custom((uint64_t)(uintptr_t)&here + 4096), token = thread->hot.token;
	uint32_t place = thread->place;
	recorder_write(thread, NULL, WORD(2));
	for (int i = 0; i < 5; i++) {
		next_chunk(TRACE_MODE_STREAM);
		told->value[0] += thread->place == place;
		told->value[1] = thread->place > told->value[1] ? thread->place : told->value[1];
	}
	told->value[2] = chunk_store(at + 8, token, 16) == token;
	thread->custom[0].frame = 0;
	for (int i = 0; i < 4; i++) {
		next_chunk(TRACE_MODE_STREAM);
		told->value[3] += thread->place == place;
	}
	return 0;
}

/* ---- chunks that another process writes ---- */

static uint32_t number_of(uint32_t place)
{
	return (thread->many ? thread->many : thread_kept(thread)->few)[place].number;
}

static struct trace_handover *handover_of(uint32_t place)
{
	return pool_handover(number_of(place));
}

/* The head at that offset of t0; its magic is 0 if there is none. */
static struct trace_chunk head_at(uint64_t at)
{
	struct trace_chunk head = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/p%d/t0", core_folder(), (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &head, sizeof(head), (off_t)at) < 0)
		head.magic = 0;
	close(fd);
	return head;
}

/* Chunks that are handed over, and not written by the thread itself. */
static uint64_t left_to_others(void)
{
	uint64_t n = 0;

	for (uint32_t place = 0; place < thread->made; place++)
		n += handover_of(place)->full != 0;
	return n;
}

/* `xaudit record` is running, as its beat says; it is slow, then quick. */
static int others_write(void *argument)
{
	uint64_t beat = 0;

	(void)argument;
	begin();
	while (++beat < chunk_ring_size() / chunk_size()) {
		process_head()->drain_beat = beat;
		next_chunk(TRACE_MODE_STREAM);
	}
	told->value[0] = chunk_ring_size() / chunk_size() - thread->made;
	told->value[1] = thread->made - 1 - left_to_others();
	process_head()->drain_beat = ++beat;
	next_chunk(TRACE_MODE_STREAM);
	told->value[2] = thread->place;
	told->value[3] = thread->made - 1 - left_to_others();
	/* Whole rooms were given; behind the one that it wrote itself it goes on where that ends. */
	uint64_t heads = 0, last = 0;
	for (uint64_t at = 0; at < thread->saved; at += TRACE_CHUNK_MIN)
		if (head_at(at).magic) {
			heads++;
			last = at;
		}
	const struct trace_chunk head = head_at(last);
	told->value[6] = heads == 1 && last && !head.seq && thread->saved == last + stream_whole(stream_bytes(&head));
	for (int i = 0; i < 6; i++) {
		for (uint32_t place = 0; place < thread->made; place++)
			handover_of(place)->drained = handover_of(place)->full;
		process_head()->drain_beat = ++beat;
		next_chunk(TRACE_MODE_STREAM);
		told->value[4] = thread->place > told->value[4] ? thread->place : told->value[4];
	}
	told->value[5] = thread->made > 4;
	return 0;
}

/*
 * A flight recorder is full when its mode becomes stream, and `xaudit record` is there: it gets all chunks, the oldest
 * first, and whoever may not wait for it finds room once it has written them.
 */
static int from_ring(void *argument)
{
	static const uint64_t all = ~0ull;
	uint64_t beat = 0, last = 0;

	(void)argument;
	begin();
	chunk_overflow(TRACE_OVERFLOW_DROP);
	/* Chunk 0 is the first of t0; 1 to 11, of which 4 to 11 are there at last. */
	for (int i = 0; i < CORE_RING_CHUNKS + 3; i++)
		next_chunk(TRACE_MODE_RING);
	sys_set_signals(&all, NULL);
	process_head()->drain_beat = ++beat;
	told->value[0] = chunk_next(thread, TRACE_MODE_STREAM, clock_now(), 7) == -EOVERFLOW;
	told->value[1] = left_to_others();
	/* That has no room but its own; each of the others has all that it may need. */
	const struct trace_chunk first = head_at(0);
	const uint64_t rooms = stream_whole(stream_bytes(&first));
	for (uint32_t place = 0; place < thread->made; place++) {
		const struct trace_chunk *chunk =
			(void *)((char *)pool_address(number_of(place)) + chunk_size());
		last = chunk->copied > last ? chunk->copied : last;
		told->value[2] += chunk->copied &&
				  stream_at(chunk->copied) == rooms + (chunk->seq - 4) * TRACE_CHUNK_MIN;
		handover_of(place)->drained = handover_of(place)->full;
	}
	told->value[3] = 2 + (stream_at(last) - rooms) / TRACE_CHUNK_MIN;
	for (int i = 0; i < CORE_RING_CHUNKS - 1; i++) {
		process_head()->drain_beat = ++beat;
		told->value[4] += !chunk_next(thread, TRACE_MODE_STREAM, clock_now(), 7);
	}
	return 0;
}

/* ---- what is in the file ---- */

/* Fills the chunk with events of so many functions, no two of them in turn as before, and goes on to the next one. */
static void fill_chunk(uint32_t ids)
{
	uint64_t before = thread->next_chunk, value = 1;

	while (thread->next_chunk == before) {
		value = value * 6364136223846793005u + 1442695040888963407u;
		recorder_write(thread, NULL, WORD(1 + (uint32_t)(value >> 33) % ids));
		told->value[7]++;
	}
}

static int dense_or_not(void *argument)
{
	const struct rlimit none = { 0, RLIM_INFINITY };
	(void)argument;
	begin();
	const uint64_t *bytes = &process_head()->stream_bytes;
	fill_chunk(8);
	const struct trace_chunk first = head_at(0);
	told->value[0] = first.version == TRACE_CHUNK_DENSE && first.dense <= first.used / 4 * 3;
	told->value[1] = *bytes == sizeof(first) + first.dense + TRACE_CHUNK_MIN;
	/* Each begins where the one before ends, at the next page. */
	uint64_t at = stream_whole(stream_bytes(&first));
	told->value[6] = thread->saved == at;
	fill_chunk(1 << 20);
	const struct trace_chunk second = head_at(at);
	told->value[2] = second.version == TRACE_VERSION && !second.dense;
	told->value[3] = *bytes == sizeof(first) + first.dense + 2 * TRACE_CHUNK_MIN;
	at += stream_whole(second.used);
	/* There is no memory where codes could be made. */
	thread_kept(thread)->room = NULL;
	setrlimit(RLIMIT_AS, &none);
	fill_chunk(8);
	const struct trace_chunk third = head_at(at);
	told->value[4] = third.version == TRACE_VERSION && !thread_kept(thread)->room;
	at += stream_whole(third.used);
	setrlimit(RLIMIT_AS, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
	fill_chunk(8);
	told->value[5] = head_at(at).version == TRACE_CHUNK_DENSE && thread_kept(thread)->room;
	return 0;
}

/* ---- many threads, and a file that may not grow ---- */

#define THREADS	   20
#define FILE_ROOM  (16ul << 20) /* 128 places */
#define TAKEN	   16		/* of them, by others: an eighth is taken, with the head's */

static pthread_barrier_t all_done;

static void *fill(void *argument)
{
	static const uint64_t all = ~0ull;
	struct thread *own = thread_get();
	long failed = 0;

	sys_set_signals(&all, NULL);
	for (int i = 0; i < CORE_RING_CHUNKS + 2; i++)
		failed += chunk_next(own, TRACE_MODE_STREAM, clock_now(), 7) != 0;
	*(uint64_t *)argument = own->made;
	/* Who ends gives its places to others. */
	pthread_barrier_wait(&all_done);
	return (void *)failed;
}

static int little_room(void *argument)
{
	const struct rlimit limit = { FILE_ROOM, FILE_ROOM };
	pthread_t id[THREADS];
	uint64_t made[THREADS];
	void *failed;

	(void)argument;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 91;
	begin();
	if (pool_take(TAKEN) != 1)
		return 93;
	process_head()->drain_beat = 1;
	pthread_barrier_init(&all_done, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&id[i], NULL, fill, &made[i]))
			return 92;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(id[i], &failed);
		told->value[0] += (uint64_t)failed;
		told->value[1] = made[i] > told->value[1] ? made[i] : told->value[1];
	}
	return 0;
}

/* ---- forked twins ---- */

/* The child is first, with the parent's address: it stores the parent's event, and the parent finds it stored. */
static int twin_first(void *argument)
{
	(void)argument;
	begin();
	interrupt();
	uint64_t event = EVENT(2);
	pid_t child = fork();
	if (!child)
		_exit(chunk_store(pending.at, pending.token, event) == pending.token);
	int status = 0;
	waitpid(child, &status, 0);
	told->value[0] = (uint64_t)WEXITSTATUS(status);
	uint64_t found = chunk_store(pending.at, pending.token, event);
	told->value[1] = found == event;
	tramp_slow_event(found, event, 0);
	recorder_write(thread, NULL, WORD(3));
	return 0;
}

/* The parent has stored more events when the child goes on. */
static int twin_late(void *argument)
{
	(void)argument;
	begin();
	interrupt();
	pid_t child = fork();
	if (!child) {
		raise(SIGSTOP);
		_exit(come_back(9));
	}
	int status = 0;
	waitpid(child, &status, WUNTRACED);
	for (int i = 0; i < 3; i++) {
		next_chunk(TRACE_MODE_STREAM);
		recorder_write(thread, NULL, WORD((uint32_t)i + 2));
	}
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
	told->value[0] = (uint64_t)WEXITSTATUS(status);
	return 0;
}

/* ---- ---- */

static const char *as_text(uint64_t *holes)
{
	static char text[512];
	struct reading reading;
	size_t length = 0;

	text[0] = '\0';
	if (core_read(core_folder(), told->pid, 0, TRACE_CHUNK_MIN, &reading))
		return "no file";
	for (size_t i = 0; i < reading.count && length + 20 < sizeof(text); i++)
		length += (size_t)snprintf(
			text + length, sizeof(text) - length, "%s%u", i ? " " : "", reading.event[i].id);
	*holes = reading.holes;
	core_forget(&reading);
	return text;
}

static void run(int (*scenario)(void *), const char *what, const char *events)
{
	uint64_t holes;

	memset(told, 0, sizeof(*told));
	is_int(core_child(scenario, NULL, 60), 0, "%s: the program runs to its end", what);
	if (events)
		is_str(as_text(&holes), events, "%s: the events are right", what);
}

int main(void)
{
	core_folder();
	told = core_shared(sizeof(*told));
	run(in_between, "a handler's event in between", "1 2 4");
	is_int((long long)told->value[0], 0, "the interrupted one stores nothing over it");
	run(another_chunk, "a handler that goes on to another chunk", "1 3");
	is_int((long long)told->value[0], 0, "nothing is stored in the chunk that was left");
	is_int((long long)told->value[1], 0, "the third chunk is in the place of the first");
	is_int((long long)told->value[2], 0, "nothing is stored in the chunk that came to lie there");
	is_int((long long)told->value[3], 7, "whose head tells the stack from the beginning");
	run(not_moved, "a handler between the store and the cursor's move", "1 2 3 4 5 6");
	is_int((long long)told->value[0] + (long long)told->value[1], 2, "both are stored");
	run(hole, "a hole", "1 2 3 4");
	is_int((long long)told->value[1], 0, "it is closed when the chunk is left");
	run(take_back, "a handler that leaves the chunk while its last entry is taken back", NULL);
	is_int((long long)told->value[0], 0, "the entry stays");
	is_int((long long)told->value[1], 0, "and nothing is being taken back any more");
	run(custom, "a custom event that is being written", NULL);
	is_int((long long)told->value[0], 0, "its chunk's place is not used again, through five chunks");
	is_int((long long)told->value[1], 1, "the other one is");
	is_int((long long)told->value[2], 0, "its chunk was left without it: it can't be finished there");
	is_int((long long)told->value[3], 2, "and when nobody writes there any more the place is in turn again");
	run(others_write, "somebody else writes chunks", NULL);
	is_int((long long)told->value[5], 1, "a thread has many places");
	is_int((long long)told->value[0], 0, "as many as a flight recorder, if none is written");
	is_int((long long)told->value[1], 0, "it writes none itself as long as it has places");
	is_int((long long)told->value[2], 0, "when it has none any more, it uses that of the oldest chunk");
	is_int((long long)told->value[3], 0, "which it wrote, that one alone");
	is_int((long long)told->value[6], 1, "not to the place where others may have begun to");
	is_int((long long)told->value[4], 2, "of many that are written it uses three");
	run(from_ring, "a flight recorder that somebody else is to write", NULL);
	is_int((long long)told->value[0], 1, "there is no room at first");
	is_int((long long)told->value[1], CORE_RING_CHUNKS, "all its chunks are handed over");
	is_int((long long)told->value[2], CORE_RING_CHUNKS, "in the order in which they were filled");
	is_int((long long)told->value[3], 1 + CORE_RING_CHUNKS, "each has a number of its own, and no more there are");
	is_int((long long)told->value[4], CORE_RING_CHUNKS - 1, "and once they are written there is room for as many");
	run(dense_or_not, "chunks in the file", NULL);
	is_int((long long)told->value[0], 1, "eight functions: dense words");
	is_int((long long)told->value[1], 1, "so many bytes count for the size limit");
	is_int((long long)told->value[2], 1, "a million of functions: as they are");
	is_int((long long)told->value[3], 1, "and all of that counts");
	is_int((long long)told->value[4], 1, "without memory: as they are");
	is_int((long long)told->value[5], 1, "later: dense again");
	is_int((long long)told->value[6], 1, "the next one begins at the page behind a dense one");
	struct reading reading;
	is_int(core_read(core_folder(), told->pid, 0, TRACE_CHUNK_MIN, &reading), 0, "all of them are there");
	is_int((long long)reading.count, (long long)told->value[7] + 1, "with all events");
	core_forget(&reading);
	run(little_room, "many threads, and a file that may not grow", NULL);
	is_int((long long)told->value[0], 0, "each finds a place for each of its chunks");
	is_int((long long)told->value[1], 4, "since none takes more than four");
	run(twin_first, "a forked child that comes first", "1 2 3");
	is_int((long long)told->value[0], 1, "it stores the parent's event");
	is_int((long long)told->value[1], 1, "which the parent finds");
	run(twin_late, "a forked child that comes late", "1 2 3 4");
	is_int((long long)told->value[0], 0, "it stores nothing");
	return done_testing();
}
