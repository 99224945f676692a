/* SPDX-License-Identifier: MIT */
#include "runtime/snapshot/snapshot.h"

#include <errno.h>  /* EEXIST */
#include <fcntl.h>  /* AT_FDCWD */
#include <signal.h> /* siginfo_t */
#include <stdbool.h>

#include "runtime/base/text.h"
#include "runtime/files/family.h"
#include "runtime/files/output.h"
#include "runtime/process/lock.h"
#include "runtime/process/process.h"
#include "runtime/record/recorder.h"
#include "runtime/snapshot/ask.h"
#include "runtime/snapshot/copy.h"
#include "x86_64/confined.h"
#include "x86_64/frame.h"
#include "x86_64/sys.h"

#define FOLDERS_MAX 100000 /* snapshots beside one trace */

/* As the kernel wants it. */
struct kernel_action {
	union {
		void (*plain)(int);
		void (*info)(int, siginfo_t *, void *);
	} handler;
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define KERNEL_SA_RESTORER 0x04000000ul

static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP };

#define CRASH_SIGNALS (sizeof(crash_signals) / sizeof(*crash_signals))


static struct snapshot_options options;
static struct kernel_action before_snapshot, before_crash[CRASH_SIGNALS];

static const char *next_name; /* NULL: the usual one */

/* Of who has the lock. */
static char folder[4200] SYS_LARGE;

static long sigaction_raw(int signal, const struct kernel_action *new, struct kernel_action *old)
{
	return sys_call(__NR_rt_sigaction, signal, (long)new, (long)old, 8, 0, 0);
}

/* ---- taking one ---- */

/* Says what went wrong: each time, since somebody waits for each snapshot. */
static void complain(const char *what, long error)
{
	char line[400]; /* the stack may be small; a path is cut rather than that */
	struct text text = { line, sizeof(line), 0 };
	struct process_held held;

	text_string(&text, "no snapshot: ");
	text_string(&text, what);
	if (error) {
		text_string(&text, ": ");
		text_error(&text, error);
	}
	text_string(&text, "; the trace itself goes on");
	process_lock(&held);
	process_say(line);
	process_unlock(&held);
}

/*
 * Makes a folder of that name (ask.h), and in it one of the name of the process folder. Returns a descriptor of that,
 * or -errno.
 */
static long make_folder(const char *from, const char *as)
{
	size_t name = sys_length(from);
	long output = -EEXIST;

	while (name && from[name - 1] != '/')
		name--;
	if (name < 2 || sys_length(from) + 2 * TRACE_ASK_NAME > sizeof(folder))
		return -ENAMETOOLONG;
	for (unsigned n = 1; n < FOLDERS_MAX && output == -EEXIST; n++) {
		struct text text = { folder, sizeof(folder), 0 };
		ask_put_name(&text, from, name - 1, as, n);
		output = output_make(AT_FDCWD, folder, NULL);
	}
	if (output < 0)
		return output;
	long fd = output_make((int)output, from + name, NULL);
	sys_close((int)output);
	return fd;
}

/* Copies this process. */
static void take(const char *path)
{
	/* Relaxed: a name, whole in any case; of several that are asked for at once one counts. */
	const char *as = __atomic_exchange_n(&next_name, NULL, __ATOMIC_RELAXED);
	struct snapshot_copied copied;
	struct process_held held;
	long from = family_open_folder(), to = from < 0 ? from : make_folder(path, as ? as : ""), r = to;

	if (to >= 0) {
		process_lock(&held);
		process_change(TRACE_CHANGE_SNAPSHOT, 0, folder);
		process_unlock(&held);
		r = snapshot_copy((int)from, (int)to, process_place(), process_threads(), NULL, &copied);
		sys_close((int)to);
	}
	if (from >= 0)
		sys_close((int)from);
	if (r)
		complain(from < 0 ? path : folder, r);
}

static uint32_t load(const uint32_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED); /* relaxed: ordered by the lock, or the fences below */
}

/* Takes one, if one was asked for since the last was begun. By the holder of the lock. */
static void take_newer(struct process_snapshots *snapshots)
{
	uint32_t asked = load(&snapshots->asked);

	/* A filter may have come since may_take(). */
	if (asked == load(&snapshots->begun) || confined())
		return;
	__atomic_store_n(&snapshots->begun, asked, __ATOMIC_RELAXED); /* relaxed, as in load() */
	process_clock();
	take(process_folder());
}

