/* SPDX-License-Identifier: MIT */
/*
 * Reading the calls of a trace while it grows: which word is waited for, how long, what ends a chunk or a process, and
 * what was read and is taken back.
 * The trace is one that make_trace has made, of a child that does nothing, with one chunk that is not finished; the
 * test goes on writing there, as the recorder would.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/trace.h"
#include "t/lib/mapped.h"
#include "t/lib/tap.h"
#include "t/lib/written.h"
#include "tool/base/now.h"
#include "tool/read/live/live.h"

#define CHUNK	65536u
#define FOLDERS 30000
#define SECONDS 2 /* of our own processor time; to compare each name with each takes twice as long */

static const char script[] =
	"process p%d chunk=65536 ring_size=131072 clock=mono boot=this\n"
	"pair first now\n"
	"object 1 /usr/lib/libfoo.so\n"
	"function 1 0 1 0x100 plain\n"
	"function 1 0 2 0x200 valued\n"
	"layout 1 entry 2 u8:arg0:n\n"
	"layout 2 exit 2 u8:ret:r\n"
	"function 1 32 3 0x208 probed\n"
	"layout 3 probe 3 u8:-:n\n"
	"thread %d main\n"
	"ring\n"
	"point 1 %" PRIu64 "\n"
	"open\n";

static struct trace_chunk *chunk;
static uint64_t *word; /* of the chunk: the next one */

static void map(const char *dir, pid_t child)
{
	off_t size;
	char *meta = map_meta(dir, (int)child, &size);

	for (off_t at = CHUNK; at < size && !chunk; at += CHUNK) {
		uint32_t magic;
		memcpy(&magic, meta + at, sizeof(magic));
		if (magic == TRACE_CHUNK_MAGIC)
			chunk = (void *)(meta + at);
	}
	if (!chunk)
		bail("the trace is not as it was written");
	word = (uint64_t *)(void *)(chunk + 1) + 1;
}

/* ---- writing ---- */

static void put(enum trace_type type, uint32_t id)
{
	*word++ = TRACE_EVENT(type, id, tool_now());
}

/* An event of valued(), with its value. */
static void put_valued(uint32_t layout, uint64_t value)
{
	put(TRACE_VALUED, TRACE_VALUED_ID(layout, 1));
	*word++ = value;
}

/* The same, of which nothing is there but the reservation. Returns where publish() is to put it. */
static uint64_t *reserve(void)
{
	uint64_t *at = word;

	put(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_RESERVED, 1));
	word++;
	return at;
}

static void publish(uint64_t *at, uint32_t layout, uint64_t value)
{
	at[1] = value;
	*at = TRACE_EVENT(TRACE_VALUED, TRACE_VALUED_ID(layout, 1), *at);
}

/* ---- looking ---- */

static char told[256]; /* "NAME ARGUMENT RESULT;" of each call; - where there is none */
static unsigned ended;

static void add_value(const struct xaudit_read_values *values)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	size_t at = strlen(told);

	if (xaudit_read_values(values, value, XAUDIT_READ_VALUES))
		snprintf(told + at, sizeof(told) - at, " %" PRIu64, value->number);
	else
		snprintf(told + at, sizeof(told) - at, " -");
}

static void take_call(void *user, struct read_live_process *process, struct xaudit_read_call *call)
{
	size_t at = strlen(told);

	(void)user;
	(void)process;
	snprintf(told + at, sizeof(told) - at, "%s", call->function->name);
	add_value(call->entered);
	add_value(call->ended);
	at = strlen(told);
	snprintf(told + at, sizeof(told) - at, ";");
}

static void take_process(void *user, struct read_live_process *process)
{
	(void)user;
	(void)process;
}

static void take_probe(void *user, struct read_live_process *process, const struct read_live_probe *probe)
{
	size_t at = strlen(told);

	(void)user;
	(void)process;
	snprintf(told + at, sizeof(told) - at, "%s in %s", probe->probe->name,
		probe->call ? probe->call->function->name : "none");
	add_value(probe->values);
	at = strlen(told);
	snprintf(told + at, sizeof(told) - at, ";");
}

