/* SPDX-License-Identifier: MIT */
/*
 * Giving back places of processes that are gone: when all that might store there is gone, and t<n> has the chunk, or
 * nothing else is left in mode ring. The test plays the family, on a file; its processes are real.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "t/lib/drained.h"

#define PLACES 64
#define FREE   TRACE_PLACE(TRACE_PLACE_FREE, 0, 0)

static int meta;
static char boot[40];
static uint64_t space;

/* Of this boot, and of our namespace of processes: what heads tell. */
static void learn(void)
{
	struct stat st;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, boot, 36) != 36 || stat("/proc/self/ns/pid", &st))
		bail("no /proc");
	close(fd);
	space = st.st_ino;
}

static uint64_t *word(struct family *family, uint32_t place)
{
	return (uint64_t *)(void *)(family->meta + DIRECTORY) + place;
}

static struct trace_head *head_at(struct family *family, uint32_t place)
{
	return (struct trace_head *)(void *)(family->meta + place * PLACE);
}

/* The place has the head of a process. */
static void put_head(struct family *family, uint32_t place, pid_t pid, uint32_t flags)
{
	struct trace_head *head = head_at(family, place);
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	if (place)
		*head = (struct trace_head){ .version = TRACE_VERSION, .head_size = TRACE_HEAD_SIZE,
			.place_size = PLACE, .process = place };
	memcpy(head->magic, TRACE_MAGIC, sizeof(head->magic));
	memcpy(head->boot_id, boot, sizeof(boot));
	head->pid_namespace = space;
	head->pid = (uint32_t)pid;
	head->flags = flags;
	head->first.real = (uint64_t)time.tv_sec * S + (uint64_t)time.tv_nsec;
	*word(family, place) = TRACE_PLACE(TRACE_PLACE_HEAD, place, pid);
}

static void put_chunk(struct family *family, uint32_t place, uint32_t process, uint64_t seq, uint64_t copied,
	uint64_t used, uint32_t mode)
{
	fill(family, place, seq, copied, used);
	chunk_at(family, place)->process = process;
	chunk_at(family, place)->mode = mode;
	chunk_at(family, place)->clock = 1000 + seq;
	*word(family, place) = TRACE_PLACE(TRACE_PLACE_CHUNK, process, 0);
}

/* ---- processes ---- */

/* How a process goes on when it has its mark. */
enum way { PLAIN, UNMARKED, UNMAPPED, SHARED, THREADED };

static struct {
	int ready[2], end[2];
	pid_t sharer;
} *pipes;

static void wait_for_end(void)
{
	char c;

	if (write(pipes->ready[1], "", 1) != 1 || read(pipes->end[0], &c, 1) < 0)
		_exit(1);
}

static int go_on(void *unused)
{
	(void)unused;
	wait_for_end();
	_exit(0);
}

static void *go_on_as_thread(void *unused)
{
	/* Until the first thread has ended. */
	usleep(50000);
	go_on(unused);
	return NULL;
}

/* A process that has the mark of the place. Returns its number, when it is there. */
static pid_t begin(uint32_t place, enum way way)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	char c;

	if (pipe(pipes->ready) || pipe(pipes->end))
		bail("no pipes");
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		pthread_t thread;
		close(pipes->end[1]);
		alarm(60);
		if (way != UNMARKED && way != UNMAPPED) {
			void *mark = mmap(NULL, 4096, PROT_READ, MAP_SHARED, meta, (off_t)(place * PLACE));
			if (mark == MAP_FAILED || madvise(mark, 4096, MADV_DONTFORK))
				_exit(1);
		}
		if (way == SHARED) {
			pipes->sharer = clone(go_on, stack + sizeof(stack), CLONE_VM, NULL);
			usleep(50000);
			_exit(pipes->sharer < 0);
		}
		if (way == THREADED) {
			pthread_create(&thread, NULL, go_on_as_thread, NULL);
			pthread_exit(NULL);
		}
		go_on(NULL);
	}
	close(pipes->ready[1]);
	close(pipes->end[0]);
	if (pid < 0 || read(pipes->ready[0], &c, 1) != 1)
		bail("no process");
	close(pipes->ready[0]);
	if (way == SHARED)
		waitpid(pid, NULL, 0);
	return pid;
}

