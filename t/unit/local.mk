# SPDX-License-Identifier: MIT
#
# Tests in C: t_unit_NAME_t_SOURCES = t/unit/NAME.c, and the libraries that it needs in t_unit_NAME_t_LDADD.
check_PROGRAMS += t/unit/altstack.t t/unit/arena.t t/unit/bars.t t/unit/cct.t t/unit/chunk.t t/unit/chunk_ahead.t \
	t/unit/compare.t t/unit/core_filter.t t/unit/core_modes.t t/unit/cut.t \
	t/unit/cxx.t t/unit/dense.t t/unit/displace.t t/unit/drain_race.t t/unit/epoch.t t/unit/epoch_torture.t \
	t/unit/glob.t \
	t/unit/handlers.t \
	t/unit/handlers_safe.t t/unit/hash.t t/unit/histogram.t t/unit/index.t t/unit/index_content.t \
	t/unit/index_find.t t/unit/index_helper.t t/unit/index_open.t \
	t/unit/labels.t t/unit/lock.t \
	t/unit/live.t t/unit/live_entry.t t/unit/live_soak.t t/unit/mirror.t \
	t/unit/mirror_parts.t t/unit/mirror_stacks.t t/unit/names.t \
	t/unit/pack.t t/unit/peer.t t/unit/patch.t t/unit/patch_live.t t/unit/pool.t t/unit/pool_given.t \
	t/unit/pool_spoiled.t \
	t/unit/position.t t/unit/read_memory.t \
	t/unit/read_follow.t t/unit/read_public.t t/unit/reader_copies.t \
	t/unit/reader_live.t t/unit/record_drain.t t/unit/record_reclaim.t t/unit/record_trim.t \
	t/unit/recorder.t t/unit/recorder_fork.t \
	t/unit/recorder_room.t t/unit/recorder_vfork.t t/unit/rules.t t/unit/rules_fallback.t t/unit/rules_lines.t \
	t/unit/sample.t t/unit/record_sched.t t/unit/sched_read.t \
	t/unit/site.t t/unit/site_damage.t t/unit/sled.t t/unit/snapshot_copy.t t/unit/spoiled.t t/unit/stacks.t \
	t/unit/step.t \
	t/unit/stream_size.t \
	t/unit/stub.t t/unit/template.t t/unit/text.t t/unit/ticks.t t/unit/trace_file.t \
	t/unit/xray_log.t

t_unit_altstack_t_SOURCES = t/unit/altstack.c audit/start/altstack.c
t_unit_altstack_t_LDADD = x86_64/libx86_64.la

t_unit_arena_t_SOURCES = t/unit/arena.c
t_unit_arena_t_LDADD = t/lib/libcore.la

t_unit_bars_t_SOURCES = t/unit/bars.c tool/show/report/bars.c tool/show/report/bars.h

t_unit_cct_t_SOURCES = t/unit/cct.c tool/show/calls/cct.c tool/show/calls/cct.h tool/base/memory.c tool/base/memory.h
t_unit_cct_t_LDADD = tool/read/libread.la

t_unit_chunk_t_SOURCES = t/unit/chunk.c
t_unit_chunk_t_LDADD = t/lib/libcore.la

t_unit_chunk_ahead_t_SOURCES = t/unit/chunk_ahead.c
t_unit_chunk_ahead_t_LDADD = t/lib/libcore.la

t_unit_compare_t_SOURCES = t/unit/compare.c tool/show/report/compare.c tool/show/report/compare.h
t_unit_compare_t_LDADD = -lm

t_unit_core_filter_t_SOURCES = t/unit/core_filter.c t/lib/flow.h t/lib/flow_modes.h t/lib/flow_xray.h
t_unit_core_filter_t_LDADD = t/lib/libcore.la

t_unit_core_modes_t_SOURCES = t/unit/core_modes.c t/lib/flow.h t/lib/flow_modes.h t/lib/flow_xray.h
t_unit_core_modes_t_LDADD = t/lib/libcore.la

t_unit_cut_t_SOURCES = t/unit/cut.c tool/base/memory.c tool/base/memory.h tool/show/term/fit.c tool/show/term/fit.h

t_unit_dense_t_SOURCES = t/unit/dense.c
t_unit_dense_t_LDADD = tool/read/libread.la runtime/libbase.la

t_unit_displace_t_SOURCES = t/unit/displace.c t/unit/displace_run.S tool/index/decode.c tool/index/decode.h \
	tool/index/template.c tool/index/template.h
