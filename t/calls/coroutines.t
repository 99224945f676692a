#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Calls on coroutines' stacks, wherever these lie and whichever thread resumes them; on a handler's stack in a frame; on
# adjacent stacks of threads.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

need g++

# events_of: the events of each thread in a line, letter and function: E entry, X exit, U unwound.
events_of() {
	dump d
	jq -rn '{ main_call: "m", first_call: "1", second_call: "2", leaf_call: "l" } as $letter |
		[inputs | select(.function)] | group_by(.tid) | sort_by(.[0].time_ns) | .[] |
		map((if .event == "exit" then "X" else .event[0:1] | ascii_upcase end) + $letter[.function]) |
		join(" ")' d.json
}

# open_calls: of each function, calls that did not return; then calls that returned but were unwound in the trace;
# events that are no call with an end; and, if asked for, all calls that were unwound.
open_calls() {
	bounded 60 "$XAUDIT" dump d | awk -v all="${1:-}" '$3 == "entry" { open[$5]++ }
		$3 == "exit" { open[$5]-- }
		$3 == "unwind" { unwound[$5]++; sum++ } $3 == "lost" || $3 == "point" { other++ }
		END { print "m" open["main_call"] + 0, "1:" open["first_call"] + 0, "2:" open["second_call"] + 0, \
			"l" open["leaf_call"] + 0, unwound["main_call"] + unwound["leaf_call"], other + 0,
				(all ? sum + 0 : "") }'
}

# One turn of a coroutine each, from the source: second_call(body): first_call(yield) | second_call(jump) with
# first_call unwound, and yield | second_call(catch_it), with first_call unwound, and first_call(yield) | the ends.
turn1='Em E2 E1 Xm'
turn2='Em X1 E2 E1 U1 El Xl X2 Xm'
turn3='Em E2 E1 U1 El Xl X2 E1 Xm'
turn4='Em X1 X2 Xm'
both="$turn1 $turn1 $turn2 $turn2 $turn3 $turn3 $turn4 $turn4 El Xl"
handler='E2 E1 El Xl X1 El Xl X2'
thrown='Em E1 E1 E1 E1 U1 U1 U1 U1 Um El Xl'
round='Em E1 E1 E1 E1 E1 X1 X1 X1 X1 X1 Xm'

# runs KIND FOLDER
runs() {
	kind=$1 folder=$2
	set -- -k "$kind" -l libco.so --
	untraced=$(bounded 60 "$folder/co" frame)
	for where in frame heap data; do
		record d "$@" "$folder/co" "$where"
		is "$status $out$err" "0 $untraced" "$kind, coroutines in $where: the results are as untraced"
		expected=$both
		[ "$where" != frame ] || expected="E2 $both X2"
		is "$(events_of)" "$expected" "$kind, coroutines in $where: each call ends once, where it ends"
	done
	record d "$@" "$folder/co" threads
	is "$(events_of)" "$turn1
$turn2
$turn3
$turn4" "$kind, a coroutine that goes on in four threads: each ends what the others began"
	record d "$@" "$folder/co" handler
	is "$(events_of)" "Em $handler $handler $handler Xm" \
		"$kind, a handler on a stack in a frame: nothing below it is unwound"
	# In the end, each coroutine has first_call open in the fourth second_call.
	record d "$@" "$folder/co" interrupted
	is "$status $out" '0 done 0' \
		"$kind, a signal each 0.1 ms to a stack in a frame with coroutines: the program runs to its end"
	is "$(open_calls)" 'm0 1:6 2:24 l0 0 0 ' \
		"$kind, a signal each 0.1 ms to a stack in a frame with coroutines: 12000 turns leave six calls open"
	record d "$@" "$folder/co" large
	is "$(events_of)" "E2 El Xl X2 $thrown $thrown $thrown" \
		"$kind, frames of a megabyte: an exception ends all calls on its way, at once"
	record d "$@" "$folder/co" pool
	is "$status $out" '0 done 0' "$kind, forty coroutines that three threads go on with: the program ends"
	is "$(open_calls all | sed 's/2:[0-9]*/2/')" 'm0 1:40 2 l0 0 0 0' \
		"$kind, forty coroutines that three threads go on with: 12000 turns leave forty calls, none unwound"
	record d "$@" "$folder/co" neighbours
	is "$status $out" '0 done 0' "$kind, threads side by side: the program runs to its end"
	is "$(events_of | sed "s/$round/R/g; s/^R\( R\)\{399\}\$/400 rounds/")" '400 rounds
400 rounds
400 rounds
400 rounds' "$kind, threads side by side: the calls of each nest"
}

# kind NAME COMPILER [FLAG]...
kind() {
	name=$1 compiler=$2
	shift 2
	mkdir "$name"
	library "$compiler" "$name/libco.so" coroutines.cc "$@" -DPART
	program g++ "$name/co" coroutines.cc -L"$name" -lco
	runs "$name" "$name"
}

kind plt g++
kind patchable g++ -fpatchable-function-entry=5
[ -z "$CLANG" ] || kind xray "$CLANGXX" -fxray-instrument -fxray-instruction-threshold=1
done_testing
