/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "format/trace.h"
#include "runtime/files/output.h"
#include "tool/base/clock_pair.h"
#include "tool/base/tool.h"
#include "tool/record/folder.h"
#include "tool/record/run.h"

/* Writes the word as it would be typed in a shell. */
static void put_quoted(FILE *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, to);
		return;
	}
	/* A line break would end the line of the file: such words are written as $'...'. */
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
	struct trace_pair pair = clock_pair();

	fprintf(to, "clock: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", pair.ticks, pair.mono, pair.real);
}

/* A stream for a descriptor that stays open. NULL and errno. */
static FILE *open_record(int record)
{
	int fd = fcntl(record, F_DUPFD_CLOEXEC, 0);
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
		record_error("%s/record can't be written: %s", folder->path, strerror(errno));
	return bad ? -1 : 0;
}

int record_file_begin(struct record_folder *folder, char **command)
{
	FILE *to = open_record(folder->record);
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

/* Is the file that we made still in the folder? */
static bool is_there(const struct record_folder *folder)
{
	struct stat ours, there;

	return fstat(folder->record, &ours) == 0 && fstatat(folder->fd, "record", &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* The file was removed: makes it again. */
static FILE *replace_record(struct record_folder *folder)
{
	long fd = output_make_file(folder->fd, "record");

	folder->robbed = true;
	/* Nothing can be made in a folder that is gone; NFS calls it stale. */
	if (fd == -ENOENT || fd == -ESTALE) {
		record_error("the trace folder %s was removed while the command ran, so there is no trace",
			folder->path);
		return NULL;
	}
	tool_error(
		"record", "%s/record was removed while the command ran, and perhaps more of the trace", folder->path);
	if (fd < 0) {
		record_error("%s/record can't be written: %s", folder->path, strerror((int)-fd));
		return NULL;
	}
	close(folder->record);
	folder->record = (int)fd;
	return open_record(folder->record);
}

int record_file_end(struct record_folder *folder, int pid, int status)
{
	FILE *to = is_there(folder) ? open_record(folder->record) : replace_record(folder);

	if (!to && folder->robbed)
		return -1;
	if (to) {
		put_pair(to);
		fprintf(to, "process: %d\n", pid);
		if (WIFSIGNALED(status))
			fprintf(to, "status: signal %d\n", WTERMSIG(status));
		else
			fprintf(to, "status: exit %d\n", WEXITSTATUS(status));
	}
	return close_record(folder, to);
}
