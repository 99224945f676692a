#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The questions of xaudit report (callers, callees, histogram, values of events, columns, several folders, times) of
# traces that make_trace wrote: numbers that were computed by hand.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
need jq

# The start of traces; one tick is 1 ns.
head="process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
$libraries
function 1 0 6 0x600 _ZN3net4sendEi
type 16 request
type 17 idle
type 18 net:peer"

# ask NAME [OPTION]...: the answer in JSON about $tmp/NAME.
ask() {
	name=$1
	shift
	bounded 60 "$XAUDIT" report --format=json "$@" "$tmp/$name"
}
# table NAME [OPTION]...: as people see it.
table() {
	name=$1
	shift
	bounded 60 "$XAUDIT" report "$@" "$tmp/$name"
}
# said [ARG]...: the message, and the status
said() {
	bounded 60 "$XAUDIT" report "$@" 2>&1 >/dev/null
	echo "status $?"
}

# ---- callers and callees ----

# outer calls itself through inner; bar calls inner; inner is called by nobody twice. The last call of bar never ends,
# and two calls of inner in it do.
write_trace calls <<END
$head
thread 100 main
entry 1 1000
entry 1 1010
entry 2 1020
entry 1 1030
exit 1 1040
exit 2 1060
exit 1 1070
exit 1 1100
entry 2 1200
exit 2 1201
entry 4 1210
entry 2 1213
exit 2 1223
exit 4 1240
entry 2 1300
exit 2 1310
entry 4 1400
entry 2 1410
exit 2 1413
entry 4 1420
entry 2 1430
exit 2 1437
exit 4 1440
custom 16 1500 =late
END
numbers='"\(.function) \(.calls) \(.total_ns) \(.self_ns)"'
is "$(ask calls --callers=inner | jq -r ".functions[] | $numbers, (.callers[] | $numbers)")" 'inner 6 71 61
outer 1 40 30
bar 3 20 20
null 2 11 11' 'callers of a function have its calls, and their totals and self times add up to its own'
is "$(ask calls --callers='out*@libfoo.so' | jq -r ".functions[] | $numbers, (.callers[] | $numbers)")" \
	'outer 3 100 70
null 1 100 40
inner 1 0 10
outer 1 0 20' 'a recursive call adds nothing to the total, wherever it was made'
is "$(ask calls --callees=outer | jq -r ".functions[] | $numbers, (.callees[] | $numbers)")" 'outer 3 100 70
inner 1 40 30
outer 1 0 20' 'callees of a function have the calls that it made itself'
is "$(ask calls --callees=bar | jq -r ".functions[] | $numbers, (.callees[] | $numbers)")" 'bar 3 50 33
inner 3 20 20
bar 1 0 13' 'a call that never ends has in its total what is known of the calls of its function in it'
is "$(ask calls --callers=bar | jq -r ".functions[] | $numbers, (.callers[] | $numbers)")" 'bar 3 50 33
null 2 50 20
bar 1 0 13' 'which is what its caller sees'
is "$(ask calls | jq -r ".functions[] | $numbers" | sort)" 'bar 3 50 33
inner 6 71 61
outer 3 100 70' 'all of them are the totals of the report without a question'
is "$(ask calls --callers='*' --sort=calls | jq -r '.functions[].function' | tr '\n' ' ')" 'inner bar outer ' \
	'a pattern that names several functions has a table for each, sorted'
is "$(ask calls --callers='*@/opt/*' | jq -r '.functions[].function')" 'bar' 'patterns of libraries may be paths'
write_trace mangled <<END
$head
thread 100 main
entry 6 1000
exit 6 1100
END
is "$(for f in _ZN3net4sendEi 'net::send(int)' 'net::send' '*::send@libfoo*'; do
	ask mangled --hist="$f" | jq -c '.functions[] | [.function, .demangled]'
done | uniq -c | sed 's/^ *//')" '4 ["_ZN3net4sendEi","net::send(int)"]' 'functions have their names of the source, too'
like "$(table calls --callers=inner)" '^inner \[libfoo.so\]: 6 calls, total 0.071 us, self 0.061 us$' \
	'the table says what it is of'
