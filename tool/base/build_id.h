/* SPDX-License-Identifier: MIT */
/* Build-ids of files, as libelf has them, and in hex, as traces have them. */
#ifndef XAUDIT_TOOL_BUILD_ID_H
#define XAUDIT_TOOL_BUILD_ID_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* Is the file's build-id this one? size: of its bytes; 0 or less: it has none. */
static inline bool build_id_is(const void *bytes, ssize_t size, const char *hex)
{
	if (size <= 0 || strlen(hex) != 2 * (size_t)size)
		return false;
	for (ssize_t i = 0; i < size; i++) {
		char byte[3];
		snprintf(byte, sizeof(byte), "%02x", ((const unsigned char *)bytes)[i]);
		if (strncmp(byte, hex + 2 * i, 2))
			return false;
	}
	return true;
}

#endif
