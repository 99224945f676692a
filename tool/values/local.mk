# SPDX-License-Identifier: MIT
#
# Values of calls, as people ask for them.
xaudit_SOURCES += tool/values/expression.c tool/values/expression.h
