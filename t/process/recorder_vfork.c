#define _GNU_SOURCE
/* SPDX-License-Identifier: MIT */
/* Children that share our memory, of vfork and clone(CLONE_VM), beside threads in traced calls and in handlers. */
#include "t/lib/tap.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/identity.h"
#include "runtime/handlers/handlers.h"
#include "t/lib/caller.h"
#include "t/lib/core.h"

#define THREADS	       3
#define CHILDREN       300
#define CHILD_CALLS    7
#define OWN_CALLS      200
#define THREAD_CALLS   30000
#define CHILD_ID       0x600000 /* of calls that children make; main's own begin at 1 */
#define NEIGHBOUR_ROWS 20000

struct outcome {
	pid_t pid;
	struct caller caller[THREADS + 1];
	long child_failed, figure[8];
};

static struct outcome *outcome;
static struct traced one;
static pthread_barrier_t barrier;

__attribute__((noinline)) static long add_one(long x)
{
	return x + 1;
}

static int call_one(int times)
{
	int wrong = 0;

	for (int i = 0; i < times; i++)
		wrong += CALL(long (*)(long), one)(i) != i + 1;
	return wrong;
}

static void *busy(void *argument)
{
	pthread_barrier_wait(&barrier);
	caller_run(argument, THREAD_CALLS, 0);
	pthread_barrier_wait(&barrier); /* else the next one would take the record and file over */
	return argument;
}

static void expect_child(pid_t pid)
{
	int status = 1;

	outcome->child_failed += pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

/* The child shares our memory and our stack; it must not return from here. */
__attribute__((noinline)) static void have_child(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(call_one(CHILD_CALLS));
	expect_child(pid);
}

static void have_children(int count)
{
	for (int i = 0; i < count; i++)
		have_child();
}

static void begin(void)
{
	core_start(core_folder(), TRACE_CHUNK_MIN, TRACE_CLOCK_TSC);
	outcome->pid = getpid();
	one = core_traced(TRAMP_INTERCEPT, CHILD_ID, add_one);
}

/* is_known: the thread that makes them had calls before. */
static int children(void *is_known)
{
	pthread_t thread[THREADS];

	begin();
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i <= THREADS; i++)
		caller_prepare(&outcome->caller[i]);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, busy, &outcome->caller[i]))
			return 1;
	if (is_known)
		caller_run(&outcome->caller[THREADS], OWN_CALLS, 0);
	pthread_barrier_wait(&barrier);
	have_children(CHILDREN);
	caller_run(&outcome->caller[THREADS], 2 * OWN_CALLS, 0);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* Contents of the files: calls with ascending ids, as expected, and calls of children. */
struct found {
	long files, rows[THREADS + 2], whole, strange, tids, childrens, damaged;
};

static void look(struct found *found, long row)
{
	*found = (struct found){0};
	for (unsigned n = 0; n < THREADS + 2; n++) {
		struct reading reading;
		struct caller_expected expected = {.next = 1};
		if (core_read(core_folder(), outcome->pid, n, TRACE_CHUNK_MIN, &reading))
			continue;
		found->files++;
		found->damaged += reading.damage != NULL;
		for (size_t i = 0; i < reading.count; i++) {
			found->tids += reading.event[i].tid != reading.event[0].tid;
			const struct event *event = &reading.event[i];
			if (event->id == CHILD_ID)
				found->childrens += event->type == TRACE_ENTRY || event->type == TRACE_POINT;
			else
				caller_expect(&expected, event);
		}
		found->strange += (long)expected.strange;
		found->rows[n] = expected.next - 1;
		found->whole += found->rows[n] == row;
		core_forget(&reading);
	}
}

static uint64_t lost(void)
{
	struct trace_head head;

	return core_read_head(core_folder(), outcome->pid, &head) ? UINT64_MAX : head.lost;
}

