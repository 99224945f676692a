/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/index/frames.h"
#include "audit/index/index.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/tool.h"
#include "tool/base/whole.h"
#include "tool/index/cache.h"
#include "tool/index/cache_trim.h"
#include "tool/index/file_index.h"
#include "tool/index/own_file.h"
#include "tool/plan/plan.h"
#include "tool/plan/plan_cache.h"
#include "tool/probe/coverage.h"

#define SHORT_FUNCTION 5 /* bytes: no room for a jump in those that are smaller */

struct options {
	bool verbose, dry, quiet, kept;
	const char *folder; /* of --cache, or NULL */
	uint32_t fd;	    /* of --fd; 0: none */
	uint32_t jobs;	    /* 0: not said */
	const char *values; /* of --values, or NULL; of --values-fd what was read there */
	uint32_t values_fd; /* of --values-fd; 0: none */
};

static const struct options_row rows[] = {
	{ 'v', "verbose", NULL, "list each function, why one can't be displaced, and where probes can be",
		.take = options_flag, .at = offsetof(struct options, verbose) },
	{ 'n', "dry-run", NULL, "keep nothing", .take = options_flag, .at = offsetof(struct options, dry) },
	{ 'j', "jobs", "N", "analyse a file by so many threads, instead of one per processor",
		.take = options_number, .at = offsetof(struct options, jobs), .allowed = "a number from 1 to 64",
		.most = INDEX_JOBS },
	{ 'q', "quiet", NULL, "say nothing but errors", .take = options_flag, .at = offsetof(struct options, quiet) },
	{ 0, "kept", NULL, "take what is kept of a file with the same content", .take = options_flag,
		.at = offsetof(struct options, kept) },
	{ 0, "cache", "FOLDER", "keep it there", .take = options_text, .at = offsetof(struct options, folder) },
	{ 0, "fd", "N", "what is not kept is written to this open descriptor; of one FILE",
		.take = options_number, .at = offsetof(struct options, fd), .allowed = "the number of a descriptor",
		.most = INT_MAX },
	{ 0, "values", "RULES", "write how values of its functions are found, of one FILE; makes no index",
		.take = options_text, .at = offsetof(struct options, values) },
	{ 0, "values-fd", "N", "the same; RULES are read from this open file",
		.take = options_number, .at = offsetof(struct options, values_fd),
		.allowed = "the number of a descriptor", .most = INT_MAX },
	OPTIONS_HELP,
	{ 0 },
};

static const struct options_wording wording = {
	.no_value = "this option needs a value: %o; see xaudit index --help",
	.unknown = "unknown option %o; see xaudit index --help",
	.wrong = "%o is %a, not %v; see xaudit index --help",
};

static const struct options_syntax syntax = {
	.command = "index",
	.rows = rows,
	.column = 19,
	.wording = &wording,
	.head = "Usage: xaudit index [OPTION]... FILE...\n"
		"Analyses programs and libraries: which functions' first instructions could run\n"
		"elsewhere, so that a jump may stand in their place. Keeps the result for later;\n"
		"nothing of the files runs.\n"
		"\n"
		"Options:\n",
	.tail = "\n"
		"It is kept in $XAUDIT_INDEX, else $XDG_CACHE_HOME/xaudit or ~/.cache/xaudit;\n"
		"root's in /var/cache/xaudit, for all users.\n",
};

/* Tenths of percent, never more than there are: 100.0 is all. */
static size_t permille(uint64_t part, uint64_t whole)
{
	return whole ? 1000 * part / whole : 0;
}

static void print_function(const struct index *index, const struct index_function *function)
{
	const char *name = index_name(index, function);
	uint64_t site, from;

	printf("%016" PRIx64 "  %8" PRIu32 "  ", function->address, function->size);
	if (index_site(index, function, &site, &from) && index_template(index, function))
		printf("%-7s  %2u+%-2u  ", function->form == INDEX_FORM_JUMP ? "jump" : "padding", function->skip,
			function->length);
	else
		printf("%-7s  %-5s  ", "-", "-");
	if (name)
		tool_text(stdout, name);
	else
		putchar('?');
	for (unsigned i = 0; index_remark(function, i); i++)
		printf("  (%s)", index_remark(function, i));
	if (function->flags & INDEX_FAULTS)
		printf("  (may fault elsewhere)");
	if (function->reason)
		printf("  (%s)", index_reason_phrase(function->reason));
	putchar('\n');
}

