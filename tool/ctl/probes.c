/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/probes.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/model/object.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/ctl/contexts.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/indexes.h"
#include "tool/ctl/patch.h"
#include "tool/ctl/plans.h"
#include "tool/ctl/probe_list.h"
#include "tool/ctl/probe_rules.h"
#include "tool/ctl/process.h"
#include "tool/ctl/request.h"
#include "tool/ctl/targets.h"
#include "tool/probe/asked.h"
#include "tool/probe/places.h"
#include "tool/probe/words.h"

/* ---- plans ---- */

struct making {
	struct ctl_indexes *plans;
	const char *rules;
	char **library; /* patterns of the places; NULL: any */
	size_t libraries;
};

static bool is_named(const struct making *making, const char *path, const char *soname)
{
	for (size_t i = 0; i < making->libraries; i++) {
		const struct rules_pattern any = { .function = "*", .library = making->library[i] };
		if (rules_match(&any, "", path, soname))
			return true;
	}
	return false;
}

/* Adds the object's plan, if it has probes now or had some. */
static void add_plan(
	void *context, const struct ctl_process *process, const struct object *object, const struct load *load)
{
	const struct making *making = context;
	const struct plan_head none = { .magic = PLAN_MAGIC, .version = PLAN_VERSION, .size = sizeof(none) };
	struct plan_made made = { 0 };
	char *path = ctl_indexes_have(making->plans, object->number) ? NULL : ctl_text(process, ctl_at(object->path));
	char *soname = path && object->soname ? ctl_text(process, ctl_at(object->soname)) : NULL;

	(void)load;
	if (path && is_named(making, path, soname) && plans_make(&made, process, object, path, making->rules) &&
		!((const struct plan_head *)made.bytes)->probes) {
		free(made.bytes);
		made.bytes = NULL;
	}
	if (path && !made.bytes && object->probes) {
		made.bytes = memory_zeroed(1, sizeof(none));
		made.size = sizeof(none);
		memcpy(made.bytes, &none, sizeof(none));
	}
	if (made.bytes)
		ctl_indexes_add(making->plans, object->number, made.bytes, made.size);
	free(path);
	free(soname);
}

static void make_plans(
	struct ctl_indexes *plans, const struct ctl_process *process, const struct probe_rules *rules, char *text)
{
	char *quiet = probe_rules_quiet(rules), *all = memory_format("%s%s", rules->others, quiet), *wrong;
	struct making making = { .plans = plans, .rules = all };

	for (size_t i = 0; i < rules->rules; i++) {
		struct place place;
		if (strcmp(rules->rule[i].key, "at") != 0)
			continue;
		if (!place_read(&place, rules->rule[i].value, &wrong)) {
			free(wrong);
			continue;
		}
		making.library = memory_grow(making.library, making.libraries, sizeof(*making.library));
		making.library[making.libraries++] =
			place.library ? memory_text(place.library, strlen(place.library)) : NULL;
		place_free(&place);
	}
	if (strstr(text, "backtrace"))
		ctl_indexes_keep(process);
	ctl_each_object(process, add_plan, &making);
	ctl_indexes_add(plans, CONTROL_OBJECT_RULES, text, strlen(text) + 1);
	for (size_t i = 0; i < making.libraries; i++)
		free(making.library[i]);
	free(making.library);
	free(quiet);
	free(all);
}

/* Gives the process its rules, and the plans that are made by them. Returns false after saying why not. */
static bool give(struct ctl_process *process, const struct probe_rules *rules, struct ctl_written *written,
	uint64_t *pause)
{
	static struct control_request request;
	struct ctl_indexes plans = { 0 };
	char *text = probe_rules_text(rules, NULL);

	if (strlen(text) >= PROBE_RULES_MOST) {
		tool_error("ctl", "process %d: too many probes: their rules take %zu bytes, and %u are allowed; "
				  "nothing was changed", (int)process->pid, strlen(text), PROBE_RULES_MOST);
		free(text);
		return false;
	}
	memset(&request, 0, sizeof(request));
	request.op = CONTROL_PROBES;
	/* What takes long comes before the process is stopped. */
	make_plans(&plans, process, rules, text);
	bool good = ctl_request(process, &request, &plans, written, pause);
	plans_free(&plans); /* the text, too */
	return good;
}

