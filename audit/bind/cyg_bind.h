/* SPDX-License-Identifier: MIT */
/*
 * Binding what -finstrument-functions calls (audit/live/cyg.h). In la_objopen, before the object is relocated, its two
 * symbols become absolute and hidden, as XRay's do (audit/bind/runtime_symbols.h): so every kind of relocation, of a
 * PLT or not (-fno-plt), takes ours, while dlsym() finds none in this object.
 *
 * libc defines both, and does nothing. Another object's definition, such as a profiler's of the program's own, is
 * called after ours: that of the first object of the namespace which has one, if that object was opened before this
 * one, or is opened and relocated with it. What the object itself defines, its calls reach without us: then it has no
 * functions of this kind.
 *
 * All functions: under ld.so's lock; they take the process lock.
 */
#ifndef XAUDIT_AUDIT_BIND_CYG_BIND_H
#define XAUDIT_AUDIT_BIND_CYG_BIND_H

#include "audit/bind/imports.h"
#include "audit/model/object.h"

/* la_objopen, after prepare(). */
void cyg_bind_open(struct load *load, const struct imports *imports);

/* LA_ACT_CONSISTENT. */
void cyg_bind_settled(void);

#endif
