/* SPDX-License-Identifier: MIT */
/*
 * The module's side of the __xray_* interface (runtime/api/xray.c): objects and functions by XRay's numbers.
 *
 * Object numbers: 0 is the program, 1 ... 255 loads of objects that have XRay functions which can be patched, whether
 * the rules select any or not; given at la_objopen, the lowest that is free first. A number is the load's until it is
 * FREE (object.h), so nobody who was in its code takes the next load's for it. Where all are in use, a load has none:
 * it is traced by the rules as ever. Function numbers are XRay's own: places in the object's map, from 1. Both together
 * are an id: object << 24 | function.
 *
 * What is asked for here concerns what is loaded now; the rules alone say what is on in later loads
 * (audit/live/switch.h).
 *
 * Lock: the process lock, taken by what is called from the program; xray_id() looks without it. Program threads come
 * here: general registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_XRAY_H
#define XAUDIT_AUDIT_LIVE_XRAY_H

#include <stdint.h>

#include "audit/object.h"
#include "runtime/api/table.h" /* enum xray_status */

#define XRAY_OBJECTS   256
#define XRAY_FUNCTIONS (1u << 24) /* numbers of functions are below */

/* ---- the XRay functions of an object, by their place in its map, from 0 ---- */

static inline const struct site_function *xray_function(const struct object *object, int64_t place)
{
	return &object->sites.function[object->sites.of[TRACE_KIND_XRAY].function + place];
}

/* Of a function of the object's sites; -1: it is none of XRay's. */
static inline int64_t xray_place(const struct object *object, uint32_t function)
{
	const struct site_range *xray = &object->sites.of[TRACE_KIND_XRAY];

	return function - xray->function < xray->functions ? (int64_t)function - xray->function : -1;
}

/* ---- loads come and go; lock held ---- */

/* The load is prepared and may have XRay functions: gives it a number. */
void xray_open(struct load *load);

/* It is closed; its number stays. */
void xray_closed(struct load *load);

/* The load is free: so is its number. */
void xray_free(struct load *load);

/* ---- for the program ---- */

/* Number of the open load that this address lies in; -1: it lies in none, or that has no number. */
int32_t xray_number_at(uint64_t address);

/*
 * Switches what is loaded now. Returns enum xray_status: NOT_INITIALIZED where nothing is loaded that has XRay
 * functions (XRAY_OBJECT, 0: nor has the program); ONGOING: for a second objects were being loaded; FAILED: no such
 * object or function is loaded, or no function could be switched. Waits up to a second.
 */
int xray_patch(unsigned what, int32_t object, int32_t function, int on);

/* Address of the function; 0: there is no such. */
uint64_t xray_address(int32_t object, int32_t function);

/* How many functions the object has, those that can't be patched too; 0: it is not loaded. */
uint32_t xray_max_id(int32_t object);

/* Highest number in use + 1; 0: none is. */
uint32_t xray_objects(void);

/*
 * Id of the function that an event is about. Returns XRAY_... flags, or -ENOENT: it is none of XRay's. Of an object
 * that is loaded several times it is the id of the newest load, for all events alike. Any context.
 */
int xray_id(const struct xaudit_handler_event *event, int32_t *id);

#endif
