/* SPDX-License-Identifier: MIT */
/*
 * The table of -fpatchable-function-entry=N,M: for each function the address of the first of its N NOPs, M of which lie
 * before its entry. Neither N nor M is written anywhere, so the entry comes from symbols or unwind information.
 *
 *	P			the table's address
 *	P ... E-1		NOPs before the entry (M), never executed
 *	E			the function's entry; perhaps an endbr64
 *	E or E+4 ...		NOPs at the entry (N-M), executed
 *
 * With M = 0 and an endbr64, compilers let the table name the endbr64 or the NOP after it: P = E or P = E+4.
 */
#ifndef XAUDIT_AUDIT_SITE_SCAN_PATCHABLE_H
#define XAUDIT_AUDIT_SITE_SCAN_PATCHABLE_H

#include "audit/site/elf_file.h"
#include "audit/site/map.h"
#include "audit/site/site.h"

#define SITE_PATCHABLE_ENTRY_SIZE 8

/* As map.h says. */
int site_scan_patchable(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps);

#endif
