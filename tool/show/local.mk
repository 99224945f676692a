# SPDX-License-Identifier: MIT
#
# xaudit report, replay, dump, info and list.
xaudit_SOURCES += tool/show/choice.c tool/show/choice.h tool/show/digits.h tool/show/dump.c \
	tool/show/dump_lines.c tool/show/dump_lines.h tool/show/event_format.c tool/show/event_format.h \
	tool/show/event_text.c tool/show/event_text.h tool/show/function_text.c tool/show/function_text.h \
	tool/show/info.c tool/show/info.h tool/show/info_json.c tool/show/info_json.h \
	tool/show/info_many.c tool/show/info_many.h tool/show/info_sched.c tool/show/info_sched.h tool/show/list.c \
	tool/show/list.h tool/show/list_probes.c tool/show/list_probes.h tool/show/list_symbol.c \
	tool/show/list_symbol.h tool/show/list_usdt.c tool/show/list_usdt.h tool/show/many.c tool/show/many.h \
	tool/show/probe_text.c tool/show/probe_text.h tool/show/replay.c tool/show/show.c \
	tool/show/show.h tool/show/show_trace.c tool/show/show_trace.h tool/show/trace_has.c tool/show/trace_has.h \
	tool/show/values.c tool/show/values.h

# xaudit report.
xaudit_SOURCES += tool/show/report/bars.c tool/show/report/bars.h tool/show/report/by_event.c \
	tool/show/report/by_event.h tool/show/report/by_request.c \
	tool/show/report/by_request.h tool/show/report/by_stack.c tool/show/report/by_stack.h \
	tool/show/report/by_value.c tool/show/report/by_value.h \
	tool/show/report/by_process.c tool/show/report/by_process.h \
	tool/show/report/catalog.c tool/show/report/catalog.h tool/show/report/columns.c tool/show/report/columns.h \
	tool/show/report/compare.c tool/show/report/compare.h tool/show/report/diff.c tool/show/report/diff.h \
	tool/show/report/diff_probes.c tool/show/report/diff_probes.h tool/show/report/diff_runs.c \
	tool/show/report/diff_runs.h \
	tool/show/report/each_call.c tool/show/report/each_call.h tool/show/report/edges.c tool/show/report/edges.h \
	tool/show/report/hist.c tool/show/report/hist.h tool/show/report/left_out.c tool/show/report/left_out.h \
	tool/show/report/nested.c tool/show/report/nested.h tool/show/report/profile.c tool/show/report/profile.h \
	tool/show/report/report.c tool/show/report/report.h tool/show/report/row_names.c tool/show/report/row_names.h \
	tool/show/report/tally.c tool/show/report/tally.h tool/show/report/tally_print.c \
	tool/show/report/tally_print.h
xaudit_LDADD += -lm

# xaudit graph, stacks, slow, outliers and loads.
xaudit_SOURCES += tool/show/calls/backtraces.c tool/show/calls/backtraces.h tool/show/calls/cct.c \
	tool/show/calls/cct.h tool/show/calls/flame.c tool/show/calls/flame.h tool/show/calls/functions.c \
	tool/show/calls/functions.h tool/show/calls/hits.c tool/show/calls/hits.h \
	tool/show/calls/graph.c tool/show/calls/graph.h \
	tool/show/calls/graph_edges.c tool/show/calls/graph_edges.h tool/show/calls/loads.c tool/show/calls/outliers.c \
	tool/show/calls/node_values.c tool/show/calls/node_values.h \
	tool/show/calls/probe_rows.c tool/show/calls/probe_rows.h \
	tool/show/calls/sample.c tool/show/calls/sample.h tool/show/calls/slow.c tool/show/calls/slow.h \
	tool/show/calls/slow_print.c tool/show/calls/slow_print.h tool/show/calls/stacks.c tool/show/calls/tree.c \
	tool/show/calls/tree.h tool/show/calls/view.c tool/show/calls/view.h
