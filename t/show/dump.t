#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit dump: every event in time order, from traces that make_trace wrote.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"

# The library is loaded, unloaded and loaded elsewhere; another one is loaded at its first address.
write_trace reload <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
object 2 /usr/lib/libbar.so
function 1 0 1 0x100 foo
function 2 0 2 0x100 bar
load 1 1 1000 0x7f0000000000 100
unload 1 2000 100
load 2 2 2100 0x7f0000000000 101
load 3 1 2200 0x7f1111110000 100
unload 2 3000 100
thread 100 main
entry 1 1000
exit 1 2000
entry 1 2200
tail 1 2250
entry 2 2260
unwind 2 2270
point 1 2280
lost 6
chunk 2900
entry 2 3000
exit 2 3001
END
is "$("$XAUDIT" dump --format=json "$tmp/reload")" "$(cat <<END
{"time_ns":1000,"tid":100,"event":"load","function":null,"library":"/usr/lib/libfoo.so","address":"0x7f0000000000"}
{"time_ns":1000,"tid":100,"event":"entry","function":"foo","library":"/usr/lib/libfoo.so","address":"0x7f0000000100"}
{"time_ns":2000,"tid":100,"event":"exit","function":"foo","library":"/usr/lib/libfoo.so","address":"0x7f0000000100"}
{"time_ns":2000,"tid":100,"event":"unload","function":null,"library":"/usr/lib/libfoo.so","address":"0x7f0000000000"}
{"time_ns":2100,"tid":101,"event":"load","function":null,"library":"/usr/lib/libbar.so","address":"0x7f0000000000"}
{"time_ns":2200,"tid":100,"event":"load","function":null,"library":"/usr/lib/libfoo.so","address":"0x7f1111110000"}
{"time_ns":2200,"tid":100,"event":"entry","function":"foo","library":"/usr/lib/libfoo.so","address":"0x7f1111110100"}
{"time_ns":2250,"tid":100,"event":"tail","function":"foo","library":"/usr/lib/libfoo.so","address":"0x7f1111110100"}
{"time_ns":2260,"tid":100,"event":"entry","function":"bar","library":"/usr/lib/libbar.so","address":"0x7f0000000100"}
{"time_ns":2270,"tid":100,"event":"unwind","function":"bar","library":"/usr/lib/libbar.so","address":"0x7f0000000100"}
{"time_ns":2280,"tid":100,"event":"entry","function":"foo","library":"/usr/lib/libfoo.so","address":"0x7f1111110100",\
"return":false}
{"time_ns":2280,"tid":100,"event":"lost","function":null,"library":null,"address":null,"count":6}
{"time_ns":3000,"tid":100,"event":"entry","function":"bar","library":"/usr/lib/libbar.so","address":"0x7f0000000100"}
{"time_ns":3000,"tid":100,"event":"unload","function":null,"library":"/usr/lib/libbar.so","address":"0x7f0000000000"}
{"time_ns":3001,"tid":100,"event":"exit","function":"bar","library":"/usr/lib/libbar.so","address":null}
END
)" 'each kind of event has its line; addresses are those of the load in force; loads come first and unloads last at a '\
'time'
is "$("$XAUDIT" dump "$tmp/reload" | sed -n '1p;2p;11p;12p')" "$(cat <<'END'
0.000001000      100  load    0x7f0000000000  /usr/lib/libfoo.so
0.000001000      100  entry   0x7f0000000100  foo  /usr/lib/libfoo.so
0.000002280      100  entry   0x7f1111110100  foo  /usr/lib/libfoo.so  entry only
0.000002280      100  lost                 -  6 events
END
)" 'the text format shows the same'

# 40 threads in two processes with two clocks: 16 events each, whose times interleave.
{
	for p in 1 2; do
		echo "process p${p}00 flags=1 clock=$([ $p = 1 ] && echo mono || echo tsc) lost=$p"
		[ $p = 2 ] && printf 'pair first 1000000 1000000 5\npair last 4000000001000000 2000000001000000 5\n'
		[ $p = 1 ] && printf 'pair first 1 1 1\npair last 2000 2000 2\n'
		echo 'object 1 /usr/lib/libfoo.so'
		echo 'function 1 0 1 0x100 foo'
		for t in $(seq 20); do
			echo "thread $((p * 100 + t))"
			for i in $(seq 8); do
				time=$((1000000 + p * ((i * 37 + t * 11) % 60 * 10 + i * 1000)))
				[ $p = 2 ] && time=$((1000000 + p * (i * 1000 + t)))
				echo "entry 1 $time"
				echo "exit 1 $((time + 500))"
			done
		done
	done
} | write_trace many
"$XAUDIT" dump --format=json "$tmp/many" |
	sed 's/.*"time_ns":\([0-9]*\),"tid":\([0-9]*\),"event":"\([a-z]*\)".*/\1 \2 \3/' >"$tmp/events"
is "$(grep -c -e entry -e exit "$tmp/events")" 640 'no event of 40 threads is missing'
is "$(grep -v lost "$tmp/events" | cut -d' ' -f1)" "$(grep -v lost "$tmp/events" | cut -d' ' -f1 | sort -n)" \
	'times rise over all threads and clocks'
is "$(awk '$2 == 203' "$tmp/events" | head -n 2 | tr '\n' ' ')" '1001003 203 entry 1001253 203 exit ' \
	'ticks of 2 GHz became ns'
is "$("$XAUDIT" dump --format=json "$tmp/many" | sed -n 's/.*"count":\([0-9]*\).*/\1/p' |
	awk '{ n += $1 } END { print n }')" 3 \
	'the lost events sum up to those of the report'
is "$("$XAUDIT" dump --pid 200 "$tmp/many" | grep -c foo)" 320 '--pid takes one process'

# A library that is loaded in two namespaces, and 3000 loads of which 2 are in force at a time.
{
	echo 'process p100 flags=1'
	printf 'pair first 1 1 1\npair last 2000 2000 2\n'
	echo 'object 1 /usr/lib/libfoo.so'
	echo 'function 1 0 1 0x10 foo'
	echo 'load 1 1 1000 0x10000 100'
	for i in $(seq 2 3000); do
		echo "load $i 1 $((1000 + 10 * i)) 0x${i}0000 100"
		echo "unload $((i - 1)) $((1005 + 10 * i)) 100"
	done
	echo 'thread 100'
	for i in 2 70 2999; do
		echo "entry 1 $((1002 + 10 * i))"
		echo "exit 1 $((1007 + 10 * i))"
	done
} | write_trace loads
is "$("$XAUDIT" dump "$tmp/loads" | awk '/foo / { print $4 }' | tr '\n' ' ')" \
	'0x000000020010 0x000000020010 0x000000700010 0x000000700010 0x000029990010 0x000029990010 ' \
	'of two loads in force the newer one gives the address, and thousands of loads are followed'
is "$("$XAUDIT" dump "$tmp/loads" | grep -c unload)" 2999 'each unload is shown'
done_testing
