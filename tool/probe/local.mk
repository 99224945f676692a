# SPDX-License-Identifier: MIT
#
# Probes: where they may be, and how they get there.
xaudit_SOURCES += tool/probe/asked.c tool/probe/asked.h tool/probe/coverage.c tool/probe/coverage.h \
	tool/probe/finding.c tool/probe/finding.h tool/probe/lines.c tool/probe/lines.h tool/probe/places.c \
	tool/probe/places.h tool/probe/returns.c tool/probe/returns.h tool/probe/rseq.c tool/probe/rseq.h \
	tool/probe/symbols.c tool/probe/symbols.h tool/probe/usdt.c tool/probe/usdt.h tool/probe/window_body.c \
	tool/probe/window_body.h tool/probe/window_code.c tool/probe/window_code.h tool/probe/window_ways.c \
	tool/probe/window_ways.h tool/probe/windows.c tool/probe/windows.h tool/probe/words.c tool/probe/words.h
