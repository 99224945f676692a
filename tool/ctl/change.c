/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/change.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "audit/match/cxx.h"
#include "audit/rules/keys.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/indexes.h"
#include "tool/ctl/patch.h"
#include "tool/ctl/process.h"
#include "tool/ctl/request.h"
#include "tool/ctl/targets.h"
#include "tool/read/api/xaudit-read.h"

static void print_pause(uint64_t pause)
{
	printf("paused %.3f ms\n", (double)pause / 1e6);
}

/* None of these takes an option but --help. Returns 0, or why to end: status + 1. */
static int no_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			continue;
		tool_error("ctl", "%s takes no option '%s': see xaudit ctl --help", argv[0], argv[i]);
		return TOOL_USAGE + 1;
	}
	return 0;
}

/* ---- enable, disable ---- */

/*
 * [KIND[,KIND]...:]FUNCGLOB[@LIBGLOB]: what the module would refuse (audit/live/switch.h) is refused here, with words.
 */
static bool check_rule(const char *rule)
{
	const char *colon = strchr(rule, ':'), *at = strchr(rule, '@');
	const char *function = rule;

	/* Two colons belong to a name of C++. */
	if (colon && colon[1] != ':' && !(at && at < colon)) {
		while (function <= colon) {
			size_t length = strcspn(function, ",:");
			if (rules_kind(function, length) < 0) {
				tool_error("ctl", "'%s': unknown kind '%.*s'; allowed: " TRACE_KIND_WORDS, rule,
					(int)length, function);
				return false;
			}
			function += length + 1;
		}
	}
	if (!*function || function == at || (at && !at[1])) {
		tool_error("ctl", "'%s' is no rule: [KIND:]FUNCTION[@LIBRARY], each a pattern", rule);
		return false;
	}
	if (cxx_word(function, strlen(function)) < strlen(function)) {
		tool_error("ctl", "'%s' holds a blank, which only names of operators have, such as 'operator new'; "
				  "each rule is a word of its own", rule);
		return false;
	}
	if (cxx_has_more(function)) {
		tool_error("ctl",
			"'%s': leave out parameters and template arguments: a name stands for all overloads and "
			"instances", rule);
		return false;
	}
	return true;
}

static bool put_rules(struct control_request *request, char *const *rule, size_t rules)
{
	size_t have = 0;

	for (size_t i = 0; i < rules; i++) {
		size_t length = strlen(rule[i]) + 1;
		if (!check_rule(rule[i]))
			return false;
		/* An empty rule ends the list. */
		if (have + length + 1 > sizeof(request->text)) {
			tool_error("ctl", "too many rules at once: %zu bytes are allowed", sizeof(request->text) - 1);
			return false;
		}
		memcpy(request->text + have, rule[i], length);
		have += length;
	}
	return true;
}

static void print_line(uint64_t n, const char *one, const char *many, const char *why)
{
	if (n)
		printf("  %" PRIu64 " %s not: %s\n", n, n == 1 ? one : many, why);
}

static void print_result(
	const char *done, const struct control_request *request, const struct ctl_written *written, uint64_t pause)
{
	const struct control_result *r = &request->result;
	uint64_t failed = written->refused_bytes + written->refused_straddle + written->refused_position;
	uint64_t changed = r->changed > failed ? r->changed - failed : 0;

	printf("%" PRIu32 " %s: %" PRIu64 " %s switched %s, %" PRIu32 " %s already, ", r->functions,
		r->functions == 1 ? "function" : "functions", changed, changed == 1 ? "site" : "sites", done,
		r->already, r->already == 1 ? "was" : "were");
	print_pause(pause);
	/* Functions of what is loaded would be counted, whatever became of them. */
	if (request->op == CONTROL_ENABLE && !r->functions && r->rule_function)
		puts("  what has functions of these names is not loaded now: it holds when it is loaded again");
	if (r->refused[TRACE_REASON_ENTRY_ONLY])
		printf("  %" PRIu32 " %s: entries only, without returns and times; `xaudit info` has a note why\n",
			r->refused[TRACE_REASON_ENTRY_ONLY],
			r->refused[TRACE_REASON_ENTRY_ONLY] == 1 ? "function" : "functions");
	for (unsigned i = 0; i < sizeof(r->refused) / sizeof(*r->refused); i++)
		if (i != TRACE_REASON_ENTRY_ONLY)
			print_line(r->refused[i], "function", "functions",
				xaudit_read_reason_phrase(i) ? xaudit_read_reason_phrase(i)
							     : "the module does not say why");
	print_line(written->refused_bytes, "site", "sites", "somebody else changed the bytes there");
	print_line(written->refused_straddle, "site", "sites", "across two pages, so that it can't be changed safely");
	print_line(written->refused_position, "site", "sites",
		"a thread stands in the bytes that would change, or something will return there; try again");
}

