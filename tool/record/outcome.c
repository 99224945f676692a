/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/record/outcome.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/match/kinds.h"
#include "audit/match/match.h"
#include "format/trace.h"
#include "tool/base/tool.h"
#include "tool/pack/compact_file.h"
#include "tool/read/api/xaudit-read.h"
#include "tool/record/drain_thread.h"
#include "tool/record/executed.h"
#include "tool/record/folder.h"
#include "tool/record/losses.h"
#include "tool/record/meant.h"
#include "tool/record/reaper.h"
#include "tool/record/record.h"
#include "tool/record/run.h"
#include "tool/record/trim.h"
#include "tool/record/unmatched.h"
#include "tool/record/untraced.h"

/* Reasons that hold for a whole object: objects are counted for them, not the numbers in the record. */
#define OF_OBJECT(reason)                                                                                              \
	((reason) == TRACE_REASON_NO_SITES || (reason) == TRACE_REASON_NO_SECTIONS ||                                  \
		(reason) == TRACE_REASON_FILE_CHANGED || (reason) == TRACE_REASON_UNREADABLE ||                        \
		(reason) == TRACE_REASON_MAP_VERSION || (reason) == TRACE_REASON_TEXTREL ||                            \
		(reason) == TRACE_REASON_LOADER || (reason) == TRACE_REASON_NO_INDEX ||                                \
		(reason) == TRACE_REASON_INDEX_REFUSED || (reason) == TRACE_REASON_INDEX_DAMAGED ||                    \
		(reason) == TRACE_REASON_INDEX_VERSION)

struct reasons {
	uint64_t functions[TRACE_REASON_COUNT];
	uint64_t bindings[TRACE_REASON_COUNT]; /* what plt and calls count */
	uint64_t objects[TRACE_REASON_COUNT];
};

struct found {
	struct record_losses lost;
	unsigned processes, alive, empty; /* empty: it has ended, and nothing was selected */
	unsigned unread;	   /* families, for want of memory */
	bool recorded;		   /* a thread made its file */
	/* Of the first empty one. */
	char *exe;
	uint32_t pid;
	unsigned objects, chosen; /* chosen: the rules ask for some kind in it */
	unsigned kinds;
	struct reasons reasons;
};

static void add_sites(struct reasons *reasons, const struct xaudit_read_process_object *object)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < object->sites; i++) {
		const struct xaudit_read_sites *entry = &object->site[i];

		/*
		 * Guards raise no events, switched on or not. And event sleds that are left alone are no functions.
		 */
		if (entry->reason >= TRACE_REASON_COUNT || !kind_has(entry->kind, KIND_EVENTS) ||
			entry->reason == TRACE_REASON_EVENT_LEFT)
			continue;
		if (OF_OBJECT(entry->reason))
			;
		else if (kind_has(entry->kind, KIND_BOUND))
			reasons->bindings[entry->reason] += entry->count;
		else
			reasons->functions[entry->reason] += entry->count;
		/* One object may have the same reason for several kinds. */
		if (!(seen & 1ull << entry->reason))
			reasons->objects[entry->reason]++;
		seen |= 1ull << entry->reason;
	}
}

/* The first process in which nothing was selected. Returns false if there is no memory. */
static bool take_empty(struct found *found, struct xaudit_read_process *process)
{
	const struct xaudit_read_facts *facts = xaudit_read_process_facts(process);
	const struct xaudit_read_process_info *info = facts ? xaudit_read_process_info(process) : NULL;

	if (!info)
		return false;
	found->exe = info->exe ? strdup(info->exe) : NULL;
	found->pid = info->pid;
	for (uint32_t i = 0; i < facts->objects; i++) {
		const struct xaudit_read_process_object *object = xaudit_read_process_object(process, i);

		add_sites(&found->reasons, object);
				if (object->role & (XAUDIT_READ_LOADER | XAUDIT_READ_VDSO))
			continue;
		found->objects++;
		record_meant_object(object->path, object->soname, object->role & XAUDIT_READ_PROGRAM);
		found->chosen += object->kinds != 0;
		found->kinds |= object->kinds;
	}
	return found->exe || !info->exe;
}

