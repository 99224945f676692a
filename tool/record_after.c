/* SPDX-License-Identifier: MIT */
/*
 * When the command has ended: looks once through the process folders, trims what can be trimmed, and finds out whether the
 * user got what he asked for. It reads the few records that it needs one process at a time, with nothing kept: thousands of
 * processes (a build) cost two descriptors.
 */
#define _GNU_SOURCE
#include "tool/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/trace.h"
#include "tool/memory.h"
#include "tool/tool.h"
#include "tool/trace_folder.h"
#include "tool/trace_state.h"

/* Reasons that are of a whole object: it is the objects that count, whatever stands in the record. */
#define OF_OBJECT(reason)                                                                                              \
	((reason) == TRACE_REASON_NO_SITES || (reason) == TRACE_REASON_NO_SECTIONS ||                                  \
		(reason) == TRACE_REASON_FILE_CHANGED || (reason) == TRACE_REASON_UNREADABLE ||                        \
		(reason) == TRACE_REASON_MAP_VERSION || (reason) == TRACE_REASON_TEXTREL ||                            \
		(reason) == TRACE_REASON_LOADER)

struct reasons {
	uint64_t functions[TRACE_REASON_COUNT];
	uint64_t bindings[TRACE_REASON_COUNT]; /* what plt and calls count */
	uint64_t objects[TRACE_REASON_COUNT];
};

struct found {
	struct record_lost lost;
	unsigned processes, alive, empty; /* empty: it has ended, and nothing was selected */
	bool recorded;		   /* somebody made a thread's file */
	/* Of the first empty one. */
	char *exe;
	uint32_t pid;
	unsigned objects, chosen; /* chosen: the rules ask for some kind in it */
	unsigned kinds;
	struct reasons reasons;
};

/* What is known of one process while its meta is read. */
struct summary {
	char *exe;
	bool selected;
	unsigned objects, chosen, kinds;
	uint64_t *sites; /* by object: where its last TRACE_REC_SITES lies; 0: none */
	uint32_t room;
};

static char *read_exe(int meta, uint64_t at, uint32_t size)
{
	struct trace_text text;
	char *exe = NULL;

	if (pread(meta, &text, sizeof(text), (off_t)at) != sizeof(text) || text.what != TRACE_TEXT_EXE ||
		text.length > size - sizeof(text))
		return NULL;
	exe = memory_zeroed(text.length + 1, 1);
	if (pread(meta, exe, text.length, (off_t)(at + sizeof(text))) != (ssize_t)text.length) {
		free(exe);
		return NULL;
	}
	return exe;
}

static void take_object(struct summary *summary, int meta, uint64_t at)
{
	struct trace_object object;

	if (pread(meta, &object, sizeof(object), (off_t)at) != sizeof(object) ||
		object.flags & (TRACE_OBJECT_LOADER | TRACE_OBJECT_VDSO))
		return;
	summary->objects++;
	summary->chosen += object.kinds != 0;
	summary->kinds |= object.kinds;
}

static void take_sites(struct summary *summary, int meta, uint64_t at)
{
	struct trace_sites sites;

	if (pread(meta, &sites, sizeof(sites), (off_t)at) != sizeof(sites) || sites.object > 1u << 24)
		return;
	if (sites.object >= summary->room) {
		uint32_t room = sites.object + 64;

		summary->sites = memory_resize(summary->sites, room, sizeof(*summary->sites));
		memset(summary->sites + summary->room, 0, (room - summary->room) * sizeof(*summary->sites));
		summary->room = room;
	}
	summary->sites[sites.object] = at;
}

