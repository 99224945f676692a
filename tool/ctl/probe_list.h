/* SPDX-License-Identifier: MIT */
/*
 * The probes that a running process has in what is loaded there, read from its memory: those of the plans that it was
 * given, and what became of each. One thread.
 */
#ifndef XAUDIT_TOOL_CTL_PROBE_LIST_H
#define XAUDIT_TOOL_CTL_PROBE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctl_process;
struct ctl_targets;
struct probe_rules;

struct ctl_probe {
	char *name, *place; /* as RULES have them */
	char *library;	    /* basename of its object */
	uint64_t address;   /* in the file */
	uint64_t nearest;   /* where it is refused: an address that can be probed; 0: none */
	char *nearest_at;   /* the same as SYMBOL+OFFSET; NULL: no symbol is known */
	bool on;
	unsigned refusal; /* enum probe_refusal */
	unsigned way;	  /* enum probe_way; 0: none */
};

struct ctl_probes {
	struct ctl_probe *probe; /* in order of objects, then of names and addresses */
	size_t count;
	bool cut; /* the process shows more than can be: that was left out */
};

/* Silent about what can't be read. Bounded, whatever the process shows. */
void probe_list_read(struct ctl_probes *to, const struct ctl_process *process);
void probe_list_free(struct ctl_probes *probes);

/* The rules that it has for probes. */
void probe_list_rules(struct probe_rules *rules, const struct ctl_process *process);

/* Prints all, with those that nothing loaded has. Returns the status of the command. */
int probe_list_print(const struct ctl_targets *targets, const struct ctl_process *process, bool as_json);

/* "on", or why not; and the word of its way, NULL for none. */
const char *probe_list_phrase(const struct ctl_probe *probe);
const char *probe_list_way(const struct ctl_probe *probe);

/* Where it could be instead, empty if nothing is known of that; to be freed. */
char *probe_list_nearest(const struct ctl_probe *probe);

#endif
