/* SPDX-License-Identifier: MIT */
/*
 * The trace folder: making it without hurting anybody, and DIR/record (the format is at the end of runtime/trace.h).
 *
 * Only what a trace consists of is ever removed, name by name: a folder that holds anything else can't be lost by us.
 */
#define _GNU_SOURCE
#include "tool/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "config.h"
#include "runtime/trace.h"
#include "tool/memory.h"
#include "tool/tool.h"

enum content { CONTENT_EMPTY, CONTENT_TRACE, CONTENT_OTHER, CONTENT_NONE /* no folder */ };

static int is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* "p123", "p123.4" */
static int is_process_name(const char *name)
{
	size_t n = strspn(name + 1, "0123456789");

	if (name[0] != 'p' || !n)
		return 0;
	name += 1 + n;
	return !*name || (*name == '.' && name[1] && !name[1 + strspn(name + 1, "0123456789")]);
}

static int is_thread_name(const char *name)
{
	return name[0] == 't' && name[1] && !name[1 + strspn(name + 1, "0123456789")];
}

static DIR *open_folder(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

/* What is in a folder: a trace is told by its file record, or by a process folder with a meta file. errno on CONTENT_NONE. */
static enum content look(const char *path)
{
	enum content content = CONTENT_EMPTY;
	DIR *dir = open_folder(AT_FDCWD, path);

	if (!dir)
		return CONTENT_NONE;
	for (struct dirent *e; content != CONTENT_TRACE && (e = readdir(dir));) {
		char meta[300];

		if (is_dots(e->d_name))
			continue;
		content = CONTENT_OTHER;
		snprintf(meta, sizeof(meta), "%s/meta", e->d_name);
		if (!strcmp(e->d_name, "record") ||
			(is_process_name(e->d_name) && faccessat(dirfd(dir), meta, F_OK, 0) == 0))
			content = CONTENT_TRACE;
	}
	closedir(dir);
	return content;
}

/* Removes the files of a trace, then the folder. 0, or -1 with errno: ENOTEMPTY when it holds more than a trace. */
static int remove_trace(const char *path)
{
	DIR *dir = open_folder(AT_FDCWD, path);

	if (!dir)
		return -1;
	for (struct dirent *e; (e = readdir(dir));) {
		if (!is_process_name(e->d_name))
			continue;
		DIR *process = open_folder(dirfd(dir), e->d_name);
		if (!process)
			continue;
		for (struct dirent *file; (file = readdir(process));)
			if (!strcmp(file->d_name, "meta") || is_thread_name(file->d_name))
				unlinkat(dirfd(process), file->d_name, 0);
		closedir(process);
		unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	}
	unlinkat(dirfd(dir), "record", 0);
	closedir(dir);
	return rmdir(path);
}

/* Makes way for a folder that becomes `old`. */
static int clear_old(const char *old)
{
	struct stat st;
	enum content content;

	if (lstat(old, &st) < 0) {
		if (errno == ENOENT)
			return 0;
	} else if (!S_ISDIR(st.st_mode)) {
		tool_error("record",
			"%s is in the way of the trace that was there before: it is no folder; move it away", old);
		return -1;
	}
	content = look(old);
	if (content == CONTENT_OTHER) {
		tool_error("record",
			"%s is in the way of the trace that was there before: it holds no trace; move it away", old);
		return -1;
	}
	if (content != CONTENT_NONE && (content == CONTENT_EMPTY ? rmdir(old) : remove_trace(old)) == 0)
		return 0;
	tool_error("record", "the older trace %s can't be removed: %s; remove it yourself", old,
		errno == ENOTEMPTY || errno == EEXIST ? "it holds files of other origin" : strerror(errno));
	return -1;
}

int record_folder_make(struct record_folder *folder, char *path)
{
	struct stat st;
	enum content content = CONTENT_NONE;

	*folder = (struct record_folder){ .path = path, .fd = -1 };
	if (stat(path, &st) == 0) {
		if (!S_ISDIR(st.st_mode)) {
			tool_error("record", "%s exists and is no folder; name another one with -o", path);
			return -1;
		}
		content = look(path);
		if (content == CONTENT_NONE) {
			tool_error("record", "%s can't be read: %s; name another one with -o", path, strerror(errno));
			return -1;
		}
		if (content == CONTENT_OTHER) {
			tool_error("record",
				"%s exists and is no trace, so it stays untouched; name another one with -o", path);
			return -1;
		}
	} else if (errno != ENOENT) {
		tool_error("record", "%s can't be used: %s", path, strerror(errno));
		return -1;
	}

	if (content == CONTENT_TRACE) {
		char *old = memory_format("%s.old", path);
		int result = clear_old(old);

		if (result == 0 && rename(path, old) < 0) {
			tool_error("record", "the trace %s can't be kept as %s: %s", path, old, strerror(errno));
			result = -1;
		}
		free(old);
		if (result < 0)
			return -1;
		folder->kept = true;
	}
	if (content != CONTENT_EMPTY && mkdir(path, 0777) < 0) {
		tool_error("record", "the folder %s can't be made: %s", path, strerror(errno));
		return -1;
	}
	folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0) {
		tool_error("record", "the folder %s can't be opened: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

void record_folder_undo(struct record_folder *folder)
{
	unlinkat(folder->fd, "record", 0);
	close(folder->fd);
	if (rmdir(folder->path) == 0 && folder->kept) {
		char *old = memory_format("%s.old", folder->path);
		if (rename(old, folder->path) < 0)
			tool_error("record", "%s can't become %s again: %s", old, folder->path, strerror(errno));
		free(old);
	}
}

/* ---- DIR/record ---- */

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Reads all clocks as close together as can be had: an interrupt between two of them would bend the conversion. */
static struct trace_pair read_pair(void)
{
	struct trace_pair best = { 0 };
	uint64_t smallest = UINT64_MAX;

	for (int i = 0; i < 32; i++) {
		uint64_t before = __rdtsc();
		uint64_t mono = now(CLOCK_MONOTONIC);
		uint64_t between = __rdtsc();
		uint64_t real = now(CLOCK_REALTIME);
		uint64_t after = __rdtsc();

		if (after - before < smallest) {
			smallest = after - before;
			best = (struct trace_pair){
				.ticks = before + (between - before) / 2, .mono = mono, .real = real
			};
		}
	}
	return best;
}

/* As a shell would need it to be typed. */
static void put_quoted(FILE *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, to);
		return;
	}
	/* A line break would end the line of the file: such words go as $'...'. */
	int dollar = 0;
	for (const char *p = word; *p; p++)
		dollar |= (unsigned char)*p < ' ' || *p == 127;
	fputs(dollar ? "$'" : "'", to);
	for (const char *p = word; *p; p++) {
		if (dollar && ((unsigned char)*p < ' ' || *p == 127))
			fprintf(to, "\\%03o", (unsigned char)*p);
		else if (dollar && (*p == '\\' || *p == '\''))
			fprintf(to, "\\%c", *p);
		else if (*p == '\'')
			fputs("'\\''", to);
		else
			putc(*p, to);
	}
	putc('\'', to);
}

static void put_pair(FILE *to)
{
	struct trace_pair pair = read_pair();

	fprintf(to, "clock: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", pair.ticks, pair.mono, pair.real);
}

static FILE *open_record(const struct record_folder *folder, int flags)
{
	int fd = openat(folder->fd, "record", O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "a");

	if (fd >= 0 && !to)
		close(fd);
	return to;
}

static int close_record(const struct record_folder *folder, FILE *to)
{
	int bad = !to || ferror(to);

	if (to && fclose(to))
		bad = 1;
	if (bad)
		tool_error("record", "%s/record can't be written: %s", folder->path, strerror(errno));
	return bad ? -1 : 0;
}

int record_folder_begin(struct record_folder *folder, char **command)
{
	FILE *to = open_record(folder, O_CREAT);
	struct stat st;

	if (to) {
		fputs("version: " PACKAGE_VERSION "\ncommand:", to);
		for (; *command; command++) {
			putc(' ', to);
			put_quoted(to, *command);
		}
		putc('\n', to);
		put_pair(to);
		if (fstat(folder->fd, &st) == 0)
			folder->changed = st.st_mtim;
	}
	return close_record(folder, to);
}

int record_folder_end(struct record_folder *folder, int status)
{
	FILE *to = open_record(folder, 0);

	if (!to && (errno == ENOENT || errno == ESTALE)) {
		folder->robbed = true;
		to = open_record(folder, O_CREAT);
		/* Nothing can be made in a folder that is gone; NFS calls it stale. */
		if (!to && (errno == ENOENT || errno == ESTALE)) {
			tool_error("record", "the trace folder %s was removed while the command ran, so there is no trace",
				folder->path);
			return -1;
		}
		tool_error("record", "%s/record was removed while the command ran, and perhaps more of the trace",
			folder->path);
	}

	if (to) {
		put_pair(to);
		if (WIFSIGNALED(status))
			fprintf(to, "status: signal %d\n", WTERMSIG(status));
		else
			fprintf(to, "status: exit %d\n", WEXITSTATUS(status));
	}
	return close_record(folder, to);
}
