/* SPDX-License-Identifier: MIT */
/*
 * The module's side of the __xray_* interface (runtime/api/xray.c): objects and functions by XRay's numbers.
 *
 * Object numbers: 0 is the program, 1 ... 255 loads of objects that have XRay functions which can be patched, whether
 * the rules select any or not; given at la_objopen, the lowest free number first. A load keeps its number until it is
 * FREE (object.h), so a thread that was in its code can't mistake the next load for it. When all numbers are in use, a
 * load gets none: it is traced by the rules as usual. Function numbers are XRay's own: positions in the object's map,
 * from 1. Both together are an id: object << 24 | function.
 *
 * Requests made here concern present loads; only the rules say what is on in later loads (audit/live/switch.h).
 *
 * Lock: the process lock, which the functions for the program take; xray_id() works without it. Program threads come
 * here: general registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_XRAY_H
#define XAUDIT_AUDIT_LIVE_XRAY_H

#include <stdint.h>

#include "audit/model/object.h"
#include "runtime/api/table.h" /* enum xray_status */

#define XRAY_OBJECTS   256
#define XRAY_FUNCTIONS (1u << 24) /* numbers of functions are below */

/* ---- the XRay functions of an object, by their place in its map, from 0 ---- */

static inline const struct site_function *xray_function(const struct object *object, int64_t place)
{
	return &object->sites.function[object->sites.of[TRACE_KIND_XRAY].function + place];
}

/* The position of a function of the object's sites; -1: it is not one of XRay's. */
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

/* Number of the open load that holds this address; -1: no load does, or it has no number. */
int32_t xray_number_at(uint64_t address);

/*
 * Switches functions of present loads. Returns enum xray_status: NOT_INITIALIZED: no load has XRay functions (for
 * XRAY_OBJECT 0: the program has none); ONGOING: objects were being loaded for a whole second; FAILED: no such object
 * or function is loaded, or no function could be switched. Waits up to a second.
 */
int xray_patch(unsigned what, int32_t object, int32_t function, int on);

/* Address of the function; 0: there is no such function. */
uint64_t xray_address(int32_t object, int32_t function);

/* How many functions the object has, including those that can't be patched; 0: it is not loaded. */
uint32_t xray_max_id(int32_t object);

/* Highest number in use + 1; 0: none is in use. */
uint32_t xray_objects(void);

/*
 * Id of the function that an event is about. Returns XRAY_... flags, or -ENOENT: it is not one of XRay's. If an object
 * is loaded several times, the id is that of the newest load, for events of all its loads. Any context.
 */
int xray_id(const struct xaudit_handler_event *event, int32_t *id);

/*
 * ---- for objects that import XRay's runtime symbols (audit/bind/runtime_symbols.h): what the symbols mean ----
 *
 * Program threads call them, from constructors and destructors: general registers only, no libc.
 */

/* The handlers that LLVM's trampolines in such an object call: always none. */
extern uint64_t xray_no_handlers[4];

/*
 * The number at this interface of the object whose sled map begins at `start`; -1: it has none. Further arguments of
 * the caller are ignored: the module has read the object's file.
 */
int32_t xray_register(const void *start);

/* Is this the number of an open load other than the program? It stays so until the load is closed. */
uint8_t xray_deregister(int32_t number);

#endif
