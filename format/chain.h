/* SPDX-License-Identifier: MIT */
/*
 * Backtraces: the chain of callers that an event has as a value (VALUES_TYPE_STACK, format/values.h).
 *
 * The value is a key of 8 bytes, which stands for the chain: equal chains of a process have equal keys, others have
 * others (a hash of 64 bits). What the chain is, is told in each chunk once, or more often: by an event whose payload
 * goes on behind its values and the zeros that fill their last word. These words, up to the end of the payload, are the
 * chain of that event's one value of this type: the callers, the innermost first, then one that tells why there are no
 * more. So each chunk can be read alone. A key of 0: there is no chain.
 *
 * The first caller is where the function returns to: the function itself is not in the chain.
 *
 * Custom events have them, too: the key is the word behind the data's, and the chain what follows (TRACE_CUSTOM). The
 * first caller is then who made the event: where the program's call of xaudit_event() returns to, or goes on behind an
 * event sled. Both kinds of events tell of the same keys.
 */
#ifndef XAUDIT_FORMAT_CHAIN_H
#define XAUDIT_FORMAT_CHAIN_H

#include <stdint.h>

#define CHAIN_DEFAULT 32 /* callers, most, if nothing else is said */
#define CHAIN_MOST    100

/*
 * A caller: an address in the process. As a rule the one behind a call, so the call is what lies before it; EXACT: the
 * instruction at which a signal came in. BY_FRAME: there was no table for the code further in, and the caller is what
 * its frame pointer says. The last word: END, and enum chain_end.
 */
#define CHAIN_ADDRESS  ((1ull << 56) - 1)
#define CHAIN_EXACT    (1ull << 63)
#define CHAIN_BY_FRAME (1ull << 62)
#define CHAIN_END      (1ull << 61)

/* X(number, NAME, "why a chain ends, after the words `the backtrace ends here:`") */
#define CHAIN_ENDS(X)                                                                        \
	X(0, BOTTOM, "nobody called it")                                                     \
	X(1, MOST, "as many callers as were asked for")                                      \
	X(2, NO_TABLE, "code without unwind information, which keeps no frame pointer")      \
	X(3, RULE, "unwind information in a form that is not followed")                      \
	X(4, MEMORY, "its stack can't be read")                                              \
	X(5, ODD, "unwind information that leads nowhere")

enum chain_end {
#define X(number, NAME, phrase) CHAIN_END_##NAME = number,
	CHAIN_ENDS(X)
#undef X
	CHAIN_END_COUNT
};

#endif
