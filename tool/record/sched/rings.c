/* SPDX-License-Identifier: MIT */
/*
 * Each pass takes the time first, then what the rings hold, and puts the records of before that time into the file, by
 * time. So a thread's records are in order though it moves between processors: of an event that came into its ring
 * after that was read, those that follow it on other processors are younger than the pass.
 *
 * The kernel stamps events with a clock of its own. Where it says how that comes of the TSC (cap_user_time_zero), we
 * compute the TSC's ticks from it. Elsewhere (as in virtual machines) events have CLOCK_MONOTONIC, and ticks follow
 * from pairs of both clocks that each pass reads: between two of them, CLOCK_MONOTONIC is a straight line.
 */
#define _GNU_SOURCE
#include "tool/record/sched/rings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/clock_pair.h"
#include "tool/record/sched/sched_file.h"
#include "x86_64/cpu.h"

#define RING_FREE  (512u << 10) /* what perf_event_mlock_kb allows each user and processor, but for the first page */
#define RING_MOST  (2u << 20)
#define RING_LEAST (32u << 10)
#define ALL_MOST   (64u << 20)	/* of all rings, where nothing limits them */
#define EVENT_MOST 64 /* bytes; of those that we ask for */

struct ring {
	int fd;
	uint32_t processor;
	volatile struct perf_event_mmap_page *page; /* the data follows */
	size_t size;	/* of the data: a power of two */
	uint64_t tail;	/* up to there it was read */
	bool full;	/* it was found so full that events may have been left out since `last` */
	uint64_t last;	/* up to then none was left out, but those that an event tells; by the events' clock, */
	uint64_t told;	/* and by the file's, as of the last pass */
};

/* By which clock events are. */
enum stamps { STAMPS_TSC, STAMPS_MONOTONIC };

static struct {
	struct ring *ring;
	unsigned rings;
	enum stamps stamps;
	enum trace_clock clock;		/* of the file */
	struct trace_pair before, now;	/* of the pass before, and of this one; STAMPS_TSC: only ticks */
	struct sched_record *held;	/* `time` is by the events' clock */
	size_t count, room;
	uint64_t lost;
} rings;

/* ---- clocks ---- */

/* Of an event, where the kernel tells how its clock comes of the TSC. */
static uint64_t tsc_of(const struct ring *ring, uint64_t time)
{
	uint32_t seq, mult;
	uint64_t zero;
	uint16_t shift;

	do {
		seq = ring->page->lock;
		/* Acquire, and acquire below: the values are those of this seq; partner: the kernel's barriers. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		mult = ring->page->time_mult;
		shift = ring->page->time_shift;
		zero = ring->page->time_zero;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || ring->page->lock != seq);
	uint64_t ns = time - zero;
	return mult ? ((ns / mult) << shift) + ((ns % mult) << shift) / mult : 0;
}

/* What the file has for a time of the events' clock: the point on the line between the pairs of two passes. */
static uint64_t file_time(uint64_t time)
{
	const struct trace_pair *a = &rings.before, *b = &rings.now;

	if (rings.stamps == STAMPS_TSC || rings.clock == TRACE_CLOCK_MONOTONIC || b->mono <= a->mono)
		return time;
	__int128 ns = (int64_t)(time - a->mono);
	return a->ticks + (uint64_t)(int64_t)(ns * (__int128)(b->ticks - a->ticks) / (__int128)(b->mono - a->mono));
}

/* The time now, by the events' clock. */
static uint64_t stamp(const struct trace_pair *pair)
{
	return rings.stamps == STAMPS_TSC ? pair->ticks : pair->mono;
}

static void take_time(void)
{
	rings.before = rings.now;
	if (rings.stamps == STAMPS_TSC)
		rings.now.ticks = cpu_ticks();
	else
		rings.now = clock_pair();
}

/* ---- opening ---- */

static int open_event(pid_t pid, uint32_t processor, enum stamps stamps)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.context_switch = 1,
		.task = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.watermark = 1,
		.wakeup_watermark = 0, /* half of the ring */
		.use_clockid = stamps == STAMPS_MONOTONIC,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, (int)processor, -1, PERF_FLAG_FD_CLOEXEC);
}

/* How large each of so many rings may be: beyond what is free for each, memory that a user locks is limited. */
static size_t ring_size(size_t rings)
{
	struct rlimit limit;
	size_t more = ALL_MOST, size = RING_FREE;

	if (geteuid() && !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur < more)
		more = limit.rlim_cur;
	while (size < RING_MOST && size * 2 <= RING_FREE + more / rings)
		size *= 2;
	return size;
}

