# SPDX-License-Identifier: MIT
#
# Calls on their way: whatever stack, signal or exception comes in between, the program runs as untraced, and
# each call has its end.
dist_check_SCRIPTS += t/calls/backtraces.t t/calls/beside.t t/calls/caller.t t/calls/coroutines.t t/calls/enclosed.t \
	t/calls/entry_ends.t t/calls/exceptions.t t/calls/inject_sample.t t/calls/leaving.t t/calls/left.t \
	t/calls/own_labels.t \
	t/calls/perf.t t/calls/perf_names.t t/calls/personality.t t/calls/registers.t t/calls/runtime-imports.t \
	t/calls/signal-steps.t t/calls/transparent.t t/calls/tree.t t/calls/trees.t t/calls/unwinder.t
EXTRA_DIST += t/calls/beside.c t/calls/caller.c t/calls/caller_preload.c t/calls/coroutines.cc t/calls/coroutines.h \
	t/calls/crossed.c t/calls/enclosed.c t/calls/ends.c t/calls/handed.c t/calls/inject.c t/calls/inject_grow.c \
	t/calls/inject_growing.h t/calls/inject_part.c t/calls/leaving.cc t/calls/leaving_library.c t/calls/left.c \
	t/calls/left_library.c t/calls/moving.c t/calls/moving.h t/calls/moving_part.c t/calls/own_labels.c \
	t/calls/perf_app.c t/calls/perf_part.c t/calls/personality.cc t/calls/ping.c t/calls/silent.c t/calls/split.c \
	t/calls/stopped.c t/calls/stopped_library.c t/calls/switch_to.h t/calls/throwing.cc t/calls/throwing_host.cc \
	t/calls/tree.c t/calls/trees.cc t/calls/unmapped.c t/calls/unwinder.c t/calls/unwinder_list.c t/calls/walks.cc \
	t/calls/walks_compare.py t/calls/walks_gdb.py
check_PROGRAMS += t/calls/labels.u t/calls/mirror.u t/calls/mirror_parts.u t/calls/mirror_stacks.u \
	t/calls/perf_numbers.u t/calls/probes.u t/calls/probes_unwind.u t/calls/stacks.u t/calls/step.u

t_calls_labels_u_SOURCES = t/calls/labels.c
t_calls_labels_u_LDADD = t/lib/libcore.la

t_calls_mirror_u_SOURCES = t/calls/mirror.c t/lib/flow.h t/lib/flow_xray.h
t_calls_mirror_u_LDADD = t/lib/libcore.la

t_calls_mirror_parts_u_SOURCES = t/calls/mirror_parts.c
t_calls_mirror_parts_u_LDADD = t/lib/libcore.la

t_calls_mirror_stacks_u_SOURCES = t/calls/mirror_stacks.c t/lib/flow.h t/lib/flow_coroutines.h
t_calls_mirror_stacks_u_LDADD = t/lib/libcore.la

t_calls_perf_numbers_u_SOURCES = t/calls/perf_numbers.c tool/base/memory.c tool/base/memory.h tool/perf/bytes.c \
	tool/perf/bytes.h tool/perf/leb128.c tool/perf/leb128.h

t_calls_probes_u_SOURCES = t/calls/probes.c t/index/displace_run.S t/lib/probe_window.h
t_calls_probes_u_LDADD = t/lib/libcore.la

t_calls_probes_unwind_u_SOURCES = t/calls/probes_unwind.c t/lib/probe_window.h
t_calls_probes_unwind_u_LDADD = t/lib/libcore.la

t_calls_stacks_u_SOURCES = t/calls/stacks.c t/lib/flow.h t/lib/flow_coroutines.h
t_calls_stacks_u_LDADD = t/lib/libcore.la

t_calls_step_u_SOURCES = t/calls/step.c t/calls/step.h t/calls/step_call.S t/calls/step_program.c \
	t/lib/probe_window.h
t_calls_step_u_LDADD = t/lib/libcore.la
