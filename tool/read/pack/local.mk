# SPDX-License-Identifier: MIT
#
# Reading packed traces: part of tool/read/libread.la, which brings libzstd to all that link it.
tool_read_libread_la_SOURCES += tool/read/pack/block.c tool/read/pack/block.h tool/read/pack/cache.c \
	tool/read/pack/cache.h tool/read/pack/events.c tool/read/pack/events.h tool/read/pack/hash.c \
	tool/read/pack/hash.h tool/read/pack/index.c tool/read/pack/index.h tool/read/pack/pack.c tool/read/pack/pack.h
tool_read_libread_la_LIBADD = $(ZSTD_LIBS) $(DW_LIBS)
AM_CPPFLAGS += $(ZSTD_CFLAGS)
