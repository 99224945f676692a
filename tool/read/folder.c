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

#include "tool/memory.h"
#include "tool/read/base.h"

/* ---- clocks ---- */

static bool share_clock(const struct read_process *a, const struct read_process *b)
{
	return a->head.clock == b->head.clock && !strcmp(a->head.boot_id, b->head.boot_id);
}

/* The clock of processes[first] and of all behind it that share it. */
static void set_clock(struct read_folder *folder, unsigned first)
{
	struct read_process *process = folder->process[first];
	struct trace_pair *pair = memory_zeroed(2 * folder->processes + folder->pairs, sizeof(*pair));
	uint64_t low = UINT64_MAX, high = 0;
	unsigned n = 0;
	bool fresh = false;

	for (unsigned i = first; i < folder->processes; i++) {
		if (!share_clock(process, folder->process[i]))
			continue;
		pair[n++] = folder->process[i]->head.first;
		pair[n++] = folder->process[i]->head.last;
		/* A process that did not come to its end has events behind its last pair. */
		fresh |= !(folder->process[i]->head.flags & TRACE_EXITED);
	}
	if (process->head.clock == TRACE_CLOCK_TSC)
		for (unsigned i = 0; i < folder->pairs; i++)
			pair[n++] = folder->pair[i];
	for (unsigned i = 0; i < n; i++) {
		low = pair[i].mono && pair[i].mono < low ? pair[i].mono : low;
		high = pair[i].mono > high ? pair[i].mono : high;
	}
	fresh |= high < low || high - low < CLOCK_SHORTEST_NS;
	fresh = fresh && read_clock_is_of_this_boot(process->head.boot_id);
	read_clock_setup(&process->clock, process->head.clock, pair, n, fresh);
	if (!process->clock.valid)
		read_process_damage(process, NULL, read_process_offset(process) + offsetof(struct trace_head, first),
			"the clock's pairs give no rate, so a tick is shown as 1 ns");
	for (unsigned i = first + 1; i < folder->processes; i++)
		if (share_clock(process, folder->process[i]))
			folder->process[i]->clock = process->clock;
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

static void read_record(struct read_folder *folder)
{
	const char *why;
	int fd = read_files_open(&folder->files, "record", &why);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return; /* LD_AUDIT=libxaudit.so without the command makes none */
	}
	folder->record = true;
	while ((n = getline(&line, &size, file)) > 0) {
		struct trace_pair pair;
		char **text = NULL, *value = strchr(line, ':');

		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (!value)
			continue;
		*value++ = '\0';
		value += strspn(value, " \t");
		if (!strcmp(line, "version"))
			text = &folder->version;
		else if (!strcmp(line, "command"))
			text = &folder->command;
		else if (!strcmp(line, "status"))
			text = &folder->status;
		else if (!strcmp(line, "clock") && folder->pairs < sizeof(folder->pair) / sizeof(*folder->pair) &&
			sscanf(value, "%" SCNu64 " %" SCNu64 " %" SCNu64, &pair.ticks, &pair.mono, &pair.real) == 3)
			folder->pair[folder->pairs++] = pair;
		if (text && !*text)
			*text = memory_text(value, strlen(value));
	}
	free(line);
	fclose(file);
}

