# SPDX-License-Identifier: MIT
#
# audit/libaudit.la: what ld.so calls, and what runs then, on the thread that loads or closes.
# libxaudit.la: the audit module, .libs/libxaudit.so in the build folder; and what it has in place of a libc.
noinst_LTLIBRARIES += audit/libaudit.la
audit_libaudit_la_SOURCES = audit/api_connect.c audit/api_connect.h audit/audit.c
audit_libaudit_la_CFLAGS = $(MODULE_CFLAGS) -ftls-model=initial-exec
lib_LTLIBRARIES += libxaudit.la
libxaudit_la_SOURCES = audit/freestanding.c audit/freestanding.h
libxaudit_la_CFLAGS = $(MODULE_CFLAGS) $(FREESTANDING_CFLAGS)
# What a start runs comes first, together: a page fault brings 16 pages of text.
libxaudit_la_LIBADD = audit/libaudit.la audit/model/libmodel.la audit/rules/librules.la audit/index/libindex.la \
	runtime/libruntime.la x86_64/libx86_64.la audit/live/liblive.la audit/site/libsites.la

# Bound at load: no lazy binding of ours may run in the middle of somebody's call. Two segments, not four: each costs a
# start 2 us.
libxaudit_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,now -Wl,-z,relro -Wl,-z,noseparate-code \
	-Wl,--sort-section=name -Wl,--version-script=$(srcdir)/audit/audit.map
if !SANITIZE
libxaudit_la_LDFLAGS += -Wl,-z,defs -XCClinker -nostdlib
libxaudit_la_LIBADD += -lgcc
endif
EXTRA_libxaudit_la_DEPENDENCIES = audit/audit.map
EXTRA_DIST += audit/audit.map
