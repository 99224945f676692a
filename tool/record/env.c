/* SPDX-License-Identifier: MIT */
/*
 * xaudit env: the variables under which a program is traced that xaudit does not start itself. They are those that
 * `xaudit record` sets, but the rules come from a configuration file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/rules/keys.h"
#include "audit/rules/rules.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/record/rules.h"
#include "tool/record/run.h"

struct format {
	const char *before, *between, *after;
	/* Characters that need something before them. */
	const char *special;
	const char *(*escape)(char c);
};

/* A quotation can't hold a quote: the quotation ends, a quoted quote follows, and a new quotation begins. */
static const char *escape_shell(char c)
{
	(void)c;
	return "'\\''";
}

/* systemd.exec(5): quoted, C's escapes; '%' begins a specifier. */
static const char *escape_systemd(char c)
{
	return c == '%' ? "%%" : c == '"' ? "\\\"" : "\\\\";
}

/* In this order. */
#define FORMATS_ALLOWED "shell, systemd, plain"
static const struct format formats[] = {
	{ "export ", "='", "'", "'", escape_shell },
	{ "Environment=\"", "=", "\"", "%\"\\", escape_systemd },
	{ "", "=", "", "", NULL },
};

/* Can every format say this? Returns 0, or -1 after one line on stderr. */
static int check(const char *name, const char *value)
{
	if (!strpbrk(value, "\n\r"))
		return 0;
	tool_error("env", "the value of %s holds a line break, which a unit file can't; use another name", name);
	return -1;
}

static void print(const struct format *format, const char *name, const char *value)
{
	printf("%s%s%s", format->before, name, format->between);
	for (; *value; value++) {
		if (strchr(format->special, *value))
			fputs(format->escape(*value), stdout);
		else
			putchar(*value);
	}
	puts(format->after);
}

/* The configuration is read as the module will read it, so that mistakes are told now. Returns 0, or -1 after one line
 * on stderr. */
static int set_config(const char *named)
{
	struct rules rules = { 0 };
	char *config = NULL;

	if (!named)
		named = getenv("XAUDIT_CONFIG");
	if (!named || !*named)
		return 0;
	if (!(config = record_absolute(named)))
		return -1;
	int r = setenv("XAUDIT_CONFIG", config, 1) || unsetenv("XAUDIT_RULES");
	free(config);
	if (r) {
		tool_error("env", "out of memory");
		return -1;
	}
	r = rules_read(&rules, getenv);
	arena_free(&rules.arena);
	return r;
}

static int run(const struct format *format, const char *config, const char *command)
{
	static const char *const names[] = { "LD_AUDIT", "GLIBC_TUNABLES", "XAUDIT_CONFIG" };
	int status = TOOL_OK;
	char *path = command ? record_find(command, &status) : NULL;

	if (command && !path)
		return TOOL_FAILED;
	if (set_config(config) < 0 || record_environment(path) < 0)
		status = TOOL_FAILED;
	free(path);
	for (size_t i = 0; i < 3 && !status; i++)
		if (getenv(names[i]) && check(names[i], getenv(names[i])) < 0)
			status = TOOL_FAILED;
	for (size_t i = 0; i < 3 && !status; i++)
		if (getenv(names[i]) && *getenv(names[i]))
			print(format, names[i], getenv(names[i]));
	return status;
}

struct own {
	const char *config; /* NULL: not given */
	int format;	    /* index in formats */
};

static bool take_config(const struct options_given *given)
{
	if (*given->value)
		return options_text(given);
	tool_error("env", "-c names no file");
	return false;
}

static const struct options_row rows[] = {
	{ 'c', "config", "FILE", "the configuration that the module reads",
		.take = take_config, .at = offsetof(struct own, config) },
	{ 'f', "format", "FORMAT", "shell: for eval (default); systemd: for a unit file; plain: NAME=VALUE",
		.take = options_word, .at = offsetof(struct own, format), .allowed = FORMATS_ALLOWED },
	OPTIONS_HELP,
	{ 0 },
};

static const struct options_wording wording = {
	.no_value = "option '%o' needs a value; see xaudit %c --help",
	.unknown = "unknown option '%o'; see xaudit %c --help",
	.wrong = "unknown format '%v'; allowed: %a",
};

static const struct options_syntax syntax = {
	.command = "env",
	.rows = rows,
	.column = 23,
	.in_front = true,
	.wording = &wording,
	.head = "Usage: xaudit env [OPTION]... [[--] COMMAND [ARGUMENT]...]\n"
		"Prints the environment variables under which a command is traced; nothing is\n"
		"run.\n"
		"\n"
		"Options:\n",
};

int env_main(int argc, char **argv)
{
	struct own own = { 0 };
	int first = options_take(&syntax, &own, argc, argv);

	record_speaker = "env";
	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	return run(&formats[own.format], own.config, argv[first]);
}
