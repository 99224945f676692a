#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit html, the data: of traces whose calls are known, each number that the page has: the timeline's columns at all
# levels, calls of windows with their values, functions, callers, events, requests, loads, and times on processors.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/written.sh"
. "$top_srcdir/t/html/html.sh"

# agrees NAME WHAT [OPTION]...: numbers equal report's with these options.
agrees() {
	agrees_name=$1 agrees_what=$2
	shift 2
	"$XAUDIT" report --format=json "$@" "$tmp/$agrees_name" >"$tmp/report" 2>&1
	is "$(page report "$agrees_name" "$tmp/report")" '' \
		"$agrees_what: functions, tree and callers add up to report's"
}

# ---- a trace of which all is known ----

{
	echo 'process p100 ppid=7'
	echo 'pair first 1000 1000 5'
	echo 'pair last 90000 90000 8005'
	echo 'text exe /usr/bin/server'
	echo 'text note something was said'
	echo "$libraries"
	echo 'aliases 1 other_outer'
	echo 'load 1 1 1000 0x7f0000000000 100'
	echo 'unload 1 70000 100'
	echo 'layout 1 entry 1 i4:request:request text:arg0:path'
	echo 'layout 2 exit 1 i4:ret:'
	echo 'type 16 step'
	echo 'thread 100 main'
	echo 'values 1 2000 7 =/etc/hosts'
	echo 'custom 1 2050 =<b>half_way</b>'
	echo 'entry 2 2100'
	echo 'exit 2 2400'
	echo 'entry 2 3000'
	echo 'entry 4 3100'
	echo 'tail 4 3603'
	echo 'entry 3 3603'
	echo 'unwind 3 3700'
	echo 'exit 2 3800'
	echo 'values 2 10000 -1'
	echo 'custom 16 10050 010203'
	echo 'custom 16 10060 =text'
	echo 'point 2 11000'
	echo 'entry 2 12000'
	echo 'thread 101 worker'
	echo 'entry 1 2500'
	echo 'exit 1 34768'
	echo 'counts 0 100 main 2:5'
	echo 'sched mono 1000'
	echo 'cpu in 2000 100 100'
	echo 'cpu out 4000 100 100'
	echo 'cpu in 6000 100 100'
	echo 'cpu preempted 7000 100 100'
	echo 'cpu in 8000 100 100'
	echo 'cpu lost 20000 21000 3'
	echo 'cpu in 2000 100 101'
	echo 'cpu out 36000 100 101'
	echo 'cpu known 80000'
} | write_trace known
html known
is "$status $said" '0 ' 'a page is made'
is "$(page sound known)" '' 'nothing of the trace is markup'
is "$(stat -c %a "$tmp/known.html")" 600 'only its owner can read it'
like "$(cat "$tmp/known.html")" '^<p>The end\.$' 'what stands behind the data is behind them'
agrees known 'the known trace'
is "$(page rates known)" '' 'rates add up to the calls'
is "$(page calls known 0)" 'track 0 1000 33769 whole
1000 9000 0 outer("/etc/hosts") request=7 = -1 1 7
1100 1400 1 inner 1 7
2000 2800 1 inner 1 7
2100 2603 2 bar 2 7
2603 2700 2 libfoo.so+0x300 3 7
10000 10000 0 inner 7 -
11000 11000 0 inner 5 -
cpu 0 1000 33769 whole
1000 3000 1
5000 6000 1
7000 19000 1
track 1 1000 33769 whole
1500 33768 0 outer 1 -
cpu 1 1000 33769 whole
1000 19000 1
19000 20000 2
20000 35000 1' 'all calls, with values, how they ended, and of which request; and when threads were on processors'
is "$(page head known tracks)" '[{"process": 0, "tid": 100, "stack": 0, "name": "main", "calls": 7, "time": 8000, '\
'"first": 1000, "last": 11000, "depth": 3, "row": 0, "rows": 3, "loose": null, "cpu": 3, "deeper": 0}, '\
'{"process": 0, "tid": 101, "stack": 0, "name": "worker", "calls": 1, "time": 32268, "first": 1500, "last": 33768, '\
'"depth": 1, "row": 4, "rows": 1, "loose": null, "cpu": 5, "deeper": 0}]' 'the tracks'
is "$(page head known pyramid)" '{"columns": 2048, "from": 1000, "width": 2, "levels": 4}' 'columns of 2 ns'
is "$(page row known 2 3)" '550 800 3 0
801 801 3 1
802 849 4 0' 'depth 2 at the finest level: bar, a column that both share by halves, then the one without a name'
is "$(page row known 2 0)" '68 99 3 0
100 100 4 1
101 106 4 0' 'and at the coarsest: of the column that has both, the one that covers most of it'
is "$(page row known 1 0)" '6 24 2 0
62 112 2 0' 'depth 1: two calls of inner'
is "$(page row known 0 2)" '0 1999 1 0
2250 2250 2 0
2500 2500 2 0' 'depth 0: a call without end is as long as its thread was seen; a point is in a column'
is "$(page row known 3 0)" '0 124 17 0
125 249 1 0
250 311 17 0
312 312 9 0
313 374 1 0
375 1124 17 0' 'processors: shares of time'
is "$(page block known events text)" '["<b>half way</b>", "01 02 03", "text"]' 'texts of events'
is "$(page block known events time) $(page block known events mark) $(page block known events track)" \
	'[1050, 9050, 9060] [1, 0, 0] [0, 0, 0]' 'their times, marks and tracks'
