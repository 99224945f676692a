/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/top.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h> /* UINT_MAX */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/base/options.h"
#include "tool/base/proc.h"
#include "tool/base/tool.h"
#include "tool/ctl/folder.h"
#include "tool/show/show.h"
#include "tool/show/show_trace.h"
#include "tool/show/term/fit.h"

struct line {
	uint32_t row;
	const struct xaudit_read_function *function;
	uint64_t calls, self;
};

struct screen {
	struct xaudit_read_process *process;
	struct xaudit_read_follow *follow;
	const struct xaudit_read_head *head;
	struct xaudit_read_look look;
	bool live;
	uint32_t pid;
	char comm[32];
	bool batch, by_calls, ended;
	uint32_t count; /* 0: for ever */
	double delay;
	struct line *line;
	uint32_t lines;
	struct probe {
		const struct xaudit_read_probe *probe;
		uint64_t events;
	} *probe;
	uint32_t probes;
	uint64_t passed; /* ns, since the screen before */
};

/* ---- the terminal ---- */

static struct termios cooked;
static bool is_raw;
static volatile sig_atomic_t caught, resized;

static void on_signal(int signal)
{
	caught = signal;
}

static void on_resize(int signal)
{
	(void)signal;
	resized = 1;
}

static void take_terminal(void)
{
	struct termios raw;

	fputs("\033[?1049h\033[?25l", stdout); /* another screen, without a cursor */
	fflush(stdout);
	if (tcgetattr(STDIN_FILENO, &cooked))
		return;
	raw = cooked;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	is_raw = !tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

static void give_terminal_back(void)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &cooked);
	is_raw = false;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

static void catch_signals(sigset_t *free_mask)
{
	struct sigaction action = { .sa_handler = on_signal }, resize = { .sa_handler = on_resize };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&mask, signals[i]);
	}
	sigaction(SIGWINCH, &resize, NULL);
	sigaddset(&mask, SIGWINCH);
	/* They come while we wait, and only then. */
	sigprocmask(SIG_BLOCK, &mask, free_mask);
}

/* Ends by the signal as if it had never been caught. */
static void die_of(int signal)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t mask;

	sigaction(signal, &action, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

/* ---- a screen ---- */

static bool is_alive(const struct screen *s)
{
	if (s->head->exited)
		return false;
	return !s->pid || !kill((pid_t)s->pid, 0) || errno == EPERM;
}

static int by_self(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int by_calls(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return by_self(a, b);
}

static int by_events(const void *a, const void *b)
{
	const struct probe *x = a, *y = b;

	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return x->probe->number < y->probe->number ? -1 : x->probe->number > y->probe->number;
}

static void add_probe(struct screen *s, const struct xaudit_read_follow_row *row)
{
	if (row->events || row->counted)
		s->probe[s->probes++] = (struct probe){ row->probe,
			(uint64_t)((double)row->events * s->look.scale) + row->counted };
}

static int by_name(const void *a, const void *b)
{
	const struct xaudit_read_probe *x = ((const struct probe *)a)->probe, *y = ((const struct probe *)b)->probe;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->object->path, y->object->path);
}

/* All places that a probe has in a library are one line, as in a report. */
static void join_probes(struct screen *s)
{
	uint32_t left = 0;

	if (s->probes)
		qsort(s->probe, s->probes, sizeof(*s->probe), by_name);
	for (uint32_t i = 0; i < s->probes; i++)
		if (left && !by_name(&s->probe[left - 1], &s->probe[i]))
			s->probe[left - 1].events += s->probe[i].events;
		else
			s->probe[left++] = s->probe[i];
	s->probes = left;
}

static void make_lines(struct screen *s)
{
	s->lines = s->probes = 0;
	free(s->line);
	free(s->probe);
	s->line = memory_zeroed(s->look.rows + 1, sizeof(*s->line));
	s->probe = memory_zeroed(s->look.rows + 1, sizeof(*s->probe));
	for (uint32_t i = 0; i < s->look.rows; i++) {
		const struct xaudit_read_follow_row *row = xaudit_read_follow_row(s->follow, i);

		if (!row)
			memory_failed();
		if (row->probe)
			add_probe(s, row);
		else if (row->calls || row->counted || row->self)
			s->line[s->lines++] = (struct line){ i, row->function,
				(uint64_t)((double)row->calls * s->look.scale) + row->counted,
				(uint64_t)((double)row->self * s->look.scale) };
	}
	join_probes(s);
}

/* Threads of the process now, or records of it. */
static unsigned count_threads(const struct screen *s)
{
	char path[48];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", s->pid);
	return s->pid && !stat(path, &st) && st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : s->look.threads;
}

static void print_head(const struct screen *s)
{
	const struct xaudit_read_head *head = s->head;
	double seconds = s->passed ? (double)s->passed / 1e9 : 1;
	unsigned threads = count_threads(s);

	printf("xaudit top: process %" PRIu32 " ", head->pid);
	tool_text(stdout, s->comm);
	printf(", %u thread%s, mode %s%s%s\n", threads, threads == 1 ? "" : "s", xaudit_read_mode_word(head->mode),
		head->recording ? "" : ", stopped", s->ended ? ", ended" : "");
	printf("%.0f events/s, ", (double)s->look.events * s->look.scale / seconds);
	if (s->look.counted)
		printf("%.0f counted calls/s, ", (double)s->look.counted / seconds);
	printf("%" PRIu64 " lost", s->look.lost);
	if (s->look.skipped)
		printf(", numbers are estimates: %.3g%% of the events could be read", 100 / s->look.scale);
	printf("\n\n%12s  %12s  %6s  Function\n", "Calls", "Self", "Self%");
}

static void print_line(const struct screen *s, const struct line *line, unsigned columns)
{
	const struct xaudit_read_function *function = line->function;
	char time[SHOW_TIME_SIZE], *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	fprintf(to, "%12" PRIu64 "  %12s  %5.1f%%  %c", line->calls, show_time_column(time, line->self),
		s->passed ? 100.0 * (double)line->self / (double)s->passed : 0, FIT_NAME);
	names_print(to, function->name);
	fprintf(to, "%c [", FIT_END);
	tool_text(to, tool_base(function->object->path));
	fputs("]\n", to);
	fclose(to);
	fit_line(stdout, memory_need(text), size, columns ? columns : UINT_MAX, term_ellipsis());
	free(text);
}

static void print_probe(const struct probe *probe, unsigned columns)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));

	fprintf(to, "%12" PRIu64 "  %c", probe->events, FIT_NAME);
	tool_text(to, probe->probe->name);
	fprintf(to, "%c [", FIT_END);
	tool_text(to, tool_base(probe->probe->object->path));
	fputs("]\n", to);
	fclose(to);
	fit_line(stdout, memory_need(text), size, columns ? columns : UINT_MAX, term_ellipsis());
	free(text);
}

