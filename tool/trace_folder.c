/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/trace_folder.h"

#include <ctype.h> /* isdigit */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>	  /* stat */
#include <sys/stat.h>
#include <unistd.h>	  /* pread */

#include "tool/memory.h"
#include "tool/tool.h"
#include "tool/trace_file.h"

void damage_add(struct damage *damage, const char *dir, const char *name, uint64_t offset, const char *what)
{
	if (damage->first) {
		damage->more++;
		return;
	}
	char *at = offset == DAMAGE_NOWHERE ? memory_text("", 0) : memory_format(": offset %" PRIu64, offset);
	damage->first = memory_format("%s%s%s%s: %s", dir, name ? "/" : "", name ? name : "", at, what);
	free(at);
}

int damage_report(const struct damage *damage)
{
	if (!damage->first)
		return TOOL_OK;
	if (damage->more)
		tool_error(NULL, "%s, and %" PRIu64 " more; the rest of the trace was read", damage->first, damage->more);
	else
		tool_error(NULL, "%s; the rest of the trace was read", damage->first);
	return TOOL_FAILED;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- heads ---- */

/* `last` is rewritten while the process runs: read until it held still. A writer that was killed in the middle of it has
 * left an odd count for ever; then the pair is worth nothing. */
bool process_read_head(struct process *process)
{
	struct trace_head *head = &process->head;

	for (int try = 0; try < 1000; try++) {
		struct trace_head again;
		if (file_read(process->meta, head, sizeof(*head), 0, NULL) != sizeof(*head))
			return false;
		if (head->last_seq & 1)
			continue;
		if (file_read(process->meta, &again, sizeof(again), 0, NULL) != sizeof(again))
			return false;
		if (again.last_seq == head->last_seq && !memcmp(&again.last, &head->last, sizeof(again.last)))
			return true;
	}
	memset(&head->last, 0, sizeof(head->last));
	return true;
}

static const char *check_head(struct process *process)
{
	struct trace_head *head = &process->head;

	head->boot_id[sizeof(head->boot_id) - 1] = '\0';
	if (memcmp(head->magic, TRACE_MAGIC, sizeof(head->magic)))
		return "this is not the meta file of a trace";
	if (!TRACE_READS(head->version))
		return "the trace has another version than this xaudit reads";
	if (head->clock != TRACE_CLOCK_TSC && head->clock != TRACE_CLOCK_MONOTONIC)
		return "the head names an unknown clock";
	if (head->head_size < sizeof(*head) || head->head_size % 8)
		return "the head has an impossible size";
	if (head->chunk_size < TRACE_CHUNK_MIN || head->chunk_size > TRACE_CHUNK_MAX || head->chunk_size % 4096)
		return "the head has an impossible chunk size";
	if (head->ring_chunk && (head->ring_chunk < 4096 || head->ring_chunk > TRACE_CHUNK_MAX || head->ring_chunk % 4096))
		return "the head has an impossible chunk size of the flight recorder";
	return NULL;
}

/* Takes note of a file t<n>, r<n> or c<n>. */
static void note_file(struct process *process, const char *name)
{
	static const char kinds[] = "trc";
	const char *kind = *name ? strchr(kinds, *name) : NULL;
	char *end;

	if (!kind || !isdigit((unsigned char)name[1]))
		return;
	unsigned long n = strtoul(name + 1, &end, 10);
	if (*end || n >= 1u << 24)
		return;
	if (n >= process->threads) {
		process->files = memory_resize(process->files, n + 1, 1);
		memset(process->files + process->threads, 0, n + 1 - process->threads);
		process->threads = (unsigned)n + 1;
	}
	process->files[n] |= (uint8_t)(1u << (kind - kinds));
}

bool process_list_files(struct process *process)
{
	DIR *dir = file_list(process->folder->fd, process->name);
	struct dirent *entry;

	if (!dir)
		return false;
	while ((entry = readdir(dir)))
		note_file(process, entry->d_name);
	closedir(dir);
	return true;
}

/*
 * A process that came to its end has a file of each thread record; of version 2, unless its thread was about to make it,
 * for which nothing waits.
 */
static void find_missing(struct process *process)
{
	char file[16];

	if (!(process->head.flags & TRACE_EXITED) || process->head.version > 1)
		return;
	for (unsigned n = 0; n < process->head.threads; n++) {
		if (n < process->threads && process->files[n])
			continue;
		snprintf(file, sizeof(file), "t%u", n);
		damage_add(&process->folder->damage, process->path, file, DAMAGE_NOWHERE, strerror(ENOENT));
		if (n >= process->threads)
			return; /* all behind it, too */
	}
}

static void close_process(struct process *process)
{
	process_unload(process);
	file_close(process->meta);
	free(process->name);
	free(process->path);
	free(process->files);
	free(process);
}

/* NULL: nothing that could be read. */
static struct process *open_process(struct folder *folder, const char *name)
{
	struct process *process = memory_zeroed(1, sizeof(*process));
	const char *wrong;

	process->folder = folder;
	process->name = memory_text(name, strlen(name));
	process->path = memory_format("%s/%s", folder->path, name);
	if (!process_list_files(process)) {
		damage_add(&folder->damage, process->path, NULL, DAMAGE_NOWHERE, strerror(errno));
		goto bad;
	}
	process->meta = file_open(folder->fd, name, "meta", NULL, &wrong);
	if (!process->meta) {
		/* Killed before it began, or about to begin. */
		if (wrong || process->threads)
			damage_add(&folder->damage, process->path, "meta", DAMAGE_NOWHERE,
				wrong ? wrong : strerror(ENOENT));
		goto bad;
	}
	if (!process_read_head(process)) {
		if (process->threads || file_size(process->meta))
			damage_add(&folder->damage, process->path, "meta", 0, "the file ends within its head");
		goto bad;
	}
	static const uint8_t nothing[sizeof(process->head.magic)];
	if (!process->threads && !process->head.used && !memcmp(process->head.magic, nothing, sizeof(nothing)))
		goto bad;
	wrong = check_head(process);
	if (wrong) {
		damage_add(&folder->damage, process->path, "meta", 0, wrong);
		goto bad;
	}
	find_missing(process);
	return process;
bad:
	close_process(process);
	return NULL;
}

/* ---- clocks ---- */

bool trace_is_of_this_boot(const char *boot_id)
{
	char now[sizeof(((struct trace_head *)0)->boot_id)] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t n = read(fd, now, sizeof(now) - 1);
	close(fd);
	if (n <= 0)
		return false;
	now[strcspn(now, "\n")] = '\0';
	return *boot_id && !strncmp(now, boot_id, strcspn(boot_id, "\n"));
}

static bool share_clock(const struct process *a, const struct process *b)
{
	return a->head.clock == b->head.clock && !strcmp(a->head.boot_id, b->head.boot_id);
}

/* The clock of processes[first] and of all behind it that share it. */
static void set_clock(struct folder *folder, unsigned first)
{
	struct process *process = folder->process[first];
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
	fresh = fresh && trace_is_of_this_boot(process->head.boot_id);
	clock_setup(&process->clock, process->head.clock, pair, n, fresh);
	if (!process->clock.valid)
		damage_add(&folder->damage, process->path, "meta", offsetof(struct trace_head, first),
			"the clock's pairs give no rate, so a tick is shown as 1 ns");
	for (unsigned i = first + 1; i < folder->processes; i++)
		if (share_clock(process, folder->process[i]))
			folder->process[i]->clock = process->clock;
	free(pair);
}

/* Processes of one boot share the TSC, so each profits from the pairs of all, and all get the same rate. */
static void set_clocks(struct folder *folder)
{
	for (unsigned i = 0; i < folder->processes; i++)
		if (!folder->process[i]->clock.source)
			set_clock(folder, i);
}

/* ---- the folder ---- */

static void read_record(struct folder *folder)
{
	const char *why;
	int fd = trace_open_file(folder->fd, "record", &why);
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
	const struct process *x = *(struct process *const *)a, *y = *(struct process *const *)b;

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

/* Where the path leads to the folder of one process: the trace folder, and that name; as take_apart(). NULL: it does
 * not. */
static char *find_process_folder(const char *path, const char **name)
{
	char *meta = memory_format("%s/meta", path), *real = NULL, *parent = NULL;
	struct stat s;

	if (stat(meta, &s) == 0) {
		parent = take_apart(path, name);
		/* Perhaps ".", or a link. */
		if (!is_process(*name, 0) && (real = realpath(path, NULL))) {
			free(parent);
			parent = take_apart(real, name);
		}
		if (!is_process(*name, 0)) {
			free(parent);
			parent = NULL;
		}
	}
	free(real);
	free(meta);
	return parent;
}

struct folder *folder_open(const char *path, uint32_t pid)
{
	struct folder *folder;
	struct dirent *entry;
	const char *only = NULL;
	char *parent = find_process_folder(path, &only);
	bool any = false;
	int fd = open(parent ? parent : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir;

	if (fd < 0) {
		tool_error(NULL, "can't open the trace %s: %s; %s", path, strerror(errno),
			errno == EACCES ? "only the user who made it, and root, can read it"
					: "`xaudit record COMMAND` makes one");
		free(parent);
		return NULL;
	}
	folder = memory_zeroed(1, sizeof(*folder));
	folder->path = parent ? parent : path;
	folder->own_path = parent;
	folder->fd = fd;
	read_record(folder);
	fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	while (dir && (entry = readdir(dir))) {
		struct process *process;

		if (!is_process(entry->d_name, 0) || (only && strcmp(entry->d_name, only)))
			continue;
		any = true;
		if (!is_process(entry->d_name, pid) || !(process = open_process(folder, entry->d_name)))
			continue;
		folder->process = memory_resize(folder->process, folder->processes + 1, sizeof(*folder->process));
		folder->process[folder->processes++] = process;
	}
	if (dir)
		closedir(dir);
	if (!folder->processes) {
		if (folder->damage.first)
			damage_report(&folder->damage);
		else if (any && pid)
			tool_error(NULL, "no process %" PRIu32 " in %s; `xaudit info` lists them", pid, path);
		else
			tool_error(NULL, "no traced process in %s; is it a folder that `xaudit record` made?", path);
		folder_close(folder);
		return NULL;
	}
	qsort(folder->process, folder->processes, sizeof(*folder->process), by_start);
	set_clocks(folder);
	return folder;
}

struct folder *folder_open_process(const char *command, const char *path)
{
	struct folder *folder = memory_zeroed(1, sizeof(*folder));
	const char *name;
	struct process *process = NULL;

	folder->path = folder->own_path = take_apart(path, &name);
	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd >= 0)
		process = open_process(folder, name);
	if (!process) {
		tool_error(command, "%s: %s", path, folder->fd < 0 || !folder->damage.first ? "there is no trace of a process" :
			folder->damage.first);
		folder_close(folder);
		return NULL;
	}
	folder->process = memory_resize(NULL, 1, sizeof(*folder->process));
	folder->process[folder->processes++] = process;
	set_clocks(folder);
	return folder;
}

void folder_close(struct folder *folder)
{
	for (unsigned i = 0; i < folder->processes; i++)
		close_process(folder->process[i]);
	free(folder->process);
	free(folder->version);
	free(folder->command);
	free(folder->status);
	free(folder->damage.first);
	free(folder->own_path);
	if (folder->fd >= 0)
		close(folder->fd);
	free(folder);
}
