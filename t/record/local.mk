# SPDX-License-Identifier: MIT
#
# Recording: what threads write and where it goes, and xaudit record.
dist_check_SCRIPTS += t/record/alone.t t/record/asked_snapshots.t t/record/clock.t t/record/coarse.t \
	t/record/compact.t t/record/crashes.t t/record/drain.t t/record/early.t t/record/env.t t/record/file_size.t \
	t/record/full_disk.t t/record/kill.t t/record/lines.t t/record/lost_why.t t/record/named.t \
	t/record/no_memory.t t/record/overflow.t t/record/places.t t/record/record-options.t \
	t/record/record-signals.t t/record/record_index.t t/record/ring.t t/record/sched.t t/record/slow_disk.t \
	t/record/taken.t
EXTRA_DIST += t/record/alone.c t/record/asked_snapshots.c t/record/busy.c t/record/busy_library.c \
	t/record/crash_handler.c t/record/crowd.c t/record/drain.c t/record/early.c t/record/full_disk.c \
	t/record/killed.c t/record/large.c t/record/leaving_tsc.c t/record/leaving_tsc_library.c t/record/lines.c \
	t/record/lines_library.c t/record/many_forks.c t/record/named.c t/record/named_library.c \
	t/record/no_memory.c t/record/record_fake.c t/record/sched.c t/record/sched_part.c t/record/slow_disk.c \
	t/record/taken.c
check_PROGRAMS += t/record/arena.u t/record/asked.u t/record/chunk.u t/record/chunk_ahead.u t/record/core_filter.u \
	t/record/core_modes.u t/record/drain_race.u t/record/peer.u t/record/pool.u t/record/pool_given.u \
	t/record/pool_spoiled.u t/record/record_drain.u t/record/record_reclaim.u t/record/record_sched.u \
	t/record/record_trim.u t/record/recorder.u t/record/recorder_room.u t/record/rest.u t/record/snapshot_copy.u \
	t/record/spoiled.u t/record/stream_size.u t/record/text.u t/record/ticks.u

t_record_arena_u_SOURCES = t/record/arena.c
t_record_arena_u_LDADD = t/lib/libcore.la

t_record_asked_u_SOURCES = t/record/asked.c tool/base/memory.c tool/base/rest.c tool/base/tool.c \
	tool/record/asked/asked.c tool/record/asked/running.c
t_record_asked_u_LDADD = t/lib/libcore.la

t_record_chunk_u_SOURCES = t/record/chunk.c
t_record_chunk_u_LDADD = t/lib/libcore.la

t_record_chunk_ahead_u_SOURCES = t/record/chunk_ahead.c
t_record_chunk_ahead_u_LDADD = t/lib/libcore.la

t_record_core_filter_u_SOURCES = t/record/core_filter.c t/lib/flow.h t/lib/flow_modes.h t/lib/flow_xray.h
t_record_core_filter_u_LDADD = t/lib/libcore.la

t_record_core_modes_u_SOURCES = t/record/core_modes.c t/lib/flow.h t/lib/flow_modes.h t/lib/flow_xray.h
t_record_core_modes_u_LDADD = t/lib/libcore.la

drain_sources = t/lib/drained.h t/lib/plain.h tool/base/own_file.h tool/record/drain/copy.c tool/record/drain/copy.h \
	tool/record/drain/drain.c tool/record/drain/drain.h tool/record/drain/heartbeat.c \
	tool/record/drain/heartbeat.h tool/record/drain/marks.c tool/record/drain/marks.h tool/record/drain/reclaim.c \
	tool/record/drain/reclaim.h
t_record_drain_race_u_SOURCES = t/record/drain_race.c $(drain_sources)
t_record_drain_race_u_LDADD = runtime/libbase.la

t_record_peer_u_SOURCES = t/record/peer.c tool/record/peer.c tool/record/peer.h
t_record_peer_u_LDADD =

t_record_pool_u_SOURCES = t/record/pool.c t/lib/pool.h
t_record_pool_u_LDADD = runtime/libbase.la

t_record_pool_given_u_SOURCES = t/record/pool_given.c t/lib/pool.h
t_record_pool_given_u_LDADD = runtime/libbase.la

t_record_pool_spoiled_u_SOURCES = t/record/pool_spoiled.c t/lib/pool.h
t_record_pool_spoiled_u_LDADD = runtime/libbase.la

t_record_record_drain_u_SOURCES = t/record/record_drain.c $(drain_sources)
t_record_record_drain_u_LDADD = runtime/libbase.la

t_record_record_reclaim_u_SOURCES = t/record/record_reclaim.c $(drain_sources)
t_record_record_reclaim_u_LDADD = runtime/libbase.la

t_record_record_sched_u_SOURCES = t/record/record_sched.c t/lib/sched_folder.h tool/record/sched/sched_file.c \
	tool/record/sched/sched_file.h
t_record_record_sched_u_LDADD = tool/read/libread.la

t_record_record_trim_u_SOURCES = t/record/record_trim.c tool/record/trim.c
t_record_record_trim_u_LDADD = tool/read/libread.la

t_record_recorder_u_SOURCES = t/record/recorder.c
t_record_recorder_u_LDADD = t/lib/libcore.la

t_record_recorder_room_u_SOURCES = t/record/recorder_room.c
t_record_recorder_room_u_LDADD = t/lib/libcore.la

t_record_rest_u_SOURCES = t/record/rest.c tool/base/rest.c
t_record_rest_u_LDADD = t/lib/libcore.la

t_record_snapshot_copy_u_SOURCES = t/record/snapshot_copy.c
t_record_snapshot_copy_u_LDADD = t/lib/libcore.la

t_record_spoiled_u_SOURCES = t/record/spoiled.c t/lib/scribble.h
t_record_spoiled_u_LDADD = t/lib/libcore.la

t_record_stream_size_u_SOURCES = t/record/stream_size.c
t_record_stream_size_u_LDADD = t/lib/libcore.la

t_record_text_u_SOURCES = t/record/text.c
t_record_text_u_LDADD = runtime/libruntime.la

t_record_ticks_u_SOURCES = t/record/ticks.c
t_record_ticks_u_LDADD = t/lib/libcore.la
