/* SPDX-License-Identifier: MIT */
/*
 * The decoder: makes events with whole times of the words of one thread record. No other place of the command knows the
 * form of a word. Code that takes runs of the plainest words by itself asks the read_word_ functions below.
 *
 * It takes a block of words from anywhere: the code that read them sets words, at and have, and begins the next block
 * `skip` words after this block's end. Two hooks are told what the words mean:
 *
 *	event	a call or its end: its type (TRACE_ENTRY to TRACE_POINT, whatever number the word has), id, time. If it
 *		has values, read_decode_values_at() finds them
 *	other	what all other words say (enum read_decoded), in fields of the decoder. Probes are among them, since no
 *		call begins or ends there: so the loops of those who count calls know nothing of them
 *
 * A hook that returns true stops the decoder after the word that it was told of. read_decode_block() is expanded where
 * it is called, and its hooks in it: report sees some 10^8 events per second. So it has to be called with hooks that
 * the compiler knows.
 *
 * It has no state but its arguments; nothing here is thread-safe or async-signal-safe.
 */
#ifndef XAUDIT_TOOL_READ_DECODE_H
#define XAUDIT_TOOL_READ_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/trace.h"
#include "tool/read/values/chains.h"

#define READ_INLINE	   static inline __attribute__((always_inline))
#define read_likely(x)   __builtin_expect(!!(x), 1)
#define read_unlikely(x) __builtin_expect(!!(x), 0)

/*
 * What the hook `other` is told. The last three, and READ_DECODED_STACK where a chunk begins, come from
 * tool/read/events/events.h.
 */
enum read_decoded {
	READ_DECODED_NOTHING, /* never told to a hook: it concerns the decoder alone */
	READ_DECODED_MORE,	 /* never told to a hook: the payload is not in the block */
	READ_DECODED_VALUED,	 /* never told to this hook: an event with values */
	READ_DECODED_THREAD,	 /* the events that follow are of thread `tid`, which has no open calls */
	READ_DECODED_CRASH,	 /* the process was about to end by `signal` */
	READ_DECODED_CUSTOM,	 /* `custom`, at `time` */
	READ_DECODED_PROBE,	 /* the thread came to a probe, at `time`: `probe` */
	READ_DECODED_STACK,	 /* the events that follow are on `stack`; READ_DECODED_THREAD sets it to 0 */
	READ_DECODED_PART,	 /* as READ_DECODED_STACK; some open calls go there, too: `calls`, `outer` */
	READ_DECODED_CHUNK,	 /* a chunk begins */
	READ_DECODED_GAP,	 /* chunks are missing before the one that begins: open calls may have ended in them */
	READ_DECODED_LOST,	 /* events were lost here: open calls may have ended in them */
};

/* A custom event. */
struct read_decode_custom {
	uint32_t type, size;
	const uint8_t *data; /* in the block: as long as that is there */
	uint64_t key; /* of its backtrace; 0: it has none */
	struct read_chain chain; /* valid until the next event; words 0: not known */
};

/* A thread came to a probe. read_decode_values_at(d, at) finds its values. */
struct read_decode_probe {
	uint32_t id;
	size_t at; /* its word in the block, the last one of its payload if it has values */
};

/* An event with values. */
struct read_decode_values {
	size_t last;	/* the hook was told that it is here; SIZE_MAX: there is none in the block */
	size_t first;	/* its own word; the payload follows */
	uint32_t layout;
	uint32_t words; /* of the payload, that are in the block: fewer than there should be only in a damaged chunk */
	bool flawed;	/* its bytes begin with states (format/values.h) */
	uint32_t event; /* high half of the word that it would be without values */
	uint64_t time;	/* ticks */
	struct read_chain chain; /* its backtrace, until the next event with values; words 0: none, or not known */
};

/* What read_decoder.event_of may say of a layout. */
#define READ_DECODE_UNKNOWN 0 /* damage */
#define READ_DECODE_LOST    1 /* it could not be recorded */

