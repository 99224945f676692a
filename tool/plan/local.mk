# SPDX-License-Identifier: MIT
#
# xaudit index, the command, and plans.
xaudit_SOURCES += tool/plan/actions.c tool/plan/actions.h tool/plan/functions.c tool/plan/functions.h \
	tool/plan/index.c tool/plan/making.h tool/plan/pieces.c tool/plan/pieces.h tool/plan/plan.c tool/plan/plan.h \
	tool/plan/plan_cache.c tool/plan/plan_cache.h tool/plan/probes.c tool/plan/probes.h
