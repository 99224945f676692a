# SPDX-License-Identifier: MIT
#
# xaudit trace.
xaudit_SOURCES += tool/trace/callers.c tool/trace/callers.h tool/trace/descriptors.c tool/trace/descriptors.h \
	tool/trace/follow.c tool/trace/follow.h tool/trace/line.c tool/trace/line.h tool/trace/output.c \
	tool/trace/output.h tool/trace/select.c tool/trace/select.h tool/trace/shown.c tool/trace/shown.h \
	tool/trace/table.c tool/trace/table.h tool/trace/trace.c tool/trace/trace.h
