/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/contexts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/model/object.h"
#include "format/plan.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/indexes.h"
#include "tool/ctl/plans.h"
#include "tool/ctl/probes.h"
#include "tool/ctl/process.h"
#include "tool/ctl/request.h"
#include "tool/ctl/targets.h"
#include "tool/show/show.h"
#include "tool/values/wanted.h"


static uint64_t at(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* ---- rules ---- */

const char *contexts_key(const char *word, const char **value)
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

/* RULES (format/plan.h) of `FUNCTION WORD...`, unchecked; NULL after saying what is wrong. */
static char *make_rules(int argc, char **argv)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));
	bool good = true;

	for (int i = 2; i < argc; i++) {
		const char *value, *key = contexts_key(argv[i], &value);
		good &= !strpbrk(argv[i], "\t\n");
		fprintf(to, "ctl add-context\t%s\t%s\t%s\n", argv[1], key, value);
	}
	fclose(to);
	if (!good || strpbrk(argv[1], "\t\n"))
		tool_error("ctl", "add-context: a word holds a tab or a new line");
	else
		return text;
	free(text);
	return NULL;
}

/* ---- plans ---- */

struct wanted_plans {
	struct ctl_indexes *plans;
	const char *rules;
};

/* Adds the object's plan, if it has functions that the rules name. */
static void add(void *context, const struct ctl_process *process, const struct object *object, const struct load *load)
{
	const struct wanted_plans *wanted = context;
	struct plan_made made = { 0 };
	char *path = ctl_indexes_have(wanted->plans, object->number) ? NULL : ctl_text(process, at(object->path));

	(void)load;
	if (path && plans_make(&made, process, object, path, wanted->rules) &&
		((const struct plan_head *)made.bytes)->count)
		ctl_indexes_add(wanted->plans, object->number, made.bytes, made.size);
	else
		free(made.bytes);
	free(path);
}

void contexts_plans(struct ctl_indexes *plans, const struct ctl_process *process, const char *rules)
{
	if (strstr(rules, "backtrace"))
		ctl_indexes_keep(process);
	ctl_each_object(process, add, &(struct wanted_plans){ plans, rules });
}

/* ---- the commands ---- */

struct wanted_change {
	const char *name;  /* of the command */
	const char *rules; /* add-context */
	bool checked;	   /* these rules are in order, of functions */
	int argc;
	char **argv;
	struct control_request request;
	uint32_t changed; /* functions and probes */
	size_t done; /* processes */
};

static int print_rules(const struct ctl_targets *targets, const struct ctl_process *process)
{
	char *rules = plans_rules(process);

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
	return TOOL_OK;
}

/* Returns false after saying why nothing was changed. */
static bool change_functions(
	const struct ctl_targets *targets, struct ctl_process *process, struct wanted_change *change)
{
	static struct control_request request;
	struct ctl_indexes plans = { 0 };
	uint64_t pause;

	request = change->request;
	/* What takes long comes before the process is stopped. */
	if (change->rules)
		contexts_plans(&plans, process, change->rules);
	bool good = ctl_request(process, &request, change->rules ? &plans : NULL, NULL, &pause);
	if (good) {
		uint32_t n = request.result.functions;
		ctl_targets_print(targets, process->pid);
		printf("%" PRIu32 " traced %s %s, paused %.3f ms\n", n, n == 1 ? "function" : "functions",
			change->rules ? n == 1 ? "has values by that" : "have values by that" : "had values",
			(double)pause / 1e6);
		change->changed += n;
	}
	plans_free(&plans);
	return good;
}

/*
 * Puts del-context's patterns into the request; those that name probes into `probe`, if that is not NULL. Returns false
 * after saying why not.
 */
static bool put_patterns(struct control_request *request, int argc, char **argv, const struct ctl_process *process,
	char **probe, size_t *probes)
{
	size_t have = 0;

	for (int i = 1; i < argc; i++) {
		size_t length = strlen(argv[i]) + 1;
		if (!argv[i][0] || have + length + 1 > sizeof(request->text)) {
			tool_error("ctl", argv[i][0] ? "too many patterns at once" : "del-context: a pattern is empty");
			return false;
		}
		if (probe && probes_have(process, argv[i])) {
			probe[(*probes)++] = argv[i];
			continue;
		}
		memcpy(request->text + have, argv[i], length);
		have += length;
	}
	request->text[have] = '\0';
	return true;
}

/* Returns the status of the command for this process. */
static int delete_one(const struct ctl_targets *targets, struct ctl_process *process, struct wanted_change *change)
{
	char **probe = memory_zeroed((size_t)change->argc, sizeof(*probe));
	size_t probes = 0;
	int status = TOOL_OK;

	put_patterns(&change->request, change->argc, change->argv, process, probe, &probes);
	if (probes) {
		status = probes_del_context(targets, process, probe, probes);
		change->changed += (uint32_t)probes;
	}
	if (change->request.text[0] && !change_functions(targets, process, change))
		status = TOOL_FAILED;
	free(probe);
	return status;
}

static int add_one(const struct ctl_targets *targets, struct ctl_process *process, struct wanted_change *change)
{
	if (probes_have(process, change->argv[1])) {
		change->changed++;
		return probes_add_context(targets, process, change->argc, change->argv);
	}
	if (!change->checked && !wanted_check(change->rules))
		return TOOL_USAGE;
	change->checked = true;
	return change_functions(targets, process, change) ? TOOL_OK : TOOL_FAILED;
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
		return argc >= 2 && put_patterns(&change->request, argc, argv, NULL, NULL, NULL);
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

static int change_one(void *context, const struct ctl_targets *targets, struct ctl_process *process)
{
	struct wanted_change *change = context;
	int status = change->rules	  ? add_one(targets, process, change)
		     : change->request.op ? delete_one(targets, process, change)
					  : print_rules(targets, process);

	change->done += status == TOOL_OK;
	return status;
}

int ctl_contexts(struct ctl_targets *targets, int argc, char **argv)
{
	static struct wanted_change change;
	char *rules = NULL;
	size_t opened;

	change.name = argv[0];
	change.argc = argc;
	change.argv = argv;
	if (!prepare(&change, argc, argv, &rules)) {
		free(rules);
		return TOOL_USAGE;
	}
	int status = ctl_targets_each(targets, change_one, &change, &opened);
	free(rules);
	if (status == TOOL_USAGE)
		return status;
	const bool failed = status != TOOL_OK, done = change.done != 0;
	if (!done && !failed) {
		tool_error("ctl", "no process is left: all have ended meanwhile");
		return TOOL_FAILED;
	}
	if (change.rules && done && !change.changed)
		tool_error("ctl",
			"'%s' names no function that is traced and can have these values (it holds for what is loaded "
			"later)", argv[1]);
	return failed || (change.request.op && done && !change.changed) ? TOOL_FAILED : TOOL_OK;
}