t_unit_displace_t_CFLAGS = $(AM_CFLAGS) $(ZYDIS_CFLAGS)
t_unit_displace_t_LDADD = x86_64/libsled.la $(ZYDIS_LIBS)

drain_sources = t/lib/drained.h t/lib/plain.h tool/base/own_file.h tool/record/drain/copy.c \
	tool/record/drain/copy.h tool/record/drain/drain.c tool/record/drain/drain.h tool/record/drain/heartbeat.c \
	tool/record/drain/heartbeat.h tool/record/drain/marks.c tool/record/drain/marks.h \
	tool/record/drain/reclaim.c tool/record/drain/reclaim.h
t_unit_drain_race_t_SOURCES = t/unit/drain_race.c $(drain_sources)
t_unit_drain_race_t_LDADD = runtime/libbase.la

t_unit_epoch_t_SOURCES = t/unit/epoch.c
t_unit_epoch_t_LDADD = runtime/libruntime.la runtime/libbase.la

t_unit_epoch_torture_t_SOURCES = t/unit/epoch_torture.c
t_unit_epoch_torture_t_LDADD = runtime/libruntime.la runtime/libbase.la

t_unit_cxx_t_SOURCES = t/unit/cxx.c
t_unit_cxx_t_LDADD = audit/rules/librules.la
t_unit_glob_t_SOURCES = t/unit/glob.c
t_unit_glob_t_LDADD = audit/rules/librules.la

t_unit_handlers_t_SOURCES = t/unit/handlers.c t/lib/flow.h t/lib/flow_xray.h
t_unit_handlers_t_LDADD = t/lib/libcore.la

t_unit_handlers_safe_t_SOURCES = t/unit/handlers_safe.c t/lib/flow.h t/lib/flow_xray.h
t_unit_handlers_safe_t_LDADD = t/lib/libcore.la

t_unit_hash_t_SOURCES = t/unit/hash.c
t_unit_hash_t_LDADD = tool/read/libread.la

t_unit_histogram_t_SOURCES = t/unit/histogram.c
t_unit_histogram_t_LDADD = tool/read/libread.la

t_unit_index_t_SOURCES = t/unit/index.c
t_unit_index_t_LDADD = audit/index/libindex.la x86_64/libsled.la

t_unit_index_content_t_SOURCES = t/unit/index_content.c tool/index/content.c tool/index/content.h
t_unit_index_content_t_CFLAGS = $(AM_CFLAGS) $(LIBMD_CFLAGS)
t_unit_index_content_t_LDADD = audit/site/libsites.la t/lib/libcore.la $(LIBMD_LIBS)

t_unit_index_find_t_SOURCES = t/unit/index_find.c
t_unit_index_find_t_LDADD = audit/index/libindex.la t/lib/libcore.la x86_64/libsled.la

t_unit_index_helper_t_SOURCES = t/unit/index_helper.c t/lib/descriptors.h t/lib/index_files.h
t_unit_index_helper_t_LDADD = audit/index/libindex.la t/lib/libcore.la x86_64/libsled.la

t_unit_index_open_t_SOURCES = t/unit/index_open.c
t_unit_index_open_t_LDADD = audit/index/libindex.la x86_64/libsled.la

t_unit_labels_t_SOURCES = t/unit/labels.c
t_unit_labels_t_LDADD = t/lib/libcore.la

t_unit_live_t_SOURCES = t/unit/live.c t/lib/live_load.h
t_unit_live_t_LDADD = audit/live/liblive.la audit/index/libindex.la t/lib/libcore.la \
	audit/model/libmodel.la audit/match/libmatch.la x86_64/libsled.la runtime/libbase.la

t_unit_live_entry_t_SOURCES = t/unit/live_entry.c t/lib/live_load.h
t_unit_live_entry_t_LDADD = audit/live/liblive.la audit/index/libindex.la t/lib/libcore.la \
	audit/model/libmodel.la audit/match/libmatch.la x86_64/libsled.la runtime/libbase.la

t_unit_live_soak_t_SOURCES = t/unit/live_soak.c t/lib/live_load.h
t_unit_live_soak_t_LDADD = audit/live/liblive.la audit/index/libindex.la t/lib/libcore.la \
	audit/model/libmodel.la audit/match/libmatch.la x86_64/libsled.la runtime/libbase.la -lrt

