#!/bin/sh
# SPDX-License-Identifier: MIT
#
# xaudit export --format=perfetto: a real run, as protoc decodes it by a schema of the fields that are used; and what
# only made traces have.
. "${top_srcdir:-.}/t/lib/tap.sh"
. "$top_srcdir/t/lib/traced.sh"
. "$top_srcdir/t/lib/calls.sh"
. "$top_srcdir/t/export/app.sh"
. "$top_srcdir/t/export/readers.sh"
. "$top_srcdir/t/export/timelines.sh"
need protoc

# perfetto NAME [OPTION]...: the trace NAME, decoded as NAME.txt, and as lines of JSON in NAME.json.
perfetto() {
	perfetto_name=$1
	shift
	bounded 60 "$XAUDIT" export --format=perfetto -o "$perfetto_name.pb" "$@" "$tmp/$perfetto_name" &&
		bounded 60 protoc --decode=Trace -I"$top_srcdir/t/export" perfetto.proto <"$perfetto_name.pb" \
			>"$perfetto_name.txt" 2>protoc.err &&
		bounded 60 python3 "$top_srcdir/t/export/perfetto.py" "$perfetto_name.txt" >"$perfetto_name.json"
}

# ask NAME FILTER: jq's output about its events and tracks, compact, in a line.
ask() {
	jq -c "$2" "$1.json" | paste -s -d ' '
}

# calls_of NAME: first letter of the type, and time and name of events that are calls.
calls_of() {
	ask "$1" 'select(.type and (.category == null or .category == "libfoo.so" or .category == "libbar.so")) |
		[.type[11:12], .time, .name] | map(values)'
}

# ---- a real run ----

app_record
printf '%s\n' "$report" >report.json
ok 'the run is decoded' perfetto app.data --event-format='shop.order=u32 number, u32 amount, string what'
is "$(cat protoc.err)" '' 'without a complaint: texts are UTF-8'
is "$(grep -E '^ *[0-9]+[: ]' app.data.txt)" '' 'by a schema of all fields'
is "$(sums_of perfetto app.data.txt report.json)" "same: 28 functions, $app_all_calls calls" \
	'all calls nest on their tracks, and have the times that report has'
is "$(ask app.data 'select(.descriptor.process) | .descriptor.process[0] | [.process_name[0], .cmdline[0]]')" \
	'["app","./app ./libplugin.so"] ["app","./app ./libplugin.so"] ["app","./app ./libplugin.so"]' \
	'processes have names'
like "$(ask app.data 'select(.descriptor.thread) | .descriptor.thread[0].thread_name')" '"wor\\"ker; [123]"' \
	'and threads'
is "$(ask app.data 'select(.category == "loads" and (.name | endswith("libplugin.so"))) | .name')" \
	"$(for i in 1 2 3 4; do echo '"load libplugin.so"'; echo '"unload libplugin.so"'; done | paste -s -d ' ')" \
	'loads and unloads are instants'
