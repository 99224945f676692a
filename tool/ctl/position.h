/* SPDX-License-Identifier: MIT */
/*
 * Where the threads of a stopped process stand, when bytes of its code are to change (struct control_patch).
 *
 * In the bytes stand: the instruction pointer of a thread; that of a context which a signal handler interrupted, in the
 * frame on a stack; a return address. There are two sorts of patches:
 *  - The bytes are NOPs, or those at `resume` do the same: threads and interrupted contexts are sent there. That
 *    changes nothing for the program, so it does no harm if we are killed after it.
 *  - Instructions of a function's beginning, of which a jump takes the place (resume 0). Between two of them a thread
 *    has done the first and not yet the second, so there is no other place for it: it does the others, one
 *    step after another. A signal that comes meanwhile is delivered; what it interrupts is a context like others
 *    then. For what can't take steps (a context, a thread in a system call) the patch is left out.
 *
 * Contexts are looked for on stacks: from a thread's stack pointer up to the end of the mapping, and from that of each
 * frame of a signal found there, which may lie on another stack. For patches of the second sort any aligned word that
 * points between two of the displaced instructions counts, whatever it is: also a return address, and what a
 * scheduler or a JIT has put aside. A word that was left behind by chance leaves a patch out that could be made. Not
 * seen is a context on a stack that no thread stands on: a handler has to leave it by swapcontext() for that.
 *
 * What is not counted: return addresses behind the changed bytes, of a displaced call, since what lies there stays; and
 * those in the padding before a function, of a call before it that does not return.
 *
 * When such a jump is taken away again, threads may stand at the jump in the padding (sent to the function's first
 * instruction, as by the first sort); nobody stands within the jump, one instruction. Those in a stub or a displaced
 * copy go on there: that memory stays as long as the load does.
 *
 * One thread; all threads of the process stopped.
 */
#ifndef XAUDIT_TOOL_CTL_POSITION_H
#define XAUDIT_TOOL_CTL_POSITION_H

#include "tool/ctl/ctl.h"

/*
 * Brings out of the patches' bytes what can be brought out. left_out[i] becomes true where patch i must not be made.
 * *moved: how many threads and contexts were sent elsewhere. Returns 0, or -1 after saying why; then nothing may be
 * changed.
 */
int position_clear(struct ctl_world *world, const struct control_patch *patch, size_t count, bool *left_out,
	size_t *moved);

#endif
