# SPDX-License-Identifier: MIT
#
# xaudit alloc.
dist_check_SCRIPTS += t/alloc/alloc.t t/alloc/compare.t t/alloc/formats.t t/alloc/nested.t t/alloc/sampled.t \
	t/alloc/threads.t t/alloc/top_ten.t
EXTRA_DIST += t/alloc/blocks.cc t/alloc/churn.c t/alloc/pprof.py t/alloc/sampled.c t/alloc/standard.cc t/alloc/top_ten.c
check_PROGRAMS += t/alloc/model.u

t_alloc_model_u_SOURCES = t/alloc/model.c tool/alloc/blocks.c tool/alloc/blocks.h tool/alloc/maps.c tool/alloc/maps.h \
	tool/alloc/model.c tool/alloc/model.h tool/alloc/timeline.c tool/alloc/timeline.h tool/base/memory.c \
	tool/base/memory.h
t_alloc_model_u_LDADD = tool/read/libread.la
