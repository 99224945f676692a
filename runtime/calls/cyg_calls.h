/* SPDX-License-Identifier: MIT */
/*
 * Calls that the program tells of: a function that is compiled with -finstrument-functions calls one function of ours
 * at its beginning and one at its end, with its own address and its return address.
 *
 * An open call is an entry of the mirror's chain (runtime/calls/calls.h), as an XRay function's, kept below the slot of
 * the frame's return address; that slot is looked for, as the first word above the call to us that holds the address.
 * In a frame that is larger than 256 KiB it is not; then the call is kept above the slot of that call, in a word that
 * is the frame's, too. Where the word is in a page in which no call was made yet, the pages up to it become the
 * stack's. A function that was inlined shares the frame, and the return address, of the one that it became a part of.
 * Such calls are not in the chain: the frame's entry counts them. The trace has each by its id; readers know which end
 * is whose.
 *
 * The entry's address tells: CYG_CALL_MARK, the number of calls of inlined functions, and a few bits of where the
 * frame's own function told, beside the address (47 bits). If that function tells from there again, the frame was left
 * and is another one now, as after a jump out of a handler's stack: a function that was inlined into itself tells from
 * elsewhere. CYG_CALL_ENDED: the frame's own function has ended, it seems, though inlined ones are open (clang's leave
 * their ends out when an exception comes by); if its frame is found gone then, that is no end that the trace should
 * have.
 *
 * Any thread, async-signal-safe, no libc. Handlers of the program (runtime/handlers/) are not told of these calls.
 */
#ifndef XAUDIT_RUNTIME_CALLS_CYG_CALLS_H
#define XAUDIT_RUNTIME_CALLS_CYG_CALLS_H

#include <stdint.h>

#define CYG_CALL_MARK	 (1ull << 63)
#define CYG_CALL_ENDED	 (1ull << 62)
#define CYG_CALL_INLINED	 (1ull << 55) /* one call of an inlined function */
#define CYG_CALL_INLINED_ALL (CYG_CALL_ENDED - CYG_CALL_INLINED)
#define CYG_CALL_FROM	 (CYG_CALL_INLINED - (1ull << 47))
#define CYG_CALL_ADDRESS	 ((1ull << 47) - 1)

/*
 * The function of this id begins, or ends. returns: the address it returns to. slot: of the return address of the call
 * that tells. is_on: switched off, only a call that is open still ends.
 */
void cyg_calls_enter(uint32_t id, uint64_t returns, uint64_t slot);
void cyg_calls_leave(uint32_t id, uint64_t returns, uint64_t slot, int is_on);

#endif
