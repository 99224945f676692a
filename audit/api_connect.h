/* SPDX-License-Identifier: MIT */
/* Connecting libxaudit-api, in la_objopen: objects that link it have tables to be filled in (audit/live/api.h). */
#ifndef XAUDIT_API_CONNECT_H
#define XAUDIT_API_CONNECT_H

#include "audit/prepare/image.h"

/* Fills in the object's tables. Returns whether the object may use the XRay interface. */
int api_connect(const struct image *image);

/* Some object may set handlers. */
extern int api_handlers;

#endif
