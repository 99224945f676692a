/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/pack/pack_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/files/output.h"
#include "tool/base/memory.h"
#include "tool/base/thread.h"
#include "tool/base/tool.h"
#include "tool/pack/bare.h"
#include "tool/pack/block.h"
#include "tool/pack/sources.h"
#include "tool/pack/unpack.h"
#include "tool/pack/write.h"
#include "tool/read/pack/pack.h"
#include "tool/show/term/progress.h"

static unsigned processors(void)
{
	unsigned n = tool_processors();

	return n < PACK_JOBS_MOST ? n : PACK_JOBS_MOST;
}

static void say(const struct pack_order *order, const struct pack_write *write)
{
	const char *slash = write->at ? "/" : "", *at = write->at ? write->at : "";

	if (write->changed)
		tool_error(order->command, "%s%s%s is being written, so %s is not packed; wait for the end of the "
			"processes, or pack a copy that `xaudit ctl PID snapshot` makes", order->folder, slash, at,
			order->folder);
	else if (write->at)
		tool_error(order->command, "%s/%s can't be read: %s", order->folder, at, strerror(write->error));
	else
		tool_error(order->command, "%s can't be written: %s%s", order->file ? order->file : "standard output",
			strerror(write->error), order->replace || !order->file ? "" : "; -o names another file");
}

static int cannot(const struct pack_order *order, const char *file)
{
	tool_error(order->command, "%s can't be made: %s%s", file, strerror(errno),
		order->replace ? "" : "; -o names another file");
	return -1;
}

/* Gives the new file its name, once it is on the disk. What is there stays, or becomes file.old. */
static int name_it(const struct pack_order *order, const char *name)
{
	char *old = NULL;
	int fd = order->replace ? open(order->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1, result = 0;

	if (fd >= 0 && pack_is(fd)) {
		if (asprintf(&old, "%s.old", order->file) < 0)
			old = NULL;
		if (!old || rename(order->file, old))
			result = cannot(order, old ? old : order->file);
	}
	if (fd >= 0)
		close(fd);
	if (!result && renameat2(AT_FDCWD, name, AT_FDCWD, order->file, RENAME_NOREPLACE)) {
		struct stat st;
		bool unknown = errno == EINVAL || errno == ENOSYS;

		/* Some file systems can't promise not to replace. */
		if (unknown && !lstat(order->file, &st))
			errno = EEXIST;
		if ((!unknown || errno == EEXIST || rename(name, order->file)))
			result = cannot(order, order->file);
	}
	free(old);
	return result;
}

/* To standard output. */
static int pack_stream(struct pack_order *order, struct pack_write *write)
{
	int result;

	write->to = STDOUT_FILENO;
	write->stream = true;
	result = pack_write(write);
	progress_end();
	if (result)
		say(order, write);
	pack_write_free(write);
	return result;
}

static int pack_as_it_is(struct pack_order *order)
{
	struct pack_write write = { .folder = order->fd,
		.jobs = order->jobs ? order->jobs : processors(),
		.level = order->level ? order->level : PACK_LEVEL,
		.ours = order->ours,
		.progress = progress };
	struct stat st;
	char *name;
	int result = -1, failed;

	if (!order->file)
		return pack_stream(order, &write);
	write.to = -1;
	if (asprintf(&name, "%s.new.%d", order->file, (int)getpid()) < 0) {
		name = NULL;
		cannot(order, order->file);
		goto out;
	}
	if (!order->replace && !lstat(order->file, &st)) {
		errno = EEXIST;
		cannot(order, order->file);
		goto out;
	}
	/* As private as a trace is. */
	write.to = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (write.to < 0) {
		cannot(order, order->file);
		goto out;
	}
	failed = pack_write(&write);
	progress_end();
	if (failed) {
		say(order, &write);
	} else if (fsync(write.to)) {
		pack_failed(&write, errno, NULL);
		say(order, &write);
	} else if (!order->check || !unpack_check(order->command, name)) {
		result = name_it(order, name);
	}
	if (result)
		unlink(name);
	order->data = write.data;
	order->packed = write.packed;
out:
	pack_write_free(&write);
	if (write.to >= 0)
		close(write.to);
	free(name);
	return result;
}

/*
 * The trace is copied without values, beside the packed file, or for standard output where temporary files are; the
 * copy is packed. Nothing may write to the trace: of the copy, packing could not tell.
 */
static int pack_without_values(struct pack_order *order)
{
	struct pack_write look = { .folder = order->fd, .ours = order->ours };
	const char *set = getenv("TMPDIR"), *folder = set && *set ? set : "/tmp";
	char *name = order->file ? memory_format("%s.bare.%d", order->file, (int)getpid())
				 : memory_format("%s/xaudit.bare.%d", folder, (int)getpid());
	struct pack_order copy = *order;
	int result = pack_sources_find(&look);
	long to = -1;

	if (result)
		say(order, &look);
	else if ((to = output_make(AT_FDCWD, name, NULL)) < 0)
		tool_error(order->command, "%s, a copy without values, can't be made: %s", name, strerror((int)-to));
	if (to >= 0) {
		copy.fd = (int)to;
		copy.ours = true;
		result = bare_copy(order->command, order->folder, order->fd, (int)to) || pack_as_it_is(&copy) ? -1 : 0;
		bare_remove(AT_FDCWD, name);
		close((int)to);
	}
	order->data = look.data;
	order->packed = copy.packed;
	pack_write_free(&look);
	free(name);
	return to < 0 ? -1 : result;
}

int pack_folder(struct pack_order *order)
{
	return order->no_values ? pack_without_values(order) : pack_as_it_is(order);
}
