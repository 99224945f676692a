/* SPDX-License-Identifier: MIT */
/*
 * make_trace DIR <SCRIPT: writes a trace folder with exactly the content that the script says, so that tests of the
 * readers can know every number. It shares nothing with the recorder but format/trace.h.
 *
 * One command per line; # begins a comment. Numbers as in C. Times are ticks.
 *	record TEXT			a line of DIR/record
 *	process NAME [KEY=VALUE]...	begin a folder; clock=tsc|mono chunk=BYTES boot=this|ID, as head; version=N: the
 *					head names another version than it has
 *	fork PID			the process forks here
 *	child PID [KEY=VALUE]...	the process is finished; the forked one with this pid is next
 *	head KEY=VALUE...		fields of the head: flags ppid lost lost_disk no_mirror meta_lost last_seq
 *					threads ring_size mode moved recording taken_back
 *	pair first|last TICKS MONO REAL, or now, or +TICKS: so many ticks and ns after the first
 *	text exe|command|host|config|note|module TEXT
 *	object N PATH [KEY=VALUE]...	flags kinds soname build=HEX
 *	function OBJECT KIND ID OFFSET [NAME [SIZE]]	KIND 32: a probe
 *	load N OBJECT CLOCK BASE TID
 *	unload N CLOCK TID
 *	loader maps|unmaps TID BEGIN END OWN
 *	sites OBJECT KIND:REASON:COUNT...
 *	change WHAT CLOCK TID VALUE [TEXT]	WHAT: number or word of enum trace_change_what, such as throttled
 *	pages OBJECT TEXT SITES PATCHED
 *	aliases ID [NAME]...		other names of a function
 *	unknown TYPE BYTES		a record of another type
 *	thread TID [COMM]		begin a thread file
 *	kept ID TIME			an entry by its second number
 *	entry|exit|tail|unwind|point|probe ID TIME	(a TRACE_SYNC comes before where the format wants one)
 *	sync TIME | switch TID | hole WORDS | raw WORD...
 *	stack N TIME			the events that follow are on that stack
 *	part N KEPT			... and so are all but the KEPT innermost open calls
 *	chunk TIME [TID]		finish the chunk and begin another
 *	ring | stream | both		the next chunks go to meta, to t<n>, or to both; before the first of these, the
 *					thread's last one to meta, the others to t<n>: as the recorder does it
 *	beside				the thread's first place in meta is the one of the process's head
 *	dense | plain			the next chunks of t<n> are of dense words, where these take less
 *	counts N TID COMM ID:CALLS...	one more run of counters of thread record N; COMM "-" for none
 *	counts-beside N TID COMM ID:CALLS...	the same, beside the process's head
 *	crash SIGNAL
 *	type N NAME			a type of custom events has this name
 *	custom TYPE TIME [DATA]...	DATA: =TEXT (_ for a blank), or bytes in hex, or N*BYTE; nothing between them;
 *					chain KEY [WORD]... behind it: a backtrace
 *	unfinished TYPE TIME [DATA]...	as custom, but its first word was not written
 *	layout N TYPE ID [fails=N] VALUE...	of the events of this TYPE (entry ...) of function ID. VALUE is
 *					TYPE:ROLE:NAME[:MARKS[:WORDS[:WHEN]]], with TYPE i1 ... i8, u1 ..., x1 ...,
 *					p8, f4, d8, text, bytes, errno4; ROLE argN, ret, errno, request, or - for
 *					others; MARKS of d (fd), o (octal), f (flags), w (out), m (more); WORDS
 *					NUMBER=WORD,...; count=N, names=N: what the record says falsely
 *	values N TIME VALUE...		an event of layout N. VALUE: a number, =TEXT (_ for a blank), or bytes in hex;
 *					fault, unread, null; before one that is cut: cut:
 *					chain WORD... behind them: words of a backtrace
 *	valued N TIME WORD...		... with these words as they are
 *	late N TIME [WORD]		... with one word that was written late; or that was not written
 *	reserved|given_up - TIME WORD...	one that was not finished
 *	lost N				lost after this chunk: told by the next one and the head
 *	open				this chunk is not finished: used stays 0
 *	loop TIMES STEP ... end		repeat the lines; the times in them grow by STEP each time (no loop in a loop)
 *	random SEED EVENTS IDS DEPTH	entries and exits of ids 1 ... IDS, well nested
 *	work SEED EVENTS IDS DEPTH	the same, as a server makes them: id 1 calls ids 2 ... 9 again and again; each
 *					of these makes some 500 events; functions call a few others
 *	nest ROUNDS IDS STEP		so often: id 1 calls 2, which calls 3, ... IDS, and all return; STEP from one
 *					event to the next
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/lib/make_trace.h"

const char *dir;
static unsigned line_number;

struct trace_head head;
int process_fd = -1, meta_fd = -1;
uint64_t meta_used, step;
uint32_t thread_count;

/* The thread: whether there is one, where its chunks go, those in t<n>, and its places. */
static bool has_thread, in_dense, beside;
static uint64_t beside_at; /* 0; or 1 more than the number of that place among the thread's */
static enum { AS_RECORDED, IN_RING, IN_STREAM, IN_BOTH } where;
static int thread_fd = -1;
static uint32_t thread; /* its number */
static uint64_t copies;
static uint32_t place[1024];
static uint8_t *chunk; /* of head.chunk_size bytes; begins with struct trace_chunk */
static uint64_t chunk_pos; /* 0: not begun */
static uint64_t chunk_seq;
uint64_t last_time;
static uint64_t lost; /* since the last chunk */
static uint32_t tid;
static char comm[16];
static bool leave_open;

