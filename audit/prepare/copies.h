/* SPDX-License-Identifier: MIT */
/*
 * Variables of libraries of which the program has a copy: where code of the program has their addresses at link time,
 * the linker makes room for them there (R_X86_64_COPY), and ld.so has all objects use that one. So values of variables
 * are read there (VALUES_VARIABLE in format/values.h).
 *
 * In la_objopen, where the program comes first; process lock held.
 */
#ifndef XAUDIT_AUDIT_PREPARE_COPIES_H
#define XAUDIT_AUDIT_PREPARE_COPIES_H

#include "audit/model/object.h"

/* Sets load->copy and load->copies. Without memory there are none. */
void copies_look(struct load *load);

#endif
