/* SPDX-License-Identifier: MIT */
/* Words for the numbers in a trace. */
#include "format/trace.h"
#include "tool/read/api/xaudit-read.h"

#define NUMBER_OF(words) (sizeof(words) / sizeof(*(words)))

const char *xaudit_read_state_word(int state)
{
	static const char *const words[] = {
		[XAUDIT_READ_STATE_ENDED] = "ended",
		[XAUDIT_READ_STATE_RUNNING] = "running",
		[XAUDIT_READ_STATE_EXECUTED] = "executed",
		[XAUDIT_READ_STATE_GONE] = "gone",
	};

	return state > 0 && (size_t)state < NUMBER_OF(words) ? words[state] : NULL;
}

const char *xaudit_read_mode_word(uint64_t mode)
{
	static const char *const words[] = {
		[TRACE_MODE_STREAM] = "stream", [TRACE_MODE_RING] = "ring", [TRACE_MODE_COUNT] = "count"
	};

	return mode < NUMBER_OF(words) ? words[mode] : "?";
}

const char *xaudit_read_kind_word(uint32_t kind)
{
	static const char *const words[] = {
#define X(number, NAME, word) [number] = word,
		TRACE_KINDS(X)
#undef X
	};

	return kind < NUMBER_OF(words) ? words[kind] : NULL;
}

const char *xaudit_read_reason_phrase(uint32_t reason)
{
	static const char *const phrases[] = {
#define X(number, NAME, phrase) [number] = phrase,
		TRACE_REASONS(X)
#undef X
	};

	return reason < NUMBER_OF(phrases) ? phrases[reason] : NULL;
}

const char *xaudit_read_lost_phrase(uint32_t cause)
{
	static const char *const phrases[] = {
#define X(number, NAME, phrase) [number] = phrase,
		TRACE_LOST_CAUSES(X)
#undef X
	};

	return cause < NUMBER_OF(phrases) ? phrases[cause] : NULL;
}
