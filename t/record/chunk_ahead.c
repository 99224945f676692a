/* SPDX-License-Identifier: MIT */
/*
 * The place of the next chunk, which is chosen when a chunk begins (tramp_state.ahead): is the next chunk there, and if
 * not, for a reason? And whatever comes in between, no chunk that must be kept is overwritten.
 */
#include "t/lib/tap.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

/* Results of the scenarios. */
static uint64_t *told;
static struct thread *thread;
static uint64_t beat, now;

/* A thread with one chunk, and a flight recorder of so many. Signals are blocked, as chunk_next() wants it. */
static void begin(uint64_t ring_chunks)
{
	static const uint64_t all = ~0ull;

	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	chunk_init(TRACE_CHUNK_MIN, ring_chunks * TRACE_CHUNK_MIN);
	thread = thread_get();
	recorder_write(thread, NULL, TRACE_WORD(TRACE_POINT, 1));
	sys_set_signals(&all, NULL);
	now = clock_now();
}

static uint32_t number_of(uint32_t place)
{
	return (thread->many ? thread->many : thread_kept(thread)->few)[place].number;
}

static struct trace_chunk *chunk_in(uint32_t place)
{
	return (void *)((char *)pool_address(number_of(place)) + chunk_size());
}

/* Goes on to the next chunk: was it told before? */
static int as_told(enum trace_mode mode)
{
	uint64_t ahead = (uint64_t)(uintptr_t)thread->chunk + (uint64_t)(int64_t)thread->hot.ahead;
	int is_known = thread->hot.ahead != 0;

	if (chunk_next(thread, mode, ++now, 7))
		_exit(90);
	return is_known && (uint64_t)(uintptr_t)thread->chunk == ahead;
}

/* as_told() in mode stream, where `xaudit record` takes chunks. */
static int as_told_beside(void)
{
	process_head()->drain_beat = ++beat;
	return as_told(TRACE_MODE_STREAM);
}

/* `xaudit record` has written the chunk there. */
static void written(uint32_t place)
{
	struct trace_handover *handover = pool_handover(number_of(place));

	handover->drained = handover->full;
}

/* All chunks but `left`, a place. */
static void all_written(uint32_t left)
{
	for (uint32_t place = 0; place < thread->made; place++)
		if (place != left)
			written(place);
}

static int in_ring(void *argument)
{
	(void)argument;
	begin(CORE_RING_CHUNKS);
	for (int i = 1; i < CORE_RING_CHUNKS; i++)
		told[0] += (uint64_t)as_told(TRACE_MODE_RING);
	for (int i = 0; i < 3 * CORE_RING_CHUNKS; i++)
		told[1] += (uint64_t)as_told(TRACE_MODE_RING);
	/* An interrupted frame writes a custom event in the next place. */
	uint64_t next = (uint64_t)(uintptr_t)thread->chunk + (uint64_t)(int64_t)thread->hot.ahead;
	thread->custom[0].address = next + sizeof(struct trace_chunk);
	thread->custom[0].frame = UINT64_MAX;
	told[2] = (uint64_t)as_told(TRACE_MODE_RING);
	told[3] = (uint64_t)as_told(TRACE_MODE_RING);
	/* Chunks that the thread writes itself. */
	thread->custom[0].frame = 0;
	as_told(TRACE_MODE_STREAM);
	told[4] = thread->hot.ahead != 0;
	return 0;
}

static int in_stream(void *argument)
{
	(void)argument;
	begin(CORE_RING_CHUNKS);
	/* Nothing is written yet: each chunk goes to a new place. */
	for (int i = 0; i < 3; i++)
		told[0] += (uint64_t)as_told_beside();
	all_written(UINT32_MAX);
	as_told_beside();
	for (int i = 0; i < 6; i++) {
		uint32_t last = thread->place;
		told[1] += (uint64_t)as_told_beside();
		all_written(last); /* `record` is one behind */
	}
	/* The place that is ahead is handed over after all: its chunk must not be overwritten. */
	for (uint32_t place = 0; place < thread->made; place++) {
		struct trace_handover *handover = pool_handover(number_of(place));
		handover->drained = handover->full - (handover->full != 0);
	}
	told[2] = (uint64_t)as_told_beside();
	return 0;
}

