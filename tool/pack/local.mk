# SPDX-License-Identifier: MIT
#
# xaudit pack and xaudit unpack.
xaudit_SOURCES += tool/pack/block.c tool/pack/block.h tool/pack/folder.c tool/pack/list.c tool/pack/main.c \
	tool/pack/pack.h tool/pack/plain.c tool/pack/plain.h tool/pack/unpack.c tool/pack/unpack.h \
	tool/pack/write.c tool/pack/write.h
xaudit_LDADD += $(ZSTD_LIBS)
