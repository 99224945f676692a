/* SPDX-License-Identifier: MIT */
#include "tool/values/wanted.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/match/cxx.h"
#include "tool/base/data.h"
#include "tool/base/memory.h"
#include "tool/base/tool.h"
#include "tool/values/action.h"
#include "tool/values/condition.h"
#include "tool/values/ltrace.h"
#include "tool/values/prototype.h"
#include "tool/values/token.h"

#define MOST_PROTOTYPES (16u << 20) /* bytes of the file */

static const struct key {
	const char *word;
	enum wanted_key key;
} keys[] = { { "context", WANTED_CONTEXT }, { "if", WANTED_IF }, { "every", WANTED_EVERY }, { "longer", WANTED_LONGER },
	{ "secret", WANTED_SECRET }, { "request", WANTED_REQUEST }, { "trust", WANTED_TRUST },
	{ "then", WANTED_THEN } },
  probe_keys[] = { { "at", WANTED_AT }, { "context", WANTED_CONTEXT }, { "if", WANTED_IF }, { "every", WANTED_EVERY },
	{ "then", WANTED_THEN } };

static const char of_probe[] = "probe "; /* before the keys of one */

/* Always false. */
static bool wrong_value(const char *where, const char *key, const char *value, const char *allowed)
{
	tool_error(NULL, "%s: bad value '%s' for key '%s'; allowed: %s", where, value, key, allowed);
	return false;
}

void wanted_wrong(struct wanted_rule *rule, const struct values_wrong *wrong)
{
	if (!rule->told && *rule->where)
		tool_error(NULL, "%s: %s '%s'%s%s", rule->where, wrong->before, wrong->part,
			*wrong->after && *wrong->after != ';' ? " " : "", wrong->after);
	rule->told = true;
}

static struct wanted_rule *add(struct wanted *wanted, const struct wanted_rule *like, const char *value, size_t length)
{
	wanted->rule = memory_grow(wanted->rule, wanted->rules, sizeof(*wanted->rule));
	struct wanted_rule *rule = &wanted->rule[wanted->rules++];
	*rule = *like;
	rule->value = memory_text(value, length);
	return rule;
}

/* ---- values of keys ---- */

/* A number, and nothing else behind it but a unit. Returns false: it is none, or too large. */
static bool take_number(const char *text, uint64_t most, uint64_t *number, const char **behind)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	*behind = end;
	return !errno && *number <= most;
}

bool wanted_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *word;
		double ns;
	} unit[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double number = isdigit((unsigned char)*text) ? strtod(text, &end) : -1;

	for (size_t i = 0; number >= 0 && i < sizeof(unit) / sizeof(*unit); i++)
		if (!strcmp(end, unit[i].word) && number * unit[i].ns >= 1 && number * unit[i].ns <= 1e18) {
			*ns = (uint64_t)(number * unit[i].ns);
			return true;
		}
	return false;
}

/* What every function may have: a symbol of any name is known. */
static bool any_symbol(void *context, const char *name, uint64_t *address)
{
	(void)context;
	(void)name;
	*address = 0;
	return true;
}

/* And members, of any type. */
static bool any_members(void *context, const struct values_word *word, const char *text, size_t length,
	struct values_path *path, struct values_wrong *wrong)
{
	(void)context;
	(void)word;
	(void)text;
	(void)length;
	(void)wrong;
	path->is = (struct values_word){ .type = VALUES_TYPE_SIGNED, .size = 8 };
	return true;
}

const struct values_known wanted_anything = { .look = any_symbol, .follow = any_members, .any = true };

/* args, args:contents, args:depth=2. Returns false: it is not that. */
static bool take_args(struct wanted_rule *rule, const char *word, size_t length)
{
	static const char args[] = "args", contents[] = ":contents", depth[] = ":depth=";
	const char *at = word + sizeof(args) - 1, *end = word + length;

	if (length < sizeof(args) - 1 || strncmp(word, args, sizeof(args) - 1) != 0)
		return false;
	rule->number = 1;
	while (at < end) {
		if ((size_t)(end - at) >= sizeof(contents) - 1 && !strncmp(at, contents, sizeof(contents) - 1)) {
			rule->contents = true;
			at += sizeof(contents) - 1;
		} else if ((size_t)(end - at) < sizeof(depth) || strncmp(at, depth, sizeof(depth) - 1) != 0 ||
			   !take_number(at + sizeof(depth) - 1, 8, &rule->number, &at) || !rule->number) {
			return false;
		}
	}
	rule->key = WANTED_ARGUMENTS;
	return at == end;
}

