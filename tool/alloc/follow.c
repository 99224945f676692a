/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/alloc/follow.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/base/thread.h"
#include "tool/base/tool.h"
#include "tool/read/live/live.h"

#define LOOK_MS	 20
#define LAST_MS	 5 /* when the command has ended */
#define LOOKS	 5 /* then at least: what it forked last may be about to be seen */
#define LEFT_NS	 300000000u /* then at most, once all is read: processes that go on are not waited for */
#define GIVE_NS	 100000000u

/* A process of the trace; user of the reader's. */
struct followed {
	struct alloc_process *is; /* NULL: it is over, and what it had was added up */
	uint64_t exited; /* all that it did was before; UINT64_MAX: not known yet */
};

static struct {
	struct read_live *live;
	struct alloc_account_book *book;
	struct followed **process;
	uint32_t processes;
	bool keep;
	uint64_t now;	/* the time of the last call, ns */
	uint64_t exit;	/* the first of exited */
	uint64_t given; /* when room was given back last */
	pthread_t thread;
	atomic_bool over;  /* of processes, none runs any more: a hint for alloc_follow_wait() */
	atomic_bool ended; /* the command. Release in alloc_follow_end(), acquire in serve() */
} follow = { .exit = UINT64_MAX };

static volatile sig_atomic_t caught;

/* ---- processes ---- */

static void close_process(struct followed *process, uint64_t time)
{
	if (process->is)
		alloc_process_end(process->is, time);
	process->is = NULL;
}

static void began(void *user, struct read_live_process *process)
{
	struct followed *own = memory_zeroed(1, sizeof(*own));

	(void)user;
	*own = (struct followed){ .is = alloc_process_begin(follow.book), .exited = UINT64_MAX };
	follow.process = memory_grow(follow.process, follow.processes, sizeof(struct followed *));
	follow.process[follow.processes++] = own;
	process->user = own;
}

static void exits(void *user, struct read_live_process *process)
{
	struct followed *own = process->user;

	(void)user;
	own->exited = process->exited;
	if (own->exited < follow.exit)
		follow.exit = own->exited;
}

static void ended(void *user, struct read_live_process *process)
{
	(void)user;
	close_process(process->user, follow.now);
}

/* Of those that ended before now nothing is live: that the reader is done with them comes later. */
static void see_exits(void)
{
	follow.exit = UINT64_MAX;
	for (uint32_t i = 0; i < follow.processes; i++) {
		struct followed *own = follow.process[i];
		if (own->is && own->exited < follow.now)
			close_process(own, own->exited);
		else if (own->is && own->exited < follow.exit)
			follow.exit = own->exited;
	}
}

/* ---- calls ---- */

static void enter(void *user, struct read_live_process *process, struct xaudit_read_call *call)
{
	struct followed *own = process->user;

	(void)user;
	follow.now = call->start;
	if (follow.now > follow.exit)
		see_exits();
	if (own->is)
		alloc_call_begins(own->is, call, call->start);
}

static void leave(void *user, struct read_live_process *process, struct xaudit_read_call *call)
{
	struct followed *own = process->user;

	if (call->how == XAUDIT_READ_POINT)
		enter(user, process, call);
	else if (call->end != XAUDIT_READ_UNKNOWN)
		follow.now = call->end;
	if (own->is)
		alloc_call_ends(own->is, call, follow.now);
}

static void lost(void *user, struct read_live_process *process, uint32_t tid, uint64_t count, bool chunks)
{
	(void)user;
	(void)process;
	(void)tid;
	*(chunks ? &follow.book->gone : &follow.book->lost) += count;
}

static const struct read_live_hooks hooks = {
	.began = began, .enter = enter, .call = leave, .lost = lost, .exits = exits,
	.ended = ended,
};

/* ---- the thread ---- */

static void give_back(void)
{
	uint64_t now = tool_now();

	if (follow.keep || now - follow.given < GIVE_NS)
		return;
	follow.given = now;
	read_live_give_back(follow.live);
}

static void *serve(void *unused)
{
	uint64_t until = 0;

	for (int last = 0; !caught;) {
		/* Acquire: what it does is in the trace. With alloc_follow_end(). */
		bool over = atomic_load_explicit(&follow.ended, memory_order_acquire);
		unsigned running = read_live_look(follow.live, READ_LIVE_SLACK);

		give_back();
		if (read_live_more(follow.live))
			continue;
		atomic_store_explicit(&follow.over, !running, memory_order_relaxed);
		if (over && !until)
			until = tool_now() + LEFT_NS;
		/* However long it took to come here: a look finds a process, the next one what it did. */
		if (over && ++last >= LOOKS && (!running || tool_now() > until))
			break;
		const struct timespec wait = { .tv_nsec = (over ? LAST_MS : LOOK_MS) * 1000000 };
		nanosleep(&wait, NULL);
	}
	read_live_stop(follow.live);
	return unused;
}

/* ---- the main thread ---- */

static void on_signal(int number)
{
	caught = number;
}

/*
 * Signals that end the reading. While the command runs they are its own (tool/record/signals.h): these handlers count
 * before and after that, so that none of them leaves the folder behind. Those that are ignored stay so.
 */
static void catch_signals(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct sigaction before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		sigaction(numbers[i], NULL, &before);
		if (before.sa_handler == SIG_DFL)
			signal(numbers[i], on_signal);
	}
}

static bool start(const struct xaudit_read_error *why)
{
	int error;

	if (!follow.live) {
		tool_error("alloc", "%s", why->text);
		return false;
	}
	error = tool_thread(&follow.thread, serve, NULL);
	if (!error) {
		catch_signals();
		return true;
	}
	tool_error("alloc", "no thread to be had: %s", strerror(error));
	read_live_close(follow.live);
	return false;
}

bool alloc_follow_begin(struct alloc_account_book *book, const char *folder, bool keep)
{
	struct xaudit_read_error why = { .text = "" };

	follow.book = book;
	follow.keep = keep;
	follow.live = read_live_open(folder, &hooks, NULL, &why);
	return start(&why);
}

bool alloc_follow_process(struct alloc_account_book *book, uint32_t pid)
{
	struct xaudit_read_error why = { .text = "" };

	follow.book = book;
	follow.keep = true;
	follow.live = read_live_open_process(pid, &hooks, NULL, &why);
	return start(&why);
}

void alloc_follow_wait(uint64_t ns)
{
	const struct timespec wait = { .tv_nsec = LOOK_MS * 1000000 };
	uint64_t end = ns ? tool_now() + ns : UINT64_MAX;

	do {
		nanosleep(&wait, NULL);
	} while (!caught && tool_now() < end && !atomic_load_explicit(&follow.over, memory_order_relaxed));
}

int alloc_follow_end(void)
{
	/* Release: with serve(). */
	atomic_store_explicit(&follow.ended, true, memory_order_release);
	pthread_join(follow.thread, NULL);
	if (read_live_no_memory(follow.live))
		memory_failed();
	for (uint32_t i = 0; i < follow.processes; i++) {
		close_process(follow.process[i], follow.now);
		free(follow.process[i]);
	}
	free(follow.process);
	read_live_close(follow.live);
	return caught;
}
