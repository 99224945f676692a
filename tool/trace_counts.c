/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace_counts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h> /* pread, lseek */

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
	if (head->version != TRACE_VERSION)
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

	counts->process = process;
	counts->number = number;
	counts->at = counts->have = 0;
	snprintf(name, sizeof(name), "c%u", number);
	counts->fd = trace_open_file(process->fd, name, &wrong);
	if (counts->fd < 0) {
		if (wrong)
			damage_at(counts, DAMAGE_NOWHERE, wrong);
		return false;
	}
	if (!fstat(counts->fd, &st)) {
		memset(&counts->head, 0, sizeof(counts->head));
		ssize_t n = pread(counts->fd, &counts->head, sizeof(counts->head), 0);
		/* Made, and not begun: killed then, or it is now. */
		bool begun = n > 0 && memcmp(&counts->head, &nothing, sizeof(nothing));
		wrong = n < 0 ? strerror(errno) :
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
	}
	if (wrong)
		damage_at(counts, 0, wrong);
	close(counts->fd);
	return false;
}

/* Reads the next block that is not a hole. */
static bool fill(struct counts *counts)
{
	uint64_t head = counts->head.head_size;
	off_t data;

	if (counts->pos + sizeof(uint64_t) > counts->end)
		return false;
	data = lseek(counts->fd, (off_t)counts->pos, SEEK_DATA);
	if (data < 0 && errno == ENXIO)
		return false;
	if (data > 0 && (uint64_t)data > counts->pos)
		counts->pos = head + ((uint64_t)data - head) / 8 * 8;
	if (counts->pos + sizeof(uint64_t) > counts->end)
		return false;
	uint64_t want = counts->end - counts->pos;
	want = want < sizeof(counts->block) ? want / 8 * 8 : sizeof(counts->block);
	ssize_t n = pread(counts->fd, counts->block, want, (off_t)counts->pos);
	if (n < (ssize_t)sizeof(uint64_t)) {
		damage_at(counts, counts->pos, n < 0 ? strerror(errno) : "the file is cut off");
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
	close(counts->fd);
}
