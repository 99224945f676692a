/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/values/ltrace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/base/memory.h"
#include "tool/base/plain.h"
#include "tool/values/token.h"

#define MOST	(4u << 20) /* bytes of a file */
#define NESTED	16	   /* lenses in lenses */
#define FOLDER	"/usr/share/ltrace"

/* What C has for a lens. */
struct lens {
	const char *type;      /* "unsigned int"; NULL: a structure, or an array */
	const char *attribute; /* "hex"; NULL: none */
	char bytes[24];	       /* SIZE of bytes(); "": none */
	bool is_out, is_text, is_pointer, is_more;
};

struct alias {
	char *name;
	struct lens lens;
};

struct reading {
	struct token t;
	struct alias *alias;
	size_t aliases;
};

static bool is(const struct reading *r, const char *word)
{
	return strlen(word) == r->t.length && !strncmp(r->t.word, word, r->t.length);
}

static bool take(struct reading *r, const char *word)
{
	if (!is(r, word))
		return false;
	token_next(&r->t);
	return true;
}

/* What is in brackets, up to the last one. */
static bool skip(struct reading *r, const char *open, const char *close)
{
	unsigned depth = 1;

	while (depth && r->t.length) {
		depth += is(r, open);
		depth -= is(r, close);
		token_next(&r->t);
	}
	return !depth;
}

/* How many bytes a text has, in its brackets: argN, retval, a number; else it ends with a NUL. */
static bool size(struct reading *r, const char *close, struct lens *lens)
{
	if (is(r, "retval"))
		snprintf(lens->bytes, sizeof(lens->bytes), "ret");
	else if (r->t.length < sizeof(lens->bytes) && !is(r, "zero") && !is(r, "array") && !is(r, "char"))
		snprintf(lens->bytes, sizeof(lens->bytes), "%.*s", (int)r->t.length, r->t.word);
	if (lens->bytes[0]) {
		token_next(&r->t);
		/* An expression, not a word. */
		if (!is(r, close))
			lens->bytes[0] = '\0';
	}
	return skip(r, !strcmp(close, "]") ? "[" : "(", close);
}

static bool lens(struct reading *r, struct lens *to, int depth);

/* oct(TYPE) and others, behind the word. */
static bool decorated(struct reading *r, struct lens *to, const char *attribute, int depth)
{
	/* `octal` alone is a type. */
	if (!take(r, "(")) {
		to->type = "int";
		to->attribute = attribute;
		return true;
	}
	if (!lens(r, to, depth + 1) || !take(r, ")"))
		return false;
	if (to->type && !to->is_pointer && strcmp(to->type, "float") != 0 && strcmp(to->type, "double") != 0)
		to->attribute = attribute;
	return true;
}

static bool enumeration(struct reading *r, struct lens *to, int depth)
{
	to->type = "int";
	if (take(r, "[") && (!lens(r, to, depth + 1) || !take(r, "]")))
		return false;
	return take(r, "(") && skip(r, "(", ")");
}

/* A type without stars. */
static bool base(struct reading *r, struct lens *to, int depth)
{
	static const struct {
		const char *word, *type;
	} types[] = { { "void", "void" }, { "char", "char" }, { "short", "short" }, { "ushort", "unsigned short" },
		{ "int", "int" }, { "uint", "unsigned int" }, { "long", "long" }, { "ulong", "unsigned long" },
		{ "float", "float" }, { "double", "double" } };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (take(r, types[i].word)) {
			to->type = types[i].type;
			return true;
		}
	if (take(r, "addr") || take(r, "file")) {
		to->type = "void *";
		return to->is_pointer = true;
	}
	if (is(r, "string") || is(r, "format")) {
		to->is_more = is(r, "format");
		token_next(&r->t);
		to->type = "char *";
		to->is_text = to->is_pointer = true;
		if (take(r, "["))
			return size(r, "]", to);
		return !take(r, "(") || size(r, ")", to);
	}
	if (take(r, "hex") || take(r, "bitvec"))
		return decorated(r, to, "hex", depth);
	if (take(r, "oct") || take(r, "octal"))
		return decorated(r, to, "octal", depth);
	if (take(r, "bool") || take(r, "guess"))
		return decorated(r, to, NULL, depth);
	if (take(r, "hide"))
		return decorated(r, to, "secret", depth);
	if (take(r, "enum"))
		return enumeration(r, to, depth);
	if (take(r, "struct") || take(r, "array"))
		return take(r, "(") && skip(r, "(", ")");
	for (size_t i = r->aliases; i--;)
		if (take(r, r->alias[i].name)) {
			*to = r->alias[i].lens;
			return true;
		}
	return false;
}

