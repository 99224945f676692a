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
#include "tool/ctl/names.h"
#include "tool/ctl/plans.h"
#include "tool/ctl/probes.h"
#include "tool/ctl/process.h"
#include "tool/ctl/request.h"
#include "tool/ctl/rule_line.h"
#include "tool/ctl/targets.h"
#include "tool/show/show.h"
#include "tool/values/wanted.h"

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

/* RULES (format/plan.h) of `FUNCTION WORD...`, unchecked, for the functions that this process means by that. */
static char *make_rules(const struct ctl_process *process, int argc, char **argv)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));
	struct names names;

	names_read(&names, process);
	char **pattern = names_meant(&names, argv[1]);
	for (size_t n = 0; pattern[n]; n++)
		for (int i = 2; i < argc; i++) {
			const char *value, *key = contexts_key(argv[i], &value);
			fprintf(to, "ctl add-context\t%s\t%s\t%s\n", pattern[n], key, value);
		}
	if (fclose(to))
		memory_failed();
	names_forget(pattern);
	names_free(&names);
	return text;
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
	char *path = ctl_indexes_have(wanted->plans, object->number) ? NULL : ctl_text(process, ctl_at(object->path));

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
	const char *name; /* of the command */
	bool checked;	  /* these rules are in order, of functions */
	int argc;
	char **argv;
	struct control_request request;
	uint32_t changed; /* functions and probes */
	size_t done; /* processes */
};

/* What the events of the rule are called: by the name of its functions, where they have one. */
static const char *name_of(const struct names *names, const struct rule_line *rule)
{
	const char *name = rule->of_probe ? NULL : names_of(names, rule->pattern);

	return name ? name : rule->pattern;
}

static int print_rules(const struct ctl_targets *targets, const struct ctl_process *process)
{
	char *rules = plans_rules(process), *next = rules;
	struct names names;
	struct rule_line rule;

	ctl_targets_print(targets, process->pid);
	if (!rules || !*rules)
		puts("no values of calls are asked for");
	names_read(&names, process);
	while (next && rule_line_next(&next, &rule)) {
		tool_text(stdout, *rule.pattern ? name_of(&names, &rule) : "[prototypes]");
		printf(": ");
		tool_text(stdout, rule.key);
		printf(" = ");
		tool_text(stdout, rule.value);
		printf("  (");
		tool_text(stdout, rule.where);
		puts(")");
	}
	names_free(&names);
	free(rules);
	return TOOL_OK;
}

/* rules: that are added, or NULL. Returns false after saying why nothing was changed. */
static bool change_functions(const struct ctl_targets *targets, struct ctl_process *process,
	struct wanted_change *change, const char *rules)
{
	static struct control_request request;
	struct ctl_indexes plans = { 0 };
	uint64_t pause;

	request = change->request;
	/* What takes long comes before the process is stopped. */
	if (rules)
		contexts_plans(&plans, process, rules);
	bool good = ctl_request(process, &request, rules ? &plans : NULL, NULL, &pause);
	if (good) {
		uint32_t n = request.result.functions;
		ctl_targets_print(targets, process->pid);
		printf("%" PRIu32 " traced %s %s, paused %.3f ms\n", n, n == 1 ? "function" : "functions",
			rules ? n == 1 ? "has values by that" : "have values by that" : "had values",
			(double)pause / 1e6);
		change->changed += n;
	}
	plans_free(&plans);
	return good;
}

/* Puts one more pattern into del-context's request. Returns false: there is no room for it, which was said. */
static bool put_pattern(struct control_request *request, size_t *have, const char *pattern)
{
	const size_t size = strlen(pattern) + 1;

	for (const char *p = request->text; p < request->text + *have; p += strlen(p) + 1)
		if (!strcmp(p, pattern))
			return true;
	if (*have + size + 1 > sizeof(request->text)) {
		tool_error("ctl", "del-context: too many patterns at once: %d bytes are allowed", CONTROL_TEXT);
		return false;
	}
	memcpy(request->text + *have, pattern, size);
	*have += size;
	request->text[*have] = '\0';
	return true;
}

/* Those that a word of del-context means: also all of RULES that `contexts` shows by that name. As put_pattern(). */
static bool put_meant(
	struct control_request *request, size_t *have, const struct names *names, const char *rules, const char *word)
{
	char **pattern = names_meant(names, word), *copy = memory_text(rules, strlen(rules)), *next = copy;
	struct rule_line rule;
	bool good = true;

	for (size_t i = 0; good && pattern[i]; i++)
		good = put_pattern(request, have, pattern[i]);
	while (good && rule_line_next(&next, &rule)) {
		const char *name = name_of(names, &rule);
		if (name != rule.pattern && !strcmp(name, word))
			good = put_pattern(request, have, rule.pattern);
	}
	names_forget(pattern);
	free(copy);
	return good;
}

