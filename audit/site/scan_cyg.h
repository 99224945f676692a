/* SPDX-License-Identifier: MIT */
/*
 * Functions compiled with -finstrument-functions: those that hold a call of __cyg_profile_func_enter(), an undefined
 * symbol of the file. By way of a PLT the call leads to a jump through the word that a relocation binds; without one
 * (-fno-plt) it goes through that word itself. Text is looked through byte by byte: that four bytes which are no
 * operand name one of these few places, is as good as impossible.
 */
#ifndef XAUDIT_AUDIT_SITE_SCAN_CYG_H
#define XAUDIT_AUDIT_SITE_SCAN_CYG_H

#include "audit/site/elf_file.h"
#include "audit/site/map.h"
#include "audit/site/site.h"

/* The calls of the file that -finstrument-functions made. Returns 0 or -ENOMEM. */
int site_find_cyg(struct site_file *file, struct site_maps *maps);

/* Their functions, which have no sites. As map.h says. */
int site_scan_cyg(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps);

#endif
