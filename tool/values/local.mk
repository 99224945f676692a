# SPDX-License-Identifier: MIT
#
# Values of calls, as people ask for them.
xaudit_SOURCES += tool/values/action.c tool/values/action.h tool/values/operand.c tool/values/operand.h
xaudit_SOURCES += tool/values/condition.c tool/values/condition.h tool/values/contexts.c tool/values/contexts.h \
	tool/values/declaring.c tool/values/declaring.h \
	tool/values/debug_functions.c tool/values/debug_functions.h tool/values/debug_info.c \
	tool/values/debug_info.h tool/values/debug_members.c tool/values/debug_members.h tool/values/debug_path.c \
	tool/values/debug_path.h tool/values/debug_type.c tool/values/debug_type.h tool/values/expression.c \
	tool/values/expression.h tool/values/layout.c tool/values/layout.h tool/values/library.c \
	tool/values/library.h tool/values/ltrace.c tool/values/ltrace.h \
	tool/values/parser.c tool/values/parser.h tool/values/prototype.c \
	tool/values/prototype.h tool/values/token.c tool/values/token.h tool/values/variables.c \
	tool/values/variables.h tool/values/wanted.c tool/values/wanted.h

# Beside the command, where it looks first; `make install` puts it where it looks else. Users can read and copy it.
EXTRA_DIST += tool/values/prototypes
pkgdata_DATA += prototypes
CLEANFILES += prototypes
prototypes: $(srcdir)/tool/values/prototypes
	$(AM_V_GEN)rm -f $@ && cp $(srcdir)/tool/values/prototypes $@ && chmod u+w $@
