# SPDX-License-Identifier: MIT
#
# Counting of traces: the profiles of xaudit-read.h.
tool_read_libread_la_SOURCES += tool/read/profile/count.c tool/read/profile/count.h tool/read/profile/customs.c \
	tool/read/profile/customs.h tool/read/profile/fast.c tool/read/profile/fast.h tool/read/profile/histogram.c \
	tool/read/profile/histogram.h tool/read/profile/jobs.c tool/read/profile/jobs.h tool/read/profile/loop.c \
	tool/read/profile/loop.h tool/read/profile/probes.c tool/read/profile/probes.h tool/read/profile/profile.c \
	tool/read/profile/profile.h tool/read/profile/rows.c tool/read/profile/rows.h tool/read/profile/sketch.c