static void test_children(int is_known, const char *what)
{
	struct found found;

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(children, is_known ? outcome : NULL, 60), 0, "%s: the program runs to its end", what);
	is_int(outcome->child_failed, 0, "%s: and its children", what);
	look(&found, THREAD_CALLS);
	is_int(found.files, THREADS + 1, "%s: there is a file for each thread, and none of a child", what);
	is_int(found.whole, THREADS, "%s: with all calls of each of the others", what);
	is_int(found.rows[0] + found.rows[1] + found.rows[2] + found.rows[3],
		THREADS * THREAD_CALLS + 2 * OWN_CALLS, "%s: and of its own", what);
	is_int(found.strange + found.tids + found.damaged, 0, "%s: once and in order", what);
	is_int(found.childrens, is_known ? CHILDREN * CHILD_CALLS : 0, "%s: calls of children that are recorded", what);
	is_int((long)lost(), is_known ? 0 : CHILDREN * CHILD_CALLS, "%s: and that are left out, and counted", what);
}

/* ---- handlers ---- */

static volatile int entered, go;
static __thread int blocks;
static long handled;

__attribute__((target("general-regs-only"))) static void handler(const struct handlers_event *event, void *argument)
{
	(void)event;
	if (blocks) {
		entered = 1;
		while (!go)
			__asm__ volatile("pause");
	}
	__atomic_fetch_add((long *)argument, 1, __ATOMIC_RELAXED);
}

static void *blocked(void *argument)
{
	blocks = 1;
	outcome->figure[0] += call_one(1);
	return argument;
}

/* This thread's first event that calls a handler comes in its child, while another thread is in a handler. */
static int beside_handlers(void *argument)
{
	pthread_t thread;

	begin();
	call_one(1);
	if (handlers_set(HANDLERS_ENTRY, handler, &handled, HANDLERS_GENERAL) ||
		pthread_create(&thread, NULL, blocked, NULL))
		return 1;
	while (!entered)
		sched_yield();
	have_children(CHILDREN);
	outcome->figure[1] = handled;
	outcome->figure[2] = handlers_remove(HANDLERS_ENTRY);
	go = 1;
	pthread_join(thread, NULL);
	outcome->figure[3] = handlers_set(HANDLERS_ENTRY, handler, &handled, HANDLERS_GENERAL);
	call_one(5);
	outcome->figure[4] = handled;
	outcome->figure[5] = handlers_remove(HANDLERS_ENTRY);
	return argument != NULL;
}

static int depth;

static void forking(const struct handlers_event *event, void *argument)
{
	(void)event;
	++*(long *)argument;
	if (depth++)
		return;
	have_children(2);
	pid_t pid = vfork();
	if (!pid)
		_exit(handlers_remove(HANDLERS_UNWIND) != HANDLERS_DEFERRED);
	expect_child(pid);
}

/* In a handler: the children's events call no handler, since their thread is in one; and a child knows that. */
static int within_handler(void *argument)
{
	begin();
	call_one(1);
	if (handlers_set(HANDLERS_ENTRY, forking, &handled, 0) || handlers_set(HANDLERS_UNWIND, handler, &handled, 0))
		return 1;
	outcome->figure[0] += call_one(3);
	outcome->figure[1] = handled;
	outcome->figure[2] = (long)handlers_nested();
	outcome->figure[5] = handlers_remove(HANDLERS_ENTRY);
	return argument != NULL;
}

static void test_handlers(void)
{
	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(beside_handlers, NULL, 60), 0, "vfork beside a thread in a handler: the program ends well");
	is_int(outcome->child_failed + outcome->figure[0], 0, "and its children");
	is_int(outcome->figure[1], CHILDREN * CHILD_CALLS, "the handler is called for each call of the children");
	is_int(outcome->figure[2], -EBUSY, "who removes it is told of the thread that is still inside");
	is_int(outcome->figure[3], 0, "then another is set");
	is_int(outcome->figure[4], CHILDREN * CHILD_CALLS + 1 + 5, "and called");
	is_int(outcome->figure[5], 0, "and removed when nobody is inside");
	memset(outcome, 0, sizeof(*outcome));
	is_int(core_child(within_handler, NULL, 60), 0, "vfork in a handler: the program runs to its end");
	is_int(outcome->child_failed + outcome->figure[0], 0, "and its children");
	is_int(outcome->figure[1], 3, "the handler is called for the program's own calls");
	is_int(outcome->figure[2], 2 * CHILD_CALLS, "and not for the children's, which are counted");
	is_int(outcome->figure[5], 0, "and removed");
}

/* ---- beside its parent ---- */

static int neighbour(void *argument)
{
	(void)argument;
	syscall(SYS_exit, call_one(NEIGHBOUR_ROWS) != 0);
	return 0;
}

