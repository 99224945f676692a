/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/base/tool.h"
#include "tool/check/finding.h"
#include "tool/check/stack.h"
#include "tool/check/state.h"
#include "tool/check/suppress.h"

struct check_finding *check_findings;

static struct check_finding **last = &check_findings;
static const struct check_form *form;
static FILE *out;
static int failed; /* an errno: why not all could be written; 0: it could */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same(const struct check_finding *a, const struct check_finding *b)
{
	if (a->kind != b->kind || strcmp(a->library, b->library) || strcmp(a->text, b->text) ||
		strcmp(a->process, b->process))
		return false;
	for (int i = 0; i < CHECK_STACKS; i++) {
		if (a->stack[i].count != b->stack[i].count)
			return false;
		for (size_t k = 0; k < a->stack[i].count; k++) {
			const struct check_frame *f = &a->stack[i].frame[k], *g = &b->stack[i].frame[k];

			if (!same_text(f->function, g->function) || !same_text(f->object, g->object) ||
				f->line != g->line)
				return false;
		}
	}
	return true;
}

/* ---- telling ---- */

/* errno was 0 before it was written. */
static void write_out(void)
{
	if ((fflush(out) || ferror(out)) && !failed)
		failed = errno ? errno : EIO;
}

/* The program may write to the same terminal: a finding is written in one piece. */
static void say(const struct check_finding *f)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	form->finding(to, f);
	fclose(to);
	errno = 0;
	fwrite(text, 1, size, out);
	write_out();
	free(text);
}

void check_found(struct check_finding *f)
{
	if (check_suppressed(f)) {
		check_counts.suppressed++;
		check_finding_free(f);
		return;
	}
	for (struct check_finding *other = check_findings; other; other = other->next) {
		if (same(f, other)) {
			other->times++;
			check_finding_free(f);
			return;
		}
	}
	*last = f;
	last = &f->next;
	if (form->finding)
		say(f);
}

/* ---- the whole ---- */

/*
 * Opens the file that the user named: a new one, or one that is there and no other user's; a link to it must not be
 * another user's either, since that user would choose which file we overwrite. NULL after one line on stderr.
 */
static FILE *open_report(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0 && errno == EEXIST && lstat(path, &st) == 0) {
		if (!S_ISCHR(st.st_mode) && st.st_uid != geteuid() && st.st_uid != 0)
			goto foreign;
		fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | (S_ISLNK(st.st_mode) ? 0 : O_NOFOLLOW));
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
			if (st.st_uid != geteuid() && st.st_uid != 0)
				goto foreign;
			if (ftruncate(fd, 0) < 0) {
				int error = errno;

				close(fd);
				fd = -1;
				errno = error;
			}
		}
	}
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	if (!to) {
		tool_error("check", "%s can't be written: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return to;
foreign:
	tool_error("check", "%s can't be written: it belongs to another user; name another file with -o", path);
	if (fd >= 0)
		close(fd);
	return NULL;
}

int check_report_open(const struct check_form *as)
{
	form = as;
	out = check_options.output ? open_report(check_options.output) : stderr;
	return out ? 0 : -1;
}

#define NOTES_MAX 10

static size_t make_notes(const char **note)
{
	size_t n = 0;

	if (!check_counts.processes)
		note[n++] = "no process was checked: the module came up in none";
	if (check_counts.processes && check_counts.unchecked)
		note[n++] = "some processes ran unchecked: statically linked ones, those in another namespace of "
			    "processes or under valgrind, or ones that ended at once";
	if (check_counts.blind)
		note[n++] = "libraries that stay after dlclose were not looked for: this C library keeps its counts in "
			    "an unknown place";
	if (check_counts.listless)
		note[n++] = "functions for the ends of threads were not looked for, but with --scan: this C library "
			    "keeps them in an unknown place";
	if (check_counts.missed)
		note[n++] = "not all unloads were checked: too many libraries were closed at once";
	if (check_counts.confined)
		note[n++] = "a process put itself under a filter of system calls (seccomp): its later unloads were not "
			    "checked";
	if (check_counts.unstopped)
		note[n++] = "some threads did not stop in time and were not looked at";
	if (check_counts.unreserved)
		note[n++] = "some unloaded ranges could not be reserved: late calls into them would not be seen";
	if (check_counts.unsuppressed)
		note[n++] = "the suppressions that come with xaudit, default.supp, were not found";
	return n;
}

int check_report_close(void)
{
	const char *note[NOTES_MAX];
	struct check_sums sums = { 0 };

	for (const struct check_finding *f = check_findings; f; f = f->next)
		(*(f->possible ? &sums.possible : f->severity == CHECK_NOTE ? &sums.others : &sums.errors))++;
	errno = 0;
	form->end(out, note, make_notes(note), &sums);
	write_out();
	if (out != stderr && fclose(out) && !failed)
		failed = errno;
	if (failed) {
		tool_error("check", "%s can't be written: %s",
			check_options.output ? check_options.output : "the report", strerror(failed));
		return -1;
	}
	return (int)sums.errors;
}
