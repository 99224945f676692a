# SPDX-License-Identifier: MIT
#
# xaudit perf, and the end of `record --perf`: names and unwind information come from libdw.
xaudit_SOURCES += tool/perf/forget.c tool/perf/image.c tool/perf/objects.c tool/perf/perf.c tool/perf/perf.h \
	tool/perf/rows.c
