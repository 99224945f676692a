/* SPDX-License-Identifier: MIT */
#include "runtime/control.h"

#include "runtime/process/epoch.h"
#include "runtime/process/process.h"
#include "runtime/record/recorder.h"
#include "x86_64/confined.h"
#include "x86_64/sys.h"

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

static struct control_request request SYS_LARGE;
static uint8_t stack[CONTROL_STACK] __attribute__((aligned(16))) SYS_LARGE; /* no memory until it is used */
static int any;
static int (*change)(struct control_request *request);

struct control_block xaudit_control;
/* The same block, for code that must not go through the global offset table. */
extern struct control_block control_block __attribute__((alias("xaudit_control"), visibility("hidden")));

void control_permit(void)
{
	/* Without Yama the kernel knows no such request; then there is nothing to ask for. */
	if (any && !confined())
		sys_call(__NR_prctl, PR_SET_PTRACER, -1, 0, 0, 0, 0);
}

void control_init(const struct control_options *options)
{
	struct control_block *block = &control_block;
	const char *version = options->version;

	any = options->any;
	change = options->change;
	control_permit();
	for (size_t i = 0; version[i] && i < sizeof(block->version) - 1; i++)
		block->version[i] = version[i];
	block->entry = control_entry;
	block->entry_end = control_entry_end;
	block->wait = remote_wait;
	block->stack_top = stack + sizeof(stack);
	block->stack_size = sizeof(stack);
	block->request = &request;
	block->objects = options->objects;
	block->loads = options->loads;
	block->state = process_state_place();
	block->folder = process_folder();
	block->head = process_head_place();
	block->epoch = &epoch_shared.count;
	block->mode = recorder_mode_place();
	block->recording = recorder_recording_place();
	block->why = process_why_place();
	block->calm = options->calm;
	block->values = options->values;
	block->names = options->names;
	block->magic = CONTROL_MAGIC;
	block->ready = 1;
}

/* Process lock held. */
static int obey(void)
{
	switch (request.op) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
	case CONTROL_WRITTEN:
	case CONTROL_ROOM:
	case CONTROL_ADD_CONTEXT:
	case CONTROL_DEL_CONTEXT:
	case CONTROL_PROBES:
	case CONTROL_NAMES:
		return change(&request);
	case CONTROL_START:
	case CONTROL_STOP:
		recorder_set_recording(request.op == CONTROL_START);
		return 0;
	case CONTROL_MODE:
		return recorder_set_mode((enum trace_mode)request.argument, 1);
	default:
		return -EINVAL;
	}
}

void control_run(void)
{
	struct process_held held;

	/* All other threads are stopped, one of them perhaps with the lock. */
	if (!process_trylock(&held)) {
		request.error = -EAGAIN;
		return;
	}
	request.error = process_state() == PROCESS_OFF ? -ECANCELED : obey();
	process_unlock(&held);
}
