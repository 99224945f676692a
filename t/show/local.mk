# SPDX-License-Identifier: MIT
#
# Commands that show a trace.
dist_check_SCRIPTS += t/show/aliases.t \
	t/show/asked.t t/show/backtraces.t t/show/csv.t t/show/dump.t t/show/flame.t t/show/graph.t t/show/info.t \
	t/show/list.t t/show/list_symbol.t \
	t/show/loads.t t/show/lost.t t/show/many.t t/show/named_functions.t t/show/outliers.t t/show/probes.t \
	t/show/replay.t \
	t/show/requests.t t/show/report.t t/show/report_origins.t t/show/report_questions.t \
	t/show/report_runs.t t/show/rounded.t t/show/slow.t t/show/srcline.t t/show/stacks.t t/show/steering.t \
	t/show/terminal.t t/show/values.t
EXTRA_DIST += t/show/requests.c t/show/requests.h t/show/requests_library.c \
	t/show/aliased.c t/show/aliased_library.c t/show/server.c \
	t/show/server_library.c t/show/slow.c t/show/slow_library.c t/show/slowed.c \
	t/show/slowed_library.c
check_PROGRAMS += t/show/bars.u t/show/cct.u t/show/compare.u t/show/cut.u t/show/names.u t/show/nearest.u \
	t/show/progress.u t/show/sample.u t/show/simple.u

t_show_bars_u_SOURCES = t/show/bars.c tool/show/report/bars.c tool/show/report/bars.h

t_show_cct_u_SOURCES = t/show/cct.c tool/show/calls/cct.c tool/show/calls/cct.h tool/base/memory.c tool/base/memory.h
t_show_cct_u_LDADD = tool/read/libread.la

t_show_compare_u_SOURCES = t/show/compare.c tool/show/report/compare.c tool/show/report/compare.h
t_show_compare_u_LDADD = -lm

t_show_cut_u_SOURCES = t/show/cut.c tool/base/memory.c tool/base/memory.h tool/show/term/cut.c tool/show/term/cut.h \
	tool/show/term/cxx_text.c tool/show/term/cxx_text.h tool/show/term/fit.c tool/show/term/fit.h

t_show_names_u_SOURCES = t/show/names.c tool/base/json.c tool/base/json.h tool/base/memory.c tool/base/memory.h \
	tool/base/tool.c tool/base/tool.h tool/show/term/cxx_text.c tool/show/term/cxx_text.h \
	tool/show/term/names.c tool/show/term/names.h tool/show/term/simple.c tool/show/term/simple.h
t_show_names_u_LDADD = tool/read/libread.la audit/rules/librules.la $(IBERTY_LIBS)

t_show_nearest_u_SOURCES = t/show/nearest.c tool/base/memory.c tool/base/memory.h tool/base/nearest.c \
	tool/base/nearest.h

t_show_progress_u_SOURCES = t/show/progress.c tool/show/term/pager.h tool/show/term/progress.h

t_show_sample_u_SOURCES = t/show/sample.c tool/show/calls/sample.c tool/show/calls/sample.h tool/base/memory.c \
	tool/base/memory.h

t_show_simple_u_SOURCES = t/show/simple.c tool/base/memory.c tool/base/memory.h \
	tool/show/term/cut.c tool/show/term/cut.h tool/show/term/cxx_text.c tool/show/term/cxx_text.h \
	tool/show/term/fit.c tool/show/term/fit.h tool/show/term/simple.c tool/show/term/simple.h
t_show_simple_u_LDADD = audit/rules/librules.la $(IBERTY_LIBS)
EXTRA_DIST += t/show/real_names.txt
