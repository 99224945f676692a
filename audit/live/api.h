/* SPDX-License-Identifier: MIT */
/*
 * The module's side of xaudit.h: what libxaudit-api's tables are filled with (runtime/api/table.h), and the calls
 * that concern functions and sites. Recording is in runtime/custom.h.
 *
 * The calls run on the program's threads, where they call: general registers only, no libc. Nothing of the program is
 * called with the process lock held, nor written to: who lists functions takes the lock for some of them at a time.
 * Objects are never freed, nor what they hold once they are scanned, so a place in the lists stays good in between.
 */
#ifndef XAUDIT_AUDIT_LIVE_API_H
#define XAUDIT_AUDIT_LIVE_API_H

#include "audit/image.h"
#include "runtime/api/table.h"

/* la_objopen: fills in the tables that the object has. Returns whether it may use the XRay interface. */
int api_connect(const struct image *image);

/* Some object may set handlers. */
extern int api_handlers;

/* What they are filled with. */
extern const struct api_table api_table;

#endif