is "$(page block known events types)" '[{"name": "mark", "count": 1, "bytes": 15, "kept": 1}, '\
'{"name": "step", "count": 2, "bytes": 7, "kept": 2}]' 'their types'
is "$(page block known requests)" '{"count": 1, "track": [0], "from": [1000], "to": [9000], "text": ["7"]}' \
	'the request'
is "$(page block known loads)" '{"objects": ["/usr/lib/libfoo.so"], "count": 2, "what": [1, 0], "time": [0, 69000], '\
'"process": [0, 0], "object": [0, 0], "tid": [100, 100]}' 'a load and an unload'
is "$(page head known processes 0 notes) $(page head known info left)" '["something was said"] '\
'["1 call has no end in the trace: open at its end, or where events were lost", '\
'"1 call was traced at the entry only: without time", "5 calls were only counted: without time, '\
'and not in the timeline", "of 1 call it is not known how long they were on processors"]' 'notes, and what is missing'
is "$(page block known functions functions 0 aliases)" '["other_outer"]' 'other names of a function'
page histogram known inner >"$tmp/out"
is "$(cat "$tmp/out")" '288 319 1
768 831 1' 'how the times of a function are distributed'

# ---- calls at random ----

{
	echo 'process p100 chunk=65536'
	echo 'pair first 1000 1000 5'
	echo 'pair last 9000000 9000000 8005'
	echo 'object 1 /usr/lib/libfoo.so'
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo "function 1 0 $i $((i * 16)) foo_$i"; done
	echo 'thread 100 main'
	echo 'random 1 6000 20 6'
	echo 'thread 101 second'
	echo 'work 2 9000 20 8'
} | write_trace random
html random
is "$status $said" '0 ' 'a page of 7500 calls'
is "$(page sound random)" '' 'it is sound'
agrees random 'calls at random'
is "$(page pyramid random "$tmp/random")" 430080 'all columns of 14 rows at four levels are what the calls say'
is "$(page windows random "$tmp/random" whole)" 7500 'all calls are in one window'
html random --tid=101 --from=600us --to=700us
agrees random 'filtered calls' --tid=101 --from=600us --to=700us
is "$(page head random filters)" '{"pid": null, "tid": 101, "from_ns": 600000, "to_ns": 700000, "around": null, '\
'"values": true}' 'the page tells of the filters'
is "$(page head random totals calls) $(page head random tracks 0 tid)" "$(sed 's/{/\n{/g' "$tmp/report" |
	sed -n 's/.*"calls":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n }') 101" 'only these calls are in it'

# In columns of the coarser levels there are many functions: more than are looked through one by one; and, in the first
# column, more than are counted, of which one has more time than the others.
{
	many_functions 300 1048576
	echo 'thread 100 main'
	time=2000
	i=0
	while [ $((i += 1)) -le 300 ]; do
		printf 'entry %s %s\nexit %s %s\n' $i $time $i $((time + 10))
		time=$((time + 10))
		[ $((i % 15)) -ne 0 ] || printf 'entry 7 %s\nexit 7 %s\n' $time $((time + 20))
		time=$((time + 25))
	done
	echo 'sync 40000000'
	echo 'random 3 100000 300 5'
	echo 'sync 60000000'
} | write_trace crowd
html crowd
is "$(page pyramid crowd "$tmp/crowd")" 153600 'all columns of five rows, of which many hold many functions'
is "$(page row crowd 0 0 | head -n 1)" "0 0 $(page block crowd functions functions | tr '{' '\n' | grep '"name"' |
	sed -n '/"foo_7"/=') 2" 'the function with the most time of 300 in one column'
