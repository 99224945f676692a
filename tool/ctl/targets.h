/* SPDX-License-Identifier: MIT */
/*
 * Which processes `xaudit ctl` is to look into: process ids, those of a tree, those of a name. Of a tree and of a name
 * only those that run under the module are meant. One thread.
 */
#ifndef XAUDIT_TOOL_CTL_TARGETS_H
#define XAUDIT_TOOL_CTL_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ctl_targets {
	pid_t *pid; /* parents before their children */
	size_t count, room;
	size_t named;	  /* so many of them were given by their id */
	pid_t *tree;	  /* and these with all their descendants */
	const char **name; /* patterns (audit/rules/rules.h), for the name of a process or of its program */
	size_t trees, names;
	bool change; /* something is to be changed in them, which takes system calls there */
	pid_t *left; /* of trees and names, what was left as it is: under a seccomp filter */
	size_t left_alone;
};

void ctl_targets_add(struct ctl_targets *targets, pid_t pid);
void ctl_targets_add_tree(struct ctl_targets *targets, pid_t pid);
void ctl_targets_add_name(struct ctl_targets *targets, const char *pattern);

/*
 * Looks for processes of the trees and names that are not in the list yet, and adds them. Returns whether there are
 * some. Those that are forked off while others are being changed are found by asking again. Processes under a seccomp
 * filter are not added where something is to be changed, and said, once each: the filter may kill them for a system
 * call that they don't make themselves (sshd, browsers).
 */
bool ctl_targets_look(struct ctl_targets *targets);

/* Is it about several processes, by what was asked for, or what was found? */
bool ctl_targets_several(const struct ctl_targets *targets);

/* Begins a line about a process when there are several: "1234 nginx: ". */
void ctl_targets_print(const struct ctl_targets *targets, pid_t pid);

void ctl_targets_free(struct ctl_targets *targets);

#endif
