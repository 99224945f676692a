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

# ---- a part ----

# Two threads: of the first one main takes 100 ns; an event is lost where the second one has no open call.
write_trace part <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 main
function 1 0 2 0x200 f
function 1 0 3 0x300 g
function 1 0 4 0x400 leaf
type 16 mark
load 1 1 1000 0x10000 100
load 2 1 1045 0x20000 100
unload 2 1046 100
thread 100 main
entry 1 1001
entry 2 1010
entry 4 1011
custom 16 1012 =inner
exit 4 1013
exit 2 1020
custom 16 1025 =outer
entry 4 1030
exit 4 1039
point 2 1040
entry 3 1041
entry 2 1042
exit 2 1062
exit 3 1070
exit 1 1101
exit 4 1102
thread 101 other
entry 3 1015
exit 3 1016
lost 4
chunk 1050
entry 2 1055
entry 4 1056
exit 4 1095
END
# part OPTION...: the lines that dump has: time and event, function or data.
part() {
	bounded 60 "$XAUDIT" dump "$@" "$tmp/part" 2>&1 | sed 's/^0\.00000//; s/  [0-9x-]* *0x[0-9a-f]*  / /
		s/ *\/usr.*only/ only/; s/ *\/usr.*//; s/  *100  / /; s/  *101  / B /; s/  */ /g' | paste -s -d,
}
is "$(part --from=9ns --to=20ns)" '1010 entry f,1011 entry leaf,1012 custom - mark "inner" 5 bytes,1013 exit leaf,'\
'1015 B entry g,1016 B exit g,1016 B lost - 4 events' \
	'--from and --to: a moment is the first that counts, or the first that does not'
is "$(part --tid=101 --to=50ns)" '1015 B entry g,1016 B exit g,1016 B lost - 4 events' '--tid: of that thread'
is "$(part -F f)" '1010 entry f,1011 entry leaf,1012 custom - mark "inner" 5 bytes,1013 exit leaf,'\
'1016 B lost - 4 events,1020 exit f,1040 entry f only,1042 entry f,1045 load,1046 unload,1055 B entry f,'\
'1056 B entry leaf,1062 exit f,1095 B exit leaf' \
	'-F: calls of that function, what is in them, and where events were lost'
is "$(part -F g@libfoo.so -F leaf)" '1011 entry leaf,1012 custom - mark "inner" 5 bytes,1013 exit leaf,1015 B entry g,'\
'1016 B exit g,1016 B lost - 4 events,1030 entry leaf,1039 exit leaf,1041 entry g,1042 entry f,1045 load,1046 unload,'\
'1056 B entry leaf,1062 exit f,1070 exit g,1095 B exit leaf,1102 exit leaf' \
	'of several, with libraries; an end alone, too'
is "$(part --min=10ns)" '1001 entry main,1010 entry f,1016 B lost - 4 events,1020 exit f,1041 entry g,1042 entry f,'\
'1055 B entry f,1056 B entry leaf,1062 exit f,1070 exit g,1095 B exit leaf,1101 exit main' \
	'--min: both events of calls that took so long, or were open for so long; nothing that has no time'
is "$(part --min=11ns)" '1001 entry main,1016 B lost - 4 events,1041 entry g,1042 entry f,1055 B entry f,'\
'1056 B entry leaf,1062 exit f,1070 exit g,1095 B exit leaf,1101 exit main' 'a nanosecond decides'
is "$(part --min=10ns --to=60ns)" '1001 entry main,1010 entry f,1016 B lost - 4 events,1020 exit f,1041 entry g,'\
'1042 entry f,1055 B entry f,1056 B entry leaf' 'that a call ends behind --to, or when, is seen'
is "$(part --min=10ns --from=12ns)" '1016 B lost - 4 events,1020 exit f,1041 entry g,1042 entry f,1055 B entry f,'\
'1056 B entry leaf,1062 exit f,1070 exit g,1095 B exit leaf,1101 exit main' 'and that one began before --from'
is "$(part --tail=2)" '1056 B entry leaf,1095 B exit leaf,1101 exit main,1102 exit leaf' \
	'--tail: the last two of each thread'
is "$(part --tail=2 --to=50ns)" '1016 B exit g,1016 B lost - 4 events,1045 load,1046 unload' 'of those before --to'
is "$(part --tail=1 -F leaf --min=3ns)" '1039 exit leaf,1095 B exit leaf' 'of those that are shown'
is "$("$XAUDIT" dump --format=json --min=10ns -F f "$tmp/part" |
	sed 's/.*"event":"\([a-z]*\)","function":\([^,]*\),.*/\1 \2/' | paste -s -d,)" \
	'entry "f",lost null,exit "f",entry "f",entry "f",entry "leaf",exit "f",exit "leaf"' 'so it is in JSON'
bounded 60 "$XAUDIT" dump -F leef -F main "$tmp/part" >"$tmp/out" 2>"$tmp/err"
is "$?/$(grep -c main "$tmp/out")/$(cat "$tmp/err")" \
	"1/2/xaudit dump: no call of a function 'leef' is in what was read; did you mean 'leaf'?" \
	'a function that is not there is told'
bounded 60 "$XAUDIT" dump --tid=7 "$tmp/part" >"$tmp/out" 2>"$tmp/err"
is "$?/$(cat "$tmp/out")/$(cat "$tmp/err")" \
	'1//xaudit dump: no thread 7 is in the trace, which has 100 (main), 101 (other)' \
	'and a thread that is not there'
done_testing
