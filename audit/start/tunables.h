/* SPDX-License-Identifier: MIT */
/*
 * What the command writes into GLIBC_TUNABLES and the module reads from it.
 *
 *	BEFORE:glibc.rtld.optional_static_tls=1024:xaudit.once=2:glibc.rtld.optional_static_tls=24200
 *
 * The part from STATIC_TLS_ONCE on is meant for one program alone, not for programs that it starts: the module removes
 * it (audit/start/static_tls.h). Of several values, ld.so uses the last one; it ignores names that it does not know.
 */
#ifndef XAUDIT_TUNABLES_H
#define XAUDIT_TUNABLES_H

#define STATIC_TLS_TUNABLE "glibc.rtld.optional_static_tls"

/*
 * Begins the suffix. Value 2: the command wrote it. 1 and 0: the module wrote it, to execute a program once more. 1:
 * the variable was there before; 0: it was not, so it is the last one in the environment and is removed.
 */
#define STATIC_TLS_ONCE "xaudit.once"
#define STATIC_TLS_TRAP "t" /* after that value: SIGTRAP is ignored, by the module, not by the program's starter */

#define STATIC_TLS_SPARE 512 /* what ld.so itself keeps for libraries that are loaded later */

#endif