/* Returns the status of the command for this process. */
static int delete_one(const struct ctl_targets *targets, struct ctl_process *process, struct wanted_change *change)
{
	char **probe = memory_zeroed((size_t)change->argc, sizeof(*probe)), *before = plans_rules(process);
	size_t probes = 0, have = 0;
	int status = TOOL_OK;
	bool good = true;
	struct names names;

	names_read(&names, process);
	for (int i = 1; good && i < change->argc; i++) {
		if (probes_have(process, change->argv[i]))
			probe[probes++] = change->argv[i];
		else
			good = put_meant(&change->request, &have, &names, before ? before : "", change->argv[i]);
	}
	if (good && probes) {
		status = probes_del_context(targets, process, probe, probes);
		change->changed += (uint32_t)probes;
	}
	if (good && have) {
		good = change_functions(targets, process, change, NULL);
		char *after = plans_rules(process);
		/* What was asked for of libraries that are loaded later is taken back, too. */
		change->changed += before && (!after || strlen(after) < strlen(before));
		free(after);
	}
	if (!good)
		status = TOOL_FAILED;
	names_free(&names);
	free(before);
	free(probe);
	return status;
}

/* As delete_one(). */
static int add_to_functions(const struct ctl_targets *targets, struct ctl_process *process,
	struct wanted_change *change, const char *rules)
{
	if (!change->checked && !wanted_check(rules))
		return TOOL_USAGE;
	change->checked = true;
	if (strlen(rules) >= sizeof(change->request.text)) {
		tool_error("ctl", "add-context: too many contexts at once: %d bytes are allowed", CONTROL_TEXT);
		return TOOL_USAGE;
	}
	strcpy(change->request.text, rules);
	return change_functions(targets, process, change, rules) ? TOOL_OK : TOOL_FAILED;
}

static int add_one(const struct ctl_targets *targets, struct ctl_process *process, struct wanted_change *change)
{
	if (probes_have(process, change->argv[1])) {
		change->changed++;
		return probes_add_context(targets, process, change->argc, change->argv);
	}
	char *rules = make_rules(process, change->argc, change->argv);
	int status = add_to_functions(targets, process, change, rules);
	free(rules);
	return status;
}

/* Are the words of the command as they should be? Else that is said. */
static bool prepare(struct wanted_change *change, int argc, char **argv)
{
	const bool adds = !strcmp(change->name, "add-context");

	if (!strcmp(change->name, "contexts")) {
		if (argc > 1)
			tool_error("ctl", "contexts takes no argument");
		return argc == 1;
	}
	change->request.op = adds ? CONTROL_ADD_CONTEXT : CONTROL_DEL_CONTEXT;
	if (argc < (adds ? 3 : 2)) {
		tool_error("ctl",
			adds ? "add-context what? give a pattern of functions, or a name, then contexts: add-context "
			       "'open*' args retval"
			     : "del-context what? give patterns of functions, FUNCTION[@LIBRARY], or names");
		return false;
	}
	for (int i = 1; i < argc; i++) {
		/* Lines of RULES, and patterns that an empty one ends. */
		const bool is_line = !strpbrk(argv[i], "\t\n");
		if (is_line && *argv[i])
			continue;
		tool_error("ctl", "%s: a word %s", argv[0], is_line ? "is empty" : "holds a tab or a new line");
		return false;
	}
	return true;
}

static int change_one(void *context, const struct ctl_targets *targets, struct ctl_process *process)
{
	struct wanted_change *change = context;
	int status = change->request.op == CONTROL_ADD_CONTEXT	 ? add_one(targets, process, change)
		     : change->request.op == CONTROL_DEL_CONTEXT ? delete_one(targets, process, change)
								 : print_rules(targets, process);

	change->done += status == TOOL_OK;
	return status;
}

int ctl_contexts(struct ctl_targets *targets, int argc, char **argv)
{
	static struct wanted_change change;
	size_t opened;

	change.name = argv[0];
	change.argc = argc;
	change.argv = argv;
	if (!prepare(&change, argc, argv))
		return TOOL_USAGE;
	int status = ctl_targets_each(targets, change_one, &change, &opened);
	if (status == TOOL_USAGE)
		return status;
	const bool failed = status != TOOL_OK, done = change.done != 0;
	if (!done && !failed) {
		tool_error("ctl", "no process is left: all have ended meanwhile");
		return TOOL_FAILED;
	}
	if (change.request.op == CONTROL_ADD_CONTEXT && done && !change.changed)
		tool_error("ctl",
			"'%s' names no probe, and no function that is traced and can have these values (it holds for "
			"what is loaded later)", argv[1]);
	if (change.request.op == CONTROL_DEL_CONTEXT && done && !change.changed)
		tool_error("ctl",
			"%s%s%s no probe, and no function of which values were asked for; `contexts` lists them",
			argc > 2 ? "these name" : "'", argc > 2 ? "" : argv[1], argc > 2 ? "" : "' names");
	return failed || (change.request.op && done && !change.changed) ? TOOL_FAILED : TOOL_OK;
}