/* What could not be written for now is tried with each request. */
static void say_left(const struct ctl_process *process, const struct ctl_written *written)
{
	const size_t left = written->refused_bytes + written->refused_straddle + written->refused_position;

	if (left)
		tool_error("ctl",
			"process %d: %zu %s code can't be changed now: in %zu something stands, %zu lie across two "
			"pages, %zu were changed by somebody else; the next probe or unprobe tries it again",
			(int)process->pid, left, left == 1 ? "place in its" : "places in its",
			written->refused_position, written->refused_straddle, written->refused_bytes);
}

/*
 * The rules that there are, for new ones to be made of them: nobody else changes them meanwhile. Returns false after
 * saying that somebody does.
 */
static bool begin(struct probe_rules *rules, const struct ctl_process *process)
{
	if (ctl_alone(process)) {
		probe_list_rules(rules, process);
		return true;
	}
	tool_error("ctl", "process %d: another xaudit ctl is changing it; nothing was changed, try again",
		(int)process->pid);
	return false;
}

/* ---- probe ---- */

struct asking {
	char *context; /* joined; NULL: none */
	const char *condition, *every, *then;
	/* For the words: of the process at hand. */
	char **name;
	size_t names;
};

static bool take_context(const struct options_given *given)
{
	struct asking *asking = given->context;
	char *joined = memory_format("%s%s%s", asking->context ? asking->context : "", asking->context ? " " : "",
		given->value);

	free(asking->context);
	asking->context = joined;
	return true;
}

static const struct options_row probe_rows[] = {
	{ 0, "context", "CONTEXT", "", .take = take_context },
	{ 0, "if", "CONDITION", "", .take = options_text, .at = offsetof(struct asking, condition) },
	{ 0, "every", "N", "", .take = options_text, .at = offsetof(struct asking, every) },
	{ 0, "then", "ACTION", "", .take = options_text, .at = offsetof(struct asking, then) },
	{ 0 },
};

static const struct options_row list_rows[] = {
	{ .word = "format", .value = "FORMAT", .take = options_word, .allowed = "table, json" },
	{ 0 },
};

static const struct options_syntax probe_syntax = { .command = "ctl", .rows = probe_rows, .wording = &ctl_wording };
static const struct options_syntax list_syntax = { .command = "ctl", .rows = list_rows, .wording = &ctl_wording };

/* Where an address of the process lies in a file. */
struct looking {
	uint64_t address;
	char *found; /* ADDRESS@LIBRARY */
};

static void look(void *context, const struct ctl_process *process, const struct object *object, const struct load *load)
{
	struct looking *looking = context;
	char *path, *text;
	size_t size;

	if (looking->found || looking->address < load->start || looking->address >= load->end ||
		!(path = ctl_text(process, ctl_at(object->path))))
		return;
	FILE *to = memory_need(open_memstream(&text, &size));
	fprintf(to, "0x%" PRIx64 "@", looking->address - load->base);
	for (const char *p = tool_base(path); *p; p++)
		fprintf(to, "%s%c", strchr("*?[\\", *p) ? "\\" : "", *p);
	if (fclose(to))
		memory_failed();
	looking->found = text;
	free(path);
}

/*
 * The place as it is remembered, to be freed: a bare address is one of the process, which means nothing when the object
 * lies elsewhere. NULL after saying that there is nothing.
 */
static char *remembered(const struct ctl_process *process, const char *place)
{
	struct looking looking = { 0 };
	char *end;

	errno = 0;
	looking.address = strtoull(place, &end, 0);
	if (!isdigit((unsigned char)*place) || *end || errno)
		return memory_text(place, strlen(place));
	ctl_each_object(process, look, &looking);
	if (!looking.found)
		tool_error("ctl",
			"process %d: nothing that is loaded and may be probed lies at %s; addresses in a file are "
			"%s@LIBRARY", (int)process->pid, place, place);
	return looking.found;
}