static const char *callee_word(unsigned callee)
{
	static const char *const word[] = {
#define X(number, NAME, word) [number] = word,
		INDEX_CALLEES(X)
#undef X
	};

	return word[callee];
}

static bool is_usable(const struct index *index, const struct index_call *call)
{
	uint64_t site, from;

	return !(call->flags & INDEX_CALL_ALONE) && index_site(index, &call->site, &site, &from);
}

static void print_calls(const struct index *index)
{
	size_t calls[INDEX_CALLEE_COUNT] = { 0 }, nops[INDEX_CALLEE_COUNT] = { 0 }, usable[INDEX_CALLEE_COUNT] = { 0 };

	for (size_t i = 0; i < index->calls; i++) {
		const struct index_call *call = index_call(index, i);
		calls[call->callee]++;
		nops[call->callee] += !!(call->flags & INDEX_CALL_NOP);
		usable[call->callee] += is_usable(index, call);
	}
	for (unsigned callee = 1; callee < INDEX_CALLEE_COUNT; callee++)
		if (calls[callee])
			printf("  calls of %s: %zu, %zu of them NOPs; functions traceable by them: %zu\n",
				callee_word(callee), calls[callee], nops[callee], usable[callee]);
}

static void list_calls(const struct index *index)
{
	if (index->calls)
		printf("\n%-16s  %-6s  %-10s  %-7s  %-5s  %s\n", "address", "call", "of", "form", "bytes", "function");
	for (size_t i = 0; i < index->calls; i++) {
		const struct index_call *call = index_call(index, i);
		const char *name = call->function == INDEX_NO_FUNCTION ? NULL : index_name(index, &call->site);
		bool usable = is_usable(index, call), jump = call->site.form == INDEX_FORM_JUMP;
		printf("%016" PRIx64 "  %-4s %u  %-10s  %-7s  ", call->address,
			call->flags & INDEX_CALL_NOP ? "nop" : "call", call->length, callee_word(call->callee),
			!usable ? "-" : jump ? "jump" : "padding");
		if (usable)
			printf("%2u+%-2u  ", call->site.skip, call->site.length);
		else
			printf("%-5s  ", "-");
		if (name)
			tool_text(stdout, name);
		else
			putchar('?');
		if (!(call->flags & INDEX_CALL_ALONE) && call->site.reason)
			printf("  (%s)", index_reason_phrase(call->site.reason));
		putchar('\n');
	}
}

/* Bytes of functions: all, those from which a backtrace goes on, and the others by enum frame_none. */
struct share {
	uint64_t all, known, none[FRAME_NONES];
};

/* Adds the bytes from..to. *at: an entry that begins at `from` or before, or the first one; it is moved on. */
static void add_range(struct share *share, const struct index_frames *frames, uint64_t from, uint64_t to, size_t *at)
{
	while (from < to) {
		while (*at + 1 < frames->count && frames->frame[*at + 1].from <= from - frames->low)
			++*at;
		uint64_t next = *at + 1 < frames->count ? frames->low + frames->frame[*at + 1].from : to;
		uint64_t n = (next < to ? next : to) - from;
		uint32_t rule = index_frames_rule(frames, from), why = FRAME_WORDS(rule);
		share->all += n;
		if (FRAME_BASE(rule) != FRAME_NONE)
			share->known += n;
		else
			share->none[why < FRAME_NONES ? why : FRAME_GAP] += n;
		from += n;
	}
}

static void print_frames(const struct index *index)
{
	static const char *const why[FRAME_NONES] = {
		[FRAME_GAP] = "no unwind information",
		[FRAME_OUTERMOST] = "nobody calls it",
		[FRAME_REGISTER] = "the caller's frame is told by a register other than rsp and rbp",
		[FRAME_EXPRESSION] = "the caller's frame is told by an expression",
		[FRAME_ELSEWHERE] = "the return address is not where calls have it",
		[FRAME_FAR] = "the caller's frame is too far away, or not at whole words",
	};
	struct index_frames frames;
	struct share share = { 0 };
	size_t at = 0;

	index_frames_check(index, &frames);
	for (size_t i = 0; i < index->functions; i++) {
		const struct index_function *function = index_function(index, i);
		const struct index_function *next = index_function(index, i + 1);
		uint64_t end = function->address + function->size;
		/* One that begins within another is not counted twice. */
		add_range(&share, &frames, function->address, next && next->address < end ? next->address : end, &at);
	}
	size_t part = permille(share.known, share.all);
	printf("  rows for backtraces: %zu, for %zu.%zu %% of the bytes of functions\n", frames.count, part / 10,
		part % 10);
	for (unsigned reason = 0; reason < FRAME_NONES; reason++)
		if (share.none[reason])
			printf("  backtraces end in %" PRIu64 " bytes: %s\n", share.none[reason], why[reason]);
}

