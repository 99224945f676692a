# SPDX-License-Identifier: MIT
#
# A test in shell: dist_check_SCRIPTS += t/NAME.t (executable, sources t/tap.sh).
# A test in C: check_PROGRAMS += t/NAME.t, t_NAME_t_SOURCES = t/NAME.c, t_NAME_t_LDADD = the libraries that it needs. A
# fixture: check_DATA += t/fixtures/NAME with a rule of its own (and CLEANFILES += it); its sources go into EXTRA_DIST.
# A program that tests only call: EXTRA_PROGRAMS += t/NAME, check_DATA += t/NAME, CLEANFILES += t/NAME, t_NAME_SOURCES.
# One test alone: make check TESTS=t/NAME.t. Shell tests find in their environment what test_environment lists: absolute
# paths; CLANG is empty where there is none; XAUDIT_ASAN and XAUDIT_TSAN are 1 or empty.
TEST_EXTENSIONS = .t
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
T_LOG_DRIVER_FLAGS = --comments
# No test may hang the run: each bounds its own waits, and this bounds what was forgotten.
T_LOG_COMPILER = timeout
AM_T_LOG_FLAGS = -k 10 900
TESTS = $(check_PROGRAMS) $(dist_check_SCRIPTS)

test_environment = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	XAUDIT='$(abs_top_builddir)/xaudit'; export XAUDIT; \
	MODULE='$(abs_top_builddir)/.libs/libxaudit.so'; export MODULE; \
	FIXTURES='$(abs_top_builddir)/t/fixtures'; export FIXTURES; \
	CC='$(CC)'; export CC; CXX='$(CXX)'; export CXX; CLANG='$(CLANG)'; export CLANG; \
	XAUDIT_ASAN='$(XAUDIT_ASAN)'; export XAUDIT_ASAN; XAUDIT_TSAN='$(XAUDIT_TSAN)'; export XAUDIT_TSAN; \
	LC_ALL=C; export LC_ALL; \
	unset LD_AUDIT LD_BIND_NOW XAUDIT_CONFIG XAUDIT_RULES XAUDIT_MODULE NO_COLOR;

AM_TESTS_ENVIRONMENT = $(test_environment)

EXTRA_DIST += t/tap.h t/tap.sh t/recorded.sh t/spoiled.sh
dist_check_SCRIPTS += t/inventory.t t/bootstrap.t
EXTRA_DIST += t/fixtures/inventory.c t/fixtures/inventory_library.c
dist_check_SCRIPTS += t/coarse.t t/follow.t t/man-lint.t t/module-exports.t t/registers.t t/runtime-imports.t \
	t/source-rules.t

check_PROGRAMS += t/glob.t t/rules.t t/rules_lines.t
t_glob_t_SOURCES = t/glob.c
t_glob_t_LDADD = audit/libcommon.la
t_rules_t_SOURCES = t/rules.c t/rules_said.h
t_rules_t_LDADD = audit/libcommon.la $(INIH_LIBS)
t_rules_lines_t_SOURCES = t/rules_lines.c t/rules_said.h
t_rules_lines_t_LDADD = audit/libcommon.la $(INIH_LIBS)

check_PROGRAMS += t/record_trim.t
t_record_trim_t_SOURCES = t/record_trim.c tool/memory.c tool/record_trim.c tool/trace_base.c tool/trace_clock.c \
	tool/trace_family.c tool/trace_file.c tool/trace_folder.c tool/trace_meta.c tool/trace_names.c \
	tool/trace_process.c tool/trace_words.c
check_PROGRAMS += t/record_drain.t
t_record_drain_t_SOURCES = t/record_drain.c tool/drain.c tool/drain.h tool/drain_beat.c tool/drain_beat.h tool/own.h
t_record_drain_t_LDADD = runtime/libbase.la
dist_check_SCRIPTS += t/drain.t t/early.t t/overflow.t t/slow_disk.t
EXTRA_DIST += t/fixtures/drain.c t/fixtures/early.c t/fixtures/slow_disk.c
dist_check_SCRIPTS += t/record.t t/record-options.t t/record-signals.t
EXTRA_DIST += t/record_fake.c

