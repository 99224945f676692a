/* SPDX-License-Identifier: MIT */
/*
 * Where the threads of a stopped process stand, when bytes of its code are to change (struct control_patch).
 *
 * In the bytes stand: the instruction pointer of a thread; that of a context which a signal handler interrupted, in the
 * frame on a stack; a return address. The first two are sent elsewhere, to where the same is done:
 *  - The bytes are NOPs, or those at `resume` do the same.
 *  - A jump takes the place of instructions of a function's beginning (resume 0). Between two of them the first is done
 *    and the second is not yet; in the out-of-line copy, which is there already, the same is so: it goes on there.
 * That changes nothing for the program, so it does no harm if we are killed after it. (To let a thread take single
 * steps instead would: the kernel ends the program by SIGTRAP where the tracer dies before a step's end is taken.)
 * Where the copy has no such place, and for a thread in a system call, the patch is left out.
 *
 * Contexts are looked for on stacks: from a thread's stack pointer up to the end of the mapping, and from that of each
 * frame of a signal found there, which may lie on another stack. For patches of the second sort any other aligned word
 * that points between two of the displaced instructions counts, whatever it is, and the patch is left out: a return
 * address, or what a scheduler or a JIT has put aside. (Of probes' windows it is known where instructions begin; so
 * what their trampolines tell unwinders, an address behind the first byte of one, counts only if that is all of it.) A
 * word that was left behind by chance leaves a patch out that could be made. Not seen is a context on a stack that no
 * thread stands on: a handler has to leave it by swapcontext() for that.
 *
 * What is not counted: return addresses behind the changed bytes, of a displaced call, since what lies there stays; and
 * those in the padding before a function, of a call before it that does not return.
 *
 * When such a jump is taken away again, threads may stand at the jump in the padding (sent to the function's first
 * instruction, as by the first sort); nobody stands within the jump, one instruction. Those in a stub or a displaced
 * copy go on there: that memory stays as long as the load does. (A copy that needs a call in place may have a thread
 * anywhere before that call, in a trampoline, too: there the jump is not taken away, audit/live/entry.h.)
 *
 * A probe's stub ends with a jump to what follows the displaced instructions. When the probe is gone, and a jump is
 * written over bytes on both sides of that place, nothing may be on its way there: a guard (struct control_patch, size
 * 0) says where such a stub is, and is looked at as the bytes between displaced instructions are.
 *
 * One thread; all threads of the process stopped.
 */
#ifndef XAUDIT_TOOL_CTL_POSITION_H
#define XAUDIT_TOOL_CTL_POSITION_H

#include <stdbool.h>
#include <stddef.h>

struct control_patch;
struct ctl_world;

/*
 * Brings out of the patches' bytes what can be brought out. left_out[i] becomes true where patch i must not be made.
 * *moved: how many threads and contexts were sent elsewhere. Returns 0, or -1 after saying why; then nothing may be
 * changed.
 */
int position_clear(struct ctl_world *world, const struct control_patch *patch, size_t count, bool *left_out,
	size_t *moved);

#endif
