#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A family of processes whose file has few places, and which forks more often than it has: what finds no place is
# counted, and that is said once, not by each child.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need prlimit

library "$CC" libcounted.so counted.c
program "$CC" many_forks many_forks.c -L. -lcounted
cp "$MODULE" .

# alone MODE LIMITS CHILDREN CALLS: under LD_AUDIT alone. Sets $status, $out and $err.
alone() {
	rm -rf d
	printf '[trace]\noutput = %s\nmode = %s\nbuffer = 64k\nring = 1M\n[library libcounted.so]\nkinds = plt\n' \
		"$tmp/d" "$1" >conf
	status=0
	bounded 60 prlimit $2 env LD_AUDIT="$tmp/libxaudit.so" XAUDIT_CONFIG="$tmp/conf" ./many_forks "$3" "$4" \
		>.out 2>.err || status=$?
	out=$(cat .out)
	err=$(cat .err)
	report d
}
# 8 MiB are 64 places: one of the first process's head, eight of the directory, one for its chunk, and two for each of
# 27 children.
for mode in stream ring; do
	alone $mode --fsize=8388608 200 1
	is "$status/$out" '0/201 calls, 0 wrong' "$mode, 64 places: the program does what it does"
	is "$(calls counted)/$(printf '%s\n' "$report" | jq .lost)" 28/173 \
		"$mode: 27 children are recorded, 173 counted"
	is "$(printf '%s\n' "$err" | sed "s|$tmp/d/p[0-9]*|DIR|")" "xaudit: the trace has no room for another process: \
File too large; what such processes do is lost, and counted: DIR" "$mode: the first of them says so, and no other"
	is "$(info d '[(.processes | length), ([.processes[] | .lost] | sort | reverse | .[:3])]')" '[28,[173,0,0]]' \
		"$mode: in the family's first process"
	is "$(info d '[.processes[] | select(.lost > 0) | .lost_reason]')" \
		'["since a file would have become larger than the process may make one (ulimit -f)"]' "$mode: and why"
done
done_testing