static void take_lost(void *user, struct read_live_process *process, uint32_t tid, uint64_t count, bool chunks)
{
	size_t at = strlen(told);

	(void)user;
	(void)process;
	(void)tid;
	snprintf(told + at, sizeof(told) - at, "lost %" PRIu64 " %d;", count, chunks);
}

static void take_end(void *user, struct read_live_process *process)
{
	(void)user;
	(void)process;
	ended++;
}

static const struct read_live_hooks hooks = {
	.began = take_process, .call = take_call, .probe = take_probe, .lost = take_lost, .ended = take_end,
};

/* What so many looks tell, one right after the other. */
static const char *look(struct read_live *live, int looks)
{
	told[0] = '\0';
	while (looks--)
		read_live_look(live, 0);
	return told;
}

/* What looks tell until they have told all of `expected`, or for some s. Returns that; *ms: how long it took. */
static const char *look_until(struct read_live *live, const char *expected, int64_t *ms)
{
	int64_t begin = tool_now_ms();

	look(live, 0);
	do {
		usleep(5000);
		read_live_look(live, 0);
		*ms = tool_now_ms() - begin;
	} while (strlen(told) < strlen(expected) && *ms < 20000);
	return told;
}

static void check_words(struct read_live *live)
{
	static const char all[] = "plain - -;valued 7 8;";
	int64_t ms;

	look(live, 1);
	put(TRACE_POINT, 1);
	uint64_t *at = reserve();
	is_str(look(live, 9), "plain - -;", "an event that is being written is waited for");
	publish(at, 1, 3);
	is_str(look(live, 2), "", "then its call is open");
	at = reserve();
	is_str(look(live, 9), "", "its end is waited for, too");
	usleep(700000);
	is_str(look(live, 9), "", "for any time: its thread may not run");
	publish(at, 2, 4);
	is_str(look(live, 2), "valued 3 4;", "the call is told when it is there");

	at = reserve();
	put(TRACE_POINT, 1);
	is_str(look(live, 9), "", "where a handler came in between, its events wait for that one");
	publish(at, 1, 5);
	put_valued(2, 6);
	is_str(look(live, 2), "plain - -;valued 5 6;", "and come behind it");

	reserve();
	put(TRACE_POINT, 1);
	put_valued(1, 7);
	put_valued(2, 8);
	is_str(look(live, 9), "", "of one that the handler left by a jump nobody knows that");
	is_str(look_until(live, all, &ms), all, "what is behind it is told after some time");
	ok(ms >= 300, "that is half a second");
	diag("%d ms", (int)ms);

	put(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_GIVEN_UP, 1));
	*word++ = 0;
	put(TRACE_POINT, 1);
	is_str(look(live, 1), "plain - -;", "one that was given up is not waited for, whatever its values were");
}

/* Has so many of the last words be as if nothing had ever been written to them. */
static void take_back(size_t words)
{
	while (words--)
		*--word = 0;
}

static void check_taken_back(struct read_live *live)
{
	put(TRACE_ENTRY, 1);
	put_valued(1, 20);
	is_str(look(live, 9), "", "calls are open");
	take_back(3);
	put(TRACE_POINT, 1);
	put_valued(1, 21);
	put_valued(2, 22);
	is_str(look(live, 9), "plain - -;valued 21 22;", "and were taken back: what came there is told, they are not");

	put(TRACE_ENTRY, 1);
	put_valued(1, 23);
	look(live, 2);
	take_back(2);
	put_valued(1, 24);
	put_valued(2, 25);
	put(TRACE_EXIT, 1);
	is_str(look(live, 9), "valued 24 25;plain - -;", "also where just the inner one was");

	put(TRACE_ENTRY, 1);
	uint64_t *at = word;
	put_valued(1, 26);
	put(TRACE_POINT, 1);
	is_str(look(live, 2), "plain - -;", "a call is made in one");
	*at = TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_GIVEN_UP, 1), *at);
	put(TRACE_EXIT, 1);
	is_str(look(live, 9), "plain - -;", "which is then left out: it is not told, when that is around it ends");

	at = word;
	put_valued(1, 27);
	*at = TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_GIVEN_UP, 1), *at);
	look(live, 9);
	take_back(2);
	put(TRACE_POINT, 1);
	put(TRACE_POINT, 1);
	is_str(look(live, 9), "plain - -;plain - -;", "what is given up last may be taken back next");
}

