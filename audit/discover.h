/* SPDX-License-Identifier: MIT */
/*
 * Site discovery for the module: site_scan() of audit/site.h, from libxaudit-sites.so, which lies beside libxaudit.so and brings
 * libelf. Loaded when the first file with sites is met: most processes meet none, and it costs 0.1 ms. In la_objopen only, under ld.so's
 * lock.
 */
#ifndef XAUDIT_DISCOVER_H
#define XAUDIT_DISCOVER_H

#include "audit/site.h"

/* As site_scan(); -ENOENT when the library is not there, which is said once. */
int discover(struct site_set *set, int fd, unsigned kinds);

#endif
