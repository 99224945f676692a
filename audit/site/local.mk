# SPDX-License-Identifier: MIT
#
# audit/site/libsites.la: discovery of sites in ELF files, for module and command.
noinst_LTLIBRARIES += audit/site/libsites.la
audit_site_libsites_la_SOURCES = audit/site/site.h audit/site/site.c audit/site/cyg.c audit/site/file.c \
	audit/site/file.h audit/site/frame.c audit/site/guard.c audit/site/list.c audit/site/patchable.c \
	audit/site/relocation.c audit/site/symbol.c audit/site/xray.c
audit_site_libsites_la_CFLAGS = $(MODULE_CFLAGS)

# The hint alone is only the module's.
audit_libaudit_la_SOURCES += audit/site/hint.c audit/site/hint.h