static void check_probes(struct read_live *live)
{
	put(TRACE_PROBE, 3);
	is_str(look(live, 2), "probed in none -;", "a thread came to a probe");
	put(TRACE_ENTRY, 1);
	put_valued(3, 31);
	is_str(look(live, 2), "probed in plain 31;", "in a call, which goes on, with a value");
	uint64_t *at = reserve();
	put(TRACE_EXIT, 1);
	is_str(look(live, 9), "", "one that is being written is waited for");
	publish(at, 3, 32);
	is_str(look(live, 2), "probed in plain 32;plain - -;", "and comes before what is behind it");
}

/* make_trace has chunks of 65536 bytes in places of twice that. */
static void check_end(struct read_live *live, pid_t child)
{
	int64_t ms;

	put_valued(1, 0);
	put_valued(2, 0);
	is_str(look(live, 2), "valued 0 0;", "values of 0");
	put_valued(1, 9);
	look(live, 2);
	put_valued(2, 0);
	chunk->used = (uint64_t)((char *)word - (char *)chunk);
	is_str(look(live, 2), "valued 9 0;", "also where a chunk ends with that");

	/* The next chunk, in the same place. */
	chunk->magic = 0;
	chunk->seq++;
	chunk->used = 0;
	memset(chunk + 1, 0, CHUNK - sizeof(*chunk));
	word = (uint64_t *)(void *)(chunk + 1);
	chunk->magic = TRACE_CHUNK_MAGIC;
	put(TRACE_POINT, 1);
	reserve();
	put_valued(1, 10);
	put_valued(2, 11);
	put_valued(1, 12);
	reserve();
	is_str(look(live, 2), "plain - -;", "in the next chunk, too, there is one to wait for");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	is_str(look_until(live, "valued 10 11;valued 12 -;", &ms), "valued 10 11;valued 12 -;",
		"when the process has ended, nobody writes any more");
	is_int(ended, 1, "it has ended");
}

/* Most programs that a command executes have folders of their own: a look at many, nothing of which is there yet. */
static int look_at_many(void)
{
	struct rusage before, after;
	char dir[] = "/tmp/xaudit-read-live-XXXXXX", path[64];
	struct xaudit_read_error error;

	make_folder(dir);
	for (int i = 0; i < FOLDERS; i++) {
		snprintf(path, sizeof(path), "%s/p%d", dir, i);
		if (mkdir(path, 0700))
			return 1;
	}
	struct read_live *live = read_live_open(dir, &hooks, NULL, &error);
	if (!live)
		return 2;
	getrusage(RUSAGE_SELF, &before);
	unsigned running = read_live_look(live, 0);
	getrusage(RUSAGE_SELF, &after);
	read_live_close(live);
	remove_folder(dir);
	return running ? 3 : after.ru_utime.tv_sec - before.ru_utime.tv_sec >= SECONDS ? 4 : 0;
}

static void check_many(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(look_at_many());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		bail("no child");
	is_int(status, 0, "a look at %d folders takes little time", FOLDERS);
}

int main(void)
{
	char dir[] = "/tmp/xaudit-read-live-XXXXXX", text[1024];
	struct xaudit_read_error error;
	pid_t child = fork();

	if (child < 0)
		bail("no child");
	if (!child) {
		alarm(60);
		pause();
		_exit(0);
	}
	make_folder(dir);
	snprintf(text, sizeof(text), script, (int)child, (int)child, tool_now());
	make_trace(dir, text);
	map(dir, child);
	struct read_live *live = read_live_open(dir, &hooks, NULL, &error);
	if (!live)
		bail("%s", error.text);
	check_words(live);
	check_taken_back(live);
	check_probes(live);
	check_end(live, child);
	check_many();
	read_live_close(live);
	remove_folder(dir);
	return done_testing();
}
