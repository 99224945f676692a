# SPDX-License-Identifier: MIT
#
# Objects and loads, from the first look at a file to the last stub that is freed. Into audit/libaudit.la.
audit_libaudit_la_SOURCES += audit/prepare/copies.c audit/prepare/copies.h \
	audit/prepare/entry.c audit/prepare/entry.h audit/prepare/got_calls.c \
	audit/prepare/got_calls.h audit/prepare/image.c audit/prepare/image.h audit/prepare/lifetime.c \
	audit/prepare/lifetime.h audit/prepare/prepare.c audit/prepare/prepare.h
