# SPDX-License-Identifier: MIT
#
# xaudit perf, and the end of `record --perf`: names and unwind information come from libdw.
xaudit_SOURCES += tool/perf/anonymous_maps.c tool/perf/anonymous_maps.h tool/perf/bytes.c tool/perf/bytes.h \
	tool/perf/elf_image.c tool/perf/elf_image.h tool/perf/leb128.c tool/perf/leb128.h tool/perf/loads.c \
	tool/perf/loads.h tool/perf/names.c tool/perf/names.h tool/perf/perf.c tool/perf/perf.h \
	tool/perf/unwind_rows.c tool/perf/unwind_rows.h
