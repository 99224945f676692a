#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Calls that are left in a way that nothing tells of end in the trace nevertheless, as soon as something shows it: a
# later call in their place, the end of the thread or of the process, or another thread on the same stack.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# ends: of each function, how many calls there were, and how many of them returned, and were left.
ends() {
	bounded 60 "$XAUDIT" dump d 2>&1 | awk '$3 ~ /^(entry|exit|unwind)$/ { n[$5, $3]++; f[$5] }
		END { for (i in f) print i, n[i, "entry"] + 0, n[i, "exit"] + 0, n[i, "unwind"] + 0 }' |
		LC_ALL=C sort | paste -sd ,
}
# left WHERE ENDS
left() {
	record d -k "$kind" -F call_back -F leaf -- ./left "$1"
	is "$status $out$err" '0 done' "$kind, $1: the program runs to its end"
	is "$(ends)" "$2" "$kind, $1: each call ends, and once"
	report d
	is "$(sums)" '0 lost 0 unfinished' "$kind, $1: nothing is lost or left open"
}

library "$CC" libleft.so left_library.c
program "$CC" left left.c -w -O1 -L. -lleft
for kind in plt entry; do
	left thread 'call_back 37 0 37,leaf 38 38 0'
	left main 'call_back 37 0 37,leaf 38 38 0'
	left gone 'call_back 97 0 97,leaf 38 38 0'
done
done_testing
