# SPDX-License-Identifier: MIT
#
# runtime/libruntime.la: C and header files go into runtime_libruntime_la_SOURCES. All of it is compiled for program threads
# (no vector registers, no libc). runtime/arena.c is in audit/libcommon.la, see audit/local.mk.
noinst_LTLIBRARIES += runtime/libruntime.la
runtime_libruntime_la_SOURCES = runtime/clock.c runtime/clock.h runtime/handler.c runtime/handler.h runtime/maps.c \
	runtime/maps.h runtime/process.c runtime/process.h runtime/recorder.c runtime/recorder.h runtime/text.h \
	runtime/thread.c runtime/thread.h runtime/trace.h
runtime_libruntime_la_SOURCES += runtime/epoch.c runtime/epoch.h
runtime_libruntime_la_SOURCES += runtime/calls.c runtime/calls.h runtime/count.c runtime/filter.c runtime/filter.h runtime/throttle.c runtime/throttle.h
runtime_libruntime_la_SOURCES += runtime/snapshot.c runtime/snapshot.h
runtime_libruntime_la_SOURCES += runtime/control.c runtime/control.h
runtime_libruntime_la_SOURCES += runtime/custom.c runtime/custom.h
runtime_libruntime_la_CFLAGS = $(MODULE_THREAD_CFLAGS)

# runtime/libbase.la: the ground for all, the command too.
noinst_LTLIBRARIES += runtime/libbase.la
runtime_libbase_la_SOURCES = runtime/arena.c runtime/arena.h runtime/sys.h
runtime_libbase_la_SOURCES += runtime/snapshot_copy.c runtime/snapshot_copy.h
runtime_libbase_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
