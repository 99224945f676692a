# SPDX-License-Identifier: MIT
#
# xaudit index: the analysis of files, outside of the processes that use it.
xaudit_SOURCES += tool/index/asks_caller.c tool/index/asks_caller.h
xaudit_SOURCES += audit/bind/nointercept.c audit/bind/nointercept.h tool/index/body.c tool/index/body.h \
	tool/index/cache.c tool/index/cache.h tool/index/cache_lock.c tool/index/cache_lock.h tool/index/cache_trim.c \
	tool/index/cache_trim.h tool/index/calls.c tool/index/calls.h tool/index/content.c tool/index/content.h \
	tool/index/copy.c tool/index/copy.h tool/index/cursor.c tool/index/cursor.h \
	tool/index/debug.c tool/index/debug.h tool/index/decode.c tool/index/decode.h tool/index/entry.c \
	tool/index/entry.h tool/index/facts.c tool/index/facts.h tool/index/facts_decode.c tool/index/facts_decode.h \
	tool/index/file_index.c tool/index/file_index.h tool/index/frame_rows.c \
	tool/index/frame_rows.h tool/index/frames.c tool/index/frames.h tool/index/image.c \
	tool/index/image.h tool/index/image_names.c tool/index/image_names.h tool/index/own_file.c \
	tool/index/own_file.h \
	tool/index/reach.c \
	tool/index/reach.h tool/index/runtimes.c tool/index/runtimes.h \
	tool/index/template.c tool/index/template.h tool/index/unwind.c tool/index/unwind.h \
	tool/index/words.c tool/index/words.h tool/index/write.c tool/index/write.h
xaudit_CFLAGS += $(ZYDIS_CFLAGS) $(LIBMD_CFLAGS)
xaudit_LDADD += audit/index/libindex.la x86_64/libsled.la $(ZYDIS_LIBS) $(LIBMD_LIBS)
