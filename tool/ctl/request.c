/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tool/ctl/request.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/process/process.h" /* PROCESS_OFF */
#include "tool/base/memory.h"
#include "tool/base/now.h"
#include "tool/base/tool.h"
#include "tool/ctl/find_module.h"
#include "tool/ctl/indexes.h"
#include "tool/ctl/patch.h"
#include "tool/ctl/process.h"
#include "tool/ctl/remote_call.h"
#include "tool/ctl/world.h"

#define MS	 1000000ull
#define PATIENCE (2000 * MS)
#define MOST_PATCHES (1u << 22)
/* How often it is tried anew to write where something stood in the bytes, and when. */
#define MOST_TRIES   5
#define LET_ON	     (2 * MS)

/* Code bytes of an answer: writes them, and tells the module. */
static int apply(struct ctl_world *world, struct control_request *request, struct ctl_written *written)
{
	struct control_request done = { .op = CONTROL_WRITTEN };
	struct control_patch *patch;
	size_t count = request->patch_count, size = count * sizeof(*patch);
	int r;

	if (request->patch_count > MOST_PATCHES) {
		tool_error("ctl", "process %d: libxaudit.so gives a damaged answer; please report this",
			(int)world->process->pid);
		return -1;
	}
	patch = memory_zeroed(count ? count : 1, sizeof(*patch));
	if (!ctl_read(world->process, request->patches, patch, size) && count) {
		tool_error("ctl", "process %d: libxaudit.so gives a damaged answer; please report this",
			(int)world->process->pid);
		r = -1;
	} else {
		r = ctl_patch(world, patch, count, written);
	}
	free(patch);
	if (r)
		return -1;
	if (request->op == CONTROL_DISABLE || request->op == CONTROL_PROBES)
		done.argument |= CONTROL_GIVE_BACK;
	if (!written->refused_bytes && !written->refused_straddle && !written->refused_position && !written->guarded)
		done.argument |= CONTROL_ALL_WRITTEN;
	r = ctl_call(world, &done);
	/* If no thread can be asked now it does not matter: the next request does the rest. */
	request->pages = r == 0 && done.error == 0 ? done.pages : 0;
	return r < 0 && r != -EAGAIN ? -1 : 0;
}

/* Adds what a later attempt did: it was asked for all that was left, and what lay in the way of some may be gone. */
static void take_left(struct ctl_written *written, const struct ctl_written *more)
{
	written->sites += more->sites;
	written->writes += more->writes;
	written->moved += more->moved;
	written->refused_bytes = more->refused_bytes;
	written->refused_straddle = more->refused_straddle;
	written->refused_position = more->refused_position;
	written->guarded = more->guarded;
}

/*
 * Probes whose stubs had no memory before those of former ones were gone: once more, while the process stands. What
 * can't be done now, later attempts do.
 */
static int apply_again(struct ctl_world *world, struct control_request *request, struct ctl_written *written)
{
	struct control_request *again = memory_zeroed(1, sizeof(*again));
	struct ctl_written more = { 0 };

	again->op = request->op;
	int r = ctl_call(world, again);
	if (r == 0 && again->error == 0)
		r = apply(world, again, &more);
	if (r == 0 && again->error == 0) {
		request->result = again->result;
		take_left(written, &more);
	}
	free(again);
	return r == -EAGAIN ? 0 : r;
}

/* One attempt: as ctl_call(). */
static int attempt(struct ctl_world *world, struct control_request *request, const struct ctl_indexes *indexes,
	struct ctl_written *written)
{
	int r = ctl_stop(world);

	if (r)
		return r;
	ctl_limit_begin();
	if (indexes)
		r = ctl_indexes_give(indexes, world, request);
	/* Without room for them nothing would be asked for. */
	if (r == 0 && request->op == CONTROL_PROBES && indexes && !request->argument)
		request->error = -ENOMEM;
	else if (r == 0)
		r = ctl_call(world, request);
	if (r == 0 && request->error == -EAGAIN)
		r = -EAGAIN;
	if (r == 0 && request->error == 0 && written)
		r = apply(world, request, written);
	if (r == 0 && request->error == 0 && written && request->result.again && !written->guarded)
		r = apply_again(world, request, written);
	ctl_go(world);
	return r;
}

/*
 * Once more for the sites whose bytes something stood in (tool/ctl/position.h): when the program went on for a moment,
 * it is elsewhere as a rule. The request's answer stays that of the first time, but for what is to be asked again.
 */