void fail(const char *what)
{
	errx(1, "line %u: %s", line_number, what);
}

uint64_t number(const char *text)
{
	char *end;

	if (!text)
		fail("a number is missing");
	uint64_t n = strtoull(text, &end, 0);
	if (end == text || *end)
		fail("that is no number");
	return n;
}

void write_at(int fd, const void *from, size_t size, uint64_t offset)
{
	if (pwrite(fd, from, size, (off_t)offset) != (ssize_t)size)
		err(1, "write");
}

const char *value_of(const char *word, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(word, key, n) && word[n] == '=' ? word + n + 1 : NULL;
}

/* ---- thread files ---- */

/* What its words hold before they are written. */
static uint64_t token(void)
{
	return (chunk_seq + 1) << 32 | TRACE_TOKEN;
}

/* Creates t<n> when it is needed first. */
static void open_thread_file(void)
{
	char name[32];

	if (head.process)
		snprintf(name, sizeof(name), "t%u.%u", thread, head.process);
	else
		snprintf(name, sizeof(name), "t%u", thread);
	thread_fd = openat(process_fd, name, O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (thread_fd < 0)
		err(1, "%s", name);
}

static bool write_dense(uint64_t at)
{
	const uint64_t *word = (const uint64_t *)(const void *)(chunk + sizeof(struct trace_chunk));
	struct trace_chunk c;

	memcpy(&c, chunk, sizeof(c));
	size_t words = c.used ? (c.used - sizeof(c)) / sizeof(*word) : 0, room = words * 4;
	uint16_t *code = malloc(room * sizeof(*code) + 1);
	if (!code)
		err(1, "malloc");
	c.dense = sizeof(*code) * dense_codes(word, words, c.clock, code, room);
	c.version = TRACE_CHUNK_DENSE;
	if (c.dense) {
		write_at(thread_fd, code, c.dense, at + sizeof(c));
		write_at(thread_fd, &c, sizeof(c), at);
	}
	free(code);
	return c.dense != 0;
}

/* In t<n> only the used part of each chunk is written. */
static void write_copy(void)
{
	uint64_t at = copies++ * head.chunk_size;

	if (thread_fd < 0)
		open_thread_file();
	if (!in_dense || !write_dense(at))
		write_at(thread_fd, chunk, chunk_pos, at);
}

/* In meta a chunk is the upper half of a place. */
static void write_place(void)
{
	uint64_t most = head.ring_size / head.chunk_size, at = most ? chunk_seq % most : 0;

	if (at >= sizeof(place) / sizeof(*place))
		fail("too many places");
	if (beside && !beside_at)
		beside_at = 1 + at;
	if (!place[at] && beside_at != 1 + at)
		place[at] = places_take(1, TRACE_PLACE_CHUNK, thread);
	uint64_t of = place[at] ? place[at] : head.process;
	write_at(meta_fd, chunk, head.chunk_size, of * place_size() + head.chunk_size);
}

static void finish_chunk(bool last)
{
	struct trace_chunk *c = (void *)chunk;
	bool in_place = where == IN_RING || where == IN_BOTH || (where == AS_RECORDED && last);

	if (!chunk_pos)
		return;
	c->used = leave_open ? 0 : chunk_pos;
	if (where == IN_BOTH || !in_place) {
		write_copy();
		c->copied = 1 + (copies - 1) * head.chunk_size / STREAM_UNIT;
	}
	if (in_place)
		write_place();
	chunk_seq++;
	chunk_pos = 0;
	leave_open = false;
}

static void begin_chunk(uint64_t time)
{
	struct trace_chunk *c = (void *)chunk;

	for (uint64_t i = 0; i < head.chunk_size / sizeof(uint64_t); i++)
		memcpy(chunk + i * sizeof(uint64_t), &(uint64_t){ token() }, sizeof(uint64_t));
	*c = (struct trace_chunk){
		.magic = TRACE_CHUNK_MAGIC,
		.version = TRACE_VERSION,
		.head_size = sizeof(*c),
		.seq = chunk_seq,
		.pid = head.pid,
		.tid = tid,
		.clock = time,
		.size = head.chunk_size,
		.token = token(),
		.process = head.process,
		.thread = thread,
		.lost = lost,
	};
	lost = 0;
	memcpy(c->comm, comm, sizeof(comm));
	chunk_pos = sizeof(*c);
	last_time = time;
}

static void put(uint64_t word)
{
	memcpy(chunk + chunk_pos, &word, sizeof(word));
	chunk_pos += sizeof(word);
}

/* Makes room for a few words in a chunk. */
static void want_chunk(uint64_t time)
{
	if (!has_thread)
		fail("there is no thread");
	if (chunk_pos && chunk_pos + 64 > head.chunk_size)
		finish_chunk(false);
	if (!chunk_pos)
		begin_chunk(time);
}

static void put_sync(uint64_t time)
{
	put(TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_SYNC, 1), time));
	put(time);
	last_time = time;
}

