/* SPDX-License-Identifier: MIT */
/*
 * The map of XRay sleds. An entry is 32 bytes: the addresses of the sled and of its function, each relative to the
 * address of its own field; then the sled's kind, always-instrument, and the version. Adjacent entries with equal
 * function addresses make one function.
 */
#ifndef XAUDIT_AUDIT_SITE_SCAN_XRAY_H
#define XAUDIT_AUDIT_SITE_SCAN_XRAY_H

#include "audit/site/elf_file.h"
#include "audit/site/map.h"
#include "audit/site/site.h"

#define SITE_XRAY_ENTRY_SIZE 32

/* As map.h says. */
int site_scan_xray(struct site_set *set, struct site_file *file, int kind, const struct site_maps *maps);

/* Fills set->event, once all sites are known. Returns 0 or -ENOMEM. */
int site_read_events(struct site_set *set, struct site_file *file);

#endif
