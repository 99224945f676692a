/* SPDX-License-Identifier: MIT */
/*
 * Bindings without a PLT: words that ld.so fills with the address of a function and asks no auditor about (-fno-plt,
 * functions whose address is taken). If such a word is to hold the address of a function of libc that must be watched
 * (audit/bind/nointercept.h), of dl_iterate_phdr (audit/bind/iterate.h) or of dladdr() and its like
 * (audit/live/dladdr.h), its relocation is made a relative one in memory, with the address that la_symbind64 would
 * give: in la_objopen, before the object is relocated. From then on the page is a private copy; its protection is
 * restored at once.
 *
 * Objects whose bindings stay their own, where no call will be open and where the process is only checked, are given
 * prctl() and syscall() alone, by which a program puts itself under a filter of system calls (x86_64/confined.h):
 * their symbols are changed in memory in the way that audit/bind/runtime_symbols.h tells, so that ld.so asks nobody
 * about them, and other bindings cost what they did.
 *
 * It must be libc's for certain, whatever the scope that ld.so will look in: no other object of the namespace defines a
 * function of that name (a program at fixed addresses that takes its address does). Where one that does is opened
 * later, but before the next LA_ACT_CONSISTENT, the relocation is changed back: none of these objects is relocated yet.
 * Relocations of objects that are opened before their libc, at start, wait for it.
 *
 * All functions: under ld.so's lock; they take the process lock.
 */
#ifndef XAUDIT_AUDIT_BIND_NO_PLT_H
#define XAUDIT_AUDIT_BIND_NO_PLT_H

#include <stdbool.h>

#include "audit/bind/imports.h"
#include "audit/model/object.h"

/*
 * la_objopen. watch: calls may be open, now or later, so that all of the object's words are to be bound; else prctl()
 * and syscall() are.
 */
void no_plt_open(struct load *load, const struct imports *imports, int watch);

/* Is it a function that words are bound for here, if it is libc's? */
bool no_plt_concerns(const char *name);

/* LA_ACT_CONSISTENT: the opened objects are relocated now, or before any other object is opened. */
void no_plt_settled(void);

/* la_objclose: the object is closed. */
void no_plt_forget(const struct load *load);

#endif