/* Ends it; of a task that shares memory nobody waits. */
static void end(pid_t pid, enum way way)
{
	close(pipes->end[1]);
	if (way != SHARED)
		waitpid(pid, NULL, 0);
	for (int i = 0; way == SHARED && i < 1000 && !kill(pipes->sharer, 0); i++)
		usleep(10000);
}

/* ---- looks ---- */

/* So many places were taken that it is worth it; runs the drain long enough. */
static void look(struct family *family)
{
	head_of(family)->taken_again += PLACES / 8;
	for (uint64_t until = now + 25 * S; now < until;) {
		head_of(family)->taken_again += PLACES / 8;
		now = drain_run(now);
	}
}

static bool is_free(struct family *family, uint32_t place)
{
	const struct trace_handover *words = handover(family, place);

	for (int i = 0; i < TRACE_FREE; i++)
		if (head_of(family)->free[i] == place)
			return *word(family, place) == FREE && !words->full && !words->drained;
	return false;
}

static struct family begin_family(void)
{
	struct family family = make("p1", PLACES, TRACE_OVERFLOW_WAIT, getpid());

	meta = openat(at, "meta", O_RDWR | O_CLOEXEC);
	head_of(&family)->places = PLACES - 20;
	put_head(&family, 0, getpid(), TRACE_MARKED);
	drain_begin(trace);
	drain_add("p1", now);
	drain_run(now);
	return family;
}

static void end_family(struct family *family)
{
	drain_end();
	close(meta);
	unmake(family, "p1");
}

/* One whose process, which is there, has a chunk of mode stream that was not handed over. */
static struct family with_chunk(pid_t *pid, uint64_t used)
{
	struct family family = begin_family();

	*pid = begin(FIRST, PLAIN);
	put_head(&family, FIRST, *pid, TRACE_MARKED);
	put_chunk(&family, FIRST + 1, FIRST, 5, 0, used, TRACE_MODE_STREAM);
	return family;
}

static void gone(enum way way, const char *what)
{
	struct family family = begin_family();
	pid_t pid = begin(FIRST, way);

	put_head(&family, FIRST, pid, way == UNMARKED ? 0 : TRACE_MARKED);
	put_chunk(&family, FIRST + 1, FIRST, 5, 0, 4096, TRACE_MODE_STREAM);
	/* Not ended: its process was killed. */
	chunk_at(&family, FIRST + 1)->used = 0;
	look(&family);
	is_int(*word(&family, FIRST + 1) == TRACE_PLACE(TRACE_PLACE_CHUNK, FIRST, 0) && !head_of(&family)->given, 1,
		"%s: while it is there its place is its own", what);
	end(pid, way);
	look(&family);
	if (way == UNMARKED) {
		ok(!head_of(&family)->given, "%s: and for ever", what);
	} else {
		ok(is_free(&family, FIRST + 1) && head_of(&family)->given == 1, "%s: then it is given back", what);
		ok(is_there("t0.3", 1, 5, 4096), "%s: and t<n> has the chunk", what);
	}
	ok(*word(&family, FIRST) == TRACE_PLACE(TRACE_PLACE_HEAD, FIRST, pid), "%s: the head stays", what);
	end_family(&family);
}