like "$(table calls --callers=inner)" '^ +2 +0.011 us .*  \(none\)$' 'who has no caller is called by none'
is "$(said --callers=nobody "$tmp/calls")" "xaudit report: no call of a function 'nobody' is in the trace
status 1" 'a function that is not there is an error'

# ---- histogram ----

# 1000 calls of 100 us, 500 of 1000 us, 10 of 5 ms, and one that never ends.
write_trace hist <<END
$head
thread 100 main
loop 1000 200000
entry 1 1000000
exit 1 1100000
end
loop 500 2000000
entry 1 300000000
exit 1 301000000
end
loop 10 10000000
entry 1 2000000000
exit 1 2005000000
end
entry 1 3000000000
END
is "$(ask hist --hist=outer | jq -c '.functions[] | [.calls, .p50_ns, .max_ns]')" '[1511,100000,5000000]' \
	'a histogram comes with the numbers of the function'
# The ranges that have calls, as "FROM TO CALLS".
ranges='.functions[].histogram[] | select(.calls > 0) | "\(.from_ns) \(.to_ns) \(.calls)"'
is "$(ask hist --hist=outer | jq -r "$ranges")" '100000 120000 1000
1000000 1200000 500
5000000 6000000 10' 'and has all calls that ended, in ranges with round bounds'
is "$(ask hist --hist=outer | jq '[.functions[].histogram[] | .calls] | [length, add]' -c)" '[18,1510]' \
	'with empty ranges in between'
is "$(table hist --hist=outer | sed -n 1,5p)" "$(cat <<END
outer [libfoo.so]: 1511 calls, median 100.000 us, p99 1.003 ms, max 5.000 ms
       From           To       Calls  Percent
===========  ===========  ==========  =======
 100.000 us   120.000 us        1000   66.2 %  $(printf '%040d' 0 | tr 0 '#')
 120.000 us   150.000 us           0    0.0 %
END
)" 'people see bars'
like "$(table hist --hist=outer)" '^   1.000 ms     1.200 ms         500   33.1 %  #{20}$' \
	'whose length is that of their calls'

# ---- values of events ----

# Thread 100: outer begins before any event. In request get: bar, in which the request becomes put: inner. Then idle:
# inner. Then a request whose data is too short, another get, and a call that never ends. Thread 101 has its own: put
# from the beginning, and a recursive outer. A request of type 18 has another meaning.
write_trace events <<END
$head
thread 100 main
entry 1 1000
entry 2 1010
exit 2 1020
custom 16 1100 07000000 =get
entry 4 1200
custom 16 1210 08000000 =put
entry 2 1220
exit 2 1230
exit 4 1240
custom 18 1245 =get
entry 2 1250
exit 2 1255
custom 17 1260
entry 2 1270
exit 2 1271
custom 16 1300 0901
entry 2 1310
exit 2 1330
custom 16 1400 0a000000 =get
entry 2 1410
exit 2 1411
exit 1 1500
entry 4 1510
entry 2 1520
exit 2 1540
entry 4 1600
entry 2 1610
exit 2 1612
exit 4 1650
thread 101 worker
custom 16 1105 01000000 =put
entry 1 1110
entry 1 1115
exit 1 1120
exit 1 1130
END
format="--event-format=request=u32 id, string name"
value='"\(.value // .special) \(.calls) \(.total_ns) \(.self_ns)"'
is "$(ask events --by-event=request:name --event-end=idle "$format" | jq -r ".rows[] | $value")" 'none 3 500 434
get 6 111 101
put 4 35 35
too short 1 20 20' 'a call belongs to the value that was in force when it began, with all of its time'
is "$(ask events --by-event=request:name --event-end=idle "$format" | jq -r '.values[] |
	"\(.value // .special) \(.events) \(.in_force_ns) \(.in_force_max_ns)"')" 'get 2 360 250
too short 1 100 100
put 2 75 50' 'values are in force until the next one, their end, or the end of the thread'
is "$(ask events --by-event=request:name "$format" | jq -r ".rows[] | select(.value == \"put\") | $value")" \
	'put 5 36 36' 'without an end, until the next one'