static int try_again(struct ctl_world *world, struct control_request *request, struct ctl_written *written)
{
	struct control_request *again = memory_zeroed(1, sizeof(*again));
	int r = 0;

	for (int tries = 0; r == 0 && (written->refused_position || request->result.again) && tries < MOST_TRIES;
		tries++) {
		struct ctl_written more = { 0 };
		ctl_wait(LET_ON);
		*again = *request;
		again->argument = 0;
		r = attempt(world, again, NULL, &more);
		if (r == 0 && again->error == 0) {
			take_left(written, &more);
			request->result.again = again->result.again;
		}
	}
	free(again);
	/* What was done is done. */
	return r == -EAGAIN ? 0 : r;
}

static bool say_error(const struct ctl_process *process, int error)
{
	int pid = (int)process->pid;
	char *why;

	if (error && process->denied) {
		tool_error("ctl",
			"process %d: its filter of system calls (seccomp) is in the way, and would end it; root has it "
			"suspended meanwhile",
			pid);
		return false;
	}
	switch (error) {
	case 0:
		return true;
	case -ECANCELED:
		why = ctl_why(process);
		tool_error("ctl", "process %d: nothing is recorded there: %s", pid,
			why ? why : "the program allows itself no system calls (SECCOMP_MODE_STRICT)");
		free(why);
		break;
	case -ENOMEM:
		tool_error("ctl", "process %d has no memory for this", pid);
		break;
	default:
		tool_error("ctl", "process %d: libxaudit.so can't do this: %s", pid, strerror(-error));
	}
	return false;
}

static void say_in_the_way(const struct ctl_world *world, pid_t stuck)
{
	int pid = (int)world->process->pid;
	char state = stuck ? ctl_state(world->process->pid, stuck) : 0;

	if (stuck)
		tool_error("ctl", "process %d: thread %d does not stop (%s); nothing was changed, try again", pid,
			(int)stuck,
			state == 'D' ? "it waits for a device, or for the child of its vfork"
				     : "it gets no time to run");
	else
		tool_error("ctl",
			"process %d is busy with its libraries, or with another xaudit ctl; nothing was changed, try "
			"again",
			pid);
}

/*
 * Is the answer known without a stop? Where xaudit is off it does nothing, and what is as it is asked to be does not
 * change. A request that another tool makes at the same time may come before this one, or after it.
 */
static bool is_answered(const struct ctl_process *process, struct control_request *request)
{
	const struct control_block *b = &process->block;
	uint32_t state, calm;
	enum trace_mode mode;
	int recording;

	if (!ctl_read(process, (uintptr_t)b->state, &state, sizeof(state)) ||
		!ctl_read(process, (uintptr_t)b->mode, &mode, sizeof(mode)) ||
		!ctl_read(process, (uintptr_t)b->recording, &recording, sizeof(recording)) ||
		!ctl_read(process, (uintptr_t)b->calm, &calm, sizeof(calm)))
		return false;
	request->error = state == PROCESS_OFF ? -ECANCELED : 0;
	if (request->error)
		return true;
	switch (request->op) {
	case CONTROL_START:
		return recording;
	case CONTROL_STOP:
		return !recording;
	case CONTROL_MODE:
		return request->argument == mode;
	case CONTROL_DISABLE:
		/* Of another rule the module alone tells whether it names something. */
		return calm && !memcmp(request->text, "*\0", 3);
	default:
		return false;
	}
}

bool ctl_request(struct ctl_process *process, struct control_request *request, const struct ctl_indexes *indexes,
	struct ctl_written *written, uint64_t *pause)
{
	struct ctl_world world = { .process = process };
	uint64_t begin = tool_now();
	sigset_t child;
	pid_t stuck = 0;
	int r;

	*pause = 0;
	if (is_answered(process, request))
		return say_error(process, request->error);
	/* Two that trace the process at once are refused by the kernel, which says why then. */
	ctl_alone(process);
	/* For ctl_wait(). */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	while ((r = attempt(&world, request, indexes, written)) == -EAGAIN && tool_now() - begin < PATIENCE) {
		stuck = world.stuck;
		/* The program shall get on meanwhile. */
		ctl_wait(stuck ? 20 * MS : MS);
	}
	if (r == 0 && request->error == 0 && written)
		r = try_again(&world, request, written);
	*pause = world.pause;
	if (r == -EAGAIN)
		say_in_the_way(&world, stuck);
	ctl_world_free(&world);
	return r == 0 && say_error(process, request->error);
}
