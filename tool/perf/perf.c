/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/perf/perf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/labels.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/base/whole.h"
#include "tool/perf/bytes.h"
#include "tool/perf/elf_image.h"
#include "tool/perf/loads.h"
#include "tool/perf/unwind_rows.h"
#include "tool/show/term/progress.h"

/* "LIBRARY+0x123", where there is no name. */
static char *name_of_place(const struct perf_load *load, uint64_t address)
{
	return load ? memory_format("%s+0x%" PRIx64, tool_base(load->path), address - load->base)
		    : memory_format("0x%" PRIx64, address);
}

static void describe(struct perf_label *label, struct perf_loads *loads, struct perf_bytes *rows)
{
	struct perf_load *load;
	/* A call may be the last instruction of a function. */
	Dwfl_Module *module = perf_loads_find(loads, label->address - 1, &load);
	const char *name = module ? perf_loads_name(load, label->address - 1) : NULL;

	/* Without the version, as in clock_nanosleep@GLIBC_2.2.5. */
	label->name = name && *name ? memory_text(name, strcspn(name, "@")) : name_of_place(load, label->address);
	label->row = rows->size;
	if (module && perf_row(rows, module, label->address))
		label->row_size = rows->size - label->row;
}

/* Returns an errno; EINVAL: it is no file of labels. */
static int make(int fd, struct perf_loads *loads, uint64_t *missed)
{
	struct labels_file *file = memory_zeroed(1, sizeof(*file));
	struct perf_label *label = memory_zeroed(LABELS_ENTRIES, sizeof(*label));
	struct perf_bytes rows = { 0 };
	size_t labels = 0;
	int error = EINVAL;

	if (whole_read(fd, file, sizeof(*file), 0) &&
		!memcmp(file->head.magic, LABELS_MAGIC, sizeof(file->head.magic))) {
		for (size_t i = 0; i < LABELS_ENTRIES; i++) {
			if (file->table[i].address == LABELS_FREE)
				continue;
			label[labels].at = LABELS_CODE_AT + i * LABELS_ENTRY;
			label[labels].address = file->table[i].address;
			progress(i, LABELS_ENTRIES);
			describe(label + labels++, loads, &rows);
		}
		progress_end();
		*missed = file->head.missed;
		error = perf_image_write(fd, label, labels, &rows);
	}
	for (size_t i = 0; i < labels; i++)
		free(label[i].name);
	perf_bytes_free(&rows);
	free(label);
	free(file);
	return error;
}

int perf_family(const char *command, int trace, int family, const char *path)
{
	int fd = openat(family, LABELS_NAME, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), error;
	struct perf_loads loads = { 0 };
	uint64_t missed = 0;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	error = fd < 0 || fstat(fd, &st) ? errno : 0;
	/* Only what a traced process of this user made is written to. */
	if (!error && (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid()))
		error = EPERM;
	if (!error && !perf_loads_read(&loads, trace, family, path))
		error = EINVAL;
	if (!error)
		error = make(fd, &loads, &missed);
	perf_loads_free(&loads);
	if (fd >= 0)
		close(fd);
	if (error) {
		tool_error(command, "can't tell perf of the callers in %s/%s: %s", path, LABELS_NAME,
			error == EINVAL ? "it is damaged" : strerror(error));
		return -1;
	}
	if (missed)
		tool_error(command,
			"%" PRIu64 " calls of %s came from too many places: there perf does not find their callers",
			missed, path);
	return 1;
}

int perf_trace(const char *command, int trace, const char *path)
{
	int own = openat(trace, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	bool failed = false;

	if (!dir) {
		tool_error(command, "can't read the trace %s: %m", path);
		if (own >= 0)
			close(own);
		return -1;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] != 'p' || e->d_name[1] < '0' || e->d_name[1] > '9')
			continue;
		int fd = openat(trace, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		char *of = memory_format("%s/%s", path, e->d_name);
		int r = perf_family(command, trace, fd, of);
		failed |= r < 0;
		count += r > 0;
		free(of);
		close(fd);
	}
	closedir(dir);
	return failed ? -1 : count;
}

static const struct options_row rows[] = { OPTIONS_HELP, { 0 } };

static const struct options_syntax syntax = {
	.command = "perf",
	.rows = rows,
	.column = 14,
	.head = "Usage: xaudit perf [DIR]\n"
		"Tells perf, and other profilers, of the callers of traced functions: by a file\n"
		"of the trace DIR (default: " TOOL_FOLDER ") that `xaudit record --perf`, or `perf =\n"
		"yes`, has made.\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"`record --perf` does this itself when the command has ended.\n",
};

int perf_main(int argc, char **argv)
{
	int first = options_take(&syntax, NULL, argc, argv), status = TOOL_FAILED;

	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	const char *path = tool_folder("perf", argc, argv, first);
	if (!path)
		return TOOL_USAGE;
	int fd = tool_open_folder("perf", path);
	if (fd < 0)
		return TOOL_FAILED;
	int count = perf_trace("perf", fd, path);
	if (!count)
		tool_error("perf", "no process in %s has such a file; `xaudit record --perf` makes one", path);
	else if (count > 0)
		status = TOOL_OK;
	close(fd);
	return status;
}