# asked_events OPTION...: the lines below the tables.
asked_events() {
	bounded 60 "$XAUDIT" report --by-event=request:name "$format" "$@" "$tmp/events" | grep '^no '
}
is "$(asked_events --event-end=idle)" '' 'nothing is missing'
is "$(asked_events --event-end=idel)" "no event of type 'idel' is in the trace: nothing was ended by --event-end" \
	'a type that ends nothing is told'
ends=--event-end=idle
is "$(ask events --by-event=request:name $ends "$format" --by=function |
	jq -r ".rows[] | .function + \" \" + $value")" \
	'outer none 1 500 423
bar get 3 90 78
inner get 3 23 23
outer put 2 20 20
inner too short 1 20 20
inner put 2 15 15
inner none 2 11 11' 'a line per value and function'
is "$(ask events --by-event=request:name $ends "$format" --by=library |
	jq -r ".rows[] | select(.value == \"get\") | .library + \" \" + $value")" \
	'/opt/bar/libbar.so get 3 90 78
/usr/lib/libfoo.so get 3 23 23' 'or library'
is "$(ask events --by-event=request:id $ends "$format" | jq -r ".rows[] | select(.value) | $value")" '10 5 71 71
7 1 40 30
1 2 20 20
8 2 15 15' 'fields may be numbers'
is "$(ask events --by-event=net:peer | jq -r ".rows[] | $value")" 'none 6 520 493
get 8 97 97' 'the name of a type may have a colon'
is "$(ask events --by-event=18)" "$(ask events --by-event=net:peer)" \
	'a type may be its number'
is "$(ask events --by-event=request | jq -r '.values[] | .value' | sort)" '01 00 00 00 70 75 74
07 00 00 00 67 65 74
08 00 00 00 70 75 74
09 01
0a 00 00 00 67 65 74' 'without a field a value is all of the data, in hex if it is no text'
like "$(table events --by-event=net:peer)" '^ +8 .*  get$' 'people see values as text'
is "$(said --by-event=nothing "$tmp/events")" \
	"xaudit report: no event of type 'nothing', and no probe of that name, is in the trace
status 1" 'and are told if there are none'
for by in --by=library --by=thread --by=process --by-event=request; do
	is "$(said --srcline "$by" "$tmp/events")" "xaudit report: --srcline goes with functions: lines here are of \
something else; \`xaudit report --help\` lists what there is
status 2" "--srcline $by is refused"
done
is "$(said --by-event=request:size "$format" "$tmp/events")" "xaudit report: the format of request has no field 'size'
status 2" 'a field that the format does not have is an error'
is "$(ask events --by-event=request:name $ends "$format" --tid=101 | jq -r ".rows[] | $value")" 'put 2 20 20' \
	'--tid has values of one thread'
is "$(ask events --by-event=request:name $ends "$format" --from=250ns --to=500ns | jq -r ".rows[] | $value")" \
	'too short 1 20 20
put 1 5 5
none 1 1 1
get 1 1 1' 'with --from and --to, values are as they are, and calls those that began then'
write_trace values <<END
$head
type 20 color
thread 100 main
custom 20 1000 =red
entry 1 1100
exit 1 1105
custom 20 1110 =two_words 0a
entry 1 1120
exit 1 1127
custom 20 1130
entry 1 1140
exit 1 1141
custom 20 1150 =dark 1b5b33316d
entry 1 1160
exit 1 1162
custom 20 1170 =red
entry 1 1180
exit 1 1190
END
is "$(table values --by-event=color --columns=calls | sed -n '3,/^$/p')" '         2  red
         1  two words\n
         1  64 61 72 6b 1b 5b 33 31 6d
         1  (empty)' 'control bytes of an event do not reach a terminal'
is "$(ask values --by-event=color --apart --columns=calls,total | jq -c '.rows[0]')" \
	'{"value":"red","pid":100,"calls":2,"total_ns":15}' 'processes may be apart'

awk -v head="$head" 'BEGIN {
	print head "\nthread 100 main"
	for (i = 0; i < 100020; i++)
		print "custom 16 " 2000 + 3 * i " =v" i "\nentry 2 " 2001 + 3 * i "\nexit 2 " 2002 + 3 * i
}' | write_trace many
is "$(ask many --by-event=request |
	jq -c '[.rows, .values | length], (.rows[] | select(.special) | [.special, .calls])')" \
	'[100001,100001]
