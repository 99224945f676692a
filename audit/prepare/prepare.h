/* SPDX-License-Identifier: MIT */
/*
 * Preparing a load: finding its compile-time sites, selecting functions by the rules, and patching them before any code
 * of the object can run. Functions that are off but may be switched on live are made ready (key `prepare` of the
 * rules): NOPs of one byte are joined; stubs are written, or address space is kept for them. In la_objopen only, under
 * ld.so's lock; takes the process lock for what it publishes.
 */
#ifndef XAUDIT_PREPARE_H
#define XAUDIT_PREPARE_H

#include "audit/model/object.h"
#include "audit/prepare/image.h"

/* image: of the load, as la_objopen found it. */
void prepare(struct load *load, const struct image *image);

/*
 * An object of the program can use the XRay interface: from now on, the XRay functions of all objects are known, also
 * of objects that the rules don't name. These functions stay as they are until the program has them patched. In
 * la_objopen, before prepare().
 */
void prepare_for_interface(void);

#endif
