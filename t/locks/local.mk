# SPDX-License-Identifier: MIT
#
# xaudit locks.
dist_check_SCRIPTS += t/locks/damaged.t t/locks/kinds.t t/locks/locks.t t/locks/stacks.t t/locks/truth.t \
	t/locks/written.t
EXTRA_DIST += t/locks/callers.c t/locks/kinds.c t/locks/nodes.cc t/locks/planted.c t/locks/sleeps.h \
	t/locks/standard.cc t/locks/truth.c
check_PROGRAMS += t/locks/model.u t/locks/random.u

model = t/locks/told.h tool/base/memory.c tool/base/memory.h tool/locks/chain.c tool/locks/chain.h \
	tool/locks/holds.c tool/locks/holds.h tool/locks/meanwhile.c tool/locks/meanwhile.h tool/locks/model.c \
	tool/locks/model.h tool/locks/order.c tool/locks/order.h

t_locks_model_u_SOURCES = t/locks/model.c $(model)
t_locks_model_u_LDADD = tool/read/libread.la

t_locks_random_u_SOURCES = t/locks/random.c $(model)
t_locks_random_u_LDADD = tool/read/libread.la
