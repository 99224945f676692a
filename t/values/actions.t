#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Actions of functions and probes: each is done as often as its conditions and limits say, behind the events that they
# are of, and no other event is missing.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX

library "$CC" libacts.so actions_part.c -O1 -fno-inline
program "$CC" acts actions.c -L. -lacts
mkdir -p patchable xray
library "$CC" patchable/libacts.so actions_part.c -O1 -fno-inline -fpatchable-function-entry=5
program "$CC" patchable/acts actions.c -Lpatchable -lacts
index_of libacts.so

# acts WAY N KIND LINE...: runs the program, with these lines in the configuration. Sets $got: how many entries and
# exits of acts() there are, entries of other(), and marks, and how often recording changed.
acts() {
	way=$1 n=$2 kind=$3 folder=.
	shift 3
	[ ! -d "$kind" ] || folder=$kind
	{
		printf '[library libacts.so]\nkinds = %s\nfunctions = acts other slow\n' "$kind"
		printf '%s\n' "$@"
	} >conf
	record d -c conf "$folder/acts" "$way" "$n"
	dump d
	got="$(events d '.function == "acts" and .event == "entry"') $(events d \
		'.function == "acts" and .event == "exit"') $(events d '.function == "other" and .event == "entry"') $(
		events d '.event == "custom"') $(events d '.event == "change"')"
}
# marks TEXT: how many say so.
marks() {
	events d ".event == \"custom\" and .type == \"mark\" and .data == \"$(printf %s "$1" | base64)\""
}
# expect SENTENCE NUMBERS
expect() {
	is "$status:$err:$got" "0::$2" "$1"
}

kinds='plt entry patchable'
[ -z "$CLANG" ] || {
	library "$CLANG" xray/libacts.so actions_part.c -O1 -fno-inline -fxray-instrument \
		-fxray-instruction-threshold=1
	program "$CC" xray/acts actions.c -Lxray -lacts
	kinds="$kinds xray"
}
for kind in $kinds; do
	acts calls 1000 "$kind" '[context acts]' 'then = mark every 10'
	expect "$kind: one mark in ten calls" '1000 1000 1000 100 0'
	acts calls 1000 "$kind" '[context acts]' 'then = mark if n > 900'
	expect "$kind: a mark where a condition holds when the call begins" '1000 1000 1000 100 0'
	acts calls 1000 "$kind" '[context acts]' 'then = mark if ret < 0'
	expect "$kind: where it holds when the call ends" '1000 1000 1000 142 0'
	acts calls 1000 "$kind" '[context acts]' 'then = mark if n > 300 && ret < 0 every 2' 'context = args retval'
	expect "$kind: both, beside values" '1000 1000 1000 50 0'
	acts calls 1000 "$kind" '[context acts]' 'then = stop if n == 100'
	expect "$kind: a stop, in a call that still ends in the trace" '100 100 100 0 1'
	acts calls 1000 "$kind" '[context acts]' 'then = stop if n == 100' 'then = start if n == 200'
	expect "$kind: and a start, with the call that asked for it" '901 901 900 0 2'
	acts calls 1000 "$kind" '[context acts]' 'then = stop thread if n == 100' 'then = start thread if n == 200'
	expect "$kind: both of the thread" '901 901 900 0 0'
done

acts calls 1000 plt '[context acts]' 'then = mark once'
expect 'a mark, once' '1000 1000 1000 1 0'
acts calls 1000 plt '[context acts]' 'then = mark every 10 once' 'then = mark as second' 'then = mark if n < 0'
expect 'several actions' '1000 1000 1000 1001 0'
is "$(marks second) $(marks acts)" '1000 1' \
	'a mark has the name that the rule says, or the function'
