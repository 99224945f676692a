/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/asked/asked.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/places.h"
#include "format/trace.h"
#include "runtime/files/output.h"
#include "runtime/snapshot/ask.h"
#include "runtime/snapshot/copy.h"
#include "tool/base/rest.h"
#include "tool/base/tool.h"
#include "tool/base/whole.h"
#include "tool/record/asked/running.h"

#define PROCESSES  16384 /* that ever asked, most: a power of 2 */
#define NAMES	   64
#define WORDS	   4096
#define PIECES	   (1u << 18) /* of a directory, most: TRACE_PLACE_MAX words are 65536 */
#define PATH_BYTES 4096
#define SAY_MOST   20 /* errors */

static struct {
	int folder;
	const char *path, *speaker;
	unsigned made, tried;
	bool full;     /* more than ASKED_MOST were wanted, or by more than PROCESSES, which was said */
	bool skips;    /* see asked_skip() */
	uint64_t last; /* when the last one was made; 0: none was */
	char name[PATH_BYTES]; /* of the last one */
	void (*told)(const char *path);
} all;

/*
 * A process that has asked, or whose calls are looked at, by its family and the place of its head: hashed, and never
 * given up.
 */
static struct process {
	char family[32]; /* "": none */
	uint32_t place;
	uint32_t asked[TRACE_ASKS]; /* what was done, or dropped */
	uint32_t running; /* bits: these are wanted besides */
} process[PROCESSES];
static unsigned processes;

static struct limit {
	char name[TRACE_ASK_NAME];
	uint64_t last; /* when; 0: never */
	unsigned number; /* of the last folder */
} limit[NAMES];
static unsigned limits;

static uint64_t word[WORDS];

void asked_begin(int folder, const char *path, const char *speaker)
{
	all.speaker = speaker;
	all.folder = folder;
	all.path = path;
	running_begin(speaker);
}

void asked_tell(void (*made)(const char *path))
{
	all.told = made;
}

unsigned asked_made(const char **last)
{
	*last = all.name;
	return all.told ? 0 : all.made;
}

