# SPDX-License-Identifier: MIT
#
# xaudit locks.
xaudit_SOURCES += tool/locks/chain.c tool/locks/chain.h tool/locks/functions.c tool/locks/functions.h \
	tool/locks/holds.c tool/locks/holds.h tool/locks/locks.c tool/locks/meanwhile.c \
	tool/locks/meanwhile.h tool/locks/model.c tool/locks/model.h tool/locks/names.c tool/locks/names.h \
	tool/locks/order.c tool/locks/order.h tool/locks/read.c tool/locks/read.h tool/locks/run.c tool/locks/run.h \
	tool/locks/show.c tool/locks/show.h tool/locks/show_json.c tool/locks/show_json.h tool/locks/show_text.c \
	tool/locks/show_text.h tool/locks/ways.c tool/locks/ways.h
