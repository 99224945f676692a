#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A disk that is slower than the program, with record at work all the time: overflow = drop loses events and counts them
# exactly, and no thread of the program waits for the disk; overflow = wait waits, and loses none.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" drain drain.c -fno-builtin -I"$top_srcdir"
program "$CC" slow_disk slow_disk.c
mkdir disk
why=$(bounded 60 ./slow_disk disk 0 true)
case $? in
0) ;;
77) skip_all "no file system of our own here: $why" ;;
*) bail "the slow disk fails: $why" ;;
esac

# slow FOLDER MS OVERFLOW WORD...: 300000 calls, made as the words for `drain` say, which fill 73 chunks; a flight
# recorder has room for four. Sets $pid, and $chunks: how many were on disk at the program's end.
slow() {
	to=$1 each=$2 overflow=$3
	shift 3
	mkdir -p "$to"
	status=0
	bounded 100 ./slow_disk "$to" "$each" "$XAUDIT" record -o "$tmp/$to/trace" -b 64k --ring=256k -k plt -F srand \
		--overflow="$overflow" ./drain "$tmp/$to/trace" begin "$@" written >said 2>"$tmp/.err" || status=$?
	err=$(cat "$tmp/.err")
	pid=$(sed -n 1p said)
	chunks=$(sed -n 2p said)
	diag "overflow = $overflow: $chunks chunks are there at the program's end; $(wc -l <"$to.writers") writes"
}
# Events that the trace has.
kept() {
	bounded 60 "$XAUDIT" dump --format=json "$1" | grep -c '"function":"srand"'
}
# Writes to t<n> by the program's thread; by others.
own() {
	grep -cx "$pid" "$1.writers"
}
others() {
	grep -cvx "$pid" "$1.writers"
}

# All 73 would take more than a minute.
slow a 500 drop 299999
lost=$(info a/trace .lost)
is "$status $err" "0 xaudit record: $lost of 600000 events were lost since the disk was too slow (overflow = drop)" \
	'overflow = drop: what is lost is said'
is "$(info a/trace '[.events + .lost, (.processes[0].lost_by | map(.events) | add) == .lost]')" '[600000,true]' \
	'each event is recorded or counted as lost'
is "$(kept a/trace)" "$((600000 - lost))" 'and so many are there'
ok "most are lost ($lost)" test "$lost" -gt 300000
is "$(own a)" 0 'no call waited for the disk'
ok 'record did' test "$(others a)" -gt 0
ok "the program ended when few chunks were written ($chunks)" test "$chunks" -lt 36

slow b 20 wait 299999
is "$status $err" '0 ' 'overflow = wait: nothing is to be said'
is "$(info b/trace '[.events, .lost]')" '[600000,0]' 'nothing is lost'
is "$(kept b/trace)" 600000 'and all is there'
ok "the program waited for the disk ($(own b) writes)" test "$(own b)" -gt 0
ok 'and so did record' test "$(others b)" -gt 0
ok "the program ended when all but the three chunks that it has room for were written ($chunks)" test "$chunks" -ge 70
done_testing
