# SPDX-License-Identifier: MIT
#
# xaudit check.
dist_check_SCRIPTS += t/check/check_suppress.t
EXTRA_DIST += t/check/check_host.c t/check/check_plugin.c t/check/check_unique.cc t/check/check_user.c
