/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells in /proc about the machine, the boot, the program and its command line. A forked child may not
 * be able to reach /proc any more: what was read before is kept for it.
 *
 * Process lock held; async-signal-safe, no libc.
 */
#ifndef XAUDIT_SURROUNDINGS_H
#define XAUDIT_SURROUNDINGS_H

#include <stddef.h>
#include <stdint.h>

struct surroundings {
	char boot_id[40]; /* or "" */
	char host[400];	  /* "nodename sysname release machine", or "" */
	size_t exe_length, command_length;
	char exe[4096];	     /* path of what is executed */
	char command[16384]; /* argv, each word ended by a NUL; longer ones are cut. Programs may change it */
};

/*
 * The command line as it lies in memory, as long as that is what the kernel would tell: until the program runs. Opening
 * its file takes 14 us. NULL: no more.
 */
void surroundings_command(const char *text, size_t length);

/*
 * What the time namespace of the calling process adds to CLOCK_MONOTONIC, ns, as the kernel tells now. Returns whether
 * it is known.
 */
int surroundings_time_offset(int64_t *ns);

/* Tells the PID namespace of the calling process from others; 0: not known. */
uint64_t surroundings_pid_namespace(void);

/* All that is known now; what is not known has length 0. Constant until the next call. */
const struct surroundings *surroundings_look(void);

#endif
