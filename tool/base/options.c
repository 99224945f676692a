/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/base/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h> /* STDOUT_FILENO */

#include "config.h"
#include "tool/base/memory.h"
#include "tool/base/nearest.h"
#include "tool/base/tool.h"

/* getopt's value of a row without a letter: this and its index. */
#define WORD	256
#define WIDTH	80  /* of --help */
#define ASKED_VERSION 255 /* of --version and -V, which have no row */

const struct options_wording options_wording = {
	.no_value = "a value is missing behind the option '%l'; `xaudit %c --help` lists what there is",
	.unknown = "there is no option '%l'; `xaudit %c --help` lists what there is",
	.excess = "option '%o' takes no value; `xaudit %c --help` lists what there is",
	.wrong = "%o can't be '%v'; it is %a",
};

/* ---- what is wrong ---- */

struct words {
	const char *option, *letter, *value, *allowed;
};

static void say(const struct options_syntax *syntax, const char *text, const struct words *words)
{
	char *said;
	size_t size;
	FILE *to = memory_need(open_memstream(&said, &size));

	for (; *text; text++) {
		if (*text != '%') {
			putc(*text, to);
			continue;
		}
		text++;
		fputs(*text == 'o'   ? words->option
		      : *text == 'l' ? words->letter
		      : *text == 'v' ? words->value
		      : *text == 'a' ? words->allowed
				     : syntax->command,
			to);
	}
	fclose(to);
	tool_error(syntax->command, "%s", said);
	free(said);
}

static const struct options_wording *wording(const struct options_syntax *syntax)
{
	return syntax->wording ? syntax->wording : &options_wording;
}

bool options_wrong_as(const struct options_given *given, const char *text, const char *allowed)
{
	const struct options_row *row = given->row;
	char letter[] = { '-', row->letter, '\0' }, *word = memory_format("--%s", row->word ? row->word : "");

	say(given->syntax, text,
		&(struct words){ .option = row->word ? word : letter,
			.letter = row->letter ? letter : word,
			.value = given->value,
			.allowed = allowed });
	free(word);
	return false;
}

bool options_wrong(const struct options_given *given, const char *allowed)
{
	const char *text = given->row->wrong;

	return options_wrong_as(given, text ? text : wording(given->syntax)->wrong, allowed);
}

/*
 * The options that somebody may have meant who wrote this word, as a text; NULL: none. The caller frees it. They are
 * those that begin so, where that is more than one; else the one of the fewest slips.
 */
static char *meant_by(const struct options_syntax *syntax, const char *written)
{
	char *word = memory_text(written, strcspn(written, "=")), *meant = NULL;
	struct nearest nearest = { .written = word };

	for (const struct options_row *row = syntax->rows; row->word || row->letter; row++) {
		if (!row->word)
			continue;
		nearest_look(&nearest, row->word);
		if (*word && !strncmp(row->word, word, strlen(word))) {
			char *longer = meant ? memory_format("%s or --%s", meant, row->word)
					     : memory_format("--%s", row->word);
			free(meant);
			meant = longer;
		}
	}
	if (!meant && nearest.word)
		meant = memory_format("--%s", nearest.word);
	nearest_free(&nearest);
	free(word);
	return meant;
}

/* getopt returned '?' or ':'. For a letter, optopt is the letter; for a known word, the value of its row. */
static void say_refused(const struct options_syntax *syntax, int option, const char *written)
{
	const struct options_wording *text = wording(syntax);
	char letter[] = { '-', (char)optopt, '\0' };
	bool is_letter = optopt > 0 && optopt < WORD, is_word = !strncmp(written, "--", 2);
	char *meant = is_word && !optopt ? meant_by(syntax, written + 2) : NULL;
	const char *what = text->unknown;

	if (option == ':')
		what = text->no_value;
	else if (meant)
		what = "there is no option '%o': did you mean %a? `xaudit %c --help` lists what there is";
	else if (optopt && is_word)
		what = text->excess ? text->excess : options_wording.excess;
	else if (is_letter && text->letter)
		what = text->letter;
	/* A word that does not exist has no value. */
	char *word = memory_text(written, meant ? strcspn(written, "=") : strlen(written));
	say(syntax, what, &(struct words){ .option = word, .letter = is_letter ? letter : word, .allowed = meant });
	free(word);
	free(meant);
}

/* ---- help ---- */

/* How much of a text, up to a blank, stands on a line of that width. At least one word does. */
static size_t fitting(const char *text, size_t width)
{
	size_t length = strcspn(text, "\n"), last = 0;

	if (length <= width)
		return length;
	for (size_t i = 0; i < length && (i <= width || !last); i++)
		if (text[i] == ' ')
			last = i;
	return last ? last : length;
}

static void print_row(const struct options_syntax *syntax, const struct options_row *row)
{
	unsigned width;

	if (row->letter)
		width = (unsigned)printf("  -%c, --%s", row->letter, row->word);
	else
		width = (unsigned)printf("%*s--%s", syntax->aligned ? 6 : 2, "", row->word);
	if (row->value)
		width += (unsigned)printf("=%s", row->value);
	if (width >= syntax->column) {
		putchar('\n');
		width = 0;
	}
	for (const char *line = row->help; line;) {
		size_t length = fitting(line, WIDTH - syntax->column);

		printf("%*s%.*s\n", (int)(syntax->column - width), "", (int)length, line);
		line = line[length] ? line + length + 1 : NULL;
		width = 0;
	}
}

