# SPDX-License-Identifier: MIT
#
# xaudit alloc: what is recorded, and what is made of it.
xaudit_SOURCES += tool/alloc/blocks.c tool/alloc/blocks.h tool/alloc/calls.c tool/alloc/calls.h \
	tool/alloc/follow.c tool/alloc/follow.h tool/alloc/functions.c tool/alloc/functions.h tool/alloc/maps.c \
	tool/alloc/maps.h tool/alloc/model.c tool/alloc/model.h tool/alloc/read.c tool/alloc/read.h tool/alloc/run.c \
	tool/alloc/run.h tool/alloc/stacks.c tool/alloc/stacks.h tool/alloc/timeline.c tool/alloc/timeline.h \
	tool/alloc/tree.c tool/alloc/tree.h
