# SPDX-License-Identifier: MIT
#
# How tests run; each folder of t/ lists its own. One test alone: make check TESTS=t/whole/NAME.t. Shell tests find in
# their environment what test_environment lists: absolute paths; CLANG is empty where there is none; XAUDIT_ASAN and
# XAUDIT_TSAN are 1 or empty. With XAUDIT_ALL=1 in the environment of make check, tests that t/areas marks `all` take
# longer: what they assert is the same, of more rounds and of more combinations.
EXTRA_DIST += t/areas
TEST_EXTENSIONS = .t
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
T_LOG_DRIVER_FLAGS = --comments

# No test may hang the run: each bounds its own waits, and this bounds what was forgotten.
T_LOG_COMPILER = timeout
AM_T_LOG_FLAGS = -k 10 900
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
soak_tests = t/unit/displace.t t/unit/epoch_torture.t t/unit/handlers_safe.t t/whole/host.t t/whole/trees.t \
	t/whole/inject.t t/whole/inject_entry.t \
	t/whole/ctl_kill.t t/whole/ctl_soak.t t/unit/live_soak.t t/whole/ring.t t/whole/guard_live.t \
	t/whole/scribbler.t t/whole/xray_events.t
soak: all
	XAUDIT_ALL=1 XAUDIT_SOAK=1 $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(soak_tests)' AM_T_LOG_FLAGS='-k 10 20000'

bench: all t/lib/make_trace t/lib/read_calls t/bench/handler_cost
	@$(test_environment) $(srcdir)/t/bench/run.sh

# Programs that Debian installs, in five ways; FARM='nginx perl' names some of them.
farm: all
	@$(test_environment) $(srcdir)/t/farm/run.sh

.PHONY: bench farm soak
