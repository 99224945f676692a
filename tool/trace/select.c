/* SPDX-License-Identifier: MIT */
#include "tool/trace/select.h"

#include <stdlib.h>
#include <string.h>

#include "tool/base/memory.h"
#include "tool/base/tool.h"

/* ---- -e ---- */

/* What -e of strace takes beside names of calls, and why it is refused. */
static const struct {
	const char *word, *why;
} no_qualifier[] = {
	{ "abbrev", "values are shown as they were recorded" },
	{ "decode-fd", "-y shows what descriptors are" },
	{ "decode-fds", "-y shows what descriptors are" },
	{ "fault", "calls are recorded, and never changed" },
	{ "inject", "calls are recorded, and never changed" },
	{ "kvm", "functions are traced, not the kernel" },
	{ "quiet", "-q leaves out lines about processes" },
	{ "raw", "values are shown as they were recorded" },
	{ "read", "contents of buffers are not recorded" },
	{ "signal", "signals are not recorded" },
	{ "signals", "signals are not recorded" },
	{ "status", "-z and -Z choose by success" },
	{ "verbose", "values are shown as they were recorded" },
	{ "write", "contents of buffers are not recorded" },
};

static const char *own(struct select_words *select, char *word)
{
	select->word = memory_grow(select->word, select->count, sizeof(*select->word));
	select->word[select->count++] = word;
	return word;
}

static bool refuse_qualifier(const char *value, size_t length)
{
	for (size_t i = 0; i < sizeof(no_qualifier) / sizeof(*no_qualifier); i++)
		if (strlen(no_qualifier[i].word) == length && !memcmp(no_qualifier[i].word, value, length)) {
			tool_error("trace", "-e %s= of strace is not available: %s", no_qualifier[i].word,
				no_qualifier[i].why);
			return true;
		}
	return false;
}

bool select_take(struct select_words *select, const char *value)
{
	static const char *const ours[] = { "trace=", "t=" };
	const char *is = strchr(value, '=');
	bool no = false;

	for (size_t i = 0; i < 2; i++)
		if (!strncmp(value, ours[i], strlen(ours[i])))
			value += strlen(ours[i]);
	if (is && value <= is && strcspn(value, ",@*?[") > (size_t)(is - value)) {
		if (!refuse_qualifier(value, (size_t)(is - value)))
			tool_error("trace",
				"-e %.*s= is unknown; -e takes names of functions, as in open,malloc or !free",
				(int)(is - value), value);
		return false;
	}
	select->any = true;
	if (*value == '!') {
		no = true;
		value++;
	}
	if (!strcmp(value, "all"))
		return true;
	for (size_t n; *value; value += n + (value[n] == ',')) {
		n = strcspn(value, ",");
		const char *word = n ? own(select, memory_text(value, n)) : "";
		if (*word == '%' || *word == '/' || !*word) {
			tool_error("trace",
				"-e can't be '%s'; it is names of functions, or patterns such as str*, with commas "
				"between them; classes and regular expressions of strace are not available", word);
			return false;
		}
		record_words_add(no ? &select->exclude : &select->functions, word);
	}
	return true;
}

/* Names by which libc calls the same function, and has it for files beyond 2 GB: open is open64, __open, __open64. */
static void add_others(struct select_words *select, struct record_words *to, const char *word)
{
	static const struct {
		const char *before, *behind;
	} others[] = { { "", "64" }, { "__", "" }, { "__", "64" } };
	size_t length = strcspn(word, "@");

	if (strcspn(word, "*?[:") < length || !length)
		return;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		record_words_add(to, own(select, memory_format("%s%.*s%s%s", others[i].before, (int)length, word,
					    others[i].behind, word + length)));
}

void select_put(struct select_words *select, struct record_options *options)
{
	for (size_t i = 0; i < select->functions.count; i++) {
		record_words_add(&options->functions, select->functions.word[i]);
		options->functions.selected++;
		add_others(select, &options->also, select->functions.word[i]);
	}
	for (size_t i = 0; i < select->exclude.count; i++) {
		record_words_add(&options->exclude, select->exclude.word[i]);
		add_others(select, &options->exclude, select->exclude.word[i]);
	}
}

void select_free(struct select_words *select)
{
	for (size_t i = 0; i < select->count; i++)
		free(select->word[i]);
	free(select->word);
	free(select->functions.word);
	free(select->exclude.word);
}

/* ---- options of strace ---- */

static bool refuse(const struct options_given *given)
{
	char letter[] = { '-', given->row->letter, '\0' };

	tool_error("trace", "%s of strace is not available: %s", letter, given->row->allowed);
	return false;
}

#define REFUSED(letter, word, value, why) { letter, word, value, NULL, .take = refuse, .allowed = (why) }

static const struct options_row refused_rows[] = {
	REFUSED('a', "columns", "N", "results stand behind the arguments"),
	REFUSED('A', "output-append-mode", NULL, "-o /dev/stderr and the shell's 2>>FILE append"),
	REFUSED('b', "detach-on", "CALL", "what the program executes is traced, too; --follow=no changes that"),
	REFUSED('d', "debug", NULL, "`xaudit info` tells what was recorded, with --keep"),
	REFUSED('D', "daemonize", NULL, "xaudit is the parent of the command"),
	REFUSED('E', "env", "VAR", "`env VAR=VALUE COMMAND` sets it"),
	REFUSED('i', "instruction-pointer", NULL, "addresses of callers are not recorded"),
	REFUSED('I', "interruptible", "N", "signals are passed on to the command"),
	REFUSED('O', "summary-syscall-overhead", "N", "times are those of the calls"),
	REFUSED('P', "trace-path", "PATH", "conditions of a context choose calls by their arguments"),
	REFUSED('S', "summary-sort-by", "WHAT", "the table is sorted by time; `xaudit report` sorts, with --keep"),
	REFUSED('u', "user", "NAME", "`setpriv` or `su` runs the command as another user"),
	REFUSED('U', "summary-columns", "LIST", "`xaudit report` has columns to choose, with --keep"),
	REFUSED('v', "no-abbrev", NULL, "values are shown as they were recorded"),
	REFUSED('w', "summary-wall-clock", NULL, "times are always those of a clock"),
	REFUSED('x', "strings-in-hex", NULL, "texts are shown as C has them"),
	REFUSED('Y', "decode-pids", NULL, "names of processes are not shown"),
};

const struct options_row *select_refused(size_t *count)
{
	*count = sizeof(refused_rows) / sizeof(*refused_rows);
	return refused_rows;
}
