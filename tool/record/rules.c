/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/match/cxx.h"
#include "audit/rules/keys.h"
#include "audit/rules/rules.h"
#include "audit/start/tunables.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/record/objects.h"
#include "tool/record/probes.h"
#include "tool/record/record.h"
#include "tool/record/run.h"
#include "tool/record/static_tls.h"
#include "tool/record/values.h"

#ifndef XAUDIT_MODULE_DIR
#error "XAUDIT_MODULE_DIR: where make install puts libxaudit.so"
#endif

#define KINDS_OF_LIBRARY (RULES_DEFAULT_KINDS | 1u << TRACE_KIND_PLT)

/* What rules_read() asks; it takes a function without context. */
static const char *rules_text, *rules_config;

static char *rules_environment(const char *name)
{
	if (!strcmp(name, "XAUDIT_RULES"))
		return (char *)rules_text;
	if (!strcmp(name, "XAUDIT_CONFIG") && rules_config)
		return (char *)rules_config;
	return getenv(name);
}

static int read_rules(struct rules *rules, const char *text, const char *config)
{
	rules_text = text;
	rules_config = config;
	return rules_read(rules, rules_environment);
}

char *record_absolute(const char *path)
{
	if (path[0] == '/')
		return memory_format("%s", path);
	while (path[0] == '.' && path[1] == '/' && path[2] && path[2] != '/')
		path += 2;
	char *here = getcwd(NULL, 0);
	if (!here) {
		tool_error(record_speaker, "the current folder is unknown: %s", strerror(errno));
		return NULL;
	}
	char *whole = memory_format("%s/%s", strcmp(here, "/") ? here : "", path);
	free(here);
	return whole;
}

/* Would an INI parser read the text as it was written? */
static int check(const char *what, const char *text)
{
	size_t n = strlen(text);
	const char *bad = !n			      ? "is empty"
			  : strpbrk(text, "\n\r\v\f") ? "holds a line break"
			  : strstr(text, " ;") || strstr(text, "\t;")
				  ? "holds a blank before ';', which begins a remark"
			  : strchr(" \t", text[0]) || strchr(" \t", text[n - 1]) ? "begins or ends with a blank"
										 : NULL;

	if (!bad)
		return 0;
	tool_error("record", "%s '%s' %s; the configuration can't express that, use another name or a pattern", what,
		text, bad);
	return -1;
}

static int check_words(const char *what, const struct record_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		if (check(what, words->word[i]) < 0)
			return -1;
	return 0;
}

/* One option, one pattern: the configuration would take what stands behind a blank for another one. */
static int check_patterns(const struct record_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *text = words->word[i];

		if (check("pattern", text) < 0)
			return -1;
		if (cxx_word(text, strlen(text)) == strlen(text))
			continue;
		tool_error("record", "pattern '%s' holds a blank, which only names of operators have, such as "
				     "'operator new'; give each pattern an option of its own", text);
		return -1;
	}
	return 0;
}

/* What a pattern of -F says of libraries, behind its '@'; NULL: nothing. */
static const char *library_of(const char *pattern)
{
	const char *at = strchr(pattern, '@');

	return at && at[1] ? at + 1 : NULL;
}

/* Could both patterns be meant for one library? */
static bool may_both_match(const char *a, const char *b)
{
	return rules_glob(a, b) || rules_glob(b, a);
}

static bool is_for_all(const char *pattern)
{
	return pattern[0] == '*' && (!pattern[1] || pattern[1] == '@');
}

/*
 * The library of a pattern such as *@LIB that -l does not choose: it gets a section of its own, so that what is said of
 * all its functions is said of no other's. NULL: it is another pattern.
 */
static const char *whole_library(const struct record_options *options, size_t i)
{
	const char *pattern = options->functions.word[i], *library = library_of(pattern);

	if (options->kinds || options->libraries.count || !library || !is_for_all(pattern))
		return NULL;
	for (size_t k = 0; k < i; k++)
		if (!strcmp(options->functions.word[k], pattern))
			return NULL;
	return strcmp(library, "*") ? library : NULL;
}

