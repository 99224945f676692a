# SPDX-License-Identifier: MIT
#
# xaudit index: the analysis of files, outside of the processes that use it.
xaudit_SOURCES += tool/index/asks.c tool/index/asks.h
xaudit_SOURCES += tool/index/body.c tool/index/body.h tool/index/cache.c tool/index/cache.h \
	tool/index/calls.c tool/index/calls.h tool/index/content.c tool/index/content.h tool/index/debug.c \
	tool/index/debug.h tool/index/decode.c tool/index/decode.h tool/index/entry.c tool/index/entry.h \
	tool/index/facts.c tool/index/facts.h tool/index/frames.c tool/index/frames.h tool/index/have.c \
	tool/index/have.h tool/index/image.c tool/index/image.h tool/index/index.c tool/index/names.c \
	tool/index/own.c tool/index/own.h tool/index/reach.c tool/index/reach.h tool/index/runtimes.c \
	tool/index/template.c tool/index/template.h tool/index/trim.c tool/index/write.c tool/index/write.h \
	audit/bind/nointercept.c audit/bind/nointercept.h
xaudit_CFLAGS += $(ZYDIS_CFLAGS) $(LIBMD_CFLAGS)
xaudit_LDADD += audit/index/libindex.la x86_64/libsled.la $(ZYDIS_LIBS) $(LIBMD_LIBS)
