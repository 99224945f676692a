/* SPDX-License-Identifier: MIT */
/*
 * The builder of call stacks: makes calls of the events of one thread record, in their order. No other place knows
 * which end ends which call. Code that takes runs of plain words by itself asks read_word_end_id() (decode.h).
 *
 * A call is open from its entry to its end: TRACE_EXIT, TRACE_TAIL or TRACE_UNWIND. An end that is not the innermost
 * call's also ends all calls inside of its own, at that time (READ_CALL_CUT). If no call of its function is open it is
 * an orphan: the call began before the trace, or was lost; but TRACE_UNWIND then says nothing (format/trace.h). Calls
 * that are open where events were lost or overwritten (read_calls_drop), where another thread takes the record over, or
 * when events end, have no end and no time: they may have ended there, and an end that follows may be another call's.
 *
 * Code that counts puts read_calls_event() into an event hook of its own, with a struct read_calls_hooks that the
 * compiler knows, so that all of it becomes one loop with read_decode_block(). Code that gets events one by one calls
 * read_calls_take().
 *
 * It has no state but its arguments; nothing here is thread-safe or async-signal-safe. Memory: per open call.
 */
#ifndef XAUDIT_TOOL_READ_CALLS_H
#define XAUDIT_TOOL_READ_CALLS_H

#include "tool/read/events/decode.h"

#define READ_CALLS_MOST (1u << 24) /* open at once; no stack is so deep */

/* An open call. call[-1] is the one around it. */
struct read_call {
	uint64_t start; /* as told to the builder: ticks or ns */
	uint32_t id;
	uint32_t row; /* this and the rest belong to the caller; first it is 0 or what an earlier call left */
	uint64_t child;
	uint64_t inner;
	union {
		uint64_t outer;
		void *user;
	};
	uint64_t on, on_child, on_inner;
};

struct read_calls {
	struct read_call *frame; /* frame[0] is no call: its id is no function's. frame[-1] is there, for fast.c */
	/* the innermost one, or frame[0]. In hooks of read_calls_event() it may be out of date */
	struct read_call *top;
	struct read_call *limit;
	bool no_memory; /* there was none for one more call, so `deep` was called */
};

enum read_call_end {
	READ_CALL_RETURNED = TRACE_EXIT,
	READ_CALL_JUMPED = TRACE_TAIL,
	READ_CALL_UNWOUND = TRACE_UNWIND,
	READ_CALL_CUT, /* without an end of its own: a call around it ended */
};

/* `at` is what read_calls_event() was given; of read_calls_take(), 0. */
struct read_calls_hooks {
	/* A call was opened. Don't keep the pointer: calls may move. */
	void (*enter)(void *user, struct read_call *call, size_t at);
	/* Called in place of enter, when READ_CALLS_MOST are open, or calls->no_memory. */
	void (*deep)(void *user, uint32_t id, size_t at);
	/* A call ends: call[-1] becomes the innermost. drop: a call is given up without an end. */
	void (*end)(void *user, struct read_call *call, enum read_call_end how, uint64_t now);
	void (*drop)(void *user, struct read_call *call);
	/* A call whose end is not recorded. */
	void (*point)(void *user, uint32_t id, uint64_t now, size_t at);
	/*
	 * May a call of the function be open? false spares the search. Called for each end that is not the innermost
	 * call's.
	 */
	bool (*may_be_open)(void *user, uint32_t id, size_t at);
	void (*orphan)(void *user, uint32_t id, uint64_t now);
};

/* Returns false where there is no memory. */
bool read_calls_open(struct read_calls *calls);
void read_calls_close(struct read_calls *calls);

/* Makes room for one more call. Returns false when READ_CALLS_MOST are open, or if there is no memory. */
bool read_calls_grow(struct read_calls *calls);

/* How many calls are open. */
static inline size_t read_calls_depth(const struct read_calls *calls)
{
	return (size_t)(calls->top - calls->frame);
}

/* Gives up all open calls, without ends, and what frame[0] has of the calls in it. */
void read_calls_drop(struct read_calls *calls, const struct read_calls_hooks *hooks, void *user);

/* A call begins: what of it does not belong to the caller. */
READ_INLINE void read_calls_begin(struct read_call *call, uint32_t id, uint64_t now)
{
	call->start = now;
	call->id = id;
}

/* Takes an event. */
void read_calls_take(struct read_calls *calls, const struct read_calls_hooks *hooks, void *user, enum trace_type type,
	uint32_t id, uint64_t now);

/* Takes an event that is neither an entry nor the return of the innermost call. */
void read_calls_take_rare(struct read_calls *calls, const struct read_calls_hooks *hooks, void *user,
	enum trace_type type, uint32_t id, uint64_t now, size_t at);

/*
 * As read_calls_take(), but *top, which the loop keeps in a register, stands for calls->top. Before a call of another
 * function that needs calls->top, as read_calls_drop(), the caller stores it there, and loads it again afterwards.
 */
READ_INLINE void read_calls_event(struct read_calls *calls, struct read_call **top,
	const struct read_calls_hooks *hooks, void *user, enum trace_type type, uint32_t id, uint64_t now, size_t at)
{
	if (type == TRACE_ENTRY) {
		if (read_unlikely(*top + 1 == calls->limit)) {
			calls->top = *top;
			if (!read_calls_grow(calls)) {
				hooks->deep(user, id, at);
				return;
			}
			*top = calls->top;
		}
		struct read_call *call = ++*top;
		read_calls_begin(call, id, now);
		hooks->enter(user, call, at);
	} else if (read_likely(type == TRACE_EXIT && (*top)->id == id)) {
		hooks->end(user, (*top)--, READ_CALL_RETURNED, now);
	} else {
		calls->top = *top;
		read_calls_take_rare(calls, hooks, user, type, id, now, at);
		*top = calls->top;
	}
}

#endif
