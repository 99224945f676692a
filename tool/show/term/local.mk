# SPDX-License-Identifier: MIT
#
# What the commands show on a terminal: names, width, pager, progress.
xaudit_SOURCES += tool/show/term/cut.c tool/show/term/cut.h tool/show/term/cxx_text.c tool/show/term/cxx_text.h \
	tool/show/term/fit.c tool/show/term/fit.h tool/show/term/frames.c tool/show/term/frames.h \
	tool/show/term/meant.c tool/show/term/meant.h \
	tool/show/term/names.c tool/show/term/names.h tool/show/term/pager.c tool/show/term/pager.h \
	tool/show/term/progress.c tool/show/term/progress.h \
	tool/show/term/simple.c tool/show/term/simple.h \
	tool/show/term/srcline.c tool/show/term/srcline.h tool/show/term/term.c tool/show/term/term.h
xaudit_LDADD += $(IBERTY_LIBS)
