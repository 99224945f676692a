/* SPDX-License-Identifier: MIT */
/*
 * The counting rules of runtime/process/epoch.h: which items a section holds, and which it does not. One thread retires
 * items and checks; other threads stand where the test wants them. In t/process/epoch_torture.c they run freely.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/process/epoch.h"
#include "t/lib/tap.h"

static struct epoch_slot mine, other;
static const char *mode;

/* ---- items that note in which order they were called back ---- */

struct noted {
	struct epoch_item item;
	int name;
};

static char called[64]; /* names in order, as letters */

static void note(struct epoch_item *item)
{
	const struct noted *n = (const struct noted *)item;
	size_t length = strlen(called);

	if (length < sizeof(called) - 1)
		called[length] = (char)n->name;
}

static void defer(struct noted *n, int name)
{
	n->name = name;
	epoch_defer(&n->item, note);
}

static const char *reclaimed(void)
{
	memset(called, 0, sizeof(called));
	unsigned n = epoch_reclaim();
	return n == strlen(called) ? called : "a wrong count";
}

#define LONG_WAIT 60000000000ull /* ns */

/* ---- another thread, which obeys commands ---- */

enum order { NOTHING, REGISTER, ANNOUNCE, WITHDRAW, UNREGISTER, QUIT };

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	enum order order;
	int late; /* milliseconds to sleep before it obeys */
} worker = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *work(void *unused)
{
	uint64_t outer = 0;
	enum order order;

	pthread_mutex_lock(&worker.mutex);
	do {
		while (worker.order == NOTHING)
			pthread_cond_wait(&worker.changed, &worker.mutex);
		if (worker.late) {
			struct timespec nap = { .tv_nsec = worker.late * 1000000l };
			pthread_mutex_unlock(&worker.mutex);
			nanosleep(&nap, NULL);
			pthread_mutex_lock(&worker.mutex);
		}
		order = worker.order;
		if (order == REGISTER)
			epoch_register(&other, (uint32_t)gettid());
		else if (order == ANNOUNCE)
			outer = epoch_announce(&other);
		else if (order == WITHDRAW)
			epoch_withdraw(&other, outer);
		else if (order == UNREGISTER)
			epoch_unregister(&other);
		worker.order = NOTHING;
		worker.late = 0;
		pthread_cond_broadcast(&worker.changed);
	} while (order != QUIT);
	pthread_mutex_unlock(&worker.mutex);
	return unused;
}

static void tell(enum order order, int late)
{
	pthread_mutex_lock(&worker.mutex);
	worker.order = order;
	worker.late = late;
	pthread_cond_broadcast(&worker.changed);
	while (!late && worker.order != NOTHING)
		pthread_cond_wait(&worker.changed, &worker.mutex);
	pthread_mutex_unlock(&worker.mutex);
}