#define FAR ((1ul << 31) / (2 * TRACE_CHUNK_MIN)) /* places of 2 GiB */

/* After the thread's first place others took 2 GiB: from there to the next place is further than can be said. */
static int far_apart(void *argument)
{
	(void)argument;
	begin(CORE_RING_CHUNKS);
	for (uint32_t taken = 0; taken < FAR; taken += POOL_BLOCK)
		if (pool_take(POOL_BLOCK - 1) < 0)
			return 91;
	for (int i = 1; i < CORE_RING_CHUNKS; i++)
		as_told(TRACE_MODE_RING);
	for (int i = 0; i < CORE_RING_CHUNKS; i++) {
		int is_said = thread->hot.ahead != 0;
		uint32_t last = thread->place;
		int64_t distance = (int64_t)((uint64_t)(uintptr_t)chunk_in((last + 1) % CORE_RING_CHUNKS) -
					     (uint64_t)(uintptr_t)chunk_in(last));
		told[distance == (int32_t)distance] += (uint64_t)is_said;
		told[2] += (uint64_t)as_told(TRACE_MODE_RING);
	}
	return 0;
}

#define MANY   40u
#define LOOKED 8u

/*
 * `xaudit record` is far behind: many places, the first of which is written. The next place is looked for among the
 * first few: where a thread has thousands, a look at each would hold up each chunk. A look at the others ends the
 * program.
 */
static int of_many(void *argument)
{
	(void)argument;
	begin(MANY);
	for (uint32_t i = 1; i < MANY; i++)
		as_told_beside();
	if (thread->made != MANY)
		return 92;
	written(0);
	for (uint32_t place = LOOKED; place < MANY; place++)
		if (place != thread->place && mprotect(chunk_in(place), sizeof(struct trace_chunk), PROT_NONE))
			return 91;
	as_told_beside();
	told[0] = thread->place;
	told[1] = thread->hot.ahead != 0;
	written(LOOKED - 1);
	as_told_beside();
	told[2] = thread->place;
	written(0);
	written(1);
	as_told_beside();
	told[3] = (uint64_t)as_told_beside();
	return 0;
}

/* ---- whatever comes in between ---- */

#define WALKS 20u
#define STEPS 1000

static uint32_t dice(uint32_t sides)
{
	static uint64_t value = 1;

	value = value * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(value >> 33) % sides;
}

/* From now on t0 can be opened, or not. */
static void let_open(int can)
{
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ can ? 1024 : 0, 1024 });
}

