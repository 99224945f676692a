/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/drain/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "format/places.h"
#include "format/stream.h"
#include "format/trace.h"
#include "runtime/files/output.h"
#include "tool/base/own_file.h"
#include "tool/base/whole.h"
#include "tool/record/drain/copy.h"
#include "tool/record/drain/heartbeat.h"
#include "tool/record/drain/marks.h"
#include "tool/record/drain/reclaim.h"

#define US 1000ull
#define MS (1000 * US)
#define S  (1000 * MS)

/* Time between two looks at a family: */
#define BUSY	   (200 * US) /* while there is something to do; then slower and slower */
#define IDLE_DROP  (1 * MS)   /* up to this, if events are lost when it takes long; */
#define IDLE_WAIT  (5 * MS)   /* else, */
#define IDLE_LONG  (20 * MS)  /* and where nothing was for LONG; */
#define IDLE_EACH  (50 * US)  /* and of many families, this times their number */
#define LONG	   (10 * S)
#define SEEN	   (300 * MS) /* after so long without work, and then as often, see if processes live */
#define ENDED	   (3 * S)    /* the interval for a family without processes, while there is room */
#define UNKNOWN	   (100 * MS) /* while there is no head yet; tried for GIVE_UP */
#define GIVE_UP	   (60 * S)
#define BEAT	   (100 * MS)
#define RETRY	   (1 * S)    /* after a file could not be written */

#define FILES	     128
#define FILES_MAKE   1000000 /* of all families */
#define ENTRIES	     4096	/* of struct trace_handover, read at a time */
#define ENTRIES_TURN (16 * ENTRIES) /* of a family, before others have their turn */
#define PLACES_FEW   (1u << 16) /* drain_tell() */
#define AHEAD	     65536 /* chunks by which a number may lie after the end of t<n> */
#define META	     UINT32_MAX /* as a thread's number: no t<n>, but meta */

struct family {
	char name[32];
	uint32_t number; /* unique: the key of its files. 0: the entry is free */
	bool ended;	 /* none of its processes can be seen: in a namespace of their own they may still live */
	bool known;	 /* its head was read, and what follows: */
	struct output_place folder, meta;
	uint64_t place_size;
	struct trace_directory directory;
	struct drain_reclaim reclaim;
	uint32_t overflow;
	bool pending;	 /* the last look did not come to the end of: */
	uint32_t resume; /* places */
	uint64_t handed; /* when it was looked at last */
	uint32_t asked;	 /* snapshots, then */
	uint64_t due, interval;
	uint64_t active; /* when something was to be done last, or it was found */
	uint64_t failed; /* when a file could not be written; 0: that is long ago */
	uint64_t beat, looked; /* when its processes were looked at last */
};

static struct family family[DRAIN_FAMILIES];

static struct file {
	uint32_t family, process, thread; /* family 0: free */
	int fd;
	uint64_t used;
	uint64_t end; /* of t<n>: where its chunks end */
} file[FILES];

static struct {
	int folder;
	unsigned families, count; /* count: entries of family[] that were ever used */
	uint32_t numbers;
	uint64_t uses, made, chunks;
	void (*ended)(const char *name);
	bool (*asked)(const char *name);
	uint64_t most; /* bytes of a chunk */
	bool (*stops)(void);
} drain;

static uint64_t entry[ENTRIES * 2];

/* ---- files ---- */

static void forget(struct file *f)
{
	close(f->fd);
	f->family = 0;
}

static void forget_all(uint32_t number)
{
	for (int i = 0; i < FILES; i++)
		if (file[i].family && (!number || file[i].family == number))
			forget(&file[i]);
}

/* All but the one that was used last. */
static void forget_others(void)
{
	for (int i = 0; i < FILES; i++)
		if (file[i].family && file[i].used != drain.uses)
			forget(&file[i]);
}

/* An entry that is free, or the one whose use was longest ago. */
static struct file *free_file(void)
{
	struct file *oldest = &file[0];

	for (int i = 0; i < FILES; i++) {
		if (!file[i].family)
			return &file[i];
		if (file[i].used < oldest->used)
			oldest = &file[i];
	}
	forget(oldest);
	return oldest;
}