/* Returns whether it is alive; -ENOMEM: there is no memory. */
static int take_process(struct found *found, struct xaudit_read_process *process)
{
	found->processes++;
	/*
	 * A process that lives may be about to select something. One that has ended wrote all that it had to, perhaps a
	 * moment ago.
	 */
	bool alive = xaudit_read_process_alive(process);
	if (!alive && !xaudit_read_process_again(process))
		return false;
	found->alive += alive;
	found->recorded |= xaudit_read_process_head(process)->threads != 0;
	record_losses_look(&found->lost, process);
	if (!alive)
		record_executed_look(process);
	if (!alive)
		record_unmatched_look(process);
	if (!alive && !xaudit_read_process_chosen(process) && !found->empty++ && !take_empty(found, process))
		return -ENOMEM;
	return alive;
}

static struct found found; /* used by one thread after another: tool/record/reaper.c's, then the main thread */

static bool is_alive(struct xaudit_read_trace *trace)
{
	uint32_t processes = xaudit_read_trace_info(trace)->processes;

	for (uint32_t i = 0; i < processes; i++)
		if (xaudit_read_process_alive(xaudit_read_process(trace, i)))
			return true;
	return false;
}

static bool is_without_memory(const struct xaudit_read_trace *trace)
{
	struct xaudit_read_error error;

	xaudit_read_damage(trace, &error);
	return error.why == XAUDIT_READ_NO_MEMORY;
}

/* Returns 0, or -ENOMEM: not all was taken. *over: nobody has its files, which are as short as they can be. */
static int take_family(struct found *found, int fd, struct xaudit_read_trace *trace, bool *over)
{
	uint32_t processes = xaudit_read_trace_info(trace)->processes;
	bool alive = false;
	struct stat st;

	for (uint32_t i = 0; i < processes; i++) {
		int r = take_process(found, xaudit_read_process(trace, i));

		if (r < 0)
			return r;
		alive |= r;
	}
	if (is_without_memory(trace))
		return -ENOMEM;
	/* Nothing is cut in a folder that another user made. */
	if (alive || fstat(fd, &st) || st.st_uid != geteuid())
		return 0;
	long long given = record_trim_trace(fd, trace);
	*over = given >= 0;
	return given == RECORD_TRIM_NO_MEMORY ? -ENOMEM : 0;
}

/* As take_family(), but where that is not done all is as it was before. */
static int take_whole_family(int fd, struct xaudit_read_trace *trace, bool *over)
{
	struct found next = found;
	int r = take_family(&next, fd, trace, over);

	if (!r)
		found = next;
	else if (next.exe != found.exe)
		free(next.exe);
	return r;
}

