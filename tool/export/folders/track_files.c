/* SPDX-License-Identifier: MIT */
#include "tool/export/folders/track_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"

static void unlink_file(struct track_files *files, struct track_file *file)
{
	*(file->newer ? &file->newer->older : &files->newest) = file->older;
	*(file->older ? &file->older->newer : &files->oldest) = file->newer;
	file->newer = file->older = NULL;
}

static void link_newest(struct track_files *files, struct track_file *file)
{
	file->older = files->newest;
	*(file->older ? &file->older->newer : &files->oldest) = file;
	files->newest = file;
}

static bool write_all(int fd, const uint8_t *from, size_t size)
{
	while (size) {
		ssize_t wrote = write(fd, from, size);

		if (wrote < 0 && errno != EINTR)
			return false;
		from += wrote < 0 ? 0 : wrote;
		size -= wrote < 0 ? 0 : (size_t)wrote;
	}
	return true;
}

void track_files_flush(struct track_files *files, struct track_file *file)
{
	struct export *export = files->export;
	int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (file->made ? 0 : O_CREAT | O_EXCL);

	if (!file->used)
		return;
	if (files->before)
		files->before(export, file);
	int fd = export->failed ? -1 : openat(export->folder, file->name, flags, 0600);
	bool good = fd >= 0 && write_all(fd, file->buffer, file->used);
	/* Some file systems tell only then that there was no room. */
	if (fd >= 0)
		good = !close(fd) && good;
	if (!good && !export->failed) {
		tool_error("export", "%s/%s can't be written: %s", export->path, file->name, strerror(errno));
		export->failed = true;
	}
	file->made = true;
	file->used = 0;
}

static void close_file(struct track_files *files, struct track_file *file)
{
	track_files_flush(files, file);
	unlink_file(files, file);
	free(file->buffer);
	file->buffer = NULL;
	files->open--;
}

uint8_t *track_files_room(struct track_files *files, struct track_file *file, size_t size)
{
	if (file->buffer && file != files->newest) {
		unlink_file(files, file);
		link_newest(files, file);
	} else if (!file->buffer) {
		if (files->open == TRACK_FILES_OPEN)
			close_file(files, files->oldest);
		file->buffer = memory_resize(NULL, TRACK_FILES_PIECE, 1);
		link_newest(files, file);
		files->open++;
	}
	if (file->used + size > TRACK_FILES_PIECE)
		track_files_flush(files, file);
	file->used += size;
	return file->buffer + file->used - size;
}

void track_files_end(struct track_files *files)
{
	while (files->oldest)
		close_file(files, files->oldest);
}
