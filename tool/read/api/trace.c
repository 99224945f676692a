/* SPDX-License-Identifier: MIT */
#include "tool/read/api/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tool/read/api/api.h"
#include "tool/read/api/facts.h"
#include "tool/read/api/frames.h"
#include "tool/read/api/functions.h"
#include "tool/read/api/probes.h"
#include "tool/read/api/threads.h"
#include "tool/read/damage/memory.h"
#include "tool/read/sched/sched.h"

/* ---- errors ---- */

void read_api_error(struct xaudit_read_error *error, enum xaudit_read_why why, const char *text)
{
	if (!error)
		return;
	*error = (struct xaudit_read_error){ .why = (int)why, .offset = XAUDIT_READ_UNKNOWN };
	snprintf(error->text, sizeof(error->text), "%s", text);
}

static void set_file(struct xaudit_read_error *error, const char *file)
{
	size_t length = strlen(file), most = sizeof(error->file) - 1;

	snprintf(error->file, sizeof(error->file), "%s", length > most ? file + length - most : file);
}

static void say_damage(struct xaudit_read_error *error, const struct read_damage *damage)
{
	read_api_error(error, XAUDIT_READ_DAMAGED, damage->first ? damage->first : "the trace is damaged");
	if (!error || !damage->file)
		return;
	error->more = damage->more;
	set_file(error, damage->file);
	error->offset = damage->offset == READ_DAMAGE_NOWHERE ? XAUDIT_READ_UNKNOWN : damage->offset;
}

/* Why nothing could be opened. */
static void say(struct xaudit_read_error *error, const char *path, const struct read_error *from)
{
	if (!error)
		return;
	read_api_error(error, XAUDIT_READ_NO_TRACE, "");
	switch (from->why) {
	case READ_NO_FOLDER:
		if (from->number == ENOTDIR) {
			snprintf(error->text, sizeof(error->text),
				"%s is no trace: neither a folder that `xaudit record` made, nor a file of "
				"`xaudit pack`",
				path);
			break;
		}
		error->why = XAUDIT_READ_NO_FILE;
		error->number = from->number;
		snprintf(error->text, sizeof(error->text), "can't open the trace %s: %s; %s", path,
			strerror(from->number),
			from->number == EACCES ? "only the user who made it, and root, can read it"
					       : "`xaudit record COMMAND` makes one");
		break;
	case READ_NO_PROCESS:
		snprintf(error->text, sizeof(error->text), "%s: %s", path,
			from->damage.first ? from->damage.first : "there is no trace of a process");
		break;
	case READ_NO_TRACE:
		snprintf(error->text, sizeof(error->text),
			"no traced process in %s; is it a folder that `xaudit record` made?", path);
		break;
	case READ_NO_PID:
		error->why = XAUDIT_READ_NO_PROCESS;
		snprintf(error->text, sizeof(error->text), "no process %" PRIu32 " in %s; `xaudit info` lists them",
			from->pid, path);
		break;
	case READ_NO_NAME:
		error->why = XAUDIT_READ_NO_PROCESS;
		snprintf(error->text, sizeof(error->text), "no process %s in %s; `xaudit info` lists them",
			from->name ? from->name : "", from->folder ? from->folder : path);
		break;
	case READ_DAMAGED:
		say_damage(error, &from->damage);
		return;
	case READ_NO_MEMORY:
	case READ_NOTHING_WRONG:
		read_api_error(error, XAUDIT_READ_NO_MEMORY, "out of memory");
		break;
	}
	set_file(error, path);
}

uint64_t xaudit_read_damage(const struct xaudit_read_trace *trace, struct xaudit_read_error *first)
{
	const struct read_damage *damage = &trace->folder->damage;

	if (damage->no_memory)
		read_api_error(first, XAUDIT_READ_NO_MEMORY, "out of memory");
	else if (damage->first)
		say_damage(first, damage);
	else
		read_api_error(first, XAUDIT_READ_OK, "");
	return damage->first ? damage->more + 1 : 0;
}

/* ---- traces ---- */

const char *xaudit_read_version(void)
{
	return PACKAGE_VERSION;
}

static void fill_in(struct xaudit_read_trace *trace)
{
	struct read_folder *folder = trace->folder;
	struct sched_head sched;
	struct xaudit_read_trace_info *info = &trace->info;

	*info = (struct xaudit_read_trace_info){
		.path = folder->path,
		.version = folder->version,
		.command = folder->command,
		.status = folder->status,
		.start = folder->process[0]->head.first.mono,
		.start_real = folder->process[0]->head.first.real,
		.packed = folder->files.pack != NULL,
		.processes = folder->processes,
		.sched = read_sched_peek(folder, &sched) && sched.holds == SCHED_SWITCHES,
	};
	for (uint32_t i = 0; i < folder->processes; i++) {
		if (folder->process[i]->head.coarse > (uint32_t)info->coarse)
			info->coarse = (int)folder->process[i]->head.coarse;
		trace->process[i] = (struct xaudit_read_process){
			.trace = trace,
			.read = folder->process[i],
			.number = i,
		};
	}
}

