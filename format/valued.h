/* SPDX-License-Identifier: MIT */
/*
 * The id of TRACE_VALUED (trace.h): the number of the layout (TRACE_REC_LAYOUT), how many words the payload has, and
 * whether states come first (values.h). KEPT is what TRACE_ENTRY_KEPT is to TRACE_ENTRY. LATE: the payload was written
 * after the event, its first word last; until then this word is the chunk's token, and the event is not whole.
 */
#ifndef XAUDIT_FORMAT_VALUED_H
#define XAUDIT_FORMAT_VALUED_H

#define TRACE_LAYOUT_BITS	 18
#define TRACE_LAYOUT_MAX	 ((1u << TRACE_LAYOUT_BITS) - 1)
#define TRACE_VALUED_FLAWED	 (1u << (TRACE_ID_BITS - 1))
#define TRACE_VALUED_KEPT	 (1u << (TRACE_ID_BITS - 2))
#define TRACE_VALUED_LATE(words) (0xf0u + (words) - 1) /* in place of 1 to 16 words; else they are less than 0xf0 */
#define TRACE_VALUED_ID(layout, words)	((uint32_t)(layout) << 8 | (uint32_t)(words))
#define TRACE_VALUED_LAYOUT(id)		((id) >> 8 & TRACE_LAYOUT_MAX)
#define TRACE_VALUED_IS_LATE(id)	(((id) & 0xff) >= TRACE_VALUED_LATE(1))
#define TRACE_VALUED_WORDS(id)		(TRACE_VALUED_IS_LATE(id) ? ((id) & 0xf) + 1 : (id) & 0xff)

/* What stands in its place, as in that of a reservation, when the event is none after all. */
#define TRACE_GIVEN_UP_OF(event) \
	TRACE_EVENT(TRACE_CONTROL, TRACE_CONTROL_ID(TRACE_GIVEN_UP, TRACE_PAYLOAD_OF(event)), event)

#define TRACE_IS_LATE(event) (TRACE_TYPE_OF(event) == TRACE_VALUED && TRACE_VALUED_IS_LATE(TRACE_ID_OF(event)))

#endif
