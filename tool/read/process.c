/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/search.h"
#include "tool/read/damage/memory.h"

uint64_t read_process_offset(const struct read_process *process)
{
	return process->place * process->family->place_size;
}

void read_process_damage(const struct read_process *process, const char *file, uint64_t offset, const char *what)
{
	read_family_damage(process->family, file ? file : "meta", offset, what);
}

/*
 * `last` is rewritten while the process runs: it is read until it did not change meanwhile. A writer that was killed in
 * the middle has left an odd count for ever; then the pair can't be used.
 */
bool read_process_read_head(struct read_process *process)
{
	struct trace_head *head = &process->head;
	struct read_file *meta = process->family->meta;
	uint64_t at = read_process_offset(process);
	int try = 0;

	for (; try < 1000; try++) {
		struct trace_head again;
		if (read_file_read(meta, head, sizeof(*head), at, NULL) != sizeof(*head))
			return false;
		if (head->last_seq & 1)
			continue;
		if (read_file_read(meta, &again, sizeof(again), at, NULL) != sizeof(again))
			return false;
		if (again.last_seq == head->last_seq && !memcmp(&again.last, &head->last, sizeof(again.last)))
			break;
	}
	if (try == 1000)
		memset(&head->last, 0, sizeof(head->last));
	head->ring_chunk = process->family->place_size / 2;
	head->lost += head->lost_by[TRACE_LOST_GIVEN];
	return true;
}

static const char *check_places(const struct read_process *process)
{
	const struct trace_head *head = &process->head;

	if (head->process != process->place || head->place_size != process->family->place_size)
		return "the head is of another place";
	if (head->extents > TRACE_EXTENTS)
		return "the head has too many extents";
	for (uint32_t i = 0; i < head->extents; i++) {
		const struct trace_extent *extent = &head->extent[i];
		if (extent->first <= process->place || !extent->places || extent->places > TRACE_PLACE_MAX ||
			extent->first > TRACE_PLACE_MAX - extent->places)
			return "the head has an impossible extent";
	}
	return NULL;
}

static const char *check_head(struct read_process *process)
{
	struct trace_head *head = &process->head;
	const char *wrong;

	head->boot_id[sizeof(head->boot_id) - 1] = '\0';
	if (memcmp(head->magic, TRACE_MAGIC, sizeof(head->magic)))
		return process->place ? "there is no head of a process where one should begin"
				      : "this is not the meta file of a trace";
	if (head->version == 1)
		return "the trace has version 1, which this xaudit does not read: use the xaudit that recorded it";
	if (head->version != TRACE_VERSION)
		return "the trace has another version than this xaudit reads: use the xaudit that recorded it";
	if (head->clock != TRACE_CLOCK_TSC && head->clock != TRACE_CLOCK_MONOTONIC)
		return "the head names an unknown clock";
	if (head->head_size < sizeof(*head) || head->head_size % 8)
		return "the head has an impossible size";
	wrong = check_places(process);
	return !wrong && head->head_size > head->place_size / 2 ? "the head has an impossible size" : wrong;
}

bool read_process_locate(const struct read_process *process, uint64_t pos, uint64_t *offset, uint64_t *room)
{
	const struct trace_head *head = &process->head;
	uint64_t place = process->family->place_size;

	if (pos < place / 2) {
		*offset = read_process_offset(process) + pos;
		*room = place / 2 - pos;
		return true;
	}
	pos -= place / 2;
	for (uint32_t i = 0; i < head->extents && i < TRACE_EXTENTS; i++) {
		uint64_t size = head->extent[i].places * place;
		if (pos < size) {
			*offset = head->extent[i].first * place + pos;
			*room = size - pos;
			return true;
		}
		pos -= size;
	}
	return false;
}

/* ---- thread records ---- */

static void note_record(struct read_process *process, uint32_t number, uint8_t file)
{
	if (number >= process->threads) {
		if (!read_memory_resize(process->family->damage, &process->files, number + 1ul, 1))
			return;
		memset(process->files + process->threads, 0, number + 1ul - process->threads);
		process->threads = number + 1;
	}
	process->files[number] |= file;
}

