# SPDX-License-Identifier: MIT
#
# The reader of traces and its library, packed traces among them.
dist_check_SCRIPTS += t/read/backtraces.t t/read/backtraces_recorded.t t/read/damaged.t \
	t/read/family_read.t t/read/foreign.t t/read/format.t t/read/holes.t \
	t/read/modes.t t/read/pack.t t/read/pack_record.t t/read/pack_traces.t t/read/pack_values.t \
	t/read/read-running.t t/read/read_imports.t \
	t/read/reader-calls.t t/read/reader-dense.t t/read/reader-events.t t/read/reader-facts.t \
	t/read/reader-library.t t/read/reader-memory.t t/read/reader-open-live.t t/read/reader-part.t \
	t/read/reader-timeline.t \
	t/read/report_jobs.t t/read/report_long.t t/read/stream_places.t t/read/valued.t
EXTRA_DIST += t/read/cut.c t/read/grow_record.c t/read/reader_live_program.c t/read/swap_at.c
check_PROGRAMS += t/read/dense.u t/read/hash.u t/read/histogram.u t/read/pack_block.u t/read/pack_fuzz.u \
	t/read/read_follow.u t/read/read_live.u t/read/read_memory.u t/read/read_public.u t/read/read_runs.u \
	t/read/read_values.u t/read/reader_copies.u t/read/reader_fuzz.u \
	t/read/reader_live.u t/read/sched_read.u t/read/trace_file.u

t_read_dense_u_SOURCES = t/read/dense.c
t_read_dense_u_LDADD = tool/read/libread.la runtime/libbase.la

t_read_hash_u_SOURCES = t/read/hash.c
t_read_hash_u_LDADD = tool/read/libread.la

t_read_histogram_u_SOURCES = t/read/histogram.c
t_read_histogram_u_LDADD = tool/read/libread.la

t_read_pack_block_u_SOURCES = t/read/pack_block.c tool/pack/block.c tool/pack/block.h
t_read_pack_block_u_LDADD = tool/read/libread.la

t_read_pack_fuzz_u_SOURCES = t/read/pack_fuzz.c t/fuzz/read.c t/fuzz/read.h t/fuzz/rounds.c t/fuzz/rounds.h
t_read_pack_fuzz_u_LDADD = tool/read/libread.la

t_read_read_follow_u_SOURCES = t/read/read_follow.c t/lib/mapped.h t/lib/written.h
t_read_read_follow_u_LDADD = tool/read/libread.la

t_read_read_live_u_SOURCES = t/read/read_live.c t/lib/mapped.h t/lib/written.h
t_read_read_live_u_LDADD = tool/read/libread.la

t_read_read_memory_u_SOURCES = t/read/read_memory.c t/lib/descriptors.h t/lib/no_memory.h t/lib/written.h
t_read_read_memory_u_LDADD = tool/read/libread.la

t_read_read_public_u_SOURCES = t/read/read_public.c t/lib/descriptors.h t/lib/no_memory.h t/lib/written.h
t_read_read_public_u_LDADD = tool/read/libread.la

t_read_read_runs_u_SOURCES = t/read/read_runs.c t/lib/written.h
t_read_read_runs_u_LDADD = tool/read/libread.la

t_read_read_values_u_SOURCES = t/read/read_values.c t/lib/descriptors.h t/lib/no_memory.h t/lib/written.h
t_read_read_values_u_LDADD = tool/read/libread.la

t_read_reader_copies_u_SOURCES = t/read/reader_copies.c
t_read_reader_copies_u_LDADD = tool/read/libread.la

t_read_reader_fuzz_u_SOURCES = t/read/reader_fuzz.c t/fuzz/read.c t/fuzz/read.h t/fuzz/rounds.c t/fuzz/rounds.h
t_read_reader_fuzz_u_LDADD = tool/read/libread.la

t_read_reader_live_u_SOURCES = t/read/reader_live.c
t_read_reader_live_u_LDADD = runtime/libbase.la

t_read_sched_read_u_SOURCES = t/read/sched_read.c t/lib/sched_folder.h
t_read_sched_read_u_LDADD = tool/read/libread.la

t_read_trace_file_u_SOURCES = t/read/trace_file.c t/lib/descriptors.h
t_read_trace_file_u_LDADD = tool/read/libread.la
