/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/read/folder.h"

#include <ctype.h> /* isdigit */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>	  /* pread */

#include "tool/read/damage/memory.h"
#include "tool/read/inherited.h"
#include "tool/read/pack/pack.h"
#include "tool/read/path.h"
#include "tool/read/record_file.h"

/* ---- clocks ---- */

static bool share_clock(const struct read_process *a, const struct read_process *b)
{
	return a->head.clock == b->head.clock && !strcmp(a->head.boot_id, b->head.boot_id);
}

/*
 * The longest time between two pairs of one process that shares the clock, or of `record`. *of: the process's number,
 * or that of all for `record`. False: there is none.
 */
static bool longest_span(
	const struct read_folder *folder, const struct read_process *process, struct trace_pair line[2], unsigned *of)
{
	bool found = false;

	for (unsigned i = 0; i <= folder->processes; i++) {
		bool own = i < folder->processes;
		if (own ? !share_clock(process, folder->process[i])
			: folder->pairs < 2 || process->head.clock != TRACE_CLOCK_TSC)
			continue;
		const struct trace_pair *first = own ? &folder->process[i]->head.first : &folder->pair[0];
		const struct trace_pair *last = own ? &folder->process[i]->head.last : &folder->pair[folder->pairs - 1];
		if (!read_clock_is_span(first, last) ||
			(found && last->ticks - first->ticks < line[1].ticks - line[0].ticks))
			continue;
		line[0] = *first;
		line[1] = *last;
		*of = i;
		found = true;
	}
	return found;
}

/* The start of a process of another time namespace is where the line has it. line[0].ticks 0: there is no line. */
static void move_to_line(struct read_process *process, const struct trace_pair *line)
{
	struct trace_pair *first = &process->head.first, pair = *first;

	if (line[0].ticks && process->clock.valid && first->ticks && !read_clock_of_one_line(line, &pair, 1))
		first->mono = read_clock_time(&process->clock, first->ticks);
}

/*
 * CLOCK_MONOTONIC of another time namespace: all times are those of the namespace of the process whose pairs are
 * furthest apart. What damaged traces say is taken for an offset where no time leaves its range by that.
 */
static void move_by_offset(struct read_process *process, const struct read_process *to)
{
	const int64_t most = INT64_MAX / 4;
	int64_t own = process->head.time_offset, other = to->head.time_offset;
	struct read_clock *clock = &process->clock;

	if (own == other || own > most || own < -most || other > most || other < -most)
		return;
	clock->ticks = own > other ? (uint64_t)(own - other) : 0;
	clock->mono = own < other ? (uint64_t)(other - own) : 0;
	if (process->head.first.ticks)
		process->head.first.mono = read_clock_time(clock, process->head.first.ticks);
}

/* Sets the clock of processes[first] and of all after it that share it. */
static void set_clock(struct read_folder *folder, unsigned first)
{
	struct read_process *process = folder->process[first];
	struct trace_pair *pair =
		read_memory_zeroed(&folder->damage, 2 * folder->processes + folder->pairs, sizeof(*pair));
	struct trace_pair line[2];
	uint64_t low = UINT64_MAX, high = 0;
	unsigned n = 0, longest = first;
	bool inside = true, fresh;

	if (!pair)
		return;
	for (unsigned i = first; i < folder->processes; i++) {
		if (!share_clock(process, folder->process[i]))
			continue;
		pair[n++] = folder->process[i]->head.first;
		pair[n++] = folder->process[i]->head.last;
		/* A process that did not end by exit() has events after its last pair. */
		inside &= (folder->process[i]->head.flags & TRACE_EXITED) != 0;
	}
	if (process->head.clock == TRACE_CLOCK_TSC)
		for (unsigned i = 0; i < folder->pairs; i++)
			pair[n++] = folder->pair[i];
	if (longest_span(folder, process, line, &longest) && process->head.clock == TRACE_CLOCK_TSC)
		n = read_clock_of_one_line(line, pair, n);
	else
		line[0].ticks = 0;
	for (unsigned i = 0; i < n; i++) {
		low = pair[i].mono && pair[i].mono < low ? pair[i].mono : low;
		high = pair[i].mono > high ? pair[i].mono : high;
	}
	fresh = high < low || high - low < (inside ? READ_CLOCK_INSIDE_NS : READ_CLOCK_SHORTEST_NS);
	fresh = fresh && read_clock_is_of_this_boot(process->head.boot_id);
	read_clock_setup(&process->clock, process->head.clock, pair, n, fresh);
	if (!process->clock.valid)
		read_process_damage(process, NULL, read_process_offset(process) + offsetof(struct trace_head, first),
			"the clock's pairs give no rate, so a tick is shown as 1 ns");
	else if (process->clock.ppm > READ_CLOCK_BAD_PPM)
		read_process_damage(process, NULL, read_process_offset(process) + offsetof(struct trace_head, first),
			"the clock's pairs give a rate that may be wrong by more than 1 %");
	for (unsigned i = first; i < folder->processes; i++)
		if (share_clock(process, folder->process[i])) {
			folder->process[i]->clock = process->clock;
			move_to_line(folder->process[i], line);
			if (process->head.clock == TRACE_CLOCK_MONOTONIC)
				move_by_offset(folder->process[i], folder->process[longest]);
		}
	free(pair);
}

