/* SPDX-License-Identifier: MIT */
/*
 * Numbers that C and assembly share. Compiled to assembly only; the build turns each marked line into a #define in offsets.h.
 */
#include <stddef.h>

#include "runtime/trace.h"
#include "x86_64/stub.h"
#include "x86_64/tramp.h"

#define NUMBER(name, value) __asm__ volatile("\n.ascii \"->" #name " %0\"" : : "i"((long)(value)))

void offsets(void);

void offsets(void)
{
	NUMBER(STACK_LOW, offsetof(struct tramp_stack, low));
	NUMBER(STACK_SIZE, offsetof(struct tramp_stack, size));
	NUMBER(STACK_TOP, offsetof(struct tramp_stack, top));
	NUMBER(STATE_STACK, offsetof(struct tramp_state, stack));
	NUMBER(STATE_CURSOR, offsetof(struct tramp_state, cursor));
	NUMBER(STATE_CHUNK_BIT, offsetof(struct tramp_state, chunk_bit));
	NUMBER(STATE_SPAN, offsetof(struct tramp_state, span));
	NUMBER(STATE_COUNT_LIMIT, offsetof(struct tramp_state, count_limit));
	NUMBER(STATE_COUNTS, offsetof(struct tramp_state, counts));
	NUMBER(ENTRY_ADDRESS, offsetof(struct mirror_entry, address));
	NUMBER(ENTRY_WORD, offsetof(struct mirror_entry, word));
	NUMBER(ENTRY_LINK, offsetof(struct mirror_entry, link));
	NUMBER(ID_MASK, TRACE_ID_MASK);
	NUMBER(WORD_ENTRY, (unsigned long)TRACE_WORD(TRACE_ENTRY, 0));
	/* What to xor into an entry's word to make it another type's. */
	NUMBER(ENTRY_TO_EXIT, TRACE_WORD(TRACE_ENTRY, 0) ^ TRACE_WORD(TRACE_EXIT, 0));
	NUMBER(ENTRY_TO_TAIL, TRACE_WORD(TRACE_ENTRY, 0) ^ TRACE_WORD(TRACE_TAIL, 0));
	NUMBER(ENTRY_TO_POINT, TRACE_WORD(TRACE_ENTRY, 0) ^ TRACE_WORD(TRACE_POINT, 0));
	NUMBER(EVENT_INTERCEPT, TRAMP_INTERCEPT * sizeof(void *));
	NUMBER(EVENT_POINT, TRAMP_POINT * sizeof(void *));
	NUMBER(EVENT_XRAY_ENTRY, TRAMP_XRAY_ENTRY * sizeof(void *));
	NUMBER(EVENT_XRAY_EXIT, TRAMP_XRAY_EXIT * sizeof(void *));
	NUMBER(EVENT_XRAY_TAIL, TRAMP_XRAY_TAIL * sizeof(void *));
	NUMBER(EVENT_LANDED, TRAMP_LANDED * sizeof(void *));
	NUMBER(EVENT_JUMP, TRAMP_JUMP * sizeof(void *));
	NUMBER(ANSWER_AGAIN, TRAMP_AGAIN);
	NUMBER(ANSWER_POINTED, TRAMP_POINTED);
	NUMBER(ANSWER_PASS, TRAMP_PASS);
}
