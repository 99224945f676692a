/* SPDX-License-Identifier: MIT */
/*
 * The side of `record` in runtime/files/broker.h: a thread that makes and opens files of the trace for processes which
 * can't.
 */
#ifndef XAUDIT_TOOL_RECORD_BROKER_H
#define XAUDIT_TOOL_RECORD_BROKER_H

struct record_folder;

/*
 * Starts a thread that serves them until record_broker_stop(), and names it in the environment
 * (runtime/files/broker.h). If that fails it says so in one line. The folder must stay. Called once in a process.
 */
void record_broker_start(const struct record_folder *folder);

/* Processes that have asked by now are answered first. Does nothing if no thread serves. */
void record_broker_stop(void);

/*
 * After record_broker_stop(): if processes asked in vain, while the folder was there, says in one line which, and why.
 */
void record_broker_say(const struct record_folder *folder);

#endif
