# SPDX-License-Identifier: MIT
#
# audit/match/libmatch.la: what the rules answer on any thread, and the table of kinds; for module and command.
noinst_LTLIBRARIES += audit/match/libmatch.la
audit_match_libmatch_la_SOURCES = audit/match/cxx.c audit/match/cxx.h audit/match/match.c audit/match/match.h \
	audit/match/kinds.c audit/match/kinds.h
audit_match_libmatch_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