bool wanted_may_be_parameter(const char *word)
{
	static const char *const contexts[] = { "args", "retval", "ret", "ret2", "fret", "fret2", "errno", "regs" };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++)
		if (!strcmp(word, contexts[i]))
			return false;
	while (token_letter(word[n]))
		n++;
	return n && !word[n] && !isdigit((unsigned char)*word);
}

bool wanted_ask_request(struct values_asked *asked, const char *context, const struct values_known *known,
	struct values_wrong *wrong)
{
	uint32_t before = asked->entry.values;

	/* One that begins with a type has a name; of others nobody needs to know it. */
	if (!values_ask(asked, context, known, wrong))
		return false;
	if (asked->entry.values == before + 1 && !asked->end.values)
		return true;
	*wrong = (struct values_wrong){ .after = "" };
	wrong->before = asked->end.values ? "a request is known when its function begins, not"
					  : "a request has one value, not";
	snprintf(wrong->part, sizeof(wrong->part), "%s", context);
	return false;
}

static bool take_context(struct wanted *wanted, const struct wanted_rule *like, const char *word, size_t length)
{
	struct values_asked asked = { .keeps = 0 };
	struct wanted_rule one = *like;
	struct values_wrong wrong;

	if (take_args(&one, word, length)) {
		add(wanted, &one, word, length);
		return true;
	}
	if (length == 6 && !strncmp(word, "retval", 6))
		one.key = WANTED_RESULT;
	if (like->probe && length == 4 && !strncmp(word, "none", 4))
		one.key = WANTED_NONE;
	struct wanted_rule *rule = add(wanted, &one, word, length);
	if (rule->key != WANTED_CONTEXT || like->probe || values_ask(&asked, rule->value, &wanted_anything, &wrong))
		return true;
	wanted_wrong(rule, &wrong);
	free(rule->value);
	wanted->rules--;
	return false;
}

/* Each word; blanks and commas within brackets divide nothing. */
static bool take_words(struct wanted *wanted, const struct wanted_rule *like, const char *value)
{
	bool right = true, any = false;

	for (size_t length; *value; value += length) {
		value += strspn(value, ", \t");
		int depth = 0;
		for (length = 0; value[length] && (depth > 0 || !strchr(", \t", value[length])); length++)
			depth += (value[length] == '(') - (value[length] == ')');
		any |= length > 0;
		if (!length)
			continue;
		if (like->key == WANTED_SECRET)
			add(wanted, like, value, length);
		else if (!take_context(wanted, like, value, length))
			right = false;
	}
	if (any)
		return right;
	return wrong_value(like->where, like->key == WANTED_SECRET ? "secret" : "context", "",
		like->key == WANTED_SECRET ? "names of parameters" : "contexts, as in args retval");
}

/* Of a function: names in its condition may be those of parameters. */
static bool check_action(struct wanted_rule *rule, const char *value)
{
	struct values_asked asked = { .keeps = 0 }, conditions;
	struct values_wrong wrong;
	struct action action;
	char *text;

	if (!action_read(&action, value, &text)) {
		tool_error(NULL, "%s: %s", rule->where, text);
		free(text);
		return false;
	}
	bool right = action_ask(&action, &asked, &conditions, &wanted_anything, &wrong);
	if (!right)
		wanted_wrong(rule, &wrong);
	action_free(&action);
	return right;
}

static bool take_value(struct wanted *wanted, struct wanted_rule *rule, const char *value)
{
	struct values_asked asked = { .keeps = 0 };
	struct values_wrong wrong;
	const char *end = "";

	switch (rule->key) {
	case WANTED_AT:
		break;
	case WANTED_THEN:
		if (!rule->probe && !check_action(rule, value))
			return false;
		break;
	case WANTED_IF:
		if (rule->probe)
			break;
		/* Names may be those of parameters, which are not known yet, as symbols are not. */
		if (!values_ask_if(&asked, value, &wanted_anything, &wrong)) {
			wanted_wrong(rule, &wrong);
			return false;
		}
		break;
	case WANTED_REQUEST:
		if (!wanted_ask_request(&asked, value, &wanted_anything, &wrong) && !wanted_may_be_parameter(value)) {
			wanted_wrong(rule, &wrong);
			return false;
		}
		break;
	case WANTED_TRUST:
		rule->number = !strcmp(value, "arguments");
		if (!rule->number && strcmp(value, "no") != 0)
			return wrong_value(rule->where, "trust", value, "arguments, no");
		break;
	case WANTED_EVERY:
		if (!take_number(value, UINT32_MAX, &rule->number, &end) || *end || !rule->number)
			return wrong_value(rule->where, "every", value, "a number from 1 to 4294967295");
		break;
	case WANTED_LONGER:
		if (!wanted_time(value, &rule->number))
			return wrong_value(rule->where, "longer", value, "a time, as in 500ns, 10us, 1.5ms or 2s");
		break;
	default:
		return take_words(wanted, rule, value);
	}
	add(wanted, rule, value, strlen(value));
	return true;
}