static void add_rules(struct probe_rules *rules, const struct asking *asking, const char *name)
{
	static const char where[] = "ctl probe";

	if (asking->context)
		probe_rules_add(rules, where, name, "context", asking->context);
	if (asking->condition)
		probe_rules_add(rules, where, name, "if", asking->condition);
	if (asking->every)
		probe_rules_add(rules, where, name, "every", asking->every);
	if (asking->then)
		probe_rules_add(rules, where, name, "then", asking->then);
}

static bool is_asked(const struct asking *asking, const char *name)
{
	for (size_t i = 0; i < asking->names; i++)
		if (!strcmp(asking->name[i], name))
			return true;
	return false;
}

static void forget_names(struct asking *asking)
{
	while (asking->names)
		free(asking->name[--asking->names]);
	free(asking->name);
	asking->name = NULL;
}

static bool is_line(const char *text)
{
	return !text || !strpbrk(text, "\t\n");
}

/* Makes rules of the words. Returns TOOL_OK, or the status after saying what is wrong. */
static int add_words(struct probe_rules *rules, const struct ctl_process *process, struct asking *asking, char **word)
{
	bool good = is_line(asking->context) && is_line(asking->condition) && is_line(asking->every) &&
		    is_line(asking->then);

	for (char **w = word; good && *w; w++)
		good = is_line(*w);
	if (!good) {
		tool_error("ctl", "probe: a word holds a tab or a new line");
		return TOOL_USAGE;
	}
	for (char **w = word; *w; w++)
		/* Rules without a name are others. */
		if (!**w) {
			tool_error("ctl", "probe: '' is no place; give [NAME=]PLACE, such as "
					  "work=do_stuff+0x6@libfoo.so");
			return TOOL_USAGE;
		}
	for (; *word; word++) {
		char *name, *place = remembered(process, words_probe(*word, &name));
		if (!place) {
			free(name);
			return TOOL_FAILED;
		}
		if (!strcmp(name, *word)) {
			free(name);
			name = memory_text(place, strlen(place));
		}
		bool again = is_asked(asking, name);
		if (!again)
			probe_rules_drop(rules, name, false);
		probe_rules_add(rules, "ctl probe", name, "at", place);
		if (!again) {
			asking->name = memory_grow(asking->name, asking->names, sizeof(*asking->name));
			asking->name[asking->names++] = name;
		} else {
			free(name);
		}
		free(place);
	}
	for (size_t i = 0; i < asking->names; i++)
		add_rules(rules, asking, asking->name[i]);
	/* All at once: what they are checked against takes time to read. */
	char *text;
	size_t size;
	FILE *to = memory_need(open_memstream(&text, &size));
	for (size_t i = 0; i < asking->names; i++) {
		char *one = probe_rules_text(rules, asking->name[i]);
		fputs(one, to);
		free(one);
	}
	if (fclose(to))
		memory_failed();
	good = asked_check(text);
	free(text);
	return good ? TOOL_OK : TOOL_USAGE;
}

#define SAY_MOST 20 /* lines about probes that can't be had */

/* Returns how many lines were said, or would have been. */
static size_t say_refused(
	const struct ctl_process *process, const struct asking *asking, const struct ctl_probes *probes)
{
	size_t said = 0;

	for (size_t k = 0; k < probes->count; k++) {
		const struct ctl_probe *p = &probes->probe[k];
		if (p->on || !is_asked(asking, p->name) || said++ >= SAY_MOST)
			continue;
		char *nearest = probe_list_nearest(p);
		tool_error("ctl", "process %d: '%s' (%s) at 0x%" PRIx64 " of %s: %s%s%s", (int)process->pid, p->name,
			p->place, p->address, p->library, probe_list_phrase(p),
			*nearest ? "; the nearest place that works is " : "", nearest);
		free(nearest);
	}
	return said;
}

