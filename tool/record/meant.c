/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/meant.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/index/folder.h"
#include "audit/index/walk.h"
#include "tool/base/memory.h"
#include "tool/base/nearest.h"
#include "tool/base/plain.h"
#include "tool/base/tool.h"
#include "tool/index/file_index.h"
#include "tool/index/image.h"
#include "tool/record/record.h"
#include "tool/show/term/meant.h"

#define LISTED 8    /* libraries */
#define WORD   4096 /* bytes of a name: one write to a pipe */

/* Used by one thread after another, as `found` of outcome.c. */
static struct {
	char **path, **soname; /* soname: NULL: none */
	bool *program;
	size_t count;
} objects;

static void *grown(void *old, size_t count, size_t size, bool *failed)
{
	void *grown = realloc(old, (count + 1) * size);

	*failed |= !grown;
	return grown ? grown : old;
}

/* The command has run: what is not known for want of memory is not told. */
void record_meant_object(const char *path, const char *soname, bool program)
{
	size_t n = objects.count;
	bool failed = false;

	objects.path = grown(objects.path, n, sizeof(*objects.path), &failed);
	objects.soname = grown(objects.soname, n, sizeof(*objects.soname), &failed);
	objects.program = grown(objects.program, n, sizeof(*objects.program), &failed);
	if (failed || !(objects.path[n] = strdup(path)))
		return;
	objects.soname[n] = soname ? strdup(soname) : NULL;
	objects.program[n] = program;
	objects.count++;
}

/* What is the same in the names of all libraries says nothing. */
static const char *without_lib(const char *name)
{
	return strncmp(name, "lib", 3) ? name : name + 3;
}

/* A library is named without its version, without "lib", or with a slip: -l libz, -l z. */
static void look_at_library(struct nearest *nearest, const char *name)
{
	const char *own = without_lib(name), *version = strstr(own, ".so.");
	char *any = memory_format("%.*s*", (int)strcspn(name, "."), name);

	nearest_look_as(nearest, own, strlen(own), name);
	nearest_look_as(nearest, own, strcspn(own, "."), any);
	if (version)
		nearest_look_as(nearest, own, (size_t)(version - own) + 3, any);
	free(any);
}

static char *library_meant(const char *pattern)
{
	struct nearest nearest = { .written = without_lib(tool_base(pattern)) };

	if (strchr(pattern, '*'))
		return NULL;
	for (size_t i = 0; i < objects.count; i++) {
		if (objects.program[i])
			continue;
		look_at_library(&nearest, tool_base(objects.path[i]));
		if (objects.soname[i])
			look_at_library(&nearest, objects.soname[i]);
	}
	return nearest.word;
}

static void look_into(struct meant *meant, const char *path)
{
	int fd = plain_open(AT_FDCWD, path);
	struct image_name identified;
	struct index_walk walk;
	struct index index;
	const char *name;
	size_t number;

	if (fd < 0)
		return;
	if (!image_identify(fd, &identified)) {
		free(identified.soname);
		if (index_is_kept(&index, &identified)) {
			/* All names, not only the best of each function. */
			for (index_match(&index, "?*", &walk); index_next(&index, &walk, &number, &name) == 1;)
				meant_look(meant, name);
			index_close(&index);
		}
	}
	close(fd);
}

static char *function_meant(const char *pattern)
{
	struct meant meant;
	char *word = NULL;

	meant_begin(&meant, pattern);
	for (size_t i = 0; i < objects.count && meant.written; i++)
		look_into(&meant, objects.path[i]);
	if (meant_word(&meant))
		word = memory_text(meant_word(&meant), strlen(meant_word(&meant)));
	meant_end(&meant);
	return word;
}

/* In a process of its own: running out of memory ends that, and not this one, whose status is the command's. */
static char *aside(char *(*meant_by)(const char *pattern), const char *pattern)
{
	int ends[2];
	char *word;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (!pid) {
		close(2);
		word = meant_by(pattern);
		_exit(word && write(ends[1], word, strlen(word)) != (ssize_t)strlen(word));
	}
	close(ends[1]);
	word = pid < 0 ? NULL : calloc(WORD, 1);
	ssize_t length = word ? read(ends[0], word, WORD - 1) : 0;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (length > 0)
		return word;
	free(word);
	return NULL;
}

/* Writes what to write instead. Returns whether anything is known. */
static bool put(FILE *to, char letter, const struct record_words *patterns, char *(*meant_by)(const char *pattern))
{
	bool any = false;

	for (size_t i = 0; i < patterns->count; i++)
		fprintf(to, "%s-%c '%s'", i ? ", " : "", record_letter(patterns, i, letter), patterns->word[i]);
	fprintf(to, " name%s none of its %s", patterns->count == 1 ? "s" : "",
		letter == 'l' ? "libraries" : "functions");
	for (size_t i = 0; i < patterns->count; i++) {
		char *word = aside(meant_by, patterns->word[i]);

		if (word)
			fprintf(to, "%s -%c '%s'", any ? "," : "; did you mean", record_letter(patterns, i, letter),
				word);
		any |= word != NULL;
		free(word);
	}
	if (any)
		putc('?', to);
	return any;
}

void record_meant_libraries(FILE *to, const struct record_words *patterns)
{
	unsigned told = 0, more = 0;

	if (put(to, 'l', patterns, library_meant))
		return;
	for (size_t i = 0; i < objects.count; i++) {
		if (objects.program[i])
			continue;
		if (told == LISTED)
			more++;
		else
			fprintf(to, "%s%s", told++ ? ", " : ", which are ", tool_base(objects.path[i]));
	}
	if (more)
		fprintf(to, " and %u more: `xaudit info` lists them", more);
}

bool record_meant_functions(FILE *to, const struct record_words *patterns)
{
	return put(to, 'F', patterns, function_meant);
}