/* Maps a ring of `most` bytes, or less: others may have locked memory, too. 0, or an errno. */
static int map_ring(struct ring *ring, size_t most)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (ring->size = most; ring->size >= RING_LEAST; ring->size /= 2) {
		void *at = mmap(NULL, page + ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
		if (at == MAP_FAILED && (errno == EPERM || errno == ENOMEM))
			continue;
		if (at == MAP_FAILED)
			break;
		ring->page = at;
		return 0;
	}
	return errno == EPERM ? ENOMEM : errno;
}

static void close_all(void)
{
	for (unsigned i = 0; i < rings.rings; i++) {
		struct ring *ring = &rings.ring[i];
		if (ring->page)
			munmap((void *)ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
		close(ring->fd);
	}
	free(rings.ring);
	free(rings.held);
	rings.ring = NULL;
	rings.held = NULL;
	rings.rings = 0;
	rings.count = rings.room = 0;
}

/* 0, or an errno. Processors that are off can't have an event. */
static int open_all(pid_t pid, enum stamps stamps)
{
	long most = sysconf(_SC_NPROCESSORS_CONF);
	size_t size = ring_size(most > 0 ? (size_t)most : 1);

	rings.stamps = stamps;
	rings.ring = calloc(most > 0 ? (size_t)most : 1, sizeof(*rings.ring));
	if (!rings.ring)
		return ENOMEM;
	for (uint32_t i = 0; i < (uint32_t)most; i++) {
		struct ring *ring = &rings.ring[rings.rings];

		*ring = (struct ring){ .processor = i, .fd = open_event(pid, i, stamps) };
		if (ring->fd < 0 && errno == ENODEV)
			continue;
		if (ring->fd < 0)
			return errno;
		rings.rings++;
		int error = map_ring(ring, size);
		if (error)
			return error;
	}
	return rings.rings ? 0 : ENODEV;
}

int sched_rings_begin(pid_t pid, enum trace_clock clock, struct sched_head *head)
{
	enum stamps stamps = clock == TRACE_CLOCK_TSC ? STAMPS_TSC : STAMPS_MONOTONIC;
	int error = open_all(pid, stamps);

	if (!error && stamps == STAMPS_TSC && !rings.ring[0].page->cap_user_time_zero) {
		close_all();
		error = open_all(pid, STAMPS_MONOTONIC);
	}
	if (error) {
		close_all();
		return error;
	}
	rings.clock = clock;
	take_time();
	rings.before = rings.now;
	head->start = clock == TRACE_CLOCK_TSC ? rings.now.ticks : rings.now.mono;
	for (unsigned i = 0; i < rings.rings; i++) {
		rings.ring[i].last = stamp(&rings.now);
		rings.ring[i].told = head->start;
	}
	head->processors = rings.rings;
	return 0;
}

unsigned sched_rings_files(struct pollfd *file)
{
	for (unsigned i = 0; file && i < rings.rings; i++)
		file[i] = (struct pollfd){ .fd = rings.ring[i].fd, .events = POLLIN };
	return rings.rings;
}

/* ---- reading ---- */

/* Since when events of the ring may be lost, by the file's clock. */
static uint64_t lost_since(const struct ring *ring)
{
	/* The line between two passes is right between them alone. */
	return ring->last >= stamp(&rings.before) ? file_time(ring->last) : ring->told;
}

/* One more record. NULL: there is no memory. */
static struct sched_record *hold(void)
{
	if (rings.count == rings.room) {
		size_t room = rings.room ? rings.room * 2 : 4096;
		struct sched_record *more = reallocarray(rings.held, room, sizeof(*more));
		if (!more)
			return NULL;
		rings.held = more;
		rings.room = room;
	}
	rings.held[rings.count] = (struct sched_record){ 0 };
	return &rings.held[rings.count++];
}

/* Copies bytes of the ring, which go on at its beginning. */
static void copy(const struct ring *ring, void *to, uint64_t at, size_t size)
{
	const char *data = (const char *)(uintptr_t)ring->page + ring->page->data_offset;
	size_t from = at & (ring->size - 1), first = ring->size - from < size ? ring->size - from : size;

	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, size - first);
}