/* Is a pattern of -F meant for the program, by its name? */
static bool is_for_program(const char *pattern, const char *program)
{
	const char *library = library_of(pattern);

	return library && rules_glob(library, program);
}

/*
 * Do the patterns of -F name functions, as rules_name_functions() has it, in the section of this library? NULL: in that
 * of the program, whose name is `program`. Those of other libraries say nothing about it.
 */
static bool names_functions(const struct record_options *options, const char *section, const char *program)
{
	bool others = !section || !strcmp(section, "*"), any = false;

	for (size_t i = 0; i < options->functions.count; i++) {
		const char *pattern = options->functions.word[i], *library = library_of(pattern);

		if (library && !section && !rules_glob(library, program))
			continue;
		if (library && !others && !may_both_match(library, section))
			continue;
		if (section && others && whole_library(options, i))
			continue;
		if (is_for_all(pattern))
			return false;
		any = true;
	}
	return any;
}

static void put_kinds(FILE *to, const char *library, unsigned kinds)
{
	if (library)
		fprintf(to, "[library %s]\nkinds =", library);
	else
		fputs("[program]\nkinds =", to);
	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		if (kinds & 1u << i)
			fprintf(to, " %s", kind_rows[i].word);
	fputs(kinds ? "\n" : " none\n", to);
}

static void put_words(FILE *to, const char *key, const struct record_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		fprintf(to, "%s = %s\n", key, words->word[i]);
}

/*
 * kinds: those to name; where no option did, the section has the fallback of one that names none. program: the name of
 * the program, for the section of that. named: of -F, only what names it.
 */
static void put_section(FILE *to, const struct record_options *options, const char *library, unsigned kinds,
	const char *program, bool named)
{
	put_kinds(to, library, kinds);
	if (!options->kinds && names_functions(options, library, program))
		fprintf(to, "fallback = %s\n", kind_rows[TRACE_KIND_ENTRY].word);
	for (size_t i = 0; i < options->functions.count; i++)
		if (!named || is_for_program(options->functions.word[i], program))
			fprintf(to, "functions = %s\n", options->functions.word[i]);
	if (!named)
		put_words(to, "functions", &options->also);
	put_words(to, "exclude", &options->exclude);
}

static void put_patterns(FILE *to, const char *key, const struct rules_pattern *patterns)
{
	for (const struct rules_pattern *p = patterns; p; p = p->next)
		fprintf(to, "%s = %s%s%s\n", key, p->function, p->library ? "@" : "", p->library ? p->library : "");
}

/* The sections of the configuration, but that -N leaves out more. */
static void put_excluding(FILE *to, const struct record_options *options, const struct rules *found)
{
	for (const struct rules_section *section = found->sections; section; section = section->next) {
		put_kinds(to, section->library, section->kinds);
		fprintf(to, "fallback = %s\n", section->fallback ? kind_rows[TRACE_KIND_ENTRY].word : "none");
		put_patterns(to, "functions", section->functions);
		put_patterns(to, "exclude", section->exclude);
		put_words(to, "exclude", &options->exclude);
	}
}

/* The options that are keys of [trace], as they were given. */
static void put_options(FILE *to, const struct record_options *options)
{
	fputs("[trace]\n", to);
	for (int i = 0; i < RULES_KEYS_TRACE; i++)
		if (options->value[i])
			fprintf(to, "%s = %s\n", rules_keys[i].word, options->value[i]);
	put_words(to, "below", &options->below);
	put_words(to, "snapshot", &options->snapshots);
	if (options->start_disabled)
		fputs("enabled = no\n", to);
	if (options->merge)
		fputs("merge = yes\n", to);
	if (options->sched)
		fputs("sched = yes\n", to);
	if (options->perf)
		fputs("perf = yes\n", to);
	if (options->no_values)
		fputs("values = no\n", to);
}

