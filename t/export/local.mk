# SPDX-License-Identifier: MIT
#
# xaudit export, and the tools that read what it writes.
dist_check_SCRIPTS += t/export/chrome.t t/export/ctf.t t/export/damaged.t t/export/export.t t/export/fleet.t \
	t/export/many.t t/export/perfetto.t t/export/probes.t t/export/rowbinary.t t/export/rows.t t/export/sqlite.t \
	t/export/stacks.t t/export/uftrace.t t/export/xray.t
EXTRA_DIST += t/export/app.cc t/export/app.h t/export/app.sh t/export/app_library.cc t/export/app_plugin.cc \
	t/export/chains.py t/export/chdb/package-lock.json t/export/chdb/package.json t/export/chdb_server.mjs \
	t/export/chrome.schema.json t/export/clickhouse.sh t/export/clickhouse_server.py t/export/fleet.c \
	t/export/fleet.h t/export/fleet_library.c t/export/package-lock.json t/export/package.json \
	t/export/packets.c t/export/perfetto.proto t/export/perfetto.py t/export/pprof.mjs t/export/readers.sh \
	t/export/speedscope.mjs t/export/sums.py t/export/timelines.sh
check_PROGRAMS += t/export/places.u t/export/tracks.u

t_export_places_u_SOURCES = t/export/places.c tool/base/memory.c tool/base/memory.h tool/export/folders/places.c \
	tool/export/folders/places.h
t_export_places_u_LDADD = tool/read/libread.la

t_export_tracks_u_SOURCES = t/export/tracks.c tool/base/memory.c tool/base/memory.h tool/export/tracks.c \
	tool/export/tracks.h tool/export/waiting.c tool/export/waiting.h
t_export_tracks_u_LDADD = tool/read/libread.la
