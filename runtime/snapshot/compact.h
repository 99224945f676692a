/* SPDX-License-Identifier: MIT */
/*
 * At its exit the last process of a family replaces their file by one without holes (format/compact.h), as `xaudit
 * record` does where it is there. Whether it is the last one the kernel tells: when it has no mapping of the file any
 * more, a lease is granted only to the file's sole user. So it leaves the family before (process_leave()), and what
 * runs then is not recorded: where other threads were, the file stays as it is. So it does where the copy would take
 * longer than a small part of the process's life. The copy gets the name of the file when it is complete; who has that
 * open to read it goes on with what it was. A process that is killed, executes another program, or ends by _exit(),
 * leaves the file as it is.
 */
#ifndef XAUDIT_RUNTIME_SNAPSHOT_COMPACT_H
#define XAUDIT_RUNTIME_SNAPSHOT_COMPACT_H

/*
 * The process ends by exit(), after calls_finish() and snapshot_at_exit(): nothing of the program will run any more but
 * other threads. No lock held. Async-signal-safe, no libc.
 */
void compact_at_exit(void);

#endif
