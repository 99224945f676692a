/* SPDX-License-Identifier: MIT */
/* Findings: each is said once, when it is found; what comes again is counted. */
#define _GNU_SOURCE
#include "tool/check/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/memory.h"
#include "tool/tool.h"

const char *const check_kind_name[CHECK_KINDS] = {
	[CHECK_THREAD_INSIDE] = "thread-inside",
	[CHECK_SIGNAL_HANDLER] = "signal-handler",
	[CHECK_ATEXIT] = "atexit",
	[CHECK_KEY_DESTRUCTOR] = "key-destructor",
	[CHECK_THREAD_ATEXIT] = "thread-atexit",
	[CHECK_ATFORK] = "atfork",
	[CHECK_POINTER] = "pointer",
	[CHECK_LATE_CALL] = "late-call",
	[CHECK_LATE_ACCESS] = "late-access",
	[CHECK_STAYED] = "stayed",
	[CHECK_GROWTH] = "growth",
};

struct check_finding *check_findings;
struct check_counts check_counts;

static struct check_finding **last = &check_findings;
static FILE *out;
static bool failed;

/* ---- making ---- */

struct check_finding *check_finding(enum check_kind kind, const struct check_process *process, pid_t tid,
	const char *library, const char *format, ...)
{
	struct check_finding *f = memory_zeroed(1, sizeof(*f));
	va_list args;

	f->kind = kind;
	f->possible = kind == CHECK_POINTER;
	f->severity = f->possible ? CHECK_NOTE : CHECK_ERROR;
	f->library = memory_format("%s", library);
	f->pid = process->pid;
	f->tid = tid;
	memcpy(f->process, process->name, sizeof(f->process));
	va_start(args, format);
	if (vasprintf(&f->text, format, args) < 0)
		f->text = memory_format("%s", format);
	va_end(args);
	f->times = 1;
	return f;
}

void check_finding_detail(struct check_finding *f, char *detail)
{
	f->detail = memory_resize(f->detail, f->details + 1, sizeof(*f->detail));
	f->detail[f->details++] = detail;
}

void check_finding_stack(
	struct check_finding *f, struct check_names *names, struct check_snapshot *snapshot, const char *title)
{
	int i = f->title[0] ? 1 : 0;

	f->title[i] = memory_format("%s thread %d \"%s\"", title, (int)snapshot->tid, snapshot->name);
	check_unwind(names, snapshot, &f->stack[i]);
	check_stack_name(names, &f->stack[i]);
}

void check_finding_closer(
	struct check_finding *f, struct check_names *names, struct check_snapshot *snapshot, const char *title)
{
	int i = f->title[0] ? 1 : 0;

	check_finding_stack(f, names, snapshot, title);
	check_stack_trim(&f->stack[i]);
}

void check_finding_free(struct check_finding *f)
{
	for (int i = 0; i < CHECK_STACKS; i++) {
		check_stack_free(&f->stack[i]);
		free(f->title[i]);
	}
	for (size_t i = 0; i < f->details; i++)
		free(f->detail[i]);
	free(f->detail);
	free(f->library);
	free(f->text);
	free(f->more);
	free(f);
}

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

/* ---- text ---- */

static void put_frame(FILE *to, size_t number, const struct check_frame *frame, const char *library)
{
	fprintf(to, "    #%-2zu ", number);
	if (frame->function) {
		tool_text(to, frame->function);
	} else if (frame->object) {
		tool_text(to, check_base(frame->object));
		fprintf(to, "+0x%" PRIx64, frame->offset);
	} else {
		fprintf(to, "0x%" PRIx64, frame->address);
	}
	if (frame->file) {
		fputs(" at ", to);
		tool_text(to, frame->file);
		fprintf(to, ":%d", frame->line);
	}
	if (frame->function && frame->object) {
		fputs(" in ", to);
		tool_text(to, check_base(frame->object));
	}
	if (frame->object && !strcmp(frame->object, library))
		fputs(" (unloaded)", to);
	putc('\n', to);
}

static const char *prefix(const struct check_finding *f)
{
	return f->possible ? "possible " : f->severity == CHECK_NOTE ? "note: " : "";
}

