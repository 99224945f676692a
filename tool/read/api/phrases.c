/* SPDX-License-Identifier: MIT */
/* Words for the numbers in a trace. */
#include "format/trace.h"
#include "tool/read/api/xaudit-read.h"

#define NUMBER_OF(words) (sizeof(words) / sizeof(*(words)))
#define WORD_OF(words, number) ((number) < NUMBER_OF(words) ? (words)[number] : NULL)

#define X(number, NAME, word) [number] = (word),
static const char *const kinds[] = { TRACE_KINDS(X) };
static const char *const reasons[] = { TRACE_REASONS(X) };
static const char *const causes[] = { TRACE_LOST_CAUSES(X) };
#undef X

const char *xaudit_read_state_word(int state)
{
	static const char *const words[] = {
		[XAUDIT_READ_STATE_ENDED] = "ended",
		[XAUDIT_READ_STATE_RUNNING] = "running",
		[XAUDIT_READ_STATE_EXECUTED] = "executed",
		[XAUDIT_READ_STATE_GONE] = "gone",
		[XAUDIT_READ_STATE_LEFT] = "left",
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
	return WORD_OF(kinds, kind);
}

const char *xaudit_read_reason_phrase(uint32_t reason)
{
	return WORD_OF(reasons, reason);
}

const char *xaudit_read_lost_phrase(uint32_t cause)
{
	return WORD_OF(causes, cause);
}
