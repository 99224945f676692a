# SPDX-License-Identifier: MIT
#
# audit/libcommon.la: what the module and the command share; files go into audit_libcommon_la_SOURCES.
# audit/libsites.la: site discovery, for both too; files go into audit_libsites_la_SOURCES.
# audit/libaudit.la: the module's part that ld.so calls; files go into audit_libaudit_la_SOURCES.
# libxaudit.la: the audit module, .libs/libxaudit.so in the build folder. It has no source of its own.
noinst_LTLIBRARIES += audit/libcommon.la
audit_libcommon_la_SOURCES = audit/rules.h
audit_libcommon_la_CFLAGS = $(MODULE_CFLAGS)
audit_libcommon_la_LIBADD = audit/libglob.la runtime/libbase.la x86_64/libsled.la

noinst_LTLIBRARIES += audit/libaudit.la
audit_libaudit_la_SOURCES = audit/altstack.c audit/altstack.h audit/audit.c audit/bind.c audit/bind.h audit/follow.c \
	audit/follow.h audit/glance.c audit/glance.h audit/image.c audit/image.h audit/iterate.c audit/iterate.h \
	audit/never.c audit/never.h audit/object.c audit/object.h audit/prepare.c audit/prepare.h audit/sanitizer.c \
	audit/sanitizer.h audit/symbol.c audit/symbol.h audit/unwinder.c audit/unwinder.h
audit_libaudit_la_CFLAGS = $(MODULE_CFLAGS) -ftls-model=initial-exec

# What audit/ does on threads of the program, in the middle of their calls.
noinst_LTLIBRARIES += audit/libdescribe.la
audit_libdescribe_la_SOURCES = audit/asked.c audit/asked.h audit/code.c audit/code.h audit/describe.c audit/describe.h \
	audit/live.c audit/live.h audit/retired.c audit/retired.h
audit_libdescribe_la_CFLAGS = $(MODULE_THREAD_CFLAGS)

lib_LTLIBRARIES += libxaudit.la
libxaudit_la_SOURCES =
libxaudit_la_LIBADD = audit/libaudit.la audit/libdescribe.la runtime/libruntime.la x86_64/libx86_64.la \
	audit/libcommon.la audit/libsites.la $(INIH_MODULE_LIBS)
# Bound at load: no lazy binding of ours may run in the middle of somebody's call.
libxaudit_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,now -Wl,-z,relro \
	-Wl,--sort-section=name -Wl,--version-script=$(srcdir)/audit/audit.map
if !SANITIZE
libxaudit_la_LDFLAGS += -Wl,-z,defs
endif
EXTRA_libxaudit_la_DEPENDENCIES = audit/audit.map
EXTRA_DIST += audit/audit.map

# What the rules answer on any thread.
noinst_LTLIBRARIES += audit/libglob.la
audit_libglob_la_SOURCES = audit/glob.c
audit_libglob_la_CFLAGS = $(MODULE_THREAD_CFLAGS)

audit_libcommon_la_SOURCES += audit/rules.c audit/rules_ini.c audit/rules_ini.h audit/rules_keys.c audit/rules_keys.h

noinst_LTLIBRARIES += audit/libsites.la
audit_libsites_la_SOURCES = audit/site.h audit/site.c audit/site_file.c audit/site_file.h audit/site_frame.c \
	audit/site_guard.c audit/site_list.c audit/site_patchable.c audit/site_relocation.c audit/site_symbol.c \
	audit/site_xray.c
audit_libsites_la_CFLAGS = $(MODULE_CFLAGS)

# The module's side of xaudit check.
audit_libaudit_la_SOURCES += audit/check.c audit/check.h audit/check_close.c audit/check_close.h audit/check_count.c \
	audit/check_count.h

# The program's own calls (xaudit.h).
audit_libaudit_la_SOURCES += audit/api_connect.c audit/api.h
audit_libdescribe_la_SOURCES += audit/api.c
audit_libdescribe_la_SOURCES += audit/xray.c audit/xray.h

# XRay's runtime symbols, and what else objects import that concerns us.
audit_libaudit_la_SOURCES += audit/imports.c audit/imports.h audit/resolve.c audit/resolve.h
audit_libdescribe_la_SOURCES += audit/resolve_targets.c

# Static TLS.
audit_libaudit_la_SOURCES += audit/static_tls.c audit/static_tls.h audit/tunables.h

# dladdr of stubs.
audit_libaudit_la_SOURCES += audit/dladdr_bind.c
audit_libdescribe_la_SOURCES += audit/dladdr.c audit/dladdr.h

# dlclose from inside a handler.
audit_libdescribe_la_SOURCES += audit/close.c audit/close.h audit/close_call.S
