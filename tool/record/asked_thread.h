/* SPDX-License-Identifier: MIT */
/*
 * The thread that makes the snapshots which traced programs ask for (asked/asked.h): the drain, which sees that within
 * some milliseconds, names the family, and waits for nothing but a lock that is never held while a copy is made. Where
 * a program has actions for calls that have not returned, the thread looks for such by itself.
 */
#ifndef XAUDIT_TOOL_RECORD_ASKED_THREAD_H
#define XAUDIT_TOOL_RECORD_ASKED_THREAD_H

#include <stdbool.h>

struct record_folder;

/* Starts it, before the drain. The folder must stay. If that fails it says so in one line. */
void record_asked_start(const struct record_folder *folder);

/* Makes what is still asked for, for some seconds, and ends: after the drain has ended. Says how many were made. */
void record_asked_stop(void);

/* A process of that family has asked for one. Returns false: come again, too much is asked for now. Any thread. */
bool record_asked_add(const char *family);

#endif
