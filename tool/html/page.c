/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/html/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h> /* __fsetlocking */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/data.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"

#define NAME	      "page.html"
#define MARK	      "<!--XAUDIT-DATA-->\n"
#define TEMPLATE_MOST (16u << 20)

/* ---- template ---- */

/* Reads all of the file; NULL: it can't be read. */
static char *read_template(const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		return NULL;
	char *text = memory_zeroed(TEMPLATE_MOST + 1, 1);
	size_t size = fread(text, 1, TEMPLATE_MOST, file);
	bool read = !ferror(file) && feof(file);
	fclose(file);
	if (read)
		return memory_resize(text, size + 1, 1);
	free(text);
	return NULL;
}

bool page_template(const char *command, struct page_template *page)
{
	char *path = data_path(NAME), *mark;

	page->text = read_template(path);
	mark = page->text ? strstr(page->text, MARK) : NULL;
	if (mark) {
		*mark = '\0';
		page->behind = mark + strlen(MARK);
	} else {
		tool_error(command, "there is no page in %s: this xaudit was built without npm; install npm, and "
				    "build it again", path);
		free(page->text);
	}
	free(path);
	return mark != NULL;
}

/* ---- file ---- */

static bool cannot(const struct page_file *file, const char *what)
{
	tool_error(file->command, "%s can't be %s: %s", file->name, what, strerror(errno));
	return false;
}

/* Takes over the descriptor. */
static bool begin(struct page_file *file, int fd)
{
	file->to = fd < 0 ? NULL : fdopen(fd, "w");
	if (file->to) {
		setvbuf(file->to, NULL, _IOFBF, 256u << 10);
		/* One thread writes much, and needs no lock for each piece. */
		__fsetlocking(file->to, FSETLOCKING_BYCALLER);
		return true;
	}
	if (fd >= 0)
		close(fd);
	return cannot(file, "made");
}

bool page_open(struct page_file *file, const char *command, const char *name)
{
	struct stat st;

	*file = (struct page_file){ .command = command, .name = name };
	if (!strcmp(name, "-")) {
		file->to = stdout;
		return true;
	}
	if (!lstat(name, &st) && !S_ISREG(st.st_mode)) {
		if (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode)) {
			tool_error(command, "%s is a %s; -o names a file, and - standard output", name,
				S_ISLNK(st.st_mode) ? "link" : "folder");
			return false;
		}
		return begin(file, open(name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
	}
	file->new = memory_format("%s.new.%d", name, (int)getpid());
	/* As private as a trace is. */
	if (begin(file, open(file->new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)))
		return true;
	free(file->new);
	return false;
}

bool page_open_temporary(struct page_file *file, const char *command)
{
	const char *folder = getenv("TMPDIR");
	char *name = memory_format("%s/xaudit-XXXXXX.html", folder && *folder == '/' ? folder : "/tmp");

	*file = (struct page_file){ .command = command, .name = name, .temporary = true };
	return begin(file, mkostemps(name, strlen(".html"), O_CLOEXEC));
}

bool page_close(struct page_file *file)
{
	bool written;

	if (file->to == stdout)
		return true; /* main() says whether it could be written */
	written = !ferror(file->to);
	written = !fclose(file->to) && written;
	if (!written)
		cannot(file, "written");
	else if (file->new && rename(file->new, file->name))
		written = cannot(file, "made");
	if (!written && (file->new || file->temporary))
		unlink(file->new ? file->new : file->name);
	free(file->new);
	file->new = NULL;
	return written;
}

void page_drop(struct page_file *file)
{
	if (file->to == stdout)
		return;
	fclose(file->to);
	if (file->new || file->temporary)
		unlink(file->new ? file->new : file->name);
	free(file->new);
	file->new = NULL;
}
