/* SPDX-License-Identifier: MIT */
/*
 * The format xray of `xaudit export`: a folder with a log as XRay's basic mode writes it, version 3, and a file that
 * has the names of its functions (xray_map.h), for llvm-xray of LLVM 14 and later.
 *
 * llvm-xray takes the first record of a log for the earliest one, and records of a thread in the order of time. So each
 * track has a file of its own at first, and these are put together in the order of their first records.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/export/folders/places.h"
#include "tool/export/folders/tids.h"
#include "tool/export/folders/track_files.h"
#include "tool/export/folders/xray_map.h"
#include "tool/export/format.h"

#define LOG	 "basic.log"
#define INSTR_MAP "instr-map.elf"

enum { ENTER, EXIT, TAIL_EXIT, ENTER_ARGUMENT };

struct record {
	uint16_t what; /* 0; of an argument 1, and the fields are those of struct argument */
	uint8_t cpu, type;
	int32_t function;
	uint64_t time;
	uint32_t tid, pid;
	uint64_t zero;
};

struct argument {
	uint16_t what;
	uint16_t zero;
	int32_t function;
	uint32_t tid, pid;
	uint64_t value, also_zero;
};

struct header {
	uint16_t version, type; /* type 0: basic mode */
	uint32_t marks;		/* constant and nonstop clock */
	uint64_t frequency;
	uint8_t zero[16];
};
_Static_assert(sizeof(struct record) == 32 && sizeof(struct argument) == 32 && sizeof(struct header) == 32,
	"all of a log has 32 bytes");

struct track {
	struct track_file file;
	uint64_t first;
	uint32_t tid, pid;
};

struct xray {
	struct places places;
	struct tids tids;
	struct track_files files;
	struct track **track;
	uint32_t tracks;
	int32_t *id; /* by number of a function; 0: none yet */
	uint32_t room;
	const struct xaudit_read_function **function; /* by id - 1 */
	uint32_t functions;
};

static void begin(struct export *export)
{
	struct xray *xray = memory_zeroed(1, sizeof(*xray));

	export->state = xray;
	xray->files.export = export;
	tids_begin(&xray->tids, export->trace);
}

static struct track *track_of(struct export *export, struct export_track *track, uint64_t time)
{
	struct xray *xray = export->state;
	struct track *own = track->user;

	if (own)
		return own;
	own = memory_zeroed(1, sizeof(*own));
	own->first = time;
	own->tid = tids_track(&xray->tids, track);
	own->pid = xaudit_read_process_info(track->process)->pid;
	own->file.name = memory_format("part.%u", xray->tracks);
	xray->track = memory_grow(xray->track, xray->tracks, sizeof(struct track *));
	xray->track[xray->tracks++] = own;
	track->user = own;
	return own;
}

static int32_t id_of(struct xray *xray, const struct xaudit_read_function *function)
{
	if (function->number >= xray->room) {
		uint32_t room = function->number < 512 ? 1024 : function->number * 2;

		xray->id = memory_resize(xray->id, room, sizeof(*xray->id));
		memset(&xray->id[xray->room], 0, (room - xray->room) * sizeof(*xray->id));
		xray->room = room;
	}
	if (!xray->id[function->number]) {
		places_add(&xray->places, function);
		xray->function = memory_grow(xray->function, xray->functions, sizeof(*xray->function));
		xray->function[xray->functions++] = function;
		xray->id[function->number] = (int32_t)xray->functions;
	}
	return xray->id[function->number];
}

static void put(struct export *export, struct track *track, int32_t function, uint8_t type, uint64_t time)
{
	struct xray *xray = export->state;
	struct record record = { .type = type, .function = function, .time = time, .tid = track->tid,
		.pid = track->pid };

	memcpy(track_files_room(&xray->files, &track->file, sizeof(record)), &record, sizeof(record));
}

/* ---- calls ---- */

static bool is_number(const struct xaudit_read_value *value)
{
	return value->role == XAUDIT_READ_VALUE_ARGUMENT && value->state == XAUDIT_READ_VALUE_WHOLE &&
		value->type != XAUDIT_READ_VALUE_TEXT && value->type != XAUDIT_READ_VALUE_BYTES &&
		value->type != XAUDIT_READ_VALUE_NONE && value->type != XAUDIT_READ_VALUE_STRUCTS &&
		value->type != XAUDIT_READ_VALUE_STACK;
}