["others",20]' 'a hundred thousand values have rows, and what comes behind has one'

# ---- columns, order, several folders, threads and times ----

is "$(ask calls --columns=calls,total,self-avg,share,deviation,p999 --sort=self-avg |
	jq -c '.functions[] | del(.library)')" \
	"$(cat <<'END'
{"function":"outer","calls":3,"total_ns":100,"self_avg_ns":23,"share":0.426829,"deviation_ns":37,"p999_ns":100}
{"function":"bar","calls":3,"total_ns":50,"self_avg_ns":16,"share":0.201219,"deviation_ns":5,"p999_ns":30}
{"function":"inner","calls":6,"total_ns":71,"self_avg_ns":10,"share":0.371951,"deviation_ns":13,"p999_ns":40}
END
)" \
	'columns may be chosen, and lines sorted by any'
is "$(table calls --columns=max,calls | sed -n 1,3p)" '        Max       Calls  Function
===========  ==========  ====================
   0.100 us           3  outer [libfoo.so]' 'the table has the columns in this order'
like "$(table calls --sort=p90)" '^ +Calls +Total +Self +Min +Median +P90 +P99 +Max  Function$' \
	'the column that lines are sorted by is shown where it belongs'
like "$(said --columns=calls,calls "$tmp/calls")" "^xaudit report: --columns has 'calls' twice" \
	'a column comes once'
for wrong in '--sort=self-p50|self-p50 goes with --diff' '--columns=calls,self-p50|self-p50 goes with --diff' \
	'--hist=outer --sort=calls|--sort does not go with --hist' \
	'--hist=outer --columns=calls|--columns goes with --hist only in JSON'; do
	is "$(said ${wrong%%|*} "$tmp/calls")" "xaudit report: ${wrong#*|}; \`xaudit report --help\` lists what there is
status 2" "${wrong%%|*}: refused"
done
write_trace other <<END
$head
text exe /opt/app
thread 100 main
entry 1 1000
exit 1 1400
process p200 flags=1
object 7 /usr/lib/libfoo.so
function 7 0 9 0x100 outer
thread 201 main
pair first 1000 1000 5
pair last 9000 9000 8005
entry 9 1100
exit 9 1800
END
both() {
	bounded 60 "$XAUDIT" report --format=json "$@" "$tmp/calls" "$tmp/other"
}
is "$(both | jq -r ".functions[] | $numbers")" 'outer 5 1200 1170
inner 6 71 61
bar 3 50 33' 'several folders are counted together'
is "$(both --apart | jq -r ".functions[] | select(.function == \"outer\") | \"\(.folder) \(.pid) \" + $numbers")" \
	"$tmp/other 200 outer 1 700 700
$tmp/other 100 outer 1 400 400
$tmp/calls 100 outer 3 100 70" 'or apart'
is "$(ask other --apart | jq -r '.functions[] | "\(.folder) \(.pid) \(.calls)"')" 'null 200 1
null 100 1' 'processes of one folder may be apart, too'
is "$(both --by=process |
	jq -r '.processes[] | "\(.folder) \(.pid) \(.calls) \(.total_ns) \(.self_ns) \(.max_ns)"')" \
	"$tmp/other 200 1 700 700 700