check_PROGRAMS += t/sled.t t/site.t t/site_damage.t
t_sled_t_SOURCES = t/sled.c
t_sled_t_LDADD = audit/libcommon.la
t_site_t_SOURCES = t/site.c t/site_fixture.h
t_site_t_LDADD = audit/libsites.la audit/libcommon.la
t_site_damage_t_SOURCES = t/site_damage.c t/site_fixture.h
t_site_damage_t_LDADD = audit/libsites.la audit/libcommon.la
EXTRA_DIST += t/site_functions.c
dist_check_SCRIPTS += t/list.t

# The readers of traces.
check_PROGRAMS += t/histogram.t t/trace_file.t
t_histogram_t_SOURCES = t/histogram.c tool/histogram.c tool/histogram.h tool/memory.c tool/memory.h
t_trace_file_t_SOURCES = t/trace_file.c tool/memory.c tool/memory.h tool/trace_file.c tool/trace_file.h
dist_check_SCRIPTS += t/damaged.t t/dump.t t/family_read.t t/format.t t/help-man.t t/info.t t/man-examples.t \
	t/read-running.t t/reader-memory.t t/replay.t t/report.t
EXTRA_DIST += t/bench/run.sh t/bench/lib.sh t/bench/calls.sh t/bench/starts.sh t/bench/pairs.sh t/bench/reading.sh \
	t/bench/modes.sh t/bench/handlers.sh t/bench/pause.sh t/bench/report.sh t/bench/bench.h \
	t/bench/bench_function.c t/bench/call_cost.c t/bench/call_none.c t/bench/call_tree.c t/bench/call_tree_main.c \
	t/bench/empty_auditor.c t/bench/load_cost.c t/bench/pair_cost.c t/bench/start_cost.c t/bench/limit.sh \
	t/bench/limit_sites.S t/bench/hold_cost.c t/bench/threads_cost.c t/bench/stacks_cost.c
EXTRA_PROGRAMS += t/make_trace t/max_rss t/spoil
check_DATA += t/make_trace t/max_rss t/spoil
CLEANFILES += t/make_trace t/max_rss t/spoil
t_make_trace_SOURCES = t/make_trace.c t/make_trace.h t/make_trace_meta.c t/make_trace_places.c
t_max_rss_SOURCES = t/max_rss.c
t_spoil_SOURCES = t/spoil.c

# The recording core, run in the test's own process.
check_LTLIBRARIES += t/libcore.la
t_libcore_la_SOURCES = t/caller.c t/caller.h t/core.c t/core.h
t_libcore_la_LIBADD = runtime/libruntime.la x86_64/libx86_64.la runtime/libbase.la
check_PROGRAMS += t/arena.t t/mirror.t t/mirror_stacks.t t/patch.t t/recorder.t t/recorder_fork.t t/recorder_room.t \
	t/recorder_vfork.t