/* Is that the file of the place? The first time, notes which file it is. */
static bool is_place(struct output_place *place, const struct stat *st)
{
	if (!place->inode)
		*place = (struct output_place){ st->st_dev, st->st_ino };
	return place->device == st->st_dev && place->inode == st->st_ino;
}

/* Opens the family's meta, or t<n>, which is made if need be. Returns a descriptor, or -errno. */
static long open_one(struct family *fam, uint32_t process, uint32_t thread, struct stat *st)
{
	struct output_place unused;
	char name[32] = "meta";
	long folder = output_open(drain.folder, fam->name, &unused), fd;

	if (folder < 0)
		return folder == OUTPUT_FOREIGN ? -EPERM : folder;
	if (thread != META && process)
		snprintf(name, sizeof(name), "t%" PRIu32 ".%" PRIu32, thread, process);
	else if (thread != META)
		snprintf(name, sizeof(name), "t%" PRIu32, thread);
	if (fstat((int)folder, st) < 0 || st->st_uid != geteuid() || !is_place(&fam->folder, st)) {
		fd = -ESTALE;
	} else {
		fd = output_open_file((int)folder, name, O_RDWR | O_NONBLOCK);
		if (fd == -ENOENT && thread != META) {
			fd = drain.made < FILES_MAKE ? output_make_file((int)folder, name) : -EDQUOT;
			drain.made += fd >= 0;
			/* The traced thread itself made it first. */
			if (fd == -EEXIST)
				fd = output_open_file((int)folder, name, O_RDWR | O_NONBLOCK);
		}
	}
	close((int)folder);
	fd = own_file(fd, st);
	if (fd >= 0 && thread == META && !is_place(&fam->meta, st)) {
		close((int)fd);
		fd = -ESTALE;
	}
	return fd;
}

/*
 * Like open_one(), but the file is kept open for the next time; *to stays until the call after the next one. Returns 0
 * or -errno.
 */
static long open_file(struct file **to, struct family *fam, uint32_t process, uint32_t thread)
{
	struct stat st;

	for (int i = 0; i < FILES; i++)
		if (file[i].family == fam->number && file[i].thread == thread && file[i].process == process) {
			file[i].used = ++drain.uses;
			*to = &file[i];
			return 0;
		}
	struct file *f = free_file();
	long fd = open_one(fam, process, thread, &st);
	if (fd == -EMFILE || fd == -ENFILE) {
		forget_others();
		drain_heartbeat_remove(0);
		fd = open_one(fam, process, thread, &st);
	}
	if (fd < 0)
		return fd;
	*f = (struct file){ fam->number, process, thread, (int)fd, ++drain.uses, (uint64_t)st.st_size };
	*to = f;
	return 0;
}

/* ---- one chunk ---- */

/* Is that chunk published? It was a moment ago. */
static bool is_handed(const struct family *fam, int meta, uint32_t place, uint64_t full)
{
	uint64_t now;

	return whole_read(meta, &now, sizeof(now),
		       trace_handover_at(&fam->directory, place) + offsetof(struct trace_handover, full)) &&
	       now == full;
}

/* As drain_write(). */
static long copy_chunk(struct family *fam, uint32_t place, uint64_t full)
{
	const uint64_t size = fam->place_size / 2;
	struct drain_way way = { .at = place * fam->place_size + size };
	struct file *meta, *to;
	struct stat st;
	long r = open_file(&meta, fam, 0, META);

	if (r)
		return r;
	if (!whole_read(meta->fd, &way.head, sizeof(way.head), way.at))
		return -EINVAL;
	if (way.head.magic != TRACE_CHUNK_MAGIC || way.head.seq != full - 1)
		return DRAIN_OVER;
	if (!drain_is_sane(&way.head, size) || drain_has_hole(meta->fd, way.at, way.at + way.head.used))
		return -EINVAL;
	/* If its thread took it back meanwhile, the number that was read may be the one to which it writes itself. */
	if (!is_handed(fam, meta->fd, place, full))
		return DRAIN_OVER;
	if ((r = open_file(&to, fam, way.head.process, way.head.thread)))
		return r;
	const uint64_t number = way.head.copied - 1, ahead = AHEAD * (size / STREAM_UNIT);
	/* Its thread may have written many itself meanwhile. */
	if (number > to->end / STREAM_UNIT + ahead && !fstat(to->fd, &st))
		to->end = (uint64_t)st.st_size > to->end ? (uint64_t)st.st_size : to->end;
	if (number > to->end / STREAM_UNIT + ahead)
		return -EINVAL;
	way.meta = meta->fd;
	way.to = to->fd;
	way.behind = stream_at(way.head.copied);
	if ((r = drain_write(&way)))
		return r;
	if (to->end < way.behind + size)
		to->end = way.behind + size;
	drain.chunks++;
	return 0;
}