/* Reads meta as far as it takes to know that something was selected. Damage ends it early: the readers will tell. */
static void read_meta(struct summary *summary, int meta, const struct trace_head *head)
{
	struct trace_record record;

	for (uint64_t at = head->head_size; at + sizeof(record) <= head->used && !summary->selected;
		at += record.size) {
		if (pread(meta, &record, sizeof(record), (off_t)at) != sizeof(record) || record.size < sizeof(record) ||
			record.size % 8 || record.size > head->used - at)
			return;
		switch (record.type) {
		case TRACE_REC_TEXT:
			if (!summary->exe && record.size >= sizeof(struct trace_text))
				summary->exe = read_exe(meta, at, record.size);
			break;
		case TRACE_REC_OBJECT:
			if (record.size >= sizeof(struct trace_object))
				take_object(summary, meta, at);
			break;
		case TRACE_REC_FUNCTIONS:
			summary->selected = true;
			break;
		case TRACE_REC_SITES:
			if (record.size >= sizeof(struct trace_sites))
				take_sites(summary, meta, at);
			break;
		}
	}
}

static void add_reasons(struct reasons *reasons, const struct summary *summary, int meta)
{
	for (uint32_t object = 0; object < summary->room; object++) {
		struct trace_sites sites;
		uint64_t at = summary->sites[object], seen = 0;

		if (!at || pread(meta, &sites, sizeof(sites), (off_t)at) != sizeof(sites))
			continue;
		for (uint32_t i = 0; i < sites.count && i < (sites.head.size - sizeof(sites)) / sizeof(sites.site[0]);
			i++) {
			struct trace_site_count entry;
			off_t place = (off_t)(at + sizeof(sites) + i * sizeof(entry));

			if (pread(meta, &entry, sizeof(entry), place) != sizeof(entry) ||
				entry.reason >= TRACE_REASON_COUNT)
				continue;
			/* Whatever becomes of guards, they are no events. And sleds that are left alone are no functions. */
			if (entry.kind == TRACE_KIND_GUARD || entry.reason == TRACE_REASON_EVENT_LEFT)
				continue;
			if (OF_OBJECT(entry.reason))
				;
			else if (entry.kind == TRACE_KIND_PLT || entry.kind == TRACE_KIND_CALLS)
				reasons->bindings[entry.reason] += entry.count;
			else
				reasons->functions[entry.reason] += entry.count;
			/* One object may have the same reason for several kinds. */
			if (!(seen & 1ull << entry.reason))
				reasons->objects[entry.reason]++;
			seen |= 1ull << entry.reason;
		}
	}
}

/* The files of threads. chunk 0: the process lives, or is another user's, and nothing is trimmed. Is there any? */
static bool look_at_threads(int folder, uint64_t chunk)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool any = false;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		if (!strchr("trc", e->d_name[0]) || e->d_name[1] < '0' || e->d_name[1] > '9')
			continue;
		any = true;
		if (e->d_name[0] == 'r' && chunk)
			record_trim(folder, e->d_name, chunk);
	}
	closedir(dir);
	return any;
}

static void take_process(struct found *found, int folder, const char *path)
{
	struct trace_head head;
	struct summary summary = { 0 };
	int meta = trace_open_file(folder, "meta", &(const char *){ NULL });
	/* Nothing is cut in a folder that another user made. */
	struct stat st;
	bool ours = fstat(folder, &st) == 0 && st.st_uid == geteuid();

	if (meta < 0)
		return;
	found->processes++;
	if (pread(meta, &head, sizeof(head), 0) != sizeof(head) ||
		memcmp(head.magic, TRACE_MAGIC, sizeof(head.magic)) || head.version != TRACE_VERSION ||
		head.head_size < sizeof(head)) {
		/* It came up, at least; what is wrong with the file is for the readers to say. */
		close(meta);
		return;
	}
	/* What lives may be about to select something. What has ended wrote all that it had to, perhaps a moment
	 * ago. */
	bool alive = process_is_alive(head.pid);
	if (!alive && pread(meta, &head, sizeof(head), 0) != sizeof(head)) {
		close(meta);
		return;
	}
	found->alive += alive;
	found->recorded |= look_at_threads(folder, !ours || alive ? 0 : head.chunk_size);
	record_lost_look(&found->lost, folder, path, &head);
	read_meta(&summary, meta, &head);
	if (!alive && !summary.selected && !found->empty++) {
		found->exe = summary.exe;
		summary.exe = NULL;
		found->pid = head.pid;
		found->objects = summary.objects;
		found->chosen = summary.chosen;
		found->kinds = summary.kinds;
		add_reasons(&found->reasons, &summary, meta);
	}
	free(summary.exe);
	free(summary.sites);
	close(meta);
}

