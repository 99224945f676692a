# SPDX-License-Identifier: MIT
#
# What is looked at, and made ready, before the program's own code runs. Into audit/libaudit.la.
audit_libaudit_la_SOURCES += audit/start/altstack.c audit/start/altstack.h audit/start/children.c \
	audit/start/children.h audit/start/loader_time.c audit/start/loader_time.h audit/start/sanitizer.c \
	audit/start/sanitizer.h audit/start/static_tls.c audit/start/static_tls.h audit/start/tunables.h