/* Processes of one boot share the TSC, so each profits from the pairs of all, and all get the same rate. */
static void set_clocks(struct read_folder *folder)
{
	for (unsigned i = 0; i < folder->processes; i++)
		if (!folder->process[i]->clock.source)
			set_clock(folder, i);
}

/* ---- the folder ---- */

static int by_start(const void *a, const void *b)
{
	const struct read_process *x = *(struct read_process *const *)a, *y = *(struct read_process *const *)b;

	if (x->head.first.mono != y->head.first.mono)
		return x->head.first.mono < y->head.first.mono ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* ---- processes and their names ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct read_family *const *)a)->name, (*(struct read_family *const *)b)->name);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Goes through the places with heads, but for the first place, and returns the next one. */
static const struct read_family_place *next_child(const struct read_family *family, uint32_t *at)
{
	while (*at < family->places.count) {
		const struct read_family_place *place = &family->places.place[(*at)++];
		if (place->what == TRACE_PLACE_HEAD && place->place)
			return place;
	}
	return NULL;
}

/* The pids of all forked processes, sorted. */
static uint32_t *list_children(struct read_folder *folder, size_t *count)
{
	const struct read_family_place *child;
	uint32_t *pid = NULL;
	size_t n = 0;

	for (unsigned i = 0; i < folder->families; i++)
		for (uint32_t at = 0; (child = next_child(folder->family[i], &at)); n++) {
			if (!read_memory_grow(&folder->damage, &pid, n, sizeof(*pid)))
				break;
			pid[n] = child->number;
		}
	if (n)
		qsort(pid, n, sizeof(*pid), by_number);
	*count = n;
	return pid;
}

/* The name that people are shown for a forked process. pid: those of all forked processes. */
static char *name_child(struct read_folder *folder, const struct read_family *family,
	const struct read_family_place *child, const uint32_t *pid, size_t count)
{
	char name[16];
	const uint32_t *own = bsearch(&child->number, pid, count, sizeof(*pid), by_number);
	bool only = (own == pid || own[-1] != *own) && (own + 1 == pid + count || own[1] != *own);

	snprintf(name, sizeof(name), "p%" PRIu32, child->number);
	if (only && !read_files_has(&folder->names, name))
		return read_memory_text(&folder->damage, name, strlen(name));
	return read_memory_format(&folder->damage, "%s/%" PRIu32, family->name, child->place);
}

/* Adds a process; name, NULL if there was no memory, belongs to the folder from now on. */
static void take_process(struct read_folder *folder, struct read_family *family, uint32_t place, char *name)
{
	struct read_process *process = name ? read_process_at(family, place) : NULL;

	if (!process || process->name || !read_process_begin(process)) {
		free(name);
		return;
	}
	process->name = name;
	process->path = read_memory_format(&folder->damage, "%s/%s", folder->path, name);
	if (read_memory_grow(&folder->damage, &folder->process, folder->processes, sizeof(process)))
		folder->process[folder->processes++] = process;
}

/* Does wanted->name mean this process: is it its shown name, or "p<folder>/<place>", which is always right? */
static bool is_wanted(
	const struct read_wanted *wanted, const struct read_family *family, uint32_t place, const char *name)
{
	const char *of = wanted->name, *slash = of ? strrchr(of, '/') : NULL;
	char number[16];

	if (!of || !strcmp(of, name))
		return true;
	snprintf(number, sizeof(number), "%" PRIu32, place);
	size_t length = slash ? (size_t)(slash - of) : 0;
	return slash && length == strlen(family->name) && !strncmp(of, family->name, length) &&
	       !strcmp(slash + 1, number);
}

static void take_children(struct read_folder *folder, const struct read_wanted *wanted)
{
	size_t count;
	uint32_t *pid = list_children(folder, &count);
	const struct read_family_place *child;

	for (unsigned i = 0; i < folder->families && !folder->damage.no_memory; i++) {
		struct read_family *family = folder->family[i];
		for (uint32_t at = 0; (child = next_child(family, &at));) {
			if (wanted->pid && child->number != wanted->pid)
				continue;
			/* Reading other processes may move the places. */
			struct read_family_place copy = *child;
			char *name = name_child(folder, family, &copy, pid, count);
			if (name && is_wanted(wanted, family, copy.place, name))
				take_process(folder, family, copy.place, name);
			else
				free(name);
		}
	}
	free(pid);
}

