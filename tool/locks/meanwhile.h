/* SPDX-License-Identifier: MIT */
/*
 * What a holder did: of each hold the longest call that began in it, and in that the longest one, and so on as long as
 * one has at least half of the time of that around it. One thread.
 */
#ifndef XAUDIT_TOOL_LOCKS_MEANWHILE_H
#define XAUDIT_TOOL_LOCKS_MEANWHILE_H

#include <stdint.h>

struct locks;
struct locks_hold;

/* A traced call began, with so many calls around it. */
void meanwhile_enter(struct locks *locks, uint32_t thread, uint32_t depth, uint32_t function, uint64_t time);

/* The call with so many around it is over, and all in it. */
void meanwhile_leave(struct locks *locks, uint32_t thread, uint32_t depth, uint64_t time);

/* The hold is about to end: calls in it that are open count up to now. */
void meanwhile_release(struct locks *locks, struct locks_hold *hold, uint64_t now);

#endif