/* ---- lines ---- */

static void add_line(struct wanted *wanted, const char *where, char *line)
{
	wanted->line = memory_grow(wanted->line, wanted->lines, sizeof(*wanted->line));
	wanted->line_where = memory_grow(wanted->line_where, wanted->lines, sizeof(*wanted->line_where));
	wanted->line_where[wanted->lines] = where;
	wanted->line[wanted->lines++] = line;
}

static bool take_pattern(struct wanted_rule *rule, char *text)
{
	char *at = text;

	while (*at && *at != '@')
		at += *at == '\\' && at[1] ? 2 : 1;
	rule->pattern.function = text;
	if (*at) {
		*at = '\0';
		rule->pattern.library = at + 1;
	}
	if (*text && (!rule->pattern.library || *rule->pattern.library) && !cxx_has_more(text))
		return true;
	tool_error(NULL, "%s: no function has the name '%s'; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB", rule->where,
		text);
	return false;
}

/* Of a line, which is cut: field[3] is all that is behind the third tab. Returns false: there are not so many. */
static bool divide(char *line, char *field[4])
{
	for (int i = 0; i < 3; i++) {
		field[i] = line;
		line = strchr(line, '\t');
		if (!line)
			return false;
		*line++ = '\0';
	}
	field[3] = line;
	return true;
}

/* Lines of one name follow each other. */
static uint32_t probe_named(struct wanted *wanted, const char *name)
{
	wanted->probes += !wanted->probe || strcmp(wanted->probe, name) != 0;
	wanted->probe = name;
	return wanted->probes;
}

static bool take_probe(struct wanted *wanted, char *field[4])
{
	const char *word = field[2] + sizeof(of_probe) - 1;

	for (size_t i = 0; i < sizeof(probe_keys) / sizeof(*probe_keys); i++) {
		if (strcmp(word, probe_keys[i].word) != 0)
			continue;
		struct wanted_rule rule = { .where = field[0], .pattern = { .function = field[1] },
			.key = probe_keys[i].key, .probe = probe_named(wanted, field[1]) };
		return take_value(wanted, &rule, field[3]);
	}
	tool_error(NULL, "%s: unknown key '%s'; allowed for a probe: at, context, if, every, then", field[0], word);
	return false;
}

static bool take_line(struct wanted *wanted, char *line)
{
	char *field[4];

	if (!*line)
		return true;
	if (!divide(line, field)) {
		tool_error(NULL, "rules of values: a line is not WHERE, PATTERN, KEY, VALUE, with tabs between them");
		return false;
	}
	if (!*field[1]) {
		add_line(wanted, field[0], field[3]);
		return true;
	}
	if (!strncmp(field[2], of_probe, sizeof(of_probe) - 1))
		return take_probe(wanted, field);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct wanted_rule rule = { .where = field[0], .key = keys[i].key };
		if (!strcmp(field[2], keys[i].word))
			return take_pattern(&rule, field[1]) && take_value(wanted, &rule, field[3]);
	}
	tool_error(NULL, "%s: unknown key '%s'; allowed: context, if, every, longer, secret, request, trust, then",
		field[0], field[2]);
	return false;
}

/* Puts them in order (wanted.h). Numbers of probes ascend as they are read. */
static void order_rules(struct wanted *wanted)
{
	struct wanted_rule *rule = memory_zeroed(wanted->rules + 1, sizeof(*rule));
	size_t n = 0;

	for (size_t i = 0; i < wanted->rules; i++)
		if (!wanted->rule[i].probe)
			rule[n++] = wanted->rule[i];
	wanted->of_functions = n;
	for (size_t i = 0, end; i < wanted->rules; i = end) {
		uint32_t probe = wanted->rule[i].probe;
		for (end = i; end < wanted->rules && (!wanted->rule[end].probe || wanted->rule[end].probe == probe ||
							     !probe); end++)
			probe = wanted->rule[end].probe ? wanted->rule[end].probe : probe;
		for (int places = 1; places >= 0; places--)
			for (size_t k = i; k < end; k++)
				if (wanted->rule[k].probe && (wanted->rule[k].key == WANTED_AT) == places)
					rule[n++] = wanted->rule[k];
	}
	free(wanted->rule);
	wanted->rule = rule;
}

