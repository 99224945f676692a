/* SPDX-License-Identifier: MIT */
/* Reading the rules: what is accepted, from which source, and the exact text of each error. */
#define _GNU_SOURCE
#include "audit/rules/rules.h"

#include <fcntl.h>    /* open */
#include <signal.h>   /* SIGUSR2 */
#include <sys/stat.h> /* mkdir */
#include <unistd.h>   /* close */

#include "audit/rules/keys.h"
#include "t/lib/rules_said.h"

#define XRAY	  (1u << TRACE_KIND_XRAY)
#define PATCHABLE (1u << TRACE_KIND_PATCHABLE)
#define PLT	  (1u << TRACE_KIND_PLT)
#define CALLS	  (1u << TRACE_KIND_CALLS)

static char folder[] = "/tmp/xaudit-rules.XXXXXX";

static void write_bytes(const char *path, const char *bytes, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length || close(fd))
		bail("%s can't be written", path);
}

static void write_file(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

#define KEYS \
	"output, buffer, clock, follow, mode, ring, size-limit, overflow, enabled, prepare, throttle, depth, " \
	"time, below, stack-copying, snapshot, control, merge, sched, perf, values, " \
	"event-backtrace, request, trust"
#define SECTIONS "[trace], [library GLOB], [program], [context PATTERN], [prototypes], [probe NAME]"
#define RING	 "a power of two from 256k to 1G, as in 8M"
#define LIMIT	 "off, or at least 1M, as in 500M or 2G"
#define THROTTLE "off, or from 1% to 99%, as in 20%"
#define DEPTH	 "off, or from 1 to 1000000"
#define TIME	 "off, or from 1ns to 100ms, as in 500ns, 10us or 1.5ms"
#define SNAPSHOT                                                                                                       \
	"exit, crash and one signal:NAME, where NAME is of HUP, INT, QUIT, USR1, USR2, ALRM, TERM, URG, XCPU, "        \
	"VTALRM, PROF, WINCH, IO, PWR"

/* Each text as a file, and the message about it; "F" stands for the file's name and its colon. */
static const struct {
	const char *text, *said;
} bad[] = {
	{ "[foo]\n", "1: unknown section 'foo'; allowed: " SECTIONS },
	{ "\n; remark\n[Trace]\n", "3: unknown section 'Trace'; allowed: " SECTIONS },
	{ "[trace x]\n", "1: unknown section 'trace x'; allowed: " SECTIONS },
	{ "[program x]\n", "1: unknown section 'program x'; allowed: " SECTIONS },
	{ "[]\n", "1: unknown section ''; allowed: " SECTIONS },
	{ "[library]\n",
		"1: section [library] without a pattern; allowed: [library GLOB], as in [library libfoo.so*]" },
	{ "[library   ] ; x\n",
		"1: section [library] without a pattern; allowed: [library GLOB], as in [library libfoo.so*]" },
	{ "[trace\n", "1: no ']' at the end of '[trace'; allowed: " SECTIONS },
	{ "[program] kinds = plt\n",
		"1: no ']' at the end of '[program] kinds = plt'; allowed: " SECTIONS },
	{ "[program]\n[library a]\n[program]\n", "3: a second section 'program' would never be used; allowed: one" },
	{ "[library a]\n[library  a ]\n", "2: a second section 'library  a' would never be used; allowed: one" },
	{ "kinds = plt\n", "1: key 'kinds' before any section; allowed first: " SECTIONS },
	{ "[trace]\nkinds = plt\n", "2: unknown key 'kinds' in [trace]; allowed: " KEYS },
	{ "[program]\noutput = x\n",
		"2: unknown key 'output'; allowed in [library] and [program]: kinds, fallback, functions, exclude" },
	{ "[program]\nfunction = x\n",
		"2: unknown key 'function'; allowed in [library] and [program]: kinds, fallback, functions, exclude" },
	{ "[program]\nkinds = xray foo plt\n",
		"2: unknown kind 'foo'; allowed: xray, patchable, plt, calls, guard, entry, cyg, fentry, mcount, "
		"none" },
	{ "[program]\nkinds = xray\n\n  usdt\n",
		"4: unknown kind 'usdt'; allowed: xray, patchable, plt, calls, guard, entry, cyg, fentry, mcount, "
		"none" },
	{ "[program]\nkinds = none plt\n", "2: kind 'none' beside other kinds; allowed: none alone, or any of xray, "
					   "patchable, plt, calls, guard, entry, cyg, fentry, mcount" },
	{ "[program]\nkinds = plt\nkinds = none\n", "3: kind 'none' beside other kinds; allowed: none alone, or any of "
						    "xray, patchable, plt, calls, guard, entry, cyg, fentry, mcount" },
	{ "[program]\nkinds =\n",
		"2: no value for key 'kinds'; allowed: xray, patchable, plt, calls, guard, entry, cyg, fentry, mcount, "
		"none" },
	{ "[program]\nfallback = plt\n", "2: bad value 'plt' for key 'fallback'; allowed: entry, none" },
	{ "[program]\nfallback = entry\nfallback = none\n",
		"3: fallback is both entry and none; allowed: one of them" },
	{ "[program]\nfallback =\n", "2: no value for key 'fallback'; allowed: entry, none" },
	{ "[trace]\noutput = ; nothing\n", "2: no value for key 'output'; allowed: the path of a folder" },
	{ "[trace]\nbuffer =\n", "2: no value for key 'buffer'; allowed: a power of two from 64k to 1G, as in 4M" },
	{ "[trace]\nclock =\n", "2: no value for key 'clock'; allowed: auto, tsc, monotonic, coarse" },
	{ "[program]\nexclude=\n", "2: no value for key 'exclude'; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB" },
	{ "[trace]\nbuffer = 3M\n",
		"2: bad size '3M' for key 'buffer'; allowed: a power of two from 64k to 1G, as in 4M" },
	{ "[trace]\nclock = rdtsc\n", "2: bad value 'rdtsc' for key 'clock'; allowed: auto, tsc, monotonic, coarse" },
	{ "[trace]\noutput = a\n[program]\n[trace]\noutput = a\n",
		"5: key 'output' given twice in [trace]; allowed: once" },
	{ "[trace]\nbuffer = 4M\nbuffer = 4M\n", "3: key 'buffer' given twice in [trace]; allowed: once" },
	{ "[trace]\nclock = auto\nclock = auto\n", "3: key 'clock' given twice in [trace]; allowed: once" },
	{ "[trace]\n output = a\n buffer = 4M\n", "3: this line begins with a blank and so continues 'output', which "
						  "takes one line; start keys in column 1" },
	{ "[program]\n functions = a\n exclude = b\n",
		"3: '=' in '=': a line that begins with a blank continues the key before it; start keys in column 1" },
	{ "[program]\nfunctions = a\n [library x]\n",
		"3: section '[library' on a line that begins with a blank continues the key before it; "
		"start sections in column 1" },
	{ "[program]\nfunctions = a=b\n", "2: '=' in 'a=b'; allowed: names and patterns, with blanks between them" },
	{ "[program]\nfunctions = a @b\n", "2: no function in pattern '@b'; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB" },
	{ "[program]\nexclude = a@ b\n",
		"2: no library behind '@' in pattern 'a@'; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB" },
	{ "[program]\nkinds plt\n",
		"2: no '=' in 'kinds plt'; allowed: KEY = VALUE, [SECTION], a comment behind ';' or '#'" },
	{ "[program]\nkinds plt\n[foo]\n",
		"2: no '=' in 'kinds plt'; allowed: KEY = VALUE, [SECTION], a comment behind ';' or '#'" },
	{ "[foo]\nkinds plt\n", "1: unknown section 'foo'; allowed: " SECTIONS },
	{ "[trace]\nmode = streams\n", "2: bad value 'streams' for key 'mode'; allowed: "
				       "stream, ring, count" },
	{ "[trace]\nmode = Ring\n", "2: bad value 'Ring' for key 'mode'; allowed: "
				    "stream, ring, count" },
	{ "[trace]\nmode = 0\n", "2: bad value '0' for key 'mode'; allowed: "
				 "stream, ring, count" },
	{ "[trace]\nring = 128k\n", "2: bad size '128k' for key 'ring'; allowed: " RING },
	{ "[trace]\nring = 3M\n", "2: bad size '3M' for key 'ring'; allowed: " RING },
	{ "[trace]\nring = 2G\n", "2: bad size '2G' for key 'ring'; allowed: " RING },
	{ "[trace]\nring = 8MB\n", "2: bad size '8MB' for key 'ring'; allowed: " RING },
	{ "[trace]\nring = 0\n", "2: bad size '0' for key 'ring'; allowed: " RING },
	{ "[trace]\nring = -8M\n", "2: bad size '-8M' for key 'ring'; allowed: " RING },
	{ "[trace]\nsize-limit = 1023k\n", "2: bad size '1023k' for key 'size-limit'; allowed: " LIMIT },
	{ "[trace]\nsize-limit = 1048575\n", "2: bad size '1048575' for key 'size-limit'; allowed: " LIMIT },
	{ "[trace]\nsize-limit = none\n", "2: bad size 'none' for key 'size-limit'; allowed: " LIMIT },
	{ "[trace]\nsize-limit = 9223372036854775808\n",
		"2: bad size '9223372036854775808' for key 'size-limit'; allowed: " LIMIT },
	{ "[trace]\nsize-limit = 8589934592G\n", "2: bad size '8589934592G' for key 'size-limit'; allowed: " LIMIT },
	{ "[trace]\nsize-limit = 1T\n", "2: bad size '1T' for key 'size-limit'; allowed: " LIMIT },
	{ "[trace]\nenabled = off\n", "2: bad value 'off' for key 'enabled'; allowed: "
				      "yes, no" },
	{ "[trace]\noverflow = some\n", "2: bad value 'some' for key 'overflow'; allowed: wait, drop" },
	{ "[trace]\nprepare = some\n", "2: bad value 'some' for key 'prepare'; allowed: "
				       "selected, all, none" },
	{ "[trace]\nthrottle = 0%\n", "2: bad value '0%' for key 'throttle'; allowed: " THROTTLE },
	{ "[trace]\nthrottle = 100%\n", "2: bad value '100%' for key 'throttle'; allowed: " THROTTLE },
	{ "[trace]\nthrottle = 20\n", "2: bad value '20' for key 'throttle'; allowed: " THROTTLE },
	{ "[trace]\nthrottle = %\n", "2: bad value '%' for key 'throttle'; allowed: " THROTTLE },
	{ "[trace]\nthrottle = 20%%\n", "2: bad value '20%%' for key 'throttle'; allowed: " THROTTLE },
	{ "[trace]\nthrottle = -1%\n", "2: bad value '-1%' for key 'throttle'; allowed: " THROTTLE },
	{ "[trace]\nthrottle = 99999999999999999999%\n",
		"2: bad value '99999999999999999999%' for key 'throttle'; allowed: " THROTTLE },
	{ "[trace]\ndepth = 0\n", "2: bad value '0' for key 'depth'; allowed: " DEPTH },
	{ "[trace]\ndepth = 1000001\n", "2: bad value '1000001' for key 'depth'; allowed: " DEPTH },
	{ "[trace]\ndepth = 3x\n", "2: bad value '3x' for key 'depth'; allowed: " DEPTH },
	{ "[trace]\ndepth = -1\n", "2: bad value '-1' for key 'depth'; allowed: " DEPTH },
	{ "[trace]\ndepth = 18446744073709551617\n",
		"2: bad value '18446744073709551617' for key 'depth'; allowed: " DEPTH },
	{ "[trace]\ntime = 5\n", "2: bad value '5' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 0ns\n", "2: bad value '0ns' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 0.0s\n", "2: bad value '0.0s' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 100.000001ms\n", "2: bad value '100.000001ms' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 1s\n", "2: bad value '1s' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 1.5ns\n", "2: bad value '1.5ns' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 0.0001us\n", "2: bad value '0.0001us' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = .5ms\n", "2: bad value '.5ms' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 1.ms\n", "2: bad value '1.ms' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 1.2.3s\n", "2: bad value '1.2.3s' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 1 ms\n", "2: bad value '1 ms' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 1m\n", "2: bad value '1m' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 9999999999999999999s\n",
		"2: bad value '9999999999999999999s' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 1.0000000000s\n", "2: bad value '1.0000000000s' for key 'time'; allowed: " TIME },
	{ "[trace]\ntime = 18446744074s\n", "2: bad value '18446744074s' for key 'time'; allowed: " TIME },
	{ "[trace]\nsnapshot = signal:SIGKILL\n",
		"2: bad value 'signal:SIGKILL' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = signal:STOP\n", "2: bad value 'signal:STOP' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = signal:SEGV\n", "2: bad value 'signal:SEGV' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = signal:SIGABRT\n",
		"2: bad value 'signal:SIGABRT' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = signal:12\n", "2: bad value 'signal:12' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = signal:SIG\n", "2: bad value 'signal:SIG' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = signal:\n", "2: bad value 'signal:' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = signal\n", "2: bad value 'signal' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = USR2\n", "2: bad value 'USR2' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = none\n", "2: bad value 'none' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = usr2\n", "2: bad value 'usr2' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nsnapshot = exit signal:USR1\n crash,signal:USR2\n",
		"3: bad value 'signal:USR2' for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\nbelow = a\n b@\n",
		"3: no library behind '@' in pattern 'b@'; allowed: FUNCGLOB or FUNCGLOB@LIBGLOB" },
	{ "[trace]\nbelow = a\n depth = 3\n",
		"3: '=' in '=': a line that begins with a blank continues the key before it; start keys in column 1" },
	{ "[trace]\ncontrol = all\n", "2: bad value 'all' for key 'control'; allowed: "
				      "owner, any" },
	{ "[trace]\nmerge = 1\n", "2: bad value '1' for key 'merge'; allowed: "
				  "yes, no" },
	{ "[trace]\nmode =\n", "2: no value for key 'mode'; allowed: "
			       "stream, ring, count" },
	{ "[trace]\nring =\n", "2: no value for key 'ring'; allowed: " RING },
	{ "[trace]\nsize-limit =\n", "2: no value for key 'size-limit'; allowed: " LIMIT },
	{ "[trace]\nenabled =\n", "2: no value for key 'enabled'; allowed: "
				  "yes, no" },
	{ "[trace]\nprepare =\n", "2: no value for key 'prepare'; allowed: "
				  "selected, all, none" },
	{ "[trace]\nthrottle =\n", "2: no value for key 'throttle'; allowed: " THROTTLE },
	{ "[trace]\ndepth =\n", "2: no value for key 'depth'; allowed: " DEPTH },
	{ "[trace]\ntime =\n", "2: no value for key 'time'; allowed: " TIME },
	{ "[trace]\nbelow =\n", "2: no value for key 'below'; allowed: "
				"FUNCGLOB or FUNCGLOB@LIBGLOB" },
	{ "[trace]\nsnapshot =\n", "2: no value for key 'snapshot'; allowed: " SNAPSHOT },
	{ "[trace]\ncontrol =\n", "2: no value for key 'control'; allowed: "
				  "owner, any" },
	{ "[trace]\nmerge =\n", "2: no value for key 'merge'; allowed: "
				"yes, no" },
	{ "[trace]\nmode = ring\nmode = ring\n", "3: key 'mode' given twice in [trace]; allowed: once" },
	{ "[trace]\ndepth = 3\n 4\n", "3: this line begins with a blank and so continues 'depth', which takes one "
				      "line; start keys in column 1" },
	{ "[program]\nki\033nds = plt\n",
		"2: unknown key 'ki?nds'; allowed in [library] and [program]: kinds, fallback, functions, exclude" },
};

static void errors(void)
{
	struct rules rules;
	char expected[1024];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		write_file("bad.conf", bad[i].text);
		is_int(read_rules(&rules, "bad.conf"), -1, "text %zu is refused", i);
		snprintf(expected, sizeof(expected), "xaudit: bad.conf:%s\n", bad[i].said);
		is_str(said, expected, "and that is said: %s", bad[i].said);
	}
	write_bytes("bad.conf", "[program]\nkinds = plt\0x\n", 24);
	is_int(read_rules(&rules, "bad.conf"), -1, "a NUL byte is refused");
	is_str(said, "xaudit: bad.conf:2: a NUL byte; allowed: text\n", "and said");

	env_rules = "[trace]\noutput = x\n\n[library *]\nkinds = foo\n";
	is_int(read_rules(&rules, NULL), -1, "bad rules of the command line are refused");
	is_str(said,
		"xaudit: command line: unknown kind 'foo'; allowed: xray, patchable, plt, calls, guard, entry, cyg, "
		"fentry, mcount, none\n",
		"and no line number confuses anybody");
	env_rules = "[library *]\nkinds foo\n";
	is_int(read_rules(&rules, NULL), -1, "a line without '=' there too");
	is_str(said,
		"xaudit: command line: no '=' in 'kinds foo'; allowed: KEY = VALUE, [SECTION], a comment behind ';' or "
		"'#'\n",
		"and it is shown");
	no_environment();

	env_config = "none/such.conf";
	is_int(read_rules(&rules, NULL), -1, "XAUDIT_CONFIG must exist");
	is_str(said, "xaudit: none/such.conf: the configuration can't be read: no such file\n", "and that is said");
	env_config = ".";
	is_int(read_rules(&rules, NULL), -1, "and be no folder");
	is_str(said, "xaudit: .: the configuration can't be read: it is a folder\n", "and that is said");
	no_environment();
	is_int(read_rules(&rules, "none.conf"), -1, "a file that is not there can't be read");
	is_str(said, "xaudit: none.conf: the configuration can't be read: no such file\n", "and that is said");
	is_int(truncate("bad.conf", 3 << 20), 0, "a file of 3 MiB is made");
	is_int(read_rules(&rules, "bad.conf"), -1, "which is too much");
	is_str(said, "xaudit: bad.conf: the configuration can't be read: it is larger than 1 MiB\n",
		"and that is said");
	unlink("bad.conf");
}

