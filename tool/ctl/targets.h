/* SPDX-License-Identifier: MIT */
/*
 * The processes that `xaudit ctl` shall look into: given by process id, by a tree, or by a name. Of a tree or name only
 * those count that run under the module. One thread.
 */
#ifndef XAUDIT_TOOL_CTL_TARGETS_H
#define XAUDIT_TOOL_CTL_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ctl_process;

struct ctl_targets {
	pid_t *pid; /* parents before their children */
	size_t count, room;
	size_t named;	  /* how many of them were given by their id */
	pid_t *tree;	  /* and these with all their descendants */
	const char **name; /* patterns (audit/rules/rules.h), for the name of a process or of its program */
	size_t trees, names;
	bool change; /* something will be changed in them, which takes system calls there */
	pid_t *left; /* those of trees and names that were left out: under a seccomp filter */
	size_t left_alone;
};

void ctl_targets_add(struct ctl_targets *targets, pid_t pid);
void ctl_targets_add_tree(struct ctl_targets *targets, pid_t pid);
void ctl_targets_add_name(struct ctl_targets *targets, const char *pattern);

/*
 * Looks for processes of the trees and names that are not in the list yet, and adds them. Returns whether there are
 * any. Processes that are forked while others are being changed are found by calling it again. If something will be
 * changed, processes under a seccomp filter are not added, and named in a message, once each: the filter may kill them
 * for a system call that they don't make themselves (sshd, browsers).
 */
bool ctl_targets_look(struct ctl_targets *targets);

/* Does something in one process. Returns an exit status; TOOL_USAGE ends the walk. */
typedef int ctl_targets_work(void *context, const struct ctl_targets *targets, struct ctl_process *process);

/*
 * Does it in each process, one after another, and in those that come meanwhile. *opened: in how many. Returns TOOL_OK;
 * TOOL_USAGE; or what went wrong last, as TOOL_FAILED where one can't be opened. Of who has ended meanwhile, and may
 * (ctl_may_end()), nothing is wrong.
 */
int ctl_targets_each(struct ctl_targets *targets, ctl_targets_work *work, void *context, size_t *opened);

/* Are several processes asked for, or were several found? */
bool ctl_targets_several(const struct ctl_targets *targets);

/* Begins a line about a process when there are several: "1234 nginx: ". */
void ctl_targets_print(const struct ctl_targets *targets, pid_t pid);

void ctl_targets_free(struct ctl_targets *targets);

/* What is said of options of commands that are done in processes. */
extern const struct options_wording ctl_wording;

#endif
