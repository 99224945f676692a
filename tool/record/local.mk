# SPDX-License-Identifier: MIT
#
# xaudit record and env.
xaudit_SOURCES += tool/record/after.c tool/record/broker.c tool/record/drain.c tool/record/drain.h \
	tool/record/drain_beat.c tool/record/drain_beat.h tool/record/drain_thread.c tool/record/early.c \
	tool/record/env.c tool/record/file.c tool/record/folder.c tool/record/index.c tool/record/lost.c \
	tool/record/objects.c tool/record/own.h tool/record/pack.c \
	tool/record/record.c tool/record/record.h tool/record/rules.c \
	tool/record/run.c tool/record/sched.c tool/record/sched.h tool/record/sched_file.c \
	tool/record/sched_rings.c tool/record/sched_totals.c \
	tool/record/signals.c tool/record/tls.c tool/record/trim.c tool/record/why.c
