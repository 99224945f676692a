# SPDX-License-Identifier: MIT
#
# xaudit export: its formats, a file or two for each.
xaudit_SOURCES += tool/export/export.c tool/export/format.c tool/export/format.h tool/export/pass.c \
	tool/export/pass.h tool/export/tracks.c tool/export/tracks.h tool/export/waiting.c tool/export/waiting.h
xaudit_SOURCES += tool/export/folders/ctf.c tool/export/folders/ctf.h tool/export/folders/ctf_callers.c \
	tool/export/folders/ctf_callers.h tool/export/folders/ctf_metadata.c tool/export/folders/ctf_metadata.h \
	tool/export/folders/ctf_types.c tool/export/folders/ctf_types.h tool/export/folders/places.c \
	tool/export/folders/places.h tool/export/folders/tids.c tool/export/folders/tids.h \
	tool/export/folders/track_files.c tool/export/folders/track_files.h tool/export/folders/uftrace.c \
	tool/export/folders/uftrace.h tool/export/folders/uftrace_files.c tool/export/folders/uftrace_files.h \
	tool/export/folders/uftrace_values.c tool/export/folders/uftrace_values.h tool/export/folders/xray.c \
	tool/export/folders/xray_map.c tool/export/folders/xray_map.h
xaudit_SOURCES += tool/export/rows/buffer.c tool/export/rows/buffer.h tool/export/rows/clickhouse.c \
	tool/export/rows/clickhouse.h tool/export/rows/clickhouse_tables.c tool/export/rows/clickhouse_tables.h \
	tool/export/rows/csv.c tool/export/rows/http.c tool/export/rows/http.h tool/export/rows/ndjson.c \
	tool/export/rows/rowbinary.c tool/export/rows/sqlite.c tool/export/rows/sqlite_calls.c \
	tool/export/rows/sqlite_calls.h tool/export/rows/sqlite_facts.c tool/export/rows/sqlite_facts.h \
	tool/export/rows/sqlite_tables.c tool/export/rows/sqlite_tables.h
xaudit_SOURCES += tool/export/stacks/callgrind.c tool/export/stacks/callgrind.h tool/export/stacks/folded.c \
	tool/export/stacks/folded.h tool/export/stacks/merged.c tool/export/stacks/merged.h \
	tool/export/stacks/pprof.c tool/export/stacks/pprof.h tool/export/stacks/speedscope.c \
	tool/export/stacks/speedscope.h
xaudit_SOURCES += tool/export/time/args.c tool/export/time/args.h tool/export/time/chrome.c \
	tool/export/time/chrome.h tool/export/time/perfetto.c tool/export/time/perfetto.h \
	tool/export/time/timeline.c tool/export/time/timeline.h
AM_CPPFLAGS += $(SQLITE_CFLAGS) $(CURL_CFLAGS)
