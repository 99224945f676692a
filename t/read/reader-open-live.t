#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libxaudit-read opens what a running process records, and what its child does.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

built read_calls
program "$CC" live reader_live_program.c -fpatchable-function-entry=5

# calls PID: how often live_call was called, and status.
calls() {
	bounded 60 "$read_calls" "$1" >calls.out 2>calls.err
	echo "$? $(sed -n 's/.*"function":"live_call".*"calls":\([0-9]*\),.*/\1/p' calls.out)$(cat calls.err)"
}

mkfifo in out
bounded 60 "$XAUDIT" record -o d -k patchable ./live <in >out 2>record.err &
record=$!
exec 3>in 4<out
read -r parent child <&4 || bail "$(cat record.err)"
is "$(calls "$parent")" '0 1000' 'the calls of a running process'
is "$(calls "$child")" '0 7' 'the calls of its child, alone'
is "$(calls $$)" "1 process $$ records nothing; \`xaudit record\` starts one that does" 'a process that is not traced'
exec 3>&-
wait "$record"
is "$?" 0 'both end'
is "$(calls "$parent")" "1 there is no process $parent" 'a process that is gone'
done_testing
