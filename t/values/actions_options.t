#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Actions of the command line: xaudit record --then, and xaudit trace --then, of probes and functions that are named
# there.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
XAUDIT_INDEX=$tmp/cache
export XAUDIT_INDEX

library "$CC" libacts.so actions_part.c -O1 -fno-inline
program "$CC" acts actions.c -L. -lacts
index_of libacts.so

# then WORD...: records acts(1) ... acts(100), with other() before each. Sets $got: entries of acts() and other(),
# probes, marks.
then_() {
	record d "$@" -c /dev/null ./acts calls 100
	dump d
	got="$(events d '.function == "acts" and .event == "entry"') $(events d \
		'.function == "other" and .event == "entry"') $(events d '.event == "probe"') $(
		events d '.event == "custom"')"
}
marks() {
	events d ".event == \"custom\" and .type == \"mark\" and .data == \"$(printf %s "$1" | base64)\""
}
# expect SENTENCE NUMBERS
expect() {
	is "$status:$err:$got" "0::$2" "$1"
}

then_ -k plt --function acts@libacts.so --then mark
expect 'of the function before it' '100 0 0 100'
then_ -k plt --function acts@libacts.so --then 'mark every 10' --function other@libacts.so
expect 'and of none behind it' '100 100 0 10'
then_ -k plt --function acts@libacts.so --function other@libacts.so --then 'mark if n > 90'
expect 'of two functions' '100 100 0 20'
then_ -k plt --function first=acts@libacts.so --function second=other@libacts.so --then 'first:mark every 20' \
	--then 'second:mark once as only'
is "$(marks first) $(marks acts) $(marks only)" '0 5 1' 'of each by its name'
then_ -k plt -F acts -F other --then 'other:mark every 50'
expect 'of a pattern of functions' '100 100 0 2'
then_ --probe here=acts@libacts.so --then 'mark every 4'
expect 'of the probe before it' '0 0 100 25'
is "$(marks here)" 25 'by its name'
then_ --probe here=acts@libacts.so --probe there=other@libacts.so --then 'here:mark if arg1 > 95' \
	--then 'mark every 25' --context there:int:n:arg1
is "$status:$err:$got $(marks here) $(marks there)" '0::0 0 200 13 9 4' 'of one probe, and of both'
is "$(events d '.event == "probe" and .values')" 100 'beside values'
then_ -k plt --function acts@libacts.so --probe there=other@libacts.so --then 'mark every 10'
is "$status:$err:$got $(marks acts) $(marks there)" '0::100 0 100 20 10 10' 'of a function and a probe'
rm -rf d.snapshot.*
then_ -k plt --function acts@libacts.so --then 'snapshot if n == 50'
is "$status $(echo d.snapshot.*)" '0 d.snapshot.1' 'a snapshot'
dump d.snapshot.1
ok 'up to then' test "$(events d.snapshot.1 '.function == "acts" and .event == "entry"')" -ge 50

bounded 60 "$XAUDIT" trace --keep k --kinds plt --function acts@libacts.so --then 'mark every 10' -q -o lines \
	./acts calls 100 >out 2>err
is "$? $(cat err) $(grep -c '^[0-9]* *acts(' lines)" '0  100' 'trace takes it, too'
dump k
is "$(events k '.event == "custom"')" 10 'and does it'

# fails SENTENCE MESSAGE WORD...
fails() {
	sentence=$1 message=$2
	shift 2
	record d "$@" -c /dev/null ./acts calls 1
	is "$status ${err%%; allowed: *}" "125 xaudit$message" "$sentence"
}
fails 'no action' " record: --then jump: no action is called 'jump'" --function acts --then jump
fails 'an action of nothing' \
	' record: --then mark: of what? behind --probe or --function it is theirs; FUNCTION:mark is of a function' \
	--then mark
fails 'a time at a probe' ": record: --then mark longer 1s: a time is a call's, and at a probe none ends: 'longer'" \
	--probe acts@libacts.so --then 'mark longer 1s'
fails 'no result at the beginning' \
	": record: --then start if ret < 0: recording starts where a call begins, before there is a result: 'ret < 0'" \
	--function acts --then 'start if ret < 0'
fails 'what a configuration can not say' \
	" record: --then 'mark if n > 1 ;b' holds a line break, a tab, or a blank before ';'; the \
configuration can't express that" --function acts --then 'mark if n > 1 ;b'
done_testing
