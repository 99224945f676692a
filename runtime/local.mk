# SPDX-License-Identifier: MIT
#
# runtime/libruntime.la: what threads of the program run when they make events. All of it is compiled for them (no
# vector registers, no libc). Each folder adds its files, to this library or to the next.
noinst_LTLIBRARIES += runtime/libruntime.la
runtime_libruntime_la_SOURCES = runtime/control.c runtime/control.h runtime/custom.c runtime/custom.h \
	runtime/event_values.c runtime/event_values.h runtime/notes.c runtime/notes.h runtime/start.c \
	runtime/start.h
runtime_libruntime_la_SOURCES += runtime/snapshot/ask.c runtime/snapshot/ask.h runtime/snapshot/compact.c \
	runtime/snapshot/compact.h runtime/snapshot/snapshot.c runtime/snapshot/snapshot.h
runtime_libruntime_la_CFLAGS = $(MODULE_THREAD_CFLAGS)

# runtime/libbase.la: what the command links, too.
noinst_LTLIBRARIES += runtime/libbase.la
runtime_libbase_la_SOURCES = runtime/snapshot/copy.c runtime/snapshot/copy.h runtime/snapshot/meta.c \
	runtime/snapshot/meta.h runtime/snapshot/sparse_file.c runtime/snapshot/sparse_file.h runtime/snapshot/state.h
runtime_libbase_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
