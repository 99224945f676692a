# SPDX-License-Identifier: MIT
#
# xaudit pack and xaudit unpack.
xaudit_SOURCES += tool/pack/bare.c tool/pack/bare.h tool/pack/bare_words.c tool/pack/bare_words.h \
	tool/pack/block.c tool/pack/block.h tool/pack/compact_file.c \
	tool/pack/compact_file.h tool/pack/pack.c tool/pack/pack_folder.c \
	tool/pack/pack_folder.h tool/pack/plain_words.c tool/pack/plain_words.h tool/pack/slots.c \
	tool/pack/slots.h tool/pack/sources.c tool/pack/sources.h \
	tool/pack/unpack.c tool/pack/unpack.h tool/pack/write.c tool/pack/write.h
xaudit_LDADD += $(ZSTD_LIBS)
