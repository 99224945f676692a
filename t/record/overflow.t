#!/bin/sh
# SPDX-License-Identifier: MIT
#
# overflow = drop: a thread that finds none of its chunks written goes on, and lost events are counted exactly.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"

program "$CC" drain drain.c -fno-builtin -I"$top_srcdir"
# of FOLDER FILTER: jq's output about what info says, as text.
of() {
	info "$1" "$2" | tr -d '"'
}
# The flight recorder has four chunks. events FOLDER: number of recorded and lost events; do the causes' numbers add up
# to the lost ones?
overflow() {
	dir=$1
	shift
	record "$dir" -b 64k --ring=256k -k plt -F srand "$@"
}
events() {
	of "$1" '[.events + .lost, (.processes[0].lost_by | map(.events) | add // 0) == .lost]'
}

overflow a --overflow=drop ./drain "$tmp/a" begin slow:30000 stop 299999 cont
is "$status" 0 'record stands still: the program goes on'
is "$(events a)" '[660000,true]' 'each event is recorded or counted as lost'
lost=$(of a .lost)
is "$(of a '.processes[0].overflow') $("$XAUDIT" info a | grep -c '; events are dropped where the disk is too slow$')" \
	'drop 1' \
	'that they may be dropped is told'
ok "some are lost ($lost)" test "$lost" -gt 1000
is "$(of a '[.processes[0].lost_by[].cause] | join(",")')" 'since the disk was too slow (overflow = drop)' \
	'for this cause alone'
is "$err" "xaudit record: $lost of 660000 events were lost since the disk was too slow (overflow = drop)" \
	'which is said at the end'
report a
like "$(sums)" "^$lost lost " 'a report has the same number'

overflow b --overflow=drop ./drain "$tmp/b" begin slow:99000 999
is "$status $err" '0 ' 'where record comes after it, nothing is lost'
is "$(events b) $(of b .lost)" '[200000,true] 0' 'and all is there'

overflow c --overflow=wait ./drain "$tmp/c" slow:30000 stop 300000 cont
is "$(events c) $(of c .lost)" '[660000,true] 0' 'overflow = wait: nothing is lost when record stands still'

# Without record only the threads themselves write.
printf '[trace]\noutput = %s/d\nbuffer = 64k\nring = 256k\noverflow = drop\n[library *]\nkinds = plt\n'\
'functions = srand\n' "$tmp" >conf
bounded 60 env XAUDIT_CONFIG="$tmp/conf" LD_AUDIT="$MODULE" ./drain "$tmp/d" 300000 >said
is "$? $(events d) $(of d .lost)" '0 [600000,true] 0' 'without record a thread waits for the disk'
done_testing
