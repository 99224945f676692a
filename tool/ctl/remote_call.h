/* SPDX-License-Identifier: MIT */
/* Has a stopped thread call the module: steps 1 to 4 of runtime/control.h. */
#ifndef XAUDIT_TOOL_CTL_REMOTE_CALL_H
#define XAUDIT_TOOL_CTL_REMOTE_CALL_H

#include <stdint.h>
#include <sys/types.h>

struct control_request;
struct ctl_world;

/* What becomes of one thread that was let run. */
enum ctl_event { CTL_SYSCALL, CTL_STOP, CTL_SIGNAL, CTL_GONE, CTL_NONE };

/*
 * Waits for the thread, for two seconds at most; never beyond `until` (CTL_NONE). signal: with CTL_SIGNAL, that it has
 * stopped for.
 */
enum ctl_event ctl_await(pid_t tid, int *signal, uint64_t until);

/*
 * Lets a stopped thread call control_run() with the request, and reads the answer back into it. Returns 0, -EAGAIN (no
 * thread can be asked right now), or -1 after saying why. Afterwards the thread is as before.
 */
int ctl_call(struct ctl_world *world, struct control_request *request);

#endif
