/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/family.h"

#include <ctype.h> /* isdigit */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/search.h"
#include "tool/read/damage/memory.h"

#define RECORDS_MAX (1u << 24) /* a number above is damage, not a thread record */
#define BLOCK	    4096       /* words of the directory that are read at once */

void read_family_damage(const struct read_family *family, const char *file, uint64_t offset, const char *what)
{
	read_damage_add(family->damage, family->path, file, offset, what);
}

void read_family_file_name(char name[READ_FAMILY_NAME_SIZE], char kind, uint32_t number, uint32_t process)
{
	if (process)
		snprintf(name, READ_FAMILY_NAME_SIZE, "%c%" PRIu32 ".%" PRIu32, kind, number, process);
	else
		snprintf(name, READ_FAMILY_NAME_SIZE, "%c%" PRIu32, kind, number);
}

/* ---- lists ---- */

static void add(const struct read_family *family, struct read_family_list *list, const struct read_family_place *place)
{
	if (list->count == list->room) {
		uint32_t room = list->room ? list->room * 2 : 16;
		if (!read_memory_resize(family->damage, &list->place, room, sizeof(*list->place)))
			return;
		list->room = room;
	}
	list->place[list->count++] = *place;
}

static int compare(const void *a, const void *b)
{
	const struct read_family_place *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void sort(struct read_family_list *list)
{
	if (list->count)
		qsort(list->place, list->count, sizeof(*list->place), compare);
}

/* Index of the first entry that is not before `place`. */
static uint32_t find(const struct read_family_list *list, const struct read_family_place *place)
{
	return SEARCH(i, 0, list->count, compare(&list->place[i], place) < 0);
}

static const struct read_family_place *range(const struct read_family *family, const struct read_family_place *first,
	const struct read_family_place *last, uint32_t *count)
{
	const struct read_family_list *list = first->what == READ_FAMILY_FILE ? &family->files : &family->places;
	uint32_t from = find(list, first), to = find(list, last);

	*count = to - from;
	return *count ? &list->place[from] : NULL;
}

const struct read_family_place *read_family_of_process(
	const struct read_family *family, uint32_t process, uint8_t what, uint32_t *count)
{
	return range(family, &(struct read_family_place){ process, 0, 0, what },
		&(struct read_family_place){ process, UINT32_MAX, UINT32_MAX, what }, count);
}

const struct read_family_place *read_family_of_record(
	const struct read_family *family, uint32_t process, uint8_t what, uint32_t number, uint32_t *count)
{
	return range(family, &(struct read_family_place){ process, number, 0, what },
		&(struct read_family_place){ process, number, UINT32_MAX, what }, count);
}

/* ---- the directory ---- */

/* What is wrong with a word, or NULL. */
static const char *take_word(struct read_family *family, uint32_t place, uint64_t word)
{
	struct read_family_place entry = { .process = (uint32_t)(word >> 32) & (TRACE_PLACE_MAX - 1),
		.number = (uint32_t)word,
		.place = place,
		.what = (uint8_t)(word >> 60) };
	bool of_record = entry.what == TRACE_PLACE_CHUNK || entry.what == TRACE_PLACE_COUNTS;

	/* The place has nothing to read, or is a later version's. */
	if (!entry.what || entry.what >= TRACE_PLACE_DIRECTORY)
		return NULL;
	/* A chunk's place may have been another process's before; the others were new when they were taken. */
	if (entry.what == TRACE_PLACE_HEAD    ? entry.process != place
		: entry.what == TRACE_PLACE_CHUNK ? entry.process == place
						  : entry.process >= place)
		return "a word of the directory names an impossible process";
	if (of_record && entry.number >= RECORDS_MAX)
		return "a word of the directory names an impossible thread";
	add(family, &family->places, &entry);
	return NULL;
}

static void drop_from(struct read_family *family, uint32_t place)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < family->places.count; i++)
		if (family->places.place[i].place < place)
			family->places.place[kept++] = family->places.place[i];
	family->places.count = kept;
}

