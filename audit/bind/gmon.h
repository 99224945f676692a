/* SPDX-License-Identifier: MIT */
/*
 * gmon.out: the profiler of programs that were built with -pg. Where their calls of it are NOPs
 * (audit/live/entry_calls.h) it would find nothing, and write its file all the same. So it is neither started nor ended
 * there: the two functions of libc that crt's start code uses are bound to one that does nothing.
 */
#ifndef XAUDIT_AUDIT_GMON_H
#define XAUDIT_AUDIT_GMON_H

#include "audit/bind/imports.h"
#include "audit/model/object.h"

/* la_objopen, after prepare(). ld.so's lock; takes the process lock. */
void gmon_open(const struct load *load, const struct imports *imports);

#endif
