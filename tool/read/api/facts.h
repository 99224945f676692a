/* SPDX-License-Identifier: MIT */
/* What `xaudit info` tells of a process: its head, and what its records say. */
#ifndef XAUDIT_TOOL_READ_API_FACTS_H
#define XAUDIT_TOOL_READ_API_FACTS_H

#include "tool/read/api/api.h"
#include "tool/read/state.h"

void read_api_facts_free(struct read_api_facts *facts); /* NULL: nothing */

/* The change of that number in the process, which is loaded. */
void read_api_change(struct xaudit_read_change *to, struct xaudit_read_process *process, uint32_t number);

/* What the public functions call that state. */
int read_api_state(enum read_process_state state);

#endif