static int by_start(const void *a, const void *b)
{
	const struct read_process *x = *(struct read_process *const *)a, *y = *(struct read_process *const *)b;

	if (x->head.first.mono != y->head.first.mono)
		return x->head.first.mono < y->head.first.mono ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* p<pid> or p<pid>.<n> */
static bool is_process(const char *name, uint32_t pid)
{
	char *end;

	if (name[0] != 'p' || !isdigit((unsigned char)name[1]))
		return false;
	unsigned long number = strtoul(name + 1, &end, 10);
	if (*end == '.' && isdigit((unsigned char)end[1]))
		strtoul(end + 1, &end, 10);
	return !*end && (!pid || number == pid);
}

/* The folder that a path lies in, and its last name behind a NUL; to be freed, as one. */
static char *take_apart(const char *path, const char **name)
{
	char *own = memory_text(path, strlen(path)), *slash;

	for (size_t n = strlen(own); n > 1 && own[n - 1] == '/'; n--)
		own[n - 1] = '\0';
	slash = strrchr(own, '/');
	if (slash && slash != own) {
		*slash = '\0';
		*name = slash + 1;
		return own;
	}
	char *both = memory_format("%s%c%s", slash ? "/" : ".", 0, slash ? own + 1 : own);
	*name = both + strlen(both) + 1;
	free(own);
	return both;
}

/* What of a trace folder is to be opened. */
struct wanted {
	const char *folder; /* that one alone: of its first process; NULL: all */
	const char *name;   /* what people call it; NULL: all */
	uint32_t pid;	    /* 0: all */
	char *path;	    /* of the trace folder; NULL: as it was named. To be freed; with `buffer` */
	char *buffer;
};

static bool is_folder(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool has_meta(const char *path)
{
	char *meta = memory_format("%s/meta", path);
	struct stat s;
	bool has = stat(meta, &s) == 0;

	free(meta);
	return has;
}

/* Where the path names one process: DIR/p<pid>[.<n>], a folder or not, or DIR/p<pid>[.<n>]/<place>. */
static void find_wanted(struct wanted *wanted, const char *path)
{
	const char *name, *folder;
	char *parent = NULL, *real;

	if (has_meta(path)) {
		parent = take_apart(path, &name);
		/* Perhaps ".", or a link. */
		if (!is_process(name, 0) && (real = realpath(path, NULL))) {
			free(parent);
			parent = take_apart(real, &name);
			free(real);
		}
		if (is_process(name, 0)) {
			wanted->path = parent;
			wanted->folder = name;
			return;
		}
	} else if (!is_folder(path)) {
		parent = take_apart(path, &name);
		if (is_process(name, 0) && is_folder(parent)) {
			wanted->path = parent;
			wanted->name = name;
			return;
		}
		if (*name && !name[strspn(name, "0123456789")] && has_meta(parent)) {
			char *trace = take_apart(parent, &folder);
			wanted->buffer = memory_format("%s/%s", folder, name);
			wanted->name = wanted->buffer;
			wanted->path = trace;
		}
	}
	free(parent);
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

/* Places with heads but the first, of which the next one is returned. */
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
static uint32_t *list_children(const struct read_folder *folder, size_t *count)
{
	const struct read_family_place *child;
	uint32_t *pid = NULL;
	size_t n = 0;

	for (unsigned i = 0; i < folder->families; i++)
		for (uint32_t at = 0; (child = next_child(folder->family[i], &at)); n++) {
			if (!(n & (n + 1)))
				pid = memory_resize(pid, 2 * n + 2, sizeof(*pid));
			pid[n] = child->number;
		}
	if (n)
		qsort(pid, n, sizeof(*pid), by_number);
	*count = n;
	return pid;
}

/* How people call a forked process. pid: of all there are. */
static char *name_child(const struct read_folder *folder, const struct read_family *family,
	const struct read_family_place *child, const uint32_t *pid, size_t count)
{
	char *name = memory_format("p%" PRIu32, child->number);
	struct stat s;
	const uint32_t *own = bsearch(&child->number, pid, count, sizeof(*pid), by_number);
	bool only = (own == pid || own[-1] != *own) && (own + 1 == pid + count || own[1] != *own);

	if (only && fstatat(folder->files.at, name, &s, AT_SYMLINK_NOFOLLOW))
		return name;
	free(name);
	return memory_format("%s/%" PRIu32, family->name, child->place);
}

/* Takes a process; its name becomes the folder's. */
static void take_process(struct read_folder *folder, struct read_family *family, uint32_t place, char *name)
{
	struct read_process *process = read_process_at(family, place);

	if (!process || process->name || !read_process_begin(process)) {
		free(name);
		return;
	}
	process->name = name;
	process->path = memory_format("%s/%s", folder->path, name);
	if (!(folder->processes & (folder->processes + 1)))
		folder->process = memory_resize(
			folder->process, 2 * (size_t)folder->processes + 2, sizeof(*folder->process));
	folder->process[folder->processes++] = process;
}

static void take_children(struct read_folder *folder, const struct wanted *wanted)
{
	size_t count;
	uint32_t *pid = list_children(folder, &count);
	const struct read_family_place *child;

	for (unsigned i = 0; i < folder->families; i++) {
		struct read_family *family = folder->family[i];
		for (uint32_t at = 0; (child = next_child(family, &at));) {
			if (wanted->pid && child->number != wanted->pid)
				continue;
			/* What is read of others may move the places. */
			struct read_family_place copy = *child;
			char *name = name_child(folder, family, &copy, pid, count);
			char *other = memory_format("%s/%" PRIu32, family->name, copy.place);
			bool take = !wanted->name || !strcmp(wanted->name, name) || !strcmp(wanted->name, other);
			free(other);
			if (take)
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
	read_base_close(family);
	read_family_close(family);
}

static void add_family(struct read_folder *folder, const char *name)
{
	struct read_family *family = read_family_open(&folder->files, &folder->damage, folder->path, name);

	if (!family)
		return;
	family->folder = folder;
	if (!read_process_at(family, 0)) {
		close_family(family);
		return;
	}
	if (!(folder->families & (folder->families + 1)))
		folder->family =
			memory_resize(folder->family, 2 * (size_t)folder->families + 2, sizeof(*folder->family));
	folder->family[folder->families++] = family;
}

/* Opens the folders. Returns whether there are any. */
static bool open_families(struct read_folder *folder, const struct wanted *wanted)
{
	int fd = openat(folder->files.at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	bool any = false;

	while (dir && (entry = readdir(dir))) {
		if (!is_process(entry->d_name, 0) || (wanted->folder && strcmp(entry->d_name, wanted->folder)))
			continue;
		any = true;
		add_family(folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (folder->families)
		qsort(folder->family, folder->families, sizeof(*folder->family), by_name);
	return any;
}

static void finish(struct read_folder *folder)
{
	if (folder->processes)
		qsort(folder->process, folder->processes, sizeof(*folder->process), by_start);
	set_clocks(folder);
}

/* Frees what was opened of it. Returns NULL, with what was wrong with it where that is the reason. */
static struct read_folder *give_up(struct read_folder *folder, struct read_error *error)
{
	error->damage = folder->damage;
	folder->damage = (struct read_damage){ 0 };
	read_folder_close(folder);
	return NULL;
}

/* Why there is no process that was wanted; any: there are others. */
static void find_why(const struct read_folder *folder, const struct wanted *wanted, bool any, struct read_error *error)
{
	*error = (struct read_error){ .pid = wanted->pid };
	if (folder->damage.first) {
		error->why = READ_DAMAGED;
	} else if (any && wanted->pid) {
		error->why = READ_NO_PID;
	} else if (any && wanted->name) {
		error->why = READ_NO_NAME;
		error->name = memory_text(wanted->name, strlen(wanted->name));
		error->folder = memory_text(folder->path, strlen(folder->path));
	} else {
		error->why = READ_NO_TRACE;
	}
}

struct read_folder *read_folder_open(const char *path, uint32_t pid, struct read_error *error)
{
	struct wanted wanted = { .pid = pid };
	struct read_folder *folder;
	int fd;

	*error = (struct read_error){ 0 };
	find_wanted(&wanted, path);
	fd = open(wanted.path ? wanted.path : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		*error = (struct read_error){ .why = READ_NO_FOLDER, .number = errno };
		free(wanted.path);
		free(wanted.buffer);
		return NULL;
	}
	folder = memory_zeroed(1, sizeof(*folder));
	folder->path = wanted.path ? wanted.path : path;
	folder->own_path = wanted.path;
	folder->files.at = fd;
	read_record(folder);
	bool any = open_families(folder, &wanted);
	for (unsigned i = 0; i < folder->families; i++) {
		const char *name = folder->family[i]->name;
		char *other = memory_format("%s/0", name);
		if (is_process(name, pid) &&
			(!wanted.name || !strcmp(wanted.name, name) || !strcmp(wanted.name, other)))
			take_process(folder, folder->family[i], 0, memory_text(name, strlen(name)));
		free(other);
	}
	if (!wanted.folder)
		take_children(folder, &wanted);
	if (folder->processes) {
		finish(folder);
	} else {
		find_why(folder, &wanted, any, error);
		folder = give_up(folder, error);
	}
	free(wanted.buffer);
	return folder;
}

bool read_folder_may_be_process(const char *path)
{
	struct wanted wanted = { 0 };

	if (is_folder(path))
		return false;
	find_wanted(&wanted, path);
	bool may = wanted.path != NULL;
	free(wanted.path);
	free(wanted.buffer);
	return may;
}

/* A child has the name that is always right. */
static void take_one(struct read_folder *folder, struct read_family *family, uint32_t place)
{
	uint32_t count;

	if (!place)
		take_process(folder, family, 0, memory_text(family->name, strlen(family->name)));
	else if (read_family_of_process(family, place, TRACE_PLACE_HEAD, &count))
		take_process(folder, family, place, memory_format("%s/%" PRIu32, family->name, place));
}

/* Opens the folder of one process, or of a family; it has none where it is none. */
static struct read_folder *open_one(const char *path)
{
	struct read_folder *folder = memory_zeroed(1, sizeof(*folder));
	const char *name;

	folder->path = folder->own_path = take_apart(path, &name);
	folder->files.at = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->files.at >= 0)
		add_family(folder, name);
	return folder;
}

struct read_folder *read_folder_open_process(const char *path, uint32_t place, struct read_error *error)
{
	struct read_folder *folder;

	/* A name of a forked process is found among all. */
	if (read_folder_may_be_process(path))
		return read_folder_open(path, 0, error);
	*error = (struct read_error){ 0 };
	folder = open_one(path);
	if (folder->families)
		take_one(folder, folder->family[0], place);
	if (folder->processes) {
		finish(folder);
		return folder;
	}
	error->why = READ_NO_PROCESS;
	return give_up(folder, error);
}

struct read_folder *read_folder_open_family(const char *path, struct read_error *error)
{
	struct read_folder *folder = open_one(path);

	*error = (struct read_error){ 0 };
	if (folder->families) {
		take_one(folder, folder->family[0], 0);
		take_children(folder, &(struct wanted){ 0 });
	}
	if (folder->processes)
		return folder;
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
	free(folder->own_path);
	if (folder->files.at >= 0)
		close(folder->files.at);
	free(folder);
}
