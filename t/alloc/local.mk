# SPDX-License-Identifier: MIT
#
# xaudit alloc.
dist_check_SCRIPTS += t/alloc/alloc.t
EXTRA_DIST += t/alloc/blocks.cc