static void close_family(struct read_family *family)
{
	for (uint32_t i = 0; i < family->processes; i++)
		read_process_close(family->process[i]);
	read_inherited_close(family);
	read_family_close(family);
}

/* itself: as of read_family_open(). */
static void add_family(struct read_folder *folder, const char *name, bool itself)
{
	struct read_family *family = read_family_open(&folder->files, &folder->damage, folder->path, name, itself);

	if (!family)
		return;
	family->folder = folder;
	if (!read_process_at(family, 0) ||
		!read_memory_grow(&folder->damage, &folder->family, folder->families, sizeof(family))) {
		close_family(family);
		return;
	}
	folder->family[folder->families++] = family;
}

/* Opens the folders. Returns whether there are any. */
static bool open_families(struct read_folder *folder, const struct read_wanted *wanted)
{
	struct read_list *list = read_files_list(&folder->files, ".");
	const char *name;
	bool any = false;

	folder->damage.no_memory |= !list && errno == ENOMEM;
	while (list && (name = read_list_next(list))) {
		if (!read_path_is_process(name, 0) || (wanted->folder && strcmp(name, wanted->folder)))
			continue;
		any = true;
		add_family(folder, name, false);
	}
	if (list)
		read_list_close(list);
	if (folder->families)
		qsort(folder->family, folder->families, sizeof(*folder->family), by_name);
	return any;
}

static void finish(struct read_folder *folder)
{
	if (!folder->processes)
		return;
	qsort(folder->process, folder->processes, sizeof(*folder->process), by_start);
	set_clocks(folder);
	/* That may have moved those of other time namespaces. */
	qsort(folder->process, folder->processes, sizeof(*folder->process), by_start);
}

/* Frees what was opened of it, and returns NULL; damage, if that is the reason, goes into the error. */
static struct read_folder *give_up(struct read_folder *folder, struct read_error *error)
{
	if (folder->damage.no_memory)
		error->why = READ_NO_MEMORY;
	error->damage = folder->damage;
	folder->damage = (struct read_damage){ 0 };
	read_folder_close(folder);
	return NULL;
}

/* Returns the folder, or NULL if memory ran out while it was opened. */
static struct read_folder *done(struct read_folder *folder, struct read_error *error)
{
	return folder->damage.no_memory ? give_up(folder, error) : folder;
}

/* The reason why no wanted process was found; any: there are other processes. */
static void find_why(struct read_folder *folder, const struct read_wanted *wanted, bool any, struct read_error *error)
{
	*error = (struct read_error){ .pid = wanted->pid };
	if (folder->damage.first) {
		error->why = READ_DAMAGED;
	} else if (any && wanted->pid) {
		error->why = READ_NO_PID;
	} else if (any && wanted->name) {
		error->why = READ_NO_NAME;
		error->name = read_memory_text(&folder->damage, wanted->name, strlen(wanted->name));
		error->folder = read_memory_text(&folder->damage, folder->path, strlen(folder->path));
	} else {
		error->why = READ_NO_TRACE;
	}
}

static struct read_folder *new_folder(struct read_error *error)
{
	struct read_folder *folder = calloc(1, sizeof(*folder));

	*error = (struct read_error){ .why = folder ? READ_NOTHING_WRONG : READ_NO_MEMORY };
	if (folder)
		folder->files.at = folder->names.at = -1;
	return folder;
}

/* Opens all that is wanted in an open folder. Returns whether there were processes. */
static bool take_wanted(struct read_folder *folder, const struct read_wanted *wanted)
{
	bool any;

	read_record_file(folder);
	any = open_families(folder, wanted);
	for (unsigned i = 0; i < folder->families; i++) {
		const char *name = folder->family[i]->name;
		if (read_path_is_process(name, wanted->pid) && is_wanted(wanted, folder->family[i], 0, name))
			take_process(folder, folder->family[i], 0,
				read_memory_text(&folder->damage, name, strlen(name)));
	}
	if (!wanted->folder)
		take_children(folder, wanted);
	return any;
}

/*
 * Opens what the names of files are relative to. wanted: as read_path_find() left it. Returns false if it can't be
 * opened, and tells why.
 */