check_PROGRAMS += t/step.t t/stub.t t/text.t t/ticks.t
t_arena_t_SOURCES = t/arena.c
t_arena_t_LDADD = t/libcore.la
t_ticks_t_SOURCES = t/ticks.c
t_ticks_t_LDADD = t/libcore.la
check_PROGRAMS += t/chunk.t t/pool.t t/snapshot_copy.t
t_pool_t_SOURCES = t/pool.c
t_chunk_t_SOURCES = t/chunk.c
t_chunk_t_LDADD = t/libcore.la
t_snapshot_copy_t_SOURCES = t/snapshot_copy.c
t_snapshot_copy_t_LDADD = t/libcore.la
t_mirror_t_SOURCES = t/mirror.c t/flow.h t/flow_xray.h
t_mirror_t_LDADD = t/libcore.la
check_PROGRAMS += t/core_filter.t t/core_modes.t
t_core_filter_t_SOURCES = t/core_filter.c t/flow.h t/flow_modes.h t/flow_xray.h
t_core_filter_t_LDADD = t/libcore.la
t_core_modes_t_SOURCES = t/core_modes.c t/flow.h t/flow_modes.h t/flow_xray.h
t_core_modes_t_LDADD = t/libcore.la
check_PROGRAMS += t/handlers.t
t_handlers_t_SOURCES = t/handlers.c t/flow.h t/flow_xray.h
t_handlers_t_LDADD = t/libcore.la
check_PROGRAMS += t/handlers_safe.t
t_handlers_safe_t_SOURCES = t/handlers_safe.c t/flow.h t/flow_xray.h
t_handlers_safe_t_LDADD = t/libcore.la
dist_check_SCRIPTS += t/handlers_api.t t/handlers_programs.t
EXTRA_DIST += t/fixtures/handlers_spoil.cc t/fixtures/handlers_work.cc t/fixtures/handlers_work.h
EXTRA_DIST += t/fixtures/handlers_api.c t/fixtures/handlers_plugin.c
EXTRA_PROGRAMS += t/bench/handler_cost
CLEANFILES += t/bench/handler_cost
t_bench_handler_cost_SOURCES = t/bench/handler_cost.c
t_bench_handler_cost_LDADD = t/libcore.la
t_mirror_stacks_t_SOURCES = t/mirror_stacks.c t/flow.h t/flow_coroutines.h
t_mirror_stacks_t_LDADD = t/libcore.la
check_PROGRAMS += t/stacks.t
t_stacks_t_SOURCES = t/stacks.c t/flow.h t/flow_coroutines.h
t_stacks_t_LDADD = t/libcore.la
t_patch_t_SOURCES = t/patch.c
t_patch_t_LDADD = t/libcore.la
check_PROGRAMS += t/patch_live.t
t_patch_live_t_SOURCES = t/patch_live.c
t_patch_live_t_LDADD = t/libcore.la x86_64/libsled.la
check_PROGRAMS += t/live.t
t_live_t_SOURCES = t/live.c t/live_load.h
t_live_t_LDADD = audit/libdescribe.la t/libcore.la audit/libglob.la x86_64/libsled.la runtime/libbase.la
check_PROGRAMS += t/live_soak.t
t_live_soak_t_SOURCES = t/live_soak.c t/live_load.h
t_live_soak_t_LDADD = audit/libdescribe.la t/libcore.la audit/libglob.la x86_64/libsled.la runtime/libbase.la -lrt
t_recorder_t_SOURCES = t/recorder.c
t_recorder_t_LDADD = t/libcore.la
t_recorder_fork_t_SOURCES = t/recorder_fork.c
t_recorder_fork_t_LDADD = t/libcore.la
t_recorder_vfork_t_SOURCES = t/recorder_vfork.c
t_recorder_vfork_t_LDADD = t/libcore.la
t_recorder_room_t_SOURCES = t/recorder_room.c
t_recorder_room_t_LDADD = t/libcore.la
t_step_t_SOURCES = t/step.c t/step.h t/step_call.S t/step_program.c
t_step_t_LDADD = t/libcore.la
t_stub_t_SOURCES = t/stub.c
t_stub_t_LDADD = t/libcore.la
t_text_t_SOURCES = t/text.c
t_text_t_LDADD = runtime/libruntime.la

# Programs under the module.
dist_check_SCRIPTS += t/counts.t t/lines.t t/starts.t t/wx.t t/kill.t t/lost.t t/tree.t t/reload.t t/fork.t t/config.t \
	t/files.t t/signals.t t/clock.t t/signal-steps.t
EXTRA_DIST += t/traced.sh t/fixtures/count.c t/fixtures/counted.c t/fixtures/pages.c t/fixtures/stay.c \
	t/fixtures/deny.c t/fixtures/killed.c t/fixtures/ping.c t/fixtures/tree.c t/fixtures/plugin.c \
	t/fixtures/reload.c t/fixtures/forks.c t/fixtures/fork_open.c t/fixtures/within.c t/fixtures/app.c \
	t/fixtures/swap.c t/fixtures/swap_library.c t/fixtures/conditional.c t/fixtures/handled.c t/fixtures/signals.c \
	t/fixtures/busy.c t/fixtures/busy_library.c t/fixtures/steps.c
