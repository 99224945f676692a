/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/contexts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/model/object.h"
#include "format/plan.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/indexes.h"
#include "tool/ctl/process.h"
#include "tool/ctl/request.h"
#include "tool/ctl/targets.h"
#include "tool/plan/plan.h"
#include "tool/show/show.h"
#include "tool/values/wanted.h"

#define MOST_PROCESSES 100000
#define MOST_RULES     (1u << 20) /* bytes */

static uint64_t at(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* ---- rules ---- */

/* The key of one word, and where its value begins: if=..., every=..., longer=...; else it is a context. */
static const char *key_of(const char *word, const char **value)
{
	static const char *const keys[] = { "if", "every", "longer", "secret" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		size_t length = strlen(keys[i]);
		if (!strncmp(word, keys[i], length) && word[length] == '=') {
			*value = word + length + 1;
			return keys[i];
		}
	}
	*value = word;
	return "context";
}

/* RULES (format/plan.h) of `FUNCTION WORD...`; NULL after saying what is wrong. */
static char *make_rules(int argc, char **argv)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));
	bool good = true;

	for (int i = 2; i < argc; i++) {
		const char *value, *key = key_of(argv[i], &value);
		good &= !strpbrk(argv[i], "\t\n");
		fprintf(to, "ctl add-context\t%s\t%s\t%s\n", argv[1], key, value);
	}
	fclose(to);
	if (!good || strpbrk(argv[1], "\t\n"))
		tool_error("ctl", "add-context: a word holds a tab or a new line");
	else if (wanted_check(text))
		return text;
	free(text);
	return NULL;
}

/* ---- plans ---- */

