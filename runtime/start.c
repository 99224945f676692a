/* SPDX-License-Identifier: MIT */
#include "runtime/start.h"

#include "runtime/base/arena.h"
#include "runtime/calls/calls.h"
#include "runtime/calls/calls_ends.h"
#include "runtime/handlers/handlers.h"
#include "runtime/process/thread.h"
#include "runtime/record/count.h"
#include "runtime/record/last_name.h"
#include "runtime/record/recorder.h"
#include "runtime/calls/values_calls.h"
#include "runtime/snapshot/ask.h"
#include "runtime/values/actions.h"
#include "x86_64/mirror.h"

static void *memory_for_stacks(size_t size)
{
	static struct arena memory;

	return arena_alloc(&memory, size);
}

static void record_taken(struct thread *thread)
{
	count_thread_changed(thread);
	recorder_thread_changed(thread);
}

static void folder_begun(void)
{
	recorder_describe();
	ask_describe();
}

static void thread_ends(struct thread *thread)
{
	last_name_note(thread);
	handlers_thread_ended(thread);
}

void start_parts(void)
{
	mirror_init(memory_for_stacks);
	actions_init(&(struct actions_hooks){ .number = ask_number, .snapshot = ask_snapshot });
	thread_init(&(struct thread_hooks){ .begun = folder_begun,
		.taken = record_taken,
		.ends = calls_unwind_all,
		.ended = thread_ends });
	calls_init(&(struct calls_hooks){
		.frames_gone = handlers_frames_gone, .unwound = handlers_unwind, .values_end = values_end });
}