static void put_number(FILE *to, const char *key, uint64_t value, const char *unit)
{
	if (value)
		fprintf(to, "%s = %" PRIu64 "%s\n", key, value, unit);
	else
		fprintf(to, "%s = off\n", key);
}

/* The word of that number in a text such as "stream, ring, count". */
static void put_word(FILE *to, const char *key, int number, const char *words)
{
	while (number--)
		words = strchr(words, ',') + 2;
	fprintf(to, "%s = %.*s\n", key, (int)strcspn(words, ","), words);
}

/* Writes a value from which rules_key_set() makes the same value again. */
static void put_key(FILE *to, const struct rules *rules, const struct rules_key *key)
{
	const void *at = (const char *)rules + key->at;

	switch (key->value) {
	case RULES_VALUE_PATH:
		fprintf(to, "%s = %s\n", key->word, *(const char *const *)at);
		break;
	case RULES_VALUE_WORD:
		put_word(to, key->word, *(const int *)at, key->allowed);
		break;
	case RULES_VALUE_YES:
		put_word(to, key->word, !*(const int *)at, key->allowed);
		break;
	case RULES_VALUE_POWER:
		put_number(to, key->word, *(const size_t *)at, "");
		break;
	case RULES_VALUE_SIZE:
		put_number(to, key->word, *(const uint64_t *)at, "");
		break;
	case RULES_VALUE_PERCENT:
		put_number(to, key->word, *(const uint32_t *)at, "%");
		break;
	case RULES_VALUE_COUNT:
		put_number(to, key->word, *(const uint32_t *)at, "");
		break;
	case RULES_VALUE_TIME:
		put_number(to, key->word, *(const uint64_t *)at, "ns");
		break;
	case RULES_VALUE_PATTERNS:
		put_patterns(to, key->word, *(struct rules_pattern *const *)at);
		break;
	case RULES_VALUE_LIBRARIES:
		for (const struct rules_pattern *p = *(struct rules_pattern *const *)at; p; p = p->next)
			fprintf(to, "%s = %s\n", key->word, p->library);
		break;
	case RULES_VALUE_SNAPSHOTS:
		if (rules->snapshot_signal)
			fprintf(to, "%s = signal:%s\n", key->word, rules_signal(rules->snapshot_signal));
		if (rules->snapshot_exit)
			fprintf(to, "%s = exit\n", key->word);
		if (rules->snapshot_crash)
			fprintf(to, "%s = crash\n", key->word);
		break;
	case RULES_VALUE_KINDS: /* not in [trace] */
		break;
	}
}

/*
 * Writes all of [trace], from options or configuration: so it holds in every process, even one that would find another
 * configuration.
 */
static void put_trace(FILE *to, const char *output, const struct rules *rules)
{
	struct rules all = *rules;

	all.output = output;
	all.buffer = rules_buffer(rules);
	fputs("[trace]\n", to);
	for (int i = 0; i < RULES_KEYS_TRACE; i++)
		put_key(to, &all, &rules_keys[i]);
}

static int given_before(const struct record_words *words, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(words->word[k], words->word[i]))
			return 1;
	return 0;
}

