/* SPDX-License-Identifier: MIT */
/* Sections [context], [prototypes], [probe] of the rules: what reaches the command, and what is said of wrong ones. */
#define _GNU_SOURCE
#include "t/lib/rules_said.h"

#include <fcntl.h>
#include <stdlib.h>

#define KEYS "context, if, every, longer, secret, request, trust, then, name"

static char folder[] = "/tmp/xaudit-values.XXXXXX";

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd))
		bail("%s can't be written", path);
}

/* What becomes of a file and of the command line's rules. */
static void becomes(const char *file, const char *line, const char *expected, const char *sentence)
{
	struct rules rules;

	if (file)
		write_file("x.conf", file);
	env_rules = line;
	env_home = "/";
	if (read_rules(&rules, file ? "x.conf" : NULL))
		diag("%s", said);
	is_str(rules.values ? rules.values : "none", expected, "%s", sentence);
	arena_free(&rules.arena);
	no_environment();
}

static void refuses(const char *file, const char *expected)
{
	struct rules rules;
	char line[256];

	write_file("x.conf", file);
	snprintf(line, sizeof(line), "xaudit: x.conf:%s\n", expected);
	is_int(read_rules(&rules, "x.conf"), -1, "%s", expected);
	is_str(said, line, "is said");
}

static void taken(void)
{
	becomes("[trace]\n", NULL, "none", "rules without such sections have none");
	becomes("[context open*@libc.so.6]\ncontext = args retval ; remark\n if\t=x\nif = ret < 0 && arg1 > 5\n"
		"[context  operator new]\nevery: 5\nlonger = 1ms\nsecret = a b\n",
		NULL,
		"x.conf:2\topen*@libc.so.6\tcontext\targs retval\n"
		"x.conf:3\topen*@libc.so.6\tcontext\tif\t=x\n"
		"x.conf:4\topen*@libc.so.6\tif\tret < 0 && arg1 > 5\n"
		"x.conf:6\toperator new\tevery\t5\n"
		"x.conf:7\toperator new\tlonger\t1ms\n"
		"x.conf:8\toperator new\tsecret\ta b\n",
		"lines of [context] are told with their places, continued ones too");
	becomes("[prototypes]\n# remark\n[[fails(-1)]] int f(int a, /* ; */\n\tlong b);\n\n; remark\n"
		"enum e { A = 1 };\n"
		"[context f]\ncontext = args\n[prototypes]\nint g(void);\n",
		NULL,
		"x.conf:3\t\t\t[[fails(-1)]] int f(int a, /* ; */\nx.conf:4\t\t\tlong b);\n"
		"x.conf:7\t\t\tenum e { A = 1 };\n"
		"x.conf:9\tf\tcontext\targs\nx.conf:11\t\t\tint g(void);\n",
		"so are those of [prototypes], which are C");
	becomes("[context b]\ncontext = ret\n", "[context a]\ncontext = arg1\n[program]\nkinds = plt\n",
		"command line\ta\tcontext\targ1\nx.conf:2\tb\tcontext\tret\n",
		"of both sources, the command line's first");
	becomes("[context b]\ncontext = ret\n", "[trace]\nvalues = no\n", "none", "values = no takes none");
	becomes(NULL, "[context a]\ncontext = arg1\n[context a]\ncontext = arg2\n",
		"command line\ta\tcontext\targ1\ncommand line\ta\tcontext\targ2\n",
		"a pattern may have several sections");
	becomes("[probe a b]\nat = main+0x10@prog\n f.c:12\ncontext = regs backtrace:8 ; remark\nif = arg1 > 100\n"
		"every = 5\nthen = mark\n[context f]\ncontext = args\n",
		"[probe c]\nat: usdt:p:n\n",
		"command line\tc\tprobe at\tusdt:p:n\n"
		"x.conf:2\ta b\tprobe at\tmain+0x10@prog\nx.conf:3\ta b\tprobe at\tf.c:12\n"
		"x.conf:4\ta b\tprobe context\tregs backtrace:8\nx.conf:5\ta b\tprobe if\targ1 > 100\n"
		"x.conf:6\ta b\tprobe every\t5\nx.conf:7\ta b\tprobe then\tmark\nx.conf:9\tf\tcontext\targs\n",
		"lines of [probe] have its name, and keys of their own");
	becomes("[trace]\nvalues = no\n[probe a]\nat = f\ncontext = regs\nif = arg1 > 1\n[context f]\ncontext = args\n",
		NULL, "x.conf:4\ta\tprobe at\tf\nx.conf:4\ta\tprobe context\tnone\nx.conf:6\ta\tprobe if\targ1 > 1\n",
		"with values = no probes stay, and have no values");
}

static void refused(void)
{
	refuses("[context]\n", "1: section [context] without a function in ''; allowed: [context FUNCGLOB] or "
			       "[context FUNCGLOB@LIBGLOB]");
	refuses("[context f@]\n", "1: section [context] without a function in 'f@'; allowed: [context FUNCGLOB] or "
				  "[context FUNCGLOB@LIBGLOB]");
	refuses("[context @l]\n", "1: section [context] without a function in '@l'; allowed: [context FUNCGLOB] or "
				  "[context FUNCGLOB@LIBGLOB]");
	refuses("[context f\tg]\n", "1: a tab in pattern 'f?g'; allowed: names and patterns");
	refuses("[context f]\nkinds = plt\n",
		"2: unknown key 'kinds' in [context]; allowed: " KEYS);
	refuses("[context f]\ncontex = args\n",
		"2: unknown key 'contex' in [context]; allowed: " KEYS);
	refuses("[context f]\ncontext =\n", "2: no value for key 'context'");
	refuses("[context f]\ncontext args\n",
		"2: no '=' in 'context args'; allowed: KEY = VALUE, [SECTION], a comment behind ';' or '#'");
	refuses("[prototypes]\n[prototype]\n", "2: unknown section 'prototype'; allowed: [trace], [library GLOB], "
					       "[program], [context PATTERN], [prototypes], [probe NAME]");

	refuses("[probe]\n", "1: section [probe] without a name; allowed: [probe NAME], as in [probe slow]");
	refuses("[probe a\tb]\n", "1: a tab in the name 'a?b'; allowed: any other characters");
	refuses("[probe a]\nlonger = 1ms\n",
		"2: unknown key 'longer' in [probe]; allowed: at, context, if, every, then");
	refuses("[probe a]\nat =\n", "2: no value for key 'at'");

	char pattern[201], *large = malloc(300000);
	memset(pattern, 'f', 200);
	pattern[200] = '\0';
	size_t n = (size_t)sprintf(large, "[context %s]\n", pattern);
	/* Lines 2 to 9999 are 2208454 bytes with places and pattern; others 222 each, of which 8945 fit. */
	for (size_t i = 2; i < 20000; i++)
		n += (size_t)sprintf(large + n, "every=5\n");
	refuses(large,
		"18945: sections [context], [prototypes] and [probe] with too many lines; allowed: 4 MiB of them");
	free(large);
}

int main(void)
{
	char command[128];

	if (!mkdtemp(folder) || chdir(folder))
		bail("no temporary folder");
	taken();
	refused();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) || done_testing();
}