static bool lens(struct reading *r, struct lens *to, int depth)
{
	*to = (struct lens){ 0 };
	bool is_out = take(r, "+");
	if (depth > NESTED || !base(r, to, depth))
		return false;
	/* A pointer to a number that the function writes; of all else the address. */
	if (is(r, "*")) {
		bool number = to->type && !to->is_pointer && strcmp(to->type, "void") != 0;
		const char *attribute = number && is_out ? to->attribute : NULL;
		unsigned stars = 0;
		for (; take(r, "*"); stars++)
			;
		static const struct {
			const char *type, *pointer;
		} pointers[] = { { "char", "char *" }, { "short", "short *" }, { "unsigned short", "unsigned short *" },
			{ "int", "int *" }, { "unsigned int", "unsigned int *" }, { "long", "long *" },
			{ "unsigned long", "unsigned long *" }, { "float", "float *" }, { "double", "double *" } };
		const char *pointer = NULL;
		for (size_t i = 0; number && is_out && stars == 1 && i < sizeof(pointers) / sizeof(*pointers); i++)
			if (!strcmp(pointers[i].type, to->type))
				pointer = pointers[i].pointer;
		*to = (struct lens){ .type = pointer ? pointer : "void *", .is_pointer = true, .is_out = pointer,
			.attribute = pointer ? attribute : NULL };
	} else if (is_out && to->is_text) {
		to->is_out = true;
	}
	return true;
}

/* ---- lines ---- */

static void put_attributes(FILE *to, const struct lens *lens)
{
	if (lens->is_out)
		fputs("[[out]] ", to);
	if (lens->bytes[0])
		fprintf(to, "[[bytes(%s)]] ", lens->bytes);
	else if (lens->is_text)
		fputs("[[text]] ", to);
	if (lens->attribute)
		fprintf(to, "[[%s]] ", lens->attribute);
}

/* NAME = LENS, behind `typedef`. */
static void definition(struct reading *r)
{
	char *name = memory_text(r->t.word, r->t.length);
	struct lens lens_of;

	token_next(&r->t);
	if (!take(r, "=") || !lens(r, &lens_of, 0)) {
		free(name);
		return;
	}
	r->alias = memory_grow(r->alias, r->aliases, sizeof(*r->alias));
	r->alias[r->aliases++] = (struct alias){ name, lens_of };
}

/* Returns false: it is none, or takes what is not known. */
static bool function(struct reading *r, FILE *to)
{
	struct lens result, one;
	unsigned number = 0;

	if (!lens(r, &result, 0) || !result.type || !r->t.length || !token_letter(*r->t.word))
		return false;
	result.is_out = false;
	result.bytes[0] = '\0';
	put_attributes(to, &result);
	fprintf(to, "%s %.*s(", result.type, (int)r->t.length, r->t.word);
	token_next(&r->t);
	if (!take(r, "("))
		return false;
	while (!take(r, ")")) {
		if (number && !take(r, ","))
			return false;
		if (take(r, "...")) {
			fputs(number ? ", ..." : "", to);
			continue;
		}
		if (!lens(r, &one, 0) || !one.type)
			return false;
		if (!number && !strcmp(one.type, "void") && is(r, ")"))
			continue;
		/* By itself it is a word of the machine. */
		if (!strcmp(one.type, "void"))
			one.type = "void *";
		fputs(number ? ", " : "", to);
		put_attributes(to, &one);
		fprintf(to, "%s arg%u%s", one.type, ++number, one.is_more ? ", ..." : "");
		if (one.is_more && !is(r, ")"))
			return false;
	}
	fputs(number ? ");\n" : "void);\n", to);
	return true;
}

char *ltrace_prototypes(const char *text)
{
	struct reading r = { .aliases = 0 };
	char *all, *one;
	size_t all_size, one_size;
	FILE *to = memory_need(open_memstream(&all, &all_size));

	for (const char *end; *text; text = end + (*end != '\0')) {
		end = strchrnul(text, '\n');
		char *line = memory_text(text, strcspn(text, ";\n"));
		r.t = (struct token){ .at = line, .line = 1 };
		token_next(&r.t);
		FILE *declaration = memory_need(open_memstream(&one, &one_size));
		bool taken = false;
		if (take(&r, "typedef"))
			definition(&r);
		else if (r.t.length)
			taken = function(&r, declaration);
		if (fclose(declaration))
			memory_failed();
		if (taken)
			fputs(one, to);
		free(one);
		free(line);
	}
	if (fclose(to))
		memory_failed();
	for (size_t i = 0; i < r.aliases; i++)
		free(r.alias[i].name);
	free(r.alias);
	return all;
}

/* ---- files ---- */

static void add_file(FILE *to, int folder, const char *path)
{
	int fd = plain_open(folder, path);
	FILE *from = fd < 0 ? NULL : fdopen(fd, "r");
	static char piece[1 << 14];
	size_t n, all = 0;

	if (!from) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (all < MOST && (n = fread(piece, 1, sizeof(piece), from)) > 0) {
		/* Texts end at a NUL. */
		all += fwrite(piece, 1, strnlen(piece, n), to);
	}
	fputc('\n', to);
	fclose(from);
}

static int is_conf(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && !strcmp(entry->d_name + length - 5, ".conf");
}

char *ltrace_files(void)
{
	const char *home = getenv("HOME");
	struct dirent **entry;
	char *all;
	size_t size;
	FILE *to = memory_need(open_memstream(&all, &size));
	int count = scandir(FOLDER, &entry, is_conf, alphasort);
	int folder = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < count; i++) {
		if (folder >= 0)
			add_file(to, folder, entry[i]->d_name);
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
	if (folder >= 0)
		close(folder);
	add_file(to, AT_FDCWD, "/etc/ltrace.conf");
	if (home && *home == '/') {
		char *path = memory_format("%s/.ltrace.conf", home);
		add_file(to, AT_FDCWD, path);
		free(path);
	}
	if (fclose(to))
		memory_failed();
	return all;
}
