/* SPDX-License-Identifier: MIT */
/*
 * What the command writes into GLIBC_TUNABLES, and the module reads there.
 *
 *	BEFORE:glibc.rtld.optional_static_tls=1024:xaudit.once=2:glibc.rtld.optional_static_tls=24200
 *
 * From STATIC_TLS_ONCE on, it is meant for one program alone, not for those that it starts: the module takes it off
 *(audit/static_tls.h). The last value counts for ld.so, which passes over names that it does not know.
 */
#ifndef XAUDIT_TUNABLES_H
#define XAUDIT_TUNABLES_H

#define STATIC_TLS_TUNABLE "glibc.rtld.optional_static_tls"

/*
 * Begins the suffix. 2: the command wrote it. The module, executing a program once more: 1: the variable was there
 * before; 0: it was not, so it is the last one in the environment, and goes.
 */
#define STATIC_TLS_ONCE "xaudit.once"
#define STATIC_TLS_TRAP "t" /* behind that value: SIGTRAP is ignored, and not by who started the program */

#define STATIC_TLS_SPARE 512 /* what ld.so itself keeps for libraries that are loaded later */

#endif
