/* SPDX-License-Identifier: MIT */
/*
 * Room for static TLS. With an auditor, ld.so decides how much room it sets aside before it maps the program's
 * libraries, and libraries that need more (jemalloc, rustc's own) fail to load. A tunable sets the amount, but ld.so
 * has already read it when we are loaded. So a process whose libraries need more than there is executes itself once
 * more with the tunable set, before anything of it is relocated or has run: in la_objopen of the last library that it
 * is started with.
 *
 * The program can't tell the difference: file, arguments and environment are the same. The new value is a suffix of
 * GLIBC_TUNABLES that the second start removes, so that programs which this one starts don't inherit it: the room is
 * taken out of each thread's stack. The suffix also marks a second start, so that there is never a third one. `xaudit
 * record` and `xaudit env` write such a suffix, too, to save the second start.
 *
 * The sum counts libraries that are marked to need static TLS (DF_STATIC_TLS); if one of these or the program refers to
 * TLS of another object that is not libc, it counts all libraries with TLS. Where there is no /proc, where a filter
 * forbids execve or where the program has more rights than its user, the process just goes on, and ld.so says what
 * fails.
 *
 * Main thread, in ld.so's start-up: nothing else runs in the process.
 */
#ifndef XAUDIT_STATIC_TLS_H
#define XAUDIT_STATIC_TLS_H

#include <link.h>

#include "audit/bind/imports.h"
#include "audit/prepare/image.h"
#include "audit/start/tunables.h"

/* la_version. */
void static_tls_start(void);

/* la_objopen of each object that the program is started with. May not return. */
void static_tls_look(const struct link_map *map, const struct image *image, const struct imports *imports, int program);

#endif
