/* SPDX-License-Identifier: MIT */
/*
 * Programs that the traced program executes: with `follow = no` they shall not have the module loaded. Their
 * environment is the program's, which is what we can change: in place, at the first LA_ACT_CONSISTENT, when ld.so has
 * done with LD_AUDIT and no code of the program has run.
 */
#ifndef XAUDIT_AUDIT_CHILDREN_H
#define XAUDIT_AUDIT_CHILDREN_H

/* Takes this module out of LD_AUDIT in the program's initial environment; other auditors stay. */
void children_untraced(void);

#endif
