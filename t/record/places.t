#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A family of processes whose file has few places, and which forks more often than it has: what finds no place is
# counted, and that is said once, not by each child; beside record, places of children that are gone are used again.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
need prlimit python3

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
# 8 MiB are 64 places: one for each process's head and chunk, of which the first one's has the directory, too.
for mode in stream ring; do
	alone $mode --fsize=8388608 200 1
	is "$status/$out" '0/201 calls, 0 wrong' "$mode, 64 places: the program does what it does"
	is "$(calls counted)/$(printf '%s\n' "$report" | jq .lost)" 64/137 \
		"$mode: 63 children are recorded, 137 counted"
	is "$(printf '%s\n' "$err" | sed "s|$tmp/d/p[0-9]*|DIR|")" "xaudit: the trace has no room for another process: \
File too large; what such processes do is lost, and counted: DIR" "$mode: the first of them says so, and no other"
	is "$(info d '[(.processes | length), ([.processes[] | .lost] | sort | reverse | .[:3])]')" '[64,[137,0,0]]' \
		"$mode: in the family's first process"
	is "$(info d '[.processes[] | select(.lost > 0) | .lost_reason]')" \
		'["since a file would have become larger than the process may make one (ulimit -f)"]' "$mode: and why"
done

# ---- beside record, which gives back places of children that are gone ----
# beside PLACES MODE ARG...: as many places, of 128 KiB.
beside() {
	places=$1 mode=$2 seconds=120
	shift 2
	record d -b 64k -m "$mode" --ring=1M -k plt -l libcounted.so prlimit --fsize=$((places * 131072)) \
		./many_forks "$@"
	err=$(printf '%s\n' "$err" | grep -v 'nothing was selected in .*prlimit')
	report d
}
# A call is two events: how many are in the trace or counted as lost.
events() {
	printf '%s\n' "$report" | jq '2 * ([.functions[] | select(.function == "counted") | .calls] | add) + .lost'
}

# processes: how many of the program. Its family is the second one, after that of prlimit.
processes() {
	info d '[.processes[] | select(.program | endswith("many_forks"))] | length'
}
# places: that they took.
places() {
	meta=$(echo d/p*.1/meta)
	od -An -t u4 -j "$(python3 "$top_srcdir/t/lib/compact.py" "$meta" at 584)" -N 4 "$meta" | tr -d ' '
}

beside 64 stream 45 20000 60
is "$status/$out/$err" '0/900001 calls, 0 wrong/' 'stream, 64 places: 45 children that fill several chunks'
is "$(calls counted)/$(sums)" '900001/0 lost 0 unfinished' 'stream: each call is there, once'
is "$(processes)" 46 'stream: and each process'

# Of five chunks each four are in places that others may get, once few are left: heads take none of these.
beside 64 ring 14 20000 100
is "$status/$out/$(processes)" '0/280001 calls, 0 wrong/15' \
	'ring, 64 places: 14 children, of which 13 would have used them up'
is "$(events)" 560002 'ring: each call is there, or counted as lost'
ok 'ring: some are lost' [ "$(printf '%s\n' "$report" | jq .lost)" -gt 0 ]
like "$err" '^xaudit record: .* events were lost in .* since another process needed their place \(mode ring\)$' \
	'ring: record says why'

# Of many places, too, those of children that are gone come first: 150 children would take 300 at least.
beside 2048 stream 150 8000 10
is "$status/$out/$err/$(calls counted)/$(sums)" '0/1200001 calls, 0 wrong//1200001/0 lost 0 unfinished' \
	'2048 places, 150 children'
ok "they took $(places) places" [ "$(places)" -lt 280 ]
done_testing