agrees crowd 'a trace of many functions'

# ---- calls that do not nest ----

# inner goes from the first thread's stack to the second one's; then outer goes on in a stack that had calls meanwhile.
{
	echo 'process p100'
	echo 'pair first 1000 1000 5'
	echo 'pair last 90000 90000 8005'
	echo "$libraries"
	echo "$moved_calls"
	echo 'exit 2 1200'
	echo 'stack 9 1300'
	echo 'entry 4 1300'
	echo 'exit 4 1400'
	echo 'entry 4 1700'
	echo 'exit 4 1800'
	echo 'stack 11 2000'
	echo 'entry 1 2000'
	echo 'entry 2 2100'
	echo 'stack 9 2200'
	echo 'entry 4 2200'
	echo 'exit 4 2300'
	echo 'stack 11 2400'
	echo 'part 9 0'
	echo 'exit 2 2600'
	echo 'exit 1 3000'
} >"$tmp/script"
is "$("$make_trace" "$tmp/moved" <"$tmp/script" 2>&1)" '' 'a trace of calls that change their stacks'
html moved
agrees moved 'moved calls'
is "$(page calls moved 0)" 'track 0 0 2001 whole
0 30 0 outer 1 -
track 1 0 2001 whole
10 200 0 inner 1 -
track 2 0 2001 whole
40 2000 0 outer 5 -
track 3 0 2001 whole
300 400 0 bar 1 -
700 800 0 bar 1 -
1000 2000 0 outer 129 -
1100 1600 1 inner 1 -
1200 1300 0 bar 1 -' 'each stack has a track; a call that overlaps others there is marked'
page head moved tracks | grep -o '"\(stack\|name\|rows\|loose\)": [^,]*' | tr '\n' ' ' >"$tmp/out"
is "$(cat "$tmp/out")" '"stack": 0 "name": "main" '\
'"rows": 1 "loose": null "stack": 7 "name": "main" "rows": 1 "loose": null "stack": 0 "name": "second" "rows": 1 '\
'"loose": null "stack": 9 "name": "second" "rows": 2 "loose": 5 ' 'it has a row of its own'
is "$(page row moved 5 0)" '1000 1999 1 0' 'which is drawn there'
is "$(page row moved 3 0)" '300 399 3 0
700 799 3 0
1200 1299 3 0' 'and not among the others'

# ---- names that mean harm ----

harm='</script><script>alert(1)</script><!--&"'"\\'"
bidi=$(printf '\342\200\256evil\342\200\250\033[31m\302\205')
{
	echo 'process p100'
	echo 'pair first 1000 1000 5'
	echo 'pair last 90000 90000 8005'
	echo "text exe /usr/bin/$harm"
	echo "text command $harm$bidi"
	echo "text note $bidi"
	echo "object 1 /usr/lib/$harm.so"
	echo "function 1 0 1 0x100 $harm"
	printf 'function 1 0 2 0x200 %s\377\n' "$bidi"
	echo 'load 1 1 1000 0x7f0000000000 100'
	echo 'layout 1 entry 1 text:arg0:path text:request:who'
	echo "type 16 $harm"
	echo 'thread 100 </script>'
	echo "values 1 2000 =$harm =$harm"
	echo "custom 1 2050 =$harm"
	echo "custom 16 2060 =$bidi"
	echo 'entry 2 2100'
	echo 'exit 2 2400'
	echo 'exit 1 3000'
} | write_trace hostile
html hostile
is "$status $said" '0 ' 'a page of a trace with hostile names'
is "$(page sound hostile)" '' 'they are no markup, and steer nothing'
is "$(page block hostile functions functions 0 name)" "$(printf '%s' "$harm" | sed 's/["\\]/\\&/g; s/.*/"&"/')" \
	'what is harmless is shown as it is'
is "$(page block hostile functions functions 1 name)" '"?evil??[31m??"' 'what is not is a question mark'
like "$(page calls hostile 0)" '^1000 2000 0 .*alert' 'values too'

# ---- more rows than there is room for ----

{
	echo 'process p100 chunk=65536'
	echo 'pair first 1000 1000 5'
	echo 'pair last 9000000 9000000 8005'
	echo 'object 1 /usr/lib/libfoo.so'
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "function 1 0 $i $((i * 16)) foo_$i"; done
	i=0
	# Each has one call, but for the last ones, which have more: those stay.
	while [ $((i += 1)) -le 2003 ]; do
		echo "thread $((1000 + i)) t$i"
		echo "entry 1 $((2000 + i))"
		[ $i -lt 2002 ] || echo "nest 3 12 10"
		echo "exit 1 $((10000 + i))"
	done
} | write_trace wide
html wide
agrees wide 'a trace of many threads'
is "$(page head wide totals)" '{"calls": 2075, "events": 4150, "functions": 12, "tracks": 2003, "rows": 2001}' \
	'rows are 2000 at most, and one for the rest'
