/* SPDX-License-Identifier: MIT */
/*
 * xaudit ctl probe, unprobe, probes: probes at instructions of a running process (format/probe.h). What is asked for
 * there is read from its memory, changed, and given back as a whole, with plans of all objects that have probes or had
 * some, in one stop: of two commands at the same time the later one counts. One thread.
 */
#ifndef XAUDIT_TOOL_CTL_PROBES_H
#define XAUDIT_TOOL_CTL_PROBES_H

#include <stdbool.h>
#include <stddef.h>

struct ctl_process;
struct ctl_targets;

/*
 * probe [OPTION]... [NAME=]PLACE..., unprobe NAME..., and probes, which lists them. argv[0]: which. Returns the status
 * of the command.
 */
int ctl_probes(struct ctl_targets *targets, int argc, char **argv);

/* Has the process a probe of that name? Then add-context and del-context mean that. */
bool probes_have(const struct ctl_process *process, const char *name);

/* add-context NAME WORD..., of a probe that it has. Returns the status of the command. */
int probes_add_context(const struct ctl_targets *targets, struct ctl_process *process, int argc, char **argv);

/* when: the action, of a probe that it has, besides those that are there. Returns the status of the command. */
int probes_add_action(
	const struct ctl_targets *targets, struct ctl_process *process, const char *name, const char *action);

/* del-context: what is recorded of these probes, which it has. Returns the status of the command. */
int probes_del_context(const struct ctl_targets *targets, struct ctl_process *process, char **name, size_t names);

#endif