void put_event(uint32_t type, uint32_t id, uint64_t time)
{
	want_chunk(time);
	int64_t d = (int64_t)(time - last_time);
	if (d < -(1ll << 31) || d >= 1ll << 31)
		put_sync(time);
	put(TRACE_EVENT(type, id, time));
	last_time = time;
}

void put_with_payload(uint32_t type, uint32_t id, uint64_t time, const uint64_t *payload, size_t words)
{
	want_chunk(time);
	if (chunk_pos + 64 + 8 * words > head.chunk_size) {
		finish_chunk(false);
		begin_chunk(time);
	}
	put_event(type, id, time);
	for (size_t i = 0; i < words; i++)
		put(payload[i]);
}

void forget_payload(size_t words)
{
	memcpy(chunk + chunk_pos - 8 * words, &(uint64_t){ token() }, sizeof(uint64_t));
}

/* custom|unfinished TYPE TIME DATA... */
static void put_custom(char **word, int words)
{
	static uint64_t data[1 + TRACE_CUSTOM_MAX / 8 + 200];
	uint64_t time = number(word[2]) + step, size = 0;
	uint8_t *bytes = (uint8_t *)(data + 1);
	unsigned n, byte;
	int chain = words;

	memset(data, 0, sizeof(data));
	for (int i = words - 1; i >= 3; i--)
		chain = !strcmp(word[i], "chain") ? i : chain;
	for (int i = 3; i < chain; i++) {
		if (*word[i] == '=') {
			for (const char *p = word[i] + 1; *p && size < TRACE_CUSTOM_MAX; p++)
				bytes[size++] = *p == '_' ? ' ' : (uint8_t)*p;
		} else if (sscanf(word[i], "%u*%x", &n, &byte) == 2) {
			for (; n && size < TRACE_CUSTOM_MAX; n--)
				bytes[size++] = (uint8_t)byte;
		} else {
			for (const char *p = word[i]; size < TRACE_CUSTOM_MAX && *p && sscanf(p, "%2x", &byte) == 1;
				p += 1 + !!p[1])
				bytes[size++] = (uint8_t)byte;
		}
	}
	data[0] = *word[0] == 'c' ? number(word[1]) << 32 | size : 0;
	size_t room = 1 + (size + 7) / 8;
	if (words - chain > 199)
		fail("too many words of a backtrace");
	for (int i = chain + 1; i < words; i++)
		data[room++] = number(word[i]);
	put_with_payload(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CUSTOM, room), time, data, room);
	if (*word[0] == 'u')
		forget_payload(room);
}

static void end_thread(void)
{
	if (!has_thread)
		return;
	finish_chunk(true);
	if (thread_fd >= 0)
		close(thread_fd);
	thread_fd = -1;
	has_thread = false;
	where = AS_RECORDED;
}