/* fd: the file, again; or -1. */
static void print(const struct index *index, int fd, const char *file, bool verbose)
{
	size_t usable = 0, large = 0, large_usable = 0, refused[INDEX_REASON_COUNT] = { 0 };

	for (size_t i = 0; i < index->functions; i++) {
		const struct index_function *function = index_function(index, i);
		bool is_large = function->size >= SHORT_FUNCTION;
		usable += !function->reason;
		large += is_large;
		large_usable += is_large && !function->reason;
		refused[function->reason]++;
	}
	tool_text(stdout, file);
	size_t all = permille(usable, index->functions), of_large = permille(large_usable, large);
	printf(": %zu functions, %zu displaceable (%zu.%zu %%); of %zu with %d bytes or more %zu.%zu %%\n",
		index->functions, usable, all / 10, all % 10, large, SHORT_FUNCTION, of_large / 10, of_large % 10);
	if (index->head->flags & INDEX_NO_FRAMES)
		puts("  no unwind information: functions without a name are not known");
	if (index->head->flags & INDEX_RELOCATED)
		puts("  its code is relocated when it is loaded: none of it will be displaced");
	for (unsigned reason = 1; reason < INDEX_REASON_COUNT; reason++)
		if (refused[reason])
			printf("  refused %zu: %s\n", refused[reason], index_reason_phrase(reason));
	print_calls(index);
	if (!verbose || !index->functions)
		return;
	print_frames(index);
	if (fd >= 0)
		coverage_print(fd, file);
	printf("\n%-16s  %8s  %-7s  %-5s  %s\n", "address", "size", "form", "bytes", "function");
	for (size_t i = 0; i < index->functions; i++)
		print_function(index, index_function(index, i));
	list_calls(index);
}

/* Where it belongs; 0 when there is no such place. */
static int find_folder(const struct options *options, char *to, size_t room, int *shared)
{
	*shared = 0;
	if (options->folder)
		return snprintf(to, room, "%s", options->folder) < (int)room;
	return cache_own_folder(to, room, shared);
}

/* Puts it into a folder, or as the last resort writes it to the descriptor. */
static int keep(const struct options *options, const struct index_made *made, const char *file)
{
	char folder[PATH_MAX];
	int shared;
	bool found = !options->dry && find_folder(options, folder, sizeof(folder), &shared);
	int r = found ? cache_put(made, folder, shared) : 0;

	if (found && !r)
		return TOOL_OK;
	if (options->fd) {
		r = index_write((int)options->fd, made);
		if (r)
			tool_error("index", "%s: can't be written to descriptor %" PRIu32 ": %s", file, options->fd,
				strerror(-r));
	} else if (options->dry) {
		r = 0;
	} else if (found) {
		tool_error("index", "%s: can't be kept in %s: %s", file, folder, cache_why_not(r));
	} else {
		tool_error("index", "no folder to keep it in: set XDG_CACHE_HOME or HOME, or use --cache");
		r = -ENOENT;
	}
	return r ? TOOL_FAILED : TOOL_OK;
}

