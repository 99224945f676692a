/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/show/term/term.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h> /* INT_MAX */
#include <locale.h>
#include <stdio.h>
#include <stdio_ext.h> /* __fsetlocking */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/base/whole.h"
#include "tool/show/term/fit.h"
#include "tool/show/term/pager.h"
#include "tool/show/term/progress.h"

#define LEAST_COLUMNS 20

static struct {
	bool no_pager, rows;
	bool began;	  /* something was written */
	unsigned columns; /* of the terminal; 0: not known */
	const char *ellipsis;
	char *line; /* the last one, which has no end yet; a NUL follows it */
	size_t length, room;
} term;

bool term_take_no_pager(const struct options_given *given)
{
	(void)given;
	term.no_pager = true;
	return true;
}

static bool cuts(void)
{
	return term.ellipsis && term.rows && term.columns;
}

/* As git and ls do: COLUMNS is what a person asked for, and comes first. */
static unsigned columns(void)
{
	const char *wanted = getenv("COLUMNS");
	struct winsize size;
	uint32_t number;

	if (wanted && options_digits(wanted, INT_MAX, &number))
		return number;
	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

/* Writes the line that is kept, cut. */
static void put_line(FILE *to)
{
	fit_line(to, term.line, term.length, term.columns, term.ellipsis);
	term.length = 0;
}

static void put_rows(FILE *to, const char *from, size_t size)
{
	const char *end = from + size;

	while (from < end) {
		const char *newline = memchr(from, '\n', (size_t)(end - from));
		size_t n = newline ? (size_t)(newline - from) + 1 : (size_t)(end - from);
		if (term.length + n + 1 > term.room) {
			term.room = 2 * (term.length + n) + 256;
			term.line = memory_resize(term.line, term.room, 1);
		}
		memcpy(term.line + term.length, from, n);
		term.length += n;
		term.line[term.length] = '\0';
		from += n;
		if (newline)
			put_line(to);
	}
}

/* from NULL: what is left. Returns 0 or an errno. */
static int write_rows(const char *from, size_t size)
{
	size_t shown_size;
	char *shown;
	FILE *to = memory_need(open_memstream(&shown, &shown_size));

	if (from)
		put_rows(to, from, size);
	else
		put_line(to);
	fclose(to);
	int error = whole_write(STDOUT_FILENO, memory_need(shown), shown_size, WHOLE_NEXT);
	free(shown);
	return error;
}

static void begin(void)
{
	progress_end();
	if (!term.began && !term.no_pager)
		pager_start();
	term.began = true;
}

static ssize_t take(void *cookie, const char *from, size_t size)
{
	(void)cookie;
	begin();
	int error = cuts() ? write_rows(from, size) : whole_write(STDOUT_FILENO, from, size, WHOLE_NEXT);
	if (!error)
		return (ssize_t)size;
	errno = error;
	return 0;
}

/* Runs after main() has flushed, or where a command ends early. */
static void end(void)
{
	if (!fflush(stdout) && term.length)
		write_rows(NULL, 0);
	progress_end();
	pager_wait();
}

bool term_is(void)
{
	return term.ellipsis;
}

unsigned term_columns(void)
{
	return cuts() ? term.columns : 0;
}

const char *term_ellipsis(void)
{
	static const char *ellipsis;

	if (!ellipsis) {
		setlocale(LC_CTYPE, "");
		ellipsis = strcmp(nl_langinfo(CODESET), "UTF-8") ? "..." : "\u2026";
		/* What the commands write is UTF-8 in any case: its widths are those that count. */
		setlocale(LC_CTYPE, "C.UTF-8");
	}
	return ellipsis;
}

void term_begin(bool rows)
{
	static const cookie_io_functions_t functions = { .write = take };
	FILE *stream;

	if (!isatty(STDOUT_FILENO))
		return;
	term.columns = columns();
	if (term.columns && term.columns < LEAST_COLUMNS)
		term.columns = LEAST_COLUMNS;
	term.ellipsis = term_ellipsis();
	fflush(stdout);
	stream = memory_need(fopencookie(NULL, "w", functions));
	setvbuf(stream, NULL, _IOFBF, 64 << 10);
	__fsetlocking(stream, FSETLOCKING_BYCALLER);
	stdout = stream;
	atexit(end);
	term.rows = rows;
}

void term_rows(bool rows)
{
	if (rows == term.rows)
		return;
	if (term.ellipsis)
		fflush(stdout);
	term.rows = rows;
}

static void put_elastic(FILE *file, const char *text, char begin)
{
	bool mark = file == stdout && cuts();

	if (mark)
		putc(begin, file);
	tool_text(file, text);
	if (mark)
		putc(FIT_END, file);
}

void term_text(FILE *file, const char *text)
{
	put_elastic(file, text, FIT_BEGIN);
}

void term_name(FILE *file, const char *name)
{
	put_elastic(file, name, FIT_NAME);
}
