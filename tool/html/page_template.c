/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/html/page_template.h"

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
