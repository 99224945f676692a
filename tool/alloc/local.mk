# SPDX-License-Identifier: MIT
#
# xaudit alloc.
xaudit_SOURCES += tool/alloc/alloc.c tool/alloc/blocks.c tool/alloc/blocks.h tool/alloc/calls.c tool/alloc/calls.h \
	tool/alloc/functions.c tool/alloc/functions.h tool/alloc/model.c tool/alloc/model.h tool/alloc/timeline.c \
	tool/alloc/timeline.h tool/alloc/tree.c tool/alloc/tree.h
