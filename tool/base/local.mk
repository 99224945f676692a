# SPDX-License-Identifier: MIT
#
# What commands share.
xaudit_SOURCES += tool/base/build_id.h tool/base/bus.c tool/base/bus.h tool/base/clock_pair.h \
	tool/base/csv.c tool/base/csv.h tool/base/data.c tool/base/data.h tool/base/format.h \
	tool/base/gzip.c tool/base/gzip.h tool/base/json.c tool/base/json.h tool/base/late.c tool/base/late.h \
	tool/base/lost.c tool/base/lost.h \
	tool/base/memory.c tool/base/memory.h tool/base/nearest.c tool/base/nearest.h tool/base/now.h \
	tool/base/options.c tool/base/options.h tool/base/out_file.c tool/base/out_file.h \
	tool/base/own_file.h tool/base/plain.h tool/base/pprof.c tool/base/pprof.h \
	tool/base/proc.h tool/base/proto.c tool/base/proto.h tool/base/rest.c tool/base/rest.h \
	tool/base/text_list.h tool/base/thread.h tool/base/tool.c tool/base/tool.h tool/base/whole.h