/* The first arguments, as far as they are numbers: a log has no others, and does not tell which one it is. */
static uint32_t numbers_of(const struct xaudit_read_call *call, uint64_t *to)
{
	struct xaudit_read_value value[XAUDIT_READ_VALUES];
	uint32_t values = xaudit_read_values(call->entered, value, XAUDIT_READ_VALUES), count = 0;

	for (uint32_t i = 0; i < values && i < XAUDIT_READ_VALUES && is_number(&value[i]); i++) {
		if (value[i].place != count)
			break;
		to[count++] = value[i].number;
	}
	return count;
}

static void enter(struct export *export, const struct export_call *is)
{
	struct xray *xray = export->state;
	struct track *track = track_of(export, is->track, is->start);
	int32_t id = id_of(xray, is->call->function);
	uint64_t number[XAUDIT_READ_VALUES];
	uint32_t numbers = is->call->entered ? numbers_of(is->call, number) : 0;

	put(export, track, id, numbers ? ENTER_ARGUMENT : ENTER, is->start);
	for (uint32_t i = 0; i < numbers; i++) {
		struct argument argument = { .what = 1, .function = id, .tid = track->tid, .pid = track->pid,
			.value = number[i] };

		memcpy(track_files_room(&xray->files, &track->file, sizeof(argument)), &argument, sizeof(argument));
	}
}

static void leave(struct export *export, const struct export_call *is)
{
	put(export, is->track->user, id_of(export->state, is->call->function),
		is->call->how == XAUDIT_READ_JUMPED ? TAIL_EXIT : EXIT, is->end);
}

/* ---- the end ---- */

static int by_first(const void *x, const void *y)
{
	const struct track *a = *(const struct track *const *)x, *b = *(const struct track *const *)y;

	return a->first < b->first ? -1 : a->first > b->first;
}

/* Appends what is in the one to the other. Returns false, and errno. */
static bool copy(int from, int to)
{
	char buffer[65536];
	ssize_t moved;

	while ((moved = copy_file_range(from, NULL, to, NULL, 1u << 30, 0)) > 0)
		;
	if (!moved)
		return true;
	/* Not all file systems do that. */
	while ((moved = read(from, buffer, sizeof(buffer))) > 0)
		for (ssize_t at = 0, wrote; at < moved; at += wrote)
			if ((wrote = write(to, buffer + at, (size_t)(moved - at))) < 0)
				return false;
	return !moved;
}

static bool append(const struct export *export, const struct track *track, int to)
{
	int from = openat(export->folder, track->file.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool good = from >= 0 && copy(from, to);

	if (from >= 0)
		close(from);
	return good && !unlinkat(export->folder, track->file.name, 0);
}

static bool write_log(struct export *export, int fd)
{
	struct xray *xray = export->state;
	struct header header = { .version = 3, .marks = 3, .frequency = 1000000000 };
	bool good = write(fd, &header, sizeof(header)) == sizeof(header);

	qsort(xray->track, xray->tracks, sizeof(struct track *), by_first);
	for (uint32_t i = 0; good && i < xray->tracks; i++)
		good = append(export, xray->track[i], fd);
	return good;
}

static bool write_map(struct export *export, int fd)
{
	struct xray *xray = export->state;

	return xray_map_write(fd, &xray->places, xray->function, xray->functions);
}

static void make(struct export *export, const char *name, bool (*fill)(struct export *export, int fd))
{
	int fd = openat(export->folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool good = fd >= 0 && fill(export, fd);

	if (fd >= 0)
		good = !close(fd) && good;
	if (good)
		return;
	int error = elf_errno();
	tool_error("export", "%s/%s can't be written: %s", export->path, name,
		error ? elf_errmsg(error) : strerror(errno));
	export->failed = true;
}

static void end(struct export *export)
{
	struct xray *xray = export->state;

	track_files_end(&xray->files);
	if (!export->failed)
		make(export, LOG, write_log);
	if (!export->failed)
		make(export, INSTR_MAP, write_map);
	for (uint32_t i = 0; i < xray->tracks; i++) {
		free(xray->track[i]->file.name);
		free(xray->track[i]);
	}
	free(xray->track);
	free(xray->id);
	free(xray->function);
	places_free(&xray->places);
	tids_free(&xray->tids);
	free(xray);
}

const struct export_format export_xray = {
	.name = "xray",
	.help = "a log and a map of functions for llvm-xray",
	.folder = true,
	.begin = begin,
	.enter = enter,
	.leave = leave,
	.end = end,
};
