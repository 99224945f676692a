/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/check/suppress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/match/match.h"
#include "runtime/base/text.h"
#include "tool/base/json.h"
#include "tool/base/data.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/check/finding.h"
#include "tool/check/stack.h"
#include "tool/check/state.h"
#include "tool/show/term/names.h"

#define TOOL "Xaudit"

/* Frames in a generated suppression; any frames may follow them anyway. */
#define FRAMES_SHOWN 24

enum line_kind { LINE_FUNCTION, LINE_OBJECT, LINE_ANY };

struct line {
	enum line_kind kind;
	char *pattern; /* NULL: for LINE_ANY */
};

static struct suppression {
	struct suppression *next;
	char *name, *kind;
	char *library; /* NULL: any */
	struct line *line;
	size_t lines;
	char *file;
	unsigned number; /* its first line in the file */
	unsigned times;
} * first, **last = &first;

/* ---- reading ---- */

struct reader {
	FILE *file;
	const char *path;
	char *text;
	size_t room;
	unsigned number;
};

/* The next line that is not empty and no comment, without the space around it. NULL: the end. */
static char *next_line(struct reader *r)
{
	while (getline(&r->text, &r->room, r->file) >= 0) {
		char *text = r->text + strspn(r->text, " \t");
		size_t n = strlen(text);

		r->number++;
		while (n && strchr(" \t\r\n", text[n - 1]))
			text[--n] = '\0';
		if (n && *text != '#')
			return text;
	}
	return NULL;
}

static int bad(const struct reader *r, const char *what, const char *text)
{
	tool_error("check", "%s:%u: %s%s%s; see SUPPRESSIONS in xaudit-check(1)", r->path, r->number, what,
		text ? ": " : "", text ? text : "");
	return -1;
}

/* "Memcheck,Xaudit:KIND": the part after the colon, or NULL if the suppression is for other tools alone. */
static char *kind_for_us(char *text)
{
	char *colon = strchr(text, ':');
	size_t n;

	for (char *p = text; p < colon; p += n + 1) {
		n = strcspn(p, ",:");
		if (n == strlen(TOOL) && !strncmp(p, TOOL, n))
			return colon + 1;
	}
	return NULL;
}

static bool is_kind(const char *pattern)
{
	for (int i = 0; i < CHECK_KINDS; i++)
		if (rules_glob(pattern, check_kind_name[i]))
			return true;
	return false;
}

static int take_line(const struct reader *r, struct suppression *s, const char *text)
{
	const char *pattern = strncmp(text, "...", 4) ? text + 4 : NULL;
	struct line *line;

	if (pattern && strlen(text) <= 4)
		return bad(r, "expected lib:, fun: or obj: with a pattern, '...' or '}'", text);
	if (pattern && !strncmp(text, "lib:", 4)) {
		if (s->library || s->lines)
			return bad(r, "lib: comes once, and before the stack", NULL);
		s->library = memory_format("%s", pattern);
		return 0;
	}
	if (pattern && strncmp(text, "fun:", 4) && strncmp(text, "obj:", 4))
		return bad(r, "expected lib:, fun: or obj: with a pattern, '...' or '}'", text);
	s->line = memory_resize(s->line, s->lines + 1, sizeof(*s->line));
	line = &s->line[s->lines++];
	line->kind = !pattern ? LINE_ANY : *text == 'f' ? LINE_FUNCTION : LINE_OBJECT;
	line->pattern = pattern ? memory_format("%s", pattern) : NULL;
	return 0;
}

static void free_one(struct suppression *s)
{
	for (size_t i = 0; i < s->lines; i++)
		free(s->line[i].pattern);
	free(s->line);
	free(s->library);
	free(s->kind);
	free(s->name);
	free(s->file);
	free(s);
}

/* Reads the lines after a '{'. Returns 0, or -1 after one line on stderr. */
static int read_block(struct reader *r, struct suppression *s)
{
	char *text = next_line(r), *kind;
	bool ours;

	s->number = r->number;
	if (!text || *text == '}')
		return bad(r, "expected the name of a suppression", NULL);
	s->name = memory_format("%s", text);
	text = next_line(r);
	if (!text || !strchr(text, ':'))
		return bad(r, "expected " TOOL ":KIND", text);
	kind = kind_for_us(text);
	ours = kind;
	if (ours && !is_kind(kind))
		return bad(r, "there is no kind of finding", kind);
	s->kind = ours ? memory_format("%s", kind) : NULL;
	while ((text = next_line(r)) && strcmp(text, "}"))
		if (ours && take_line(r, s, text) < 0)
			return -1;
	return text ? 0 : bad(r, "the last suppression has no '}'", NULL);
}

