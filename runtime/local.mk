# SPDX-License-Identifier: MIT
#
# runtime/libruntime.la: what threads of the program run when they make events. All of it is compiled for them (no
# vector registers, no libc).
noinst_LTLIBRARIES += runtime/libruntime.la
runtime_libruntime_la_SOURCES = runtime/broker.c runtime/broker.h runtime/calls.c runtime/calls.h runtime/chunk.c \
	runtime/chunk.h runtime/clock.c runtime/clock.h runtime/control.c runtime/control.h runtime/count.c \
	runtime/count.h runtime/custom.c runtime/custom.h runtime/dispatch.c runtime/dispatch.h runtime/epoch.c \
	runtime/epoch.h runtime/family.c runtime/family.h runtime/filter.c runtime/filter.h runtime/filter_calls.c \
	runtime/lock.c runtime/lock.h runtime/maps.c runtime/maps.h runtime/own_labels.c runtime/own_labels.h \
	runtime/pool.c runtime/pool.h runtime/pool_make.c runtime/pool_parts.h \
	runtime/process.c runtime/process.h runtime/recorder.c runtime/recorder.h runtime/records.c \
	runtime/records.h runtime/start.c runtime/start.h runtime/stderr.c runtime/stderr.h \
	runtime/search.h runtime/surroundings.c runtime/surroundings.h runtime/text.c runtime/text.h runtime/thread.c \
	runtime/thread.h runtime/throttle.c runtime/throttle.h runtime/told.c runtime/told.h \
	runtime/waits.c runtime/waits.h runtime/watched.c
runtime_libruntime_la_SOURCES += runtime/calls_ends.c runtime/calls_gaps.c runtime/calls_parts.c \
	runtime/calls_parts.h runtime/calls_stack.c \
	runtime/chunk_file.c runtime/chunk_file.h runtime/leave.c runtime/leave.h \
	runtime/process_lost.c runtime/process_parts.h runtime/recorder_lost.c runtime/rights.c runtime/rights.h
runtime_libruntime_la_SOURCES += runtime/snapshot/snapshot.c runtime/snapshot/snapshot.h
runtime_libruntime_la_CFLAGS = $(MODULE_THREAD_CFLAGS)

# runtime/libbase.la: what the command links, too.
noinst_LTLIBRARIES += runtime/libbase.la
runtime_libbase_la_SOURCES = runtime/arena.c runtime/arena.h runtime/dense.c runtime/dense.h runtime/identity.c \
	runtime/identity.h runtime/output.c runtime/output.h
runtime_libbase_la_SOURCES += runtime/snapshot/copy.c runtime/snapshot/copy.h runtime/snapshot/file.c \
	runtime/snapshot/meta.c runtime/snapshot/parts.h
runtime_libbase_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
