# SPDX-License-Identifier: MIT
#
# Bindings between objects, and symbols that objects get from us. Into audit/libaudit.la.
audit_libaudit_la_SOURCES += audit/bind/bind.c audit/bind/bind.h audit/bind/cyg_bind.c audit/bind/cyg_bind.h \
	audit/bind/dladdr_bind.c audit/bind/dladdr_bind.h audit/bind/exec_bind.c audit/bind/exec_bind.h \
	audit/bind/gmon.c audit/bind/gmon.h audit/bind/imports.c audit/bind/imports.h audit/bind/iterate.c \
	audit/bind/iterate.h audit/bind/loader_calloc.c audit/bind/loader_calloc.h audit/bind/no_plt.c \
	audit/bind/no_plt.h audit/bind/nointercept.c audit/bind/nointercept.h audit/bind/runtime_symbols.c \
	audit/bind/runtime_symbols.h audit/bind/symbol.c audit/bind/symbol.h
