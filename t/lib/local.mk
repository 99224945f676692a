# SPDX-License-Identifier: MIT
#
# What tests share: functions of the shell, headers, and programs that tests call.
# Such a program: EXTRA_PROGRAMS += t/lib/NAME, check_DATA += t/lib/NAME, CLEANFILES += t/lib/NAME, t_lib_NAME_SOURCES.
EXTRA_DIST += t/lib/calls.sh t/lib/checked.sh t/lib/compact.py t/lib/ctl.sh t/lib/digits.sh t/lib/hangs.sh \
	t/lib/index_decoder.py \
	t/lib/inject.awk t/lib/inject_values.awk t/lib/injected.sh t/lib/loader.sh t/lib/probed.sh \
	t/lib/probed_loads.sh t/lib/random.h t/lib/recorded.sh t/lib/same_calls.sh t/lib/sanitizers.h \
	t/lib/spoiled.sh t/lib/steering.py t/lib/tap.h t/lib/tap.sh t/lib/terminal.py t/lib/traced.sh \
	t/lib/transparent.sh t/lib/upward.sh t/lib/work.sh t/lib/workloads.sh t/lib/written.sh t/lib/usdt.sh
EXTRA_PROGRAMS += t/lib/inject t/lib/make_trace t/lib/max_rss t/lib/read_calls t/lib/read_events t/lib/read_part \
	t/lib/spoil
check_DATA += t/lib/inject t/lib/make_trace t/lib/max_rss t/lib/read_calls t/lib/read_events t/lib/read_part \
	t/lib/spoil
CLEANFILES += t/lib/inject t/lib/make_trace t/lib/max_rss t/lib/read_calls t/lib/read_events t/lib/read_part \
	t/lib/spoil

EXTRA_DIST += t/lib/live.sh t/lib/machine.sh t/lib/packed.sh t/lib/thousand.sh
EXTRA_PROGRAMS += t/lib/make_pack
check_DATA += t/lib/make_pack
CLEANFILES += t/lib/make_pack
t_lib_make_pack_SOURCES = t/lib/make_pack.c
t_lib_make_pack_LDADD = tool/read/libread.la
t_lib_make_trace_SOURCES = t/lib/make_trace.c t/lib/make_trace.h t/lib/make_trace_dense.c t/lib/make_trace_many.c \
	t/lib/make_trace_meta.c t/lib/make_trace_places.c t/lib/make_trace_sched.c \
	t/lib/make_trace_values.c
t_lib_max_rss_SOURCES = t/lib/max_rss.c
t_lib_read_calls_SOURCES = t/lib/read_calls.c tool/base/json.c tool/base/json.h
t_lib_read_calls_LDADD = tool/read/libread.la
t_lib_read_part_SOURCES = t/lib/read_part.c
t_lib_read_part_LDADD = tool/read/libread.la
t_lib_read_events_SOURCES = t/lib/read_events.c tool/base/json.c tool/base/json.h
t_lib_read_events_LDADD = tool/read/libread.la
t_lib_spoil_SOURCES = t/lib/spoil.c

# The recording core, run in the test's own process.
check_LTLIBRARIES += t/lib/libcore.la
t_lib_libcore_la_SOURCES = t/lib/caller.c t/lib/caller.h t/lib/core.c t/lib/core.h t/lib/core_words.c \
	t/lib/core_words.h t/lib/plain.h t/lib/values.h
t_lib_libcore_la_LIBADD = runtime/libruntime.la x86_64/libx86_64.la x86_64/libsled.la runtime/libbase.la
t_lib_inject_SOURCES = t/lib/inject.c t/lib/inject.h t/lib/inject_thread.c t/lib/inject_thread.h
