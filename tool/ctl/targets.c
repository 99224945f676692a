/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/targets.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/match/match.h"
#include "tool/base/memory.h"
#include "tool/base/options.h"
#include "tool/base/proc.h"
#include "tool/base/tool.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/process.h"

/* A tree that grows for ever is left at some time. */
#define MOST_PROCESSES 100000

const struct options_wording ctl_wording = {
	.no_value = "'%o' has no value: see xaudit ctl --help",
	.unknown = "'%o' is no option of this command: see xaudit ctl --help",
	.wrong = "%o is '%v'; allowed: %a",
};

static bool has(const struct ctl_targets *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->count; i++)
		if (targets->pid[i] == pid)
			return true;
	return false;
}

static void add(struct ctl_targets *targets, pid_t pid)
{
	if (has(targets, pid))
		return;
	if (targets->count == targets->room) {
		targets->room = targets->room ? 2 * targets->room : 16;
		targets->pid = memory_resize(targets->pid, targets->room, sizeof(*targets->pid));
	}
	targets->pid[targets->count++] = pid;
}

void ctl_targets_add(struct ctl_targets *targets, pid_t pid)
{
	add(targets, pid);
	targets->named = targets->count;
}

void ctl_targets_add_tree(struct ctl_targets *targets, pid_t pid)
{
	targets->tree = memory_resize(targets->tree, targets->trees + 1, sizeof(*targets->tree));
	targets->tree[targets->trees++] = pid;
}

void ctl_targets_add_name(struct ctl_targets *targets, const char *pattern)
{
	targets->name = memory_resize(targets->name, targets->names + 1, sizeof(*targets->name));
	targets->name[targets->names++] = pattern;
}

/* ---- all processes ---- */

struct each {
	pid_t pid, parent;
	uint64_t begin;
	bool meant;
};

struct all {
	struct each *each;
	size_t count, room;
};

static int by_begin(const void *a, const void *b)
{
	const struct each *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Parents come before their children, but for those that were forked in the same hundredth of a second as their parent
 * and have a lower id. */
static void list(struct all *all)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		long parent = pid > 0 ? ctl_status_number(pid, 0, "PPid") : -1;
		if (parent < 0)
			continue;
		if (all->count == all->room) {
			all->room = all->room ? 2 * all->room : 256;
			all->each = memory_resize(all->each, all->room, sizeof(*all->each));
		}
		all->each[all->count++] = (struct each){ .pid = pid, .parent = (pid_t)parent, .begin = ctl_begin(pid) };
	}
	if (dir)
		closedir(dir);
	if (all->count)
		qsort(all->each, all->count, sizeof(*all->each), by_begin);
}

static bool is_meant(const struct all *all, pid_t pid)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->each[i].pid == pid)
			return all->each[i].meant;
	return false;
}

/* In rounds, until no process is added any more. */
static void mark_tree(struct all *all, const struct ctl_targets *targets)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < all->count; i++) {
			struct each *each = &all->each[i];
			bool meant = each->meant || is_meant(all, each->parent);
			for (size_t k = 0; k < targets->trees; k++)
				meant |= each->pid == targets->tree[k];
			more |= meant && !each->meant;
			each->meant = meant;
		}
	}
}

static bool is_named(const struct ctl_targets *targets, pid_t pid)
{
	char name[16], path[64], program[PATH_MAX];

	proc_name(pid, name);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < targets->names; i++)
		if (rules_glob(targets->name[i], name) ||
			(n > 0 && rules_glob(targets->name[i], tool_base(program))))
			return true;
	return false;
}

/* As far as we may see. */
static bool has_module(pid_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && !found && getline(&line, &room, file) > 0)
		found = strstr(line, "/libxaudit.so") != NULL;
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* Whether it is to be left as it is, and said so. */
static bool leave(struct ctl_targets *targets, pid_t pid)
{
	char name[16];

	if (!targets->change || has(targets, pid) || ctl_status_number(pid, 0, "Seccomp") <= 0)
		return false;
	for (size_t i = 0; i < targets->left_alone; i++)
		if (targets->left[i] == pid)
			return true;
	targets->left = memory_resize(targets->left, targets->left_alone + 1, sizeof(*targets->left));
	targets->left[targets->left_alone++] = pid;
	proc_name(pid, name);
	tool_error("ctl", "process %d (%s) is left as it is: it has a seccomp filter, which might kill it; "
		"`xaudit ctl %d` does it", (int)pid, name, (int)pid);
	return true;
}

bool ctl_targets_look(struct ctl_targets *targets)
{
	struct all all = { 0 };
	size_t before = targets->count;

	if (!targets->trees && !targets->names)
		return false;
	list(&all);
	mark_tree(&all, targets);
	for (size_t i = 0; i < all.count; i++) {
		pid_t pid = all.each[i].pid;
		bool meant = all.each[i].meant || is_named(targets, pid);
		if (meant && pid != getpid() && has_module(pid) && !leave(targets, pid))
			add(targets, pid);
	}
	free(all.each);
	return targets->count > before;
}

int ctl_targets_each(struct ctl_targets *targets, ctl_targets_work *work, void *context, size_t *opened)
{
	size_t i = 0;
	int status = TOOL_OK;

	*opened = 0;
	do {
		for (; i < targets->count; i++) {
			struct ctl_process process;
			int one = TOOL_FAILED;
			ctl_may_end(i >= targets->named);
			if (ctl_open(&process, targets->pid[i])) {
				one = work(context, targets, &process);
				ctl_close(&process);
				++*opened;
			}
			if (one == TOOL_USAGE)
				return one;
			if (one != TOOL_OK && !ctl_ended())
				status = one;
		}
	} while (i < MOST_PROCESSES && ctl_targets_look(targets));
	return status;
}

bool ctl_targets_several(const struct ctl_targets *targets)
{
	return targets->count > 1 || targets->trees || targets->names;
}

void ctl_targets_print(const struct ctl_targets *targets, pid_t pid)
{
	char name[16];

	if (!ctl_targets_several(targets))
		return;
	proc_name(pid, name);
	printf("%d ", (int)pid);
	tool_text(stdout, name);
	printf(": ");
}

void ctl_targets_free(struct ctl_targets *targets)
{
	free(targets->pid);
	free(targets->tree);
	free(targets->name);
	free(targets->left);
}
