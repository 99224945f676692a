# SPDX-License-Identifier: MIT
#
# How tests run; each folder of t/ lists its own. NAME.t is a script: executable, and it sources t/lib/tap.sh. NAME.u is
# a program: t_FOLDER_NAME_u_SOURCES = t/FOLDER/NAME.c, and the libraries that it needs in t_FOLDER_NAME_u_LDADD. One
# test alone: make check TESTS=t/FOLDER/NAME.t. Shell tests find in their environment what test_environment lists:
# absolute paths; CLANG is empty where there is none; XAUDIT_ASAN and XAUDIT_TSAN are 1 or empty. With XAUDIT_ALL=1 in
# the environment of make check, tests that t/areas marks `all` take longer: what they assert is the same, of more
# rounds and of more combinations.
EXTRA_DIST += t/areas
TEST_EXTENSIONS = .t .u
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
T_LOG_DRIVER_FLAGS = --comments
U_LOG_DRIVER = $(T_LOG_DRIVER)
U_LOG_DRIVER_FLAGS = $(T_LOG_DRIVER_FLAGS)

# No test may hang the run: each bounds its own waits, and this bounds what was forgotten.
T_LOG_COMPILER = timeout
AM_T_LOG_FLAGS = -k 10 900
U_LOG_COMPILER = $(T_LOG_COMPILER)
AM_U_LOG_FLAGS = $(AM_T_LOG_FLAGS)

# Those that take long come first, lest one of them runs alone at the end; folders list the others.
dist_check_SCRIPTS += t/ctl/ctl_kill.t t/api/xray_events.t t/api/guard.t t/loader/loader.t t/ctl/ctl.t \
	t/sites/entry_placed.t t/sites/entry_programs.t t/calls/gdb.t t/check/check.t t/record/record.t \
	t/loader/untouched.t t/process/fork.t t/loader/farm.t t/api/xray_interface.t t/calls/inject.t \
	t/calls/inject_actions.t t/calls/inject_entry.t t/calls/inject_stacks.t t/calls/inject_values.t \
	t/sites/counts.t t/calls/signals.t t/process/hostile.t t/loader/host.t
TESTS = $(dist_check_SCRIPTS) $(check_PROGRAMS)

test_environment = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	XAUDIT='$(abs_top_builddir)/xaudit'; export XAUDIT; \
	MODULE='$(abs_top_builddir)/.libs/libxaudit.so'; export MODULE; \
	FIXTURES='$(abs_top_builddir)/t/fixtures'; export FIXTURES; \
	CC='$(CC)'; export CC; CXX='$(CXX)'; export CXX; CLANG='$(CLANG)'; export CLANG; \
	XAUDIT_ASAN='$(XAUDIT_ASAN)'; export XAUDIT_ASAN; XAUDIT_TSAN='$(XAUDIT_TSAN)'; export XAUDIT_TSAN; \
	LC_ALL=C; export LC_ALL; \
	unset LD_AUDIT LD_BIND_NOW XAUDIT_CONFIG XAUDIT_RULES XAUDIT_MODULE XAUDIT_INDEX XAUDIT_COMMAND NO_COLOR;
AM_TESTS_ENVIRONMENT = $(test_environment)

# Tests that run for minutes, or an hour, when XAUDIT_SOAK is 1.
soak_tests = t/index/displace.u t/process/epoch_torture.u t/api/handlers_safe.u t/loader/host.t t/calls/trees.t \
	t/calls/inject.t t/calls/inject_entry.t t/calls/inject_sample.t t/calls/inject_stacks.t \
	t/calls/inject_values.t t/ctl/ctl_kill.t t/ctl/ctl_soak.t t/sites/live_soak.u t/record/ring.t \
	t/api/guard_live.t t/process/scribbler.t t/api/xray_events.t t/values/live_flow.t t/values/live_hostile.t \
	t/values/live_loads.t
soak: all
	XAUDIT_ALL=1 XAUDIT_SOAK=1 $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(soak_tests)' AM_T_LOG_FLAGS='-k 10 20000'

bench: all t/lib/make_trace t/lib/max_rss t/lib/read_calls t/bench/handler_cost t/bench/probe_cost
	@$(test_environment) $(srcdir)/t/bench/run.sh

# Programs that Debian installs, in five ways; FARM='nginx perl' names some of them.
farm: all
	@$(test_environment) $(srcdir)/t/farm/run.sh

.PHONY: bench farm soak
