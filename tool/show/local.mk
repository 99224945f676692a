# SPDX-License-Identifier: MIT
#
# xaudit report, replay, dump, info and list.
xaudit_SOURCES += tool/show/dump.c tool/show/event_format.c tool/show/event_format.h tool/show/event_text.c \
	tool/show/event_text.h tool/show/info.c tool/show/info.h tool/show/info_json.c tool/show/info_many.c \
	tool/show/info_sched.c \
	tool/show/list.c tool/show/list.h tool/show/list_symbol.c tool/show/open.c tool/show/open.h tool/show/replay.c \
	tool/show/show.c tool/show/show.h

# xaudit report.
xaudit_SOURCES += tool/show/report/json.c tool/show/report/lines.c tool/show/report/report.c \
	tool/show/report/report.h tool/show/report/table.c

# xaudit graph, stacks, slow, outliers and loads.
xaudit_SOURCES += tool/show/calls/cct.c tool/show/calls/cct.h \
	tool/show/calls/graph.c tool/show/calls/graph.h tool/show/calls/graph_edges.c tool/show/calls/outliers.c \
	tool/show/calls/sample.c \
	tool/show/calls/sample.h tool/show/calls/slow.c tool/show/calls/slow.h tool/show/calls/slow_read.c \
	tool/show/calls/slow_show.c tool/show/calls/stacks.c tool/show/calls/tree.c tool/show/calls/tree.h \
	tool/show/calls/view.c tool/show/calls/view.h
