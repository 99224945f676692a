# SPDX-License-Identifier: MIT
#
# xaudit check; libdw unwinds stacks and names what lies there.
xaudit_SOURCES += tool/check/check.c tool/check/finding.c tool/check/finding.h tool/check/growth.c \
	tool/check/growth.h tool/check/judge.c tool/check/judge.h tool/check/late.c tool/check/late.h \
	tool/check/libc_lists.c tool/check/libc_lists.h tool/check/pointers.c tool/check/pointers.h \
	tool/check/report.c tool/check/report.h tool/check/report_json.c tool/check/report_json.h \
	tool/check/report_text.c tool/check/report_text.h tool/check/scan.c tool/check/scan.h tool/check/stack.c \
	tool/check/stack.h tool/check/state.c tool/check/state.h tool/check/stayed.c tool/check/stayed.h \
	tool/check/suppress.c tool/check/suppress.h tool/check/tasks.c tool/check/tasks.h tool/check/tracer.c \
	tool/check/tracer.h
xaudit_CFLAGS += $(DW_CFLAGS)
xaudit_LDADD += $(DW_LIBS)

# What it does not report; installed, and in a build folder beside the command.
EXTRA_DIST += tool/check/default.supp
pkgdata_DATA += default.supp
CLEANFILES += default.supp
default.supp: $(srcdir)/tool/check/default.supp
	$(AM_V_GEN)rm -f $@ && cp $(srcdir)/tool/check/default.supp $@ && chmod u+w $@
