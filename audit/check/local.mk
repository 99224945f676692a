# SPDX-License-Identifier: MIT
#
# The module's side of xaudit check; into audit/libaudit.la.
audit_libaudit_la_SOURCES += audit/check/check.c audit/check/check.h audit/check/dlclose.c audit/check/dlclose.h \
	audit/check/link_map.c audit/check/link_map.h
