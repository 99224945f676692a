# SPDX-License-Identifier: MIT
#
# xaudit ctl.
xaudit_SOURCES += tool/ctl/change.c tool/ctl/change.h tool/ctl/contexts.c tool/ctl/contexts.h tool/ctl/ctl.c \
	tool/ctl/find_module.c tool/ctl/find_module.h tool/ctl/folder.h tool/ctl/function.c tool/ctl/function.h \
	tool/ctl/index_file.c tool/ctl/index_file.h tool/ctl/indexes.c tool/ctl/indexes.h tool/ctl/names.c \
	tool/ctl/names.h tool/ctl/patch.c tool/ctl/patch.h tool/ctl/plans.c tool/ctl/plans.h tool/ctl/position.c \
	tool/ctl/position.h tool/ctl/probe_list.c tool/ctl/probe_list.h tool/ctl/probe_rules.c tool/ctl/probe_rules.h \
	tool/ctl/probes.c tool/ctl/probes.h tool/ctl/process.c tool/ctl/process.h tool/ctl/remote_call.c \
	tool/ctl/remote_call.h tool/ctl/request.c tool/ctl/request.h tool/ctl/rule_line.h tool/ctl/snapshot.c \
	tool/ctl/snapshot.h tool/ctl/status.c tool/ctl/status.h tool/ctl/status_live.c tool/ctl/status_live.h \
	tool/ctl/status_trace.c tool/ctl/status_trace.h tool/ctl/targets.c tool/ctl/targets.h tool/ctl/timeouts.c \
	tool/ctl/timeouts.h tool/ctl/top.c tool/ctl/top.h tool/ctl/watch.c tool/ctl/watch.h tool/ctl/when.c \
	tool/ctl/when.h tool/ctl/world.c tool/ctl/world.h