static int do_file(const struct options *options, const char *file)
{
	char folder[PATH_MAX];
	struct cache_lock lock = { .folder = folder, .at = -1, .fd = -1 };
	struct index_made made;
	struct index index;
	int status = TOOL_OK;
	bool put = !options->dry && find_folder(options, folder, sizeof(folder), &lock.shared);

	int fd = own_open(file), r = fd;

	if (fd >= 0)
		r = options->kept ? cache_take_locked(&made, fd, file, put ? &lock : NULL)
				  : index_make(&made, fd, file, NULL);
	if (r) {
		if (fd >= 0)
			close(fd);
		cache_unlock(&lock);
		tool_error("index", "%s: %s", file, r == -ENOEXEC ? "not an x86-64 ELF file" : strerror(-r));
		return TOOL_FAILED;
	}
	r = index_attach(&index, made.bytes, made.size, NULL);
	if (made.changed) {
		tool_error("index", "%s: %s", file, cache_why_not(CACHE_CHANGED));
		status = TOOL_FAILED;
	} else if (r) {
		tool_error("index", "%s: what was made of it can't be read", file);
		status = TOOL_FAILED;
	} else {
		if (!options->quiet)
			print(&index, fd, file, options->verbose);
		status = keep(options, &made, file);
	}
	cache_unlock(&lock);
	free(made.bytes);
	close(fd);
	return status;
}

/* Of --values-fd: all of that file, to be freed; NULL after one line on stderr. */
static char *read_rules(int fd)
{
	size_t size = 0, room = 65536;
	char *rules = memory_zeroed(room, 1);
	int error = 0;

	for (size_t n; (n = whole_read_most(fd, rules + size, room - size - 1, size, &error)) > 0; rules[size] = '\0') {
		size += n;
		if (size + 1 == room)
			rules = memory_resize(rules, room *= 2, 1);
	}
	if (!error)
		return rules;
	tool_error("index", "RULES can't be read from descriptor %d: %s", fd, strerror(error));
	free(rules);
	return NULL;
}

/* --values: the plan of a file, to the descriptor or to standard output. */
static int do_values(const struct options *options, const char *file)
{
	struct plan_made made;
	char folder[PATH_MAX];
	int shared, fd = own_open(file), r = fd;

	if (fd >= 0 && !options->dry && find_folder(options, folder, sizeof(folder), &shared))
		r = plan_take(&made, fd, file, options->values, folder, shared);
	else if (fd >= 0)
		r = plan_make(&made, fd, file, options->values);
	if (fd >= 0)
		close(fd);
	if (r) {
		tool_error("index", "%s: %s", file, r == -ENOEXEC ? "not an x86-64 ELF file" : strerror(-r));
		return TOOL_FAILED;
	}
	r = whole_write(options->fd ? (int)options->fd : STDOUT_FILENO, made.bytes, made.size, WHOLE_NEXT);
	if (r)
		tool_error("index", "%s: what was made of it can't be written: %s", file, strerror(r));
	free(made.bytes);
	/* The module takes what is right, and tells what was said. */
	return r || (made.wrong && !options->fd) ? TOOL_FAILED : TOOL_OK;
}

int index_main(int argc, char **argv)
{
	struct options options = { 0 };
	char folder[PATH_MAX];
	time_t begun = time(NULL);
	int shared, status = TOOL_OK, first = options_take(&syntax, &options, argc, argv);

	if (first <= 0)
		return first ? TOOL_USAGE : TOOL_OK;
	if (first == argc) {
		tool_error("index", "no file is named; see xaudit index --help");
		return TOOL_USAGE;
	}
	const bool has_rules = options.values || options.values_fd;
	if ((options.fd || has_rules) && first + 1 != argc) {
		tool_error("index", "--%s takes one file, not also %s; see xaudit index --help",
			has_rules ? "values" : "fd", argv[first + 1]);
		return TOOL_USAGE;
	}
	if (has_rules && !options.fd && isatty(STDOUT_FILENO)) {
		tool_error("index", "what --values writes is not for a terminal: it wants a pipe, a file, or --fd");
		return TOOL_USAGE;
	}
	/*
	 * Indexes are kept even if nobody reads to the end what is in them. A file that would become too large (ulimit
	 * -f) is an error like others.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (has_rules) {
		char *read = options.values_fd ? read_rules((int)options.values_fd) : NULL;
		if (options.values_fd && !read)
			return TOOL_FAILED;
		options.values = read ? read : options.values;
		status = do_values(&options, argv[first]);
		free(read);
		return status;
	}
	index_jobs(options.jobs);
	for (; first < argc; first++)
		if (do_file(&options, argv[first]))
			status = TOOL_FAILED;
	if (!options.dry && find_folder(&options, folder, sizeof(folder), &shared))
		cache_trim(folder, begun);
	return status;
}