/* Opens the family's folder, which must be this user's. Returns a descriptor, or -1. */
static int open_folder(const char *family)
{
	struct output_place place;
	long path = output_open(all.folder, family, &place);
	int fd = path < 0 ? -1 : openat((int)path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (path >= 0)
		close((int)path);
	return fd;
}

/* Once. processes: these are too many, else the snapshots. */
static void say_full(bool processes)
{
	if (!all.full)
		tool_error(all.speaker, "the program asked for %smore than %d %s; no more are made",
			processes ? "snapshots in " : "", processes ? PROCESSES - 1 : ASKED_MOST,
			processes ? "processes" : "snapshots");
	all.full = true;
}

static bool has_asked(const struct trace_head *head)
{
	for (unsigned i = 0; i < TRACE_ASKS; i++)
		if (head->ask[i].asked)
			return true;
	return head->running;
}

/* NULL: there are too many. */
static struct process *process_of(const char *family, uint32_t place)
{
	uint32_t at = place * 0x9e3779b1u;

	for (const char *p = family; *p; p++)
		at = (at ^ (unsigned char)*p) * 0x01000193u;
	at ^= at >> 15;
	for (struct process *p;; at++) {
		p = &process[at % PROCESSES];
		if (p->place == place && !strcmp(p->family, family))
			return p;
		if (*p->family)
			continue;
		/* One stays free, so that each search ends. */
		if (processes + 1 == PROCESSES)
			return NULL;
		processes++;
		p->place = place;
		snprintf(p->family, sizeof(p->family), "%s", family);
		return p;
	}
}

/* NULL: it is no name, or there are too many. */
static struct limit *limit_of(const char name[TRACE_ASK_NAME])
{
	if (!memchr(name, '\0', TRACE_ASK_NAME) || *name == '.')
		return NULL;
	for (const char *p = name; *p; p++)
		if (*p == '/' || (unsigned char)*p <= ' ' || (unsigned char)*p > '~')
			return NULL;
	for (unsigned i = 0; i < limits; i++)
		if (!strcmp(limit[i].name, name))
			return &limit[i];
	if (limits == NAMES)
		return NULL;
	strcpy(limit[limits].name, name);
	return &limit[limits++];
}

/* Makes the next folder of the name. Returns a descriptor, or -errno; the path is all.name. */
static long make_folder(struct limit *as)
{
	long fd = -EEXIST;

	while (fd == -EEXIST && as->number < INT_MAX) {
		struct text path = { all.name, sizeof(all.name), 0 };
		ask_put_name(&path, all.path, strlen(all.path), as->name, ++as->number);
		if (path.length + 1 >= path.size)
			return -ENAMETOOLONG;
		fd = output_make(AT_FDCWD, all.name, NULL);
	}
	return fd;
}

/* Copies one process. Says why it can't. */
static void make(int from, const char *family, const struct trace_head *head, uint32_t place, struct limit *as)
{
	struct snapshot_copied copied;
	char name[32];
	long output = make_folder(as), to = output;

	snprintf(name, sizeof(name), "p%" PRIu32, head->pid);
	tool_rest();
	if (output >= 0)
		to = output_make((int)output, place ? name : family, NULL);
	tool_rest();
	long r = to < 0 ? to : snapshot_copy(from, (int)to, place, UINT32_MAX, tool_rest, &copied);
	if (to >= 0)
		close((int)to);
	if (output >= 0)
		close((int)output);
	if (r && all.tried - all.made > SAY_MOST)
		return; /* many have been said */
	if (r)
		tool_error(all.speaker, "a snapshot that the program asked for can't be made in %s: %s", all.name,
			r == -EBADMSG	      ? "the trace's meta file is damaged"
			: r == OUTPUT_FOREIGN ? "another user put one in its place"
					      : strerror((int)-r));
	else if (++all.made && all.told)
		all.told(all.name);
}

/* What one process asks for. Returns as asked_look(). */
static uint64_t serve(int from, const char *family, const struct trace_head *head, uint32_t place, uint64_t now)
{
	struct process *p = has_asked(head) ? process_of(family, place) : NULL;
	uint64_t again = 0;

	if (!p && has_asked(head))
		say_full(true);
	for (unsigned i = 0; p && i < TRACE_ASKS; i++) {
		const struct trace_ask *ask = &head->ask[i];
		const uint32_t bit = 1u << i;
		bool none = (!ask->asked || ask->asked == p->asked[i]) && !(p->running & bit);
		struct limit *as = none ? NULL : limit_of(ask->name);
		bool wanted = as && (!as->last || now - as->last >= ask->at_most);
		if (wanted && all.last && now - all.last < ASKED_PAUSE) {
			again = all.last + ASKED_PAUSE;
			continue;
		}
		p->asked[i] = ask->asked;
		p->running &= ~bit;
		if (!wanted)
			continue;
		if (all.tried >= ASKED_MOST) {
			say_full(false);
			continue;
		}
		as->last = all.last = now;
		all.tried++;
		make(from, family, head, place, as);
	}
	return again;
}

/* What was asked for up to now is not for us. */
static void skip(const char *family, const struct trace_head *head, uint32_t place)
{
	struct process *p = has_asked(head) ? process_of(family, place) : NULL;

	for (unsigned i = 0; p && i < TRACE_ASKS; i++)
		p->asked[i] = head->ask[i].asked;
}

/* Is it the head of that place? */
static bool read_head(int meta, const struct trace_directory *directory, uint32_t place, struct trace_head *head)
{
	return whole_read(meta, head, sizeof(*head), place * directory->place_size) && head->process == place &&
	       head->place_size == directory->place_size;
}

/* All heads of the file, as the words of its directory name them. */
static uint64_t serve_all(int from, int meta, const char *family, uint64_t now)
{
	static struct trace_head head;
	uint64_t again = 0;

	if (!whole_read(meta, &head, sizeof(head), 0))
		return 0;
	const struct trace_directory directory = trace_directory_of(&head);
	const uint32_t places = head.places < TRACE_PLACE_MAX ? head.places : TRACE_PLACE_MAX;
	if (!trace_directory_is_sane(&directory))
		return 0;
	for (uint32_t at = 0, n, pieces = 0; at < places && pieces < PIECES; at += n, pieces++) {
		n = trace_words_together(&directory, at, places - at);
		/* What somebody else made may be a hole of any size. */
		const uint64_t begin = trace_word_at(&directory, at);
		const off_t data = lseek(meta, (off_t)begin, SEEK_DATA);
		if (data < 0)
			break;
		const uint64_t hole = ((uint64_t)data - begin) / sizeof(*word);
		if (hole) {
			n = hole < n ? (uint32_t)hole : n;
			continue;
		}
		n = n < WORDS ? n : WORDS;
		if (!whole_read(meta, word, n * sizeof(*word), begin))
			break;
		for (uint32_t i = 0; i < n; i++) {
			if (word[i] >> 60 != TRACE_PLACE_HEAD || !read_head(meta, &directory, at + i, &head))
				continue;
			if (all.skips) {
				skip(family, &head, at + i);
				continue;
			}
			running_add(family, &head, at + i);
			uint64_t later = serve(from, family, &head, at + i, now);
			again = later ? later : again;
		}
	}
	return again;
}

uint64_t asked_look(const char *family, uint64_t now)
{
	int folder = open_folder(family);
	long meta = folder < 0 ? -1 : output_open_file(folder, "meta", O_RDONLY | O_NONBLOCK);
	uint64_t again = meta < 0 ? 0 : serve_all(folder, (int)meta, family, now);

	if (meta >= 0)
		close((int)meta);
	if (folder >= 0)
		close(folder);
	return again;
}

void asked_skip(const char *family)
{
	all.skips = true;
	asked_look(family, 0);
	all.skips = false;
}

static bool (*tell)(const char *family);

static void note(const char *family, uint32_t place, uint32_t numbers)
{
	struct process *p = process_of(family, place);

	if (p)
		p->running |= numbers;
	else
		say_full(true);
	/* Where it is told in vain, the next one of the family tells of both. */
	tell(family);
}

uint64_t asked_watch(uint64_t now, bool (*wanted)(const char *family))
{
	tell = wanted;
	return running_look(now, note);
}
