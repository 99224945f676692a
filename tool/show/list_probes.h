/* SPDX-License-Identifier: MIT */
/*
 * By which way instructions of a file can have a probe, for `xaudit list FILE SYMBOL`. Memory that runs out ends the
 * command. One thread.
 */
#ifndef XAUDIT_TOOL_SHOW_LIST_PROBES_H
#define XAUDIT_TOOL_SHOW_LIST_PROBES_H

#include <stdint.h>

struct list_probe {
	uint64_t address;
	unsigned length; /* 1 where no instruction is known to begin */
	const char *way; /* NULL: none */
	const char *why; /* not */
};

struct list_probes;

/* NULL: the file can't be analysed. */
struct list_probes *list_probes_open(int fd, const char *path);
void list_probes_close(struct list_probes *probes);

/* Forgets what was asked for before, and looks at the instructions of functions between these addresses. */
void list_probes_range(struct list_probes *probes, uint64_t from, uint64_t to);

/* The instruction there, of that range; NULL: none begins there. */
const struct list_probe *list_probe(const struct list_probes *probes, uint64_t address);

#endif
