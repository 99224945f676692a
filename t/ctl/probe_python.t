#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A thousand probes set and taken away in python3: see t/lib/thousand.sh.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/ctl.sh"
. "$top_srcdir/t/lib/thousand.sh"
program=$(readlink -f /usr/bin/python3)
is_for_us $program || skip_all 'no python3 here'

places 500 $program
places 200 "$(of_library $program libc.so)"
places 100 "$(of_library $program libz)"
places 200 "$($program -c 'import hashlib
print([l.split()[5] for l in open("/proc/self/maps") if "/libcrypto." in l][0])')"
rules "output = $tmp/d" 'mode = stream'
begin $program "$beside/probe_load.py" work $threads
pids=$pid
soak python3 deflateInit2_ inflateInit2_ 3000
finish
is "$status $(cat err)" '0 ' 'python3: it noticed nothing'
counted python3
done_testing