$tmp/other 100 1 400 400 400
$tmp/calls 100 12 164 164 100" 'a process has the totals of its threads'
like "$(table other --by=process)" '^ +1 .*  /opt/app \[process 100\]$' 'people see what it executes'
write_trace again <<END
$head
text exe /usr/bin/env
process p100.1 flags=1
object 7 /usr/lib/libfoo.so
function 7 0 9 0x100 outer
text exe /opt/app
thread 100 main
pair first 2000 2000 1005
pair last 9000 9000 8005
entry 9 2100
exit 9 2300
END
like "$(table again --by=process)" '^ +1 .*  /opt/app \[process 100\]$' 'the last, if it was one after the other'
is "$(both --callers=outer | jq -r ".functions[] | (.callers[] | $numbers)")" 'null 3 1200 1140
inner 1 0 10
outer 1 0 20' 'questions are about all folders'
is "$(ask calls --from=400ns | jq -r ".functions[] | $numbers")" 'bar 2 20 13
inner 2 10 10' 'from: only calls that began then; a call whose caller began before is in none'
is "$(ask calls --from=0.0000002 --to=0.3us | jq -r ".functions[] | $numbers")" 'bar 1 30 20
inner 2 11 11' 'to: only calls that began before that'
is "$(ask other --tid=201 | jq -r ".functions[] | $numbers")" 'outer 1 700 700' 'only calls of one thread'
for question in --callers=inner --callees=bar --by-event=request; do
	is "$(ask calls $question --from=400ns | jq '[.functions // .rows | .[] | .calls] | add')" \
		"$(case $question in *inner | *bar) echo 2 ;; *) echo 4 ;; esac)" "$question takes --from"
done
is "$(ask hist --hist=outer --from=1 --to=2 | jq '.functions[].calls')" 150 'so does --hist'

# ---- all views have the same numbers ----

# Two threads of random calls: ends of calls further out, jumps, unwound calls, entries only, losses, calls that are
# open at the end, functions of two libraries, and events.
awk -v head="$head" '
function random(n) {
	seed = (seed * 1103515245 + 12345) % 2147483648
	return int(seed / 65536) % n
}
BEGIN {
	seed = 7
	print head
	split("exit tail unwind exit exit", end, " ")
	for (thread = 100; thread < 102; thread++) {
		time = 1000
		depth = 0
		print "thread " thread " t"
		for (i = 0; i < 3000; i++) {
			time += 1 + random(50)
			what = random(100)
			if (what < 48) {
				open[++depth] = 1 + random(4)
				print "entry " open[depth] " " time
			} else if (what < 90 && depth) {
				print end[1 + random(5)] " " open[depth--] " " time
			} else if (what < 93 && depth) {
				depth = 1 + random(depth)
				print "exit " open[depth--] " " time
			} else if (what < 96) {
				print "point " 1 + random(4) " " time
			} else if (what < 98) {
				print "custom 16 " time " =" substr("abc", 1 + random(3), 1)
			} else if (what < 99) {
				print "lost 3\nchunk " time
				depth = 0
			}
		}
	}
	print "custom 19 " time + 1 " =late"
}' | write_trace random
members='{function, library, calls, total_ns, self_ns, min_ns, p50_ns, p99_ns, max_ns}'
cd "$tmp" || bail 'no temporary folder'
ask random >all.json
ask random --by=library >libraries.json
ask random --by=thread >threads.json
is "$(jq '[.functions[].calls] | add > 1000' all.json) $(jq '.lost > 20 and .unfinished > 20' all.json)" 'true true' \
	'there are calls of all kinds'
is "$(ask random --callers='*' | jq -c '[.functions[] | {function, calls, total_ns, self_ns}] | sort')" \
	"$(jq -c '[.functions[] | {function, calls, total_ns, self_ns}] | sort' all.json)" \
	'--callers has the numbers of report for each function'
for options in --tid=100 --from=20us --to=20us '--tid=101 --from=10us --to=30us'; do
	each='[.functions[] | {function, calls, total_ns, self_ns}] | sort'
	is "$(ask random --callers='*' $options | jq -c "$each")" "$(ask random $options | jq -c "$each")" \
		"$options: so it has of some calls"
done
is "$(ask random --callers='*' | jq -c '[.functions[] | {function, calls: ([.callers[].calls] | add),
	total_ns: ([.callers[].total_ns] | add), self_ns: ([.callers[].self_ns] | add)}] | sort')" \
	"$(jq -c '[.functions[] | {function, calls, total_ns, self_ns}] | sort' all.json)" 'its callers add up to them'
is "$(ask random --callees='*' | jq -c '[.functions[] | .function as $f | .callees[] |
	{from: $f, to: .function, calls, total_ns, self_ns, p50_ns}] | sort')" \
	"$(ask random --callers='*' | jq -c '[.functions[] | .function as $f | .callers[] | select(.function) |
	{from: .function, to: $f, calls, total_ns, self_ns, p50_ns}] | sort')" 'callers and callees are the same pairs'