/* What can't be known of a process, though none with its number is there. */
static void elsewhere(void)
{
	struct family family = begin_family();
	pid_t pid = begin(FIRST, PLAIN);

	for (uint32_t i = 0; i < 3; i++) {
		put_head(&family, FIRST + 2 * i, pid, TRACE_MARKED);
		put_chunk(&family, FIRST + 2 * i + 1, FIRST + 2 * i, 5, 0, 4096, TRACE_MODE_STREAM);
	}
	head_at(&family, FIRST)->pid_namespace = 1;
	head_at(&family, FIRST + 2)->boot_id[0] ^= 1;
	end(pid, PLAIN);
	look(&family);
	is_int(*word(&family, FIRST + 1) == FREE, 0, "one of a namespace that is not seen is not gone");
	is_int(*word(&family, FIRST + 3) == FREE, 0, "nor is one of another boot");
	ok(is_free(&family, FIRST + 5), "one of ours is");
	end_family(&family);
}

/* Nothing is looked at while nothing was taken; where few are left, soon. */
static void paces(void)
{
	pid_t pid;
	struct family family = with_chunk(&pid, 4096);

	head_of(&family)->short_of++;
	look(&family);
	look(&family);
	end(pid, PLAIN);
	run(20);
	is_int((long long)head_of(&family)->given, 0, "while nothing was taken nothing is looked at");
	head_of(&family)->short_of++;
	for (uint64_t until = now + 2 * S; now < until && !head_of(&family)->given;)
		now = drain_run(now);
	is_int((long long)head_of(&family)->given, 1, "where few are left it is looked soon, however long in vain");
	end_family(&family);
	/* Of a family that has as many when it is seen first. */
	family = with_chunk(&pid, 4096);
	end(pid, PLAIN);
	drain_end();
	drain_begin(trace);
	drain_add("p1", now);
	run(20);
	is_int((long long)head_of(&family)->given, 0, "what was taken before does not count");
	end_family(&family);
}

/*
 * t<n> may not grow: a chunk has a number already, and is not written. The next one of its record has another, then and
 * later.
 */
static void full(void)
{
	struct family family = begin_family();
	const struct rlimit small = { 199 * SIZE, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };
	pid_t pid = begin(FIRST, PLAIN);
	int file = openat(at, "t0.3", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (file < 0 || ftruncate(file, 199 * SIZE))
		bail("no file");
	close(file);
	put_head(&family, FIRST, pid, TRACE_MARKED);
	put_chunk(&family, FIRST + 1, FIRST, 1, 200, 4096, TRACE_MODE_STREAM);
	put_chunk(&family, FIRST + 2, FIRST, 2, 0, 8192, TRACE_MODE_STREAM);
	end(pid, PLAIN);
	setrlimit(RLIMIT_FSIZE, &small);
	look(&family);
	setrlimit(RLIMIT_FSIZE, &all);
	is_int((long long)head_of(&family)->given, 0, "what can't be written stays");
	look(&family);
	ok(is_free(&family, FIRST + 1) && is_free(&family, FIRST + 2), "until it can");
	ok(is_there("t0.3", 200, 1, 4096) && is_there("t0.3", 201, 2, 8192), "each chunk has a number of its own");
	end_family(&family);
}

/* Its process was killed when the last event was one whose data ends in zeros. */
static void zeros(void)
{
	pid_t pid;
	struct family family = with_chunk(&pid, sizeof(struct trace_chunk));
	const uint64_t words = 1 + 4, last = sizeof(struct trace_chunk) + 8 * (1 + words);
	struct trace_chunk copy = { 0 };

	chunk_at(&family, FIRST + 1)->used = 0;
	uint64_t *event = (uint64_t *)(void *)(chunk_at(&family, FIRST + 1) + 1);
	event[0] = TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CUSTOM, words), 7);
	event[1] = 16ull << 32 | 32;
	event[2] = 1;
	end(pid, PLAIN);
	look(&family);
	int file = openat(at, "t0.3", O_RDONLY | O_CLOEXEC);
	ok(read(file, &copy, sizeof(copy)) == sizeof(copy) && is_free(&family, FIRST + 1), "it is written");
	is_int((long long)copy.used, (long long)last, "an event that ends in zeros is whole");
	close(file);
	end_family(&family);
}

static unsigned asked;