static void wait_done(void)
{
	pthread_mutex_lock(&worker.mutex);
	while (worker.order != NOTHING)
		pthread_cond_wait(&worker.changed, &worker.mutex);
	pthread_mutex_unlock(&worker.mutex);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Waits until the item that a dead thread held is called back; the kernel may know a joined thread a moment longer. */
static const char *reclaimed_within_seconds(int seconds)
{
	uint64_t end = now_ms() + (uint64_t)seconds * 1000;
	const char *got;

	while (!*(got = reclaimed()) && now_ms() < end)
		usleep(1000);
	return got;
}

/* ---- one thread ---- */

static void test_counting(void)
{
	struct noted a, b, c;
	uint64_t before = epoch_current();

	is_str(reclaimed(), "", "%s: nothing deferred, nothing reclaimed", mode);
	defer(&a, 'a');
	is_int((long long)(epoch_current() - before), 1, "%s: each deferral counts one", mode);
	is_int(epoch_pending(), 1, "%s: what is deferred is pending", mode);
	is_str(reclaimed(), "a", "%s: where nobody is in a section, it is called back at once", mode);
	is_int(epoch_pending(), 0, "%s: and is pending no more", mode);

	defer(&a, 'a');
	defer(&b, 'b');
	defer(&c, 'c');
	is_str(reclaimed(), "abc", "%s: the oldest is called back first", mode);

	uint64_t outer = epoch_announce(&mine);
	defer(&a, 'a');
	is_str(reclaimed(), "", "%s: a section holds what is deferred while it is open", mode);
	uint64_t inner = epoch_announce(&mine);
	epoch_withdraw(&mine, inner);
	is_str(reclaimed(), "", "%s: leaving an inner section leaves the outer one open", mode);
	epoch_withdraw(&mine, outer);
	is_str(reclaimed(), "a", "%s: leaving the outer one lets go", mode);

	defer(&a, 'a');
	outer = epoch_announce(&mine);
	defer(&b, 'b');
	is_str(reclaimed(), "a", "%s: a section does not hold what was deferred before it", mode);
	is_str(reclaimed(), "", "%s: but what was deferred after", mode);
	inner = epoch_announce(&mine);
	defer(&c, 'c');
	epoch_withdraw(&mine, inner);
	is_str(reclaimed(), "", "%s: an inner section does not move the outer one's count", mode);
	epoch_withdraw(&mine, outer);
	is_str(reclaimed(), "bc", "%s: and both go with it", mode);
}

static struct noted again;

static void defer_another(struct epoch_item *item)
{
	note(item);
	defer(&again, 'z');
}

static void test_items(void)
{
	struct noted a = { .name = 'a' };

	epoch_defer(&a.item, defer_another);
	is_str(reclaimed(), "a", "%s: a callback may defer", mode);
	is_str(reclaimed(), "z", "%s: and that has its turn at the next reclaim", mode);
}

static volatile uint64_t seen_in_handler;

static void handler(int signal)
{
	(void)signal;
	uint64_t outer = epoch_announce(&mine);
	seen_in_handler = mine.seen;
	epoch_withdraw(&mine, outer);
}

static void test_handlers(void)
{
	struct noted a;

	signal(SIGUSR1, handler);
	uint64_t outer = epoch_announce(&mine);
	uint64_t seen = mine.seen;
	defer(&a, 'a');
	raise(SIGUSR1);
	is_int((long long)seen_in_handler, (long long)seen, "%s: a handler in a section is in the same one", mode);
	is_str(reclaimed(), "", "%s: which it leaves open", mode);
	epoch_withdraw(&mine, outer);
	is_str(reclaimed(), "a", "%s: it ends where it began", mode);
	raise(SIGUSR1);
	ok(seen_in_handler == epoch_current(), "%s: a handler outside is in a section of its own", mode);
	is_int((long long)mine.seen, 0, "%s: and leaves none", mode);
}

static __attribute__((noinline)) void announce_and_return(void)
{
	epoch_announce(&mine);
	__asm__ volatile("" ::: "memory"); /* the frame is real: no tail call, no inlining */
}

static void test_unwound(void)
{
	struct noted a;
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	announce_and_return(); /* leaves the section as a siglongjmp out of a handler would */
	defer(&a, 'a');
	is_str(reclaimed(), "", "%s: a section whose frame is gone still holds", mode);
	epoch_unwound(&mine, here + 4096, here + 65536);
	is_str(reclaimed(), "", "%s: also when other frames are said to be gone", mode);
	epoch_unwound(&mine, here - 65536, here);
	is_str(reclaimed(), "a", "%s: until that is said of its own", mode);

	uint64_t outer = epoch_announce(&mine);
	announce_and_return();
	epoch_unwound(&mine, here - 65536, here - 1024);
	defer(&a, 'a');
	is_str(reclaimed(), "", "%s: the loss of an inner section's frame ends nothing", mode);
	epoch_withdraw(&mine, outer);
	is_str(reclaimed(), "a", "%s: the outer one's end ends both", mode);
}

/* ---- two threads ---- */

static void test_threads(void)
{
	struct noted a, b;
	pthread_t thread;
	uint64_t start;

	pthread_create(&thread, NULL, work, NULL);
	tell(REGISTER, 0);
	tell(ANNOUNCE, 0);
	defer(&a, 'a');
	is_str(reclaimed(), "", "%s: another thread's section holds", mode);
	uint64_t outer = epoch_announce(&mine);
	defer(&b, 'b');
	tell(WITHDRAW, 0);
	is_str(reclaimed(), "a", "%s: each section holds from its own count on", mode);
	epoch_withdraw(&mine, outer);
	is_str(reclaimed(), "b", "%s: the last one lets go of the rest", mode);

	is_int(epoch_wait(&mine, 0), 1, "%s: a wait where nobody is in a section is over at once", mode);
	tell(ANNOUNCE, 0);
	start = now_ms();
	is_int(epoch_wait(&mine, 50000000), 0, "%s: a wait for another thread's section comes to nothing", mode);
	uint64_t took = now_ms() - start;
	ok(took >= 49, "%s: when its 50 ms have passed (%llu ms)", mode, (unsigned long long)took);
	tell(WITHDRAW, 30);
	is_int(epoch_wait(&mine, LONG_WAIT), 1, "%s: or ends well when that section ends", mode);
	wait_done();
	start = now_ms();
	outer = epoch_announce(&mine);
	is_int(epoch_wait(&mine, LONG_WAIT), 0, "%s: for one's own section there is no waiting", mode);
	epoch_withdraw(&mine, outer);
	ok(now_ms() - start < LONG_WAIT / 1000000, "%s: so that does not take as long as it may", mode);
	outer = epoch_announce(&mine);
	is_int(epoch_wait_others(&mine, LONG_WAIT), 1, "%s: others are waited for from one's own section", mode);
	tell(ANNOUNCE, 0);
	is_int(epoch_wait_others(&mine, 1000000), 0, "%s: and that fails while one is in a section", mode);
	tell(WITHDRAW, 0);
	epoch_withdraw(&mine, outer);

	tell(ANNOUNCE, 0);
	defer(&a, 'a');
	tell(UNREGISTER, 0);
	is_str(reclaimed(), "a", "%s: a thread that gives its slot up holds nothing", mode);
	tell(REGISTER, 0);
	tell(ANNOUNCE, 0);
	defer(&a, 'a');
	is_str(reclaimed(), "", "%s: in its slot again, it holds again", mode);
	tell(QUIT, 0);
	pthread_join(thread, NULL);
	is_str(reclaimed_within_seconds(60), "a", "%s: a thread that died in a section holds nothing", mode);
	ok(other.seen != 0, "%s: though its slot says so still", mode);

	pthread_create(&thread, NULL, work, NULL);
	tell(REGISTER, 0);
	is_int((long long)other.seen, 0, "%s: whoever takes the slot over is in no section", mode);
	tell(ANNOUNCE, 0);
	defer(&a, 'a');
	is_str(reclaimed(), "", "%s: and can begin one", mode);
	tell(WITHDRAW, 0);
	is_str(reclaimed(), "a", "%s: and end it", mode);
	tell(QUIT, 0);
	pthread_join(thread, NULL);
}

static void test_same_number(void)
{
	static struct epoch_slot old;
	struct noted a;

	/* As if a thread had died in a section and the kernel had given its number to this one. */
	epoch_register(&old, (uint32_t)gettid());
	epoch_announce(&old);
	defer(&a, 'a');
	is_str(reclaimed(), "", "%s: two slots of one thread number: the old one holds", mode);
	epoch_register(&mine, (uint32_t)gettid());
	is_str(reclaimed(), "a", "%s: until the number's new thread registers", mode);
	epoch_unregister(&old);
}

/* ---- children: each check is one bit of the child's exit status ---- */

static int in_child(int (*scenario)(void))
{
	int status;
	uint64_t end = now_ms() + 60000;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(scenario());
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now_ms() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		usleep(1000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static struct noted inherited, child_item;

/* The parent's main thread was in a section, another thread too; `inherited` was deferred. */
static int child_in_section(void)
{
	int result = 0;

	result |= *reclaimed() ? 1 : 0; /* both sections hold the item */
	epoch_after_fork(&mine);
	result |= *reclaimed() ? 2 : 0; /* our own section holds it */
	defer(&child_item, 'c');
	result |= *reclaimed() ? 4 : 0;
	epoch_withdraw(&mine, 0);
	result |= strcmp(reclaimed(), "ic") ? 8 : 0;
	result |= epoch_wait(&mine, 0) != 1 ? 16 : 0;
	/* membarrier needs no new registration. */
	result |= epoch_shared.fenced != (uint32_t)!strcmp(mode, "fences") ? 32 : 0;
	return result;
}

static int child_without_slot(void)
{
	int result = *reclaimed() ? 1 : 0;

	epoch_after_fork(NULL);
	return result | (strcmp(reclaimed(), "i") ? 2 : 0);
}

static void test_fork(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	tell(REGISTER, 0);
	tell(ANNOUNCE, 0);
	uint64_t outer = epoch_announce(&mine);
	defer(&inherited, 'i');
	is_int(in_child(child_in_section), 0, "%s: a child forked in a section goes on in it, and reclaims after",
		mode);
	is_str(reclaimed(), "", "%s: which changes nothing in the parent", mode);
	epoch_withdraw(&mine, outer);
	is_int(in_child(child_without_slot), 0, "%s: a thread that the child has not holds until it is forgotten",
		mode);
	tell(WITHDRAW, 0);
	is_str(reclaimed(), "i", "%s: and the parent reclaims in its own time", mode);
	tell(QUIT, 0);
	pthread_join(thread, NULL);
}

/* ---- membarrier refused ---- */

static int refuse_membarrier(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int child_refused_at_start(void)
{
	if (refuse_membarrier())
		return 77;
	return epoch_init(0) == 1 ? 0 : 1;
}

static int child_refused_later(void)
{
	struct noted a, b;
	pthread_t thread;
	int result = 0;

	epoch_after_fork(&mine);
	pthread_create(&thread, NULL, work, NULL);
	tell(REGISTER, 0);
	tell(ANNOUNCE, 0);
	tell(WITHDRAW, 0);
	if (refuse_membarrier())
		return 77;
	defer(&a, 'a');
	result |= *reclaimed() ? 1 : 0; /* no thread has executed a fence so far */
	result |= epoch_shared.fenced != 1 ? 2 : 0;
	epoch_withdraw(&mine, epoch_announce(&mine));
	result |= *reclaimed() ? 4 : 0; /* the other thread has executed none */
	tell(ANNOUNCE, 0);
	defer(&b, 'b');
	result |= strcmp(reclaimed(), "a") ? 8 : 0;
	tell(WITHDRAW, 0);
	result |= strcmp(reclaimed(), "b") ? 16 : 0;
	tell(QUIT, 0);
	pthread_join(thread, NULL);
	return result;
}

static void refused(int (*scenario)(void), const char *sentence)
{
	int result = in_child(scenario);

	if (result == 77)
		skip(1, "the kernel takes no seccomp filter");
	else
		is_int(result, 0, "%s", sentence);
}

static void test_refused(void)
{
	if (epoch_shared.fenced) {
		skip(2, "membarrier is not used here anyway");
		return;
	}
	refused(child_refused_at_start, "where membarrier is refused at the start, announcing pays a fence");
	refused(child_refused_later, "refused later: a thread holds until it has announced with a fence");
}

static void all(void)
{
	epoch_register(&mine, (uint32_t)gettid());
	epoch_register(&mine, (uint32_t)gettid()); /* registering twice has no effect */
	test_counting();
	test_items();
	test_handlers();
	test_unwound();
	test_threads();
	test_same_number();
	test_fork();
}

int main(void)
{
	struct noted a;
	static struct epoch_slot early;

	/* Before epoch_init() everything works, but slowly. */
	epoch_register(&early, (uint32_t)gettid());
	uint64_t outer = epoch_announce(&early);
	defer(&a, 'a');
	is_str(reclaimed(), "", "before the start a section holds, too");
	epoch_withdraw(&early, outer);
	is_str(reclaimed(), "a", "and lets go");
	epoch_unregister(&early);

	mode = "fences";
	is_int(epoch_init(1), 1, "fences can be asked for");
	all();
	if (epoch_init(0)) {
		diag("no membarrier here");
	} else {
		mode = "membarrier";
		all();
	}
	test_refused();
	return done_testing();
}