static void everything(void)
{
	struct rules rules;
	const struct rules_section *s;
	char path[256];

	write_file("good.conf", "\xef\xbb\xbf[trace]\r\n"
				"output = out dir/%p.x   ; a remark\r\n"
				"buffer = 64k\n"
				"clock = monotonic\n"
				"# remark\n"
				"[library libfoo[ab].so*] ; in [brackets]\n"
				"kinds = xray\n"
				"kinds = plt, patchable\n"
				"functions = foo_* bar@lib*\n"
				"   baz  ; one more\n"
				"functions = qux\n"
				"exclude : foo_hot_*\n"
				"[library *]\n"
				"kinds = none\n"
				"[program]\n"
				"  kinds = calls\n"
				"[library unused]\n");
	is_int(read_rules(&rules, "good.conf"), 0, "a file with everything is read");
	is_str(said, "", "without a word");
	snprintf(path, sizeof(path), "%s/out dir/%%p.x", folder);
	is_str(rules.output, path, "the output is made absolute, %%p stays");
	is_int((long long)rules.buffer, 65536, "the buffer is 64k");
	is_int(rules.clock, RULES_CLOCK_MONOTONIC, "the clock is monotonic");
	is_str(rules.source, "good.conf", "the source is named");
	is_str(rules.file, "good.conf", "and the file");
	is_int(rules.defaults, 0, "these are no defaults");
	s = rules.sections;
	is_str(s->library, "libfoo[ab].so*", "a section's glob may hold brackets");
	is_int(s->kinds, XRAY | PLT | PATCHABLE, "repeated kinds are added up");
	is_str(s->functions->function, "foo_*", "first pattern");
	is_str(s->functions->library, NULL, "first pattern: any library");
	is_str(s->functions->next->function, "bar", "second pattern");
	is_str(s->functions->next->library, "lib*", "second pattern: with a library");
	is_str(s->functions->next->next->function, "baz", "third pattern, on a continuation line");
	is_str(s->functions->next->next->next->function, "qux", "fourth pattern, of a repeated key");
	ok(!s->functions->next->next->next->next, "and no more: the remark is none");
	is_str(s->exclude->function, "foo_hot_*", "a colon separates as well");
	s = s->next;
	is_str(s->library, "*", "second section");
	is_int(s->kinds, 0, "kinds = none means none");
	s = s->next;
	is_str(s->library, NULL, "third section: [program]");
	is_int(s->kinds, CALLS, "with its kind, from an indented first key");
	s = s->next;
	is_int(s->kinds, RULES_DEFAULT_KINDS, "a section without kinds has the default ones");
	ok(!s->next, "no further section");
	arena_free(&rules.arena);
}