/* How many places there are now, of those that the directory has words for. */
static uint32_t count_places(const struct read_family *family)
{
	uint64_t size = read_file_size(family->meta), most = (size + family->place_size - 1) / family->place_size;
	uint32_t places = 0;

	read_file_read(family->meta, &places, sizeof(places), offsetof(struct trace_head, places), NULL);
	if (places > family->head.places_max)
		places = family->head.places_max;
	return places < most ? places : (uint32_t)most;
}

/* The words of `count` places that lie side by side. Returns how many there were. */
static uint32_t read_together(struct read_family *family, uint32_t at, uint32_t count, uint32_t *first_zero, bool again)
{
	uint64_t word[BLOCK], offset = trace_word_at(&family->directory, at);
	uint64_t data = read_file_data(family->meta, offset);

	if (data == UINT64_MAX || data - offset >= 8) {
		*first_zero = at < *first_zero ? at : *first_zero;
		return data == UINT64_MAX || (data - offset) / 8 >= count ? count : (uint32_t)((data - offset) / 8);
	}
	count = count < BLOCK ? count : BLOCK;
	uint32_t have = (uint32_t)(read_file_read(family->meta, word, count * 8ul, offset, NULL) / 8);
	for (uint32_t i = 0; i < have; i++) {
		const char *wrong = word[i] ? take_word(family, at + i, word[i]) : NULL;

		/* One that was given back may be taken at any moment. */
		if ((!word[i] || word[i] >> 60 == TRACE_PLACE_FREE) && at + i < *first_zero)
			*first_zero = at + i;
		if (wrong && !(again && at + i < family->end))
			read_family_damage(family, "meta", offset + 8ull * i, wrong);
	}
	return have;
}

/* Reads words from the first on that was not in use. Entries for words after it are dropped and read again. */
static void read_words(struct read_family *family, uint32_t end, bool again)
{
	uint32_t first_zero = end, have;

	drop_from(family, family->first_zero);
	for (uint32_t at = family->first_zero; at < end; at += have) {
		have = read_together(
			family, at, trace_words_together(&family->directory, at, end - at), &first_zero, again);
		if (!have)
			break;
	}
	family->first_zero = first_zero;
	family->end = end;
	sort(&family->places);
}

/* Looks for the chunk, or counters, beside a head. Returns whether they were added. */
static bool look_beside(struct read_family *family, uint32_t place, bool again)
{
	struct {
		union {
			struct trace_chunk head;
			struct trace_counts counts;
		};
		uint64_t word;
	} read = { .word = 0 };
	const uint64_t at = place * family->place_size + family->place_size / 2;

	size_t have = read_file_read(family->meta, &read, sizeof(read), at, NULL);
	bool is_chunk = read.head.magic == TRACE_CHUNK_MAGIC, is_counts = read.head.magic == TRACE_COUNTS_MAGIC;

	/* Where it is begun for the first time there is no word, and it will be counted. Few counters may be all. */
	if (have < (is_counts ? sizeof(read.counts) : sizeof(read.head)) || !read.head.magic) {
		family->beside_begins |= read.word != 0;
		return false;
	}
	uint32_t process = is_counts ? read.counts.process : read.head.process;
	uint32_t thread = is_counts ? read.counts.thread : read.head.thread;
	if ((is_chunk || is_counts) && process == place && thread < RECORDS_MAX) {
		add(family, &family->places,
			&(struct read_family_place){ place, thread, place,
				is_counts ? TRACE_PLACE_COUNTS : TRACE_PLACE_CHUNK });
		return true;
	}
	if (!again)
		read_family_damage(family, "meta", at,
			is_chunk    ? "the chunk is another thread's"
			: is_counts ? "the counters are another thread's"
				    : "there is no chunk where one should begin");
	return false;
}

/* Is what lies beside the i-th place of the list known? It is a later one of the same process. */
static bool has_beside(const struct read_family *family, uint32_t i, uint32_t count)
{
	const struct read_family_place *head = &family->places.place[i];

	for (const struct read_family_place *at = head + 1, *end = head + (count - i);
		at < end && at->process == head->process; at++)
		if (at->place == head->place)
			return true;
	return false;
}