/* Those that nothing loaded has; said: lines before. And how many more lines there would be. */
static void say_nowhere(const struct ctl_process *process, const struct asking *asking,
	const struct ctl_probes *probes, size_t said)
{
	bool any = false;

	for (size_t i = 0; i < asking->names; i++) {
		size_t k = 0;
		while (k < probes->count && strcmp(probes->probe[k].name, asking->name[i]) != 0)
			k++;
		any |= k == probes->count;
		if (k == probes->count && said++ < SAY_MOST)
			tool_error("ctl",
				"process %d: nothing that is loaded has the place of '%s' (it holds for what is loaded "
				"later); `xaudit list FILE` shows what a file has", (int)process->pid,
				asking->name[i]);
	}
	if (said > SAY_MOST)
		tool_error("ctl", "process %d: %zu more can't be had: `xaudit ctl %d probes` lists them",
			(int)process->pid, said - SAY_MOST, (int)process->pid);
	if (any)
		plans_say_gone(process);
}

/* Says which were refused, and which are nowhere. Returns whether each of them is on somewhere. */
static bool tell(const struct ctl_targets *targets, const struct ctl_process *process, const struct asking *asking,
	uint64_t pause)
{
	struct ctl_probes probes;
	size_t on = 0, places = 0;

	probe_list_read(&probes, process);
	for (size_t i = 0; i < asking->names; i++) {
		const size_t before = places;
		for (size_t k = 0; k < probes.count; k++) {
			bool same = !strcmp(probes.probe[k].name, asking->name[i]);
			places += same && probes.probe[k].on;
		}
		on += places > before;
	}
	ctl_targets_print(targets, process->pid);
	printf("%zu of %zu %s on, at %zu %s, paused %.3f ms\n", on, asking->names,
		asking->names == 1 ? "probe" : "probes", places, places == 1 ? "place" : "places",
		(double)pause / 1e6);
	size_t said = say_refused(process, asking, &probes);
	say_nowhere(process, asking, &probes, said);
	probe_list_free(&probes);
	return on == asking->names;
}

static int probe(const struct ctl_targets *targets, struct ctl_process *process, struct asking *asking, char **word)
{
	struct ctl_written written = { 0 };
	struct probe_rules rules;
	uint64_t pause;

	if (!begin(&rules, process))
		return TOOL_FAILED;
	int status = add_words(&rules, process, asking, word);
	if (status == TOOL_OK)
		status = !give(process, &rules, &written, &pause)	? TOOL_FAILED
			 : tell(targets, process, asking, pause) ? TOOL_OK
								 : TOOL_FAILED;
	forget_names(asking);
	probe_rules_free(&rules);
	return status;
}

/* ---- unprobe ---- */

static int unprobe(const struct ctl_targets *targets, struct ctl_process *process, char **word)
{
	struct ctl_written written = { 0 };
	struct probe_rules rules;
	size_t probes = 0;
	uint64_t pause = 0;
	bool good = true;

	if (!begin(&rules, process))
		return TOOL_FAILED;
	for (; *word; word++) {
		size_t n = probe_rules_drop(&rules, *word, true);
		probes += n;
		if (n || !strcmp(*word, "*"))
			continue;
		tool_error("ctl", "process %d: there is no probe '%s'; `xaudit ctl %d probes` lists them",
			(int)process->pid, *word, (int)process->pid);
		good = false;
	}
	/* Also without any: what could not be written before is tried again. */
	if (probes || good)
		good &= give(process, &rules, &written, &pause);
	if (probes || good) {
		ctl_targets_print(targets, process->pid);
		printf("%zu %s taken away, paused %.3f ms\n", probes, probes == 1 ? "probe" : "probes",
			(double)pause / 1e6);
	}
	say_left(process, &written);
	good &= !written.refused_bytes && !written.refused_straddle && !written.refused_position;
	probe_rules_free(&rules);
	return good ? TOOL_OK : TOOL_FAILED;
}

/* ---- contexts ---- */

bool probes_have(const struct ctl_process *process, const char *name)
{
	struct probe_rules rules;

	probe_list_rules(&rules, process);
	bool have = probe_rules_have(&rules, name);
	probe_rules_free(&rules);
	return have;
}

