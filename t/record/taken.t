#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program that closes descriptors it does not know, and opens files, while a thread writes its trace: the program
# keeps its descriptors, and what is in its files; the trace has all calls.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" taken taken.c

# taken_by WHO: what taken said, and what the trace lacks.
taken_by() {
	[ "$status" -ne 4 ] || skip_all 'no thread can be traced here'
	report d
	is "$status $out$err" "0 $(calls srand) calls, 0 closed, 0 bytes" "$1: the program keeps its own, the trace all"
	is "$(sums)" '0 lost 0 unfinished' "$1: nothing is lost"
}

XAUDIT_RULES='[trace]
output = d
buffer = 64k
[library libc.so*]
kinds = plt
functions = srand
'
export XAUDIT_RULES
status=0
bounded 120 env LD_AUDIT="$MODULE" ./taken 20 >.out 2>.err || status=$?
out=$(cat .out) err=$(cat .err)
taken_by 'the thread writes its chunks itself, 20 times'
unset XAUDIT_RULES

rm -rf d
record d -b 64k --ring=64M -k plt -F srand ./taken 1
taken_by 'the thread has a place in the trace made'
done_testing