/* found: the configuration's rules. */
static void put_sections(FILE *to, const struct record_options *options, const struct rules *found)
{
	const char *program = options->command && options->command[0] ? tool_base(options->command[0]) : "";
	unsigned kinds = options->kinds;
	bool named = false;

	for (size_t i = 0; i < options->libraries.count; i++)
		if (!given_before(&options->libraries, i))
			put_section(to, options, options->libraries.word[i], kinds ? kinds : KINDS_OF_LIBRARY, program,
				false);
	if (options->libraries.count) {
		/* -l leaves out the program, but functions of it may be named. */
		for (size_t i = 0; i < options->functions.count; i++)
			named |= is_for_program(options->functions.word[i], program);
		if (named)
			put_section(to, options, NULL, kinds ? kinds : RULES_DEFAULT_KINDS, program, true);
	} else if (kinds) {
		put_section(to, options, "*", kinds, program, false);
		put_section(to, options, NULL, kinds, program, false);
	} else if (record_probes_alone(options, found)) {
		fputs("[library *]\nkinds = none\n[program]\nkinds = none\n", to);
	} else if (found->defaults || options->functions.count) {
		/*
		 * Without any choice the user shall see something: every dynamic program has calls of libraries.
		 */
		for (size_t i = 0; i < options->functions.count; i++)
			if (whole_library(options, i))
				put_section(to, options, whole_library(options, i), RULES_DEFAULT_KINDS, program,
					false);
		put_section(to, options, "*", RULES_DEFAULT_KINDS, program, false);
		put_section(to, options, NULL, RULES_DEFAULT_KINDS | 1u << TRACE_KIND_CALLS, program, false);
	} else if (options->exclude.count) {
		put_excluding(to, options, found);
	}
}

/*
 * A copy with each %p replaced by the process id of this command, and each %u by its user's: all traced processes share
 * one folder.
 */
static char *replace_ids(const char *path)
{
	char *result;
	size_t size;
	FILE *to = memory_need(open_memstream(&result, &size));

	for (; *path; path++) {
		if (path[0] == '%' && (path[1] == 'p' || path[1] == 'u'))
			fprintf(to, "%u", *++path == 'p' ? (unsigned)getpid() : (unsigned)geteuid());
		else
			fputc(*path, to);
	}
	fclose(to);
	return memory_need(result);
}

/* ---- the environment ---- */

/* The module's path, absolute; NULL after a line on stderr. */
static char *find_module(void)
{
	const char *named = getenv("XAUDIT_MODULE");
	char *path, exe[4096];
	ssize_t n;

	if (named && *named) {
		path = record_absolute(named);
		if (path && access(path, R_OK) < 0) {
			tool_error(record_speaker, "XAUDIT_MODULE names %s, which can't be read: %s", path,
				strerror(errno));
			free(path);
			return NULL;
		}
		return path;
	}
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		*strrchr(exe, '/') = '\0';
		path = memory_format("%s/.libs/libxaudit.so", exe);
		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	path = memory_format("%s", XAUDIT_MODULE_DIR "/libxaudit.so");
	if (access(path, R_OK) == 0)
		return path;
	tool_error(record_speaker, "the module %s is not there; install xaudit, or name libxaudit.so in XAUDIT_MODULE",
		path);
	free(path);
	return NULL;
}

static void set(const char *name, char *value)
{
	if (setenv(name, value, 1) < 0) {
		tool_error(record_speaker, "out of memory");
		exit(RECORD_FAILED);
	}
	free(value);
}

/*
 * LD_AUDIT: the module first (later auditors see no objects of earlier ones), then what the variable held before,
 * without a second copy of the module.
 */
static int set_module(void)
{
	const char *before = getenv("LD_AUDIT");
	char *module = find_module(), *value;
	size_t n;

	if (!module)
		return -1;
	if (strchr(module, ':')) {
		tool_error(record_speaker,
			"the module's path %s holds a ':', which separates paths in LD_AUDIT; move or link it "
			"elsewhere",
			module);
		free(module);
		return -1;
	}
	value = memory_format("%s", module);
	for (const char *p = before ? before : ""; *p; p += n + (p[n] == ':')) {
		n = strcspn(p, ":");
		if (!n || (n == strlen(module) && !strncmp(p, module, n)))
			continue;
		char *longer = memory_format("%s:%.*s", value, (int)n, p);
		free(value);
		value = longer;
	}
	free(module);
	set("LD_AUDIT", value);
	return 0;
}

/*
 * objects: of the command, or NULL. A size that the user has set is kept. What is set beyond RECORD_STATIC_TLS is for
 * this command alone.
 */
