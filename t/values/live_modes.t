#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Values with options that leave calls out, overwrite or bound what is recorded: numbers of calls are exact, and what is
# there can be read.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/live.sh"

mkdir plt patchable
library "$CC" plt/liblive.so live_flow_part.c -fexceptions
library "$CC" patchable/liblive.so live_flow_part.c -fexceptions -fpatchable-function-entry=5
for kind in plt patchable; do
	program "$CXX" $kind/live live_flow.cc -L$kind -llive
done

# modal NAME OPTION...: records eight threads, which call each of three functions 10944 times, or $times as often. Sets
# $found to what the judge says, but for values that are not as they should be, which are a check.
times=1
modal() {
	name="$kind, $1"
	shift
	record d -c conf -b 64k "$@" $kind/live threads $times
	values_of d >got
	awk -f "$beside/live_flow.awk" got >judged
	found=$(tr '\n' ';' <judged)
	is "$status $out$(grep -v 'size limit' .err)$(grep wrong judged)" '0 ' \
		"$name: each event that is there has its values"
	report d
}
rows_of() {
	echo "$(calls v_swap) $(calls v_number) $(calls v_quick), $(sums)"
}

for kind in plt patchable; do
	rules "$kind" '' '' '[context v_*]
context = args retval
[context v_swap]
context = out:long:doubled:+0(arg2)'
	modal 'mode count' -m count
	is "$(wc -l <got) $(rows_of)" '0 10944 10944 10944, 0 lost 0 unfinished' "$name: all calls are counted"

	# Of 304 rounds in each thread, 266 have calls one level deeper.
	modal 'two deep' -D 2
	is "$found" 'v_number 2432 2432 0;v_quick 2432 2432 0;v_swap 4560 4560 0;' "$name: so many are recorded"

	modal 'short ones left out' --time 2us
	taken=$(info d '[.processes[].taken_back] | add')
	is "$(($(grep -c ^entry got) + taken)) $(grep -c ^exit got) $(sums)" \
		"32832 $(grep -c ^entry got) 0 lost 0 unfinished" "$name: recorded and taken back ones are all"

	modal throttled --throttle=1%
	is "$(rows_of)" '10944 10944 10944, 0 lost 0 unfinished' "$name: all calls are counted"
	ok "$name: not all are recorded" test "$(grep -c ^entry got)" -lt 32832

	# More than 256k of each thread: if none ends before the last one begins, each has a ring of its own.
	times=3
	modal 'mode ring' -m ring --ring=256k
	is "$(sums)" '0 lost 0 unfinished' "$name: what is left can be read"
	ok "$name: it is not all" test "$(grep -c ^entry got)" -lt 98496
	ok "$name: but much" test "$(grep -c ^entry got)" -gt 1000

	modal 'a size limit' --size-limit=1M
	ok "$name: it is not all" test "$(wc -l <got)" -lt 196992
	ok "$name: but much" test "$(wc -l <got)" -gt 20000
	times=1
done
done_testing
