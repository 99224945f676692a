/* SPDX-License-Identifier: MIT */
#include "tool/read/meta.h"

#include <stdlib.h>
#include <string.h>

#include "tool/read/damage/memory.h"

#define META_BUF (64u << 10)

/* ---- where records are ---- */

/* Where records end at the latest: the head, or the file, has no room for more. */
static uint64_t last_position(const struct read_process *process)
{
	uint64_t size = read_file_size(process->family->meta), pos = 0, offset, room;

	while (read_process_locate(process, pos, &offset, &room)) {
		if (offset >= size)
			break;
		if (room >= size - offset)
			return pos + (size - offset < room ? size - offset : room);
		pos += room;
	}
	return pos;
}

/* Where the process's whole records end now. *used: where the head says that they end. */
static uint64_t whole_records(struct read_process *process, uint64_t *used)
{
	uint64_t last = last_position(process);

	/* The records below `used` are whole: the reader's acquire is that this read comes before theirs. */
	if (read_file_read(process->family->meta, used, sizeof(*used),
		    read_process_offset(process) + offsetof(struct trace_head, used), NULL) != sizeof(*used))
		*used = 0;
	/* The process has got another extent meanwhile. */
	if (*used > last && process->family->place_size && read_process_read_head(process))
		last = last_position(process);
	return *used < last ? *used : last;
}

static size_t read_at(const struct read_process *process, void *to, size_t size, uint64_t pos)
{
	uint64_t offset, room;
	size_t have = 0;

	while (have < size && read_process_locate(process, pos + have, &offset, &room)) {
		size_t want = size - have < room ? size - have : (size_t)room;
		size_t n = read_file_read(process->family->meta, (uint8_t *)to + have, want, offset, NULL);

		have += n;
		if (n < want)
			break;
	}
	return have;
}

static void damage_at(const struct read_process *process, uint64_t pos, const char *what)
{
	uint64_t offset = pos, room;

	if (!read_process_locate(process, pos, &offset, &room) && read_process_locate(process, pos - 1, &offset, &room))
		offset++;
	read_process_damage(process, NULL, offset, what);
}

/* ---- whose records ---- */

static void add_part(struct read_meta *meta, struct read_process *process, uint64_t end)
{
	if (read_memory_grow(process->family->damage, &meta->part, meta->parts, sizeof(*meta->part)))
		meta->part[meta->parts++] = (struct read_meta_part){ process, end };
}

/* Adds the parts that it has from its parent, the parent's parent and so on. */
static void add_parents(struct read_meta *meta, struct read_process *process)
{
	struct read_process *parent;

	for (; (parent = read_process_parent(process)); process = parent) {
		uint64_t end = process->head.parent_used, last, used;

		if (end == parent->head.head_size)
			continue;
		last = whole_records(parent, &used);
		if (end > last) {
			read_process_damage(process, NULL,
				read_process_offset(process) + offsetof(struct trace_head, parent_used),
				"the process has more records from its parent than there are");
			end = last;
		}
		add_part(meta, parent, end);
	}
}

/* Without memory there is no part, and no record. */
static void begin_part(struct read_meta *meta)
{
	const struct read_meta_part *part;

	if (!meta->parts)
		return;
	part = &meta->part[meta->parts - 1];
	meta->pos = meta->at = part->process->head.head_size;
	meta->end = part->end;
	meta->have = 0;
}

void read_meta_begin(struct read_meta *meta, struct read_process *process, uint64_t pos)
{
	uint64_t used, last = whole_records(process, &used);

	*meta = (struct read_meta){ .process = process };
	if (used > last && !process->loaded)
		damage_at(process, last, "the file is cut off");
	add_part(meta, process, last);
	begin_part(meta);
	if (pos)
		meta->pos = meta->at = pos;
}

void read_meta_begin_inherited(struct read_meta *meta, struct read_process *process, uint64_t used)
{
	uint64_t own, last = whole_records(process, &own);

	*meta = (struct read_meta){ .process = process, .inherited = true };
	add_part(meta, process, used < last ? used : last);
	add_parents(meta, process);
	begin_part(meta);
}

void read_meta_begin_own(struct read_meta *meta, struct read_process *process, uint64_t pos, uint64_t used)
{
	uint64_t own, last = whole_records(process, &own);

	*meta = (struct read_meta){ .process = process };
	add_part(meta, process, used < last ? used : last);
	begin_part(meta);
	meta->pos = meta->at = pos;
}

void read_meta_end(struct read_meta *meta)
{
	free(meta->buf);
	free(meta->part);
	meta->buf = NULL;
	meta->part = NULL;
}

/* ---- one after another ---- */

static struct read_process *source(const struct read_meta *meta)
{
	return meta->part[meta->parts - 1].process;
}

uint64_t read_meta_offset(const struct read_meta *meta)
{
	uint64_t offset, room;

	return read_process_locate(source(meta), meta->at, &offset, &room) ? offset : meta->at;
}

/* Makes `size` bytes at pos available in buf. */
static bool fill(struct read_meta *meta, size_t size)
{
	uint64_t skip = meta->pos - meta->buf_pos;

	if (meta->have >= skip && meta->have - skip >= size)
		return true;
	if (size > meta->end - meta->pos)
		return false;
	size_t want = size > META_BUF ? size : META_BUF;
	if (want > meta->end - meta->pos)
		want = meta->end - meta->pos;
	if (want > meta->room) {
		if (!read_memory_resize(meta->process->family->damage, &meta->buf, want, 1))
			return false;
		meta->room = want;
	}
	meta->buf_pos = meta->pos;
	meta->have = read_at(source(meta), meta->buf, want, meta->pos);
	return meta->have >= size;
}

static const struct trace_record *next_of_part(struct read_meta *meta, bool complain)
{
	struct trace_record record;

	if (meta->pos >= meta->end)
		return NULL;
	if (!fill(meta, sizeof(record))) {
		if (complain)
			damage_at(source(meta), meta->pos, "the file is cut off");
		meta->end = meta->pos;
		return NULL;
	}
	memcpy(&record, meta->buf + (meta->pos - meta->buf_pos), sizeof(record));
	if (record.size < sizeof(record) || record.size % 8 || record.size > meta->end - meta->pos ||
		!fill(meta, record.size)) {
		if (complain)
			damage_at(source(meta), meta->pos,
				"a record has an impossible size, so the names behind it are lost");
		meta->end = meta->pos;
		return NULL;
	}
	const uint8_t *at = meta->buf + (meta->pos - meta->buf_pos);
	meta->at = meta->pos;
	meta->pos += record.size;
	return (const struct trace_record *)(const void *)at;
}

bool read_meta_is_own(const struct trace_record *record)
{
	return record->type == TRACE_REC_CHANGE ||
	       (record->type == TRACE_REC_TEXT && record->size >= sizeof(struct trace_text) &&
		       ((const struct trace_text *)(const void *)record)->what == TRACE_TEXT_NOTE);
}

const struct trace_record *read_meta_next(struct read_meta *meta, bool complain)
{
	for (;;) {
		const struct trace_record *record = next_of_part(meta, complain);

		if (record && meta->inherited && read_meta_is_own(record))
			continue;
		if (record || meta->parts <= 1)
			return record;
		meta->parts--;
		begin_part(meta);
	}
}