/* Returns 1 if somebody sleeps for the lock, else 0. */
static int release(struct process_snapshots *snapshots, uint32_t number)
{
	/* Not if it was taken over. */
	int awaited = lock_is_held(&snapshots->lock, number) && lock_release(&snapshots->lock);

	/* Pairs with the fence in ask(): who did not get the lock is seen in the count. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return awaited;
}

static void ask(struct process_snapshots *snapshots)
{
	__atomic_fetch_add(&snapshots->asked, 1, __ATOMIC_RELAXED); /* relaxed: the fence orders it */
	/* Pairs with the fences in release() and snapshot_at_exit(). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Until none is asked for; or somebody sleeps for the lock: that one takes the next, or none may be taken any more. */
static void take_asked(struct process_snapshots *snapshots, uint32_t number)
{
	int awaited = 0;

	while (!awaited && !confined() && load(&snapshots->asked) != load(&snapshots->begun) &&
		lock_try_left(&snapshots->lock, number)) {
		take_newer(snapshots);
		awaited = release(snapshots, number);
	}
}

/*
 * May the process take snapshots? Then all signals are blocked, else as before. A forked child has its head with its
 * first event. wanted: else nobody need be told that none may be taken.
 */
static bool may_take(int wanted, uint64_t *before)
{
	if (confined_strictly())
		return false;
	/* Before the looks: a handler may fork, and the child come back to here without a head. */
	sys_block_signals(before);
	if (process_head() && !confined())
		return true;
	if (process_head() && wanted)
		complain("the program is under a filter of system calls (seccomp)", 0);
	sys_set_signals(before, NULL);
	return false;
}

/* ---- signals ---- */

/* A handler that was there before ours: called as the kernel would have. */
static void call_before(const struct kernel_action *before, int signal, siginfo_t *info, void *context)
{
	if (before->handler.plain == SIG_DFL || before->handler.plain == SIG_IGN)
		return;
	if (before->flags & SA_SIGINFO)
		before->handler.info(signal, info, context);
	else
		before->handler.plain(signal);
}

static void on_snapshot(int signal, siginfo_t *info, void *context)
{
	struct process_snapshots *snapshots = process_snapshots();
	uint64_t before;

	if (may_take(1, &before)) {
		ask(snapshots);
		take_asked(snapshots, lock_number());
		sys_set_signals(&before, NULL);
	}
	call_before(&before_snapshot, signal, info, context);
}

/*
 * Marks the crash, and lets it happen: with the action of before in place, a faulting instruction faults again; a
 * signal that was sent is sent again, to this thread, and comes when we return.
 */
static void on_crash(int signal, siginfo_t *info, void *context)
{
	(void)context;
	recorder_mark_crash(signal);
	process_clock();
	for (size_t i = 0; i < CRASH_SIGNALS; i++)
		if (crash_signals[i] == signal)
			sigaction_raw(signal, &before_crash[i], NULL);
	/*
	 * Faults have positive codes, but SIGSYS and SIGTRAP come after their instruction, which does not run again:
	 * those must be sent, too.
	 */
	if (info->si_code > 0 && signal != SIGSYS && signal != SIGTRAP)
		return;
	if (sys_call(__NR_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), signal, (long)info, 0, 0))
		sys_call(__NR_tgkill, sys_getpid(), sys_gettid(), signal, 0, 0, 0);
}

/* Takes a signal over. Returns 0 or -errno. */
static long take_over(int signal, void (*handler)(int, siginfo_t *, void *), struct kernel_action *before)
{
	struct kernel_action ours = { .handler.info = handler,
		.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | KERNEL_SA_RESTORER,
		.restorer = frame_restorer };
	long r = sigaction_raw(signal, NULL, before);

	if (r)
		return r;
	/*
	 * The program's own handler keeps its flags: which signals are blocked in it, and whether system calls go on
	 * after it.
	 */
	if (before->handler.plain != SIG_DFL && before->handler.plain != SIG_IGN) {
		ours.mask = before->mask;
		ours.flags = (ours.flags & ~(uint64_t)SA_RESTART) | (before->flags & (SA_RESTART | SA_NODEFER));
	}
	return sigaction_raw(signal, &ours, NULL);
}

void snapshot_now(const char *name)
{
	struct process_snapshots *snapshots = process_snapshots();
	uint64_t before;

	if (!may_take(1, &before))
		return;
	if (*name)
		__atomic_store_n(&next_name, name, __ATOMIC_RELAXED); /* relaxed, as in take() */
	ask(snapshots);
	take_asked(snapshots, lock_number());
	sys_set_signals(&before, NULL);
}

void snapshot_init(const struct snapshot_options *wanted)
{
	options = *wanted;
}

void snapshot_start(void)
{
	long r = options.signal ? take_over(options.signal, on_snapshot, &before_snapshot) : 0, failed = 0;

	if (r)
		complain("the signal can't be taken over", r);
	for (size_t i = 0; options.crash && i < CRASH_SIGNALS; i++) {
		struct kernel_action now;
		/* A program that ignores it does not end by it. */
		if (crash_signals[i] == options.signal || sigaction_raw(crash_signals[i], NULL, &now) ||
			now.handler.plain == SIG_IGN)
			continue;
		r = take_over(crash_signals[i], on_crash, &before_crash[i]);
		failed = r ? r : failed;
	}
	if (failed)
		complain("the signals of a crash can't be taken over", failed);
}

void snapshot_at_exit(void)
{
	struct process_snapshots *snapshots = process_snapshots();
	uint32_t number;
	uint64_t before;

	if (!(options.exit || options.signal) ||
		!may_take(options.exit || load(&snapshots->asked) != load(&snapshots->begun), &before))
		return;
	number = lock_number();
	if (options.exit)
		ask(snapshots);
	lock_take(&snapshots->lock, number);
	/* Pairs with the fence in ask(): who found the lock with who had it before us is seen in the count. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	take_newer(snapshots);
	/* What is asked for from here on comes too late. */
	release(snapshots, number);
	sys_set_signals(&before, NULL);
}
