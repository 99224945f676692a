#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export of merged stacks (folded, callgrind, pprof, speedscope): a real run, as callgrind_annotate, pprof-format
# and speedscope read it; and what only made traces have.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/calls.sh"
. "$top_srcdir/t/export/app.sh"
. "$top_srcdir/t/export/readers.sh"

# export_as FORMAT NAME [OPTION]...: the trace NAME as NAME.FORMAT.
export_as() {
	export_format=$1 export_name=$2
	shift 2
	bounded 60 "$XAUDIT" export "--format=$export_format" -o "$export_name.$export_format" "$@" "$tmp/$export_name"
}

# steers FILE: is there a control character in it, beside ends of lines, or what is no UTF-8?
steers() {
	LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177]')" "$1" || ! iconv -f UTF-8 -t UTF-16 "$1" >/dev/null
}

app_record
printf '%s\n' "$report" >report.json
for format in folded callgrind pprof speedscope; do export_as $format app.data; done
same="same: 28 functions, $app_all_calls calls"

# ---- folded ----

is "$(sums_of folded app.data.folded report.json self total)" "$same" 'folded: functions have the times that report has'
bounded 60 "$XAUDIT" stacks --format=folded app.data >stacks.folded
ok 'lines are those of xaudit stacks' cmp stacks.folded app.data.folded
is "$(steers app.data.folded && echo steers)" '' 'nothing in a name steers a terminal'
like "$(cat app.data.folded)" ';two words: and 7 [0-9]+$' 'a semicolon ends no name'

write_trace tree <<END
$head
$tree_calls
END
is "$(export_as folded tree; cat tree.folded)" 'outer 730
outer;inner 70
outer;bar 60
outer;bar;inner 40' 'a line is a stack, and its time in ns'
is "$(export_as folded tree --tid=101; cat tree.folded)" 'outer 500' 'of one thread'
is "$(export_as folded tree --from=101ns --to=1us; cat tree.folded)" 'outer;bar 60
outer;inner 40
outer;bar;inner 40' 'of calls that began in a time'
is "$(export_as folded tree --min=40ns; cat tree.folded)" 'outer 760
outer;bar 60
outer;inner 40
outer;bar;inner 40' 'calls that are too short are in the time of those around them'

# ---- callgrind ----

# annotated FILE: both tables of callgrind_annotate.
annotated() {
	bounded 60 callgrind_annotate --show-percs=no --threshold=100 "$1" &&
		echo '--inclusive' &&
		bounded 60 callgrind_annotate --show-percs=no --threshold=100 --inclusive=yes "$1"
}
if command -v callgrind_annotate >/dev/null 2>&1; then
	annotated app.data.callgrind >annotated 2>annotated.err
	is "$? $(cat annotated.err)" '0 ' 'callgrind: callgrind_annotate reads it'
	is "$(sums_of callgrind annotated report.json of=app.data.callgrind)" "$same" \
		'functions have the calls, the own times and the totals that report has'
	is "$(sed -n 's/^ *\([0-9,]*\) *\([0-9,]*\)  PROGRAM TOTALS$/\1 \2/p' annotated | tr -d , | uniq)" \
		"$(jq -r '"\([.functions[].self_ns] | add) \([.functions[].calls] | add)"' report.json)" \
		'so has the program'
	is "$(steers annotated && echo steers)" '' 'nothing in a name steers a terminal'
else
	skip 4 'no callgrind_annotate here'
fi
write_trace recursive <<END
$head
$recursive_calls
END
export_as callgrind recursive
is "$(sed -n '/^ob=/,$p' recursive.callgrind)" "$(cat <<'END'
ob=(1) /usr/lib/libfoo.so
fl=(1) ???
fn=(1) outer
0 75 4
cob=(1)
cfn=(1)
calls=1 0
0 0 0
cob=(1)
cfn=(2) inner
calls=1 0
0 40 2

ob=(1)
fl=(1)
fn=(2)
0 30 1
cob=(1)
cfn=(1)
calls=1 0
0 0 0

totals: 105 5
END
)" 'callers and callees, with the names once; the time of a recursive call is in that around it'
write_waiting waiting "$waiting_switches"
export_as callgrind waiting
is "$(grep -A1 -e '^events' -e '^fn' waiting.callgrind | grep -v -e ^fn -e ^--)" 'events: ns calls cpu
summary: 1300 8 800
0 450 4 450
0 850 4 350' 'times on processors are costs, too'

# ---- pprof ----

if reader_npm; then
	pprof() {
		(cd "$reader_folder" && cp "$top_srcdir/t/export/pprof.mjs" . &&
			bounded 60 node pprof.mjs "$tmp/$1.pprof") >"$1.pprof.json"
	}
	ok 'pprof: pprof-format reads it' pprof app.data
	is "$(sums_of pprof app.data.pprof.json report.json)" "$same" \
		'functions have the calls and the times that report has'
	is "$(jq -c '.types[], [.default, .comments[], .duration > 0, .time > 1700000000000000000]' \
		app.data.pprof.json | paste -s -d ' ')" \
		'{"type":"calls","unit":"count"} {"type":"time","unit":"nanoseconds"} '\
