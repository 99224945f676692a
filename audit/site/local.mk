# SPDX-License-Identifier: MIT
#
# audit/site/libsites.la: discovery of sites in ELF files, for module and command.
noinst_LTLIBRARIES += audit/site/libsites.la
audit_site_libsites_la_SOURCES = audit/site/elf_file.c audit/site/elf_file.h audit/site/frame.c audit/site/frame.h \
	audit/site/list.c audit/site/list.h audit/site/map.c audit/site/map.h audit/site/relocation.c \
	audit/site/relocation.h audit/site/scan_cyg.c audit/site/scan_cyg.h audit/site/scan_guard.c \
	audit/site/scan_guard.h audit/site/scan_patchable.c audit/site/scan_patchable.h audit/site/scan_xray.c \
	audit/site/scan_xray.h audit/site/site.c audit/site/site.h audit/site/symbol.c audit/site/symbol.h
audit_site_libsites_la_CFLAGS = $(MODULE_CFLAGS)

# The hint alone is only the module's.
audit_libaudit_la_SOURCES += audit/site/hint.c audit/site/hint.h