/* The trace of a folder, which belongs to it; folder NULL: why tells. */
static struct xaudit_read_trace *finish(
	struct read_folder *folder, const char *path, struct read_error *why, struct xaudit_read_error *error)
{
	struct xaudit_read_trace *trace = folder ? calloc(1, sizeof(*trace)) : NULL;

	if (trace)
		trace->process = calloc(folder->processes, sizeof(*trace->process));
	if (trace && trace->process) {
		trace->folder = folder;
		fill_in(trace);
		read_api_error(error, XAUDIT_READ_OK, "");
	} else {
		if (folder) {
			read_folder_close(folder);
			why->why = READ_NO_MEMORY;
		}
		free(trace);
		trace = NULL;
		say(error, path, why);
	}
	read_error_free(why);
	return trace;
}

struct xaudit_read_trace *xaudit_read_open(
	const char *path, const struct xaudit_read_options *options, struct xaudit_read_error *error)
{
	struct read_error why;
	struct read_folder *folder;
	const char *wrong = READ_API_NO_SIZE(options);

	if (wrong) {
		read_api_error(error, XAUDIT_READ_USAGE, wrong);
		return NULL;
	}
	if (READ_API_OPTION(options, alone))
		folder = read_folder_open_process(path, READ_API_OPTION(options, place), &why);
	else
		folder = read_folder_open(path, READ_API_OPTION(options, pid), &why);
	return finish(folder, path, &why, error);
}

struct xaudit_read_trace *xaudit_read_open_family(
	int dir, int folder, const char *path, struct xaudit_read_error *error)
{
	struct read_error why;

	return finish(read_folder_open_family(dir, folder, path, &why), path, &why, error);
}

int xaudit_read_may_be_process(const char *path)
{
	return read_folder_may_be_process(path);
}

static void free_process(struct xaudit_read_process *process)
{
	free((char *)process->info.exe);
	free((char *)process->info.command);
	free((char *)process->info.host);
	read_api_facts_free(process->facts);
	read_api_free_keys(process);
	read_api_free_probe_ids(process);
}

void xaudit_read_close(struct xaudit_read_trace *trace)
{
	if (!trace)
		return;
	while (trace->calls)
		xaudit_read_calls_close(trace->calls);
	while (trace->events)
		xaudit_read_events_close(trace->events);
	while (trace->follows)
		xaudit_read_follow_close(trace->follows);
	for (uint32_t i = 0; i < trace->info.processes; i++)
		free_process(&trace->process[i]);
	read_api_free_stacks(trace);
	read_api_free_probes(trace);
	read_api_free_functions(trace);
	read_api_free_threads(trace);
	read_sched_close(trace->sched);
	free(trace->process);
	read_folder_close(trace->folder);
	free(trace);
}

const struct xaudit_read_trace_info *xaudit_read_trace_info(const struct xaudit_read_trace *trace)
{
	return &trace->info;
}

/* ---- processes ---- */

void read_api_take(struct xaudit_read_process *process)
{
	process->users++;
	read_process_load(process->read);
}

void read_api_leave(struct xaudit_read_process *process)
{
	if (!--process->users)
		read_process_unload(process->read);
}

struct xaudit_read_process *xaudit_read_process(struct xaudit_read_trace *trace, uint32_t number)
{
	return number < trace->info.processes ? &trace->process[number] : NULL;
}

static const char *copy(struct xaudit_read_process *process, const char *text)
{
	return text ? read_memory_text(&process->trace->folder->damage, text, strlen(text)) : NULL;
}

const struct xaudit_read_process_info *xaudit_read_process_info(struct xaudit_read_process *process)
{
	struct read_process *from = process->read;
	const struct trace_head *head = &from->head;
	uint64_t end;

	if (process->known)
		return &process->info;
	read_api_take(process);
	end = head->last.ticks ? read_clock_time(&from->clock, head->last.ticks) : 0;
	for (uint32_t i = 0; i < from->changes; i++) {
		uint64_t time = read_clock_time(&from->clock, from->change[i].clock);
		end = time > end ? time : end;
	}
	process->info = (struct xaudit_read_process_info){
		.pid = head->pid,
		.parent = head->ppid,
		.name = from->name,
		.exe = copy(process, from->exe),
		.command = copy(process, from->command),
		.host = copy(process, from->host),
		.start = head->first.mono,
		.end = end > head->first.mono ? end : head->first.mono,
		.threads = from->threads,
		.lost = head->lost,
	};
	process->known = true;
	read_api_leave(process);
	return &process->info;
}
