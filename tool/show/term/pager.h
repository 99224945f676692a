/* SPDX-License-Identifier: MIT */
/*
 * The pager, as git has it: the command of $XAUDIT_PAGER, else of $PAGER, else less; none if that is empty or "cat".
 * LESS=FRX and LV=-c are set for it where they are not set: less ends by itself if all fits on the screen, shows
 * colours, and leaves what it showed.
 *
 * While it runs, standard output goes to it, and so do messages if they went to a terminal. The process waits for it
 * before it ends, also where a signal ends it: the terminal is the pager's until then. One thread; the handler of
 * signals only closes, waits and raises the signal again.
 */
#ifndef XAUDIT_TOOL_SHOW_TERM_PAGER_H
#define XAUDIT_TOOL_SHOW_TERM_PAGER_H

#include <stdbool.h>

/* Starts it. If there is none, or it can't be started, output goes on to the terminal. */
void pager_start(void);

/* Ends the output, and waits until the pager ends. Without pager it does nothing. */
void pager_wait(void);

/* Has it the terminal? */
bool pager_runs(void);

#endif
