/* SPDX-License-Identifier: MIT */
/*
 * xaudit env: the variables under which a program is traced that somebody else starts. They are those that `xaudit
 * record` sets, but for the rules, which are a configuration file's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/rules/rules.h"
#include "tool/record/record.h"
#include "tool/tool.h"

static const char help[] =
	"Usage: xaudit env [OPTION]... [[--] COMMAND [ARGUMENT]...]\n"
	"Prints the environment variables under which a command is traced; nothing is run.\n"
	"\n"
	"Options:\n"
	"  -c, --config=FILE    the configuration that the module reads\n"
	"  -f, --format=FORMAT  shell: for eval (default); systemd: for a unit file; plain: NAME=VALUE\n"
	"  -h, --help           this text\n";

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "format", required_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct format {
	const char *name, *before, *between, *after;
	/* Characters that need something before them. */
	const char *special;
	const char *(*escape)(char c);
};

/* A quotation can't hold a quote: it ends, a quoted one follows, it begins again. */
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

static const struct format formats[] = {
	{ "shell", "export ", "='", "'", "'", escape_shell },
	{ "systemd", "Environment=\"", "=", "\"", "%\"\\", escape_systemd },
	{ "plain", "", "=", "", "", NULL },
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

static const struct format *find_format(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	tool_error("env", "unknown format '%s'; allowed: shell, systemd, plain", name);
	return NULL;
}

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

/* The configuration is read as the module will read it: what it would refuse is said now. Returns 0, or -1 after one
 * line on stderr. */
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

int env_main(int argc, char **argv)
{
	const struct format *format = &formats[0];
	const char *config = NULL;
	int c;

	record_speaker = "env";
	opterr = 0;
	/* '+': what follows the command belongs to the command. */
	while ((c = getopt_long(argc, argv, "+:c:f:h", long_options, NULL)) != -1) {
		switch (c) {
		case 'c':
			config = optarg;
			if (!*config) {
				tool_error("env", "-c names no file");
				return TOOL_USAGE;
			}
			break;
		case 'f':
			if (!(format = find_format(optarg)))
				return TOOL_USAGE;
			break;
		case 'h':
			fputs(help, stdout);
			return TOOL_OK;
		case ':':
			tool_error("env", "option '%s' needs a value; see xaudit env --help", argv[optind - 1]);
			return TOOL_USAGE;
		default:
			tool_error("env", "unknown option '%s'; see xaudit env --help", argv[optind - 1]);
			return TOOL_USAGE;
		}
	}
	return run(format, config, argv[optind]);
}
