# SPDX-License-Identifier: MIT
#
# audit/index/libindex.la: reading indexes, for the command, and for the module as program threads may run it. Whoever
# links it links x86_64/libsled.la.
noinst_LTLIBRARIES += audit/index/libindex.la
audit_index_libindex_la_SOURCES = audit/index/find.c audit/index/find.h audit/index/folder.c audit/index/folder.h \
	audit/index/frames.c audit/index/frames.h audit/index/helper.c audit/index/helper.h \
	audit/index/index.c audit/index/index.h audit/index/walk.c audit/index/walk.h
audit_index_libindex_la_CPPFLAGS = $(AM_CPPFLAGS) -DXAUDIT_COMMAND='"$(bindir)/xaudit"'
audit_index_libindex_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
