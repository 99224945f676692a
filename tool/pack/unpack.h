/* SPDX-License-Identifier: MIT */
/* Packed traces as files again. One thread. */
#ifndef XAUDIT_TOOL_PACK_UNPACK_H
#define XAUDIT_TOOL_PACK_UNPACK_H

/* Reads all of a packed trace. Returns 0, or -1 after one line on stderr: not all of it can be read. */
int unpack_check(const char *command, const char *path);

#endif
