#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export --format=chrome: a real run, as a schema and speedscope read it; and what only made traces have.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/calls.sh"
. "$top_srcdir/t/export/app.sh"
. "$top_srcdir/t/export/readers.sh"
. "$top_srcdir/t/export/timelines.sh"

# chrome NAME [OPTION]...: the trace NAME as NAME.json.
chrome() {
	chrome_name=$1
	shift
	bounded 60 "$XAUDIT" export --format=chrome -o "$chrome_name.json" "$@" "$tmp/$chrome_name"
}

# ask FILE FILTER: jq's output about its events, compact, in a line.
ask() {
	jq -c ".traceEvents[] | $2" "$1" | paste -s -d ' '
}

# ask_calls FILE: letter, row, time and, of complete ones, duration of events that are calls.
ask_calls() {
	jq -r '.traceEvents[] | select(.cat == "libfoo.so" or .cat == "libbar.so") |
		"\(.ph)\(.tid) \(.ts)\(if .dur == null then "" else "+\(.dur)" end) \(.name)"' "$1" | paste -s -d ,
}

valid() {
	python3 - "$1" <<END
import json, sys
from jsonschema import Draft7Validator
schema = json.load(open("$top_srcdir/t/export/chrome.schema.json"))
Draft7Validator.check_schema(schema)
errors = list(Draft7Validator(schema).iter_errors(json.load(open(sys.argv[1]))))
for error in errors[:5]:
    print(ascii(list(error.path)), ascii(error.message))
sys.exit(1 if errors else 0)
END
}
# is_valid FILE WHAT
is_valid() {
	if python3 -c 'import jsonschema' 2>/dev/null; then
		ok "$2: the schema holds" valid "$1"
	else
		skip 1 'no jsonschema of Python here'
	fi
}

# ---- a real run ----

app_record
printf '%s\n' "$report" >report.json
chrome app.data --event-format='shop.order=u32 number, u32 amount, string what'
is_valid app.data.json 'the run'
is "$(sums_of chrome app.data.json report.json)" "same: 28 functions, $app_all_calls calls" \
	'all calls nest on their rows, and have the times that report has'
like "$(ask app.data.json 'select(.name == "thread_name") | .args.name')" '"wor\\"ker; [123] [0-9]+"' \
	'threads have names'
is "$(ask app.data.json 'select(.name == "process_name") | .args.name')" '"app" "app" "app"' 'and processes'
is "$(ask app.data.json 'select(.cat == "loads" and (.name | endswith("libplugin.so"))) | .name')" \
	"$(for i in 1 2 3 4; do echo '"load libplugin.so"'; echo '"unload libplugin.so"'; done | paste -s -d ' ')" \
	'loads and unloads are instants'
is "$(ask app.data.json 'select(.name == "shop_greet") | .args | .name, .ret')" \
	'"plain" 5 "\"quoted\", with a \\ and '\''single'\'' ones" 36 "grüße 日本 🐧" 19 '\
'"control \u0001\u001b[31m\t\n bytes\u007f" 23 "not �� UTF-8, <b>&amp;</b> ‮bidi" 34 null -1' \
	'texts are whole, whatever bytes they have'
is "$(ask app.data.json 'select(.name == "shop_measure") | .args')" \
	'{"number":-7,"real":1.5,"small":200,"large":"18364758544493064720","ret":194}' \
	'numbers are numbers, if a double can hold them'
is "$(ask app.data.json 'select(.args.backtrace) | .args.backtrace | length > 1' | tr ' ' '\n' | sort | uniq -c |
	sed 's/^ *//')" '6 true' 'callers are a list'
is "$(ask app.data.json 'select(.ph == "B" and .args.request) | [.name, .args.request]')" \
	'["shop::work(int)","\"order 7, \\\"blue\\\"\""] ["shop::work(int)","\"order 7, \\\"blue\\\"\""] '\
'["shop::work(int)","8"]' 'the outermost call of a request names it'
is "$(ask app.data.json 'select(.cat == "custom") | .name')" "$(paste -s -d ' ' <<'END'
"begins: \"quotes\", ü, and a \u0001"
"untyped"
"shop.order"
"shop.order"
"shop.order"
"request"
"request-end"
"request-number"
"request-end"
"ends"
"child"
"child"
END
)" 'custom events are instants; a mark is its text'
is "$(ask app.data.json 'select(.name == "shop.order") | .args')" \
	'{"number":7,"amount":1250,"what":"te\"a","more bytes":3} '\
'{"number":8,"amount":1250,"what":"te\"a","more bytes":3} {"number":9,"amount":1250,"what":"te\"a","more bytes":3}' \
	'whose data is decoded'
is "$(ask app.data.json 'select(.name == "untyped") | .args.data')" '"00 01 02 ff fe 22 5c 0a"' \
	'or hex where nothing is known of it'
is "$(jq -r '.traceEvents[] | .args.end // empty' app.data.json | sort | uniq -c | sed 's/^ *//' | paste -s -d ,)" \
	'1 not known,80 unwound' 'how calls ended is told where they did not return'
is "$(jq -r '.otherData | .command, .lost_events' app.data.json | paste -s -d ' ')" './app ./libplugin.so 0' \
	'what was recorded is told'
