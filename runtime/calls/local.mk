# SPDX-License-Identifier: MIT
#
# Calls that threads have open, for those that need their ends.
runtime_libruntime_la_SOURCES += runtime/calls/calls.c runtime/calls/calls.h runtime/calls/calls_ends.c \
	runtime/calls/calls_gaps.c runtime/calls/calls_parts.c runtime/calls/calls_parts.h \
	runtime/calls/calls_stack.c runtime/calls/filter_calls.c runtime/calls/told.c runtime/calls/told.h \
	runtime/calls/watched.c
