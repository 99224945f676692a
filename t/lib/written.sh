# SPDX-License-Identifier: MIT
#
# For tests of traces that make_trace writes; sourced after t/lib/tap.sh.
built make_trace

# Two libraries and their functions, for the start of a trace.
libraries='object 1 /usr/lib/libfoo.so
object 2 /opt/bar/libbar.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
function 1 0 3 0x300
function 2 2 4 0x400 bar'

# nested_calls: events of calls: outer is 300, of which inner 30 and 40.
nested_calls='thread 100 main
entry 1 1000
entry 2 1100
exit 2 1130
entry 2 1200
exit 2 1240
exit 1 1300'

# recursive_calls: outer calls itself, by way of inner, too: its total is 105, as the manual of report has it.
recursive_calls='thread 100 main
entry 1 1000
entry 1 1010
entry 2 1020
entry 1 1030
exit 1 1040
exit 2 1060
exit 1 1070
exit 1 1100
entry 1 1200
exit 1 1205'

# moved_calls: the start of events, with two threads: inner begins in the first one on stack 7, a coroutine's, which the
# second one is on from 1050, in outer, which began at 1040.
moved_calls='head moved=1
thread 100 main
ring
entry 1 1000
stack 7 1010
entry 2 1010
stack 0 1020
exit 1 1030
thread 101 second
ring
entry 1 1040
stack 7 1050'

# Functions, and probes, for the start of a trace of these: two of one name in f, and one where no function is known.
probed_functions='object 1 /usr/lib/libfoo.so soname=libfoo.so.1
function 1 0 1 0x100 main 0x80
function 1 0 2 0x200 f 0x40
function 1 32 3 0x212 order
function 1 32 4 0x218 order
function 1 32 5 0x300 item
layout 1 probe 3 x8:-:rax text:-:name i4:arg0:'

# probed_calls: main is 39, of which f 10 and 5; there are two probes in the first call of f, one of them with values,
# and one in main.
probed_calls='entry 1 1001
probe 5 1002
entry 2 1010
values 1 1012 0x7f01 =two_words -3
probe 4 1014
exit 2 1020
entry 2 1030
exit 2 1035
exit 1 1040'

# many_functions N CHUNK: the start of a trace in chunks of so many bytes: a library with functions foo_1 to foo_N.
many_functions() {
	echo "process p100 chunk=$2"
	printf 'pair first 1000 1000 5\npair last 90000000 90000000 5\nobject 1 /usr/lib/libfoo.so\n'
	i=0
	while [ $((i += 1)) -le "$1" ]; do echo "function 1 0 $i $((i * 16)) foo_$i"; done
}

# write_trace NAME: the trace of the script on stdin.
write_trace() {
	"$make_trace" "$tmp/$1" || bail "make_trace failed for $1"
}
