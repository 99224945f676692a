#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the library gives of a part of the time is what it gives of all, without what comes before and behind: calls and
# events, and around them what was open. Of traces with all that can come before a moment, made by chance.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
built read_part
need jq

# by_chance SEED EVENTS: two threads, the second one with coroutines; what a trace can hold, but for what has no end.
by_chance() {
	awk -v seed="$1" -v events="$2" '
		function chance(n) { seed = seed * 16807 % 2147483647; return seed % n }
		function calls() {
			if (depth[stack] && (depth[stack] > 30 || chance(100) < 47)) {
				id = open[stack, depth[stack]--]
				if (id == 3 && chance(2))
					print "values 2", now, now % 1000
				else
					print (chance(20) ? "exit" : chance(2) ? "tail" : "unwind"), id, now
				return
			}
			id = 1 + chance(12)
			open[stack, ++depth[stack]] = id
			if (id == 3)
				print "values 1", now, now % 1000
			else if (id == 4)
				print "values 3", now, "=request" now % 100
			else
				print (chance(20) ? "entry" : "kept"), id, now
		}
		function other(what) {
			if (what < 3)
				print "custom", what < 2 ? 16 : 1, now, "=hello"
			else if (what < 4)
				print "custom 2", now, "=asked" now % 100
			else if (what < 5)
				print "custom 4", now
			else if (what < 8 && thread == 101)
				print "stack", stack = 1 + chance(3), now
			else if (what < 9 && thread == 101 && stack)
				print "part", 4 + chance(2), chance(3)
			else if (what < 10)
				print "lost 2\nchunk", now
			else if (what < 12)
				print "chunk", now
			else if (what < 13)
				print "point", 1 + chance(12), now
			else
				print (chance(2) ? "exit" : "unwind"), 1 + chance(12), now
		}
		BEGIN {
			print "process p100 flags=1 chunk=65536\npair first 1000 1000 5\npair last 900000 900000 899005"
			print "object 1 /usr/lib/libfoo.so"
			for (i = 1; i <= 12; i++)
				print "function 1 0", i, i * 256, "f" i
			print "load 1 1 1000 0x10000 100\nunload 1 30000 100\nload 2 1 40000 0x20000 100\ntype 16 mine"
			print "layout 1 entry 3 i4:arg1:x\nlayout 2 exit 3 i4:ret:r\nlayout 3 entry 4 text:request:q"
			for (thread = 100; thread < 102; thread++) {
				print "thread", thread, "name" thread % 10
				print thread == 100 ? "stream\ndense" : "stream"
				now = 1000 + thread
				stack = 0
				split("", depth)
				for (i = 0; i < events; i++) {
					now += chance(5)
					if (chance(40)) calls(); else other(chance(15))
				}
			}
		}'
}

# Calls, calls with values, requests and custom events, and events.
part() {
	bounded 60 "$read_part" "$tmp/$1" "$2" "$3"
}
by_chance 11 10000 | write_trace first
is "$(part first 0 0)" '19660 19795 20122 ' 'from the beginning to the end: all'
is "$(part first 5000 0)" '14838 14951 15259 ' 'from a moment on: what all has from there'
is "$(part first 5000 7000)" '1930 1952 2004 ' 'between two moments'
is "$(part first 19000 19010)" '6 6 13 ' 'of 10 ns'
is "$(part first 0 300)" '198 198 199 ' 'up to a moment'
is "$(part first 800000 0)" '0 0 0 ' 'behind the end there is nothing'
wrong=
for seed in 12 13 14 15 16 17; do
	by_chance $seed 3000 | write_trace "s$seed"
	for from in 1 77 1000 2000 3333 5000; do
		for to in 0 $((from + 1)) $((from + 500)); do
			case $(part "s$seed" $from $to) in
			*[!0-9\ ]* | '') wrong="$wrong $seed:$from-$to" ;;
			esac
		done
	done
done
is "$wrong" '' 'six other traces, each from six moments on, and to three'

# A coroutine goes on in another thread.
write_trace moved <<END
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
$moved_calls
END
for from in 1 45 55 70; do
	is "$(part moved $from 0 | tr -d '0-9 ')" '' \
		"a coroutine that goes on in another thread: $from ns after the start"
done

# ---- the commands ----

# The same lines of dump's, whatever chooses them.
"$XAUDIT" dump --format=json "$tmp/first" >"$tmp/all"
# chosen CONDITION OPTION...: what of all lines fulfils the condition of jq, and what dump shows with the options.
chosen() {
	jq -c "select($1)" "$tmp/all" >"$tmp/expected"
	shift
	bounded 60 "$XAUDIT" dump --format=json "$@" "$tmp/first" | jq -c . >"$tmp/got"
	cmp "$tmp/expected" "$tmp/got" && wc -l <"$tmp/got" | tr -d ' '
}
is "$(chosen '.time_ns >= 6000' --from=5us)" 15078 'dump --from: lines of that time or later'
is "$(chosen '.time_ns < 6000' --to=5us)" 4810 'dump --to: of a time before that'
is "$(chosen '.time_ns >= 6000 and .time_ns < 8000 and .tid == 101' --from=5us --to=7us --tid=101)" 997 \
	'dump --tid: of that thread, between two moments'
for n in 1 7 300; do
	jq -c . "$tmp/all" | tac | jq -c . | awk -v n=$n '
		match($0, /"tid":[0-9]+/) && seen[substr($0, RSTART, RLENGTH)]++ < n' | tac >"$tmp/expected"
	bounded 60 "$XAUDIT" dump --format=json --tail=$n "$tmp/first" | jq -c . >"$tmp/got"
	is "$(cmp "$tmp/expected" "$tmp/got" && wc -l <"$tmp/got" | tr -d ' ')" $((2 * n)) \
		"dump --tail=$n: the last of each thread"
done
done_testing
