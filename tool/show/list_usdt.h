/* SPDX-License-Identifier: MIT */
/* xaudit list --usdt: the file's own probes (tool/probe/usdt.h). One thread. */
#ifndef XAUDIT_TOOL_SHOW_LIST_USDT_H
#define XAUDIT_TOOL_SHOW_LIST_USDT_H

#include "tool/show/list.h"

/* fd: of the file. Returns 0, or -errno: it can't be read. */
int list_usdt(const struct list *list, int fd);

#endif