static void put_count(FILE *to, uint64_t count, const char *what, const char *phrase)
{
	fprintf(to, ", %" PRIu64 " %s%s: %s", count, what, count == 1 ? "" : "s", phrase);
}

/* One line: what happened, the counts, and what to try. */
static void say_empty(const struct found *found)
{
#define X(number, NAME, phrase) phrase,
	static const char *const phrase[] = { TRACE_REASONS(X) };
#undef X
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	fprintf(to, "nothing was selected in %s (process %" PRIu32 ")", found->exe ? found->exe : "the program",
		found->pid);
	if (found->empty > 1)
		fprintf(to, " and %u more process%s", found->empty - 1, found->empty == 2 ? "" : "es");
	if (found->empty < found->processes) {
		fprintf(to, ", of %u in all; `xaudit info` tells why", found->processes);
	} else {
		fprintf(to, ": %u of %u objects are chosen by the rules", found->chosen, found->objects);
		for (int i = 0; i < TRACE_REASON_COUNT; i++) {
			uint64_t functions = found->reasons.functions[i], bindings = found->reasons.bindings[i];
			uint64_t objects = found->reasons.objects[i];

			if (!objects || i == TRACE_REASON_TRACED)
				continue;
			if (functions)
				put_count(to, functions, "function", phrase[i]);
			if (bindings)
				put_count(to, bindings, "binding", phrase[i]);
			if (!functions && !bindings)
				put_count(to, objects, "object", phrase[i]);
		}
		if (!found->chosen)
			fputs("; -l GLOB chooses libraries, and `xaudit info` lists those that were loaded", to);
		else if (!(found->kinds & 1u << TRACE_KIND_PLT) && !(found->kinds & 1u << TRACE_KIND_CALLS))
			fputs("; try -k plt (calls into libraries from outside) or -k calls (calls that an object makes)",
				to);
		else if (!(found->kinds & 1u << TRACE_KIND_PLT))
			fputs("; try -k plt (calls into libraries from outside)", to);
		else if (!(found->kinds & 1u << TRACE_KIND_CALLS))
			fputs("; try -k calls (calls that an object makes)", to);
		else
			fputs("; do -l, -F and -N leave anything? `xaudit info` lists what was loaded", to);
	}
	fclose(to);
	tool_error("record", "%s", text);
	free(text);
}

/* Whether something was made in the folder, or removed, since DIR/record was. */
static bool is_changed(const struct record_folder *folder)
{
	struct stat st;

	return fstat(folder->fd, &st) == 0 &&
		(st.st_mtim.tv_sec != folder->changed.tv_sec || st.st_mtim.tv_nsec != folder->changed.tv_nsec);
}

void record_after(const struct record_folder *folder, const char *command, const char *path, bool off)
{
	struct found found = { 0 };
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool entries = false;

	if (!dir) {
		if (!folder->robbed)
			tool_error("record", "the trace folder %s can't be read: %s", folder->path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		int process;

		if (e->d_name[0] != 'p' || e->d_name[1] < '0' || e->d_name[1] > '9')
			continue;
		entries = true;
		process = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (process < 0)
			continue;
		char *path_of = memory_format("%s/%s", folder->path, e->d_name);
		take_process(&found, process, path_of);
		free(path_of);
		close(process);
	}
	closedir(dir);
	if (off && found.processes && !found.alive && !found.recorded)
		tool_error("record",
			"nothing was recorded: the rules say that all begins switched off, and nobody switched anything on; while the "
			"command runs, `xaudit ctl PID enable FUNCTION` does");
	else if (found.empty && !off)
		say_empty(&found);
	else if (!found.processes && !entries && !folder->robbed && is_changed(folder))
		tool_error("record", "what was recorded in %s was removed while the command ran, so there is no trace",
			folder->path);
	else if (!found.processes && !folder->robbed)
		record_why(command, path);
	record_lost_say(&found.lost, found.processes);
	free(found.exe);
}