t_unit_lock_t_SOURCES = t/unit/lock.c
t_unit_lock_t_LDADD = t/lib/libcore.la

t_unit_mirror_t_SOURCES = t/unit/mirror.c t/lib/flow.h t/lib/flow_xray.h
t_unit_mirror_t_LDADD = t/lib/libcore.la

t_unit_peer_t_SOURCES = t/unit/peer.c tool/record/peer.c tool/record/peer.h
t_unit_peer_t_LDADD =
t_unit_mirror_parts_t_SOURCES = t/unit/mirror_parts.c
t_unit_mirror_parts_t_LDADD = t/lib/libcore.la
t_unit_mirror_stacks_t_SOURCES = t/unit/mirror_stacks.c t/lib/flow.h t/lib/flow_coroutines.h
t_unit_mirror_stacks_t_LDADD = t/lib/libcore.la

t_unit_names_t_SOURCES = t/unit/names.c tool/base/json.c tool/base/json.h tool/base/memory.c tool/base/memory.h \
	tool/show/term/names.c tool/show/term/names.h
t_unit_names_t_LDADD = tool/read/libread.la audit/rules/librules.la $(IBERTY_LIBS)

t_unit_pack_t_SOURCES = t/unit/pack.c tool/pack/block.c tool/pack/block.h
t_unit_pack_t_LDADD = tool/read/libread.la

t_unit_patch_t_SOURCES = t/unit/patch.c
t_unit_patch_t_LDADD = t/lib/libcore.la

t_unit_patch_live_t_SOURCES = t/unit/patch_live.c
t_unit_patch_live_t_LDADD = t/lib/libcore.la x86_64/libsled.la

t_unit_pool_t_SOURCES = t/unit/pool.c t/lib/pool.h
t_unit_pool_t_LDADD = runtime/libbase.la

t_unit_pool_given_t_SOURCES = t/unit/pool_given.c t/lib/pool.h
t_unit_pool_given_t_LDADD = runtime/libbase.la

t_unit_pool_spoiled_t_SOURCES = t/unit/pool_spoiled.c t/lib/pool.h
t_unit_pool_spoiled_t_LDADD = runtime/libbase.la

t_unit_position_t_SOURCES = t/unit/position.c t/unit/position_places.S tool/base/memory.c \
	tool/ctl/position.c tool/ctl/process.c tool/ctl/remote_call.c tool/ctl/timeouts.c tool/ctl/world.c
t_unit_position_t_LDADD =

t_unit_read_memory_t_SOURCES = t/unit/read_memory.c t/lib/descriptors.h t/lib/no_memory.h t/lib/written.h
t_unit_read_memory_t_LDADD = tool/read/libread.la

t_unit_read_follow_t_SOURCES = t/unit/read_follow.c t/lib/written.h
t_unit_read_follow_t_LDADD = tool/read/libread.la

t_unit_read_public_t_SOURCES = t/unit/read_public.c t/lib/descriptors.h t/lib/no_memory.h t/lib/written.h
t_unit_read_public_t_LDADD = tool/read/libread.la

t_unit_reader_copies_t_SOURCES = t/unit/reader_copies.c
t_unit_reader_copies_t_LDADD = tool/read/libread.la

check_PROGRAMS += t/unit/reader_fuzz.t t/unit/pack_fuzz.t
t_unit_pack_fuzz_t_SOURCES = t/unit/pack_fuzz.c t/fuzz/read.c t/fuzz/read.h t/fuzz/rounds.c t/fuzz/rounds.h
t_unit_pack_fuzz_t_LDADD = tool/read/libread.la
t_unit_reader_fuzz_t_SOURCES = t/unit/reader_fuzz.c t/fuzz/read.c t/fuzz/read.h t/fuzz/rounds.c t/fuzz/rounds.h
t_unit_reader_fuzz_t_LDADD = tool/read/libread.la

t_unit_reader_live_t_SOURCES = t/unit/reader_live.c
t_unit_reader_live_t_LDADD = runtime/libbase.la

check_PROGRAMS += t/unit/progress.t
t_unit_progress_t_SOURCES = t/unit/progress.c tool/show/term/pager.h tool/show/term/progress.h

t_unit_record_drain_t_SOURCES = t/unit/record_drain.c $(drain_sources)
t_unit_record_drain_t_LDADD = runtime/libbase.la

t_unit_record_reclaim_t_SOURCES = t/unit/record_reclaim.c $(drain_sources)
t_unit_record_reclaim_t_LDADD = runtime/libbase.la