/* ---- one family ---- */

/* Reads what does not change, once it is there. Returns whether it is. */
static bool learn(struct family *fam)
{
	struct file *meta;
	struct trace_head head;
	uint64_t word;

	if (open_file(&meta, fam, 0, META) || !whole_read(meta->fd, &head, sizeof(head), 0) ||
		memcmp(head.magic, TRACE_MAGIC, sizeof(head.magic)) || head.version != TRACE_VERSION)
		return false;
	const struct trace_directory directory = trace_directory_of(&head);
	if (!trace_directory_is_sane(&directory) || !directory.handovers || head.place_size > 2 * drain.most)
		return false;
	/* Written last, when all of the head is there. */
	if (!whole_read(meta->fd, &word, sizeof(word), trace_word_at(&directory, 0)) || !word)
		return false;
	fam->place_size = head.place_size;
	fam->directory = directory;
	fam->reclaim.likely = head.places_likely;
	fam->known = true;
	return true;
}

/* Tells the family that chunks are taken; now 0: not any more. */
static void beat(struct family *fam, uint64_t now)
{
	struct file *meta;

	fam->beat = now;
	if (!now)
		drain_heartbeat_remove(fam->number);
	if (open_file(&meta, fam, 0, META))
		return;
	whole_write(meta->fd, &now, sizeof(now), offsetof(struct trace_head, drain_beat));
	if (now && fam->overflow == TRACE_OVERFLOW_DROP)
		drain_heartbeat_add(fam->number, meta->fd);
}

/* Has a process asked for a snapshot? Then whoever makes them is told. */
static void look_for_asked(struct family *fam)
{
	struct file *meta;
	uint32_t asked;

	/* One that began a moment before all ends is not known yet. */
	if (!drain.asked || (!fam->known && !learn(fam)) || open_file(&meta, fam, 0, META) ||
		!whole_read(meta->fd, &asked, sizeof(asked), offsetof(struct trace_head, asked)))
		return;
	if (asked != fam->asked && drain.asked(fam->name))
		fam->asked = asked;
}

static void remove_family(struct family *fam)
{
	look_for_asked(fam);
	if (fam->beat)
		beat(fam, 0);
	forget_all(fam->number);
	fam->number = 0;
	drain.families -= !fam->ended;
}

/* A file can't be written: its thread will fail too if it tries itself, and say so. So no thread shall wait for us. */
static void note_failure(struct family *fam, uint64_t now)
{
	fam->failed = now;
	beat(fam, 0);
}

/* Copies the chunk that is published at `place`. Returns 0 or -errno of a file that can't be written. */
static long look_at(struct family *fam, uint32_t place, uint64_t full)
{
	long r = copy_chunk(fam, place, full);
	struct file *meta;

	/* Not there any more: its thread has it, and may hand it over again, with the same word. */
	if (r == -EINVAL || r == DRAIN_OVER)
		return 0;
	if (r)
		return r;
	if ((r = open_file(&meta, fam, 0, META)))
		return r;
	return -whole_write(meta->fd, &full, sizeof(full),
		trace_handover_at(&fam->directory, place) + offsetof(struct trace_handover, drained));
}

