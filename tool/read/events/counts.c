/* SPDX-License-Identifier: MIT */
#include "tool/read/events/counts.h"

#include <string.h>
#include <sys/stat.h>

#include "tool/read/family.h"

static void damage_at(const struct read_counts *counts, uint64_t offset, const char *what)
{
	read_process_damage(counts->process, NULL, offset, what);
}

void read_counts_damage(const struct read_counts *counts, const char *what)
{
	damage_at(counts, counts->begin + counts->head.head_size + counts->id * sizeof(uint64_t), what);
}

static const char *check_head(const struct read_counts *counts)
{
	const struct trace_counts *head = &counts->head;

	if (head->magic != TRACE_COUNTS_MAGIC)
		return "there are no counters where they should begin";
	if (head->version != TRACE_VERSION)
		return "the counters have another version than this xaudit reads";
	if (head->head_size < sizeof(*head) || head->head_size % 8)
		return "the head has an impossible size";
	if (head->process != counts->process->place || head->thread != counts->number)
		return "the counters are another thread's";
	return NULL;
}

/*
 * Begins the run at `begin`, of at most `size` bytes; file: the size of the file. Returns whether it can be read. A run
 * that was made, but never begun, is no damage.
 */
static bool begin_run(struct read_counts *counts, uint64_t begin, uint64_t size, uint64_t file)
{
	static const struct trace_counts nothing;
	uint64_t room = file > begin ? file - begin : 0;
	const char *wrong = NULL;
	int error;

	counts->begin = begin;
	counts->at = counts->have = 0;
	memset(&counts->head, 0, sizeof(counts->head));
	size_t n = read_file_read(counts->file, &counts->head, sizeof(counts->head), begin, &error);
	bool begun = memcmp(&counts->head, &nothing, sizeof(nothing));
	if (error)
		wrong = strerror(error);
	else if (begun)
		wrong = n != sizeof(counts->head) ? "the file ends within its head" : check_head(counts);
	/*
	 * If the file ends within the places, zeros after the last counter were cut off, and places that held nothing
	 * else.
	 */
	bool cut = file <= begin || file - begin <= size;
	if (!wrong && begun &&
		(counts->head.size < counts->head.head_size || (counts->head.size > size && !cut))) {
		damage_at(counts, begin, "the counters have an impossible size");
	} else if (!wrong) {
		size = counts->head.size;
	}
	if (wrong)
		damage_at(counts, begin, wrong);
	if (wrong || !begun)
		return false;
	size = size < room ? size : room;
	uint64_t most = counts->head.head_size + (TRACE_ID_MASK + 1ull) * sizeof(uint64_t);
	counts->pos = begin + counts->head.head_size;
	counts->end = begin + (size < most ? size : most);
	return true;
}

/* Goes to the next run: the places after those of the present one. */
static bool next_run(struct read_counts *counts)
{
	struct read_process *process = counts->process;
	uint64_t place_size = process->family->place_size;
	uint32_t count;
	const struct read_family_place *place;

	place = read_family_of_record(process->family, process->place, TRACE_PLACE_COUNTS, counts->number, &count);
	for (uint32_t at = counts->place + counts->places, last; at < count; at += counts->places) {
		bool beside = place[at].place == process->place;
		for (last = at; !beside && last + 1 < count && place[last + 1].place == place[last].place + 1; last++)
			;
		uint64_t begin = read_family_half(&place[at], place_size), file = read_file_size(counts->file);
		uint64_t size = beside ? place_size / 2 : (last - at + 1ul) * place_size;
		/* Places after the end of the file, which were empty: `xaudit record` has cut it. */
		bool good = begin_run(counts, begin, begin + size < file ? size : UINT64_MAX, file);
		counts->place = at;
		counts->places = 1;
		if (!good)
			continue;
		uint64_t places = (counts->end - counts->begin + place_size - 1) / place_size;
		counts->places = places > 1 ? (uint32_t)places : 1;
		return true;
	}
	return false;
}

/* As many calls take years. Sums of them have room. */
#define MOST_CALLS (1ull << 56)

bool read_counts_open(struct read_counts *counts, struct read_process *process, unsigned number)
{
	uint64_t size = process->family->place_size;
	const struct read_family_place *place;
	uint32_t count;

	counts->process = process;
	counts->number = number;
	counts->place = counts->places = 0;
	counts->file = process->family->meta;
	counts->disk = 0;
	place = read_family_of_record(process->family, process->place, TRACE_PLACE_COUNTS, number, &count);
	for (uint32_t i = 0; i < count; i++)
		counts->disk += read_file_disk(
			counts->file, read_family_half(&place[i], size), (place[i].place + 1) * size);
	return next_run(counts);
}

/* Reads the next block that is not a hole. */
static bool fill(struct read_counts *counts)
{
	uint64_t head = counts->begin + counts->head.head_size;
	int error;

	if (counts->pos + sizeof(uint64_t) > counts->end)
		return false;
	uint64_t data = read_file_data(counts->file, counts->pos);
	if (data == UINT64_MAX)
		return false;
	if (data > counts->pos)
		counts->pos = head + (data - head) / 8 * 8;
	if (counts->pos + sizeof(uint64_t) > counts->end)
		return false;
	uint64_t want = counts->end - counts->pos;
	want = want < sizeof(counts->block) ? want / 8 * 8 : sizeof(counts->block);
	size_t n = read_file_read(counts->file, counts->block, want, counts->pos, &error);
	if (n < sizeof(uint64_t)) {
		damage_at(counts, counts->pos, error ? strerror(error) : "the file is cut off");
		return false;
	}
	counts->at = 0;
	counts->have = (unsigned)n / sizeof(uint64_t);
	counts->pos += counts->have * sizeof(uint64_t);
	return true;
}

bool read_counts_next(struct read_counts *counts)
{
	for (;;) {
		while (counts->at < counts->have) {
			uint64_t calls = counts->block[counts->at++];
			if (!calls)
				continue;
			uint64_t offset = counts->pos - (counts->have - counts->at + 1) * sizeof(uint64_t);
			if (calls > MOST_CALLS) {
				damage_at(counts, offset, "more calls than there can have been");
				continue;
			}
			counts->id = (uint32_t)((offset - counts->begin - counts->head.head_size) / sizeof(uint64_t));
			counts->calls = calls;
			return true;
		}
		while (!fill(counts))
			if (!next_run(counts))
				return false;
	}
}

void read_counts_close(struct read_counts *counts)
{
	counts->file = NULL;
}
