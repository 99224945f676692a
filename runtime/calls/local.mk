# SPDX-License-Identifier: MIT
#
# Calls that threads have open, for those that need their ends.
runtime_libruntime_la_SOURCES += runtime/calls/calls.c runtime/calls/calls.h runtime/calls/calls_ends.c \
	runtime/calls/calls_ends.h runtime/calls/calls_gaps.c runtime/calls/calls_gaps.h runtime/calls/calls_owner.c \
	runtime/calls/calls_owner.h runtime/calls/calls_stack.c runtime/calls/calls_stack.h runtime/calls/cyg_calls.c \
	runtime/calls/cyg_calls.h runtime/calls/filter_calls.c runtime/calls/libc_calls.c \
	runtime/calls/values_calls.c runtime/calls/values_calls.h
