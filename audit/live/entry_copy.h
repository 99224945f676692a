/* SPDX-License-Identifier: MIT */
/*
 * Stubs of displaced entries (audit/live/entry.h): what the copies are, and what is written at their sites.
 *
 * A copy is made of the index's template (x86_64/displace.h). Some have a call written behind the jump, in place (enum
 * index_call_in). Where that one's first byte, ff, is to be the jump's last, the stub lies within the 16 MiB below the
 * site: as near below the load as there is room, a block has a second place for those of its functions. Where none is
 * free, the template's other one displaces the call.
 *
 *	in the file	53		push %rbx		with the jump	e9 rr rr rr ff	jmp stub
 *			e8 dd dd dd dd	call			(and from there)	    ff d0	call *%rax
 *
 * Process lock held; before the block's stubs can be executed. General registers only, no libc.
 */
#ifndef XAUDIT_AUDIT_LIVE_ENTRY_COPY_H
#define XAUDIT_AUDIT_LIVE_ENTRY_COPY_H

#include "audit/model/object.h"

/* Bytes that those of the block's copies need that don't lie in their stubs. */
size_t entry_copy_room(const struct object *object, const struct entry_block *block);

/*
 * Writes the copies, into the stubs and, where they are too long for that, from `copies` on; and the cells: each off,
 * its body 0 and its target a reason where the function can't be used in this load.
 */
void entry_copy_fill(const struct load *load, const struct entry_block *block, uint8_t *copies);

/* Maps and writes the block's stubs that must be nearer, if there is a place for them; before entry_copy_fill(). */
void entry_copy_make_near(struct load *load, struct entry_block *block);

/* The address of the stub of function i of the block. */
uint64_t entry_copy_stub(const struct load *load, const struct entry_block *block, uint32_t i);

/* The address of the copy itself, of a function that has one. */
uint64_t entry_copy_own(const struct load *load, const struct entry_block *block, uint32_t i);

/* Which call is written behind the jump of function i of the block. */
enum index_call_in entry_copy_call(const struct load *load, const struct entry_block *block, uint32_t i);

#endif
