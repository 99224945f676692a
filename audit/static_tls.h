/* SPDX-License-Identifier: MIT */
/*
 * Room for static TLS. With an auditor, ld.so decides how much it sets aside before it maps the program's libraries,
 * and those that need more (jemalloc, rustc's own) fail to load. How much, a tunable says: which ld.so has read when we
 * come. So a process whose libraries need more than there is, is executed once more with the tunable set, before
 * anything of it was relocated or ran: in la_objopen of the last library that it is started with.
 *
 * It looks to the program as if it had been started so: same file, arguments, environment. The new value is a suffix of
 * GLIBC_TUNABLES that the second start takes off again, so that the programs it starts get what they had got otherwise:
 * the room is taken out of each thread's stack. That suffix is also the mark of a second start, which never executes a
 * third time. `xaudit record` and `xaudit env` write one, too, to spare the first start.
 *
 * Counted are libraries that are marked to need static TLS (DF_STATIC_TLS); all with TLS, where one of these, or the
 * program, refers to TLS of another object that is not libc. Where /proc is not there, a filter forbids execve or the
 * program has more rights than its user, all goes on, and ld.so says what fails.
 *
 * Main thread, in ld.so's start-up: nothing else runs in the process.
 */
#ifndef XAUDIT_STATIC_TLS_H
#define XAUDIT_STATIC_TLS_H

#include <link.h>

#include "audit/image.h"
#include "audit/imports.h"
#include "audit/tunables.h"

/* la_version. */
void static_tls_start(void);

/* la_objopen of what the program is started with. May not return. */
void static_tls_look(const struct link_map *map, const struct image *image, const struct imports *imports, int program);

#endif
