# SPDX-License-Identifier: MIT
#
# Values of calls, as people ask for them.
xaudit_SOURCES += tool/values/condition.c tool/values/expression.c tool/values/expression.h \
	tool/values/parser.c tool/values/parser.h \
	tool/values/prototype.c tool/values/prototype.h tool/values/contexts.c tool/values/contexts.h
EXTRA_DIST += tool/values/prototypes
