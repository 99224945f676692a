/* SPDX-License-Identifier: MIT */
#include "tool/trace_counts.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void damage_at(const struct counts *counts, uint64_t offset, const char *what)
{
	char name[16];

	snprintf(name, sizeof(name), "c%u", counts->number);
	damage_add(&counts->process->folder->damage, counts->process->path, name, offset, what);
}

void counts_damage(const struct counts *counts, const char *what)
{
	damage_at(counts, counts->head.head_size + counts->id * sizeof(uint64_t), what);
}

static const char *check_head(const struct trace_counts *head)
{
	if (head->magic != TRACE_COUNTS_MAGIC)
		return "this is not a file of counters";
	if (!TRACE_READS(head->version))
		return "the counters have another version than this xaudit reads";
	if (head->head_size < sizeof(*head) || head->head_size % 8)
		return "the head has an impossible size";
	return NULL;
}

bool counts_open(struct counts *counts, struct process *process, unsigned number)
{
	static const struct trace_counts nothing;
	const char *wrong = NULL;
	struct stat st;
	char name[16];
	int error;

	counts->process = process;
	counts->number = number;
	counts->at = counts->have = 0;
	snprintf(name, sizeof(name), "c%u", number);
	counts->file = file_open(process->folder->fd, process->name, name, &st, &wrong);
	if (!counts->file) {
		if (wrong)
			damage_at(counts, DAMAGE_NOWHERE, wrong);
		return false;
	}
	memset(&counts->head, 0, sizeof(counts->head));
	size_t n = file_read(counts->file, &counts->head, sizeof(counts->head), 0, &error);
	/* Made, and not begun: killed then, or it is now. */
	bool begun = memcmp(&counts->head, &nothing, sizeof(nothing));
	wrong = error ? strerror(error) :
		!begun ? NULL :
		n != sizeof(counts->head) ? "the file ends within its head" : check_head(&counts->head);
	if (!wrong && begun) {
		counts->disk = (uint64_t)st.st_blocks * 512;
		counts->pos = counts->head.head_size;
		counts->end = (uint64_t)st.st_size;
		uint64_t most = counts->pos + (TRACE_ID_MASK + 1ull) * sizeof(uint64_t);
		counts->end = counts->end < most ? counts->end : most;
		return true;
	}
	if (wrong)
		damage_at(counts, 0, wrong);
	file_close(counts->file);
	return false;
}

/* Reads the next block that is not a hole. */
static bool fill(struct counts *counts)
{
	uint64_t head = counts->head.head_size;
	int error;

	if (counts->pos + sizeof(uint64_t) > counts->end)
		return false;
	uint64_t data = file_data(counts->file, counts->pos);
	if (data == UINT64_MAX)
		return false;
	if (data > counts->pos)
		counts->pos = head + (data - head) / 8 * 8;
	if (counts->pos + sizeof(uint64_t) > counts->end)
		return false;
	uint64_t want = counts->end - counts->pos;
	want = want < sizeof(counts->block) ? want / 8 * 8 : sizeof(counts->block);
	size_t n = file_read(counts->file, counts->block, want, counts->pos, &error);
	if (n < sizeof(uint64_t)) {
		damage_at(counts, counts->pos, error ? strerror(error) : "the file is cut off");
		return false;
	}
	counts->at = 0;
	counts->have = (unsigned)n / sizeof(uint64_t);
	counts->pos += counts->have * sizeof(uint64_t);
	return true;
}

bool counts_next(struct counts *counts)
{
	for (;;) {
		while (counts->at < counts->have) {
			uint64_t calls = counts->block[counts->at++];
			if (!calls)
				continue;
			uint64_t offset = counts->pos - (counts->have - counts->at + 1) * sizeof(uint64_t);
			counts->id = (uint32_t)((offset - counts->head.head_size) / sizeof(uint64_t));
			counts->calls = calls;
			return true;
		}
		if (!fill(counts))
			return false;
	}
}

void counts_close(struct counts *counts)
{
	file_close(counts->file);
}