static void print_probes(const struct screen *s, uint32_t probes, unsigned columns)
{
	if (!probes)
		return;
	qsort(s->probe, s->probes, sizeof(*s->probe), by_events);
	printf("\n%12s  Probe\n", "Events");
	for (uint32_t i = 0; i < probes; i++)
		print_probe(&s->probe[i], columns);
}

static void draw(struct screen *s)
{
	struct winsize size = { 0 };
	uint32_t lines = s->lines, probes = s->probes;

	if (!s->batch) {
		if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 6)
			size.ws_row = 24, size.ws_col = size.ws_col ? size.ws_col : 80;
		/* Probes take a third of the screen, most. */
		probes = probes < size.ws_row / 3u ? probes : size.ws_row / 3u;
		uint32_t most = size.ws_row - 5u, below = probes ? probes + 2 : 0;
		most = most > below ? most - below : 0;
		lines = lines < most ? lines : most;
		fputs("\033[H\033[2J", stdout);
	}
	qsort(s->line, s->lines, sizeof(*s->line), s->by_calls ? by_calls : by_self);
	print_head(s);
	for (uint32_t i = 0; i < lines; i++)
		names_meet(s->line[i].function->name);
	for (uint32_t i = 0; i < lines; i++)
		print_line(s, &s->line[i], size.ws_col);
	print_probes(s, probes, size.ws_col);
	if (s->batch)
		putchar('\n');
	fflush(stdout);
}

/* ---- waiting ---- */

/* Stops as ^Z wants it, with the terminal as it was. */
static void stop(struct screen *s)
{
	if (!s->batch)
		give_terminal_back();
	raise(SIGSTOP);
	if (!s->batch)
		take_terminal();
}

/* Returns whether the user wants no more. */
static bool take_keys(struct screen *s)
{
	char keys[16];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	for (ssize_t i = 0; i < n; i++) {
		if (keys[i] == 'q')
			return true;
		if (keys[i] == 'c' || keys[i] == 's')
			s->by_calls = keys[i] == 'c';
	}
	if (n > 0)
		draw(s);
	return false;
}

/* Waits for the next screen's time. Returns whether it is to end: by a key or a signal. */
static bool wait_until(struct screen *s, uint64_t when, const sigset_t *free_mask)
{
	for (uint64_t now; (now = tool_now()) < when;) {
		struct timespec left = { (time_t)((when - now) / 1000000000u), (long)((when - now) % 1000000000u) };
		struct pollfd keys = { .fd = is_raw ? STDIN_FILENO : -1, .events = POLLIN };
		int n = ppoll(&keys, 1, &left, free_mask);

		if (n > 0 && keys.revents & POLLIN) {
			if (take_keys(s))
				return true;
		} else if (n > 0) { /* the terminal is gone */
			return true;
		}
		if (caught == SIGTSTP) {
			caught = 0;
			stop(s);
			resized = 1;
		}
		if (caught)
			return true;
		if (resized && !s->batch)
			draw(s);
		resized = 0;
	}
	return false;
}