/* Looks for published chunks, of `places` places, from where it ended last. Returns their number. */
static unsigned scan(struct family *fam, uint32_t places, uint64_t now)
{
	const uint64_t each = sizeof(struct trace_handover);
	uint32_t start = fam->resume < places ? fam->resume : 0;
	unsigned found = 0;
	struct file *meta;

	fam->pending = true;
	for (fam->resume = start; fam->resume < places && fam->resume - start < ENTRIES_TURN;) {
		uint32_t first = fam->resume, count = trace_words_together(&fam->directory, first, places - first);
		count = count < ENTRIES ? count : ENTRIES;
		if (open_file(&meta, fam, 0, META))
			return found;
		ssize_t n = pread(meta->fd, entry, count * each, (off_t)trace_handover_at(&fam->directory, first));
		uint32_t got = n > 0 ? (uint32_t)((uint64_t)n / each) : 0;
		for (uint32_t i = 0; i < got; i++) {
			uint64_t full = entry[2 * i];
			if (!full || full == entry[2 * i + 1])
				continue;
			fam->resume = first + i;
			if (found++ == DRAIN_CHUNKS || (found - 1) * (fam->place_size / 2) >= DRAIN_BYTES ||
				(drain.stops && drain.stops()))
				return found;
			if (look_at(fam, first + i, full)) {
				note_failure(fam, now);
				return found;
			}
		}
		/* If the file has been cut off there is nothing more. */
		fam->resume = got < count ? places : first + count;
	}
	if (fam->resume >= places) {
		fam->resume = 0;
		fam->pending = start != 0;
	}
	return found;
}

/* ---- giving places back ---- */

static bool write_given(void *family, uint32_t place, uint64_t full)
{
	return !look_at(family, place, full);
}

static uint64_t reach_of(void *family, uint32_t process, uint32_t thread)
{
	struct file *to;
	struct stat st;

	if (thread >= DRAIN_THREADS || open_file(&to, family, process, thread) || fstat(to->fd, &st))
		return UINT64_MAX;
	return stream_whole((uint64_t)st.st_size);
}

static bool has_chunk(void *family, const struct trace_chunk *chunk)
{
	struct trace_chunk copy;
	struct file *to;

	return chunk->copied - 1 < UINT32_MAX && chunk->thread < DRAIN_THREADS &&
	       !open_file(&to, family, chunk->process, chunk->thread) &&
	       whole_read(to->fd, &copy, sizeof(copy), stream_at(chunk->copied)) &&
	       copy.magic == TRACE_CHUNK_MAGIC && copy.seq == chunk->seq && copy.used == chunk->used &&
	       copy.process == chunk->process && copy.thread == chunk->thread;
}

static void give_back(struct family *fam, const struct trace_head *head, uint64_t now)
{
	struct drain_reclaim_way way = { .state = &fam->reclaim, .place_size = fam->place_size,
		.directory = fam->directory, .family = fam, .stops = drain.stops,
		.write = write_given, .reach = reach_of, .has = has_chunk };
	struct file *meta;

	/* A descriptor of its own: files that are opened meanwhile may take the other one's place. */
	if (open_file(&meta, fam, 0, META) || (way.meta = fcntl(meta->fd, F_DUPFD_CLOEXEC, 0)) < 0)
		return;
	drain_reclaim(&way, head, now);
	close(way.meta);
}

static uint64_t longest(const struct family *fam, uint64_t now)
{
	uint64_t most = fam->overflow == TRACE_OVERFLOW_DROP ? IDLE_DROP
			: now - fam->active > LONG	     ? IDLE_LONG
							     : IDLE_WAIT;
	uint64_t many = drain.families * IDLE_EACH;

	return most > many ? most : many;
}

/* Sets when to look next; something: there was work this time. */
static void set_due(struct family *fam, uint64_t now, bool something, uint64_t most)
{
	fam->interval = something || !fam->interval ? BUSY : 2 * fam->interval;
	fam->interval = fam->interval < most ? fam->interval : most;
	fam->due = now + fam->interval;
	if (something)
		fam->active = now;
}