/* What the rules have named in all processes. */
struct named {
	struct control_result sum; /* its masks of rules, and functions */
	size_t processes;
	pid_t last;
};

static void add(struct named *named, pid_t pid, const struct control_result *r)
{
	named->processes++;
	named->last = pid;
	named->sum.functions += r->functions;
	named->sum.rule_library |= r->rule_library;
	named->sum.rule_sites |= r->rule_sites;
	named->sum.rule_function |= r->rule_function;
}

/* Are all kinds that it names, if any, such that an object has them where its section of the rules asks for them? */
static bool needs_rules(const char *rule)
{
	const char *library;
	unsigned kinds = ctl_rule_kinds(rule, &library);

	return kinds && !(kinds & kinds_with(KIND_BY_INDEX));
}

/* Says why, for each rule that names no function. Returns how many there are. */
static size_t say_unnamed(
	const struct named *named, bool on, char *const *rule, char *const *word, size_t rules)
{
	const struct control_result *r = &named->sum;
	char who[48];
	size_t unnamed = 0;

	snprintf(who, sizeof(who), named->processes == 1 ? "process %zu" : "%zu processes",
		named->processes == 1 ? (size_t)named->last : named->processes);
	for (size_t i = 0; i < rules && i < 64; i++) {
		uint64_t bit = 1ull << i;
		const char *why = "no function of that name can be switched in what is loaded; `xaudit list FILE` "
				  "shows their names";
		/* Where nothing is, nothing is on: as it was asked for. */
		if (r->rule_function & bit || (!on && !strcmp(rule[i], "*")))
			continue;
		if (!(r->rule_library & bit))
			why = strchr(rule[i], '@') ? "no library of that name is loaded" : "no library is loaded yet";
		else if (!(r->rule_sites & bit))
			why = needs_rules(rule[i])
				      ? "what is loaded of that has no function of these kinds, or was not asked for "
					"them when it was loaded (kinds in man xaudit.conf); `xaudit list FILE` tells "
					"which it has, and kind entry can be switched without"
				      : "what is loaded of that has no function of these kinds that can be switched; "
					"`xaudit list FILE` tells why";
		tool_error("ctl", "%s: '%s' names nothing: %s%s", who, word[i], why,
			!on		       ? ""
			: needs_rules(rule[i]) ? " (it holds for what is loaded later, and asked for them)"
					       : " (it holds for what is loaded later)");
		unnamed++;
	}
	return unnamed;
}

struct rules_change {
	struct control_request wanted;
	char *const *rule; /* `rules` of them, which `wanted` holds, too */
	size_t rules;
	ctl_targets_work *first; /* what is done before; NULL: nothing */
	void *context;
	struct named named;
};

