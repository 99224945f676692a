/* SPDX-License-Identifier: MIT */
/* xaudit ctl add-context, del-context, contexts: which values of calls a running process records. */
#ifndef XAUDIT_TOOL_CTL_CONTEXTS_H
#define XAUDIT_TOOL_CTL_CONTEXTS_H

struct ctl_indexes;
struct ctl_process;
struct ctl_targets;

/*
 * add-context FUNCTION CONTEXT..., del-context FUNCTION..., and contexts: prints what is asked for. argv[0]: which.
 * A name of a probe of the process means that probe; a name that functions have there (names.h) means these. Returns
 * the status of the command.
 */
int ctl_contexts(struct ctl_targets *targets, int argc, char **argv);

/* Adds the plans of all objects that have functions which the RULES name, for CONTROL_ADD_CONTEXT. */
void contexts_plans(struct ctl_indexes *plans, const struct ctl_process *process, const char *rules);

/* The key of one word of add-context, and where its value begins: if=..., every=...; else it is a context. */
const char *contexts_key(const char *word, const char **value);

#endif
