# SPDX-License-Identifier: MIT
#
# xaudit record and env.
xaudit_SOURCES += tool/record/asked_thread.c tool/record/asked_thread.h tool/record/asked/asked.c \
	tool/record/asked/asked.h tool/record/asked/running.c tool/record/asked/running.h
xaudit_SOURCES += tool/record/broker.c tool/record/broker.h tool/record/drain_thread.c tool/record/drain_thread.h \
	tool/record/env.c tool/record/executed.c tool/record/executed.h tool/record/folder.c tool/record/folder.h \
	tool/record/indexing.c tool/record/indexing.h tool/record/losses.c tool/record/losses.h \
	tool/record/meant.c tool/record/meant.h tool/record/objects.c tool/record/objects.h tool/record/outcome.c \
	tool/record/outcome.h tool/record/pack.c tool/record/pack.h tool/record/peer.c tool/record/peer.h \
	tool/record/probes.c tool/record/probes.h \
	tool/record/reaper.c tool/record/reaper.h tool/record/record.c tool/record/record.h \
	tool/record/record_file.c tool/record/record_file.h tool/record/rules.c tool/record/rules.h \
	tool/record/run.c tool/record/run.h tool/record/sched_thread.c tool/record/sched_thread.h \
	tool/record/signals.c tool/record/signals.h tool/record/static_tls.c tool/record/static_tls.h \
	tool/record/trim.c tool/record/trim.h tool/record/unmatched.c tool/record/unmatched.h \
	tool/record/untraced.c tool/record/untraced.h tool/record/values.c tool/record/values.h
xaudit_SOURCES += tool/record/drain/copy.c tool/record/drain/copy.h tool/record/drain/drain.c \
	tool/record/drain/drain.h tool/record/drain/heartbeat.c tool/record/drain/heartbeat.h \
	tool/record/drain/marks.c tool/record/drain/marks.h tool/record/drain/reclaim.c tool/record/drain/reclaim.h
xaudit_SOURCES += tool/record/sched/rings.c tool/record/sched/rings.h tool/record/sched/sched_file.c \
	tool/record/sched/sched_file.h tool/record/sched/totals.c tool/record/sched/totals.h