/* How each key of [trace] is stored. */
static void trace_keys(void)
{
	static const struct {
		const char *text;
		unsigned long long ns;
	} time[] = { { "1ns", 1 }, { "500ns", 500 }, { "10us", 10000 }, { "1.5ms", 1500000 }, { "0.1s", 100000000 },
		{ "100ms", 100000000 }, { "0.001us", 1 }, { "0.000000001s", 1 }, { "0.50ms", 500000 }, { "1.0ns", 1 },
		{ "off", 0 } };
	static const struct {
		const char *text;
		unsigned long long bytes;
	} limit[] = { { "1M", 1048576 }, { "1048577", 1048577 }, { "3G", 3221225472 }, { "1500k", 1536000 },
		{ "9223372036854775807", 9223372036854775807 }, { "8589934591G", 9223372035781033984 }, { "off", 0 } };
	struct rules rules;
	char text[256];

	env_rules = "[program]\n";
	is_int(read_rules(&rules, NULL), 0, "a text without [trace] is read");
	is_int(rules.mode, TRACE_MODE_STREAM, "the default mode is stream");
	is_int((long long)rules.ring, 8 << 20, "the default ring is 8M");
	ok(!rules.size_limit && !rules.throttle && !rules.depth && !rules.time && !rules.below,
		"nothing is left out by default");
	ok(!rules.disabled && rules.prepare == RULES_PREPARE_SELECTED, "what is selected is on");
	is_int(rules.overflow, TRACE_OVERFLOW_WAIT, "nothing is dropped");
	ok(!rules.snapshot_signal && !rules.snapshot_exit && !rules.snapshot_crash, "no snapshot is taken");
	ok(!rules.merge, "pages are not offered for merging");
	ok(rules.control_any && rules.follow == RULES_FOLLOW_YES,
		"what record starts may be controlled and is followed");
	arena_free(&rules.arena);

	write_file("keys.conf",
		"[trace]\nmode = ring\nring = 256k\nsize-limit = 1G\noverflow = drop\nenabled = no\nprepare = all\n"
		"throttle = 20%\ndepth = 1000000\ntime = 1.5ms\nbelow = main foo@lib*\n  bar ; remark\n"
		"stack-copying = a* b.so\n"
		"merge = yes\nsnapshot = exit\n signal:SIGUSR2, crash\nbelow = last\n[program]\n");
	no_environment();
	is_int(read_rules(&rules, "keys.conf"), 0, "a file with all keys is read");
	is_str(said, "", "without a word");
	is_int(rules.mode, TRACE_MODE_RING, "mode = ring");
	is_int((long long)rules.ring, 262144, "ring = 256k");
	is_int((long long)rules.size_limit, 1 << 30, "size-limit = 1G");
	is_int(rules.disabled, 1, "enabled = no");
	is_int(rules.prepare, RULES_PREPARE_ALL, "prepare = all");
	is_int(rules.overflow, TRACE_OVERFLOW_DROP, "overflow = drop");
	is_int(rules.throttle, 20, "throttle = 20%%");
	is_int(rules.depth, 1000000, "depth = 1000000");
	is_int((long long)rules.time, 1500000, "time = 1.5ms");
	is_int(rules.snapshot_signal, SIGUSR2, "snapshot = signal:SIGUSR2");
	ok(rules.snapshot_exit && rules.snapshot_crash, "and exit and crash, on two lines, with a comma");
	is_int(rules.merge, 1, "merge = yes");
	ok(!rules.control_any && rules.follow == RULES_FOLLOW_NO,
		"without record, only the owner may control, and nothing is followed");
	is_str(rules.below->function, "main", "below: the first pattern");
	ok(rules_match(rules.below->next, "foo", "/lib/libx.so", NULL),
		"the second matches its function in its library");
	ok(!rules_match(rules.below->next, "foo", "/lib/x.so", NULL), "and in no other");
	ok(!rules_match(rules.below->next, "food", "/lib/libx.so", NULL), "and no other function");
	is_str(rules.below->next->next->function, "bar", "the third, on a continuation line");
	is_str(rules.below->next->next->next->function, "last", "the fourth, of the repeated key");
	ok(!rules.below->next->next->next->next, "and no more");
	is_str(rules.stack_copying->library, "a*", "stack-copying: the first library");
	is_str(rules.stack_copying->next->library, "b.so", "the second");
	ok(!rules.stack_copying->next->next, "and no more");
	arena_free(&rules.arena);

	env_config = "keys.conf";
	env_rules = "[trace]\nmode = count\nsize-limit = off\ndepth = off\ntime = off\nthrottle = off\noverflow = "
		    "wait\nenabled = yes\n"
		    "prepare = none\nbelow = mine\nsnapshot = signal:QUIT\nmerge = no\ncontrol = owner\nfollow = no\n";
	is_int(read_rules(&rules, NULL), 0, "the command line and this file are read");
	is_int(rules.mode, TRACE_MODE_COUNT, "the command line's mode wins");
	is_int((long long)rules.ring, 262144, "the ring is the file's");
	ok(!rules.size_limit && !rules.depth && !rules.time && !rules.throttle,
		"off takes back what the file asks for");
	is_int(rules.overflow, TRACE_OVERFLOW_WAIT, "and wait");
	ok(!rules.disabled && rules.prepare == RULES_PREPARE_NONE && !rules.merge, "so do the other words");
	ok(!rules.control_any && rules.follow == RULES_FOLLOW_NO, "and the defaults of record");
	is_str(rules.below->function, "mine", "a list of the command line");
	ok(!rules.below->next, "takes the place of the file's");
	is_int(rules.snapshot_signal, SIGQUIT, "another signal");
	ok(!rules.snapshot_exit && !rules.snapshot_crash, "takes the place of the file's snapshots");
	arena_free(&rules.arena);
	no_environment();

	for (size_t i = 0; i < sizeof(time) / sizeof(*time); i++) {
		snprintf(text, sizeof(text), "[trace]\ntime = %s\n", time[i].text);
		env_rules = text;
		is_int(read_rules(&rules, NULL), 0, "time = %s is read", time[i].text);
		ok(rules.time == time[i].ns, "as %llu ns", time[i].ns);
		arena_free(&rules.arena);
	}
	for (size_t i = 0; i < sizeof(limit) / sizeof(*limit); i++) {
		snprintf(text, sizeof(text), "[trace]\nsize-limit = %s\n", limit[i].text);
		env_rules = text;
		is_int(read_rules(&rules, NULL), 0, "size-limit = %s is read", limit[i].text);
		ok(rules.size_limit == limit[i].bytes, "as %llu bytes", limit[i].bytes);
		arena_free(&rules.arena);
	}
	no_environment();
	unlink("keys.conf");
	ok(!rules_wrong("time", "1ms") && !rules_wrong("snapshot", "exit, signal:USR1"),
		"rules_wrong() takes what the file may say");
	is_str(rules_wrong("time", "1"), TIME, "and tells what is allowed");
	is_str(rules_wrong("snapshot", ","), SNAPSHOT, "an empty list is wrong");
	is_str(rules_signal(SIGUSR1), "USR1", "signals have names");
	is_str(rules_signal(SIGKILL), NULL, "those that are allowed");
}