dist_check_SCRIPTS += t/rights.t t/threads.t t/dropped.t t/family.t t/confined.t
EXTRA_DIST += t/fixtures/confined_fork.c
EXTRA_DIST += t/fixtures/waves.c t/fixtures/dropped.c t/fixtures/family.c t/fixtures/confined.c t/fixtures/limited.c \
	t/fixtures/confined_wait.c t/fixtures/ask.c
EXTRA_DIST += t/fixtures/leaving_tsc.c t/fixtures/leaving_tsc_library.c

dist_check_SCRIPTS += t/objects.t t/dladdr.t t/static_tls.t t/env.t
EXTRA_DIST += t/fixtures/small_thread.c t/fixtures/lines.c t/fixtures/lines_library.c
EXTRA_DIST += t/fixtures/start.c t/fixtures/dladdr.c t/fixtures/elf_edit.c

# Guards.
dist_check_SCRIPTS += t/guard.t t/guard_live.t
EXTRA_DIST += t/fixtures/guard_live.c t/fixtures/guard_spin.c t/fixtures/guard.h t/fixtures/guard.c \
	t/fixtures/guard_part.c t/fixtures/guard_part.cc

# Events of XRay.
dist_check_SCRIPTS += t/xray_events.t
EXTRA_DIST += t/fixtures/events.c t/fixtures/events.h t/fixtures/events_by_hand.S t/fixtures/events_part.c \
	t/fixtures/events_raw.c t/fixtures/events_steps.c

# Copy-on-write.
dist_check_SCRIPTS += t/cow.t
EXTRA_DIST += t/fixtures/cow.c

# Programs that must not notice.
dist_check_SCRIPTS += t/coroutines.t
EXTRA_DIST += t/fixtures/coroutines.cc t/fixtures/coroutines.h
dist_check_SCRIPTS += t/trees.t
EXTRA_DIST += t/fixtures/trees.cc t/fixtures/unmapped.c
dist_check_SCRIPTS += t/transparent.t t/exceptions.t t/programs.t t/gdb.t t/unwinder.t
EXTRA_DIST += t/fixtures/unwinder.c t/fixtures/unwinder_part.c
EXTRA_DIST += t/fixtures/moving.c t/fixtures/moving.h t/fixtures/moving_part.c
EXTRA_DIST += t/transparent.sh t/fixtures/transparent.h t/fixtures/transparent_abi.c t/fixtures/transparent_flow.cc \
	t/fixtures/transparent_main.cc t/fixtures/transparent_spin.c t/fixtures/transparent_threads.cc \
	t/fixtures/throwing.cc t/fixtures/throwing_host.cc t/fixtures/stopped.c t/fixtures/stopped_library.c

# Unloading that goes wrong.
dist_check_SCRIPTS += t/check.t t/check_suppress.t
EXTRA_DIST += t/fixtures/check_host.c t/fixtures/check_plugin.c t/fixtures/check_unique.cc t/fixtures/check_user.c

# Epochs.
check_PROGRAMS += t/epoch.t t/epoch_torture.t
t_epoch_t_SOURCES = t/epoch.c
t_epoch_t_LDADD = runtime/libruntime.la runtime/libbase.la
t_epoch_torture_t_SOURCES = t/epoch_torture.c
t_epoch_torture_t_LDADD = runtime/libruntime.la runtime/libbase.la