struct read_decoder {
	/* The block. */
	const uint64_t *words;
	size_t at, have;
	uint64_t rest; /* words of the chunk after the block */
	uint64_t skip; /* how many of these belong to a control word that was taken */
	bool changing; /* its last words were being written when it was read: if not whole, no damage */
	/* Notes damage at word `at` of the block. */
	void (*damage)(void *source, size_t at, const char *what);
	/* Type and id of the events that have values by a layout, as TRACE_WORD() makes them; or one of the above. */
	uint32_t (*event_of)(void *source, uint32_t layout);
	/* What the chunk told of backtraces; NULL: nobody asks. And the layout of that number, or NULL. */
	struct read_chains *chains;
	const struct read_layout *(*layout_of)(void *source, uint32_t layout);
	void *source;
	struct read_decode_values values; /* of the last event that had some; last: SIZE_MAX at a block's beginning */

	/* The thread record; kept from block to block. */
	uint64_t time; /* ticks, as the last event says; where a chunk begins, the chunk's clock */
	uint64_t token; /* the chunk's */
	uint32_t tid;
	int signal;		     /* of the last READ_DECODED_CRASH */
	uint64_t now;		     /* the latest so far; not beside `time`: gcc would keep both in one register */
	struct read_decode_custom custom; /* of the last READ_DECODED_CUSTOM */
	struct read_decode_probe probe;	  /* of the last READ_DECODED_PROBE */
	uint32_t stack;		     /* the stack that events are on; 0: not known */
	uint32_t calls;		     /* of the last READ_DECODED_PART: so many calls stay, the innermost ones; */
	bool outer;		     /* or so many go, the outermost ones */
	uint64_t unfinished;	     /* custom events that were begun, but not finished, so far */
	uint64_t valued;	     /* events with values, so far */
};

typedef bool (*read_decode_event)(
	void *user, enum trace_type type, uint32_t id, uint64_t time, uint64_t now, size_t at);
typedef bool (*read_decode_other)(void *user, enum read_decoded what);

/*
 * Time of the word `event`, from the time of the event before: the word has the low half of the clock, and lies less
 * than 2^31 ticks away in either direction.
 */
READ_INLINE uint64_t read_decode_time(uint64_t before, uint64_t event)
{
	return before + (uint64_t)(int64_t)(int32_t)((uint32_t)event - (uint32_t)before);
}

/* Is a number of a type that of a call or an end? */
READ_INLINE bool read_decode_is_event(uint32_t number)
{
	return number >= TRACE_ENTRY && number <= TRACE_POINT;
}

/* The type of a call or end. */
READ_INLINE enum trace_type read_decode_type(uint32_t number)
{
	return (enum trace_type)number;
}

/* The same, where both this and the latest time so far are kept. */
READ_INLINE void read_decode_moment(uint64_t *time, uint64_t *now, uint64_t event)
{
	*time = read_decode_time(*time, event);
	*now = *time > *now ? *time : *now;
}

/*
 * Plain words, a run of which code may take without the decoder: entries (TRACE_ENTRY), and what read_word_end_id()
 * says to be the innermost call's end (TRACE_EXIT, TRACE_TAIL). All ones for a word that is no entry, 0 for one.
 */
READ_INLINE uint64_t read_word_no_entry(uint64_t event)
{
	return -(uint64_t)(TRACE_TYPE_OF(event) != TRACE_ENTRY);
}

/* The id of an entry. */
READ_INLINE uint32_t read_word_id(uint64_t event)
{
	return TRACE_ID_OF(event);
}

/*
 * Of a plain end the id, of all other words what is no id, not even that of read_calls.frame[0]. TRACE_EXIT | 1 is
 * TRACE_TAIL: so one subtraction leaves the id of both.
 */
READ_INLINE uint32_t read_word_end_id(uint64_t event)
{
	return ((uint32_t)(event >> 32) | 1u << TRACE_ID_BITS) - TRACE_WORD(TRACE_TAIL, 0);
}

