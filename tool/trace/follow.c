/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace/follow.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/now.h"
#include "tool/base/thread.h"
#include "tool/base/tool.h"
#include "tool/read/live/live.h"
#include "tool/trace/callers.h"
#include "tool/trace/descriptors.h"
#include "tool/trace/output.h"
#include "tool/trace/shown.h"
#include "tool/trace/table.h"

#define LOOK_MS	 20
#define LAST_MS	 5   /* when the command has ended */
#define LOOKS	 3   /* then at least: what it forked last may be about to be seen */
#define SLOW_MS	 100 /* a wait for the reader, before the trace is looked at again */
#define OFTEN	 1024 /* calls, before the clock is read to know whether to look how much is behind */
#define CAUGHT_MS 200 /* for the reader, after a signal */

static struct {
	struct follow_options options;
	struct read_live *live;
	struct line line;
	pthread_t thread;
	int news;	    /* eventfd: a change of what follows */
	pthread_mutex_t lock; /* of these five */
	bool ended, stop, done;
	int pid, status;    /* of the command, when `ended` */
	uint32_t tid, others; /* the first thread that was seen */
	bool over;	    /* the command was read to its end, */
	bool told;	    /* and the line about that is made */
	uint32_t main;	    /* pid of the command; 0: not seen yet */
	int state;	    /* how it ended */
	uint64_t end, left_out; /* calls since the last line */
	uint64_t all_left_out;
	uint64_t calls;
	uint64_t asked;	    /* when it was looked how much is behind */
	bool behind;
} follow = { .lock = PTHREAD_MUTEX_INITIALIZER, .news = -1 };

static bool is_stopped(void)
{
	pthread_mutex_lock(&follow.lock);
	bool stop = follow.stop;
	pthread_mutex_unlock(&follow.lock);
	return stop;
}

/* ---- output ---- */

/* Is more waiting in the files than shall? Then lines are left out until half of that is. */
static bool is_behind(void)
{
	uint64_t now = tool_now();

	if (now - follow.asked < SLOW_MS * 1000000ull)
		return follow.behind;
	follow.asked = now;
	uint64_t most = follow.options.behind;
	follow.behind = read_live_behind(follow.live) > (follow.behind ? most / 2 : most);
	if (!follow.options.keep)
		read_live_give_back(follow.live);
	return follow.behind;
}

/* Puts a line there; waits for the reader. Returns false if the wait is over: it is left out. */
static bool put(const char *text, size_t size)
{
	while (!output_put(text, size)) {
		if (is_stopped() || is_behind())
			return false;
		output_wait(SLOW_MS);
	}
	return true;
}

static void put_text(void *user, const char *text)
{
	(void)user;
	put(text, strlen(text));
}

/* Tells of calls that were left out, before the next line. Returns false if there is no room for that. */
static bool put_left_out(void)
{
	struct line *line = &follow.line;

	if (!follow.left_out)
		return true;
	line_say(line, follow.tid, follow.line.last ? follow.line.last : tool_now(),
		"+++ %" PRIu64 " call%s not shown: output is too slow +++", follow.left_out,
		follow.left_out == 1 ? "" : "s");
	if (!put(line->text, line->size))
		return false;
	follow.left_out = 0;
	return true;
}

static void leave_out(void)
{
	follow.left_out++;
	follow.all_left_out++;
}

/* ---- calls ---- */

static void see_thread(uint32_t tid)
{
	if (!follow.tid)
		follow.tid = tid;
	follow.line.many |= tid != follow.tid;
}

/* Has one more line a chance now? Else it is left out. */
static bool may_put(void)
{
	if (!(++follow.calls % OFTEN))
		is_behind();
	if (!follow.behind && put_left_out())
		return true;
	leave_out();
	return false;
}

static void put_call(struct read_live_process *process, const struct xaudit_read_call *call, enum line_part part)
{
	if (!may_put())
		return;
	line_call(&follow.line, process, call, part);
	if (!put(follow.line.text, follow.line.size))
		leave_out();
}

/* The calls around one that is shown, the outermost first: each once. */
static void put_around(struct read_live_process *process, struct xaudit_read_call *call)
{
	if (!call || call->user[0])
		return;
	call->user[0] = 1;
	put_around(process, call->parent);
	put_call(process, call, LINE_BEGIN);
}

static bool is_wanted(const struct xaudit_read_call *call, bool failed)
{
	if (follow.options.failed)
		return failed;
	return !follow.options.good || (!failed && call->how == XAUDIT_READ_RETURNED);
}

