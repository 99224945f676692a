/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/labels.h"
#include "format/sched.h"
#include "runtime/files/output.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/index/cache.h"
#include "tool/index/cache_trim.h"
#include "tool/pack/compact_file.h"
#include "tool/record/indexing.h"
#include "tool/record/run.h"

enum content { CONTENT_EMPTY, CONTENT_TRACE, CONTENT_OTHER, CONTENT_UNREAD };

static int is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* "p123", "p123.4" */
bool record_is_process_name(const char *name)
{
	size_t n = strspn(name + 1, "0123456789");

	if (name[0] != 'p' || !n)
		return 0;
	name += 1 + n;
	return !*name || (*name == '.' && name[1] && !name[1 + strspn(name + 1, "0123456789")]);
}

/* "t0", "t0.4" */
bool record_is_thread_name(const char *name)
{
	size_t n = *name ? strspn(name + 1, "0123456789") : 0;

	if (name[0] != 't' || !n)
		return 0;
	name += 1 + n;
	return !*name || (*name == '.' && name[1] && !name[1 + strspn(name + 1, "0123456789")]);
}

/* Opens a folder for itself, not through a link. */
static int open_folder(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A stream of its own, from the beginning; fd stays open. */
static DIR *open_list(int fd)
{
	int own = open_folder(fd, ".");
	DIR *dir = own < 0 ? NULL : fdopendir(own);

	if (own >= 0 && !dir)
		close(own);
	return dir;
}

/* What is in a folder: a trace is told by its file record, or by a process folder with a meta file. */
static enum content look(int fd)
{
	enum content content = CONTENT_EMPTY;
	DIR *dir = open_list(fd);

	if (!dir)
		return CONTENT_UNREAD; /* errno says why */
	for (struct dirent *e; content != CONTENT_TRACE && (e = readdir(dir));) {
		char meta[300];

		if (is_dots(e->d_name))
			continue;
		content = CONTENT_OTHER;
		snprintf(meta, sizeof(meta), "%s/meta", e->d_name);
		if (!strcmp(e->d_name, "record") ||
			(record_is_process_name(e->d_name) && faccessat(fd, meta, F_OK, AT_SYMLINK_NOFOLLOW) == 0))
			content = CONTENT_TRACE;
	}
	closedir(dir);
	return content;
}

/* ---- removing a trace ---- */

/* A file of a process's folder. */
static bool is_of_process(const char *name)
{
	return !strcmp(name, "meta") || !strcmp(name, LABELS_NAME) || !strcmp(name, COMPACT_NEW) ||
	       record_is_thread_name(name);
}

/* Goes through a folder of such files: removes them and it, or only looks whether there are others. 0 or an errno. */
static int clear_folder(int at, const char *name, bool (*is_own)(const char *name), bool remove)
{
	int fd = open_folder(at, name), error = 0;
	DIR *dir = fd < 0 ? NULL : open_list(fd);

	if (!dir)
		error = errno == ENOTDIR || errno == ELOOP ? ENOTEMPTY : errno;
	for (struct dirent *e; dir && !error && (e = readdir(dir));) {
		if (is_dots(e->d_name))
			continue;
		if (!is_own(e->d_name))
			error = ENOTEMPTY;
		else if (remove && unlinkat(fd, e->d_name, 0) < 0)
			error = errno;
	}
	if (dir)
		closedir(dir);
	if (fd >= 0)
		close(fd);
	if (remove && !error && unlinkat(at, name, AT_REMOVEDIR) < 0)
		error = errno;
	return error;
}

/*
 * Does with a trace folder what clear_folder() does; the folder itself stays. 0 or an errno: ENOTEMPTY when it holds
 * more than a trace.
 */
static int clear_trace(int fd, bool remove)
{
	DIR *dir = open_list(fd);
	int error = dir ? 0 : errno;

	for (struct dirent *e; dir && !error && (e = readdir(dir));) {
		if (is_dots(e->d_name))
			continue;
		if (record_is_process_name(e->d_name))
			error = clear_folder(fd, e->d_name, is_of_process, remove);
		else if (!strcmp(e->d_name, RECORD_INDEXES))
			error = clear_folder(fd, RECORD_INDEXES, cache_is_name, remove);
		else if (strcmp(e->d_name, "record") && strcmp(e->d_name, SCHED_NAME))
			error = ENOTEMPTY;
		else if (remove && unlinkat(fd, e->d_name, 0) < 0)
			error = errno;
	}
	if (dir)
		closedir(dir);
	return error;
}

/* ---- what is there ---- */

/* A folder that may be in the way. */
struct there {
	int fd;	    /* -1: there is none */
	int record; /* its file record, locked by us if that can be; -1: none */
	enum content content;
};

static void close_there(struct there *there)
{
	if (there->fd >= 0)
		close(there->fd);
	if (there->record >= 0)
		close(there->record);
}

/* Does another command record into it? On file systems without locks that can't be known. */
static bool is_busy(int record)
{
	return flock(record, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static int refuse_busy(const char *path)
{
	record_error("another xaudit record writes into %s; wait for its end, or name another folder with %s",
		path, record_names.folder);
	return -1;
}

static bool is_trusted(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0);
}

/* what: what is wrong with the folder at path. old: it is DIR.old. */
static int refuse(const char *path, bool old, const char *what)
{
	if (old)
		record_error("%s is in the way of the trace that was there before: it %s; move it away", path,
			what);
	else
		record_error("%s exists and %s; name another one with %s", path, what, record_names.folder);
	return -1;
}

/* Looks at the folder `name`, whose path is for messages. 0, or -1 after one line on stderr; close_there() in both
 * cases. */
static int look_there(struct there *there, int parent, const char *name, const char *path, bool old)
{
	struct stat st;

	*there = (struct there){.fd = -1, .record = -1};
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return 0;
		record_error("%s can't be used: %s", path, strerror(errno));
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return refuse(path, old, S_ISLNK(st.st_mode) ? "is a link, which is not followed" : "is no folder");
	there->fd = open_folder(parent, name);
	if (there->fd < 0) {
		char *what = memory_format("can't be read: %s", strerror(errno));

		refuse(path, old, what);
		free(what);
		return -1;
	}
	if (!is_trusted(there->fd))
		return refuse(path, old, "belongs to another user");
	there->content = look(there->fd);
	if (there->content == CONTENT_UNREAD) {
		record_error("%s can't be read: %s", path, strerror(errno));
		return -1;
	}
	if (there->content == CONTENT_OTHER)
		return refuse(path, old, old ? "holds no trace" : "is no trace, so it stays untouched");
	there->record = openat(there->fd, "record", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return there->record >= 0 && is_busy(there->record) ? refuse_busy(path) : 0;
}

/* Looks at DIR.old, which has to give way for DIR: if it must not be moved that is said now. */
static int look_at_old(struct there *there, int parent, const char *name, const char *path)
{
	if (look_there(there, parent, name, path, true) < 0)
		return -1;
	int error = there->fd < 0 ? 0 : clear_trace(there->fd, false);
	if (!error)
		return 0;
	record_error("the older trace %s can't be removed: %s; remove it yourself", path,
		error == ENOTEMPTY ? "it holds files of other origin" : strerror(error));
	return -1;
}

/* ---- names ---- */

/* Renames, but never replaces anything, as far as the file system can promise that. 0 or an errno. */
static int change_name(int parent, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(parent, from, parent, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (fstatat(parent, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(parent, from, parent, to) < 0 ? errno : 0;
}

static char *old_name(const struct record_folder *folder)
{
	return memory_format("%s.old", folder->name);
}

static char *aside_name(const struct record_folder *folder)
{
	return memory_format("%s.old.%d", folder->name, (int)getpid());
}

/* Gives older traces their names back. */
static void restore_names(struct record_folder *folder)
{
	char *old = old_name(folder), *aside = aside_name(folder);
	int error = folder->kept ? change_name(folder->parent, old, folder->name) : 0;

	if (error)
		record_error("%s.old can't become %s again: %s", folder->path, folder->path, strerror(error));
	else if (folder->aside && (error = change_name(folder->parent, aside, old)))
		record_error("%s.old.%d can't become %s.old again: %s", folder->path, (int)getpid(),
			folder->path, strerror(error));
	folder->kept = folder->aside = false;
	free(old);
	free(aside);
}

/* DIR becomes DIR.old, and an earlier DIR.old becomes DIR.old.PID. 0, or -1 after one line on stderr. */
static int keep_older(struct record_folder *folder, bool has_old)
{
	char *old = old_name(folder), *aside = aside_name(folder);
	int error = has_old ? change_name(folder->parent, old, aside) : 0;

	folder->aside = has_old && !error;
	if (!error) {
		error = change_name(folder->parent, folder->name, old);
		folder->kept = !error;
	}
	if (error) {
		record_error("the trace %s can't be kept as %s.old: %s; name another folder with %s",
			folder->path, folder->path, strerror(error), record_names.folder);
		restore_names(folder);
	}
	free(old);
	free(aside);
	return error ? -1 : 0;
}

/* ---- making it ---- */

static int cannot_make(const struct record_folder *folder, long error)
{
	record_error("the folder %s can't be made: %s; name another one with %s", folder->path,
		error == OUTPUT_FOREIGN ? "another user put one in its place" : strerror((int)-error),
		record_names.folder);
	return -1;
}

/* Makes the file record, and locks it. */
static int make_record(struct record_folder *folder)
{
	long fd = output_make_file(folder->fd, "record");

	if (fd == -EEXIST)
		return refuse_busy(folder->path);
	if (fd < 0) {
		record_error("%s/record can't be written: %s", folder->path, strerror((int)-fd));
		return -1;
	}
	folder->record = (int)fd;
	return is_busy(folder->record) ? refuse_busy(folder->path) : 0;
}

/* Makes a new folder beside DIR, which gets the name DIR at the end. */
static int make_new(struct record_folder *folder, bool trace, bool has_old)
{
	char *name = memory_format("%s.new.%d", folder->name, (int)getpid());
	long fd = output_make(folder->parent, name, NULL);
	int result = -1, error;

	if (fd < 0) {
		cannot_make(folder, fd);
		goto out;
	}
	folder->fd = open_folder((int)fd, ".");
	close((int)fd);
	if (folder->fd < 0) {
		cannot_make(folder, -errno);
	} else if (make_record(folder) == 0 && (!trace || keep_older(folder, has_old) == 0)) {
		error = change_name(folder->parent, name, folder->name);
		if (!error)
			result = 0;
		else if (error == EEXIST || error == ENOTEMPTY)
			refuse_busy(folder->path);
		else
			cannot_make(folder, -error);
		if (error)
			restore_names(folder);
	}
	if (result < 0) {
		if (folder->fd >= 0)
			unlinkat(folder->fd, "record", 0);
		unlinkat(folder->parent, name, AT_REMOVEDIR);
	}
	folder->made = true;
out:
	free(name);
	return result;
}

static int open_parent(struct record_folder *folder)
{
	const char *slash = strrchr(folder->path, '/');
	char *parent = memory_format("%.*s", slash == folder->path ? 1 : (int)(slash - folder->path), folder->path);

	folder->name = slash[1] ? slash + 1 : "."; /* the root */
	folder->parent = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder->parent < 0)
		record_error("the folder %s can't be made: the one that it lies in can't be opened: %s",
			folder->path, strerror(errno));
	free(parent);
	return folder->parent < 0 ? -1 : 0;
}

int record_folder_make(struct record_folder *folder, char *path)
{
	struct there there = {.fd = -1, .record = -1}, old = there;
	int result = -1;

	*folder = (struct record_folder){.path = path, .parent = -1, .fd = -1, .record = -1};
	if (open_parent(folder) < 0)
		return -1;
	if (look_there(&there, folder->parent, folder->name, path, false) < 0)
		goto out;
	if (there.fd >= 0 && there.content == CONTENT_EMPTY) {
		folder->fd = open_folder(there.fd, ".");
		result = folder->fd < 0 ? cannot_make(folder, -errno) : make_record(folder);
		goto out;
	}
	if (there.fd >= 0) {
		char *name = old_name(folder), *old_path = memory_format("%s.old", path);

		result = look_at_old(&old, folder->parent, name, old_path);
		free(name);
		free(old_path);
		if (result < 0)
			goto out;
	}
	result = make_new(folder, there.fd >= 0, old.fd >= 0);
out:
	close_there(&there);
	close_there(&old);
	if (result < 0)
		record_folder_close(folder);
	return result;
}

int record_folder_remove(struct record_folder *folder)
{
	struct stat ours, there;
	int error = clear_trace(folder->fd, false);

	/* Another folder may have its name by now. */
	if (!error && (fstat(folder->fd, &ours) || fstatat(folder->parent, folder->name, &there, AT_SYMLINK_NOFOLLOW)))
		error = errno;
	if (!error && (ours.st_dev != there.st_dev || ours.st_ino != there.st_ino))
		error = ESTALE;
	if (!error)
		error = clear_trace(folder->fd, true);
	return !error && unlinkat(folder->parent, folder->name, AT_REMOVEDIR) < 0 ? errno : error;
}

void record_folder_close(struct record_folder *folder)
{
	int *const fd[] = {&folder->record, &folder->fd, &folder->parent};

	for (size_t i = 0; i < sizeof(fd) / sizeof(*fd); i++) {
		if (*fd[i] >= 0)
			close(*fd[i]);
		*fd[i] = -1;
	}
}

void record_folder_begun(struct record_folder *folder)
{
	/* The command runs: running out of memory must not end us. */
	char aside[NAME_MAX + 32];
	int fd = -1, error = 0;

	if (folder->aside) {
		snprintf(aside, sizeof(aside), "%s.old.%d", folder->name, (int)getpid());
		fd = open_folder(folder->parent, aside);
		error = fd < 0 ? errno : clear_trace(fd, true);
		if (!error && unlinkat(folder->parent, aside, AT_REMOVEDIR) < 0)
			error = errno;
	}
	if (error)
		record_error("the older trace %s.old.%d can't be removed: %s; remove it yourself", folder->path,
			(int)getpid(), strerror(error));
	if (fd >= 0)
		close(fd);
	folder->aside = false;
}

void record_folder_undo(struct record_folder *folder)
{
	unlinkat(folder->fd, "record", 0);
	unlinkat(folder->fd, SCHED_NAME, 0);
	clear_folder(folder->fd, RECORD_INDEXES, cache_is_name, true);
	if (folder->made && unlinkat(folder->parent, folder->name, AT_REMOVEDIR) == 0)
		restore_names(folder);
	record_folder_close(folder);
}

char *record_folder_temporary(const char *command)
{
	const char *where = getenv("TMPDIR");
	char *path = memory_format("%s/xaudit-%s.XXXXXX", where && *where == '/' ? where : "/tmp", command);

	if (mkdtemp(path))
		return path;
	tool_error(command, "the folder %s for the trace can't be made: %s; TMPDIR names another place", path,
		strerror(errno));
	free(path);
	return NULL;
}