t_unit_record_trim_t_SOURCES = t/unit/record_trim.c tool/record/trim.c
t_unit_record_trim_t_LDADD = tool/read/libread.la

t_unit_recorder_t_SOURCES = t/unit/recorder.c
t_unit_recorder_t_LDADD = t/lib/libcore.la

t_unit_recorder_fork_t_SOURCES = t/unit/recorder_fork.c
t_unit_recorder_fork_t_LDADD = t/lib/libcore.la

t_unit_recorder_room_t_SOURCES = t/unit/recorder_room.c
t_unit_recorder_room_t_LDADD = t/lib/libcore.la

t_unit_recorder_vfork_t_SOURCES = t/unit/recorder_vfork.c
t_unit_recorder_vfork_t_LDADD = t/lib/libcore.la

t_unit_rules_t_SOURCES = t/unit/rules.c t/lib/rules_said.h
t_unit_rules_t_LDADD = audit/rules/librules.la

t_unit_rules_fallback_t_SOURCES = t/unit/rules_fallback.c t/lib/rules_said.h
t_unit_rules_fallback_t_LDADD = audit/rules/librules.la

t_unit_rules_lines_t_SOURCES = t/unit/rules_lines.c t/lib/rules_said.h
t_unit_rules_lines_t_LDADD = audit/rules/librules.la

t_unit_sample_t_SOURCES = t/unit/sample.c tool/show/calls/sample.c tool/show/calls/sample.h tool/base/memory.c \
	tool/base/memory.h

t_unit_site_t_SOURCES = t/unit/site.c t/lib/site_fixture.h
t_unit_site_t_LDADD = audit/site/libsites.la audit/rules/librules.la

t_unit_site_damage_t_SOURCES = t/unit/site_damage.c t/lib/site_fixture.h
t_unit_site_damage_t_LDADD = audit/site/libsites.la audit/rules/librules.la

t_unit_sled_t_SOURCES = t/unit/sled.c
t_unit_sled_t_LDADD = audit/rules/librules.la

t_unit_snapshot_copy_t_SOURCES = t/unit/snapshot_copy.c
t_unit_snapshot_copy_t_LDADD = t/lib/libcore.la

t_unit_spoiled_t_SOURCES = t/unit/spoiled.c t/lib/scribble.h
t_unit_spoiled_t_LDADD = t/lib/libcore.la

t_unit_stacks_t_SOURCES = t/unit/stacks.c t/lib/flow.h t/lib/flow_coroutines.h
t_unit_stacks_t_LDADD = t/lib/libcore.la

t_unit_step_t_SOURCES = t/unit/step.c t/unit/step.h t/unit/step_call.S t/unit/step_program.c
t_unit_step_t_LDADD = t/lib/libcore.la

t_unit_stream_size_t_SOURCES = t/unit/stream_size.c
t_unit_stream_size_t_LDADD = t/lib/libcore.la

t_unit_stub_t_SOURCES = t/unit/stub.c
t_unit_stub_t_LDADD = t/lib/libcore.la


t_unit_template_t_SOURCES = t/unit/template.c tool/index/decode.c tool/index/decode.h tool/index/template.c \
	tool/index/template.h
t_unit_template_t_CFLAGS = $(AM_CFLAGS) $(ZYDIS_CFLAGS)
t_unit_template_t_LDADD = $(ZYDIS_LIBS)

t_unit_record_sched_t_SOURCES = t/unit/record_sched.c t/lib/sched_folder.h tool/record/sched/sched_file.c \
	tool/record/sched/sched_file.h
t_unit_record_sched_t_LDADD = tool/read/libread.la

t_unit_sched_read_t_SOURCES = t/unit/sched_read.c t/lib/sched_folder.h
t_unit_sched_read_t_LDADD = tool/read/libread.la

t_unit_text_t_SOURCES = t/unit/text.c
t_unit_text_t_LDADD = runtime/libruntime.la

t_unit_ticks_t_SOURCES = t/unit/ticks.c
t_unit_ticks_t_LDADD = t/lib/libcore.la

t_unit_trace_file_t_SOURCES = t/unit/trace_file.c t/lib/descriptors.h
t_unit_trace_file_t_LDADD = tool/read/libread.la

t_unit_xray_log_t_SOURCES = t/unit/xray_log.c
t_unit_xray_log_t_LDADD = libxaudit-api.a