static int is_in_file(uint64_t seq)
{
	struct trace_chunk head = { 0 };
	char path[128];
	int found = 0;

	snprintf(path, sizeof(path), "%s/p%d/t0", core_folder(), (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	for (uint64_t i = 0; fd >= 0 && i < thread->saved && !found; i += STREAM_UNIT)
		found = pread(fd, &head, sizeof(head), (off_t)i) == sizeof(head) &&
			head.magic == TRACE_CHUNK_MAGIC && head.used && head.seq == seq;
	close(fd);
	return found;
}

/* `xaudit record` writes each chunk that was handed over, or not yet. */
static void write_some(uint8_t *drained)
{
	for (uint32_t place = 0; place < thread->made; place++) {
		struct trace_handover *handover = pool_handover(number_of(place));
		if (handover->full && handover->drained != handover->full && dice(3)) {
			drained[chunk_in(place)->seq] = 1;
			written(place);
		}
	}
}

static void interrupt_or_not(void)
{
	thread->custom[0].address = (uint64_t)(uintptr_t)(chunk_in(dice(thread->made)) + 1);
	thread->custom[0].frame = thread->custom[0].frame ? 0 : UINT64_MAX;
}

/* Goes on to the next chunk, and looks at the one that lay there before. */
static void step(enum trace_mode mode, const uint8_t *drained, int can_open)
{
	struct trace_chunk before[CORE_RING_CHUNKS], *at[CORE_RING_CHUNKS];
	uint64_t ahead = (uint64_t)(uintptr_t)thread->chunk + (uint64_t)(int64_t)thread->hot.ahead;
	uint32_t places = thread->made;

	for (uint32_t i = 0; i < places; i++) {
		at[i] = chunk_in(i);
		before[i] = *at[i];
	}
	if (chunk_next(thread, mode, now, 7)) {
		told[2]++;
		return;
	}
	told[3] += (uint64_t)(uintptr_t)thread->chunk == ahead;
	told[4] += thread->custom[0].frame && (uint64_t)(uintptr_t)(thread->chunk + 1) == thread->custom[0].address;
	let_open(1);
	for (uint32_t i = 0; i < places; i++)
		if (at[i] == thread->chunk && (mode == TRACE_MODE_STREAM || before[i].mode == TRACE_MODE_STREAM) &&
			!drained[before[i].seq] && !is_in_file(before[i].seq))
			told[5]++;
	let_open(can_open);
}

/* Modes change, `xaudit record` comes, lags and goes, t0 can be opened or not, and custom events are begun anywhere. */
static int walk(void *argument)
{
	uint8_t drained[STEPS + 2] = { 0 };
	enum trace_mode mode = TRACE_MODE_STREAM;
	int is_there = 1, is_slow = 0, can_open = 1;

	for (uintptr_t i = 0; i < (uintptr_t)argument; i++)
		dice(2);
	begin(CORE_RING_CHUNKS);
	for (int i = 0; i < STEPS; i++) {
		if (!dice(40))
			mode = dice(2) ? TRACE_MODE_STREAM : TRACE_MODE_RING;
		is_there ^= !dice(60);
		is_slow ^= !dice(30);
		process_head()->drain_beat = beat += (uint64_t)is_there;
		now += dice(4) ? 1 : PROCESS_RETRY;
		chunk_overflow(dice(2) ? TRACE_OVERFLOW_WAIT : TRACE_OVERFLOW_DROP);
		if (!dice(50))
			let_open(can_open = !can_open);
		if (is_there && !(is_slow && dice(10)))
			write_some(drained);
		if (!dice(20))
			interrupt_or_not();
		step(mode, drained, can_open);
	}
	return 0;
}

static void run(int (*scenario)(void *), const char *what)
{
	memset(told, 0, 8 * sizeof(*told));
	is_int(core_child(scenario, NULL, 60), 0, "%s: the program runs to its end", what);
}

int main(void)
{
	core_folder();
	told = core_shared(8 * sizeof(*told));
	run(in_ring, "mode ring");
	is_int((long long)told[0], 0, "the next place is not known while places are new");
	is_int((long long)told[1], 3 * CORE_RING_CHUNKS, "then the next chunk is where it was to be");
	is_int((long long)told[2], 0, "but where an interrupted frame writes");
	is_int((long long)told[3], 1, "and after that again");
	is_int((long long)told[4], 0, "alone it is not said");
	run(in_stream, "mode stream, somebody else writes chunks");
	is_int((long long)told[0], 0, "the next place is not known as long as nothing is written");
	is_int((long long)told[1], 6, "then the next chunk is where it was to be");
	is_int((long long)told[2], 0, "but where its chunk must be kept after all");
	run(far_apart, "places that are 2 GiB apart");
	is_int((long long)told[0], 0, "from there to the next one it is not known, nor back");
	is_int((long long)told[1], CORE_RING_CHUNKS - 2, "from each other one it is");
	is_int((long long)told[2], CORE_RING_CHUNKS - 2, "and the next chunk is where it was to be");
	run(of_many, "many places, hardly any of which is written");
	is_int((long long)told[0], 0, "one that is written is used");
	is_int((long long)told[1], 0, "the next one is not known: of the others not all are looked at");
	is_int((long long)told[2], LOOKED - 1, "any that is written later is used, too");
	is_int((long long)told[3], 1, "where one of the first few is written, the next chunk is where it was to be");
	memset(told, 0, 8 * sizeof(*told));
	for (uintptr_t i = 0; i < WALKS; i++, core_empty())
		told[0] += core_child(walk, (void *)i, 60) != 0;
	is_int((long long)told[0], 0, "%u walks of %d chunks: each comes to its end", WALKS, STEPS);
	ok(told[2] && told[2] < WALKS * STEPS / 5, "most find a place (%llu don't)", (unsigned long long)told[2]);
	ok(told[3] > WALKS * STEPS / 4, "many where it was to be (%llu)", (unsigned long long)told[3]);
	is_int((long long)told[4], 0, "none is where an interrupted frame writes");
	is_int((long long)told[5], 0, "none overwrites a chunk that must be kept");
	return done_testing();
}
