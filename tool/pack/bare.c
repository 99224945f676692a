/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/pack/bare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/sched.h"
#include "format/stream.h"
#include "runtime/files/output.h"
#include "tool/base/tool.h"
#include "tool/base/whole.h"
#include "tool/pack/bare_words.h"
#include "tool/read/folder.h"
#include "tool/read/meta.h"
#include "tool/read/path.h"
#include "tool/read/process_load.h"
#include "tool/read/values/layout.h"

#define BLOCK	    (64u << 10)
#define LABELS_NAME "labels"

/* A file that is copied. */
struct bare_file {
	struct read_family *family; /* NULL: it is beside the families */
	struct read_file *from;
	int to;
	int error; /* an errno, or 0: nothing more is written then */
};

static void put(struct bare_file *file, const void *from, size_t size, uint64_t at)
{
	if (!file->error)
		file->error = whole_write(file->to, from, size, at);
}

/* Copies a part of a file that has no values; its holes stay. */
static void copy(struct bare_file *file, uint64_t begin, uint64_t end)
{
	static uint8_t block[BLOCK];
	uint64_t size = read_file_size(file->from);

	end = end < size ? end : size;
	for (uint64_t at = read_file_data(file->from, begin); at < end && !file->error;) {
		int error = 0;
		size_t want = end - at < BLOCK ? end - at : BLOCK;
		size_t have = read_file_read(file->from, block, want, at, &error);

		file->error = file->error ? file->error : error;
		put(file, block, have, at);
		if (have < want)
			break;
		at = read_file_data(file->from, at + have);
	}
}

/* ---- chunks ---- */

/* The event of a layout, for bare_words.h. */
static uint32_t event_of(void *process, uint32_t number)
{
	struct read_process *of = process;

	if (!of->loaded)
		read_process_load(of);
	const struct read_layout *layout = read_process_layout(of, number);
	return layout ? layout->event : 0;
}

static bool read_head(struct bare_file *file, uint64_t at, struct trace_chunk *head)
{
	return !file->error &&
	       read_file_read(file->from, head, sizeof(*head), at, &file->error) == sizeof(*head) &&
	       head->magic == TRACE_CHUNK_MAGIC;
}

/* Copies the chunk that begins there, if there is one that readers take; else nothing. */
static void copy_chunk(struct bare_file *file, uint64_t begin, uint64_t room, uint64_t to)
{
	struct trace_chunk head;
	struct read_process *process;

	if (!read_head(file, begin, &head) || !(process = read_process_at(file->family, head.process)))
		return;
	struct bare_chunk chunk = { .from = file->from, .to = file->to, .begin = begin, .to_begin = to, .room = room,
		.head = head, .event_of = event_of, .source = process };
	file->error = bare_chunk_copy(&chunk);
}

/* ---- meta ---- */

/* Writes bytes at a position of a process's records. */
static void put_record(struct bare_file *file, const struct read_process *process, const void *from, size_t size,
	uint64_t pos)
{
	const uint8_t *p = from;
	uint64_t at, room;

	for (; size && !file->error && read_process_locate(process, pos, &at, &room);) {
		size_t some = size < room ? size : room;
		put(file, p, some, at);
		p += some;
		pos += some;
		size -= some;
	}
}

/* The head of a process, and its whole records. */
static void copy_process(struct bare_file *file, struct read_process *process)
{
	uint64_t begin = read_process_offset(process);
	const struct trace_record *record;
	struct read_meta meta;

	copy(file, begin, begin + sizeof(struct trace_head));
	read_meta_begin(&meta, process, 0);
	while (!file->error && (record = read_meta_next(&meta, false))) {
		if (record->type != TRACE_REC_LAYOUT) {
			put_record(file, process, record, record->size, meta.at);
			continue;
		}
		struct trace_record *nothing = calloc(1, record->size);
		if (!nothing) {
			file->error = ENOMEM;
			break;
		}
		*nothing = (struct trace_record){ .type = TRACE_REC_NOTHING, .size = record->size };
		put_record(file, process, nothing, nothing->size, meta.at);
		free(nothing);
	}
	read_meta_end(&meta);
}

static void copy_counts(struct bare_file *file, uint64_t begin, uint64_t most)
{
	struct trace_counts counts;

	if (read_file_read(file->from, &counts, sizeof(counts), begin, NULL) == sizeof(counts) &&
		counts.magic == TRACE_COUNTS_MAGIC && counts.size <= UINT64_MAX - begin)
		copy(file, begin, begin + (counts.size < most ? counts.size : most));
}

static void copy_meta(struct bare_file *file)
{
	const struct read_family *family = file->family;

	if (ftruncate(file->to, (off_t)read_file_size(file->from)))
		file->error = errno;
	for (uint32_t i = 0; i < family->places.count && !file->error; i++) {
		struct read_family_place place = family->places.place[i];
		uint64_t half = family->place_size / 2, begin = read_family_half(&place, 2 * half);
		bool beside = place.place == place.process && place.what != TRACE_PLACE_HEAD;
		uint64_t word = TRACE_PLACE(place.what, place.process, place.number);
		struct read_process *process;

		/* Words of places that are not copied, and what is for publishing, tell readers nothing. */
		if (!beside)
			put(file, &word, sizeof(word), trace_word_at(&family->directory, place.place));
		if (place.what == TRACE_PLACE_HEAD && (process = read_process_at(file->family, place.place)))
			copy_process(file, process);
		else if (place.what == TRACE_PLACE_CHUNK)
			copy_chunk(file, begin, half, begin);
		else if (place.what == TRACE_PLACE_COUNTS)
			copy_counts(file, begin, beside ? half : UINT64_MAX);
	}
}

