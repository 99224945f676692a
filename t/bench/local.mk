# SPDX-License-Identifier: MIT
#
# make bench.
EXTRA_DIST += t/bench/alloc.sh t/bench/alloc_cost.c t/bench/backtrace_cost.c t/bench/backtraces.sh t/bench/bench.h \
	t/bench/bench_function.c t/bench/billion.sh t/bench/call_cost.c t/bench/call_none.c t/bench/call_tree.c \
	t/bench/call_tree_main.c t/bench/calls.sh t/bench/commands.sh t/bench/empty_auditor.c t/bench/entry.sh \
	t/bench/entry_shapes.h \
	t/bench/entry_sites.S t/bench/handlers.sh t/bench/hold_cost.c t/bench/lib.sh t/bench/limit.sh \
	t/bench/limit_sites.S t/bench/load_cost.c t/bench/locks.sh t/bench/marks.sh t/bench/modes.sh \
	t/bench/options.h t/bench/page.sh t/bench/pair_cost.c t/bench/pairs.sh t/bench/pause.sh \
	t/bench/probe_rounds.c t/bench/probes.sh \
	t/bench/reading.sh t/bench/report.sh t/bench/run.sh t/bench/sample_cost.c t/bench/samples.sh t/bench/stacks.sh \
	t/bench/stacks_cost.c t/bench/start_cost.c t/bench/starts.sh t/bench/threads_cost.c t/bench/values.sh \
	t/bench/values_cost.c t/bench/values_function.c
EXTRA_PROGRAMS += t/bench/handler_cost t/bench/probe_cost
CLEANFILES += t/bench/handler_cost t/bench/probe_cost
t_bench_handler_cost_SOURCES = t/bench/handler_cost.c
t_bench_handler_cost_LDADD = t/lib/libcore.la
t_bench_probe_cost_SOURCES = t/bench/probe_cost.c t/lib/probe_window.h
t_bench_probe_cost_LDADD = t/lib/libcore.la