void options_help(const struct options_syntax *syntax)
{
	fputs(syntax->head, stdout);
	for (const struct options_row *row = syntax->rows; row->word || row->letter; row++)
		if (row->help)
			print_row(syntax, row);
	if (syntax->more)
		syntax->more();
	if (syntax->tail)
		fputs(syntax->tail, stdout);
}

/* ---- taking them ---- */

static int value_of(const struct options_syntax *syntax, const struct options_row *row)
{
	return row->letter ? row->letter : WORD + (int)(row - syntax->rows);
}

/* Makes the tables for getopt_long(). The caller frees both. */
static struct option *tell(const struct options_syntax *syntax, char **letters)
{
	size_t rows = 0;

	while (syntax->rows[rows].word || syntax->rows[rows].letter)
		rows++;
	struct option *option = memory_zeroed(rows + 2, sizeof(*option)), *next = option;
	char *p = *letters = memory_zeroed(2 * rows + 4, 1);

	if (syntax->in_front)
		*p++ = '+';
	*p++ = ':';
	for (const struct options_row *row = syntax->rows; row < syntax->rows + rows; row++) {
		if (row->letter)
			*p++ = row->letter;
		if (row->letter && row->value)
			*p++ = ':';
		if (row->word)
			*next++ = (struct option){ .name = row->word,
				.has_arg = row->value ? required_argument : no_argument,
				.val = value_of(syntax, row) };
	}
	*p = 'V';
	*next = (struct option){ .name = "version", .val = ASKED_VERSION };
	return option;
}

int options_take(const struct options_syntax *syntax, void *context, int argc, char **argv)
{
	char *letters;
	struct option *words = tell(syntax, &letters);
	struct options_given given = { .syntax = syntax, .context = context };
	int option, result = 1;

	opterr = 0;
	optind = 0; /* start anew, at argv[1] */
	while (result > 0 && (option = getopt_long(argc, argv, letters, words, NULL)) != -1) {
		if (option == '?' || option == ':') {
			say_refused(syntax, option, argv[optind - 1]);
			result = -1;
			break;
		}
		if (option == 'V' || option == ASKED_VERSION) {
			puts("xaudit " PACKAGE_VERSION);
			result = 0;
			break;
		}
		for (given.row = syntax->rows; value_of(syntax, given.row) != option;)
			given.row++;
		given.value = optarg;
		if (!given.row->take) {
			options_help(syntax);
			result = 0;
		} else if (!given.row->take(&given)) {
			result = -1;
		}
	}
	free(words);
	free(letters);
	return result > 0 ? optind : result;
}

/* ---- for rows ---- */

static void *place(const struct options_given *given)
{
	return (char *)given->context + given->row->at;
}

bool options_flag(const struct options_given *given)
{
	*(bool *)place(given) = true;
	return true;
}

bool options_text(const struct options_given *given)
{
	*(const char **)place(given) = given->value;
	return true;
}

int options_index(const char *words, const char *value)
{
	size_t length = strlen(value);

	for (int i = 0; *words; i++) {
		size_t n = strcspn(words, ", ");

		if (n == length && !memcmp(words, value, n))
			return i;
		words += n;
		words += strspn(words, ", ");
		if (!strncmp(words, "or ", 3))
			words += 3;
	}
	return -1;
}

bool options_word(const struct options_given *given)
{
	int index = options_index(given->row->allowed, given->value);

	if (index < 0)
		return options_wrong(given, given->row->allowed);
	*(int *)place(given) = index;
	return true;
}

bool options_digits(const char *text, uint32_t most, uint32_t *number)
{
	char *end;

	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	if (end == text || *end || errno || *text == '-' || !n || n > most)
		return false;
	*number = (uint32_t)n;
	return true;
}

bool options_number(const struct options_given *given)
{
	return options_digits(given->value, given->row->most, place(given)) ||
	       options_wrong(given, given->row->allowed);
}

bool options_span(const struct options_given *given)
{
	static const struct {
		const char *word;
		double ns;
	} unit[] = { { "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
	char *end;
	double time = strtod(given->value, &end);

	if (end != given->value && time >= 0 && strspn(given->value, "0123456789.") == (size_t)(end - given->value))
		for (size_t i = 0; i < sizeof(unit) / sizeof(*unit); i++)
			if (!strcmp(end, unit[i].word) && time * unit[i].ns < 9e18) {
				*(uint64_t *)place(given) = (uint64_t)(time * unit[i].ns + 0.5);
				return true;
			}
	return options_wrong(given, given->row->allowed);
}

bool options_span_end(const struct options_given *given)
{
	if (!options_span(given))
		return false;
	return *(uint64_t *)place(given) || options_wrong(given, given->row->allowed);
}

bool options_color(const struct options_given *given)
{
	int color = tool_colour(given->value, STDOUT_FILENO);

	if (color < 0)
		return options_wrong(given, given->row->allowed);
	*(int *)place(given) = color;
	return true;
}
