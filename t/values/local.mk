# SPDX-License-Identifier: MIT
#
# Values of calls.
check_PROGRAMS += t/values/evaluate.u t/values/expression.u

t_values_evaluate_u_SOURCES = t/values/evaluate.c
t_values_evaluate_u_LDADD = runtime/libruntime.la runtime/libbase.la

t_values_expression_u_SOURCES = t/values/expression.c tool/values/expression.c tool/values/expression.h
t_values_expression_u_LDADD = runtime/libruntime.la runtime/libbase.la
