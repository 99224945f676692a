#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The events that libxaudit-read gives in the order of time, and the calls that it makes of them.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
built read_events

functions='pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
type 16 request'
first="process p100 flags=1
$functions"
second="process p100 chunk=65536 ring_size=131072 flags=1
$functions"

# same_dump NAME: the events are those that xaudit dump shows.
same_dump() {
	"$XAUDIT" dump --format=json "$tmp/$1" | grep -v '"event":"stack"' |
		sed 's/\("address":\("[^"]*"\|null\)\).*/\1/' >"$tmp/dump"
	"$read_events" --dump "$tmp/$1" >"$tmp/events"
	[ -s "$tmp/events" ] && cmp "$tmp/dump" "$tmp/events"
}

# events NAME EXPECTED [OPTION]...: of the trace that the script on stdin makes.
events() {
	name=$1 expected=$2
	shift 2
	write_trace "$name"
	is "$("$read_events" "$@" "$tmp/$name" 2>&1)" "$expected" "$name: events, and their calls"
	ok "$name: dump shows the same events" same_dump "$name"
}

events calls "1000 100 load /usr/lib/libfoo.so depth 0 load 1
1000 100 thread depth 0
1000 100 entry outer depth 0 [outer open]
1010 100 entry inner depth 1 [inner open]
1020 100 exit inner depth 2 [inner returned 10 10 0]
1030 100 entry inner depth 1 [inner open]
1031 100 entry inner depth 2 [inner open]
1035 100 tail inner depth 3 [inner jumped 4 4 0]
1040 100 custom request hello depth 2
1041 100 point inner depth 2 [inner point]
1050 100 exit outer depth 2 [inner cut 20 16 4] [outer returned 50 20 30]
1060 100 exit inner depth 0
1070 100 entry outer depth 0 [outer open]
1080 100 unwind outer depth 1 [outer unwound 10 10 0]
1080 100 crash depth 0 signal 11
1090 100 unload /usr/lib/libfoo.so depth 0 load 1" <<END
$first
load 1 1 1000 0x7f0000000000 100
unload 1 1090 100
thread 100 main
entry 1 1000
entry 2 1010
exit 2 1020
entry 2 1030
entry 2 1031
tail 2 1035
custom 16 1040 =hello
point 2 1041
exit 1 1050
exit 2 1060
entry 1 1070
unwind 1 1080
crash 11
END

# Calls whose end comes next in their record: with an event of another thread in between, too.
events leaves "1000 100 thread depth 0
1000 100 entry outer depth 0 [outer open]
1005 101 thread depth 0
1005 101 entry inner depth 0 [inner returned 20 20 0]
1010 100 entry inner depth 1 [inner returned 10 10 0]
1026 101 entry outer depth 0 [outer open]
1030 100 entry inner depth 1 [inner unwound 4 4 0]
1050 100 exit outer depth 1 [outer returned 50 36 14]
1050 101 unfinished depth 1 count 1 [outer no end]" --leaves <<END
$first
thread 100 main
entry 1 1000
entry 2 1010
exit 2 1020
entry 2 1030
unwind 2 1034
exit 1 1050
thread 101
entry 2 1005
exit 2 1025
entry 1 1026
END

# A coroutine on stack 7 that goes on in another thread; what was one stack proves to be two.
events stacks "1000 100 thread depth 0
1000 100 entry outer depth 0 [outer open]
1010 100 stack depth 0 stack 7
1010 100 entry inner depth 0 stack 7 [inner open]
1020 100 stack depth 1
1030 100 exit outer depth 1 [outer returned 30 30 0]
1040 101 thread depth 0
1040 101 entry outer depth 0 [outer open]
1050 101 stack depth 1 stack 7
1060 101 entry outer depth 1 stack 7 [outer open]
1060 101 part depth 1 stack 9 count 1
1070 101 exit inner depth 1 stack 9 [inner returned 60 60 0]
1070 101 unfinished depth 1 count 1 [outer no end]
1070 101 unfinished depth 1 stack 7 count 1 [outer no end]" <<END
$second
$moved_calls
entry 1 1060
part 9 1
exit 2 1070
END

# A thread that takes a record over; losses; and what was changed.
events losses "1000 100 thread depth 0
1000 100 entry outer depth 0 [outer open]
1005 100 entry inner depth 1 [inner open]
1005 100 unfinished depth 2 count 2 [inner no end] [outer no end]
1005 100 lost depth 0 count 3
1007 100 entry outer depth 0 [outer open]
1007 100 unfinished depth 1 count 1 [outer no end]
1007 101 thread depth 0
1008 101 change throttled depth 0
1009 101 entry inner depth 0 [inner open]
1011 101 exit inner depth 1 [inner returned 2 2 0]
9000 0 lost depth 0 count 2" <<END
$second
change throttled 1008 101 2
thread 100 main
both
entry 1 1000
entry 2 1005
lost 3
chunk 1006
entry 1 1007
chunk 1008 101
entry 2 1009
exit 2 1011
head lost=2
END

# Many calls of two threads, and of processes that forked.
{
	echo "$second"
	printf 'fork 101\nthread 100\nboth\nrandom 1 20000 2 40\nthread 102\nboth\nrandom 2 20000 2 4\n'
	printf 'child 101\nthread 101\nboth\nrandom 3 20000 2 40\n'
} | write_trace random
ok 'random: dump shows the same events' same_dump random
is "$("$read_events" "$tmp/random" | grep -c -e ' entry .* open]$' -e ' exit .* returned .*]$')" 60000 \
	'random: each event begins a call, or ends one'
done_testing