app_odd_names | python3 -c '
import json, sys
names = {event["name"] for event in json.load(open("app.data.json"))["traceEvents"]}
for line in sys.stdin:
    name = eval(line)
    print(name.decode(errors="replace") in names, ascii(name))' >odd
is "$(grep -c ^True odd) $(grep -v ^True odd)" '10 ' 'odd names are as they are, but for bytes that are no UTF-8'

chrome app.data --no-values
is "$(ask app.data.json 'select(.name == "shop_greet" or .name == "shop::work(int)") | select(.args)')" '' \
	'--no-values: there are none'
if reader_speedscope; then
	ok 'speedscope reads it' speedscope app.data.json speedscope.json
	is "$(sums_of speedscope speedscope.json report.json)" "same: 28 functions, $app_all_calls calls" \
		'and has the same calls and times'
	like "$(jq -r '.profiles[].name' speedscope.json)" '^app \(pid [0-9]+\), wor"ker; [123] ([0-9]+) \(tid \1\)$' \
		'for each thread, with its name'
else
	skip 3 'speedscope is not here'
fi
chrome app.data --no-demangle
like "$(ask app.data.json 'select(.ph == "X") | .name' | tr ' ' '\n' | sort -u)" '^"_ZN4shop4leafEi"$' \
	'--no-demangle: names are as they are in the trace'

# ---- how calls are written ----

write_trace nested <<END
$head
$nested_calls
entry 1 1300
entry 1 1300
exit 1 1300
entry 2 1300
exit 2 1310
exit 1 1310
entry 1 1400
END
chrome nested
is_valid nested.json 'a made trace'
is "$(ask_calls nested.json)" 'B100 0 outer,X100 0.1+0.03 inner,X100 0.2+0.04 inner,E100 0.3 outer,'\
'B100 0.3 outer,X100 0.3+0 outer,X100 0.3+0.01 inner,E100 0.31 outer,X100 0.4+0 outer' \
	'those that make no calls are one event; of equal times, those around stand first'
is "$(ask nested.json 'select(.args.end) | [.ts, .args.end]')" '[0.4,"not known"]' 'that an end is not known is told'
chrome nested --from=100ns --to=250ns
is "$(ask_calls nested.json)" 'X100 0.1+0.03 inner,X100 0.2+0.04 inner' '--from and --to: times stay'
chrome nested --min=35ns
is "$(ask_calls nested.json)" 'B100 0 outer,X100 0.2+0.04 inner,E100 0.3 outer' \
	'--min: what is left stands as if there was nothing else'

write_moved
chrome moved
is "$(ask_calls moved.json)" 'X100 0+0.03 outer,X10000002 0.01+0.05 inner,X101 0.04+0.04 outer' \
	'a stack that threads take turns on has a row of its own'
is "$(ask moved.json 'select(.name == "thread_name" or .name == "thread_sort_index") | [.tid, .args[]]')" \
	'[100,"main 100"] [100,400] [101,"second 101"] [101,404] [10000002,"main 100, stack 7"] [10000002,402]' \
	'with its name, below its thread'

write_twice
chrome twice
is_valid twice.json 'a trace of two processes of one number'
is "$(ask_calls twice.json)" 'X100 0+0.01 outer,X100 0.02+0.01 outer,X100 1+0.01 bar' 'it has calls of both'
is "$(ask twice.json 'select(.ph == "X") | .pid')" '100 100 10000001' 'which have numbers of their own'
is "$(ask twice.json 'select(.cat == "recording") | .name')" '"ends by signal 11" "7 events were lost"' \
	'what was lost is told, and how a process ended'
is "$(ask twice.json 'select(.cat == "counted") | [.pid, .name, .args.calls]')" \
	'[10000001,"only counted: outer",5] [10000001,"only counted: bar",117]' 'calls that were only counted are told'

# ---- times on processors ----

write_waiting waiting "$waiting_switches"
chrome waiting
is_valid waiting.json 'a trace with switches'
is "$(ask waiting.json 'select(.cat == "sched") | [.tid, .ts, .dur, .name]')" \
	'[20000000,0,0.2,"on CPU"] [20000000,0.7,7.3,"on CPU"]' 'when a thread was on a processor has a row of its own'
is "$(ask waiting.json 'select(.tid == 20000000 and .name == "thread_name") | .args.name')" '"main 100, on CPU"' \
	'with its name'
is "$(ask waiting.json 'select(.name == "inner") | [.dur, .tdur]') $(ask waiting.json \
	'select(.ph == "E") | .args.on_cpu_ns')" '[0.7,0.2] [0.05,0.05] [0.05,0.05] [0.05,0.05] 500 100 100 100' \
	'and each call has its time there'
write_waiting lost "${waiting_switches%9000}2500
cpu lost 2500 2600 3
cpu preempted 2700 100 100
cpu in 2800 100 100
cpu known 9000"
chrome lost --from=100ns --to=2us
is "$(ask lost.json 'select(.cat == "sched") | [.ts, .dur, .name]')" '[0.1,0.1,"on CPU"] [0.7,0.8,"on CPU"] '\
'[1.5,0.1,"not known"] [1.6,0.1,"on CPU"] [1.7,0.1,"preempted"] [1.8,0.2,"on CPU"]' \
	'what is not known is told, and when it was preempted; --from and --to hold'
done_testing