bool record_outcome_family(const struct record_folder *of, const char *name, bool over)
{
	int fd = openat(of->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct xaudit_read_trace *trace = NULL;
	char path[PATH_MAX];
	bool taken = false, ended = false;
	int r = -ENAMETOOLONG;

	if (fd < 0)
		return false;
	if (!over || record_drain_leave(name, fd)) {
		struct xaudit_read_error error = { 0 };

		/* The path is for messages alone: another user may have put another folder there. */
		if (snprintf(path, sizeof(path), "%s/%s", of->path, name) < (int)sizeof(path)) {
			trace = xaudit_read_open_family(of->fd, fd, path, &error);
			r = error.why == XAUDIT_READ_NO_MEMORY ? -ENOMEM : 0;
		}
		if (trace && !(over && is_alive(trace))) {
			r = take_whole_family(fd, trace, &ended);
			taken = !r;
		}
		if (!over && !taken) {
			/* The module came up, at least; readers will say what is wrong with the file. */
			found.processes += faccessat(fd, "meta", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
			found.unread += r == -ENOMEM;
		}
		xaudit_read_close(trace);
		if (taken && ended)
			compact_folder(fd);
	}
	close(fd);
	return taken;
}

static void put_count(FILE *to, uint64_t count, const char *what, const char *phrase)
{
	fprintf(to, ", %" PRIu64 " %s%s: %s", count, what, count == 1 ? "" : "s", phrase);
}

#define DO_THEY_LEAVE_ANY "; do -l, -F and %s leave anything? `xaudit info` lists what was loaded"
#define IN_A_FILE ": `xaudit list FILE PATTERN` shows those that match in a file"
#define TRY_PLT "; try %s plt (calls into libraries from outside)"
#define CALLS_ARE " (calls that an object makes)"
#define ENTRY_TRACES "%s entry traces them whoever calls them"
#define IS_IT_A_NAME "; is it the name of a function? `xaudit list FILE PATTERN` shows those that match; "

/* What to try, where the rules ask for entry: that traces nearly all functions, so names are what is wrong. */
static void put_advice_on_names(FILE *to, const struct found *found)
{
	const uint64_t *functions = found->reasons.functions;
	uint64_t refused = 0;

	for (unsigned i = 0; i < TRACE_REASON_COUNT; i++)
		if (!OF_OBJECT(i) && i != TRACE_REASON_NOT_SELECTED)
			refused += functions[i];
	/* What a resolver chooses has another name, which nobody types; the bindings of callers have the one given. */
	if (functions[TRACE_REASON_INDEX_RESOLVER])
		fprintf(to, "; %s plt traces, by the same name, what an IFUNC resolver chooses", record_names.kinds);
	else if (refused)
		fputs("; `xaudit list FILE FUNCTION` shows why, and its code", to);
	else if (functions[TRACE_REASON_NOT_SELECTED])
		fputs(IS_IT_A_NAME "one of C++ in no namespace is ::NAME", to);
	else
		fputs("; `xaudit info` lists what was loaded", to);
}

/* Do the rules leave out functions that the kinds would trace? named: since they name others. */
static bool leaves_out(const struct found *found, const struct rules *rules, bool named)
{
	bool any = false;

	for (const struct rules_section *section = rules->sections; section; section = section->next)
		any |= named ? rules_name_functions(section->functions) : section->exclude != NULL;
	return any && (found->reasons.functions[TRACE_REASON_NOT_SELECTED] ||
			      found->reasons.bindings[TRACE_REASON_NOT_SELECTED]);
}

/* Is it only for their names that functions were not selected? */
static bool name_no_function(const struct found *found)
{
	for (unsigned i = 0; i < TRACE_REASON_COUNT; i++)
		if (i != TRACE_REASON_NOT_SELECTED && !OF_OBJECT(i) && found->reasons.functions[i])
			return false;
	return found->reasons.functions[TRACE_REASON_NOT_SELECTED];
}

/* The counts of what was not selected and why, and what to try. */
static void put_reasons(FILE *to, const struct found *found, const struct rules *rules)
{
	fprintf(to, "%u of %u objects are chosen by the rules", found->chosen, found->objects);
	for (unsigned i = 0; i < TRACE_REASON_COUNT; i++) {
		uint64_t functions = found->reasons.functions[i], bindings = found->reasons.bindings[i];
		uint64_t objects = found->reasons.objects[i];

		if (!objects || i == TRACE_REASON_TRACED)
			continue;
		if (functions)
			put_count(to, functions, "function", xaudit_read_reason_phrase(i));
		if (bindings)
			put_count(to, bindings, "binding", xaudit_read_reason_phrase(i));
		if (!functions && !bindings)
			put_count(to, objects, "object", xaudit_read_reason_phrase(i));
	}
	if (!found->chosen)
		fprintf(to, "; -l GLOB chooses libraries, -F 'FUNCTION@%s' functions of the program, and "
			    "`xaudit info` lists what was loaded",
			found->exe ? tool_base(found->exe) : "PROGRAM");
	else if (found->kinds & kinds_with(KIND_BY_INDEX))
		put_advice_on_names(to, found);
	else if (leaves_out(found, rules, true))
		fprintf(to, IS_IT_A_NAME ENTRY_TRACES, record_names.kinds);
	else if (leaves_out(found, rules, false))
		fprintf(to, DO_THEY_LEAVE_ANY, record_names.exclude);
	else if (!(found->kinds & 1u << TRACE_KIND_PLT) && !(found->kinds & 1u << TRACE_KIND_CALLS))
		fprintf(to, TRY_PLT " or %s calls" CALLS_ARE, record_names.kinds, record_names.kinds);
	else if (!(found->kinds & 1u << TRACE_KIND_PLT))
		fprintf(to, TRY_PLT, record_names.kinds);
	else if (!(found->kinds & 1u << TRACE_KIND_CALLS))
		fprintf(to, "; try %s calls" CALLS_ARE, record_names.kinds);
	else
		fprintf(to, DO_THEY_LEAVE_ANY, record_names.exclude);
}

/* Patterns that name no function. */
static void put_functions(FILE *to, const struct found *found, const struct record_words *patterns)
{
	if (record_meant_functions(to, patterns))
		return;
	fputs(IN_A_FILE, to);
	if (found->kinds & kinds_with(KIND_BY_INDEX))
		fputs("; one of C++ in no namespace is ::NAME", to);
	else
		fprintf(to, "; " ENTRY_TRACES, record_names.kinds);
}

/* One line: what happened, why, and what to try. */
static void say_empty(
	const struct found *found, const struct record_options *options, const struct rules *rules)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	fprintf(to, "nothing was selected in %s (process %" PRIu32 ")", found->exe ? found->exe : "the program",
		found->pid);
	if (found->empty > 1)
		fprintf(to, " and %u more process%s", found->empty - 1, found->empty == 2 ? "" : "es");
	fputs(": ", to);
	if (!found->chosen && options->libraries.count)
		record_meant_libraries(to, &options->libraries);
	else if (options->functions.count && name_no_function(found))
		put_functions(to, found, &options->functions);
	else
		put_reasons(to, found, rules);
	if (fclose(to) == 0 && text)
		record_error("%s", text);
	free(text);
}

/* Whether something was made in the folder, or removed, since DIR/record was. */
static bool is_changed(const struct record_folder *folder)
{
	struct stat st;

	return fstat(folder->fd, &st) == 0 &&
		(st.st_mtim.tv_sec != folder->changed.tv_sec || st.st_mtim.tv_nsec != folder->changed.tv_nsec);
}

void record_outcome(const struct record_folder *folder, const struct record_options *options, const char *path,
	const struct rules *rules)
{
	bool off = rules->disabled || rules->prepare == RULES_PREPARE_NONE;
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool entries = false;

	if (!dir) {
		if (!folder->robbed)
			record_error("the trace folder %s can't be read: %s", folder->path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] != 'p' || e->d_name[1] < '0' || e->d_name[1] > '9')
			continue;
		entries = true;
		if (!record_reaper_has(e->d_name))
			record_outcome_family(folder, e->d_name, false);
	}
	closedir(dir);
	if (off && found.processes && !found.alive && !found.recorded)
		record_error("nothing was recorded: the rules say that all begins switched off, and nobody "
				     "switched anything on; while the "
				     "command runs, `xaudit ctl PID enable FUNCTION` does");
	/* Of probes alone it is told which of them nothing had. */
	else if (found.empty && found.empty == found.processes && !off &&
		 (rules_kinds(rules) || !record_unmatched_probes()))
		say_empty(&found, options, rules);
	else if (rules->below && found.processes && !found.alive && !found.recorded)
		record_error("nothing was recorded: no function that %s names was called where it is traced; "
				     "it must be among those that -l, -F and %s choose",
			record_names.below, record_names.kinds);
	else if (!found.processes && !entries && !folder->robbed && is_changed(folder))
		record_error("what was recorded in %s was removed while the command ran, so there is no trace",
			folder->path);
	else if (!found.processes && !folder->robbed)
		record_untraced_say(options->command[0], path);
	if (found.unread)
		record_error("what %u process%s and %s children recorded was not looked at: out of memory; "
			"`xaudit info` tells what was lost", found.unread, found.unread == 1 ? "" : "es",
			found.unread == 1 ? "its" : "their");
	record_unmatched_say(off || found.alive || found.unread ||
			     (found.empty == found.processes && !record_unmatched_probes()));
	record_losses_say(&found.lost, found.processes);
	record_executed_say();
	free(found.exe);
}
