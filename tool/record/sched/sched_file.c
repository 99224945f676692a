/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/sched/sched_file.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "format/trace.h"
#include "tool/base/whole.h"

#define RECORDS 2048

static struct {
	int fd, error;
	bool failing;	   /* records are dropped ... */
	uint64_t at;	   /* where the next piece goes */
	uint64_t known;	   /* ... since this time: the last that was told */
	bool ends_known;   /* the record before `at` is a SCHED_KNOWN */
	unsigned count;
	struct sched_record record[RECORDS];
} file = { .fd = -1 };

/* Writes all of it. Returns false, and file.error, if that fails. */
static bool write_at(const void *from, size_t size, uint64_t at)
{
	int error = whole_write(file.fd, from, size, at);

	if (error)
		file.error = error;
	return !error;
}

static void flush(void)
{
	size_t size = file.count * sizeof(file.record[0]);

	if (file.failing || !file.count)
		return;
	/* A SCHED_KNOWN that is followed by others is of no use. */
	uint64_t at = file.ends_known ? file.at - sizeof(file.record[0]) : file.at;
	if (write_at(file.record, size, at)) {
		file.at = at + size;
		file.ends_known = file.record[file.count - 1].what == SCHED_KNOWN;
	} else {
		struct sched_record known = { .what = SCHED_KNOWN, .time = file.known };

		/* What was written of it must not seem whole; what it has replaced lies in blocks that the file has. */
		file.failing = true;
		if (file.ends_known)
			file.ends_known = write_at(&known, sizeof(known), at);
		file.at = at + (file.ends_known ? sizeof(known) : 0);
		if (ftruncate(file.fd, (off_t)file.at) < 0)
			file.error = errno;
	}
	file.count = 0;
}

int sched_file_begin(int fd)
{
	const struct sched_head head = {
		.magic = SCHED_MAGIC,
		.version = SCHED_VERSION,
		.head_size = sizeof(head),
		.record_size = sizeof(struct sched_record),
		.clock = TRACE_CLOCK_TSC,
		.paranoid = SCHED_PARANOID_UNKNOWN,
	};

	file.fd = fd;
	file.error = 0;
	file.failing = file.ends_known = false;
	file.at = sizeof(head);
	file.known = 0;
	file.count = 0;
	return write_at(&head, sizeof(head), 0) ? 0 : file.error;
}

void sched_file_head(const struct sched_head *head)
{
	write_at(head, sizeof(*head), 0);
	file.known = head->start;
}

void sched_file_put(const struct sched_record *record)
{
	if (file.failing)
		return;
	file.record[file.count++] = *record;
	if (file.count == RECORDS)
		flush();
}

void sched_file_known(uint64_t time)
{
	if (file.failing) {
		file.failing = false;
		sched_file_put(&(struct sched_record){ .what = SCHED_LOST, .since = file.known, .time = time });
	}
	sched_file_put(&(struct sched_record){ .what = SCHED_KNOWN, .time = time });
	flush();
	if (!file.failing)
		file.known = time;
}

void sched_file_place(uint64_t number, const struct sched_record *record)
{
	write_at(record, sizeof(*record), sizeof(struct sched_head) + number * sizeof(*record));
}

int sched_file_error(void)
{
	return file.error;
}

void sched_file_end(void)
{
	if (file.fd >= 0)
		close(file.fd);
	file.fd = -1;
}
