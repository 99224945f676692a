/* SPDX-License-Identifier: MIT */
/* The options, and the numbers for the end. */
#include "tool/check/check.h"

struct check_options check_options = { .error_status = 1 };
struct check_counts check_counts;

const char *const check_kind_name[CHECK_KINDS] = {
	[CHECK_THREAD_INSIDE] = "thread-inside",
	[CHECK_SIGNAL_HANDLER] = "signal-handler",
	[CHECK_ATEXIT] = "atexit",
	[CHECK_KEY_DESTRUCTOR] = "key-destructor",
	[CHECK_THREAD_ATEXIT] = "thread-atexit",
	[CHECK_ATFORK] = "atfork",
	[CHECK_POINTER] = "pointer",
	[CHECK_LATE_CALL] = "late-call",
	[CHECK_LATE_ACCESS] = "late-access",
	[CHECK_STAYED] = "stayed",
	[CHECK_GROWTH] = "growth",
};