/* Reads what came since the last screen, for at most that many ns. */
static void look(struct screen *s, uint64_t most)
{
	const struct xaudit_read_look *seen = xaudit_read_follow_look(s->follow, s->live, most);

	if (!seen)
		memory_failed();
	s->look = *seen;
	s->head = xaudit_read_process_head(s->process);
}

static void run(struct screen *s)
{
	uint64_t period = (uint64_t)(s->delay * 1e9), before = tool_now(), when = before + period;
	sigset_t free_mask;
	bool end = false;

	catch_signals(&free_mask);
	if (!s->batch)
		take_terminal();
	for (uint32_t screens = 0; !end; when += period) {
		if (s->lines || screens || s->batch)
			end = wait_until(s, when, &free_mask);
		else {
			draw(s); /* something to see while the first numbers come */
			end = wait_until(s, when, &free_mask);
		}
		if (end)
			break;
		s->ended = !is_alive(s);
		s->live &= !s->ended;
		look(s, period / 2);
		uint64_t now = tool_now();
		s->passed = now - before;
		before = now;
		/* After a stop by ^Z there is no need to catch up. */
		when = now > when + period ? now : when;
		make_lines(s);
		draw(s);
		screens++;
		end = s->ended || (s->count && screens >= s->count) || show_output_broken();
	}
	if (!s->batch)
		give_terminal_back();
	if (!s->batch && s->ended)
		printf("process %" PRIu32 " has ended\n", s->head->pid);
	if (caught)
		die_of(caught);
}

/* ---- options ---- */

static bool take_delay(const struct options_given *given)
{
	struct screen *s = given->context;
	char *end;

	s->delay = strtod(given->value, &end);
	return (end != given->value && !*end && s->delay >= 0.05 && s->delay <= 86400) ||
	       options_wrong(given, given->row->allowed);
}

static const struct options_row rows[] = {
	{ 'b', "batch", NULL, "screens as text, one after another: for files and pipes",
		.take = options_flag, .at = offsetof(struct screen, batch) },
	{ 'n', "count", "COUNT", "end after so many screens", .take = options_number, .most = UINT32_MAX,
		.at = offsetof(struct screen, count), .allowed = "a number of screens" },
	{ 'd', "delay", "SECONDS", "time between screens (" OPTIONS_NUMBER(TOP_DELAY) ")",
		.take = take_delay, .allowed = "a number of seconds from 0.05 up" },
	NAMES_ROW,
	OPTIONS_HELP,
	{ 0 },
};

static const struct options_wording wording = CTL_WORDING("top");

static const struct options_syntax syntax = {
	.command = "ctl",
	.rows = rows,
	.column = 25,
	.in_front = true,
	.wording = &wording,
	.head = "Usage: xaudit ctl PID top [-b] [-n COUNT] [-d SECONDS]\n"
		"Shows the functions that are called, by calls and self time since the last\n"
		"screen.\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"Keys: c sort by calls, s sort by self time, q quit.\n",
};

/* Returns -1, or the exit status. */
static int take_options(struct screen *s, int argc, char **argv)
{
	int first = options_take(&syntax, s, argc, argv);

	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	if (first < argc) {
		tool_error("ctl", "top takes no '%s'; `xaudit ctl PID top --help` lists what it takes", argv[first]);
		return TOOL_USAGE;
	}
	if (!s->batch && !isatty(STDOUT_FILENO)) {
		tool_error("ctl", "top needs a terminal; -b writes its screens as text");
		return TOOL_USAGE;
	}
	return -1;
}

static void find_comm(struct screen *s)
{
	if (s->pid)
		proc_name((pid_t)s->pid, s->comm);
	const char *exe = *s->comm ? NULL : xaudit_read_process_info(s->process)->exe;
	if (exe)
		snprintf(s->comm, sizeof(s->comm), "%s", tool_base(exe));
}

int ctl_top(uint32_t pid, const struct ctl_trace *trace, size_t traces, int argc, char **argv)
{
	struct screen s = { .pid = pid, .delay = TOP_DELAY };
	int status = take_options(&s, argc, argv);

	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	struct xaudit_read_trace *of = traces ? show_trace_process("ctl", trace->path, trace->place) : NULL;
	if (!of)
		return TOOL_FAILED;
	s.process = xaudit_read_process(of, 0);
	s.head = xaudit_read_process_head(s.process);
	s.live = pid && s.head->clock_known && !s.head->exited;
	s.follow = memory_need(xaudit_read_follow(s.process, s.live, NULL));
	s.look.threads = s.head->threads;
	find_comm(&s);
	run(&s);
	free(s.line);
	free(s.probe);
	/* What was being written while it was read is no damage. */
	xaudit_read_close(of);
	return TOOL_OK;
}
