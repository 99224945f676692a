/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/when.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/model/object.h"
#include "format/plan.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
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
#include "tool/ctl/watch.h"
#include "tool/values/action.h"
#include "tool/values/wanted.h"

#define WHERE	       "ctl when"

struct when {
	const char *output, *at_most; /* options */
	bool watch;
	char *pattern;	/* of functions, or the name of some, or of a probe */
	char *then;	/* the action, as in the configuration */
	struct action action;
	uint32_t functions, probes; /* that have it */
};

static const struct options_row rows[] = {
	{ 'o', "output", "NAME", "", .take = options_text, .at = offsetof(struct when, output) },
	{ 0, "at-most", "TIME", "", .take = options_text, .at = offsetof(struct when, at_most) },
	{ 0, "watch", NULL, "", .take = options_flag, .at = offsetof(struct when, watch) },
	{ 0 },
};

static const struct options_syntax syntax = { .command = "ctl", .rows = rows, .wording = &ctl_wording };

/* ---- what is asked for ---- */

/* `FUNCTION WORD...` and `ACTION` become a pattern, and an action of the configuration. */
static void join(struct when *when, const char *trigger, char **word, int words)
{
	const size_t blank = strspn(trigger, " "), length = strcspn(trigger + blank, " ");
	char *action = memory_text("", 0);

	for (int i = 0; i < words; i++) {
		char *more = memory_format("%s%s%s", action, i ? " " : "", word[i]);
		free(action);
		action = more;
	}
	when->pattern = memory_text(trigger + blank, length);
	when->then = memory_format("%s%s%s%s%s%s", action, trigger + blank + length, when->at_most ? " at-most " : "",
		when->at_most ? when->at_most : "", when->output ? " as " : "", when->output ? when->output : "");
	free(action);
}

static bool read_words(struct when *when, int argc, char **argv)
{
	int first = options_take(&syntax, when, argc, argv);
	char *wrong;

	if (first < 0)
		return false;
	if (first + 2 > argc || !argv[first][strspn(argv[first], " ")]) {
		tool_error("ctl",
			"when what? give a function or a probe, and what is done then: when 'do_work longer 10ms' "
			"snapshot");
		return false;
	}
	if (when->at_most && (!*when->at_most || strchr(when->at_most, ' '))) {
		tool_error("ctl", "when: --at-most needs a time, as in 10s, not '%s'", when->at_most);
		return false;
	}
	if (when->output && strchr(when->output, ' ')) {
		tool_error("ctl", "when: -o needs one word, such as slow.%%n, not '%s'", when->output);
		return false;
	}
	join(when, argv[first], argv + first + 1, argc - first - 1);
	if (strpbrk(when->pattern, "\t\n") || strpbrk(when->then, "\t\n")) {
		tool_error("ctl", "when: a word holds a tab or a new line");
		return false;
	}
	if (action_read(&when->action, when->then, &wrong))
		return true;
	tool_error("ctl", "when: %s", wrong);
	free(wrong);
	return false;
}

/* ---- functions ---- */

struct adding {
	struct ctl_indexes *plans;
	const struct when *when;
	const char *rules;
};

/* Is the last action of the function the one that is added, as far as that shows? */
static bool has_it(const struct plan_head *plan, const struct plan_function *f, const struct plan_action *it)
{
	const struct plan_action *row = (const void *)((const uint8_t *)plan + plan->action), *last = NULL;

	for (uint32_t i = f->action; i < plan->actions; i = row[i].next)
		last = &row[i];
	return last && last->what == it->what && last->at_most == it->at_most && last->longer == it->longer &&
	       last->every == it->every && !((last->flags ^ it->flags) & ~PLAN_ACTION_AT_END);
}

/*
 * The object's functions that have the action, with all else that is asked of them: what is newer counts. The others
 * stay with the plans that the process has.
 */
static void add(void *context, const struct ctl_process *process, const struct object *object, const struct load *load)
{
	const struct adding *adding = context;
	struct plan_made made = { 0 };
	char *path = ctl_indexes_have(adding->plans, object->number)
			     ? NULL
			     : ctl_text(process, ctl_at(object->path));

	(void)load;
	if (path && plans_make(&made, process, object, path, adding->rules)) {
		struct plan_head *plan = made.bytes;
		uint32_t left = 0;
		for (uint32_t i = 0; i < plan->count; i++)
			if (has_it(plan, &plan->function[i], &adding->when->action.plan))
				plan->function[left++] = plan->function[i];
		plan->count = left;
	}
	if (made.bytes && ((const struct plan_head *)made.bytes)->count)
		ctl_indexes_add(adding->plans, object->number, made.bytes, made.size);
	else
		free(made.bytes);
	free(path);
}

