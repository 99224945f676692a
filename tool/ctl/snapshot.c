/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>   /* unlinkat */

#include "format/trace.h"
#include "runtime/files/output.h"
#include "runtime/snapshot/copy.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/rest.h"
#include "tool/base/tool.h"
#include "tool/ctl/folder.h"
#include "tool/pack/compact_file.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/show/show_trace.h"

#define FOLDERS_MAX 100000
#define SCRATCH	    "sparse" /* for the time of a copy */

/* Makes the folder. Returns its name and a descriptor of it, or NULL after one line on stderr. */
static char *make_output(const char *wanted, const char *number, int *fd)
{
	char *name = wanted ? memory_text(wanted, strlen(wanted)) : memory_format("xaudit.snapshot.%s", number);
	long r;

	for (unsigned n = 2; (r = output_make(AT_FDCWD, name, NULL)) < 0; n++) {
		if (wanted || r != -EEXIST || n > FOLDERS_MAX) {
			tool_error("ctl", "the folder %s can't be made: %s; -o names another one", name,
				r == OUTPUT_FOREIGN ? "another user put one in its place" : strerror((int)-r));
			free(name);
			return NULL;
		}
		free(name);
		name = memory_format("xaudit.snapshot.%s.%u", number, n);
	}
	*fd = (int)r;
	return name;
}

/* Takes back what a copy that failed has left: files that we made, in a folder that we made. */
static void remove_copy(int fd, const char *process, int to)
{
	int list = to < 0 ? -1 : openat(to, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = list < 0 ? NULL : fdopendir(list);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(to, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (list >= 0)
		close(list);
	if (to >= 0)
		unlinkat(fd, process, AT_REMOVEDIR);
}

/* Why there are no events. */
static const char *why_nothing(const struct ctl_trace *from)
{
	struct xaudit_read_trace *trace = show_trace_process("ctl", from->path, from->place);
	const struct xaudit_read_head *head = trace ? xaudit_read_process_head(xaudit_read_process(trace, 0)) : NULL;
	const char *why = "nothing that is switched on was called up to now";

	if (head && head->mode == TRACE_MODE_COUNT)
		why = "in mode count, calls are only counted";
	else if (head && !head->recording)
		why = "recording is stopped";
	xaudit_read_close(trace);
	return why;
}

static void tell(const struct ctl_trace *from, const struct snapshot_copied *copied)
{
	printf("%" PRIu64 " thread%s, %" PRIu64 " buffer%s, ", copied->threads, copied->threads == 1 ? "" : "s",
		copied->chunks, copied->chunks == 1 ? "" : "s");
	if (copied->bytes >= 1u << 20)
		printf("%.1f MiB", (double)copied->bytes / (1u << 20));
	else
		printf("%" PRIu64 " kB", (copied->bytes + 1023) / 1024);
	if (copied->gone)
		printf("; %" PRIu64 " older buffers were overwritten meanwhile", copied->gone);
	if (!copied->chunks)
		printf("; %s", why_nothing(from));
	putchar('\n');
}

/*
 * What is copied must have its holes. A family whose processes have ended may lack them: then a sparse copy of its
 * files is made beside ours, which the caller removes. Returns a descriptor, or -errno. *scratch: is it such a copy?
 */
static int open_source(const char *folder, int beside, bool *scratch)
{
	int source = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long to = source < 0 ? -errno : output_make(beside, SCRATCH, NULL);

	*scratch = to >= 0;
	if (to < 0) {
		if (source >= 0)
			close(source);
		return (int)to;
	}
	int r = compact_expand(source, (int)to);
	if (r == 1) {
		close(source);
		return (int)to;
	}
	remove_copy(beside, SCRATCH, (int)to);
	close((int)to);
	*scratch = false;
	if (r < 0)
		close(source);
	return r < 0 ? r : source;
}

/* Copies the process `from` to a folder of the new one, output. Returns the exit status. */
static int copy(const struct ctl_trace *from, const char *output, int fd, bool several)
{
	struct xaudit_read_trace *trace = show_trace_process(NULL, from->path, from->place);
	int to = -1, status = TOOL_FAILED;
	struct snapshot_copied copied;

	if (!trace) {
		tool_error(
			"ctl", "the trace in %s can't be copied to %s: its meta file is damaged", from->path, output);
		return TOOL_FAILED;
	}
	const struct xaudit_read_head *head = xaudit_read_process_head(xaudit_read_process(trace, 0));
	const char *own = tool_base(head->folder);
	char *base = head->place ? memory_format("p%" PRIu32, head->pid) : memory_text(own, strlen(own));
	bool scratch;
	int source = open_source(head->folder, fd, &scratch);
	long r = source < 0 ? source : output_make(fd, base, NULL);
	if (r >= 0) {
		to = (int)r;
		r = snapshot_copy(source, to, head->place, UINT32_MAX, tool_rest, &copied);
	}
	if (scratch)
		remove_copy(fd, SCRATCH, source);
	if (r) {
		remove_copy(fd, base, to);
		tool_error("ctl", "the trace in %s can't be copied to %s: %s", from->path, output,
			r == -EBADMSG ? "its meta file is damaged" : strerror((int)-r));
	} else {
		printf("%s%s%s: ", output, several ? "/" : "", several ? base : "");
		tell(from, &copied);
		status = TOOL_OK;
	}
	if (to >= 0)
		close(to);
	if (source >= 0)
		close(source);
	free(base);
	xaudit_read_close(trace);
	return status;
}

static const struct options_row rows[] = {
	{ 'o', "output", "DIR",
		"the folder (default: xaudit.snapshot.PID, or the first of .2, .3 ... behind it that is free)",
		.take = options_text },
	OPTIONS_HELP,
	{ 0 },
};

static const struct options_wording wording = CTL_WORDING("snapshot");

static const struct options_syntax syntax = {
	.command = "ctl",
	.rows = rows,
	.column = 20,
	.in_front = true,
	.wording = &wording,
	.head = "Usage: xaudit ctl PID snapshot [-o DIR]\n"
		"Copies the newest events of a process, which runs on meanwhile, to a trace\n"
		"folder of their own.\n"
		"\n"
		"Options:\n",
};

int ctl_snapshot(uint32_t pid, const struct ctl_trace *trace, size_t traces, int argc, char **argv)
{
	const char *wanted = NULL;
	int first = options_take(&syntax, &wanted, argc, argv);

	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	if (first < argc) {
		tool_error("ctl", "snapshot takes no '%s'; -o names the folder", argv[first]);
		return TOOL_USAGE;
	}
	const char *base = tool_base(trace->path);
	char *number = pid ? memory_format("%" PRIu32, pid)
			   : memory_text(base + (*base == 'p'), strcspn(base + (*base == 'p'), "."));
	int fd, status = TOOL_FAILED;
	char *output = make_output(wanted, number, &fd);

	if (output) {
		status = TOOL_OK;
		for (size_t i = 0; i < traces; i++)
			if (copy(&trace[i], output, fd, traces > 1) != TOOL_OK)
				status = TOOL_FAILED;
		close(fd);
		/* Only if nothing could be copied is it empty. */
		if (status != TOOL_OK)
			rmdir(output);
	}
	free(output);
	free(number);
	return status;
}
