#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Snapshots of calls that have not returned (`running longer`): xaudit record makes one for each call that hangs, while
# it does, and none for others, however these end.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/hangs.sh"
mkdir -p patchable xray
library "$CC" patchable/libhangs.so hangs_part.c -O1 -fno-inline -fpatchable-function-entry=5
program "$CC" patchable/hangs hangs.c -Lpatchable -lhangs
index_of libhangs.so

# hangs KIND WAY N LINE...: runs the program, in mode $mode, with these actions of work().
hangs() {
	kind=$1 way=$2 n=$3 folder=.
	shift 3
	[ ! -d "$kind" ] || folder=$kind
	of='library libhangs.so'
	[ "$kind" != calls ] || of=program
	{
		printf '[trace]\nmode = %s\n[%s]\nkinds = %s\nfunctions = work other\n[context work]\n' \
			"${mode:-ring}" "$of" "$kind"
		printf 'then = %s\n' "$@"
	} >conf
	rm -rf d.snapshot.* slow.*
	record d -c conf "$folder/hangs" "$way" "$n"
}
# made: the names of all snapshots.
made() {
	for one in d.snapshot.* slow.*; do
		[ ! -d "$one" ] || echo "$one"
	done | tr '\n' ' '
}
# open_in FOLDER: of a snapshot, calls of work() that are open in it, those that have ended, and whether there are
# events of how many threads. As text: there may be millions.
open_in() {
	bounded 60 "$XAUDIT" dump "$1" >text
	awk '$3 == "entry" || $3 == "exit" { threads += !known[$2]++; of_work[$3] += $5 == "work" }
		END { print of_work["entry"] - of_work["exit"], of_work["exit"] + 0, threads + 0 }' text
}
# expect SENTENCE STATUS SNAPSHOTS
expect() {
	is "$status:$(made)" "$2:$3" "$1"
	[ "$status:$(made)" = "$2:$3" ] || diag "$err"
}
three='d.snapshot.1 d.snapshot.2 d.snapshot.3 '

kinds='plt calls entry patchable'
[ -z "$CLANG" ] || {
	library "$CLANG" xray/libhangs.so hangs_part.c -O1 -fno-inline -fxray-instrument \
		-fxray-instruction-threshold=1
	program "$CC" xray/hangs hangs.c -Lxray -lhangs
	kinds="$kinds xray"
}
for kind in $kinds; do
	hangs "$kind" calls 12 'snapshot running longer 200ms'
	expect "$kind: one for each call that hangs" 0 "$three"
	[ "$(made)" = "$three" ] || continue
	is "$(for i in 1 2 3; do open_in d.snapshot.$i; done | tr '\n' ';')" '1 3 2;1 7 2;1 11 2;' \
		"$kind: in it the call is open, those before it have ended, and the other thread is there"
done
mode=stream
hangs plt calls 12 'snapshot running longer 200ms'
expect 'mode stream, too' 0 "$three"
is "$(for i in 1 2 3; do open_in d.snapshot.$i; done | tr '\n' ';')" '1 3 2;1 7 2;1 11 2;' 'with the same in them'
mode=ring
like "$err" "^xaudit record: the program asked for 3 snapshots; the last one is in $tmp/d.snapshot.3\$" \
	'record says where they are'
hangs plt calls 4 'snapshot running longer 900ms'
expect 'none for calls that take less time' 0 ''
hangs plt calls 8 'snapshot running longer 200ms at-most 10s as slow.%n'
expect 'one in ten seconds, by its name' 0 'slow.1 '
hangs plt calls 12 'snapshot running longer 200ms every 2'
expect 'one call in two' 0 'd.snapshot.1 '
hangs plt calls 8 'snapshot running longer 200ms once'
expect 'the first call' 0 'd.snapshot.1 '
hangs plt calls 8 'snapshot running longer 200ms if arg1 > 700' \
	'snapshot running longer 200ms if arg1 == 700 as slow.%n'
expect 'where a condition holds when it begins' 0 'slow.1 slow.2 '
hangs plt calls 4 'snapshot running longer 200ms' 'snapshot longer 200ms as slow.%n'
expect 'beside one of calls that have returned' 0 'd.snapshot.1 slow.1 '
is "$(open_in d.snapshot.1);$(open_in slow.1)" '1 3 2;0 4 2' 'which has the end'
mode=stream
hangs plt busy 0 'snapshot running longer 200ms'
expect 'a call that is busy with others, once' 0 'd.snapshot.1 '
is "$(open_in d.snapshot.1)" '1 0 1' 'and it is open there'
mode=ring
hangs plt inside 0 'snapshot running longer 200ms'
expect 'calls that hang in one that hangs' 0 "$three"
is "$(for i in 1 2 3; do open_in d.snapshot.$i; done | tr '\n' ';')" '2 0 1;2 1 1;2 2 1;' 'are open in it'
hangs plt threads 2 'snapshot running longer 200ms'
expect 'of threads that come one after another' 0 'd.snapshot.1 d.snapshot.2 '

hangs plt exit 0 'snapshot running longer 200ms'
expect 'none for a call in which its thread has ended' 0 ''
hangs plt gone 0 'snapshot running longer 200ms'
expect 'nor where the thread told nobody' 0 ''
hangs plt jump 0 'snapshot running longer 200ms'
expect 'nor for one that a longjmp left' 0 ''
hangs plt fork 0 'snapshot running longer 200ms'
expect 'nor for one that a forked child has from its parent' 0 ''
hangs plt child 0 'snapshot running longer 200ms'
expect 'but for one of the child' 0 'd.snapshot.1 '
is "$(info d.snapshot.1 '.processes | length') $(open_in d.snapshot.1)" '1 1 0 1' 'which is alone in it'
hangs plt exec 0 'snapshot running longer 200ms'
expect 'none for a call in which another program was executed' 0 ''
hangs plt kill 0 'snapshot running longer 200ms'
expect 'a process that is killed in a call has one' 137 'd.snapshot.1 '
hangs plt coroutine 0 'snapshot running longer 200ms'
expect 'one for a call on a stack that nobody is on' 0 'd.snapshot.1 '
is "$(open_in d.snapshot.1)" '1 0 1' 'where it is open'

# What can't be.
wrong() {
	printf '[library libhangs.so]\nkinds = plt\n%s\nthen = %s\n' "${2:-[context work]}" "$1" >conf
	record d -c conf ./hangs calls 1
	is "${err%%; allowed: *}" "xaudit: $tmp/conf:${4:-4}: $3" "wrong: $1"
}
wrong 'mark running longer 1s' '' \
	"while a call is running no thread acts; a snapshot alone has 'running longer'"
wrong 'stop running longer 1s' '' \
	"while a call is running no thread acts; a snapshot alone has 'running longer'"
wrong 'snapshot running 1s' '' "behind running is no longer TIME, but '1s'"
wrong 'snapshot running longer' '' "behind longer is no time, as in 10ms, but ''"
wrong 'snapshot running longer 0ns' '' "behind longer is no time, as in 10ms, but '0ns'"
wrong 'snapshot longer 1s running longer 1s' '' "an action has one time, and no second 'longer'"
wrong 'snapshot running longer 1s if ret < 0' '' "a call that has not returned has no result: 'ret < 0'"
wrong 'snapshot running longer 1s' "$(printf '[probe here]\nat = work@libhangs.so')" \
	"a time is a call's, and at a probe none ends: 'longer'" 5
done_testing
