/* SPDX-License-Identifier: MIT */
/* What the program may be bound to in place of dlclose (audit/live/dlclose.h). */
#ifndef XAUDIT_X86_64_DLCLOSE_CALL_H
#define XAUDIT_X86_64_DLCLOSE_CALL_H

#include <stdint.h>

/*
 * The function that is called first, on any thread of the program, and the address of the real dlclose. Stored before
 * any code is bound to dlclose_call(), and not changed.
 */
struct dlclose_call_ways {
	void (*look)(void);
	uint64_t real;
};

extern struct dlclose_call_ways dlclose_call_ways __attribute__((visibility("hidden")));

/* As dlclose: calls look(), then jumps to the real one, so that ld.so sees the caller's address. */
int dlclose_call(void *handle) __attribute__((visibility("hidden")));

#endif
