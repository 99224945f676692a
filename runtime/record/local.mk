# SPDX-License-Identifier: MIT
#
# Recording: chunks of events, and what decides whether an event is one.
runtime_libruntime_la_SOURCES += runtime/record/chunk.c runtime/record/chunk.h runtime/record/chunk_file.c \
	runtime/record/chunk_file.h runtime/record/count.c runtime/record/count.h runtime/record/dispatch.c \
	runtime/record/dispatch.h runtime/record/filter.c runtime/record/filter.h runtime/record/last_name.c \
	runtime/record/last_name.h runtime/record/own_labels.c runtime/record/own_labels.h runtime/record/recorder.c \
	runtime/record/recorder.h runtime/record/recorder_lost.c runtime/record/recorder_lost.h \
	runtime/record/recorder_private.h runtime/record/recorder_words.c runtime/record/recorder_words.h \
	runtime/record/throttle.c runtime/record/throttle.h
