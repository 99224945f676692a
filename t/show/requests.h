/* SPDX-License-Identifier: MIT */
/* The functions of requests_library.c. */
#ifndef XAUDIT_T_SHOW_REQUESTS_H
#define XAUDIT_T_SHOW_REQUESTS_H

#include <setjmp.h>

void leaf(void);
/* A request: calls leaf() so many times as the last digit of its number says, and once more around an inner one. */
void handle(int own, int id, const char *name, int inner);
/* A request that leaf() is called in, and that longjmp leaves. */
void leave(int own, int id, jmp_buf *to);
/* A request in which this is called. */
void around(int own, int id, void (*what)(void *), void *arg);

#endif