static void visit(struct family *fam, uint64_t now)
{
	struct trace_head head;
	struct file *meta;

	if (!fam->known && !learn(fam)) {
		if (now - fam->active > GIVE_UP)
			remove_family(fam);
		else
			set_due(fam, now, false, UNKNOWN);
		return;
	}
	const size_t from = offsetof(struct trace_head, places_max), to = offsetof(struct trace_head, free);
	long r = open_file(&meta, fam, 0, META);
	if (r || !whole_read(meta->fd, (char *)&head + from, to - from, from)) {
		/* The file is gone, or is another one now; or no descriptor is free. */
		if (r != -EMFILE && r != -ENFILE)
			remove_family(fam);
		else
			set_due(fam, now, false, UNKNOWN);
		return;
	}
	if (fam->failed && now - fam->failed < RETRY) {
		set_due(fam, now, false, UNKNOWN);
		return;
	}
	fam->failed = 0;
	look_for_asked(fam);
	/* The head's `overflow` is set a little after the head is made, but before any chunk is published. */
	bool told = fam->overflow != head.overflow;
	const bool before = fam->ended;
	fam->overflow = head.overflow;
	if (!fam->ended && (!fam->beat || told || now - fam->beat >= BEAT))
		beat(fam, now);
	unsigned found = 0;
	if (head.handed != fam->handed || fam->pending) {
		fam->handed = head.handed;
		/* Before anything is written: threads that take a chunk back look at it (runtime/record/chunk.c). */
		if (!fam->beat)
			beat(fam, now);
		found = scan(fam, head.places < TRACE_PLACE_MAX ? head.places : TRACE_PLACE_MAX, now);
	}
	if (!fam->ended && !fam->failed && drain_reclaim_is_due(&fam->reclaim, &head, now))
		give_back(fam, &head, now);
	if (found && fam->ended) {
		fam->ended = false;
		drain.families++;
	}
	if (!found && !fam->ended && now - fam->active > SEEN && now - fam->looked > SEEN) {
		fam->looked = now;
		fam->ended = open_file(&meta, fam, 0, META) || !drain_marks_is_alive(meta->fd);
		drain.families -= fam->ended;
	}
	set_due(fam, now, found != 0, longest(fam, now));
	if (fam->ended) {
		if (fam->beat)
			beat(fam, 0);
		forget_all(fam->number);
		fam->due = now + ENDED;
		if (!before && drain.ended && head.places <= PLACES_FEW)
			drain.ended(fam->name);
	}
}

/* ---- all of them ---- */

void drain_begin(int folder)
{
	drain_end();
	drain.folder = folder;
	drain.families = drain.count = 0;
	drain.made = drain.chunks = 0;
	drain.most = TRACE_CHUNK_MAX;
	drain.stops = NULL;
}

void drain_bound(uint64_t most, bool (*stops)(void))
{
	drain.most = most;
	drain.stops = stops;
}

void drain_add(const char *name, uint64_t now)
{
	struct family *to = NULL, *oldest = &family[0];

	if (strlen(name) >= sizeof(to->name))
		return;
	for (unsigned i = 0; i < drain.count; i++) {
		if (family[i].number && !strcmp(family[i].name, name))
			return;
		if (!family[i].number && !to)
			to = &family[i];
		if (family[i].active < oldest->active)
			oldest = &family[i];
	}
	if (!to && drain.count < DRAIN_FAMILIES)
		to = &family[drain.count++];
	if (!to) {
		remove_family(oldest);
		to = oldest;
	}
	*to = (struct family){ .number = ++drain.numbers, .due = now, .active = now, .looked = now };
	strcpy(to->name, name);
	drain.families++;
}

void drain_tell(void (*ended)(const char *name))
{
	drain.ended = ended;
}

void drain_tell_asked(bool (*asked)(const char *name))
{
	drain.asked = asked;
}

void drain_remove(const char *name)
{
	for (unsigned i = 0; i < drain.count; i++)
		if (family[i].number && !strcmp(family[i].name, name))
			remove_family(&family[i]);
}

uint64_t drain_run(uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < drain.count && !(drain.stops && drain.stops()); i++) {
		if (family[i].number && family[i].due <= now)
			visit(&family[i], now);
		if (family[i].number && family[i].due < next)
			next = family[i].due;
	}
	return next;
}

void drain_end(void)
{
	for (unsigned i = 0; i < drain.count; i++) {
		if (family[i].number)
			look_for_asked(&family[i]);
		if (family[i].number && family[i].beat)
			beat(&family[i], 0);
	}
	forget_all(0);
	for (unsigned i = 0; i < drain.count; i++)
		family[i].number = 0;
	drain.families = drain.count = 0;
}

uint64_t drain_chunks(void)
{
	return drain.chunks;
}

unsigned drain_families(void)
{
	return drain.families;
}