'["time","./app ./libplugin.so",true,true]' 'it says of what, and of when it is'
	is "$(jq -c '[.samples[] | select(.stack[0].name == "shop::stay(void (*)())") | .labels.process |
		test("^app [0-9]+$")]' app.data.pprof.json)" '[true]' 'samples have labels for the process'
	like "$(jq -r '.samples[].labels.thread' app.data.pprof.json)" '^wor"ker; [123]$' 'and the thread'
	is "$(jq -r '[.samples[].stack[] | select(.symbol == "shop_greet")][0] | .library, .build_id' \
		app.data.pprof.json | paste -s -d ' ')" \
		"$(readlink -f libapp.so) $(readelf -n libapp.so | sed -n 's/.*Build ID: //p')" \
		'libraries have their build-id'
	{
		many_functions 100 65536
		echo 'thread 100 main'
		echo 'random 1 200000 100 20'
	} | write_trace large
	export_as pprof large
	pprof large
	bounded 60 "$XAUDIT" report --format=json large >large.report
	is "$(sums_of pprof large.pprof.json large.report calls self)" 'same: 100 functions, 100000 calls' \
		'so it is with many stacks'
	ok 'which gzip has compressed' test "$(gzip -dc large.pprof | wc -c)" -gt $(($(wc -c <large.pprof) * 3))
	export_as pprof waiting
	pprof waiting
	is "$(jq -c '.types[2], [.samples[].values]' waiting.pprof.json | paste -s -d ' ')" \
		'{"type":"cpu","unit":"nanoseconds"} [[4,450,450],[4,850,350]]' 'times on processors are a type, too'
else
	skip 9 'no pprof-format here'
fi

# ---- speedscope ----

# schema FILE: by what the package of speedscope has.
schema() {
	python3 -c '
import json, sys
from jsonschema import Draft7Validator
for error in Draft7Validator(json.load(open(sys.argv[1]))).iter_errors(json.load(open(sys.argv[2]))):
    sys.exit(ascii(error.message))' \
		"$reader_folder/node_modules/speedscope/dist/release/file-format-schema.json" "$1"
}
is "$(sums_of speedscope app.data.speedscope report.json)" "$same" \
	'speedscope: functions have the calls and the times that report has'
# nest NAME ROUNDS: a trace of calls, of which each five nest.
nest() {
	write_trace "$1" <<END
process p100
pair first 1000 1000 5
pair last 900000000 900000000 900000005
object 1 /usr/lib/libfoo.so
object 2 /opt/bar/libbar.so
function 1 0 1 0x100 outer
function 1 0 2 0x200 inner
function 1 0 3 0x300 middle
function 2 2 4 0x400 bar
function 2 2 5 0x500 deepest
thread 100 main
nest $2 5 10
END
}
nest many 200001
export_as speedscope many
is "$(jq -c '.profiles[] | [.type, .name, .endValue], .samples, .weights' many.speedscope | paste -s -d ' ')" \
	'["sampled","p100 100, main 100",18000090] [[0],[0,1],[0,1,2],[0,1,2,3],[0,1,2,3,4]] '\
'[4000020,4000020,4000020,4000020,2000010]' 'more than a million calls are merged stacks of each thread'
nest most 200000
export_as speedscope most
is "$(jq -c '.profiles[] | [.type, .name, (.events | length)]' most.speedscope)" \
	'["evented","p100 100, main 100",2000000]' 'a million calls are all there'
if reader_speedscope; then
	if python3 -c 'import jsonschema' 2>/dev/null; then
		ok 'the schema of speedscope holds' schema app.data.speedscope
		ok 'of merged stacks, too' schema many.speedscope
	else
		skip 2 'no jsonschema of Python here'
	fi
	for format in speedscope folded pprof callgrind; do
		ok "speedscope reads $format" speedscope app.data.$format $format.json
	done
	is "$(sums_of speedscope speedscope.json report.json)" "$same" 'all is there of its own format'
	is "$(sums_of speedscope-folded folded.json report.json self total)" "$same" 'of folded'
	is "$(sums_of speedscope-pprof pprof.json report.json self total)" "$same" 'and of pprof'
	is "$(jq -c '.profiles | map(.name, .unit)' callgrind.json)" \
		'["app.data.callgrind -- ns","none","app.data.callgrind -- calls","none"]' 'of callgrind both costs'
	ok 'merged stacks, too' speedscope many.speedscope many.json
	bounded 60 "$XAUDIT" report --format=json many >many.report
	is "$(sums_of speedscope many.json many.report self total)" 'same: 5 functions, 1000005 calls' \
		'with the times of report'
else
	skip 12 'speedscope is not here'
fi
done_testing
