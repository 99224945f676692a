# SPDX-License-Identifier: MIT
#
# xaudit alloc: the command, and what it shows.
xaudit_SOURCES += tool/alloc/show/alloc.c tool/alloc/show/attach.c tool/alloc/show/attach.h \
	tool/alloc/show/folded.c tool/alloc/show/folded.h tool/alloc/show/json.c \
	tool/alloc/show/json.h tool/alloc/show/pprof.c tool/alloc/show/pprof.h \
	tool/alloc/show/text.c tool/alloc/show/text.h tool/alloc/show/view.c \
	tool/alloc/show/view.h
