/* SPDX-License-Identifier: MIT */
/*
 * Programs that the traced program executes. They inherit the program's environment, as a rule. With `follow = no` the
 * module must not be loaded into them, so that is where we change LD_AUDIT: in place, at the first LA_ACT_CONSISTENT,
 * when ld.so no longer needs LD_AUDIT and no code of the program has run. Else calls that execute a program are looked
 * at (runtime/process/execute.h).
 */
#ifndef XAUDIT_AUDIT_CHILDREN_H
#define XAUDIT_AUDIT_CHILDREN_H

#include "audit/rules/rules.h"

/* As said above; other auditors stay in LD_AUDIT. */
void children_follow(enum rules_follow follow);

#endif
