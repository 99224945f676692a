#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A coroutine's stack that is an array in a frame of its caller's stack: the calls around that frame and those below it
# are one stack, as they are where the array is static; what is left open there ends with the thread, or the process.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

functions='-F main_frame -F main_static -F turns -F resume -F other -F step'

# chains: each chain of calls, from the outermost one, and how many there were.
chains() {
	bounded 60 "$XAUDIT" stacks --format=folded --sort=calls d 2>&1 | sed 's/ \[[^]]*\]//g' |
		LC_ALL=C sort
}
# ends: how many calls there were, how many of them returned, and were left.
ends() {
	bounded 60 "$XAUDIT" dump d 2>&1 |
		awk '{ n[$3]++ } END { print n["entry"] + 0, n["exit"] + 0, n["unwind"] + 0 }'
}
# tree CALLER N: the chains of N times all turns below that function.
tree() {
	caller=$1 n=$2
	printf '%s\n' "$caller $n" "$caller;turns $n" "$caller;turns;resume $((3 * n))" "$caller;turns;step $n" \
		"other $n" "other;step $((3 * n))"
}
# turns WHERE CALLER N EXITS UNWOUND [UNFINISHED]
turns() {
	record d -k "$kind" $functions -- ./enclosed "$1"
	is "$status $out$err" '0 ' "$kind, $1: the program runs to its end"
	is "$(ends)" "$((10 * $3)) $4 $5" "$kind, $1: each call ends where it ends"
	is "$(chains)" "$(tree "$2" "$3" | LC_ALL=C sort)" "$kind, $1: the calls of each stack nest"
	report d
	is "$(sums)" "0 lost ${6:-0} unfinished" "$kind, $1: nothing is lost or left open"
}

# kind KIND [FLAG]...
kind() {
	kind=$1
	shift
	program "$CC" enclosed enclosed.c -fno-optimize-sibling-calls "$@"
	turns frame main_frame 1 9 1
	turns thread main_frame 1 9 1
	turns static main_static 1 9 0 1
	turns again main_frame 100 900 100
}

kind patchable -fpatchable-function-entry=5
kind entry
kind cyg -finstrument-functions
done_testing
