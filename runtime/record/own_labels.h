/* SPDX-License-Identifier: MIT */
/*
 * Makes the file of return labels of their own (x86_64/labels.h), in the family's folder, when that is made: the rights
 * to do so may be gone later. Forked children have the same mappings. Where it can't be made, that is said, and calls
 * get the label of tramp.h.
 */
#ifndef XAUDIT_RUNTIME_OWN_LABELS_H
#define XAUDIT_RUNTIME_OWN_LABELS_H

/* There is a folder now. Lock held. */
void own_labels_start(void);

#endif
