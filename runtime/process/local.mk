# SPDX-License-Identifier: MIT
#
# The process and its threads: locks, waits, clock, epochs, and what happens when rights change.
runtime_libruntime_la_SOURCES += runtime/process/clock.c runtime/process/clock.h runtime/process/epoch.c \
	runtime/process/epoch.h runtime/process/execute.c runtime/process/execute.h \
	runtime/process/execute_look.c runtime/process/execute_look.h runtime/process/leave.c \
	runtime/process/leave.h runtime/process/lock.c runtime/process/lock.h runtime/process/process.c \
	runtime/process/process.h runtime/process/process_counters.c runtime/process/process_counters.h \
	runtime/process/rights.c runtime/process/rights.h runtime/process/state.h runtime/process/thread.c \
	runtime/process/thread.h runtime/process/waits.c runtime/process/waits.h