/* Of a call that ends the process, with what status. */
static void see_exit(struct read_live_process *process, const struct xaudit_read_call *call)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	const char *name = call->function->name;

	if (strcmp(name, "exit") && strcmp(name, "_exit") && strcmp(name, "_Exit") && strcmp(name, "quick_exit"))
		return;
	if (xaudit_read_values(call->entered, value, XAUDIT_READ_VALUES) &&
		value->role == XAUDIT_READ_VALUE_ARGUMENT && !value->place)
		process->exits = 1 + (int)(value->number & 0xff);
}

static void take_call(void *user, struct read_live_process *process, struct xaudit_read_call *call)
{
	bool failed = call->ended && xaudit_read_values_failed(call->ended);

	(void)user;
	see_thread(call->tid);
	if (call->how != XAUDIT_READ_RETURNED)
		see_exit(process, call);
	if (follow.options.line.descriptors)
		descriptors_opened(process, call);
	if (is_wanted(call, failed) || call->user[0]) {
		if (follow.options.table)
			table_add(call, failed);
		if (follow.options.lines && !output_failed()) {
			if (follow.options.line.nested)
				put_around(process, call->parent);
			put_call(process, call, call->user[0] ? LINE_END : LINE_WHOLE);
		}
	}
	if (follow.options.line.descriptors)
		descriptors_closed(process, call);
}

static void take_probe(void *user, struct read_live_process *process, const struct read_live_probe *probe)
{
	(void)user;
	see_thread(probe->tid);
	if (follow.options.table && !follow.options.failed)
		table_probe(probe->probe);
	if (!follow.options.lines || follow.options.failed || output_failed())
		return;
	if (follow.options.line.nested)
		put_around(process, probe->call);
	if (!may_put())
		return;
	line_probe(&follow.line, probe);
	if (!put(follow.line.text, follow.line.size))
		leave_out();
}

static void take_lost(void *user, struct read_live_process *process, uint32_t tid, uint64_t count, bool chunks)
{
	(void)user;
	(void)process;
	if (!follow.options.lines)
		return;
	line_say(&follow.line, tid, tool_now(), "+++ %" PRIu64 " %s%s not recorded +++", count,
		chunks ? "buffer" : "event", count == 1 ? " was" : "s were");
	put(follow.line.text, follow.line.size);
}

/* ---- processes ---- */

static void say_end(uint32_t pid, const char *how)
{
	if (follow.options.quiet || !follow.options.lines)
		return;
	put_left_out();
	line_say(&follow.line, pid, follow.end, "+++ %s +++", how);
	put(follow.line.text, follow.line.size);
}

static void say_killed(uint32_t pid, int signal, bool core)
{
	const char *name = sigabbrev_np(signal);
	char how[64];

	if (name)
		snprintf(how, sizeof(how), "killed by SIG%s%s", name, core ? " (core dumped)" : "");
	else
		snprintf(how, sizeof(how), "killed by signal %d%s", signal, core ? " (core dumped)" : "");
	say_end(pid, how);
}

static void say_status(uint32_t pid, int status)
{
	char how[32];

	if (WIFSIGNALED(status)) {
		say_killed(pid, WTERMSIG(status), WCOREDUMP(status));
		return;
	}
	snprintf(how, sizeof(how), "exited with %d", WEXITSTATUS(status));
	say_end(pid, how);
}

static void take_process(void *user, struct read_live_process *process)
{
	(void)user;
	if (process->parent == (uint32_t)getpid())
		follow.main = process->pid;
	see_thread(process->pid);
}

static void take_end(void *user, struct read_live_process *process)
{
	(void)user;
	descriptors_free(process);
	callers_forget();
	follow.end = process->end;
	if (process->state != XAUDIT_READ_STATE_ENDED && process->state != XAUDIT_READ_STATE_GONE)
		return; /* it goes on, as another process of the trace or without it */
	/* How the command ended is known when it was waited for. */
	if (process->pid == follow.main)
		follow.over = true;
	else if (process->signal)
		say_killed(process->pid, process->signal, false);
	else if (process->exits)
		say_status(process->pid, (process->exits - 1) << 8);
	else
		say_end(process->pid, process->state == XAUDIT_READ_STATE_ENDED ? "exited" : "ended");
}

static const struct read_live_hooks hooks = {
	.began = take_process, .call = take_call, .probe = take_probe, .lost = take_lost, .ended = take_end,
};

/* ---- the thread ---- */

