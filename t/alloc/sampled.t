#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit alloc --sample: estimates of what four stacks allocate, and leave, are within five standard deviations of what
# is known; of a command, of the trace that it leaves, and of a process that runs.
. "${top_srcdir:-.}/t/lib/tap.sh"

need jq
xaudit=$top_builddir/xaudit
$CC -O1 -fno-builtin -fno-optimize-sibling-calls -o "$tmp/sampled" "$top_srcdir/t/alloc/sampled.c" || bail 'sampled.c'

# near FUNCTION KEY EXPECTED SIZE: KEY of the stacks that FUNCTION is in, of blocks of that size; or, of bytes, one
# block of each of the sizes STEP, 2 STEP ... MOST, if that is STEP-MOST. blocks: by their number.
near() {
	got=$(jq "[.stacks[] | select([.frames[].function] | index(\"$1\")) | .$2] | add // 0" "$tmp/json")
	awk -v got="$got" -v expected="$3" -v size="$4" -v key="$2" 'BEGIN {
		# Of bytes, each block adds size^2 (weight - 1) to the variance, and to a count one by rounding.
		if (split(size, part, "-") == 2) {
			for (of = part[1]; of <= part[2]; of += part[1])
				variance += of * of * (1 / (1 - exp(-of / 16384)) - 1)
		} else {
			weight = 1 / (1 - exp(-size / 16384))
			each = key ~ /bytes/ ? size * (weight - 1) : weight - 1 + 1 / weight
			variance = expected * each
		}
		deviation = sqrt(variance)
		exit !(got >= expected - 5 * deviation && got <= expected + 5 * deviation)
	}'
	ok "$1: $2, $3, are estimated as $got" test $? -eq 0
}
judge() {
	near small bytes 9600000 48
	near small calls 200000 48
	near middle bytes 60000000 3000
	near middle calls 20000 3000
	near leak bytes 10000000 2000
	near leak live_bytes 10000000 2000
	near leak live_blocks 5000 2000
	near grow bytes 100050000 50-100000
	near small live_bytes 0 48
	near middle live_blocks 0 3000
	is "$(jq -c '[.unknown_frees, .lost_frees, .lost, .sum.temporary, .sample_interval]' "$tmp/json")" \
		'[0,0,0,0,16384]' 'no free is of an unknown block, none is lost, and none counts as temporary'
}

"$xaudit" alloc --sample=16k --format=json --output="$tmp/json" --keep="$tmp/trace" -- "$tmp/sampled" 2>"$tmp/err"
is "$?, $(cat "$tmp/err")" '0, ' 'the command runs'
judge
cp "$tmp/json" "$tmp/first"
"$xaudit" alloc --format=json "$tmp/trace" >"$tmp/json" 2>"$tmp/err"
is "$?, $(cat "$tmp/err")" '0, ' 'its trace is read'
# But for a nanosecond by which the clocks may be known better.
for f in json first; do jq -S 'del(.peak_ns)' "$tmp/$f" >"$tmp/$f.same"; done
ok 'and tells the same' cmp "$tmp/json.same" "$tmp/first.same"
events=$("$xaudit" info --format=json "$tmp/trace" | jq '[.processes[].events] | add')
ok "it has few events ($events)" test "$events" -lt 50000
"$xaudit" alloc "$tmp/trace" >"$tmp/text" 2>&1
like "$(cat "$tmp/text")" "all numbers are estimates, of $(jq .samples "$tmp/json") samples, one in 16384 bytes" \
	'as text it says so'

bounded 60 "$xaudit" record -o "$tmp/served" -F usleep -- "$tmp/sampled" on &
record=$!
for try in $(seq 300); do
	pid=$(pgrep -f "^$tmp/sampled on\$" || :)
	if [ -n "$pid" ] && "$xaudit" ctl "$pid" status >/dev/null 2>&1; then break; fi
	sleep 0.1
done
bounded 60 "$xaudit" alloc --sample=16k --for=1 --format=json -o "$tmp/json" "$pid"
is $? 0 'a process that runs'
is "$(jq -c '[.sample_interval, .unknown_frees, .lost_frees, .lost]' "$tmp/json")" '[16384,0,0,0]' \
	'its samples are recorded, and their frees'
# Between switching on and asking for contexts all calls are recorded, without values.
left=$(jq -c '[.stacks[] | select([.frames[].function] | index("work")) | .live_blocks <= 70]' "$tmp/json")
is "$(echo "$left" | jq 'length > 0 and all')" true \
	'all but the last block are freed, which stands for 69'
is "$("$xaudit" ctl "$pid" contexts)" 'no values of calls are asked for' 'and none when it is over'
bounded 60 "$xaudit" alloc --for=1 --format=json -o "$tmp/json" "$pid"
is "$(jq -c '[.samples, .unknown_frees < 2, .sum.calls > 1000]' "$tmp/json")" '[null,true,true]' \
	'then all its calls can be recorded again'
kill "$pid"
wait "$record"
for size in 0 x 16K 1025G 18446744073709551616; do
	"$xaudit" alloc --sample="$size" -- true 2>"$tmp/err"
	is "$?, $(grep -c 'a size from 1 to 1024G, as in 512k' "$tmp/err")" '125, 1' "--sample=$size is refused"
done
done_testing