union event {
	struct perf_event_header head;
	struct {
		struct perf_event_header head;
		uint32_t pid, parent, tid, by;
	} task; /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
	struct {
		struct perf_event_header head;
		uint64_t id, lost;
	} lost;
	uint64_t word[EVENT_MOST / 8];
};

/* Each ends with the thread and the time. Returns false if there is no memory. */
static bool take_event(struct ring *ring, const union event *event)
{
	size_t words = event->head.size / 8;
	uint64_t thread = event->word[words - 2], time = event->word[words - 1];
	struct sched_record *record = hold();

	if (!record)
		return false;
	if (rings.stamps == STAMPS_TSC)
		time = tsc_of(ring, time);
	*record = (struct sched_record){
		.time = time,
		.pid = (uint32_t)thread,
		.tid = (uint32_t)(thread >> 32),
		.processor = (uint16_t)ring->processor,
	};
	switch (event->head.type) {
	case PERF_RECORD_SWITCH:
		record->what = !(event->head.misc & PERF_RECORD_MISC_SWITCH_OUT)      ? SCHED_IN :
			       event->head.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SCHED_PREEMPTED :
										       SCHED_OUT;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		record->what = event->head.type == PERF_RECORD_FORK ? SCHED_BEGIN : SCHED_EXIT;
		record->processor = 0;
		record->pid = event->task.pid;
		record->tid = event->task.tid;
		break;
	case PERF_RECORD_LOST:
		record->what = SCHED_LOST;
		record->processor = 0;
		record->since = lost_since(ring);
		record->count = event->lost.lost > UINT32_MAX ? UINT32_MAX : (uint32_t)event->lost.lost;
		rings.lost += event->lost.lost;
		break;
	default:
		rings.count--;
	}
	ring->last = time > ring->last ? time : ring->last;
	ring->full = false;
	return true;
}

static void read_ring(struct ring *ring)
{
	/* Acquire; partner: the kernel, which stores data_head after the events. */
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	bool full = head - ring->tail > ring->size - EVENT_MOST, whole = true;
	union event event;

	while (whole && ring->tail < head) {
		copy(ring, &event, ring->tail, sizeof(event.head));
		size_t size = event.head.size;
		if (size < sizeof(event.head) + 16 || size % 8 || size > head - ring->tail) {
			/* It can't be. */
			ring->tail = head;
			full = true;
			break;
		}
		if (size <= sizeof(event)) {
			copy(ring, &event, ring->tail, size);
			whole = take_event(ring, &event);
		}
		if (whole)
			ring->tail += size;
	}
	ring->full |= full;
	/* Release; partner: the kernel, which reads data_tail before it writes there. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
	const struct sched_record *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

void sched_rings_pass(void)
{
	take_time();
	for (unsigned i = 0; i < rings.rings; i++)
		read_ring(&rings.ring[i]);
	qsort(rings.held, rings.count, sizeof(*rings.held), by_time);

	size_t put = 0;
	for (; put < rings.count && rings.held[put].time <= stamp(&rings.now); put++) {
		struct sched_record record = rings.held[put];
		record.time = file_time(record.time);
		sched_file_put(&record);
	}
	rings.count -= put;
	if (put)
		memmove(rings.held, rings.held + put, rings.count * sizeof(*rings.held));

	/* An event that came into its ring after that was read may be from before this pass, hardly the one before. */
	uint64_t known = file_time(stamp(&rings.before));
	for (unsigned i = 0; i < rings.rings; i++) {
		struct ring *ring = &rings.ring[i];
		if (!ring->full && ring->last < stamp(&rings.now))
			ring->last = stamp(&rings.now);
		ring->told = lost_since(ring);
		if (ring->full && ring->told < known)
			known = ring->told;
	}
	sched_file_known(known);
}

void sched_rings_end(void)
{
	if (!rings.rings)
		return;
	sched_rings_pass();
	/* A ring that was full, and got no event since in which the kernel could tell of those that it left out. */
	for (unsigned i = 0; i < rings.rings; i++) {
		struct ring *ring = &rings.ring[i];
		struct sched_record *record = ring->full ? hold() : NULL;

		if (record)
			*record = (struct sched_record){
				.what = SCHED_LOST, .since = ring->told, .time = stamp(&rings.now) };
		rings.lost += ring->full;
		if (record)
			ring->full = false;
	}
	sched_rings_pass();
	close_all();
}

uint64_t sched_rings_lost(void)
{
	return rings.lost;
}
