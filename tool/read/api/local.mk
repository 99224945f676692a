# SPDX-License-Identifier: MIT
#
# libxaudit-read: the reader of traces for other programs, .libs/libxaudit-read.so in the build folder; all of
# tool/read/libread.la, of which read.map exports what the public headers declare.
include_HEADERS += tool/read/api/xaudit-read.h tool/read/api/xaudit-read-events.h tool/read/api/xaudit-read-facts.h \
	tool/read/api/xaudit-read-frames.h \
	tool/read/api/xaudit-read-values.h
lib_LTLIBRARIES += libxaudit-read.la
libxaudit_read_la_SOURCES =
libxaudit_read_la_LIBADD = tool/read/libread.la
libxaudit_read_la_LDFLAGS = $(AM_LDFLAGS) -shared -version-info 0:0:0 \
	-Wl,--version-script=$(srcdir)/tool/read/api/read.map
if !SANITIZE
libxaudit_read_la_LDFLAGS += -Wl,-z,defs
endif
EXTRA_libxaudit_read_la_DEPENDENCIES = tool/read/api/read.map
EXTRA_DIST += tool/read/api/read.map
nodist_pkgconfig_DATA += tool/read/api/xaudit-read.pc
