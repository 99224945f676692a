# SPDX-License-Identifier: MIT
#
# xaudit ctl.
xaudit_SOURCES += tool/ctl/call.c tool/ctl/change.c tool/ctl/ctl.c tool/ctl/ctl.h tool/ctl/folder.h \
	tool/ctl/index_file.c tool/ctl/index_file.h tool/ctl/indexes.c tool/ctl/indexes.h tool/ctl/live.c \
	tool/ctl/open.c tool/ctl/patch.c tool/ctl/position.c tool/ctl/position.h tool/ctl/process.c \
	tool/ctl/left.c tool/ctl/left.h tool/ctl/request.c tool/ctl/snapshot.c tool/ctl/status.c tool/ctl/status.h \
	tool/ctl/stop.c \
	tool/ctl/targets.c tool/ctl/targets.h tool/ctl/top.c tool/ctl/trace.c
