/* SPDX-License-Identifier: MIT */
/*
 * `xaudit check`: watching dlclose, to find libraries that stay loaded after their last dlclose. Contexts as in
 * check.h. Calls of dlclose are bound to a function of ours by la_symbind64; where ld.so does not call that, we write
 * the slots.
 */
#ifndef XAUDIT_AUDIT_CHECK_DLCLOSE_H
#define XAUDIT_AUDIT_CHECK_DLCLOSE_H

#include "audit/check/check.h"

/*
 * The first LA_ACT_CONSISTENT. Returns 0, or -1 when there is no way to find out which libraries stay. *thread_list: as
 * in struct check_message.
 */
int check_dlclose_start(int64_t *thread_list);

/* Is this thread in a dlclose that went through our function? */
int check_dlclose_active(void);

/* Writes the slots of newly opened objects that are relocated. ld.so's lock is held, or the program has one thread. */
void check_dlclose_bind(void);

/* la_objclose */
void check_dlclose_forget(const struct load *load);

/* la_symbind64: the address to bind. */
uintptr_t check_bind(
	const Elf64_Sym *symbol, const struct load *from, const struct load *to, unsigned flags, const char *name);

#endif