/* The same for all heads that have none yet in the list. */
static void look_beside_heads(struct read_family *family, bool again)
{
	uint32_t count = family->places.count;
	bool added = false;

	family->beside_begins = false;
	for (uint32_t i = 0; i < count; i++) {
		const struct read_family_place *place = &family->places.place[i];
		if (place->what != TRACE_PLACE_HEAD || has_beside(family, i, count))
			continue;
		added |= look_beside(family, place->place, again);
	}
	if (added)
		sort(&family->places);
}

bool read_family_has(const struct read_family *family, uint32_t place, uint8_t what, uint32_t process, uint32_t number)
{
	uint64_t word = 0;

	read_file_read(family->meta, &word, sizeof(word), trace_word_at(&family->directory, place), NULL);
	return word == TRACE_PLACE(what, process, number) || (what == TRACE_PLACE_CHUNK && process == place &&
		word >> 60 == TRACE_PLACE_HEAD);
}

/* Was a place given back since the last look? Then any word may have changed. */
static bool has_given(struct read_family *family)
{
	uint64_t given = family->given;

	read_file_read(family->meta, &given, sizeof(given), offsetof(struct trace_head, given), NULL);
	bool has = given != family->given;
	family->given = given;
	return has;
}

/* Was a chunk begun beside a head since the last look? */
static bool has_begun_beside(struct read_family *family)
{
	uint32_t before = family->beside;

	read_file_read(family->meta, &family->beside, sizeof(before), offsetof(struct trace_head, beside), NULL);
	return family->beside != before;
}

void read_family_look(struct read_family *family)
{
	bool beside;
	uint32_t end;

	if (!family->place_size)
		return;
	if (has_given(family))
		family->first_zero = 0;
	/* Before the words: a chunk whose head's word is not there yet is found when the word is. */
	beside = has_begun_beside(family);
	end = count_places(family);
	if (end > family->end || family->first_zero < family->end) {
		read_words(family, end > family->end ? end : family->end, true);
		beside = true;
	}
	if (beside || family->beside_begins)
		look_beside_heads(family, true);
}

/*
 * What the file's head says is its size; 0: nothing. A process makes the file longer, then says so; `xaudit record` the
 * other way round.
 */
static uint64_t told_size(const struct read_family *family)
{
	uint64_t size = 0;
	uint32_t end = 0;

	read_file_read(family->meta, &size, sizeof(size), offsetof(struct trace_head, size), NULL);
	if (size != TRACE_SIZE_PLACES)
		return size;
	read_file_read(family->meta, &end, sizeof(end), offsetof(struct trace_head, places_end), NULL);
	return end * family->place_size;
}

/* Whole places may be missing at the end, which nothing else would tell. */
static void check_size(const struct read_family *family)
{
	uint64_t told, size;

	do {
		told = told_size(family);
		size = read_file_size(family->meta);
		/* If it was trimmed meanwhile, it tells another size now. */
	} while (size < told && told_size(family) != told);
	if (size && size < told)
		read_family_damage(family, "meta", size, "the file is cut off");
}

/* Finds the process that a place belongs to, unless it is a process's own. */
static void check_owners(const struct read_family *family)
{
	for (uint32_t i = 0, count; i < family->places.count; i++) {
		const struct read_family_place *place = &family->places.place[i];

		if (i && place[-1].process == place->process)
			continue;
		if (place->process && !read_family_of_process(family, place->process, TRACE_PLACE_HEAD, &count))
			read_family_damage(family, "meta", trace_word_at(&family->directory, place->place),
				"a word of the directory names a process that is not there");
	}
}

static const char *check_family(const struct trace_head *head)
{
	const struct trace_directory directory = trace_directory_of(head);

	if (head->place_size < 2 * TRACE_CHUNK_MIN || head->place_size > 2 * TRACE_CHUNK_MAX ||
		head->place_size & (head->place_size - 1))
		return "the head has an impossible size of places";
	if (!trace_directory_is_sane(&directory) || head->directory < TRACE_HEAD_SIZE || !head->places ||
		head->places_max > TRACE_PLACE_MAX)
		return "the head has no directory of places";
	return NULL;
}

