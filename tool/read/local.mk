# SPDX-License-Identifier: MIT
#
# tool/read/libread.la: the reader of traces. No command in it, and none of the command's own.
noinst_LTLIBRARIES += tool/read/libread.la
tool_read_libread_la_SOURCES = tool/base/hash.c tool/base/hash.h
tool_read_libread_la_SOURCES += tool/read/clock.c tool/read/clock.h tool/read/compact.c tool/read/compact.h \
	tool/read/family.c tool/read/family.h \
	tool/read/folder.c tool/read/folder.h tool/read/inherited.c tool/read/inherited.h tool/read/meta.c \
	tool/read/meta.h tool/read/names.c tool/read/names.h tool/read/path.c tool/read/path.h tool/read/process.c \
	tool/read/process.h tool/read/process_load.c tool/read/process_load.h tool/read/record_file.c \
	tool/read/record_file.h tool/read/state.c tool/read/state.h tool/read/trace_file.c tool/read/trace_file.h
tool_read_libread_la_SOURCES += tool/read/values/layout.c tool/read/values/layout.h tool/read/values/chains.c \
	tool/read/values/chains.h tool/base/object_file.c tool/base/object_file.h
tool_read_libread_la_SOURCES += tool/read/damage/error.c tool/read/damage/error.h tool/read/damage/memory.c \
	tool/read/damage/memory.h
tool_read_libread_la_SOURCES += tool/read/events/ahead.c tool/read/events/ahead.h
tool_read_libread_la_SOURCES += tool/read/events/calls.c tool/read/events/calls.h tool/read/events/chunk_words.c \
	tool/read/events/chunk_words.h tool/read/events/chunks.c tool/read/events/chunks.h tool/read/events/copies.c \
	tool/read/events/copies.h tool/read/events/counts.c tool/read/events/counts.h tool/read/events/decode.c \
	tool/read/events/decode.h tool/read/events/dense.c tool/read/events/dense.h tool/read/events/events.c \
	tool/read/events/events.h tool/read/events/merge.c tool/read/events/merge.h tool/read/events/stacks.c \
	tool/read/events/stacks.h tool/read/events/stops.c tool/read/events/stops.h tool/read/events/stream.c \
	tool/read/events/stream.h tool/read/events/thread_turns.c tool/read/events/thread_turns.h \
	tool/read/shown_names.c tool/read/shown_names.h
tool_read_libread_la_SOURCES += tool/read/sched/records.h tool/read/sched/sched.c tool/read/sched/sched.h \
	tool/read/sched/sched_cursor.c tool/read/sched/sched_cursor.h
tool_read_libread_la_SOURCES += tool/read/api/amounts.c tool/read/api/api.h tool/read/api/cpu.c tool/read/api/cpu.h \
	tool/read/api/cursor.c tool/read/api/cursor.h tool/read/api/cursor_ahead.c \
	tool/read/api/cursor_ahead.h tool/read/api/cursor_items.c tool/read/api/cursor_items.h \
	tool/read/api/cursor_requests.c tool/read/api/cursor_requests.h \
	tool/read/api/cursor_slots.c tool/read/api/cursor_slots.h tool/read/api/cursor_stacks.c \
	tool/read/api/cursor_stacks.h tool/read/api/cursor_values.c \
	tool/read/api/cursor_values.h tool/read/api/extent.c tool/read/api/facts.c \
	tool/read/api/facts.h tool/read/api/follow.c tool/read/api/follow.h tool/read/api/follow_record.c \
	tool/read/api/follow_record.h tool/read/api/frames.c tool/read/api/frames.h \
	tool/read/api/frame_loads.c tool/read/api/frame_loads.h \
	tool/read/api/functions.c tool/read/api/functions.h tool/read/api/live.c \
	tool/read/api/phrases.c tool/read/api/probes.c tool/read/api/probes.h tool/read/api/stays.c \
	tool/read/api/threads.c tool/read/api/threads.h tool/read/api/timeline.c \
	tool/read/api/timeline.h tool/read/api/timeline_ahead.c tool/read/api/timeline_ahead.h \
	tool/read/api/timeline_tail.c tool/read/api/timeline_tail.h \
	tool/read/api/timeline_calls.c tool/read/api/timeline_calls.h tool/read/api/trace.c \
	tool/read/api/trace.h tool/read/api/xaudit-read-events.h tool/read/api/xaudit-read-facts.h \
	tool/read/api/xaudit-read-frames.h \
	tool/read/api/xaudit-read-values.h tool/read/api/xaudit-read.h tool/read/api/values.c tool/read/api/values.h \
	tool/read/api/values_text.c tool/read/api/values_text.h
tool_read_libread_la_SOURCES += tool/read/live/live.c tool/read/live/live.h tool/read/live/process.c \
	tool/read/live/process.h tool/read/live/source.c tool/read/live/source.h
xaudit_LDADD += tool/read/libread.la