static int read_blocks(struct reader *r)
{
	char *text;

	while ((text = next_line(r))) {
		if (strcmp(text, "{"))
			return bad(r, "expected '{'", text);
		struct suppression *s = memory_zeroed(1, sizeof(*s));
		int status = read_block(r, s);
		if (status < 0 || !s->kind) {
			free_one(s);
			if (status < 0)
				return -1;
			continue;
		}
		s->file = memory_format("%s", r->path);
		*last = s;
		last = &s->next;
	}
	return 0;
}

int check_suppress_read(const char *path)
{
	struct reader r = {.path = path, .file = fopen(path, "re")};
	int status = -1;

	if (r.file) {
		status = read_blocks(&r);
		if (!status && ferror(r.file))
			status = -2;
	}
	if (!r.file || status == -2)
		tool_error("check", "suppressions %s can't be read: %s", path, strerror(errno));
	if (r.file)
		fclose(r.file);
	free(r.text);
	return status ? -1 : 0;
}

int check_suppress_read_default(void)
{
	char *path = data_path("default.supp");
	int status = 0;

	if (access(path, F_OK) == 0)
		status = check_suppress_read(path);
	else
		check_counts.unsuppressed = 1;
	free(path);
	return status;
}

/* ---- matching ---- */

/* A pattern without a slash is compared with a path's last part. */
static bool matches_path(const char *pattern, const char *path)
{
	return path && rules_glob(pattern, strchr(pattern, '/') ? path : check_base(path));
}

static bool matches_frame(const struct line *line, const struct check_frame *frame)
{
	if (!strcmp(line->pattern, "*"))
		return true;
	if (line->kind == LINE_OBJECT)
		return matches_path(line->pattern, frame->object);
	return frame->function && names_match(line->pattern, frame->function);
}

/*
 * Does the stack begin so? '...' stands for any number of frames, also 0; the fewest are tried first, as for a glob's
 * star.
 */
static bool matches_stack(const struct suppression *s, const struct check_stack *stack)
{
	size_t i = 0, k = 0, again_line = 0, again_frame = 0;
	bool any = false;

	while (i < s->lines) {
		if (s->line[i].kind == LINE_ANY) {
			again_line = ++i;
			again_frame = k;
			any = true;
		} else if (k < stack->count && matches_frame(&s->line[i], &stack->frame[k])) {
			i++;
			k++;
		} else if (any && again_frame < stack->count) {
			i = again_line;
			k = ++again_frame;
		} else {
			return false;
		}
	}
	return true;
}

static bool matches(const struct suppression *s, const struct check_finding *f)
{
	if (!rules_glob(s->kind, check_kind_name[f->kind]) || (s->library && !matches_path(s->library, f->library)))
		return false;
	bool found = !s->lines;
	for (int i = 0; i < CHECK_STACKS && f->title[i] && !found; i++)
		found = matches_stack(s, &f->stack[i]);
	return found;
}

bool check_suppressed(const struct check_finding *f)
{
	for (struct suppression *s = first; s; s = s->next) {
		if (matches(s, f)) {
			s->times++;
			return true;
		}
	}
	return false;
}

/* ---- writing ---- */

/* Writes a pattern that matches the text. For a byte that would break a line, or steer a terminal, it has '?'. */
static void put_pattern(FILE *to, const char *text)
{
	while (*text) {
		const char *shown;
		size_t length, n = text_next(text, &shown, &length);

		if (shown != text) {
			for (size_t i = 0; i < n; i++)
				putc('?', to);
		} else {
			if (strchr("*?[\\", *text))
				putc('\\', to);
			fwrite(text, 1, n, to);
		}
		text += n;
	}
}

static void put_line(FILE *to, const char *key, const char *text)
{
	fprintf(to, "   %s:", key);
	put_pattern(to, text);
	putc('\n', to);
}

void check_suppress_put(FILE *to, const struct check_finding *f)
{
	const struct check_stack *stack = &f->stack[0];

	fprintf(to, "{\n   <name of a suppression>\n   " TOOL ":%s\n", check_kind_name[f->kind]);
	put_line(to, "lib", f->library);
	for (size_t i = 0; i < stack->count && i < FRAMES_SHOWN; i++) {
		const struct check_frame *frame = &stack->frame[i];

		if (frame->function)
			put_line(to, "fun", frame->function);
		else if (frame->object)
			put_line(to, "obj", frame->object);
		else
			fputs("   obj:*\n", to);
	}
	fputs("}\n", to);
}

void check_suppress_json(FILE *to)
{
	const char *comma = "";

	fputs("\"suppressions\":[", to);
	for (const struct suppression *s = first; s; s = s->next) {
		if (!s->times)
			continue;
		fprintf(to, "%s{\"name\":", comma);
		json_string(to, s->name);
		fputs(",\"file\":", to);
		json_string(to, s->file);
		fprintf(to, ",\"line\":%u,\"times\":%u}", s->number, s->times);
		comma = ",";
	}
	fputs("]", to);
}
