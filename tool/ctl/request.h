/* SPDX-License-Identifier: MIT */
/*
 * A request of `xaudit ctl` to the module, as a whole, with all its attempts: all threads are stopped (world.h), one of
 * them is let call the module (remote_call.h), after it has been given what it lacks (indexes.h), they are brought out
 * of bytes that change (position.h), those are written (patch.h), and all go on.
 *
 * Killed at any moment, the tool leaves a process that runs on: the kernel lets the threads go, and between any two of
 * the tool's system calls the process is whole. Exceptions are marked where they happen.
 */
#ifndef XAUDIT_TOOL_CTL_REQUEST_H
#define XAUDIT_TOOL_CTL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct control_request;
struct ctl_indexes;
struct ctl_process;
struct ctl_written;

/*
 * Stops, calls, writes and lets go; repeats that for at most two seconds after -EAGAIN. Returns whether it was done; if
 * not, has said why. What would change nothing is answered without a stop. indexes: what the request brings along
 * (tool/ctl/indexes.h), or NULL; written may be NULL for requests without patches; pause: ns.
 */
bool ctl_request(struct ctl_process *process, struct control_request *request, const struct ctl_indexes *indexes,
	struct ctl_written *written, uint64_t *pause);

#endif
