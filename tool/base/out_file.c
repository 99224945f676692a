/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/base/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h> /* __fsetlocking */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"

#define BUFFER (1u << 20)

static const char *name_of(const struct out_file *out)
{
	return out->path ? out->path : "standard output";
}

static bool cannot(const struct out_file *out)
{
	tool_error(out->command, "%s can't be written: %s", name_of(out), strerror(errno));
	return false;
}

/* One thread writes much, and needs no lock for each piece. */
static FILE *buffered(FILE *file, char **buffer)
{
	__fsetlocking(file, FSETLOCKING_BYCALLER);
	*buffer = memory_zeroed(BUFFER, 1);
	setvbuf(file, *buffer, _IOFBF, BUFFER);
	return file;
}

/* ---- an end before the end ---- */

static const char *volatile unfinished; /* the new file's path, as long as it is to go with the command; or NULL */

static void remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
}

static void on_signal(int number)
{
	remove_unfinished();
	/* What it did before is what it does now, when the handler is over. */
	raise(number);
}

static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

#define SIGNALS (sizeof(signals) / sizeof(*signals))

/* Nobody else has a file like it to begin before this one ends. */
static void watch(const char *made)
{
	static bool watched;
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
	struct sigaction before;

	unfinished = made;
	if (watched)
		return;
	watched = true;
	/* Where memory runs out, that ends the command, too. */
	atexit(remove_unfinished);
	for (unsigned i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

/* mkostemps(), and watches the file: no signal comes in between. */
static int make_watched(char *path, const char *ending)
{
	sigset_t set, before;
	int fd, error;

	sigemptyset(&set);
	for (unsigned i = 0; i < SIGNALS; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	fd = mkostemps(path, (int)strlen(ending), O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		watch(path);
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return fd;
}

/* ---- files ---- */

/* What the path leads to, through links, is replaced where it lies. NULL, errno: it can't be. */
static char *target_of(const char *path)
{
	char *target = realpath(path, NULL);

	/* A link to nowhere is no file that may be made: somebody else may have laid it. */
	struct stat st;
	if (!target && !lstat(path, &st))
		return NULL;
	return target ? target : memory_format("%s", path);
}

static bool make(struct out_file *out)
{
	char *target = target_of(out->path);
	int fd;

	if (!target)
		return cannot(out);
	out->target = target;
	out->made = memory_format("%s.XXXXXX", target);
	fd = make_watched(out->made, "");
	if (fd < 0) {
		free(out->made);
		out->made = NULL;
		return cannot(out);
	}
	out->file = memory_need(fdopen(fd, "w"));
	return true;
}

bool out_file_begin(struct out_file *out, const char *command, const char *path, bool terminal)
{
	struct stat st;
	int fd;

	*out = (struct out_file){ .command = command, .path = path && strcmp(path, "-") ? path : NULL };
	if (!out->path) {
		if (!terminal && isatty(STDOUT_FILENO)) {
			tool_error(command, "this format is not for a terminal; -o FILE names a file");
			return false;
		}
		out->file = stdout;
		return true;
	}
	if (!stat(out->path, &st) && !S_ISREG(st.st_mode)) {
		fd = S_ISDIR(st.st_mode) ? -1 : open(out->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		errno = S_ISDIR(st.st_mode) ? EISDIR : errno;
		if (fd < 0)
			return cannot(out);
		out->file = buffered(memory_need(fdopen(fd, "w")), &out->buffer);
		return true;
	}
	if (!make(out)) {
		free(out->made);
		free(out->target);
		out->made = out->target = NULL;
		return false;
	}
	buffered(out->file, &out->buffer);
	return true;
}

bool out_file_temporary(struct out_file *out, const char *command, const char *ending)
{
	const char *folder = getenv("TMPDIR");
	char *path = memory_format("%s/xaudit-XXXXXX%s", folder && *folder == '/' ? folder : "/tmp", ending);
	int fd = make_watched(path, ending);

	*out = (struct out_file){ .command = command, .path = path };
	if (fd < 0) {
		cannot(out);
		free(path);
		out->path = NULL;
		return false;
	}
	/* It has its name from the beginning. */
	out->made = memory_format("%s", path);
	out->target = memory_format("%s", path);
	out->file = buffered(memory_need(fdopen(fd, "w")), &out->buffer);
	return true;
}

bool out_file_end(struct out_file *out, bool whole)
{
	bool good = !fflush(out->file) && !ferror(out->file);

	if (!out->path)
		return good || tool_flush(out->command) == TOOL_OK;
	/* Some file systems tell only then that there was no room. */
	good = !fclose(out->file) && good;
	if (!good && errno == EPIPE && !out->made)
		good = true;
	else if (!good && whole)
		cannot(out);
	if (out->made && (!good || !whole)) {
		unlink(out->made);
	} else if (out->made && rename(out->made, out->target)) {
		good = cannot(out);
		unlink(out->made);
	}
	if (out->made)
		unfinished = NULL;
	free(out->made);
	free(out->target);
	free(out->buffer);
	return good;
}

/* ---- folders ---- */

int out_folder(const char *command, const char *path)
{
	struct stat st;
	/* An empty folder may have been made for us by anybody: so it is made again. */
	bool made = !mkdir(path, 0700) || (errno == EEXIST && !rmdir(path) && !mkdir(path, 0700));
	int fd = made ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	if (!made && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)) {
		tool_error(command, "%s is there already; remove it, or let -o name another folder", path);
	} else if (fd < 0 || fstat(fd, &st) || st.st_uid != geteuid()) {
		errno = fd < 0 ? errno : EACCES;
		tool_error(command, "the folder %s can't be made: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	return fd;
}

FILE *out_folder_file(const char *command, const char *path, int folder, const char *name)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		tool_error(command, "%s/%s can't be made: %s", path, name, strerror(errno));
	else
		__fsetlocking(file, FSETLOCKING_BYCALLER);
	return file;
}

bool out_folder_end(const char *command, const char *path, const char *name, FILE *file)
{
	bool good = !fflush(file) && !ferror(file);

	good = !fclose(file) && good;
	if (!good)
		tool_error(command, "%s/%s can't be written: %s", path, name, strerror(errno));
	return good;
}