/* Opens the file that the object was loaded from, if it is there still. Returns -1: it is not. */
static int open_file(const struct ctl_process *process, const struct object *object, const char *path)
{
	char *name[] = { memory_format("/proc/%d/root%s", (int)process->pid, path),
		memory_format("/proc/%d/exe", (int)process->pid) };
	bool program = object->flags & TRACE_OBJECT_PROGRAM && !object->by_loader;
	int found = -1;

	for (int i = 0; i < 2 && found < 0; i++) {
		struct stat st;
		int fd = i && !program ? -1 : open(name[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_dev == object->dev &&
			st.st_ino == object->ino)
			found = fd;
		else if (fd >= 0)
			close(fd);
	}
	for (int i = 0; i < 2; i++)
		free(name[i]);
	return found;
}

struct wanted_plans {
	struct ctl_indexes *plans;
	const char *rules;
};

/* Adds the object's plan, if it has functions that the rules name. */
static void add(void *context, const struct ctl_process *process, const struct object *object, uint64_t start)
{
	const struct wanted_plans *wanted = context;
	struct plan_made made = { 0 };
	char *path = ctl_indexes_have(wanted->plans, object->number) ? NULL : ctl_text(process, at(object->path));
	int fd = path ? open_file(process, object, path) : -1, r = -ENOENT;

	(void)start;
	if (fd >= 0) {
		r = plan_make(&made, fd, path, wanted->rules);
		close(fd);
		if (r && r != -ENOEXEC)
			tool_error("ctl", "%s: %s", path, strerror(-r));
	}
	if (!r && ((const struct plan_head *)made.bytes)->count)
		ctl_indexes_add(wanted->plans, object->number, made.bytes, made.size);
	else
		free(made.bytes);
	free(path);
}

static void free_plans(struct ctl_indexes *plans)
{
	for (size_t i = 0; i < plans->count; i++)
		free((void *)(uintptr_t)plans->index[i].bytes);
	ctl_indexes_free(plans);
}

/* ---- the commands ---- */

struct wanted_change {
	const char *name;  /* of the command */
	const char *rules; /* add-context */
	struct control_request request;
};

static bool print_rules(const struct ctl_targets *targets, const struct ctl_process *process)
{
	uint64_t text = 0;
	char *rules = process->block.values && ctl_read(process, at(process->block.values), &text, sizeof(text)) && text
			      ? ctl_text_up_to(process, text, MOST_RULES)
			      : NULL;

	ctl_targets_print(targets, process->pid);
	if (!rules || !*rules)
		puts("no values of calls are asked for");
	for (char *line = rules; line && *line;) {
		char *end = strchrnul(line, '\n'), *pattern = memchr(line, '\t', (size_t)(end - line));
		char *key = pattern ? memchr(pattern + 1, '\t', (size_t)(end - pattern - 1)) : NULL;
		char *value = key ? memchr(key + 1, '\t', (size_t)(end - key - 1)) : NULL;
		bool last = !*end;
		if (value) {
			*pattern = *key = *value = *end = '\0';
			tool_text(stdout, pattern[1] ? pattern + 1 : "[prototypes]");
			printf(": ");
			tool_text(stdout, key + 1);
			printf(" = ");
			tool_text(stdout, value + 1);
			printf("  (");
			tool_text(stdout, line);
			puts(")");
		}
		line = last ? end : end + 1;
	}
	free(rules);
	return true;
}

/* Returns false after saying why nothing was changed. */
static bool change_one(const struct ctl_targets *targets, struct ctl_process *process,
	const struct wanted_change *change, uint32_t *functions)
{
	static struct control_request request;
	struct ctl_indexes plans = { 0 };
	uint64_t pause;

	request = change->request;
	/* What takes long comes before the process is stopped. */
	if (change->rules && strstr(change->rules, "backtrace"))
		ctl_indexes_keep(process);
	if (change->rules)
		ctl_each_object(process, add, &(struct wanted_plans){ &plans, change->rules });
	bool good = ctl_request(process, &request, change->rules ? &plans : NULL, NULL, &pause);
	if (good) {
		uint32_t n = request.result.functions;
		ctl_targets_print(targets, process->pid);
		printf("%" PRIu32 " traced %s %s, paused %.3f ms\n", n, n == 1 ? "function" : "functions",
			change->rules ? n == 1 ? "has values by that" : "have values by that" : "had values",
			(double)pause / 1e6);
		*functions += n;
	}
	free_plans(&plans);
	return good;
}

/* Puts del-context's patterns into the request. Returns false after saying why not. */
static bool put_patterns(struct control_request *request, int argc, char **argv)
{
	size_t have = 0;

	for (int i = 1; i < argc; i++) {
		size_t length = strlen(argv[i]) + 1;
		if (!argv[i][0] || have + length + 1 > sizeof(request->text)) {
			tool_error("ctl", argv[i][0] ? "too many patterns at once" : "del-context: a pattern is empty");
			return false;
		}
		memcpy(request->text + have, argv[i], length);
		have += length;
	}
	return true;
}

static bool prepare(struct wanted_change *change, int argc, char **argv, char **rules)
{
	if (!strcmp(change->name, "contexts")) {
		if (argc > 1)
			tool_error("ctl", "contexts takes no argument");
		return argc == 1;
	}
	if (!strcmp(change->name, "del-context")) {
		if (argc < 2)
			tool_error("ctl", "del-context what? give patterns of functions: FUNCTION[@LIBRARY]");
		change->request.op = CONTROL_DEL_CONTEXT;
		return argc >= 2 && put_patterns(&change->request, argc, argv);
	}
	if (argc < 3) {
		tool_error("ctl",
			"add-context what? give a pattern of functions, then contexts: add-context 'open*' args "
			"retval");
		return false;
	}
	*rules = make_rules(argc, argv);
	if (!*rules)
		return false;
	if (strlen(*rules) >= sizeof(change->request.text)) {
		tool_error("ctl", "too many contexts at once");
		return false;
	}
	change->request.op = CONTROL_ADD_CONTEXT;
	strcpy(change->request.text, *rules);
	change->rules = *rules;
	return true;
}

int ctl_contexts(struct ctl_targets *targets, int argc, char **argv)
{
	static struct wanted_change change;
	char *rules = NULL;
	bool failed = false;
	uint32_t functions = 0;
	size_t i = 0, done = 0;

	change.name = argv[0];
	if (!prepare(&change, argc, argv, &rules)) {
		free(rules);
		return TOOL_USAGE;
	}
	do {
		for (; i < targets->count; i++) {
			struct ctl_process process;
			ctl_may_end(i >= targets->named);
			if (!ctl_open(&process, targets->pid[i])) {
				failed |= !ctl_ended();
				continue;
			}
			bool good = change.request.op ? change_one(targets, &process, &change, &functions)
						      : print_rules(targets, &process);
			failed |= !good && !ctl_ended();
			done += good;
			ctl_close(&process);
		}
	} while (i < MOST_PROCESSES && ctl_targets_look(targets));
	free(rules);
	if (!done && !failed) {
		tool_error("ctl", "no process is left: all have ended meanwhile");
		return TOOL_FAILED;
	}
	if (change.rules && done && !functions)
		tool_error("ctl",
			"'%s' names no function that is traced and can have these values (it holds for what is loaded "
			"later)", argv[1]);
	return failed || (change.request.op && done && !functions) ? TOOL_FAILED : TOOL_OK;
}