static int change_rules(void *context, const struct ctl_targets *targets, struct ctl_process *process)
{
	static struct control_request request;
	struct rules_change *change = context;
	struct ctl_indexes indexes = { 0 };
	struct ctl_written written = { 0 };
	uint64_t pause;

	int status = change->first ? change->first(change->context, targets, process) : TOOL_OK;
	if (status != TOOL_OK)
		return status;
	request = change->wanted;
	/* What takes long comes before the process is stopped. */
	if (request.op == CONTROL_ENABLE)
		ctl_indexes_find(&indexes, process, change->rule, change->rules);
	bool good = ctl_request(process, &request, &indexes, &written, &pause);
	if (good) {
		ctl_targets_print(targets, process->pid);
		print_result(request.op == CONTROL_ENABLE ? "on" : "off", &request, &written, pause);
		add(&change->named, process->pid, &request.result);
	}
	ctl_indexes_free(&indexes);
	return good ? TOOL_OK : TOOL_FAILED;
}

/* word: what messages call the rules. */
static int change_all(struct ctl_targets *targets, struct rules_change *change, char *const *word)
{
	const struct named *named = &change->named;
	const bool on = change->wanted.op == CONTROL_ENABLE;
	size_t opened;

	if (!put_rules(&change->wanted, change->rule, change->rules))
		return TOOL_USAGE;
	int status = ctl_targets_each(targets, change_rules, change, &opened);
	if (status == TOOL_USAGE)
		return status;
	if (!named->processes && status == TOOL_OK) {
		tool_error("ctl", "no process is left: all have ended meanwhile");
		return TOOL_FAILED;
	}
	size_t unnamed = named->processes ? say_unnamed(named, on, change->rule, word, change->rules) : 0;
	return status != TOOL_OK || (unnamed && !named->sum.functions) ? TOOL_FAILED : TOOL_OK;
}

int ctl_rules(struct ctl_targets *targets, int argc, char **argv)
{
	static struct rules_change change;
	int status = no_options(argc, argv);

	if (status)
		return status - 1;
	if (argc < 2) {
		tool_error("ctl", "%s what? give rules: [KIND:]FUNCTION[@LIBRARY]", argv[0]);
		return TOOL_USAGE;
	}
	change.wanted.op = !strcmp(argv[0], "enable") ? CONTROL_ENABLE : CONTROL_DISABLE;
	change.rule = argv + 1;
	change.rules = (size_t)argc - 1;
	return change_all(targets, &change, argv + 1);
}

int change_enable(struct ctl_targets *targets, char *const *rule, char *const *word, size_t rules,
	ctl_targets_work *first, void *context)
{
	static struct rules_change change;

	change = (struct rules_change){ .rule = rule, .rules = rules, .first = first, .context = context };
	change.wanted.op = CONTROL_ENABLE;
	return change_all(targets, &change, word);
}

/* ---- start, stop, mode ---- */

static int ask(void *context, const struct ctl_targets *targets, struct ctl_process *process)
{
	static struct control_request request;
	uint64_t pause;

	request = *(const struct control_request *)context;
	if (!ctl_request(process, &request, NULL, NULL, &pause))
		return TOOL_FAILED;
	ctl_targets_print(targets, process->pid);
	print_pause(pause);
	return TOOL_OK;
}

int ctl_record(struct ctl_targets *targets, int argc, char **argv)
{
	static struct control_request wanted;
	bool takes_word = !strcmp(argv[0], "mode");
	size_t opened;
	int status = no_options(argc, argv);

	if (status)
		return status - 1;
	if (argc != (takes_word ? 2 : 1)) {
		tool_error("ctl", takes_word ? "mode takes one word: stream, ring or count" : "%s takes no argument",
			argv[0]);
		return TOOL_USAGE;
	}
	wanted.op = takes_word ? CONTROL_MODE : !strcmp(argv[0], "start") ? CONTROL_START : CONTROL_STOP;
	if (takes_word) {
		const char *modes = rules_keys[RULES_KEY_MODE].allowed;
		int mode = options_index(modes, argv[1]);

		if (mode < 0) {
			tool_error("ctl", "unknown mode '%s'; allowed: %s", argv[1], modes);
			return TOOL_USAGE;
		}
		wanted.argument = (uint64_t)mode;
	}
	return ctl_targets_each(targets, ask, &wanted, &opened);
}
