# SPDX-License-Identifier: MIT
#
# audit/rules/librules.la: the configuration, for module and command.
noinst_LTLIBRARIES += audit/rules/librules.la
audit_rules_librules_la_SOURCES = audit/rules/defaults.h audit/rules/ini.c audit/rules/ini.h audit/rules/keys.c \
	audit/rules/keys.h audit/rules/rules.c audit/rules/rules.h audit/rules/values.c audit/rules/values.h
audit_rules_librules_la_CFLAGS = $(MODULE_CFLAGS)
audit_rules_librules_la_LIBADD = audit/match/libmatch.la runtime/libbase.la x86_64/libsled.la
