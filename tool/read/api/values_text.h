/* SPDX-License-Identifier: MIT */
/* Texts of values for people, as xaudit-read-values.h has them, with more to choose. Any thread. */
#ifndef XAUDIT_TOOL_READ_API_VALUES_TEXT_H
#define XAUDIT_TOOL_READ_API_VALUES_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "tool/read/api/xaudit-read.h"

/* How texts of values are made, beyond what xaudit-read-values.h says. */
struct read_api_view {
	size_t text; /* of a text, so many bytes at most */
	const char *(*descriptor)(void *user, int64_t number); /* what it is; NULL: not known. May be NULL */
	void *user;
};

/* As xaudit_read_arguments_text() and xaudit_read_result_text(). */
size_t read_api_arguments(
	const struct xaudit_read_call *call, const struct read_api_view *view, char *to, size_t room);
size_t read_api_outcome(const struct xaudit_read_call *call, const struct read_api_view *view, char *to, size_t room);

#endif
