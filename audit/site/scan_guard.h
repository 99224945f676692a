/* SPDX-License-Identifier: MIT */
/*
 * Guards (XAUDIT_IF_TRACED of runtime/api/xaudit.h). A note of the program names a table of {site, target}: the NOP,
 * and the start of the guarded code, each relative to the address of its own field. The note is found by program
 * headers, so a file needs no section headers. When LTO and other files are linked together, linkers may keep the note
 * twice.
 */
#ifndef XAUDIT_AUDIT_SITE_SCAN_GUARD_H
#define XAUDIT_AUDIT_SITE_SCAN_GUARD_H

#include "audit/site/elf_file.h"
#include "audit/site/map.h"
#include "audit/site/site.h"

/* Adds the tables that notes name; allocates nothing when there are none. Returns 0 or -ENOMEM. */
int site_find_guards(struct site_file *file, struct site_maps *maps);

/* As map.h says. */
int site_scan_guards(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps);

#endif
