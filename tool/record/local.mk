# SPDX-License-Identifier: MIT
#
# xaudit record and env.
xaudit_SOURCES += tool/record/after.c tool/record/broker.c tool/record/early.c tool/record/env.c tool/record/file.c \
	tool/record/folder.c tool/record/index.c tool/record/lost.c tool/record/named.c tool/record/objects.c \
	tool/record/own.h tool/record/pack.c tool/record/peer.c tool/record/peer.h \
	tool/record/record.c tool/record/record.h tool/record/rules.c \
	tool/record/run.c tool/record/signals.c tool/record/tls.c tool/record/trim.c tool/record/why.c
xaudit_SOURCES += tool/record/drain/beat.c tool/record/drain/beat.h tool/record/drain/copy.c \
	tool/record/drain/copy.h tool/record/drain/drain.c tool/record/drain/give.c \
	tool/record/drain/give.h tool/record/drain/marks.c tool/record/drain/marks.h tool/record/drain/drain.h \
	tool/record/drain/thread.c
xaudit_SOURCES += tool/record/sched/file.c tool/record/sched/rings.c tool/record/sched/sched.c \
	tool/record/sched/sched.h tool/record/sched/totals.c