/* Waits for the next look, or for news. */
static void wait_for(int ms)
{
	struct pollfd file = { .fd = follow.news, .events = POLLIN };
	uint64_t count;

	if (poll(&file, 1, ms) > 0 && read(follow.news, &count, sizeof(count)) < 0)
		return;
}

/* The command's end, once it was read and waited for; last: nothing more comes. */
static void tell_end(bool last)
{
	pthread_mutex_lock(&follow.lock);
	bool ended = follow.ended;
	int pid = follow.pid, status = follow.status;
	pthread_mutex_unlock(&follow.lock);
	if (follow.told || !ended || !pid || !(follow.over || last))
		return;
	follow.told = true;
	if (!follow.end)
		follow.end = tool_now();
	say_status((uint32_t)pid, status);
}

static void *serve(void *unused)
{
	for (int last = 0; !is_stopped();) {
		unsigned running = read_live_look(follow.live, READ_LIVE_SLACK);

		is_behind();
		tell_end(false);
		pthread_mutex_lock(&follow.lock);
		bool ended = follow.ended;
		pthread_mutex_unlock(&follow.lock);
		if (ended && !running && ++last >= LOOKS)
			break;
		if (!read_live_more(follow.live))
			wait_for(ended ? LAST_MS : LOOK_MS);
	}
	read_live_stop(follow.live);
	put_left_out();
	tell_end(true);
	if (follow.options.table)
		table_print(put_text, NULL);
	pthread_mutex_lock(&follow.lock);
	follow.done = true;
	pthread_mutex_unlock(&follow.lock);
	return unused;
}

/* ---- the main thread ---- */

static volatile sig_atomic_t caught;

static void on_signal(int signal)
{
	caught = signal == SIGPIPE ? caught : signal;
}

/*
 * Signals that end a wait; and writing to a closed pipe is an error. While the command runs they are its own
 * (tool/record/signals.h): these handlers count before and after that, so that no moment is left in which a signal
 * would end us, and leave the folder. The command does not inherit handlers. Those that are ignored stay so.
 */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	struct sigaction action = { .sa_handler = on_signal }, before;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

bool follow_begin(const struct follow_options *options, const char *folder)
{
	struct xaudit_read_error why = { .text = "" };

	follow.options = *options;
	if (!options->behind)
		follow.options.behind = isatty(options->fd) ? FOLLOW_BEHIND_TERMINAL : FOLLOW_BEHIND;
	follow.line.options = options->line;
	follow.line.real = (int64_t)tool_now_on(CLOCK_REALTIME) - (int64_t)tool_now();
	follow.live = folder ? read_live_open(folder, &hooks, NULL, &why)
			     : read_live_open_process(options->pid, &hooks, NULL, &why);
	if (!follow.live) {
		tool_error("trace", "%s", why.text);
		return false;
	}
	follow.news = eventfd(0, EFD_CLOEXEC);
	int error = follow.news < 0 ? errno : output_begin(options->fd);
	if (!error)
		error = tool_thread(&follow.thread, serve, NULL);
	if (!error) {
		catch_signals();
		return true;
	}
	tool_error("trace", "no thread to be had: %s", strerror(error));
	output_end();
	read_live_close(follow.live);
	return false;
}

static void tell(bool stop)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&follow.lock);
	follow.stop |= stop;
	pthread_mutex_unlock(&follow.lock);
	if (write(follow.news, &one, sizeof(one)) < 0)
		return; /* it looks by itself soon */
}

static bool is_done(void)
{
	pthread_mutex_lock(&follow.lock);
	bool done = follow.done;
	pthread_mutex_unlock(&follow.lock);
	return done;
}

int follow_end(int pid, int status)
{
	struct timespec ms = { .tv_nsec = 2000000 };

	pthread_mutex_lock(&follow.lock);
	follow.pid = pid;
	follow.status = status;
	follow.ended = true;
	pthread_mutex_unlock(&follow.lock);
	tell(false);
	while (!is_done() && !caught)
		nanosleep(&ms, NULL);
	tell(caught);
	pthread_join(follow.thread, NULL);
	while (!output_drain(LOOK_MS) && !caught)
		;
	output_drain(CAUGHT_MS);
	int failed = output_failed();
	if (failed && failed != EPIPE)
		tool_error("trace", "the calls can't be written: %s", strerror(failed));
	output_end();
	read_live_close(follow.live);
	line_free(&follow.line);
	table_free();
	callers_forget();
	shown_free();
	close(follow.news);
	return caught;
}
