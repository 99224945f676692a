/* SPDX-License-Identifier: MIT */
/* All functions of a file, for `xaudit list`. The module never needs this list. */
#ifndef XAUDIT_AUDIT_SITE_LIST_H
#define XAUDIT_AUDIT_SITE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "audit/site/site.h"

/* A function as a user thinks of it, with sites or without. */
struct site_symbol {
	uint64_t address, size; /* size 0: unknown */
	const char *name;	/* NULL: unknown */
	uint32_t exported;	/* 1: other objects can bind to it */
};

struct site_symbols {
	struct site_symbol *symbol; /* by address, each address once */
	size_t count;
	size_t calls; /* JUMP_SLOT relocations: functions of other objects (or its own) that it calls through its PLT */
};

/*
 * All functions of the file, aliases dropped (the first global name wins): from .symtab, else .dynsym joined with
 * the starts of .eh_frame_hdr. In the set's arena, which may be that of a scan. Returns 0 or -errno, as site_scan().
 */
int site_symbols(struct site_set *set, int fd, struct site_symbols *symbols);

#endif