/* The child has our thread-local data, and a stack of its own. */
static int beside(void *argument)
{
	static char stack[256 << 10] __attribute__((aligned(64)));

	begin();
	caller_prepare(&outcome->caller[0]);
	caller_run(&outcome->caller[0], 1, 0);
	if (argument)
		outcome->figure[0] = handlers_set(HANDLERS_ENTRY, handler, &handled, HANDLERS_GENERAL);
	pid_t pid = clone(neighbour, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	caller_run(&outcome->caller[0], NEIGHBOUR_ROWS, 0);
	expect_child(pid);
	outcome->figure[1] = handled;
	return 0;
}

static void test_beside(int has_handler, const char *what)
{
	struct found found;

	outcome = core_shared(sizeof(*outcome));
	is_int(core_child(beside, has_handler ? outcome : NULL, 60), 0, "%s: the program runs to its end", what);
	is_int(outcome->child_failed + outcome->figure[0], 0, "%s: and the child", what);
	look(&found, NEIGHBOUR_ROWS);
	is_int(found.files, 1, "%s: there is one file", what);
	is_int(found.whole, 1, "%s: with all calls of the parent", what);
	is_int(found.strange + found.tids + found.damaged, 0, "%s: once and in order", what);
	is_int(found.childrens + (long)lost(), NEIGHBOUR_ROWS, "%s: the child's are left out, and counted", what);
	is_int(outcome->figure[1], has_handler ? NEIGHBOUR_ROWS - 1 : 0, "%s: the handler hears of the parent's", what);
}

/* ---- which process this is ---- */

static int who(void *argument)
{
	uint32_t first = identity_generation();
	int status = 0;

	(void)argument;
	if (identity_init(NULL) || identity_pid() != (uint32_t)getpid() || !identity_is_ours())
		return 1;
	pid_t pid = vfork();
	if (!pid)
		_exit(identity_generation() == first && !identity_is_ours() && !identity_thread_is_gone(1) &&
				      identity_pid() == (uint32_t)getppid()
			      ? 0
			      : 1);
	if (waitpid(pid, &status, 0) != pid || status)
		return 2;
	pid = fork();
	if (!pid) {
		pid = vfork(); /* the first process that asks */
		if (!pid)
			_exit(identity_generation() == first);
		if (waitpid(pid, &status, 0) != pid || status || identity_generation() == first)
			_exit(1);
		_exit(identity_is_ours() && identity_pid() == (uint32_t)getpid() ? 0 : 2);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 3;
	return status ? 10 + WEXITSTATUS(status) : identity_generation() != first;
}

/*
 * What a child in a process namespace of its own does to its parent. In the process of identity_init(), or in a forked
 * one.
 */
static int shared_far_away(void)
{
	static pid_t pid;
	int status = 0;

	identity_generation();
	if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
		return 100;
	pid = vfork();
	if (!pid)
		_exit(getpid() == 1 && !identity_is_ours() ? 0 : 1);
	if (pid < 0)
		return 100;
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	return identity_is_ours() && identity_pid() == (uint32_t)getpid() ? 0 : 2;
}

static int far_away(void *is_forked)
{
	int status = 0;

	if (identity_init(NULL))
		return 3;
	if (!is_forked)
		return shared_far_away();
	pid_t pid = fork();
	if (!pid)
		_exit(shared_far_away());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

static void test_far_away(void *is_forked, const char *what)
{
	int status = core_child(far_away, is_forked, 60);

	if (status == 100)
		skip(1, "no namespaces of processes can be made here");
	else
		is_int(status, 0, "%s keeps its number beside a child in another namespace of processes", what);
}

int main(void)
{
	if (!CORE_HAS_MIRROR)
		skip_all("ThreadSanitizer makes a fork of vfork, and keeps the addresses of mirrors for itself");
	core_folder();
	is_int(core_child(who, NULL, 60), 0, "a forked child is another process, one that shares the memory is not");
	test_far_away(NULL, "a program");
	test_far_away(&outcome, "a forked child");
	test_children(0, "vfork in a thread without calls, beside three with some");
	test_children(1, "vfork in a thread with calls");
	test_handlers();
	test_beside(0, "a child beside its parent, on the same thread-local data");
	test_beside(1, "the same with a handler");
	return done_testing();
}
