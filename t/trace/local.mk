# SPDX-License-Identifier: MIT
#
# xaudit trace.
dist_check_SCRIPTS += t/trace/beside.t t/trace/callers.t t/trace/modes.t t/trace/slow.t t/trace/trace.t
EXTRA_DIST += t/trace/calls.c
