# SPDX-License-Identifier: MIT
#
# audit/live/liblive.la: what threads of the program run in the middle of their calls, or while they are stopped. All of
# this folder is compiled for that (no vector registers, no libc).
noinst_LTLIBRARIES += audit/live/liblive.la
audit_live_liblive_la_SOURCES = audit/live/announce.c audit/live/announce.h audit/live/api.c audit/live/api.h \
	audit/live/backtraces.c audit/live/backtraces.h \
	audit/live/batch.c audit/live/batch.h audit/live/batch_index.c audit/live/batch_index.h audit/live/ctl_index.c \
	audit/live/ctl_index.h audit/live/cyg.c audit/live/cyg.h audit/live/dladdr.c audit/live/dladdr.h \
	audit/live/dlclose.c audit/live/dlclose.h audit/live/entry.c audit/live/entry.h audit/live/entry_calls.c \
	audit/live/entry_calls.h audit/live/entry_copy.c audit/live/entry_copy.h audit/live/entry_stub.c \
	audit/live/entry_stub.h audit/live/load_code.c audit/live/load_code.h \
	audit/live/probe.c audit/live/probe.h audit/live/probe_change.c audit/live/probe_change.h \
	audit/live/probe_room.c audit/live/probe_room.h audit/live/probe_take.c audit/live/probe_take.h \
	audit/live/requests.c \
	audit/live/requests.h audit/live/retired.c audit/live/retired.h audit/live/switch.c audit/live/switch.h \
	audit/live/unwinder.c audit/live/unwinder.h audit/live/values.c audit/live/values.h audit/live/xray.c \
	audit/live/xray.h
audit_live_liblive_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
