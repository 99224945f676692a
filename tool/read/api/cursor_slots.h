/* SPDX-License-Identifier: MIT */
/* The functions that a cursor has met. */
#ifndef XAUDIT_TOOL_READ_API_CURSOR_SLOTS_H
#define XAUDIT_TOOL_READ_API_CURSOR_SLOTS_H

#include "tool/read/api/cursor.h"

/* The function of an id in the process at hand. Never NULL. */
struct api_slot *read_api_slot_of(struct xaudit_read_calls *c, const struct read_function *function, uint32_t id);

#endif