static void set_tunables(const struct record_objects *objects)
{
	const char *before = getenv("GLIBC_TUNABLES");
	char *value, *more;

	if (!before)
		before = "";
	for (const char *p = before; *p;) {
		if (!strncmp(p, STATIC_TLS_TUNABLE "=", strlen(STATIC_TLS_TUNABLE "=")))
			return;
		p += strcspn(p, ":");
		p += *p == ':';
	}
	value = memory_format("%s%s" STATIC_TLS_TUNABLE "=%d", before, *before ? ":" : "", RECORD_STATIC_TLS);
	size_t need = objects ? record_static_tls(objects) : 0;
	if (need > RECORD_STATIC_TLS) {
		more = memory_format("%s:" STATIC_TLS_ONCE "=2:" STATIC_TLS_TUNABLE "=%zu", value, need);
		free(value);
		value = more;
	}
	set("GLIBC_TUNABLES", value);
}

static int set_environment(const struct record_objects *objects)
{
	if (set_module() < 0)
		return -1;
	set_tunables(objects);
	return 0;
}

int record_environment(const char *path)
{
	struct record_objects objects;

	if (!path)
		return set_environment(NULL);
	record_objects_find(&objects, path);
	int r = set_environment(&objects);
	record_objects_free(&objects);
	return r;
}

char *record_prepare(const struct record_options *options, const struct record_objects *objects, struct rules *rules,
	char **searched)
{
	struct rules found = { 0 };
	const char *named = options->config ? options->config : getenv("XAUDIT_CONFIG");
	char *config = NULL, *given = NULL, *text = NULL, *sections = NULL, *output = NULL;
	size_t size;
	FILE *to;

	if (options->config && !*options->config) {
		tool_error("record", "-c names no file");
		return NULL;
	}
	if (check_words("library", &options->libraries) < 0 || check_patterns(&options->functions) < 0 ||
		check_patterns(&options->exclude) < 0 || check_patterns(&options->below) < 0 ||
		(options->output && check("output", options->output) < 0))
		return NULL;
	/* Children may change their folder: every path must be from the root. */
	if (named && *named && !(config = record_absolute(named)))
		return NULL;
	to = memory_need(open_memstream(&given, &size));
	put_options(to, options);
	fclose(to);
	if (read_rules(&found, given, config) < 0)
		goto out;
	*searched = !config && found.file ? record_absolute(found.file) : NULL;

	to = memory_need(open_memstream(&sections, &size));
	put_sections(to, options, &found);
	fclose(to);
	output = options->output ? record_absolute(options->output) : memory_format("%s", found.output);
	if (!output)
		goto out;
	for (size_t n = strlen(output); n > 1 && output[n - 1] == '/'; n--)
		output[n - 1] = '\0';
	char *with_pid = replace_ids(output);
	free(output);
	output = with_pid;
	if (check("output", output) < 0)
		goto bad;

	to = memory_need(open_memstream(&text, &size));
	put_trace(to, output, &found);
	fputs(sections, to);
	/* A configuration that is not named is found by each process itself, or not. */
	bool put = record_values_put(to, options, !config && *sections ? &found : NULL);
	fclose(to);
	if (!put)
		goto bad;
	/*
	 * A configuration that was found, not named, holds for all processes, in whichever folder they run, but its
	 * sections are used only if the options made none.
	 */
	if (!config && found.file && !*sections)
		config = record_absolute(found.file);
	if (read_rules(rules, text, config) < 0 || !record_values_check(rules) || set_environment(objects) < 0)
		goto bad;
	set("XAUDIT_RULES", text);
	text = NULL;
	if (config) {
		set("XAUDIT_CONFIG", config);
		config = NULL;
	}
	goto out;
bad:
	free(output);
	output = NULL;
out:
	arena_free(&found.arena);
	free(given);
	free(sections);
	free(config);
	free(text);
	return output;
}
