/* SPDX-License-Identifier: MIT */
/*
 * What both ways of printing have in common: the lists, sorted, and what people and programs are told of threads,
 * places and functions by number. One thread.
 */
#ifndef XAUDIT_TOOL_LOCKS_SHOW_H
#define XAUDIT_TOOL_LOCKS_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/locks/read.h"
#include "tool/show/show.h"

struct locks_view {
	struct show_options show; /* first: rows of options write to it */
	uint32_t count;		  /* rows of each list */
	const struct show_colors *color;
	struct locks_reading reading;
	/* Numbers of what there is to show. */
	uint32_t *lock, *condition, *holder, *place, *chain, *inversion;
	uint32_t locks, conditions, holders, places, chains, inversions;
};

/* Sorts what was read. */
void locks_view_make(struct locks_view *view);
void locks_view_free(struct locks_view *view);

/*
 * Are all the locks of an inversion known to be the same ones each time? Not so is one in memory that comes and goes,
 * whose begin was not seen: another one may have lain there before.
 */
bool locks_inversion_is_sure(const struct locks_view *view, uint32_t inversion);

/* The name of a thread; empty. */
const char *locks_thread_name(const struct locks_view *view, uint32_t thread);

/* What a holder did, without what functions of libc do in each other. */
struct locks_path locks_path_shown(const struct locks_view *view, const struct locks_path *path);

/*
 * A name in which nothing is more than a name: of a caller, or, if no symbol tells it, where that lies. Returns buf or
 * what is valid as long as the trace.
 */
#define LOCKS_FRAME_SIZE 300
const char *locks_frame_name(const struct xaudit_read_frame *frame, char buf[LOCKS_FRAME_SIZE]);

/*
 * The function in which a lock was taken, as far as it is known: the innermost caller that is not of the libraries that
 * are made of such calls, or the traced function around the call. NULL. Likewise.
 */
const char *locks_place_name(const struct locks_view *view, uint32_t place, char buf[LOCKS_FRAME_SIZE]);

static inline const struct xaudit_read_function *locks_function_of(const struct locks_view *view, uint32_t number)
{
	return xaudit_read_function(view->reading.trace, number);
}

/* Its name; of one that is two, the one by which it has to do with locks. */
const char *locks_function_name(const struct locks_view *view, uint32_t number);

/* "mutex", "rwlock", "spin", "condition", "semaphore" */
const char *locks_kind_word(enum locks_kind kind);

/* Words for enum locks_unseen, each with its bit; ends with a row of zeros. */
extern const struct locks_unseen_word {
	unsigned bit;
	const char *word, *phrase;
} locks_unseen_words[];

#endif
