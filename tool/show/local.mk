# SPDX-License-Identifier: MIT
#
# xaudit report, replay, dump, info and list.
xaudit_SOURCES += tool/show/asked.c tool/show/asked.h tool/show/dump.c tool/show/event_format.c \
	tool/show/event_format.h tool/show/event_text.c tool/show/event_text.h tool/show/info.c \
	tool/show/info.h tool/show/info_json.c tool/show/info_many.c tool/show/info_sched.c \
	tool/show/list.c tool/show/list.h tool/show/list_symbol.c tool/show/open.c tool/show/open.h tool/show/replay.c \
	tool/show/show.c tool/show/show.h

# xaudit report.
xaudit_SOURCES += tool/show/report/bars.c tool/show/report/bars.h tool/show/report/by_event.c \
	tool/show/report/by_process.c tool/show/report/calls.c \
	tool/show/report/catalog.c tool/show/report/catalog.h \
	tool/show/report/columns.c tool/show/report/columns.h tool/show/report/compare.c \
	tool/show/report/compare.h tool/show/report/diff.c tool/show/report/edges.c tool/show/report/hist.c \
	tool/show/report/left.c tool/show/report/nested.c tool/show/report/nested.h tool/show/report/profile.c \
	tool/show/report/report.c tool/show/report/report.h tool/show/report/tally.c tool/show/report/tally.h \
	tool/show/report/text.c
xaudit_LDADD += -lm

# xaudit graph, stacks, slow, outliers and loads.
xaudit_SOURCES += tool/show/calls/cct.c tool/show/calls/cct.h \
	tool/show/calls/graph.c tool/show/calls/graph.h tool/show/calls/graph_edges.c tool/show/calls/loads.c \
	tool/show/calls/outliers.c \
	tool/show/calls/sample.c \
	tool/show/calls/sample.h tool/show/calls/slow.c tool/show/calls/slow.h tool/show/calls/slow_read.c \
	tool/show/calls/slow_show.c tool/show/calls/stacks.c tool/show/calls/tree.c tool/show/calls/tree.h \
	tool/show/calls/view.c tool/show/calls/view.h