/* Was nothing written to this word yet? */
static inline bool read_decode_is_hole(uint64_t word)
{
	return TRACE_TYPE_OF(word) == TRACE_HOLE;
}

/* Is it a control word that stands where an event with values was, or should have been? */
static inline bool read_decode_is_given_up(uint64_t word)
{
	return TRACE_TYPE_OF(word) == TRACE_CONTROL && TRACE_CONTROL_SUBTYPE(TRACE_ID_OF(word)) == TRACE_GIVEN_UP;
}

/* Is an entry that was written as the first word the second one now? It may have got its other number meanwhile. */
static inline bool read_decode_is_same_entry(uint64_t before, uint64_t now)
{
	if (TRACE_TYPE_OF(before) == TRACE_VALUED)
		return (before | (uint64_t)TRACE_VALUED_KEPT << 32) == (now | (uint64_t)TRACE_VALUED_KEPT << 32);
	return before == now || (TRACE_TYPE_OF(before) == TRACE_ENTRY &&
				       (before ^ (uint64_t)(TRACE_ENTRY ^ TRACE_ENTRY_KEPT) << 60) == now);
}

/* Is it a control word whose first word of payload is written last? */
static inline bool read_decode_has_last(uint64_t word)
{
	uint32_t id = TRACE_ID_OF(word);

	return TRACE_TYPE_OF(word) == TRACE_CONTROL && TRACE_CONTROL_WORDS(id) && !read_decode_is_given_up(word);
}

/* Is an event with values being written there, or was its writer stopped? */
static inline bool read_decode_is_reserved(uint64_t word)
{
	return TRACE_TYPE_OF(word) == TRACE_CONTROL && TRACE_CONTROL_SUBTYPE(TRACE_ID_OF(word)) == TRACE_RESERVED;
}

/* The values of the event, or of the probe, that a hook was told to be at `at`; NULL: it has none. */
static inline const struct read_decode_values *read_decode_values_at(const struct read_decoder *d, size_t at)
{
	return d->values.last == at ? &d->values : NULL;
}

/*
 * Takes the word at d->at, which is no plain event, with its payload, and moves d->at over both, unless it returns
 * READ_DECODED_MORE.
 */
enum read_decoded read_decode_control(struct read_decoder *d);

/*
 * Takes the words of the block: all, or up to a control word whose payload is not in the block. That word is left in
 * place, for a block that goes on further. Returns true if a hook said stop.
 */
READ_INLINE bool read_decode_block(struct read_decoder *d, read_decode_event take, read_decode_other other, void *user)
{
	const uint64_t *words = d->words;
	uint64_t time = d->time, now = d->now;
	size_t at = d->at, have = d->have;
	bool stop = false;

	while (at < have && !stop) {
		uint64_t event = words[at];
		uint32_t number = TRACE_TYPE_OF(event);

		if (read_likely(read_decode_is_event(number))) {
take_event:
			read_decode_moment(&time, &now, event);
			stop = take(user, read_decode_type(number), TRACE_ID_OF(event), time, now, at);
			at++;
		} else if (number == TRACE_HOLE) {
			at++;
		} else if (number == TRACE_ENTRY_KEPT) {
			number = TRACE_ENTRY;
			goto take_event;
		} else {
			d->at = at;
			d->time = time;
			d->now = now;
			enum read_decoded what = read_decode_control(d);
			if (what == READ_DECODED_MORE)
				return false;
			if (what == READ_DECODED_VALUED) {
				at = d->values.last;
				event = (uint64_t)d->values.event << 32 | (uint32_t)event;
				number = TRACE_TYPE_OF(event);
				goto take_event;
			}
			stop = what != READ_DECODED_NOTHING && other(user, what);
			at = d->at;
			time = d->time;
			now = d->now;
		}
	}
	d->at = at;
	d->time = time;
	d->now = now;
	return stop;
}

#endif