uint64_t read_process_event_bytes(const struct read_process *process)
{
	const struct read_family *family = process->family;
	const struct read_family_place *file;
	char name[READ_FAMILY_NAME_SIZE];
	uint64_t bytes = 0;
	uint32_t count;

	file = read_family_of_process(family, process->place, READ_FAMILY_FILE, &count);
	for (uint32_t i = 0; i < count; i++) {
		struct stat st;
		const char *why;
		read_family_file_name(name, 't', file[i].number, process->place);
		struct read_file *opened = read_family_open_file(family, name, &st, &why);
		bytes += opened ? (uint64_t)st.st_size : 0;
		read_file_close(opened);
	}
	return bytes;
}

bool read_process_has(const struct read_process *process, uint32_t number, uint64_t at)
{
	const struct read_family *family = process->family;

	return read_family_has(
		family, (uint32_t)(at / family->place_size), TRACE_PLACE_CHUNK, process->place, number);
}

static void note_records(struct read_process *process)
{
	const struct read_family *family = process->family;
	const struct read_family_place *file, *chunk, *counts;
	uint32_t n;

	file = read_family_of_process(family, process->place, READ_FAMILY_FILE, &n);
	for (uint32_t i = 0; i < n; i++)
		note_record(process, file[i].number, READ_FILE_EVENTS);
	chunk = read_family_of_process(family, process->place, TRACE_PLACE_CHUNK, &n);
	for (uint32_t i = 0; i < n; i++)
		note_record(process, chunk[i].number, READ_FILE_PLACES);
	counts = read_family_of_process(family, process->place, TRACE_PLACE_COUNTS, &n);
	for (uint32_t i = 0; i < n; i++)
		note_record(process, counts[i].number, READ_FILE_COUNTS);
}

bool read_process_list_files(struct read_process *process)
{
	/* When a process is followed, thread records may be found that the directory has no word for yet. */
	if (!read_family_list_files(process->family))
		return false;
	read_family_look(process->family);
	note_records(process);
	return true;
}

bool read_process_begin(struct read_process *process)
{
	if (!process->family->files_listed && !read_family_list_files(process->family)) {
		read_family_damage(process->family, NULL, READ_DAMAGE_NOWHERE, strerror(errno));
		return false;
	}
	note_records(process);
	return true;
}

/* ---- opening ---- */

static struct read_process *open_process(struct read_family *family, uint32_t place)
{
	struct read_process *process = read_memory_zeroed(family->damage, 1, sizeof(*process));
	const char *wrong;

	if (!process)
		return NULL;
	process->family = family;
	process->place = place;
	wrong = read_process_read_head(process) ? check_head(process) : "the file ends within its head";
	process->bad = wrong != NULL;
	if (wrong)
		read_process_damage(process, NULL, read_process_offset(process), wrong);
	return process;
}

struct read_process *read_process_at(struct read_family *family, uint32_t place)
{
	uint32_t low = SEARCH(i, 0, family->processes, family->process[i]->place < place);

	if (low == family->processes || family->process[low]->place != place) {
		struct read_process *process;
		if (!read_memory_grow(family->damage, &family->process, family->processes, sizeof(process)) ||
			!(process = open_process(family, place)))
			return NULL;
		/* Most come in the order of their places. */
		memmove(&family->process[low + 1], &family->process[low],
			(family->processes++ - low) * sizeof(*family->process));
		family->process[low] = process;
	}
	return family->process[low]->bad ? NULL : family->process[low];
}

struct read_process *read_process_parent(struct read_process *process)
{
	const struct trace_head *head = &process->head;
	struct read_process *parent = NULL;
	uint32_t count;

	if (!head->parent_used || process->parent_known)
		return process->parent;
	process->parent_known = true;
	/* A child's place is always after its parent's: so there are no loops. */
	if (head->parent < process->place &&
		(!head->parent || read_family_of_process(process->family, head->parent, TRACE_PLACE_HEAD, &count)))
		parent = read_process_at(process->family, head->parent);
	if (parent && head->parent_used >= parent->head.head_size) {
		process->parent = parent;
		return parent;
	}
	read_process_damage(process, NULL, read_process_offset(process) + offsetof(struct trace_head, parent),
		"the process has an impossible parent, so the names that it has from it are lost");
	return NULL;
}