/* Each word of keys that take one of several words: messages list them in the order of their numbers. */
static void key_words(void)
{
#define IS(member, number) offsetof(struct rules, member), number
	static const struct {
		const char *text;
		size_t at;
		int number;
	} word[] = {
		{ "clock = auto", IS(clock, RULES_CLOCK_AUTO) },
		{ "clock = tsc", IS(clock, RULES_CLOCK_TSC) },
		{ "clock = monotonic", IS(clock, RULES_CLOCK_MONOTONIC) },
		{ "clock = coarse", IS(clock, RULES_CLOCK_COARSE) },
		{ "follow = no", IS(follow, RULES_FOLLOW_NO) },
		{ "follow = yes", IS(follow, RULES_FOLLOW_YES) },
		{ "follow = always", IS(follow, RULES_FOLLOW_ALWAYS) },
		{ "mode = stream", IS(mode, TRACE_MODE_STREAM) },
		{ "mode = ring", IS(mode, TRACE_MODE_RING) },
		{ "mode = count", IS(mode, TRACE_MODE_COUNT) },
		{ "overflow = wait", IS(overflow, TRACE_OVERFLOW_WAIT) },
		{ "overflow = drop", IS(overflow, TRACE_OVERFLOW_DROP) },
		{ "enabled = yes", IS(disabled, 0) },
		{ "enabled = no", IS(disabled, 1) },
		{ "prepare = selected", IS(prepare, RULES_PREPARE_SELECTED) },
		{ "prepare = all", IS(prepare, RULES_PREPARE_ALL) },
		{ "prepare = none", IS(prepare, RULES_PREPARE_NONE) },
		{ "control = owner", IS(control_any, 0) },
		{ "control = any", IS(control_any, 1) },
		{ "merge = no", IS(merge, 0) },
		{ "merge = yes", IS(merge, 1) },
	};
#undef IS
	struct rules rules;
	char text[64];

	for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++) {
		snprintf(text, sizeof(text), "[trace]\n%s\n", word[i].text);
		env_rules = text;
		is_int(read_rules(&rules, NULL), 0, "%s is read", word[i].text);
		is_int(*(int *)((char *)&rules + word[i].at), word[i].number, "as %d", word[i].number);
		arena_free(&rules.arena);
	}
	no_environment();
}