is "$(ask random --by-event=19 --by=function | jq -c "[.rows[] | $members] | sort")" \
	"$(jq -c "[.functions[] | $members] | sort" all.json)" 'before the first event there are the lines of report'
is "$(ask random --by-event=19 --by=library | jq -c "[.rows[] | $members] | sort")" \
	"$(jq -c "[.libraries[] | $members] | sort" libraries.json)" 'and by library those by library'
is "$(ask random --by-event=19 | jq -c '.rows[] | [.calls, .total_ns, .self_ns]')" \
	"$(jq -c '.threads | [([.[].calls] | add), ([.[].total_ns] | add), ([.[].self_ns] | add)]' threads.json)" \
	'and alone, those of all threads'
times='{calls, total_ns, self_ns, min_ns, p50_ns, p90_ns, p99_ns, max_ns}'
is "$(ask random --by=process | jq -c ".processes[] | $times")" \
	"$(ask random --by-event=19 | jq -c ".rows[] | $times")" 'and by process, with the same percentiles'
is "$(ask random --by-event=request --by=function | jq -c '[.rows | group_by(.function)[] |
	{f: .[0].function, calls: ([.[].calls] | add), self: ([.[].self_ns] | add)}]')" \
	"$(jq -c '[.functions | sort_by(.function)[] | {f: .function, calls, self: .self_ns}]' all.json)" \
	'values of events split calls and self times, and nothing else'
is "$(bounded 60 "$XAUDIT" report --diff --format=json "$tmp/random" "$tmp/random" |
	jq -c '[.functions[] | {function, library} + .new] | map('"$members"') | sort')" \
	"$(jq -c "[.functions[] | $members] | sort" all.json)" 'so has --diff'
of_diff() {
	bounded 60 "$XAUDIT" report --diff --format=json "$@" "$tmp/random" "$tmp/calls" 2>&1
}
is "$(of_diff -j1 | jq -c '[.functions[] | select(.old and .new)] | [length, ([.[].old.calls] | add > 1000)]')" \
	'[3,true]' 'a difference of two traces has functions of both'
is "$(of_diff -j1)" "$(of_diff -j2)" 'which does not depend on whether they are read at once'
is "$(ask random --jobs=1)" "$(ask random --jobs=4)" 'and the number of threads that read does not matter'
sums='{lost, unfinished, counted, no_end, orphans, overwritten_chunks, crash_signal}'
for question in '--callers=*' '--callees=*' '--hist=*' --by-event=request; do
	is "$(ask random "$question" | jq -c "$sums")" "$(jq -c "$sums" all.json)" "$question tells what it leaves out"
done
for asked in --sort=cpu --columns=calls,self-cpu; do
	is "$(said $asked "$tmp/calls")" \
		'xaudit report: times on processors are not in this trace; `xaudit record --sched` records them
status 1' \
		"$asked: what the trace does not have is told"
done

# ---- many functions ----

# A hundred thousand, each called by two others: a question about all of them takes time for each, not for each pair.
awk 'BEGIN {
	print "process p100 chunk=1048576\npair first 1000 1000 5\npair last 90000000 90000000 5"
	print "object 1 /usr/lib/libfoo.so"
	for (i = 1; i <= 100000; i++)
		print "function 1 0 " i " " i * 16 " foo_" i
	print "thread 100 main"
	for (i = 1; i <= 100000; i++) {
		time = 1000 + i * 10
		inner = i % 100000 + 1
		print "entry " i " " time "\nentry " inner " " time + 2
		print "exit " inner " " time + 4 "\nexit " i " " time + 6
	}
}' | write_trace many
for question in --callers --callees; do
	bounded 40 "$XAUDIT" report --format=json "$question=*" "$tmp/many" >many.json
	is "$? $(jq '[.functions | length, ([.[] | (.callers // .callees) | length] | add)] | join(" ")' many.json)" \
		"0 \"100000 $([ $question = --callers ] && echo 200000 || echo 100000)\"" \
		"$question of a hundred thousand functions"
done
done_testing
