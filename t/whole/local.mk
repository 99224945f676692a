# SPDX-License-Identifier: MIT
#
# Tests in shell, of everything together: executable, each sources t/lib/tap.sh.
# Those that take long come first, lest one of them runs alone at the end.
dist_check_SCRIPTS += t/whole/ctl_kill.t t/whole/xray_events.t t/whole/guard.t t/whole/loader.t t/whole/ctl.t \
	t/whole/entry_placed.t t/whole/entry_programs.t t/whole/gdb.t t/whole/check.t t/whole/record.t \
	t/whole/untouched.t t/whole/fork.t t/whole/farm.t \
	t/whole/xray_interface.t t/whole/inject.t t/whole/inject_entry.t t/whole/counts.t t/whole/signals.t \
	t/whole/hostile.t t/whole/host.t
# By name.
dist_check_SCRIPTS += t/whole/api.t t/whole/asked.t t/whole/asked_snapshots.t t/whole/auditors.t t/whole/beside.t \
	t/whole/bootstrap.t t/whole/caller.t \
	t/whole/check_suppress.t \
	t/whole/clock.t \
	t/whole/coarse.t t/whole/completion.t t/whole/config.t t/whole/confined.t t/whole/coroutines.t t/whole/cow.t \
	t/whole/crashes.t \
	t/whole/ctl_blind.t t/whole/ctl_entry.t t/whole/cxx_names.t t/whole/cyg.t \
	t/whole/ctl_folder.t t/whole/ctl_hostile.t t/whole/ctl_soak.t t/whole/ctl_waits.t t/whole/damaged.t \
	t/whole/dladdr.t \
	t/whole/enclosed.t t/whole/entry_ends.t \
	t/whole/drain.t t/whole/dropped.t t/whole/dump.t t/whole/early.t t/whole/entry.t t/whole/entry_record.t \
	t/whole/env.t t/whole/exceptions.t t/whole/family.t t/whole/family_read.t t/whole/fault_place.t \
	t/whole/file_size.t t/whole/files.t \
	t/whole/filters.t t/whole/holes.t \
	t/whole/follow.t t/whole/foreign.t \
	t/whole/format.t t/whole/full_disk.t \
	t/whole/graph.t t/whole/guard_live.t t/whole/handlers_api.t t/whole/handlers_close.t \
	t/whole/handlers_programs.t \
	t/whole/help-man.t t/whole/index.t t/whole/index_apply.t t/whole/index_cache.t t/whole/index_calls.t \
	t/whole/index_decoder.t t/whole/index_find.t \
	t/whole/index_runtimes.t \
	t/whole/info.t t/whole/inventory.t t/whole/kill.t t/whole/killed_task.t \
	t/whole/leaving.t t/whole/left.t t/whole/lines.t \
	t/whole/list.t t/whole/list_symbol.t t/whole/loads.t t/whole/lost.t t/whole/lost_why.t t/whole/man-examples.t \
	t/whole/man-lint.t t/whole/modes.t \
	t/whole/module-exports.t t/whole/new_kind.t t/whole/no_memory.t t/whole/objects.t t/whole/outliers.t \
	t/whole/overflow.t t/whole/own_calloc.t t/whole/own_labels.t \
	t/whole/pack.t t/whole/pack_record.t \
	t/whole/pack_traces.t t/whole/perf.t t/whole/personality.t t/whole/pg.t t/whole/places.t t/whole/programs.t \
	t/whole/read-running.t t/whole/read_imports.t t/whole/reader-calls.t t/whole/reader-dense.t \
	t/whole/reader-events.t t/whole/reader-facts.t \
	t/whole/reader-memory.t t/whole/reader-timeline.t \
	t/whole/reader-library.t t/whole/reader-open-live.t \
	t/whole/record-options.t \
	t/whole/record-signals.t t/whole/record_index.t t/whole/registers.t t/whole/reload.t t/whole/replay.t \
	t/whole/report.t t/whole/report_jobs.t t/whole/report_long.t t/whole/report_questions.t t/whole/report_runs.t \
	t/whole/resolve.t t/whole/return_reached.t t/whole/rights.t t/whole/ring.t t/whole/rtld.t \
	t/whole/runtime-imports.t t/whole/sched.t \
	t/whole/sanitized.t t/whole/sharer.t t/whole/signal-steps.t t/whole/slow.t t/whole/slow_disk.t \
	t/whole/source-rules.t t/whole/stacks.t t/whole/srcline.t t/whole/starts.t t/whole/steering.t \
	t/whole/static_tls.t t/whole/taken.t t/whole/tasks.t t/whole/terminal.t \
	t/whole/threads.t t/whole/tool-order.t t/whole/transparent.t t/whole/tree.t \
	t/whole/leave.t t/whole/machine.t \
	t/whole/scribbler.t t/whole/trees.t t/whole/unwinder.t t/whole/users.t t/whole/worker.t t/whole/wx.t
