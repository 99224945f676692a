#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tree of calls is right for special calls: deep recursion, over two libraries and in one, and tail calls.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

# shape: "CALLS calls, DEPTH deep, OPEN open, BAD bad, TAIL tail" of the trace in d: each end must be that of the
# innermost open call.
shape() {
	bounded 60 "$XAUDIT" dump d | awk '
	$3 == "entry" { stack[++depth] = $5; calls++; if (depth > deepest) deepest = depth }
	$3 == "exit" || $3 == "tail" || $3 == "unwind" { if (depth < 1 || stack[depth--] != $5) bad++ }
	$3 == "tail" { tail++ }
	$3 == "unwind" || $3 == "point" || $3 == "lost" { bad++ }
	END { printf "%d calls, %d deep, %d open, %d bad, %d tail\n", calls, deepest, depth, bad, tail }'
}
# tree: replay, without times and threads.
tree() {
	bounded 60 "$XAUDIT" replay d | sed -n '/^#/d; /\/\* \(un\)\{0,1\}load /d; s/^[^|]*| //p'
}
# outermost FUNCTION: duration in ns of the first call of it in the dump.
outermost() {
	jq -n --arg f "$1" 'reduce (inputs | select(.function == $f)) as $e ({depth: 0};
		if $e.event == "entry" then (if .depth == 0 then .start = $e.time_ns else . end) | .depth += 1
		else .depth -= 1 | if .depth == 0 then .sum += $e.time_ns - .start else . end end) | .sum' d.json
}

# kind NAME KIND SELF BUILD...: SELF calls are recorded of a function that calls itself.
kind() {
	name=$1 kind=$2 self=$3
	shift 3
	"$@" libpong.so ping.c -DME=pong -DOTHER=ping
	"$@" libping.so ping.c -DME=ping -DOTHER=pong
	program "$CC" tree tree.c -L. -lping -lpong

	record d -k "$kind" -l 'libp[io]ng.so' ./tree deep 9999
	is "$status/$out/$err" '0/9999/' "$name: two libraries that call each other 10 000 deep"
	is "$(shape)" '10000 calls, 10000 deep, 0 open, 0 bad, 0 tail' "$name: each call is in its caller, and ended"
	report d
	is "$(calls deep_ping) $(calls deep_pong) $(sums)" '5000 5000 0 lost 0 unfinished' \
		"$name: half of the calls belong to each"
	dump d
	for function in deep_ping deep_pong; do
		total=$(printf '%s\n' "$report" |
			jq --arg f $function '.functions[] | select(.function == $f) | .total_ns')
		ok "$name: the total of $function is that of its outermost call" \
			test "$(($(outermost $function) - total))" -ge -1 -a "$(($(outermost $function) - total))" -le 1
	done
	is "$(printf '%s\n' "$report" | jq '[.functions[].self_ns] | add' |
		awk -v all="$(outermost deep_ping)" '{ print ($1 <= all + 1 && $1 >= all - 1) }')" 1 \
		"$name: the times of all calls themselves add up to the outermost one"
	is "$(bounded 60 "$XAUDIT" replay -D 3 d | grep -c deep_)" 6 \
		"$name: replay -D 3 shows where the three outermost calls begin and end"

	record d -k "$kind" -l 'libp[io]ng.so' ./tree self 9999
	is "$status/$out/$err" '0/9999/' "$name: a function that calls itself through the PLT, 10 000 deep"
	is "$(shape)" "$self calls, $self deep, 0 open, 0 bad, 0 tail" \
		"$name: $self of these calls are seen, nested and ended"

	record d -k "$kind" -l 'libp[io]ng.so' ./tree tail 100000
	is "$status/$out/$err" '0/100000/' "$name: 100 000 jumps between two libraries"
	is "$(shape)" '100001 calls, 1 deep, 0 open, 0 bad, 100000 tail' "$name: a tail call ends the call before it"
	report d
	is "$(calls tail_ping) $(calls tail_pong)" '50001 50000' "$name: each of them counts"

	record d -k "$kind" -l 'libp[io]ng.so' ./tree once 3
	is "$out $(tree | tr '\n' ';')" '8 once_ping(); /* tail call */;last_pong();;' \
		"$name: after one jump the callee stands beside the function that jumped"

	record d -k "$kind" -l 'libp[io]ng.so' ./tree twice 3
	is "$out" 16 "$name: a call that jumps, then a jump"
	is "$(tree)" "$twice" "$name: both stand where they were called"
}

# gcc calls last_pong at the end of twice_ping, and needs the result: no jump.
twice='twice_ping() {
  once_pong(); /* tail call */
  last_ping();
  last_pong();
} /* twice_ping */'
kind plt plt 1 library "$CC"
kind patchable patchable 10000 patchable_library
if [ -n "$CLANG" ]; then
	kind xray xray 10000 xray_library
	kind 'plt and xray' plt,xray 10000 xray_library
else
	skip 30 'no clang here'
fi
done_testing