bool wanted_next(const struct wanted *wanted, struct wanted_probe *probe)
{
	const struct wanted_rule *rule = wanted->rule;

	probe->at = probe->end ? probe->end : wanted->of_functions;
	if (probe->at >= wanted->rules)
		return false;
	for (probe->others = probe->at; probe->others < wanted->rules && rule[probe->others].key == WANTED_AT &&
					rule[probe->others].probe == rule[probe->at].probe;)
		probe->others++;
	for (probe->end = probe->others; probe->end < wanted->rules &&
					 rule[probe->end].probe == rule[probe->at].probe;)
		probe->end++;
	return true;
}

bool wanted_read(struct wanted *wanted, const char *text)
{
	bool right = true;

	*wanted = (struct wanted){ .text = memory_text(text, strlen(text)) };
	for (char *line = wanted->text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		right &= take_line(wanted, line);
	}
	order_rules(wanted);
	return right;
}

void wanted_free(struct wanted *wanted)
{
	for (size_t i = 0; i < wanted->rules; i++)
		free(wanted->rule[i].value);
	free(wanted->rule);
	free(wanted->line);
	free(wanted->line_where);
	free(wanted->text);
	*wanted = (struct wanted){ 0 };
}

/* ---- prototypes ---- */

/* The table that comes with xaudit, as a text; NULL: it is not there. *path: to be freed. */
static char *read_table(char **path)
{
	char *text;
	FILE *file;

	*path = data_path("prototypes");
	file = fopen(*path, "re");
	if (!file)
		return NULL;
	text = memory_zeroed(MOST_PROTOTYPES + 1, 1);
	text[fread(text, 1, MOST_PROTOTYPES, file)] = '\0';
	fclose(file);
	return text;
}

/*
 * Reads it, and after a line that is wrong what comes behind it. name: the file that it is; NULL: none. places: where
 * each of its lines is from; NULL: unknown. Without both nothing is said.
 */
static bool read_all(struct prototypes *all, const char *text, const char *name, const struct wanted *places)
{
	struct prototypes_wrong wrong;
	uint32_t line = 0;
	bool right = true;

	while (*text && !prototypes_read(all, text, &wrong)) {
		right = false;
		line += wrong.line;
		/* Where more is expected at the text's end, that is behind its last line. */
		if (places && line > places->lines)
			line = (uint32_t)places->lines;
		char *where = places ? memory_format("%s", places->line_where[line - 1])
				     : memory_format("%s:%u", name ? name : "", line);
		if (places || name)
			tool_error(NULL, "%s: %s '%s'%s%s", where, wrong.before, wrong.part,
				*wrong.after && *wrong.after != ';' ? " " : "", wrong.after);
		free(where);
		for (uint32_t i = 0; i < wrong.line && text; i++) {
			text = strchr(text, '\n');
			text += text != NULL;
		}
		if (!text)
			break;
	}
	return right;
}

struct prototypes *wanted_prototypes(const struct wanted *wanted, unsigned *own, bool *wrong)
{
	struct prototypes *all = prototypes_new();
	char *path = NULL, *text = read_table(&path), *lines, *files = ltrace_files(),
	     *others = ltrace_prototypes(files);
	size_t size;

	/* The table says more of the functions that both have. */
	read_all(all, others, NULL, NULL);
	if (text)
		*wrong |= !read_all(all, text, path, NULL);
	*own = prototypes_texts(all);
	free(others);
	free(files);
	free(path);
	free(text);
	FILE *to = memory_need(open_memstream(&lines, &size));
	for (size_t i = 0; i < wanted->lines; i++)
		fprintf(to, "%s\n", wanted->line[i]);
	if (fclose(to))
		memory_failed();
	*wrong |= !read_all(all, lines, NULL, wanted);
	free(lines);
	return all;
}

char *wanted_sources(void)
{
	char *path = NULL, *table = read_table(&path), *files = ltrace_files();
	char *both = memory_format("%s\n%s", table ? table : "", files);

	free(path);
	free(table);
	free(files);
	return both;
}

bool wanted_check(const char *text)
{
	struct wanted wanted;
	unsigned own;
	bool wrong = !wanted_read(&wanted, text);

	prototypes_free(wanted_prototypes(&wanted, &own, &wrong));
	wanted_free(&wanted);
	return !wrong;
}