is "$(page head wide rest)" '{"tracks": 3, "calls": 3, "time": 24000, "row": 2000}' 'which is three threads'
is "$(page head wide tracks 1999 tid) $(page head wide tracks 1999 rows) $(page head wide tracks 1999 depth)" \
	'3003 1 13' 'threads with more calls come before others'
is "$(page head wide tracks 1999 deeper)" 36 'deeper calls have no row there'
is "$(page row wide 2000 0 | sed -n '1p;$p')" '249 249 6 1
1249 1249 42 1' 'the rest is how many threads were in a call'

{
	echo 'process p100'
	echo 'pair first 1000 1000 5'
	echo 'pair last 9000000 9000000 8005'
	echo 'object 1 /usr/lib/libfoo.so'
	echo 'function 1 0 1 16 again'
	echo 'thread 100 main'
	i=0
	while [ $((i += 1)) -le 5000 ]; do echo "entry 1 $((2000 + i))"; done
	while [ $((i -= 1)) -gt 0 ]; do echo "exit 1 $((20000 - i))"; done
} | write_trace deep
html deep
agrees deep 'deep recursion'
is "$(page head deep tracks 0 rows) $(page head deep tracks 0 depth) $(page head deep tracks 0 deeper)" \
	'2000 4096 3000' 'of deep recursion the outermost calls have rows'
is "$(page windows deep "$tmp/deep" whole)" 5000 'the window has all of it'

# More events than there is room for, most of them marks, and very many types: neither is looked through for each event.
{
	echo 'process p100 chunk=1048576'
	echo 'pair first 1000 1000 5'
	echo 'pair last 90000000 90000000 8005'
	echo "$libraries"
	echo 'thread 100 main'
	echo 'loop 100000 10'
	echo 'custom 16 2000 01'
	echo 'end'
	echo 'loop 400000 10'
	echo 'custom 1 1100000 =mark'
	echo 'end'
	awk 'BEGIN { for (i = 0; i < 60000; i++) print "custom", 100 + i, 6000000 + i, "01" }'
} | write_trace events
status=0
bounded 30 "$XAUDIT" html -o "$tmp/events.html" "$tmp/events" >"$tmp/out" 2>&1 || status=$?
is "$status $(cat "$tmp/out")" '0 ' 'half a million events take no minute'
is "$(page block events events types 0) $(page block events events types 1)" "$(printf '%s ' \
	'{"name": "type 16", "count": 100000, "bytes": 100000, "kept": 0}')$(printf '%s' \
	'{"name": "mark", "count": 400000, "bytes": 1600000, "kept": 100000}')" 'marks go before others'
is "$(page block events events types 60001 count)" 1 'and all types are told of'
rm -rf "$tmp/events" "$tmp/events.html"

# ---- probes ----

write_trace probes <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
function 1 0 1 0x100 f 0x40
function 1 32 3 0x112 order
function 1 32 4 0x118 order
layout 1 probe 3 x8:-:rax
thread 100 main
entry 1 1001
values 1 1012 0x7f01
probe 4 1014
exit 1 1020
END
html probes
is "$status $said" '0 ' 'a page of probes is made'
is "$(page block probes events types)" '[{"name": "probe order", "count": 2, "bytes": 0, "kept": 2}]' \
	'they are events with a type of their own'
is "$(page block probes events text) $(page block probes events time) $(page block probes events track)" \
	'["(rax=0x7f01) at f+0x12", "at f+0x18"] [12, 14] [0, 0]' 'with their values and places, on their track'
is "$(page head probes totals events)" 4 'and count as events'
write_trace alone <<'END'
process p100 flags=1
pair first 1000 1000 5
pair last 9000 9000 8005
object 1 /usr/lib/libfoo.so
function 1 32 3 0x112 order
thread 100 main
probe 3 1014
probe 3 1500
END
html alone
is "$(page head alone range) $(page block alone events time)" '[14, 500] [14, 500]' \
	'a page of probes alone goes from the first to the last'
html alone --to=100ns
is "$(page head alone range)" '[14, 14]' '... of those that were asked for'
done_testing
