# SPDX-License-Identifier: MIT
#
# Reading damaged traces: t/read/reader_fuzz.c does so as a test, for which a build with sanitizers (--enable-asan
# --enable-ubsan) is worth most; `make fuzz` for ten minutes, with sanitizers in any build. corpus/ has the traces.
# t/values/plan_fuzz.c, with the same rounds, has the module take damaged plans.
EXTRA_DIST += t/fuzz/packed.c t/fuzz/run.sh t/fuzz/corpus/backtraces.trace \
	t/fuzz/corpus/calls.trace t/fuzz/corpus/counts.trace t/fuzz/corpus/dense.trace t/fuzz/corpus/early.trace \
	t/fuzz/corpus/events.trace t/fuzz/corpus/forks.trace t/fuzz/corpus/probes.trace t/fuzz/corpus/ring.trace \
	t/fuzz/corpus/sched.trace t/fuzz/corpus/threads.trace t/fuzz/corpus/values.trace

fuzz: all t/lib/make_trace
	@$(test_environment) SOURCES='$(tool_read_libread_la_SOURCES)'; export SOURCES; \
		FUZZ_LIBS='$(ZSTD_LIBS) $(DW_LIBS)'; export FUZZ_LIBS; $(srcdir)/t/fuzz/run.sh

.PHONY: fuzz