# Loading and unloading.
check_PROGRAMS += t/altstack.t
t_altstack_t_SOURCES = t/altstack.c audit/altstack.c
t_altstack_t_LDADD = x86_64/libx86_64.la
dist_check_SCRIPTS += t/host.t t/loader.t t/hostile.t t/sanitized.t
dist_check_SCRIPTS += t/rtld.t t/leaving.t t/auditors.t t/untouched.t
EXTRA_DIST += t/fixtures/auditor.c t/fixtures/starts_bare.c
EXTRA_DIST += t/fixtures/leaving.cc t/fixtures/leaving_library.c
EXTRA_DIST += t/loader.sh t/fixtures/loader.h t/fixtures/rtld.c t/fixtures/rtld_part.c t/fixtures/rtld_thousand.h
EXTRA_DIST += t/fixtures/host.c t/fixtures/host_stay.c t/fixtures/loader.c t/fixtures/loader_part.c \
	t/fixtures/loader_start.c t/fixtures/loader_starts.c t/fixtures/loader_auditor.c t/fixtures/loader_again.c \
	t/fixtures/hostile.c t/fixtures/audited.c t/fixtures/loader_depth.c t/fixtures/listed.cc \
	t/fixtures/sanitized.c

# Something happens at every instruction.
dist_check_SCRIPTS += t/inject.t
EXTRA_PROGRAMS += t/inject
check_DATA += t/inject
CLEANFILES += t/inject
t_inject_SOURCES = t/inject.c t/inject.h t/inject_thread.c t/inject_thread.h
EXTRA_DIST += t/inject.awk t/fixtures/inject.c t/fixtures/inject_part.c

# Looking into running processes.
dist_check_SCRIPTS += t/ctl.t t/ctl_hostile.t t/ctl_kill.t t/ctl_soak.t
EXTRA_DIST += t/ctl.sh t/fixtures/controlled.c t/fixtures/forged.c t/fixtures/controlled_library.c \
	t/fixtures/ctl_helper.c

# Tests that run for minutes, or an hour, when XAUDIT_SOAK is 1.
soak_tests = t/epoch_torture.t t/handlers_safe.t t/host.t t/trees.t t/inject.t t/ctl_kill.t t/ctl_soak.t t/live_soak.t \
	t/ring.t t/guard_live.t t/xray_events.t
soak: all
	XAUDIT_SOAK=1 $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(soak_tests)' AM_T_LOG_FLAGS='-k 10 20000'

bench: all t/make_trace t/bench/handler_cost
	@$(test_environment) $(srcdir)/t/bench/run.sh

# Programs that Debian installs, in five ways; FARM='nginx perl' names some of them.
farm: all
	@$(test_environment) $(srcdir)/t/farm/run.sh
dist_check_SCRIPTS += t/farm.t
EXTRA_DIST += t/farm/known.supp t/farm/programs.sh t/farm/run.sh t/farm/servers.sh

.PHONY: bench farm soak

# Flight recorders, counters and changes.
dist_check_SCRIPTS += t/modes.t t/ring.t t/ctl_folder.t
EXTRA_DIST += t/digits.sh t/fixtures/digits.c t/fixtures/digits_library.c

# Custom events in the readers.
dist_check_SCRIPTS += t/reader-events.t
check_PROGRAMS += t/reader_live.t
t_reader_live_t_SOURCES = t/reader_live.c
t_reader_live_t_LDADD = runtime/libbase.la

# What programs call: xaudit.h.
dist_check_SCRIPTS += t/api.t
EXTRA_DIST += t/fixtures/api.c t/fixtures/api.h t/fixtures/api_parts.c t/fixtures/api_read.c

# XRay's runtime symbols.
dist_check_SCRIPTS += t/resolve.t
EXTRA_DIST += t/fixtures/resolve_host.c t/fixtures/resolve_library.c

# XRay's interface, by LLVM's own headers.
dist_check_SCRIPTS += t/xray_interface.t
EXTRA_DIST += t/fixtures/xray_test.h t/fixtures/xray_part.c t/fixtures/xray_sends.c t/fixtures/xray_handlers.cc \
	t/fixtures/xray_patch.cc t/fixtures/xray_many.cc t/fixtures/xray_log.cc t/fixtures/xray_none.cc \
	t/fixtures/xray_options.cc t/fixtures/xray_auditor.c t/fixtures/xray_plugin.cc

# Handlers that close libraries.
dist_check_SCRIPTS += t/handlers_close.t
EXTRA_DIST += t/fixtures/closing.c t/fixtures/closing.h t/fixtures/closing_plugin.c
