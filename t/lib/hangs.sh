# SPDX-License-Identifier: MIT
#
# For tests of calls that hang: the program hangs (t/values/hangs.c) with its library, and a folder of indexes of its
# own. Sourced after t/lib/traced.sh.
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX

library "$CC" libhangs.so hangs_part.c -O1 -fno-inline
program "$CC" hangs hangs.c -L. -lhangs
