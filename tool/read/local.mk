# SPDX-License-Identifier: MIT
#
# tool/read/libread.la: the reader of traces. No command in it, and none of the command's own.
noinst_LTLIBRARIES += tool/read/libread.la
tool_read_libread_la_SOURCES = tool/read/api/amounts.c tool/read/api/api.h tool/read/api/cursor.c \
	tool/read/api/cursor.h tool/read/api/cursor_read.c tool/read/api/cursor_slots.c tool/read/api/facts.c \
	tool/read/api/functions.c tool/read/api/live.c tool/read/api/open.c tool/read/api/phrases.c \
	tool/read/api/threads.c tool/read/api/timeline.c tool/read/api/timeline.h tool/read/api/timeline_calls.c \
	tool/read/api/xaudit-read-events.h tool/read/api/xaudit-read-facts.h tool/read/api/xaudit-read.h \
	tool/read/base.c tool/read/base.h tool/read/calls.c tool/read/calls.h tool/read/chunks.c tool/read/chunks.h \
	tool/read/clock.c tool/read/clock.h tool/read/counts.c tool/read/counts.h tool/read/decode.c \
	tool/read/decode.h tool/read/error.c tool/read/error.h tool/read/events.c tool/read/events.h \
	tool/read/family.c tool/read/family.h tool/read/file.c tool/read/file.h tool/read/folder.c \
	tool/read/folder.h tool/read/load.c tool/read/load.h tool/read/memory.c tool/read/memory.h tool/read/merge.c \
	tool/read/merge.h tool/read/meta.c tool/read/meta.h tool/read/names.c tool/read/names.h tool/read/process.c \
	tool/read/process.h tool/read/record.c tool/read/record.h tool/read/stacks.c tool/read/stacks.h \
	tool/read/state.c tool/read/state.h tool/read/stream.c tool/read/stream.h tool/read/words.c
tool_read_libread_la_SOURCES += tool/read/api/follow.c tool/read/api/follow.h tool/read/api/follow_read.c
tool_read_libread_la_SOURCES += tool/read/cuts.c tool/read/cuts.h tool/read/path.c tool/read/path.h \
	tool/read/turns.c tool/read/turns.h
tool_read_libread_la_SOURCES += tool/read/sched/sched_cursor.c tool/read/sched/index.h tool/read/sched/sched.c \
	tool/read/sched/sched.h tool/read/api/cpu.c
xaudit_LDADD += tool/read/libread.la