/* What is asked of functions now, and the rule behind it. */
static char *all_rules(const struct ctl_process *process, const char *rule)
{
	char *now = plans_rules(process), *next = now, *all;
	size_t size;
	FILE *to = memory_need(open_memstream(&all, &size));
	struct rule_line line;

	while (next && rule_line_next(&next, &line))
		if (!line.of_probe)
			rule_line_put(to, &line);
	fputs(rule, to);
	if (fclose(to))
		memory_failed();
	free(now);
	return all;
}

/* RULES of the action, of the functions that this process means by the word. */
static char *make_rules(const struct ctl_process *process, const struct when *when)
{
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));
	struct names names;

	names_read(&names, process);
	char **pattern = names_meant(&names, when->pattern);
	for (size_t i = 0; pattern[i]; i++)
		fprintf(to, WHERE "\t%s\tthen\t%s\n", pattern[i], when->then);
	if (fclose(to))
		memory_failed();
	names_forget(pattern);
	names_free(&names);
	return text;
}

/* rule: RULES of the action. */
static int add_rules(
	const struct ctl_targets *targets, struct ctl_process *process, struct when *when, const char *rule)
{
	static struct control_request request;
	struct ctl_indexes plans = { 0 };
	uint64_t pause;

	if (!wanted_check(rule))
		return TOOL_USAGE;
	memset(&request, 0, sizeof(request));
	if (strlen(rule) >= sizeof(request.text)) {
		tool_error("ctl", "when: that is too long");
		return TOOL_USAGE;
	}
	/* The plan has what others have asked for. */
	if (!ctl_alone(process)) {
		tool_error("ctl", "process %d: another xaudit ctl goes on changing it; try again", (int)process->pid);
		return TOOL_FAILED;
	}
	request.op = CONTROL_ADD_CONTEXT;
	strcpy(request.text, rule);
	/* What takes long comes before the process is stopped. */
	char *rules = all_rules(process, rule);
	ctl_each_object(process, add, &(struct adding){ &plans, when, rules });
	bool good = ctl_request(process, &request, &plans, NULL, &pause);
	if (good) {
		uint32_t n = request.result.functions;
		ctl_targets_print(targets, process->pid);
		printf("%" PRIu32 " traced %s that, paused %.3f ms\n", n, n == 1 ? "function does" : "functions do",
			(double)pause / 1e6);
		when->functions += n;
	}
	plans_free(&plans);
	free(rules);
	return good ? TOOL_OK : TOOL_FAILED;
}

static int add_to_functions(const struct ctl_targets *targets, struct ctl_process *process, struct when *when)
{
	char *rule = make_rules(process, when);
	int status = add_rules(targets, process, when, rule);
	free(rule);
	return status;
}

/* ---- the command ---- */

static int add_one(void *context, const struct ctl_targets *targets, struct ctl_process *process)
{
	struct when *when = context;

	if (when->action.plan.flags & PLAN_ACTION_RUNNING && !when->watch && !watch_is_beside(process)) {
		tool_error("ctl",
			"nobody watches process %d for calls that are running longer: --watch does, or `xaudit ctl %d "
			"watch`, which goes on meanwhile", (int)process->pid, (int)process->pid);
		return TOOL_FAILED;
	}
	if (!probes_have(process, when->pattern))
		return add_to_functions(targets, process, when);
	when->probes++;
	return probes_add_action(targets, process, when->pattern, when->then);
}

/* Does it in all of them. Returns the status of the command. */
static int add_all(struct ctl_targets *targets, struct when *when)
{
	size_t done = 0;
	int status = ctl_targets_each(targets, add_one, when, &done);

	if (status == TOOL_OK && !done) {
		tool_error("ctl", "no process is left: all have ended meanwhile");
		status = TOOL_FAILED;
	} else if (status == TOOL_OK && !when->functions && !when->probes) {
		tool_error("ctl",
			"'%s' names no probe, and no function that is traced (it holds for what is loaded later)",
			when->pattern);
		status = TOOL_FAILED;
	}
	return status;
}

int ctl_when(struct ctl_targets *targets, int argc, char **argv)
{
	struct when when = { 0 };
	int status = read_words(&when, argc, argv) ? TOOL_OK : TOOL_USAGE, watched = 0;

	/* First, so that no thread makes a snapshot itself, and nobody is missed. */
	if (status == TOOL_OK && when.watch && (watched = watch_begin(targets)) < 0)
		status = TOOL_FAILED;
	if (status == TOOL_OK)
		status = add_all(targets, &when);
	if (watched > 0 && status == TOOL_OK)
		status = watch_run();
	else if (watched > 0)
		watch_leave();
	action_free(&when.action);
	free(when.pattern);
	free(when.then);
	return status;
}
