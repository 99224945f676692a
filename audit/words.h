/* SPDX-License-Identifier: MIT */
/*
 * Bindings without a PLT: words that ld.so fills with the address of a function and asks no auditor about (-fno-plt,
 * functions whose address is taken). Where such a word is to hold one of libc's that must be watched
 * (audit/nointercept.h), dl_iterate_phdr (audit/iterate.h) or one of dladdr's (audit/live/dladdr.h), its relocation is
 * made a relative one in memory, with the address that la_symbind64 would give: in la_objopen, before the object is
 * relocated. From then on the page is a private copy; its protection is restored at once.
 *
 * It must be libc's for certain, whatever the scope that ld.so will look in: no other object of the namespace defines a
 * function of that name (a program at fixed addresses that takes its address does). Where one that does is opened
 * later, but before the next LA_ACT_CONSISTENT, the relocation is changed back: none of these objects is relocated yet.
 * Relocations of objects that are opened before their libc, at start, wait for it.
 *
 * All functions: under ld.so's lock; they take the process lock.
 */
#ifndef XAUDIT_AUDIT_WORDS_H
#define XAUDIT_AUDIT_WORDS_H

#include "audit/object.h"

/* la_objopen. watch: calls may be open, now or later, so that the object's own words are to be bound. */
void words_open(struct load *load, int watch);

/* LA_ACT_CONSISTENT: the opened objects are relocated now, or before any other object is opened. */
void words_settled(void);

/* la_objclose: the object is closed. */
void words_forget(const struct load *load);

#endif
