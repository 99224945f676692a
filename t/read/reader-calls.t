#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The calls that libxaudit-read gives: calls, total and self of each function add up to what xaudit report says, and to
# numbers that were computed by hand.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/lib/same_calls.sh"

# head: the start of traces here; one tick is 1 ns.
functions='pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
object 2 /opt/bar/libbar.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
function 2 2 4 0x400 bar'
head="process p100 flags=1
$functions"
second="process p100 chunk=65536 ring_size=131072 flags=1
$functions"

# same NAME ROWS SUMS: the calls of the trace that the script on stdin makes are ROWS, each "function calls total self",
# sorted; SUMS are the numbers of the last line. Report says so, too.
same() {
	write_trace "$1"
	is "$("$read_calls" "$tmp/$1" | sed -n 's/{"function":"\(.*\)","library.*,"calls":/\1 /
		t row
		b
		:row
		s/,"[a-z]*_ns":/ /gp' | sort | paste -s -d,)" "$2" "$1: calls, total and self"
	is "$("$read_calls" "$tmp/$1" | sed -n '$s/[^0-9]\{1,\}/ /gp')" " $3 " "$1: what is left out"
	is "$(same_calls "$tmp/$1")" '' "$1: report says so too"
}

# lost unfinished counted no_end orphans inherited overwritten signal
same nested 'inner 2 70 70,outer 1 300 230' '0 0 0 0 0 0 0 0' <<END
$head
$nested_calls
END
same recursion 'inner 1 40 30,outer 4 105 75' '0 0 0 0 0 0 0 0' <<END
$head
$recursive_calls
END
same tail 'bar 1 29 29,inner 1 10 10,outer 1 100 61' '0 0 0 0 0 0 0 0' <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
tail 2 1020
entry 4 1021
exit 4 1050
exit 1 1100
END
same unwound 'bar 2 100 100,inner 2 121 21,outer 1 200 79' '0 0 0 0 1 0 0 0' <<END
$head
thread 100 main
exit 4 990
entry 1 1000
entry 2 1010
entry 4 1020
unwind 4 1040
unwind 2 1041
unwind 4 1042
entry 2 1110
entry 4 1120
exit 1 1200
END
# The calls that had not ended, and what of their function ended in them: outer 1030 to 1040 and 1050 to 1060.
same unfinished 'bar 1 0 0,inner 2 10 10,outer 4 20 10' '5 4 0 0 0 0 0 0' <<END
$head
head lost=2
thread 100 main
entry 1 1000
entry 2 1010
entry 1 1030
exit 1 1040
lost 3
chunk 1045
entry 1 1050
entry 2 1050
exit 2 1060
exit 1 1060
entry 4 1070
entry 1 1080
END
# Calls that may have ended when recording stopped have no time; the one in them has, and it is outer's total.
same switched 'inner 1 20 20,outer 3 10 10' '0 0 0 2 0 0 0 11' <<END
$head
change stopped 1015 100 0
thread 100 main
entry 1 1000
entry 1 1010
entry 2 1020
exit 2 1040
entry 1 1045
exit 1 1055
unwind 1 1060
unwind 1 1065
crash 11
END
# The first thread's record goes over to another one while a call is open.
same threads 'inner 3 60 60,outer 3 100 80' '0 1 0 0 0 0 0 0' <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
exit 2 1030
switch 102
entry 2 1040
exit 2 1060
switch 100
thread 101 second
entry 1 1000
entry 1 1000
exit 1 1050
entry 2 1060
exit 2 1080
exit 1 1100
END
# One coroutine (stack 7) is begun by one thread and goes on in another; its caller's time goes on meanwhile.
same moved 'bar 1 50 50,inner 1 90 40,outer 2 100 100' '0 0 0 0 0 0 0 0' <<END
$second
$moved_calls
entry 4 1050
exit 4 1100
exit 2 1100
stack 0 1100
exit 1 1110
END
# Each call has the name of the thread that began it, whoever ends it, and if the record has gone on with another one.
threads() {
	"$read_calls" "$tmp/$1" threads | sed '/^{/d' | paste -s -d,
}
is "$(threads moved)" 'outer 100 main,bar 101 second,inner 100 main,outer 101 second' \
	'a call that another thread ends has the name of its own'
write_trace given_up <<END
$second
thread 100 main
entry 1 1000
thread 101 second
entry 2 1000
END
is "$(threads given_up)" 'outer 100 main,inner 101 second' 'and one that nothing ends, too'
# What seemed to be one stack was two: outer is on stack 9, inner stays on 8, where nothing ends it.
same parted 'inner 1 0 0,outer 1 60 60' '0 1 0 0 0 0 0 0' <<END
$second
thread 100 main
ring
stack 8 1000
entry 1 1000
entry 2 1010
part 9 1
exit 1 1060
END
same forked 'bar 1 10 10,inner 9 40 40,outer 7 110 70' '0 2 12 0 1 1 0 0' <<END
$second
type 16 request
fork 101
thread 100 main
ring
entry 1 1000
entry 2 1010
exit 2 1050
exit 1 1110
counts 0 100 main 1:5 2:6
counts 0 100 main 2:1
child 101
thread 101 main
ring
exit 1 1060
entry 2 1070
exit 1 1080
entry 4 1080
exit 4 1090
thread 102
ring
entry 1 1070
END
same unnamed '[unknown] 1 5 5,libbar.so+0x40 1 3 3' '0 0 0 0 0 0 0 0' <<END
$head
head meta_lost=1
function 2 0 9 0x40
thread 100 main
entry 8 1000
exit 8 1005
entry 9 1010
exit 9 1013
END
# 500 calls of 1/3 of a microsecond, by a clock whose tick is 1/3 ns: each alone is no whole number of ns.
same rounded 'inner 500 166667 166667' '0 0 0 0 0 0 0 0' <<END
process p100 clock=tsc
pair first 3000000 1000000 5
pair last 33000000 11000000 5
object 1 /usr/lib/libfoo.so
function 1 0 2 0x200 inner
thread 100
loop 500 2000
entry 2 3000001
exit 2 3001001
end
END
# Many calls of many functions, deep, in two threads.
{
	many_functions 300 4194304
	printf 'thread 100\nrandom 1 300000 300 200\nthread 101\nrandom 2 300000 300 3\n'
} | write_trace random
is "$(same_calls "$tmp/random" | head)" '' 'random: report says so too'
is "$("$read_calls" "$tmp/random" | sed 's/.*"calls":\([0-9]*\).*/\1/' | awk '/^[0-9]/ { n += $1 } END { print n }')" \
	300000 'random: all calls are there'
done_testing