static bool open_root(struct read_folder *folder, struct read_wanted *wanted, struct read_error *error)
{
	const char *why = NULL;

	if (folder->damage.no_memory)
		goto bad;
	if (wanted->pack < 0) {
		folder->files.at = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		*error = (struct read_error){ .why = READ_NO_FOLDER, .number = errno };
		/* It may be a packed trace, but of another user. */
		if (folder->files.at < 0 && errno == ENOTDIR &&
			faccessat(AT_FDCWD, folder->path, R_OK, AT_EACCESS) && errno == EACCES)
			error->number = EACCES;
		folder->names.at = folder->files.at;
		return folder->files.at >= 0;
	}
	folder->files.pack = pack_open(wanted->pack, folder->path, &folder->damage, &why);
	folder->names.pack = folder->files.pack;
	if (folder->files.pack) {
		char *meta = wanted->name ? read_memory_format(&folder->damage, "%s/meta", wanted->name) : NULL;
		if (meta && read_files_has(&folder->files, meta)) {
			wanted->folder = wanted->name;
			wanted->name = NULL;
		}
		free(meta);
		return true;
	}
	if (why) {
		read_damage_add(&folder->damage, folder->path, NULL, READ_DAMAGE_NOWHERE, why);
		*error = (struct read_error){ .why = READ_DAMAGED };
	}
bad:
	if (wanted->pack >= 0)
		close(wanted->pack);
	return false;
}

struct read_folder *read_folder_open(const char *path, uint32_t pid, struct read_error *error)
{
	struct read_wanted wanted = { .pid = pid, .pack = -1 };
	struct read_folder *folder = new_folder(error);

	if (!folder)
		return NULL;
	read_path_find(&wanted, &folder->damage, path);
	folder->path = wanted.path ? wanted.path : read_memory_text(&folder->damage, path, strlen(path));
	if (!open_root(folder, &wanted, error)) {
		folder = give_up(folder, error);
	} else {
		bool any = take_wanted(folder, &wanted);
		if (folder->processes)
			finish(folder);
		else
			find_why(folder, &wanted, any, error);
		folder = folder->processes ? done(folder, error) : give_up(folder, error);
	}
	free(wanted.buffer);
	return folder;
}

bool read_folder_may_be_process(const char *path)
{
	struct read_damage damage = { 0 };
	struct read_wanted wanted = { .pack = -1 };

	if (read_path_is_folder(path))
		return false;
	read_path_find(&wanted, &damage, path);
	if (wanted.pack >= 0)
		close(wanted.pack);
	bool may = wanted.path != NULL || damage.no_memory;
	free(wanted.path);
	free(wanted.buffer);
	return may;
}

/* A child gets the name that is always right. */
static void take_one(struct read_folder *folder, struct read_family *family, uint32_t place)
{
	uint32_t count;

	if (!place)
		take_process(
			folder, family, 0, read_memory_text(&folder->damage, family->name, strlen(family->name)));
	else if (read_family_of_process(family, place, TRACE_PLACE_HEAD, &count))
		take_process(folder, family, place,
			read_memory_format(&folder->damage, "%s/%" PRIu32, family->name, place));
}

/* Opens the folder of one process; without processes if it is no such folder. NULL: there is no memory. */
static struct read_folder *open_one(const char *path, struct read_error *error)
{
	struct read_folder *folder = new_folder(error);
	const char *name;

	if (!folder)
		return NULL;
	folder->path = read_path_apart(&folder->damage, path, &name);
	if (folder->path)
		folder->files.at = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder->names.at = folder->files.at;
	if (folder->files.at >= 0)
		add_family(folder, name, false);
	return folder;
}

struct read_folder *read_folder_open_process(const char *path, uint32_t place, struct read_error *error)
{
	struct read_folder *folder;

	/* To find the name of a forked process, all processes are needed. */
	if (read_folder_may_be_process(path))
		return read_folder_open(path, 0, error);
	folder = open_one(path, error);
	if (!folder)
		return NULL;
	if (folder->families)
		take_one(folder, folder->family[0], place);
	if (folder->processes) {
		finish(folder);
		return done(folder, error);
	}
	error->why = READ_NO_PROCESS;
	return give_up(folder, error);
}

struct read_folder *read_folder_open_family(int trace, int family, const char *path, struct read_error *error)
{
	struct read_folder *folder = new_folder(error);
	const char *name;

	if (!folder)
		return NULL;
	folder->names.at = trace;
	folder->path = read_path_apart(&folder->damage, path, &name);
	if (folder->path)
		folder->files.at = fcntl(family, F_DUPFD_CLOEXEC, 0);
	if (folder->files.at >= 0)
		add_family(folder, name, true);
	if (folder->families) {
		take_one(folder, folder->family[0], 0);
		take_children(folder, &(struct read_wanted){ .pack = -1 });
	}
	if (folder->processes)
		return done(folder, error);
	error->why = READ_NO_PROCESS;
	return give_up(folder, error);
}

void read_folder_close(struct read_folder *folder)
{
	for (unsigned i = 0; i < folder->families; i++)
		close_family(folder->family[i]);
	free(folder->family);
	free(folder->process);
	free(folder->version);
	free(folder->command);
	free(folder->status);
	read_damage_free(&folder->damage);
	free(folder->path);
	pack_close(folder->files.pack);
	if (folder->files.at >= 0)
		close(folder->files.at);
	free(folder);
}
