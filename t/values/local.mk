# SPDX-License-Identifier: MIT
#
# Values of calls.
check_PROGRAMS += t/values/amid.u t/values/backtrace.u t/values/calls.u t/values/evaluate.u t/values/expression.u \
	t/values/ltrace.u t/values/plan_calls.u t/values/plan_fuzz.u t/values/plan_names.u t/values/prototype.u \
	t/values/rules.u t/values/running_look.u t/values/sampling.u
dist_check_SCRIPTS += t/values/debug.t t/values/debug_builds.t t/values/plan.t t/values/prototypes.t t/values/record.t
dist_check_SCRIPTS += t/values/actions.t t/values/actions_live.t t/values/actions_options.t \
	t/values/actions_redis.t t/values/actions_snapshots.t t/values/running.t t/values/running_watch.t \
	t/values/watch_executes.t
EXTRA_DIST += t/values/actions.c t/values/actions_forged.c t/values/actions_live.c t/values/actions_part.c \
	t/values/actions_redis.c t/values/actions_server.c t/values/actions_server_part.c t/values/hangs.c \
	t/values/hangs_part.c
dist_check_SCRIPTS += t/values/live.t t/values/live_flow.t t/values/live_hostile.t t/values/live_loads.t \
	t/values/live_memory.t t/values/live_modes.t t/values/opens.t t/values/probed.t t/values/probes.t \
	t/values/strace.t t/values/usdt_gdb.t t/values/usdt_postgres.t
EXTRA_DIST += t/values/debug_builds.py t/values/live.c t/values/live_flow.awk t/values/live_flow.cc \
	t/values/live_flow_part.c \
	t/values/live_hostile.awk t/values/live_hostile.c t/values/live_hostile_part.c \
	t/values/live_loads.c t/values/live_loads_part.c t/values/live_memory.c t/values/live_part.c \
	t/values/opens.c t/values/strace_calls.c
dist_check_SCRIPTS += t/values/backtraces.t t/values/trust.t
EXTRA_DIST += t/values/backtraces.c t/values/backtraces_bare.c t/values/trust.c
dist_check_SCRIPTS += t/values/copied.t t/values/debug_installed.t t/values/optimised.t
EXTRA_DIST += t/values/debug_installed.cc t/values/debug_installed.py t/values/debug_installed_calls.py \
	t/values/gdb_text.py
values_expressions = tool/values/condition.c tool/values/condition.h tool/values/expression.c \
	tool/values/expression.h tool/values/parser.c tool/values/parser.h

t_values_running_look_u_SOURCES = t/values/running_look.c tool/base/tool.c tool/base/tool.h \
	tool/record/asked/running.c tool/record/asked/running.h

t_values_backtrace_u_SOURCES = t/values/backtrace.c
t_values_backtrace_u_LDADD = t/lib/libcore.la

t_values_evaluate_u_SOURCES = t/values/evaluate.c
t_values_evaluate_u_LDADD = runtime/libruntime.la runtime/libbase.la

t_values_expression_u_SOURCES = t/values/expression.c tool/values/operand.c tool/values/operand.h \
	$(values_expressions)
t_values_expression_u_LDADD = runtime/libruntime.la runtime/libbase.la

t_values_ltrace_u_SOURCES = t/values/ltrace.c tool/values/ltrace.c tool/values/ltrace.h \
	tool/values/declaring.c tool/values/declaring.h \
	tool/values/prototype.c tool/values/prototype.h tool/values/token.c tool/values/token.h \
	tool/base/memory.c tool/base/memory.h tool/base/tool.c tool/base/tool.h
t_values_ltrace_u_LDADD = tool/read/libread.la audit/match/libmatch.la

t_values_plan_calls_u_SOURCES = t/values/plan_calls.c
t_values_plan_calls_u_LDADD = runtime/libruntime.la runtime/libbase.la

t_values_plan_fuzz_u_SOURCES = t/values/plan_fuzz.c t/fuzz/rounds.c t/fuzz/rounds.h
t_values_plan_fuzz_u_LDADD = t/lib/libcore.la

t_values_plan_names_u_SOURCES = t/values/plan_names.c
t_values_plan_names_u_LDADD = t/lib/libcore.la

t_values_prototype_u_SOURCES = t/values/prototype.c $(values_expressions) \
	tool/values/contexts.c tool/values/contexts.h tool/values/library.c tool/values/library.h \
	tool/values/declaring.c tool/values/declaring.h \
	tool/values/prototype.c tool/values/prototype.h tool/values/token.c tool/values/token.h \
	tool/base/memory.c tool/base/memory.h tool/base/tool.c tool/base/tool.h
t_values_prototype_u_LDADD = tool/read/libread.la audit/match/libmatch.la

t_values_rules_u_SOURCES = t/values/rules.c t/lib/rules_said.h
t_values_rules_u_LDADD = audit/rules/librules.la

t_values_amid_u_SOURCES = t/values/amid.c
t_values_amid_u_LDADD = t/lib/libcore.la

t_values_calls_u_SOURCES = t/values/calls.c
t_values_calls_u_LDADD = t/lib/libcore.la

dist_check_SCRIPTS += t/values/sample.t
EXTRA_DIST += t/values/sample_calls.cc
t_values_sampling_u_SOURCES = t/values/sampling.c
t_values_sampling_u_LDADD = t/lib/libcore.la -lm
