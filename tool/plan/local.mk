# SPDX-License-Identifier: MIT
#
# xaudit index, the command, and plans.
xaudit_SOURCES += tool/plan/index.c tool/plan/plan.c tool/plan/plan.h tool/plan/plan_cache.c tool/plan/plan_cache.h