static int give_contexts(const struct ctl_targets *targets, struct ctl_process *process, struct probe_rules *rules,
	size_t probes, const char *what)
{
	struct ctl_written written = { 0 };
	uint64_t pause;
	bool good = give(process, rules, &written, &pause);

	if (good) {
		ctl_targets_print(targets, process->pid);
		printf("%zu %s %s, paused %.3f ms\n", probes, probes == 1 ? "probe" : "probes", what,
			(double)pause / 1e6);
	}
	say_left(process, &written);
	return good ? TOOL_OK : TOOL_FAILED;
}

int probes_add_context(const struct ctl_targets *targets, struct ctl_process *process, int argc, char **argv)
{
	struct probe_rules rules;
	int status = TOOL_USAGE;

	if (!begin(&rules, process))
		return TOOL_FAILED;
	for (int i = 2; i < argc; i++) {
		const char *value, *key = contexts_key(argv[i], &value);
		probe_rules_add(&rules, "ctl add-context", argv[1], key, value);
	}
	char *text = probe_rules_text(&rules, argv[1]);
	if (asked_check(text))
		status = give_contexts(targets, process, &rules, 1, "has values by that");
	free(text);
	probe_rules_free(&rules);
	return status;
}

int probes_add_action(
	const struct ctl_targets *targets, struct ctl_process *process, const char *name, const char *action)
{
	struct probe_rules rules;
	int status = TOOL_USAGE;

	if (!begin(&rules, process))
		return TOOL_FAILED;
	probe_rules_add(&rules, "ctl when", name, "then", action);
	char *text = probe_rules_text(&rules, name);
	if (asked_check(text))
		status = give_contexts(targets, process, &rules, 1, "does that");
	free(text);
	probe_rules_free(&rules);
	return status;
}

int probes_del_context(const struct ctl_targets *targets, struct ctl_process *process, char **name, size_t names)
{
	struct probe_rules rules;
	size_t probes = 0;

	if (!begin(&rules, process))
		return TOOL_FAILED;
	for (size_t i = 0; i < names; i++)
		probes += probe_rules_drop_contexts(&rules, name[i]);
	int status = give_contexts(targets, process, &rules, probes, "had values");
	probe_rules_free(&rules);
	return status;
}

/* ---- the commands ---- */

/* Takes the options. Returns the index of the first word; 0: the command ends with *status. */
static int take(struct asking *asking, int *as_json, int argc, char **argv, int *status)
{
	const bool lists = !strcmp(argv[0], "probes"), adds = !strcmp(argv[0], "probe");
	int first = lists ? options_take(&list_syntax, as_json, argc, argv)
		    : adds ? options_take(&probe_syntax, asking, argc, argv)
			   : 1;

	*status = TOOL_USAGE;
	if (first < 0)
		return 0;
	if (lists && first < argc)
		tool_error("ctl", "probes takes no argument '%s'", argv[first]);
	else if (adds && first == argc)
		tool_error("ctl", "probe what? give places: [NAME=]PLACE, such as work=do_stuff+0x6@libfoo.so");
	else if (!lists && !adds && argc < 2)
		tool_error("ctl", "unprobe what? give names of probes, or patterns: `xaudit ctl PID probes` lists "
				  "them");
	else
		return first;
	return 0;
}

/* What is done in each process. */
struct request {
	const char *command;
	struct asking *asking;
	char **word;
	bool as_json;
};

static int do_one(void *context, const struct ctl_targets *targets, struct ctl_process *process)
{
	const struct request *request = context;

	if (!strcmp(request->command, "probes"))
		return probe_list_print(targets, process, request->as_json);
	return !strcmp(request->command, "probe") ? probe(targets, process, request->asking, request->word)
						  : unprobe(targets, process, request->word);
}

int ctl_probes(struct ctl_targets *targets, int argc, char **argv)
{
	struct asking asking = { 0 };
	int as_json = 0, status, first = take(&asking, &as_json, argc, argv, &status);
	struct request request = { argv[0], &asking, argv + first, as_json };
	size_t done = 0;

	if (first)
		status = ctl_targets_each(targets, do_one, &request, &done);
	if (first && !done && status == TOOL_OK) {
		tool_error("ctl", "no process is left: all have ended meanwhile");
		status = TOOL_FAILED;
	}
	free(asking.context);
	return status;
}
