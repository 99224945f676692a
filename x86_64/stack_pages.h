/* SPDX-License-Identifier: MIT */
/*
 * A table from pages to their stacks, and the memory of their mirrors, for x86_64/mirror.c alone.
 *
 * Three levels of 2^11, 2^12 and 2^12 pages, mapped as they are needed. The mirror is mapped in aligned pieces of 1 MiB
 * of stack when a page there is first met. Each piece counts its pages: when the last one goes, so does the mirror.
 *
 * stack_pages_owner(): any thread, no lock. The others: process lock held. All async-signal-safe, no libc.
 */
#ifndef XAUDIT_STACK_PAGES_H
#define XAUDIT_STACK_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_PAGE  4096ul
#define STACK_PIECE (1ul << 20) /* of stack, whose mirror is mapped at once; that has twice the size */

struct stack;

/* The lowest stack that has a part of the slot's page, or NULL. */
struct stack *stack_pages_owner(uint64_t slot);

/* Extends the table to the slot's page. Returns 0 if there is no memory. */
int stack_pages_make(uint64_t slot);

/* Sets the stack of the slot's page; NULL: no stack's. The table must reach the page. */
void stack_pages_set(uint64_t slot, struct stack *stack);

/* Maps the mirror of the slot's piece, which the table reaches. Returns whether it is there. */
int stack_pages_map(uint64_t slot);

/* Can there be no mirror for the slot? It was tried, or would lie below address 0. */
bool stack_pages_are_refused(uint64_t slot);

/* The page is no stack's any more: gives its mirror back, or that of the whole piece. */
void stack_pages_drop(uint64_t slot);

#endif
