/* SPDX-License-Identifier: MIT */
/*
 * How much static TLS the command needs. Any auditor makes ld.so fix its size before it knows the program's libraries;
 * what they need beyond some 1.8 kB (jemalloc, TSan, rustc's own) must be set aside by a tunable. That memory lies on
 * each thread's stack, so more than is needed does harm: from 12 kB on, threads of 16 kB can't be made. So all its
 * libraries are looked at. The module finds out the need, too (audit/start/static_tls.h), but then the program
 * is started twice.
 */
#ifndef XAUDIT_TOOL_RECORD_STATIC_TLS_H
#define XAUDIT_TOOL_RECORD_STATIC_TLS_H

#include <stddef.h>

struct record_objects;

/*
 * How many bytes of optional static TLS the program needs to be loaded, with its start-up libraries, under an auditor:
 * at least RECORD_STATIC_TLS, also when the need can't be found out.
 */
#define RECORD_STATIC_TLS                                                                                              \
	1024 /* room for libraries that are loaded later, as much as untraced; each thread's stack pays for it */
size_t record_static_tls(const struct record_objects *objects);

#endif
