/* SPDX-License-Identifier: MIT */
/* What the files of make_trace share; see make_trace.c. */
#ifndef XAUDIT_T_LIB_MAKE_TRACE_H
#define XAUDIT_T_LIB_MAKE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/stream.h"
#include "format/trace.h"

/* The trace's folder. The process that is being written, and its folder. */
extern const char *dir;
extern struct trace_head head;
extern int process_fd, meta_fd;
extern uint64_t meta_used;
extern uint32_t thread_count;
extern uint64_t step; /* the loop's step of time */

/* Ends the program: the line of the script is wrong. */
void fail(const char *what);

uint64_t number(const char *text);
void write_at(int fd, const void *from, size_t size, uint64_t offset);

/* The value of KEY=VALUE, or NULL if it is another key. */
const char *value_of(const char *word, const char *key);

/* The time of the last event, and one more event of a call. */
extern uint64_t last_time;
void put_event(uint32_t type, uint32_t id, uint64_t time);

/* One more event, of any type, with so many words behind it. */
void put_with_payload(uint32_t type, uint32_t id, uint64_t time, const uint64_t *payload, size_t words);

/* The first word of the last payload, which has so many, was not written: it is the chunk's token. */
void forget_payload(size_t words);

/* The number of a type of event of calls, by its name: "entry". */
uint32_t type_named(const char *name);

/* ---- make_trace_many.c ---- */

/* Is it a command that writes many events? The second one carries it out, where there is a chunk. */
bool many_is(char **word, int words);
void many_put(char **word);

/* ---- make_trace_places.c ---- */

/*
 * The first begins the places of a new folder; the second ends the file after the last process, so that the last place
 * is whole.
 */
void places_begin(void);
void places_end(void);

/* Takes so many places for the process. Returns the number of the first. */
uint32_t places_take(uint32_t n, unsigned what, uint32_t number);
uint64_t place_size(void);

/* Appends to the records of the process. */
void put_records(const void *from, size_t size);

/* The first: the process forks. The second: the child with that pid becomes the current process (`head`, meta_used). */
void places_fork(uint32_t pid);
void places_child(uint32_t pid);

/* ---- make_trace_sched.c ---- */

/* Takes a command about times on processors; false: it is another one. */
bool sched_command(char **word, int words);

/* ---- make_trace_dense.c ---- */

/* Makes codes of so many words. Returns how many; 0: there is no room. */
size_t dense_codes(const uint64_t *word, size_t count, uint64_t clock, uint16_t *to, size_t room);

/* ---- make_trace_values.c ---- */

/* Take a command about values; false: it is another one. */
bool values_meta_command(char **word, int words);
bool values_thread_command(char **word, int words);

/* ---- make_trace_meta.c ---- */

/* Appends a record: a structure that begins with its header, and what follows it. */
void put_record(uint32_t type, const void *fixed, size_t fixed_size, const void *tail, size_t tail_size);

/* Adds a line to DIR/record. */
void append_record(const char *text);

/* Sets fields of the head: KEY=VALUE... */
void set_head(char **word, int words);

/* Adds lost events to the head. */
void head_loses(enum trace_lost cause, uint64_t n);

/* This moment on all clocks. */
struct trace_pair pair_now(void);
struct trace_pair pair_after(const struct trace_pair *first, uint64_t ticks);

/*
 * Takes a command that makes a record, or counters. Returns false if it is another one. rest: the text after the first
 * word, or after the second one of `text`.
 */
bool meta_command(char **word, int words, const char *rest);

#endif