is "$(ask app.data 'select(.name == "shop_greet") | .args.name')" \
	'"plain" "\"quoted\", with a \\ and '\''single'\'' ones" "grüße 日本 🐧" '\
'"control \u0001\u001b[31m\t\n bytes\u007f" "not �� UTF-8, <b>&amp;</b> ‮bidi" 0' \
	'texts are whole, whatever bytes they have'
is "$(ask app.data 'select(.args.ret != null) | .args.ret')" '5 36 19 23 34 -1 194' 'results stand at the end'
is "$(ask app.data 'select(.name == "shop_measure") | .args | .number, .real, .small') $(grep -c \
	'uint_value: 18364758544493064720$' app.data.txt)" '-7 1.5 200 1' 'numbers are numbers'
is "$(ask app.data 'select(.name == "shop_greet") | .args.backtrace | length > 1' | tr ' ' '\n' | sort -u)" true \
	'callers are a list'
is "$(ask app.data 'select(.correlation) | [.name, .correlation]')" \
	'["shop::work(int)","\"order 7, \\\"blue\\\"\""] ["shop::work(int)","\"order 7, \\\"blue\\\"\""] '\
'["shop::work(int)","8"]' 'calls of a request belong together'
is "$(ask app.data 'select(.name == "shop.order") | .args')" \
	'{"number":7,"amount":1250,"what":"te\"a","more bytes":3} '\
'{"number":8,"amount":1250,"what":"te\"a","more bytes":3} {"number":9,"amount":1250,"what":"te\"a","more bytes":3}' \
	'the data of custom events is decoded'
is "$(ask app.data 'select(.category == "custom" and (.name | test("begins|ends"))) | .name')" \
	'"begins: \"quotes\", ü, and a \u0001" "ends"' 'a mark is its text'
is "$(jq -r '.args.end // empty' app.data.json | sort | uniq -c | sed 's/^ *//' | paste -s -d ,)" \
	'1 not known,80 unwound' 'how calls ended is told where they did not return'
app_odd_names | python3 -c '
import json, sys
names = {json.loads(line).get("name") for line in open("app.data.json")}
for line in sys.stdin:
    name = eval(line)
    print(name.decode(errors="replace") in names, ascii(name))' >odd
is "$(grep -c ^True odd) $(grep -v ^True odd)" '10 ' 'odd names are as they are, but for bytes that are no UTF-8'
perfetto app.data --no-values
is "$(ask app.data 'select(.name == "shop_greet" or .name == "shop::work(int)") | .args | keys[]')" '' \
	'--no-values: there are none'

# ---- how calls are written ----

write_trace nested <<END
$head
$nested_calls
entry 1 1300
entry 1 1300
exit 1 1300
exit 1 1310
END
perfetto nested
is "$(calls_of nested)" '["B",0,"outer"] ["B",100,"inner"] ["E",130] ["B",200,"inner"] ["E",240] ["E",300] '\
'["B",300,"outer"] ["B",300,"outer"] ["E",300] ["E",310]' 'a call begins and ends'
is "$(grep -A1 -E '^  (clock_snapshot|timestamp:)' nested.txt | sed -n 's/^  timestamp: //p' | tail -n 10 |
	paste -s -d ' ')" '0 100 30 70 40 60 0 0 0 10' 'times are told by what is between them'
is "$(grep -c '      name: "inner"' nested.txt)" 1 'and names once'
perfetto nested --from=100ns --to=250ns
is "$(calls_of nested)" '["B",100,"inner"] ["E",130] ["B",200,"inner"] ["E",240]' '--from and --to: times stay'
perfetto nested --min=35ns
is "$(calls_of nested)" '["B",0,"outer"] ["B",200,"inner"] ["E",240] ["E",300]' \
	'--min: what is left stands as if there was nothing else'

write_moved
perfetto moved
is "$(ask moved 'select(.type == "TYPE_SLICE_BEGIN") | [.name, .track]')" \
	'["outer","main"] ["outer","second"] ["inner","main 100, stack 7"]' \
	'a stack that threads take turns on has a track of its own'

write_twice
perfetto twice
is "$(ask twice 'select(.descriptor.process) | .descriptor.process[0].pid[0]')" '"100" "10000001"' \
	'two processes of one number have numbers of their own'
is "$(ask twice 'select(.category == "recording" or .category == "counted") | [.name, .args.calls] | map(values)')" \
	'["ends by signal 11"] ["7 events were lost"] ["only counted: outer",5] ["only counted: bar",117]' \
	'what was lost is told, how a process ended, and calls that were only counted'

# ---- times on processors ----

write_waiting waiting "$waiting_switches"
perfetto waiting
is "$(ask waiting 'select(.track == "on CPU") | [.type[11:12], .time, .name] | map(values)')" \
	'["B",0,"on CPU"] ["E",200] ["B",700,"on CPU"] ["E",8000]' \
	'when a thread was on a processor is on a track of its own'
is "$(ask waiting 'select(.descriptor.name == ["on CPU"]) | .descriptor.parent_uuid') $(ask waiting \
	'select(.descriptor.thread) | .descriptor | .uuid, .thread[0].thread_name' | sort -u)" \
	'["16777316"] ["16777316"] ["main"]' 'below its thread'
is "$(ask waiting 'select(.args.on_cpu_ns) | .args.on_cpu_ns')" '200 500 50 100 50 100 50 100' \
	'and each call has its time there'
done_testing
