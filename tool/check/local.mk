# SPDX-License-Identifier: MIT
#
# xaudit check; libdw unwinds stacks and names what lies there.
xaudit_SOURCES += tool/check/check.c tool/check/check.h tool/check/growth.c tool/check/json.c tool/check/judge.c \
	tool/check/kept.c tool/check/late.c tool/check/libc.c tool/check/memory.c tool/check/report.c \
	tool/check/scan.c tool/check/scan.h tool/check/stack.c tool/check/state.c tool/check/stop.c \
	tool/check/suppress.c tool/check/text.c tool/check/trace.c
xaudit_CFLAGS += $(DW_CFLAGS)
xaudit_LDADD += $(DW_LIBS)

# What it does not report; installed, and in a build folder beside the command.
EXTRA_DIST += tool/check/default.supp
pkgdata_DATA = default.supp
CLEANFILES += default.supp
default.supp: $(srcdir)/tool/check/default.supp
	$(AM_V_GEN)rm -f $@ && cp $(srcdir)/tool/check/default.supp $@ && chmod u+w $@