/* ---- files ---- */

/* Takes note of a file t<n>[.<p>]. */
static void note_file(struct read_family *family, const char *name)
{
	struct read_family_place file = { .what = READ_FAMILY_FILE };
	unsigned long number, process = 0;
	char *end;

	if (*name != 't' || !isdigit((unsigned char)name[1]))
		return;
	number = strtoul(name + 1, &end, 10);
	if (*end == '.' && isdigit((unsigned char)end[1]))
		process = strtoul(end + 1, &end, 10);
	if (*end || number >= RECORDS_MAX || process >= TRACE_PLACE_MAX)
		return;
	file.number = (uint32_t)number;
	file.process = (uint32_t)process;
	add(family, &family->files, &file);
}

struct read_file *read_family_open_file(
	const struct read_family *family, const char *name, struct stat *st, const char **why)
{
	struct read_file *file = read_file_open(family->at, family->under, name, st, why);

	if (!file && errno == ENOMEM) {
		family->damage->no_memory = true;
		*why = NULL;
	}
	return file;
}

bool read_family_list_files(struct read_family *family)
{
	struct read_list *list = read_files_list(family->at, family->under);
	const char *name;

	if (!list) {
		family->damage->no_memory |= errno == ENOMEM;
		return false;
	}
	family->files.count = 0;
	while ((name = read_list_next(list)))
		note_file(family, name);
	read_list_close(list);
	sort(&family->files);
	family->files_listed = true;
	return true;
}

/* ---- opening ---- */

static bool is_begun(const struct trace_head *head)
{
	static const uint8_t nothing[sizeof(head->magic)];

	return head->used || memcmp(head->magic, nothing, sizeof(nothing));
}

struct read_family *read_family_open(
	struct read_files *at, struct read_damage *damage, const char *dir, const char *name, bool itself)
{
	struct read_family *family = read_memory_zeroed(damage, 1, sizeof(*family));
	const char *wrong;

	if (!family)
		return NULL;
	family->at = at;
	family->damage = damage;
	family->name = read_memory_text(damage, name, strlen(name));
	family->under = itself ? "." : family->name;
	family->path = read_memory_format(damage, "%s/%s", dir, name);
	if (damage->no_memory)
		goto bad;
	family->meta = read_family_open_file(family, "meta", NULL, &wrong);
	if (damage->no_memory)
		goto bad;
	if (!family->meta) {
		/* Killed before it began, or about to begin. */
		if (!read_family_list_files(family))
			read_family_damage(family, NULL, READ_DAMAGE_NOWHERE, strerror(errno));
		else if (wrong || family->files.count)
			read_family_damage(family, "meta", READ_DAMAGE_NOWHERE, wrong ? wrong : strerror(ENOENT));
		goto bad;
	}
	size_t have = read_file_read(family->meta, &family->head, sizeof(family->head), 0, NULL);
	if (have != sizeof(family->head) || !is_begun(&family->head)) {
		/*
		 * It was killed, too, or is about to begin; or the head is wrong, which opening the process will tell.
		 */
		if (read_family_list_files(family) && !family->files.count && (!have || have == sizeof(family->head)))
			goto bad;
		return family;
	}
	/* If it is of another version, opening the process tells that. */
	if (!memcmp(family->head.magic, TRACE_MAGIC, sizeof(family->head.magic)) &&
		family->head.version == TRACE_VERSION) {
		wrong = check_family(&family->head);
		if (wrong) {
			read_family_damage(family, "meta", 0, wrong);
			goto bad;
		}
		family->place_size = family->head.place_size;
		family->directory = trace_directory_of(&family->head);
		family->given = family->head.given;
		family->beside = family->head.beside;
		read_words(family, count_places(family), false);
		look_beside_heads(family, false);
		check_owners(family);
		check_size(family);
	}
	return family;
bad:
	read_family_close(family);
	return NULL;
}

void read_family_close(struct read_family *family)
{
	read_file_close(family->meta);
	free(family->process);
	free(family->base);
	free(family->places.place);
	free(family->files.place);
	free(family->name);
	free(family->path);
	free(family);
}