/* ---- files and folders ---- */

static void copy_chunks(struct bare_file *file)
{
	uint64_t room = file->family->place_size / 2, to = 0;
	struct trace_chunk head;

	/* Its words are plain then: each gets room for all of them. */
	for (uint64_t at = 0; !file->error && (at = read_file_data(file->from, at)) != UINT64_MAX;) {
		at = at / STREAM_UNIT * STREAM_UNIT;
		if (!read_head(file, at, &head) || !stream_is_chunk(&head, room)) {
			at += STREAM_UNIT;
			continue;
		}
		copy_chunk(file, at, room, to);
		to += room;
		at += stream_whole(stream_bytes(&head));
	}
}

static void copy_all(struct bare_file *file)
{
	uint64_t size = read_file_size(file->from);

	if (ftruncate(file->to, (off_t)size))
		file->error = errno;
	copy(file, 0, size);
}

/* Returns an errno, or 0, also if there is no such file. */
static int copy_file(struct read_family *family, struct read_files *files, const char *name, int to,
	void (*fill)(struct bare_file *file))
{
	const char *why;
	struct bare_file file = { .family = family,
		.from = family ? read_family_open_file(family, name, NULL, &why)
			       : read_file_open(files, ".", name, NULL, &why) };

	if (!file.from)
		return errno == ENOENT ? 0 : errno ? errno : EIO;
	long fd = output_make_file(to, name);
	if (fd < 0) {
		read_file_close(file.from);
		return (int)-fd;
	}
	file.to = (int)fd;
	fill(&file);
	read_file_close(file.from);
	close(file.to);
	return file.error;
}

static int copy_family(struct read_family *family, int to)
{
	char name[READ_FAMILY_NAME_SIZE];
	int error = 0;
	long folder = output_make(to, family->name, NULL);

	if (folder < 0)
		return (int)-folder;
	if (!read_family_list_files(family))
		error = errno;
	for (uint32_t i = 0; i < family->files.count && !error; i++) {
		const struct read_family_place *file = &family->files.place[i];
		read_family_file_name(name, 't', file->number, file->process);
		error = copy_file(family, NULL, name, (int)folder, copy_chunks);
	}
	if (!error)
		error = copy_file(family, NULL, "meta", (int)folder, copy_meta);
	if (!error)
		error = copy_file(family, NULL, LABELS_NAME, (int)folder, copy_all);
	/* Names of one family at a time are enough memory. */
	for (uint32_t i = 0; i < family->processes; i++)
		if (family->process[i])
			read_process_unload(family->process[i]);
	close((int)folder);
	return error;
}

static bool is_read(const struct read_folder *folder, const char *name)
{
	for (unsigned i = 0; i < folder->families; i++)
		if (!strcmp(folder->family[i]->name, name) && folder->family[i]->place_size)
			return true;
	return false;
}

/* Says which folders are left out. */
static void tell_unread(const char *command, const struct read_folder *folder, int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (read_path_is_process(entry->d_name, 0) && !is_read(folder, entry->d_name))
			tool_error(command, "%s/%s can't be read, so it is left out: it may have values", folder->path,
				entry->d_name);
	if (dir)
		closedir(dir);
	else if (own >= 0)
		close(own);
}

int bare_copy(const char *command, const char *path, int fd, int to)
{
	struct read_error why = { 0 };
	struct read_folder *folder = read_folder_open(path, 0, &why);
	const char *at = "record";
	int error;

	read_error_free(&why);
	if (!folder) {
		tool_error(command, "%s can't be read, and what can't be read may have values", path);
		return -1;
	}
	error = copy_file(NULL, &folder->files, "record", to, copy_all);
	if (!error) {
		at = SCHED_NAME;
		error = copy_file(NULL, &folder->files, SCHED_NAME, to, copy_all);
	}
	for (unsigned i = 0; i < folder->families && !error; i++) {
		at = folder->family[i]->name;
		if (folder->family[i]->place_size)
			error = copy_family(folder->family[i], to);
	}
	if (!error && folder->damage.no_memory)
		error = ENOMEM;
	if (error)
		tool_error(command, "%s/%s can't be copied without values: %s", path, at, strerror(error));
	else
		tell_unread(command, folder, fd);
	read_folder_close(folder);
	return error ? -1 : 0;
}

/* Removes what is in the folder: files, and if `deep` folders of files. */
static void empty(int at, const char *name, bool deep)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(fd, entry->d_name, 0) && deep) {
			empty(fd, entry->d_name, false);
			unlinkat(fd, entry->d_name, AT_REMOVEDIR);
		}
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

void bare_remove(int at, const char *name)
{
	empty(at, name, true);
	unlinkat(at, name, AT_REMOVEDIR);
}