acts calls 1000 plt '[context acts]' 'then = mark at-most 3600s'
expect 'one mark in an hour' '1000 1000 1000 1 0'
acts calls 1000 plt '[context acts]' 'then = mark at-most 1ns'
expect 'one in a nanosecond' '1000 1000 1000 1000 0'
acts bursts 0 plt '[context acts]' 'then = mark at-most 300ms'
expect 'one for each burst of calls' '300 300 0 3 0'
acts calls 1000 plt '[context acts]' 'if = n > 500' 'then = mark'
expect 'none for a call that is left out' '500 500 1000 500 0'
acts calls 1000 plt '[context acts]' 'every = 4' 'then = mark every 5'
expect 'one in so many of those that are recorded' '250 250 1000 50 0'
acts calls 1000 plt '[context acts]' 'if = ret < 0' 'then = mark if ret > 0' 'then = mark as right if ret < 0'
expect 'and where the result says so' '142 142 1000 142 0'
acts slow 100 plt '[context slow]' 'then = mark longer 10ms'
is "$(events d '.function == "slow" and .event == "entry"') $(events d '.event == "custom"')" '100 10' \
	'a mark of each call that takes long, and all calls are recorded'
is "$(jq -rn '[inputs | select(.function == "slow" or .event == "custom") | .event] | join(" ")' d.json |
	sed 's/entry exit //g')" "$(yes 'custom' | head -10 | paste -sd' ')" 'it is right behind its call'
acts fork 0 plt '[context acts]' 'then = mark once'
expect 'a forked child begins anew' '20 20 0 2 0'
acts fork 0 plt '[context acts]' 'then = mark every 7'
expect 'and counts anew' '20 20 0 2 0'
acts threads 0 plt '[context acts]' 'then = stop thread if n == 500' 'then = start thread if n == 1501'
expect 'a thread alone is stopped, and started again' '1000 1000 1010 0 0'
acts again 5 plt '[context acts]' 'then = stop thread if n == 100'
expect 'a thread that has the record of one that was stopped is recorded' '5 5 0 0 0'
acts calls 1000 plt '[context acts]' 'then = stop every 100' '[context other]' 'then = start if n == 901'
expect 'another function starts' '200 200 200 0 3'
acts calls 1000 plt '[context acts]' 'then = start once' 'then = stop once'
expect 'a start where nothing is stopped does not count' '1000 1000 999 0 2'

# Probes.
probe() {
	{
		printf '[library libacts.so]\nkinds = plt\nfunctions = acts other\n[probe here]\nat = acts@libacts.so\n'
		printf '%s\n' "$@"
	} >conf
	record d -c conf ./acts calls 1000
	dump d
	got="$(events d '.function == "acts" and .event == "entry"') $(events d '.event == "probe"') $(
		events d '.event == "custom"') $(events d '.event == "change"')"
}
probe 'then = mark every 10'
expect 'probe: one mark in ten' '1000 1000 100 0'
is "$(marks here)" 100 'probe: it has its name'
probe 'then = mark if arg1 > 900'
expect 'probe: where a condition holds' '1000 1000 100 0'
probe 'then = stop if arg1 == 100' 'then = start if arg1 == 200'
expect 'probe: stop and start' '900 901 0 2'
probe 'then = stop thread if arg1 == 100' 'then = start thread if arg1 == 200'
expect 'probe: of the thread' '900 901 0 0'
probe 'context = int:n:arg1' 'every = 2' 'then = mark every 5'
expect 'probe: one in so many of those that are recorded' '1000 500 100 0'

# What can't be.
wrong() {
	printf '[library libacts.so]\nkinds = plt\n[context acts]\nthen = %s\n' "$1" >conf
	record d -c conf ./acts calls 1
	is "$err" "xaudit: $tmp/conf:4: $2" "wrong: $1"
}
allowed='mark, snapshot, start, stop, start thread, stop thread; behind it if CONDITION, longer TIME, running longer '
allowed="${allowed}TIME, every N, once, at-most TIME, as NAME"
wrong jump "no action is called 'jump'; allowed: $allowed"
wrong 'mark every none' "behind every is no number from 1 on, but 'none'; allowed: $allowed"
wrong 'mark longer soon' "behind longer is no time, as in 10ms, but 'soon'; allowed: $allowed"
wrong 'mark thread' "an action has no 'thread'; allowed: $allowed"
wrong 'start longer 1s' "recording starts where a call begins, so start has no 'longer'; allowed: $allowed"
wrong 'start if ret < 0' "recording starts where a call begins, before there is a result: 'ret < 0'"
wrong 'snapshot as ../there' \
	"behind as is no name of a mark, or of a snapshot's folder, but '../there'; allowed: $allowed"
done_testing