static bool stop(void)
{
	asked++;
	return false;
}

/* The head tells of more places than there can be. */
static void forged(void)
{
	pid_t pid;
	struct family family = with_chunk(&pid, 4096);

	end(pid, PLAIN);
	drain_bound(TRACE_CHUNK_MAX, stop);
	if (ftruncate(meta, (off_t)1 << 34))
		bail("no room");
	head_of(&family)->places_max = head_of(&family)->places = 1u << 30;
	for (int i = 0; i < 2000 && !head_of(&family)->given; i++) {
		head_of(&family)->taken_again += PLACES;
		now = drain_run(now);
	}
	is_int((long long)head_of(&family)->given, 1, "so many places as no family has: it is given back");
	ok(asked > 100 && asked < 10000, "it asked %u times meanwhile whether to stop", asked);
	end_family(&family);
}

/* The chunk beside a head keeps its place and its number; one that has none gets the next. */
static void beside(void)
{
	struct family family = begin_family();
	pid_t pid = begin(FIRST, PLAIN);

	put_chunk(&family, FIRST, FIRST, 1, 1, SIZE, TRACE_MODE_STREAM);
	put_head(&family, FIRST, pid, TRACE_MARKED);
	put_chunk(&family, FIRST + 1, FIRST, 2, 0, 2048, TRACE_MODE_STREAM);
	run(9);
	end(pid, PLAIN);
	look(&family);
	ok(is_free(&family, FIRST + 1), "beside a head's chunk: the other place is given back");
	ok(*word(&family, FIRST) == TRACE_PLACE(TRACE_PLACE_HEAD, FIRST, pid) &&
			chunk_at(&family, FIRST)->magic == TRACE_CHUNK_MAGIC, "that of the head is not");
	ok(is_there("t0.3", 1, 1, SIZE) && is_there("t0.3", 2, 2, 2048), "each chunk has a number of its own");
	end_family(&family);
}

/* Of a process that is gone: each way in which its chunks may be, or may not be, in t<n>. */
static void streams(void)
{
	struct family family = begin_family();
	const uint32_t handed = FIRST + 1, drained = FIRST + 2, own = FIRST + 3, open = FIRST + 4, empty = FIRST + 5,
		       none = FIRST + 6, forged = FIRST + 7;

	pid_t pid = begin(FIRST, PLAIN);
	put_head(&family, FIRST, pid, TRACE_MARKED);
	put_chunk(&family, handed, FIRST, 3, 3, SIZE, TRACE_MODE_STREAM);
	put_chunk(&family, drained, FIRST, 2, 2, 8192, TRACE_MODE_STREAM);
	put_chunk(&family, own, FIRST, 1, 1, 4096, TRACE_MODE_STREAM);
	put_chunk(&family, open, FIRST, 4, 0, 2048, TRACE_MODE_STREAM);
	put_chunk(&family, empty, FIRST, 5, 0, sizeof(struct trace_chunk), TRACE_MODE_STREAM);
	put_chunk(&family, none, FIRST, 6, 0, 1024, TRACE_MODE_STREAM);
	put_chunk(&family, forged, FIRST, 7, 0, 1024, TRACE_MODE_STREAM);
	hand_over(&family, drained);
	hand_over(&family, own);
	run(9);
	/* As if its thread had written it. */
	*handover(&family, own) = (struct trace_handover){ 0 };
	hand_over(&family, handed);
	chunk_at(&family, open)->used = chunk_at(&family, empty)->used = 0;
	chunk_at(&family, none)->magic = 0;
	chunk_at(&family, forged)->thread = 1;
	end(pid, PLAIN);
	look(&family);
	ok(is_free(&family, handed) && is_free(&family, drained) && is_free(&family, own) && is_free(&family, open) &&
			is_free(&family, empty) && is_free(&family, none),
		"places of chunks in every state are given back");
	ok(is_there("t0.3", 1, 1, 4096) && is_there("t0.3", 2, 2, 8192) && is_there("t0.3", 3, 3, SIZE),
		"chunks with a number are where that says");
	ok(is_there("t0.3", 4, 4, 2048), "the one that was not ended comes after them, as far as it goes");
	is_int(*word(&family, forged) == FREE, 0, "one that is another thread's than the directory says stays");
	is_int((long long)head_of(&family)->given, 6, "so many were given back");
	is_int((long long)head_at(&family, FIRST)->lost, 0, "nothing is lost");
	end_family(&family);
}