static void begin_thread(char **word, int words)
{
	end_thread();
	if (process_fd < 0)
		fail("there is no process");
	thread = thread_count++;
	has_thread = true;
	lost = 0;
	memset(place, 0, sizeof(place));
	beside = false;
	beside_at = 0;
	free(chunk);
	chunk = malloc(head.chunk_size);
	if (!chunk)
		err(1, "malloc");
	chunk_pos = chunk_seq = copies = 0;
	tid = (uint32_t)number(word[1]);
	memset(comm, 0, sizeof(comm));
	if (words > 2)
		snprintf(comm, sizeof(comm), "%s", word[2]);
}

/* ---- meta ---- */

static void write_head(void)
{
	end_thread();
	head.used = meta_used;
	if (!head.threads)
		head.threads = thread_count;
	write_at(meta_fd, &head, sizeof(head), head.process * head.place_size);
}

static void begin_child(char **word, int words)
{
	if (meta_fd < 0)
		fail("there is no process");
	write_head();
	thread_count = 0;
	places_child((uint32_t)number(word[1]));
	set_head(word + 2, words - 2);
}

static void end_process(void)
{
	if (meta_fd < 0)
		return;
	write_head();
	places_end();
	close(meta_fd);
	close(process_fd);
	meta_fd = process_fd = -1;
}

static void begin_process(char **word, int words)
{
	char path[4096];

	end_process();
	snprintf(path, sizeof(path), "%s/%s", dir, word[1]);
	if (mkdir(path, 0777) && errno != EEXIST)
		err(1, "%s", path);
	process_fd = open(path, O_RDONLY | O_DIRECTORY);
	meta_fd = openat(process_fd, "meta", O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (meta_fd < 0)
		err(1, "%s/meta", path);
	head = (struct trace_head){
		.version = TRACE_VERSION,
		.head_size = TRACE_HEAD_SIZE,
		.chunk_size = TRACE_CHUNK_MIN,
		.pid = (uint32_t)strtoul(word[1] + 1, NULL, 10),
		.ppid = 1,
		.clock = TRACE_CLOCK_MONOTONIC,
		.flags = TRACE_EXITED,
		.recording = 1,
	};
	memcpy(head.magic, TRACE_MAGIC, sizeof(head.magic));
	meta_used = TRACE_HEAD_SIZE;
	thread_count = 0;
	last_time = 0;
	set_head(word + 2, words - 2);
	places_begin();
}

/* ---- commands ---- */

/* AS_RECORDED: it is another command. */
static unsigned where_named(const char *word)
{
	static const char *const names[] = { [IN_RING] = "ring", [IN_STREAM] = "stream", [IN_BOTH] = "both" };
	unsigned n = IN_BOTH;

	while (n && strcmp(names[n], word))
		n--;
	return n;
}

uint32_t type_named(const char *name)
{
	static const char *const types[] = { "", "entry", "exit", "tail", "unwind", "point" };
	uint32_t type = TRACE_POINT;

	if (!strcmp(name, "probe"))
		return TRACE_PROBE;
	while (type && strcmp(types[type], name))
		type--;
	return type;
}

static bool thread_command(char **word, int words)
{
	uint32_t type = type_named(word[0]);

	if (type && words == 3) {
		put_event(type, (uint32_t)number(word[1]), number(word[2]) + step);
		return true;
	}
	if (values_thread_command(word, words))
		return true;
	if (!strcmp(word[0], "kept") && words == 3) {
		put_event(TRACE_ENTRY_KEPT, (uint32_t)number(word[1]), number(word[2]) + step);
	} else if (!strcmp(word[0], "sync") && words == 2) {
		want_chunk(number(word[1]) + step);
		put_sync(number(word[1]) + step);
	} else if (!strcmp(word[0], "switch") && words == 2) {
		want_chunk(last_time);
		tid = (uint32_t)number(word[1]);
		put(TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_THREAD, 1), last_time));
		put(tid);
	} else if (!strcmp(word[0], "stack") && words == 3) {
		put_event(TRACE_STACK, (uint32_t)number(word[1]), number(word[2]) + step);
	} else if (!strcmp(word[0], "part") && words == 3) {
		want_chunk(last_time);
		put(TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_PART, 1), last_time));
		put(number(word[2]) << 32 | number(word[1]));
	} else if (!strcmp(word[0], "hole") && words == 2) {
		for (uint64_t n = number(word[1]); n; n--) {
			want_chunk(last_time);
			put(token());
		}
	} else if (!strcmp(word[0], "crash") && words == 2) {
		want_chunk(last_time);
		put(TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_CRASH, 1), last_time));
		put(number(word[1]));
	} else if ((!strcmp(word[0], "custom") || !strcmp(word[0], "unfinished")) && words > 2) {
		put_custom(word, words);
	} else if (words == 1 && where_named(word[0]) && has_thread) {
		finish_chunk(false);
		where = where_named(word[0]);
	} else if ((!strcmp(word[0], "dense") || !strcmp(word[0], "plain")) && words == 1) {
		finish_chunk(false);
		in_dense = *word[0] == 'd';
	} else if (!strcmp(word[0], "beside") && words == 1) {
		beside = true;
	} else if (!strcmp(word[0], "raw")) {
		want_chunk(last_time);
		for (int i = 1; i < words; i++)
			put(number(word[i]));
	} else if (!strcmp(word[0], "chunk") && words >= 2) {
		finish_chunk(false);
		tid = words > 2 ? (uint32_t)number(word[2]) : tid;
		want_chunk(number(word[1]) + step);
	} else if (!strcmp(word[0], "lost") && words == 2) {
		want_chunk(last_time);
		lost += number(word[1]);
		head_loses(TRACE_LOST_OTHER, number(word[1]));
	} else if (!strcmp(word[0], "open")) {
		want_chunk(last_time);
		leave_open = true;
	} else if (many_is(word, words)) {
		want_chunk(last_time);
		many_put(word);
	} else {
		return false;
	}
	return true;
}

