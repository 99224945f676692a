/* SPDX-License-Identifier: MIT */
/*
 * Programs that the traced program executes: with `follow = no` the module must not be loaded into them. They inherit
 * the program's environment, so that is where we change LD_AUDIT: in place, at the first LA_ACT_CONSISTENT, when ld.so
 * no longer needs LD_AUDIT and no code of the program has run.
 */
#ifndef XAUDIT_AUDIT_CHILDREN_H
#define XAUDIT_AUDIT_CHILDREN_H

/* Takes this module out of LD_AUDIT in the program's initial environment; other auditors stay. */
void children_untraced(void);

#endif
