/* SPDX-License-Identifier: MIT */
/*
 * The module's side of xaudit.h: the functions that libxaudit-api's tables are filled with (runtime/api/table.h), and
 * the calls that concern functions and sites. Custom events are in runtime/custom.h.
 *
 * The calls run on threads of the program: general registers only, no libc. While the process lock is held, no function
 * of the program is called and none of its memory is written: so a call that lists functions takes the lock for some
 * functions at a time. Objects are never freed, nor the data that they hold once they are scanned, so a position in the
 * lists stays valid between two turns with the lock.
 */
#ifndef XAUDIT_AUDIT_LIVE_API_H
#define XAUDIT_AUDIT_LIVE_API_H

#include "runtime/api/table.h"

/* What the tables are filled with. */
extern const struct api_table api_table;

#endif