static void sources(void)
{
	struct rules rules;
	char path[256], xdg[128];

	if (access("/etc/xaudit.conf", F_OK) == 0) {
		skip(3, "this machine has an /etc/xaudit.conf");
	} else {
		is_int(read_rules(&rules, NULL), 0, "no source at all is fine");
		is_str(rules.source, "defaults", "and is called defaults");
		ok(rules.file == NULL, "no file was read");
		arena_free(&rules.arena);
	}
	env_rules = "[trace]\nclock = tsc\n";
	is_int(read_rules(&rules, NULL), 0, "rules of the command line alone are fine");
	is_int(rules.defaults, 1, "without sections the default ones are used");
	is_str(rules.sections->library, "*", "which are [library *]");
	is_int(rules.sections->kinds, RULES_DEFAULT_KINDS, "with the default kinds");
	is_str(rules.sections->next->library, NULL, "and [program]");
	is_int(rules.sections->next->kinds, RULES_DEFAULT_KINDS, "with the default kinds");
	ok(!rules.sections->next->next, "and no more");
	snprintf(path, sizeof(path), "%s/xaudit.data", folder);
	is_str(rules.output, path, "the default output lies in the current folder");
	is_int((long long)rules_buffer(&rules), 256 << 10, "the default buffer is 256k");
	rules.mode = TRACE_MODE_COUNT;
	is_int((long long)rules_buffer(&rules), 64 << 10, "of counting, 64k");
	rules.buffer = 1 << 20;
	is_int((long long)rules_buffer(&rules), 1 << 20, "one that was given holds there, too");
	is_int(rules.clock, RULES_CLOCK_TSC, "the clock is the one asked for");
	is_str(rules.source, "command line", "the source is named");
	arena_free(&rules.arena);
	no_environment();

	mkdir("xdg", 0777);
	mkdir("home", 0777);
	mkdir("home/.config", 0777);
	write_file("home/.config/xaudit.conf", "[library home]\n");
	snprintf(path, sizeof(path), "%s/home", folder);
	env_home = path;
	is_int(read_rules(&rules, NULL), 0, "$HOME/.config/xaudit.conf is found");
	is_str(rules.sections->library, "home", "and used");
	arena_free(&rules.arena);

	write_file("xdg/xaudit.conf", "[library xdg]\n");
	snprintf(xdg, sizeof(xdg), "%s/xdg", folder);
	env_xdg = xdg;
	is_int(read_rules(&rules, NULL), 0, "$XDG_CONFIG_HOME/xaudit.conf is found");
	is_str(rules.sections->library, "xdg", "and comes before $HOME");
	arena_free(&rules.arena);
	env_xdg = "xdg";
	is_int(read_rules(&rules, NULL), 0, "a relative XDG_CONFIG_HOME is ignored");
	is_str(rules.sections->library, "home", "and $HOME counts");
	arena_free(&rules.arena);

	write_file("xaudit.conf", "[trace]\nbuffer = 1M\noutput = /file\n[library here]\n[program]\nkinds = calls\n");
	env_xdg = xdg;
	is_int(read_rules(&rules, NULL), 0, "./xaudit.conf is found");
	is_str(rules.sections->library, "here", "and comes before the others");
	arena_free(&rules.arena);

	write_file("named.conf", "[library named]\n[trace]\nbuffer = 2M\n");
	env_config = "named.conf";
	is_int(read_rules(&rules, NULL), 0, "the file that XAUDIT_CONFIG names is read");
	is_str(rules.sections->library, "named", "and comes before all");
	is_int((long long)rules.buffer, 2 << 20, "it alone: the buffer is its own");
	arena_free(&rules.arena);

	env_rules = "[trace]\noutput = /rules\n[library rules]\nkinds = plt\n";
	is_int(read_rules(&rules, NULL), 0, "command line and named file together are read");
	is_str(rules.sections->library, "rules", "sections of the command line come first");
	is_str(rules.sections->next->library, "named", "those of the named file follow");
	is_str(rules.source, "command line and named.conf", "both are named as source");
	arena_free(&rules.arena);

	env_config = "";
	is_int(read_rules(&rules, NULL), 0, "an empty XAUDIT_CONFIG names nothing");
	is_str(rules.sections->library, "rules", "the command line's section counts");
	ok(!rules.sections->next, "those of a file that was only found do not");
	is_str(rules.output, "/rules", "keys of [trace] on the command line win");
	is_int((long long)rules.buffer, 1 << 20, "others come from the file");
	is_str(rules.file, "./xaudit.conf", "which is named");
	arena_free(&rules.arena);

	env_rules = "[trace]\nclock = tsc\n";
	is_int(read_rules(&rules, NULL), 0, "a command line without sections");
	is_str(rules.sections->library, "here", "leaves the file's sections in use");
	is_int(rules.defaults, 0, "so these are no defaults");
	is_str(rules.output, "/file", "and the file's output");
	arena_free(&rules.arena);

	write_file("xaudit.conf", "[trace]\nsize = 1M\n");
	is_int(read_rules(&rules, NULL), -1, "an error in a found file is an error");
	is_str(said, "xaudit: ./xaudit.conf:2: unknown key 'size' in [trace]; allowed: " KEYS "\n", "and said");
	no_environment();
}

int main(void)
{
	char command[128];

	if (!mkdtemp(folder) || chdir(folder))
		bail("no temporary folder");
	errors();
	everything();
	trace_keys();
	key_words();
	sources();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ok(chdir("/") == 0 && system(command) == 0, "the test cleans up");
	return done_testing();
}