static void put_text(FILE *to, const struct check_finding *f)
{
	fprintf(to, "xaudit check: %s%s: ", prefix(f), check_kind_name[f->kind]);
	tool_text(to, f->text);
	if (f->more) {
		fputs(", ", to);
		tool_text(to, f->more);
	}
	fputs("\n  library ", to);
	tool_text(to, f->library);
	fprintf(to, "\n  process %d \"", (int)f->pid);
	tool_text(to, f->process);
	fputs("\"\n", to);
	for (size_t i = 0; i < f->details; i++) {
		fputs("  ", to);
		tool_text(to, f->detail[i]);
		putc('\n', to);
	}
	for (int i = 0; i < CHECK_STACKS && f->title[i]; i++) {
		fputs("  ", to);
		tool_text(to, f->title[i]);
		fputs(":\n", to);
		for (size_t k = 0; k < f->stack[i].count; k++)
			put_frame(to, k, &f->stack[i].frame[k], f->library);
		if (!f->stack[i].count)
			fputs("    (can't be unwound)\n", to);
	}
	if (check_options.generate)
		check_suppress_put(to, f);
}

/* The program writes to the same terminal: a finding goes out in one piece. */
static void say(const struct check_finding *f)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	put_text(to, f);
	fclose(to);
	fwrite(text, 1, size, out);
	fflush(out);
	failed = failed || ferror(out);
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
	if (!check_options.json)
		say(f);
}

/* ---- the whole ---- */

/*
 * Opens the file that the user named: a new one, or one that is there and no other user's; a link to it must not be
 * another user's either, who would choose what we write over. NULL after one line on stderr.
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

int check_report_open(void)
{
	out = check_options.output ? open_report(check_options.output) : stderr;
	return out ? 0 : -1;
}

#define NOTES_MAX 8

static size_t make_notes(const char **note)
{
	size_t n = 0;

	if (!check_counts.processes)
		note[n++] = "no process was checked: the module came up in none";
	if (check_counts.blind)
		note[n++] = "libraries that stay after dlclose were not looked for: this C library keeps its counts in "
			    "an unknown place";
	if (check_counts.listless)
		note[n++] = "functions for the ends of threads were not looked for, but with --scan: this C library "
			    "keeps them in an unknown place";
	if (check_counts.missed)
		note[n++] = "not all unloads were checked: too many libraries were closed at once";
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
	size_t notes = make_notes(note);
	unsigned errors = 0, others = 0, possible = 0;

	for (const struct check_finding *f = check_findings; f; f = f->next)
		(*(f->possible ? &possible : f->severity == CHECK_NOTE ? &others : &errors))++;
	if (check_options.json) {
		check_json(out, note, notes);
	} else {
		for (const struct check_finding *f = check_findings; f; f = f->next) {
			if (f->times < 2)
				continue;
			fprintf(out, "xaudit check: %u times: %s%s: ", f->times, prefix(f), check_kind_name[f->kind]);
			tool_text(out, f->text);
			putc('\n', out);
		}
		for (size_t i = 0; i < notes; i++) {
			fputs("xaudit check: ", out);
			tool_text(out, note[i]);
			putc('\n', out);
		}
		fprintf(out, "xaudit check: %u finding%s", errors, errors == 1 ? "" : "s");
		if (others)
			fprintf(out, ", %u note%s", others, others == 1 ? "" : "s");
		if (possible)
			fprintf(out, ", %u possible", possible);
		if (check_counts.suppressed)
			fprintf(out, ", %u suppressed", check_counts.suppressed);
		fprintf(out, "; %u unload%s in %u process%s checked\n", check_counts.unloads,
			check_counts.unloads == 1 ? "" : "s", check_counts.processes,
			check_counts.processes == 1 ? "" : "es");
	}
	failed = fflush(out) != 0 || ferror(out) || failed;
	if (out != stderr)
		failed = fclose(out) != 0 || failed;
	if (failed) {
		tool_error("check", "%s can't be written", check_options.output ? check_options.output : "the report");
		return -1;
	}
	return (int)errors;
}
