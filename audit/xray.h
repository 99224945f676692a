/* SPDX-License-Identifier: MIT */
/*
 * The module's side of the __xray_* interface (runtime/api/xray.c): objects and functions by XRay's numbers.
 *
 * Object numbers: 0 is the program, 1 ... 255 loads of objects that have XRay functions which can be patched, whether the rules select any or not;
 * given at la_objopen, the lowest that is free first. A number is the load's until it is FREE (object.h), so nobody who was in its code takes the
 * next load's for it. Where all are in use, a load has none: it is traced by the rules as ever. Function numbers are XRay's own: places in the
 * object's map, from 1. Both together are an id: object << 24 | function.
 *
 * Lock: the process lock; xray_id() looks without it. Program threads come here: general registers only, no libc.
 */
#ifndef XAUDIT_XRAY_H
#define XAUDIT_XRAY_H

#include <stdint.h>

#include "audit/object.h"

#define XRAY_OBJECTS   256
#define XRAY_FUNCTIONS (1u << 24) /* numbers of functions are below */

/* The load is prepared and may have XRay functions: gives it a number. Lock held. */
void xray_open(struct load *load);

/* The load is free: so is its number. Lock held. */
void xray_free(struct load *load);

/* Number of the open load that this address lies in; -1: it lies in none, or that has no number. Takes the lock. */
int32_t xray_number_at(uint64_t address);

#endif