static void command(const char *line)
{
	char copy[4096], *word[130] = { 0 }, *save;
	int words = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	copy[strcspn(copy, "#\n")] = '\0';
	for (char *w = strtok_r(copy, " \t", &save); w && words < 129; w = strtok_r(NULL, " \t", &save))
		word[words++] = w;
	if (!words)
		return;
	char rest[4096] = "";
	if (words > 1) { /* the text after the first word (record) or the second (text), unchanged */
		const char *from = strstr(line, word[!strcmp(word[0], "text") && words > 2 ? 2 : 1]);
		snprintf(rest, sizeof(rest), "%s", from ? from : "");
		rest[strcspn(rest, "\n")] = '\0';
	}
	if (!strcmp(word[0], "record") && words > 1)
		append_record(rest);
	else if (!strcmp(word[0], "process") && words > 1)
		begin_process(word, words);
	else if (!strcmp(word[0], "fork") && words == 2)
		places_fork((uint32_t)number(word[1]));
	else if (!strcmp(word[0], "child") && words > 1)
		begin_child(word, words);
	else if (!strcmp(word[0], "head"))
		set_head(word + 1, words - 1);
	else if (!strcmp(word[0], "pair") && (words == 5 || words == 3))
		*(!strcmp(word[1], "first") ? &head.first : &head.last) =
			words == 5 ? (struct trace_pair){ number(word[2]), number(word[3]), number(word[4]) } :
			*word[2] == '+' ? pair_after(&head.first, number(word[2] + 1)) : pair_now();
	else if (!strcmp(word[0], "thread") && words > 1)
		begin_thread(word, words);
	else if (!meta_command(word, words, rest) && !thread_command(word, words))
		fail("unknown command");
}

int main(int argc, char **argv)
{
	char *line = NULL, **body = NULL;
	size_t size = 0, lines = 0;
	uint64_t times = 0, by = 0;

	if (argc != 2)
		errx(2, "Usage: make_trace DIR <SCRIPT");
	dir = argv[1];
	if (mkdir(dir, 0777) && errno != EEXIST)
		err(1, "%s", dir);
	while (getline(&line, &size, stdin) > 0) {
		unsigned long long a, b;
		line_number++;
		if (sscanf(line, " loop %llu %llu", &a, &b) == 2) {
			times = a;
			by = b;
		} else if (times && !strncmp(line, "end", 3)) {
			for (uint64_t i = 0; i < times; i++, step += by)
				for (size_t k = 0; k < lines; k++)
					command(body[k]);
			while (lines)
				free(body[--lines]);
			step = times = 0;
		} else if (times) {
			body = reallocarray(body, lines + 1, sizeof(*body));
			if (!body || !(body[lines++] = strdup(line)))
				err(1, "malloc");
		} else {
			command(line);
		}
	}
	if (times)
		fail("a loop without end");
	end_process();
	free(body);
	free(line);
	free(chunk);
	return 0;
}
