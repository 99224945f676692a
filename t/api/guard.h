/* SPDX-License-Identifier: MIT */
/*
 * Between the parts of t/api/guard.t's program. What guarded code has counted, and the part that may be C or C++,
 * here or in a library.
 */
#ifndef GUARD_H
#define GUARD_H

#ifdef __cplusplus
extern "C" {
#endif

/* Runs its guards; returns how often guarded code of its own ran: guard_part_each times for each call. */
extern int guard_part_each;
int guard_part(void);

#ifdef __cplusplus
}
#endif

#endif