/* t<n> can't be made: the place stays. */
static void no_file(void)
{
	pid_t pid;
	struct family family = with_chunk(&pid, 4096);

	end(pid, PLAIN);
	if (symlinkat("nowhere", at, "t0.3"))
		bail("no link");
	look(&family);
	is_int(*word(&family, FIRST + 1) == FREE, 0, "a chunk that can't be written keeps its place");
	unlinkat(at, "t0.3", 0);
	look(&family);
	ok(is_free(&family, FIRST + 1) && is_there("t0.3", 1, 5, 4096), "until it can");
	end_family(&family);
}

static void rings(void)
{
	struct family family = begin_family();
	pid_t pid = begin(FIRST, PLAIN);
	unsigned given = 0, old = 0;

	put_head(&family, FIRST, pid, TRACE_MARKED);
	/* The oldest come last. */
	for (uint32_t i = 0; i < 20; i++)
		put_chunk(&family, FIRST + 1 + i, FIRST, 20 - i, 0, sizeof(struct trace_chunk) + 80, TRACE_MODE_RING);
	for (uint32_t i = 0; i < 20; i++)
		for (int k = 0; k < 10; k++)
			((uint64_t *)(void *)(chunk_at(&family, FIRST + 1 + i) + 1))[k] =
				TRACE_EVENT(k == 9 ? TRACE_STACK : TRACE_ENTRY, 1, k);
	end(pid, PLAIN);
	look(&family);
	is_int((long long)head_of(&family)->given, 0, "mode ring: as long as there are others no place is given up");
	head_of(&family)->short_of++;
	look(&family);
	for (uint32_t i = 0; i < 20; i++) {
		given += is_free(&family, FIRST + 1 + i);
		old += i >= 12 && is_free(&family, FIRST + 1 + i);
	}
	is_int(given, 8, "mode ring: where none is left, a few are");
	is_int(old, 8, "mode ring: the oldest");
	is_int((long long)head_at(&family, FIRST)->lost_by[TRACE_LOST_GIVEN], 8 * 9,
		"mode ring: their events are counted");
	is_int((long long)head_at(&family, FIRST)->lost, 0, "mode ring: there alone, where nobody else writes");
	end_family(&family);
}

/* A file system of /proc hides processes: of others perhaps, but which it is can't be told. */
static void hidden(const char *over)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("proc", over, "proc", 0, "hidepid=2")) {
		skip(1, "/proc can't be mounted here");
		return;
	}
	pid_t pid;
	struct family family = with_chunk(&pid, 4096);

	end(pid, PLAIN);
	look(&family);
	is_int((long long)head_of(&family)->given, 0, "where /proc may hide processes nothing is gone");
	end_family(&family);
	umount(over);
}

int main(void)
{
	char folder[] = "/tmp/xaudit-give-XXXXXX";

	signal(SIGXFSZ, SIG_IGN);
	learn();
	pipes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!mkdtemp(folder) || (trace = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 || pipes == MAP_FAILED)
		bail("no folder");
	gone(PLAIN, "a process");
	gone(SHARED, "one whose memory another one shares");
	gone(THREADED, "one whose first thread has ended");
	gone(UNMARKED, "one without a mark");
	gone(UNMAPPED, "one that took its mark away");
	elsewhere();
	paces();
	beside();
	streams();
	no_file();
	full();
	zeros();
	forged();
	rings();
	hidden(folder);
	rmdir(folder);
	return done_testing();
}
